"""Real data through every loss and estimator: does anything hang, give up, or miss the optimum?

200 random rows of every set in a folder of npz files (all rows of breast_cancer and of the pairs ``*_X``, ``*_y`` of
hard_cases), as they are, standardised, rounded to whole numbers, and with a third of the rows repeated, go through the
paths of every loss, exact leave-one-out, k-fold, and the estimators. Each trial runs in a process of its own with a
limit of 20 s of processor time. Machines are measured by their duality gap and by the conditions of optimality, beyond
rounding; held-out values against machines traced afresh.

The folder is the one of the other benchmarks (SVMPATH_DATA, or shared/data beside the repository), or ``--folder``.
Results are kept in ``.fuzz/real_data.jsonl``: what was run is not run again unless ``--again`` says so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
import zlib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import ROOT, data_folder, table

sys.path.insert(0, str(ROOT))

from tests import certificates, problems, trials, workers
from tests.problems import Data

import svmpath
from svmpath import criteria
from svmpath.kernels import gamma_value

LIMIT = 20.0
ROWS = 200
NODES = 40  # breakpoints at which a path is measured, and as many values between them
WHOLE = ("breast_cancer",)  # sets of which all rows are taken
VARIANTS = ("as is", "standardised", "integers", "repeated")
GAP = 1e-8

PATHS = {
    "least_squares C": {"loss": "least_squares"},
    "least_squares gamma": {"loss": "least_squares", "over": "gamma"},
    "squared_hinge C": {"loss": "squared_hinge"},
    "squared_hinge C exact": {"loss": "squared_hinge", "breakpoints": "exact"},
    "squared_hinge gamma": {"loss": "squared_hinge", "over": "gamma"},
    "hinge C": {"loss": "hinge"},
    "hinge weight": {"loss": "hinge", "over": "weight", "sample": [0, 1, 2]},
    "hinge gamma": {"loss": "hinge", "over": "gamma"},
    "epsilon_insensitive C": {"loss": "epsilon_insensitive"},
    "epsilon_insensitive epsilon": {"loss": "epsilon_insensitive", "over": "epsilon"},
    "epsilon_insensitive gamma": {"loss": "epsilon_insensitive", "over": "gamma"},
    "nu nu": {"loss": "nu", "over": "nu"},
    "elastic_hinge lambda1": {"loss": "elastic_hinge", "over": "lambda1"},
    "elastic_hinge lambda2": {"loss": "elastic_hinge", "over": "lambda2", "lambda1": 1.0},
    "elastic_hinge ray": {"loss": "elastic_hinge", "over": "ray"},
}
HELD_OUT = (
    "least_squares C", "squared_hinge C", "hinge C", "epsilon_insensitive C", "epsilon_insensitive epsilon", "nu nu",
    "elastic_hinge lambda1",
)  # fmt: skip
FITS = {
    "PathSVC least_squares": (svmpath.PathSVC, "least_squares"),
    "PathSVC squared_hinge": (svmpath.PathSVC, "squared_hinge"),
    "PathSVC hinge": (svmpath.PathSVC, "hinge"),
    "PathSVR least_squares": (svmpath.PathSVR, "least_squares"),
    "PathSVR epsilon_insensitive": (svmpath.PathSVR, "epsilon_insensitive"),
    "ElasticNetSVC": (svmpath.ElasticNetSVC, None),
}
TASKS = [
    *(f"trace {name}" for name in PATHS),
    *(f"{what} {name}" for what in ("loo", "kfold") for name in HELD_OUT),
    *(f"fit {name}" for name in FITS),
]

Job = tuple[str, str, str, str]  # folder, set, variant, task


# --- data ------------------------------------------------------------------------------------------------------------


def sets(folder: Path) -> list[str]:
    """Names of the sets; a file without X holds several, of which each is named ``file:prefix``."""
    found = []
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as arrays:
            if "X" in arrays.files:
                found.append(file.stem)
            else:
                found += [f"{file.stem}:{name[:-2]}" for name in arrays.files if name.endswith("_X")]
    return found


def load(folder: Path, name: str, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and target of one set in one variant."""
    file, _, prefix = name.partition(":")
    with np.load(folder / f"{file}.npz") as arrays:
        X, y = (np.asarray(arrays[f"{prefix}_{key}" if prefix else key], dtype=float) for key in ("X", "y"))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if not prefix and name not in WHOLE:
        rows = rng.permutation(len(y))[:ROWS]
        X, y = X[rows], y[rows]
    if variant == "as is":
        return X, y
    X = problems.standardised(X)
    if variant == "integers":
        X = np.round(X)
    elif variant == "repeated":
        third = len(y) // 3
        copied = rng.choice(len(y) - third, third)
        X[-third:], y[-third:] = X[copied], y[copied]
    return X, y


def with_target(X: np.ndarray, y: np.ndarray, regression: bool) -> Data:
    """Labels -1 and 1, or numbers: a set of the other kind is split at its median, or has its labels as numbers."""
    is_labelled = len(np.unique(y)) == 2
    if not regression:
        y = np.where(y == y.max() if is_labelled else y > np.median(y), 1.0, -1.0)
    return Data("real", X, y, None)


# --- trials ----------------------------------------------------------------------------------------------------------


def run(job: Job) -> dict[str, float]:
    """One trial: the largest gap and violation that were met."""
    folder, name, variant, task = job
    what, _, path = task.partition(" ")
    X, y = load(Path(folder), name, variant)
    data = with_target(X, y, "epsilon" in path or "PathSVR" in path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if what == "fit":
            return fitted(data, *FITS[path])
        options = dict(PATHS[path])
        if options["loss"] != "elastic_hinge" and options.get("over") != "gamma":
            options["gamma"] = gamma_value("scale", data.X)  # as a number: refits on fewer rows keep it
        if options["loss"] == "epsilon_insensitive":
            options |= {"task": "regression", "epsilon": 0.1 * float(data.y.std())}
            if options.get("over") == "epsilon":
                del options["epsilon"]
        here = trials.Setting(data, options)
        return traced(here) if what == "trace" else held_out(here, what)


def measured(solutions: Any) -> dict[str, float]:
    """The largest gap and violation, both beyond rounding."""
    gap = violation = 0.0
    for solution in solutions:
        scale = float(np.ptp(solution.problem.y)) / 2.0
        gap = max(gap, certificates.excess(solution))
        violation = max(violation, (solution.violation - min(solution.rounding, 1e-6)) / scale)
    return {"gap": gap, "violation": violation}


def traced(here: trials.Setting) -> dict[str, float]:
    """A path at its breakpoints and between them."""
    rng, nodes = np.random.default_rng(0), here.path.breakpoints
    between = 0.5 * (nodes[1:] + nodes[:-1])
    values = np.concatenate([rng.choice(many, min(NODES, len(many)), replace=False) for many in (nodes, between)])
    return measured(here.path(value) for value in values)


def held_out(here: trials.Setting, what: str) -> dict[str, float]:
    """Held-out values at three values of the parameter; some beside those of machines traced afresh."""
    rng, n = np.random.default_rng(0), len(here.data.y)
    low, high = sorted(here.path.span)
    values = np.geomspace(max(low, 1e-2 * high), high, 5)[1:4]
    every = np.arange(n)
    if what == "loo":
        curve = criteria.loo(here.path, values)
        parts = [(np.delete(every, i), [i]) for i in rng.choice(n, 3, replace=False)]
        found = [curve.decisions[1, test] for _, test in parts]
    else:
        folds = [(np.setdiff1d(every, test), test) for test in np.array_split(rng.permutation(n), 5)]
        curve = criteria.kfold(here.path, values, cv=folds)
        ends = np.cumsum([0, *(len(test) for _, test in folds)])
        parts = folds[:2]
        found = [curve.held[1, ends[k] : ends[k + 1]] for k in range(2)]
    for held, (train, test) in zip(found, parts, strict=True):
        trials.compare(here, held, train, test, float(values[1]), what, rng)
    return {}


def fitted(data: Data, make: Any, loss: str | None) -> dict[str, float]:
    """An estimator with all defaults, fitted; its machine is measured."""
    model = (make() if loss is None else make(loss=loss)).fit(data.X, data.y)
    return measured([model.path_(model.lambda1_ if loss is None else model.C_)])


# --- table -----------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    folder = options.folder or data_folder()
    if folder is None or not sets(folder):
        raise SystemExit("There are no npz files to read: name their folder by --folder or SVMPATH_DATA.")
    wanted = [
        (str(folder), name, variant, task)
        for name in sets(folder) for variant in VARIANTS for task in TASKS
        if fnmatch(f"{name}/{variant}/{task}", options.only)
    ]  # fmt: skip
    known = {} if options.again else _kept(options.state)
    todo = [job for job in wanted if job[1:] not in known]
    options.state.parent.mkdir(parents=True, exist_ok=True)
    print(f"{len(wanted)} trials, {len(todo)} of them to be run", file=sys.stderr)
    with options.state.open("w" if options.again and options.only == "*" else "a") as file:
        for outcome in workers.run_all(run, todo, processes=options.jobs, limit=options.limit, warm_up=trials.warm_up):
            row = {
                "job": outcome.job[1:], "state": outcome.state, "text": " ".join(outcome.text.split()),
                "seconds": outcome.seconds, **(outcome.result or {}),
            }  # fmt: skip
            known[outcome.job[1:]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            if outcome.state != workers.FINE:
                print(*_cells(row), sep="  ", file=sys.stderr, flush=True)
    rows = [known[job[1:]] for job in wanted if job[1:] in known]
    print(report(rows, options.all))
    return 0


def _kept(file: Path) -> dict[tuple, dict]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(row["job"]): row for row in map(json.loads, lines)}


def _cells(row: dict) -> list[str]:
    number = [f"{row[key]:.1e}" if key in row else "" for key in ("gap", "violation")]
    text = "" if row["state"] == workers.FINE else f"{row['state']}: {row['text']}"[:160]
    return [*row["job"], f"{row['seconds']:.2f}", *number, text]


def is_bad(row: dict) -> bool:
    """Whether a trial failed, or its machine is not optimal."""
    return row["state"] != workers.FINE or max(row.get("gap", 0.0), row.get("violation", 0.0)) > GAP


def report(rows: list[dict], everything: bool) -> str:
    """The table, of all trials or of those that are not as they should be, and a summary."""
    shown = [_cells(row) for row in rows if everything or is_bad(row)]
    header = ["set", "variant", "task", "seconds", "gap", "violation", "error"]
    ordinary = [row for row in rows if row["job"][1] != "as is"]
    refused = [row for row in ordinary if row["state"] == "PathError"]
    slowest = max(rows, key=lambda row: row["seconds"], default=None)
    lines = [
        f"{len(rows)} trials; hangs: {sum(row['state'] == workers.HANGS for row in rows)}",
        f"PathErrors on standardised data: {len(refused)} of {len(ordinary)}; "
        f"as it is: {sum(row['state'] == 'PathError' for row in rows) - len(refused)}",
        f"other failures: {sum(row['state'] not in (workers.FINE, workers.HANGS, 'PathError') for row in rows)}",
    ]
    for key in ("gap", "violation"):
        measured = [row[key] for row in ordinary if key in row]
        lines.append(f"largest {key} on standardised data: {max(measured, default=0.0):.1e}")
    if slowest is not None:
        lines.append(f"slowest: {slowest['seconds']:.1f} s ({', '.join(slowest['job'])})")
    return "\n".join([table(header, shown) if shown else "nothing to complain of", "", *lines])


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="npz files with X and y")
    parser.add_argument("--only", default="*", metavar="SET/VARIANT/TASK", help="only these; * stands for anything")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"seconds for a trial (default {LIMIT:g})")
    parser.add_argument("--again", action="store_true", help="run what has been run before, too")
    parser.add_argument("--all", action="store_true", help="show every trial, not only those that went wrong")
    parser.add_argument("--state", type=Path, default=ROOT / ".fuzz" / "real_data.jsonl", help="where results are kept")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
