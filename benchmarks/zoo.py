"""How far the default is behind a grid, set by set: the worst case counts, not the mean.

    python benchmarks/zoo.py --methods default grid --folds 3 --rows 1000 --file zoo.jsonl
    python benchmarks/zoo.py --methods default --tag wider --file zoo.jsonl      # only what the file does not have yet
    python benchmarks/zoo.py --file zoo.jsonl --write                            # the table alone

default   PathSVC(), PathSVR() as they are
grid      GridSearchCV of SVC, SVR: 5 values of C (0.1 to 1000), 7 of gamma (1e-4 to 10), 5 folds; for SVR epsilon is
          0.1 deviations of y
liquid    liquidSVM's mcSVM and lsSVM, where it can be imported (see peers_tuning.py)

Columns are standardised on the training rows, and so is y of a regression. Every set and method runs in a process of
its own with a time limit: a hang is a failure. The loss of each test row is kept, so that differences of two methods
are paired: the standard error of a set is that of the mean difference over its test rows, or over its folds if that is
larger.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, data_folder, machine, progress, publish, table
from _peers_methods import Work, liquid
from _zoo_sets import zoo_sources

C_GRID = np.logspace(-1, 3, 5)
GAMMA_GRID = np.logspace(-4, 1, 7)
LIMIT = 1200.0  # seconds of a set and a method, all its folds


def make_default(task: str) -> Any:
    from svmpath import PathSVC, PathSVR

    return PathSVC() if task == "classification" else PathSVR()


def make_grid(task: str) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC, SVR

    grid = {"C": C_GRID, "gamma": GAMMA_GRID}
    return GridSearchCV(SVC(max_iter=1_000_000) if task == "classification" else SVR(max_iter=1_000_000), grid)


class Liquid:
    """liquidSVM, in scikit-learn's form."""

    def __init__(self, task: str) -> None:
        self._fit = liquid(task)

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._found = self._fit(Work(X, y, seed=0, threads=1))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._found.predict(X)


METHODS = {"default": make_default, "grid": make_grid, "liquid": Liquid}


def child(method: str, tag: str, name: str, folds: list[int], rows: int) -> None:
    """Fit and predict; a line of JSON per fold."""
    warnings.simplefilter("ignore")
    source = zoo_sources(data_folder(), rows)[name]
    for k in folds:
        X, y, X_test, y_test = source.split(k)
        model = METHODS[method](source.task)
        start, processor = time.perf_counter(), time.process_time()
        model.fit(X, y)
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
        predicted = model.predict(X_test)
        losses = predicted != y_test if source.task == "classification" else (predicted - y_test) ** 2
        choice = {key: getattr(model, key, None) for key in ("loss_", "C_", "gamma_", "rank_", "best_params_")}
        print(
            json.dumps(
                {
                    "set": name,
                    "fold": k,
                    "method": tag,
                    "rows": rows,
                    "n": len(y),
                    "d": X.shape[1],
                    "classes": len(np.unique(y)) if source.task == "classification" else 0,
                    "seconds": round(seconds, 3),
                    "cpu": round(processor, 3),
                    "losses": [round(float(each), 5) for each in losses],
                    "choice": {key: each for key, each in choice.items() if each is not None},
                },
                default=str,
            ),
            flush=True,
        )


def run(options: argparse.Namespace) -> None:
    """What the file does not have yet."""
    known = {(each["set"], each["method"], each["fold"], each["rows"]) for each in read(options.file)}
    for name in zoo_sources(data_folder(), options.rows):
        if options.sets and not any(part in name for part in options.sets):
            continue
        for method in options.methods:
            tag = options.tag if options.tag and method == "default" else method
            folds = [k for k in range(options.folds) if (name, tag, k, options.rows) not in known]
            if not folds:
                continue
            command = [sys.executable, __file__, "--child", method, tag, name, json.dumps(folds), str(options.rows)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
                lines, fault = done.stdout, done.stderr.strip().splitlines()[-1:] if done.returncode else []
            except subprocess.TimeoutExpired as error:
                lines, fault = (error.stdout or b"").decode(), [f"more than {LIMIT:g} s"]
            with options.file.open("a") as file:
                file.write(lines)
            progress(f"{name}: {tag} {' '.join(['FAILED', *fault]) if fault else 'done'}")


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(entries: list[dict[str, Any]], ours: str, theirs: str) -> str:
    """The table of two methods, the worst first, and what it comes to."""
    by: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for each in entries:
        by.setdefault((each["set"], each["method"]), {})[each["fold"]] = each
    rows = []
    for name in dict.fromkeys(each["set"] for each in entries):
        a, b = by.get((name, ours), {}), by.get((name, theirs), {})
        shared = sorted(a.keys() & b.keys())
        if not shared:
            continue
        first, second = (np.concatenate([each[k]["losses"] for k in shared]) for each in (a, b))
        gap, means = 100 * (first - second), [100 * (np.mean(a[k]["losses"]) - np.mean(b[k]["losses"])) for k in shared]
        # Folds differ by their training rows, too; with few of them that is known only roughly.
        error = max(
            gap.std() / np.sqrt(len(gap)), np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
        )
        seconds = [np.mean([each[k]["seconds"] for k in shared]) for each in (a, b)]
        rows.append((name, a[shared[0]], 100 * first.mean(), 100 * second.mean(), gap.mean(), error, *seconds))
    parts = [machine()]
    for title, is_ours in (
        ("error in %", lambda e: e["classes"] > 0),
        ("% of the variance", lambda e: e["classes"] == 0),
    ):
        some = sorted((row for row in rows if is_ours(row[1])), key=lambda row: -(row[4] - max(1.0, 2 * row[5])))
        if not some:
            continue
        gaps = np.array([row[4] for row in some])
        far = [row for row in some if row[4] > max(1.0, 2 * row[5])]
        behind = [row for row in some if row[4] > 2 * row[5] and row[4] > 0]
        ahead = [row for row in some if row[4] < -2 * row[5]]
        ratio = np.exp(np.mean([np.log(row[7] / row[6]) for row in some]))
        header = ("set", "n", "d", "classes", ours, theirs, "gap", "s.e.", f"{ours} (s)", f"{theirs} (s)")
        cells = [
            [row[0], *(str(row[1][key]) for key in ("n", "d", "classes")), *(f"{number:.2f}" for number in row[2:])]
            for row in some
        ]
        parts.append(
            f"{title}, {len(some)} sets: mean gap {gaps.mean():+.3f}, median {np.median(gaps):+.3f}; "
            f"behind by more than 2 s.e. on {len(behind)}, ahead on {len(ahead)}; "
            f"behind by more than max(1, 2 s.e.) on {len(far)}; "
            f"{theirs} takes {ratio:.1f} times as long (geometric mean)\n\n{table(header, cells)}"
        )
    return "\n\n".join(parts)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        method, tag, name, folds, rows = sys.argv[2:]
        child(method, tag, name, json.loads(folds), int(rows))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="*", default=[], choices=list(METHODS))
    parser.add_argument("--sets", nargs="+", metavar="PART", help="only sets whose names contain one of these")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000, help="at most so many training rows (default 1000)")
    parser.add_argument("--tag", help="another name for what the default gives now")
    parser.add_argument("--against", default="grid", help="the method to compare with (default grid)")
    parser.add_argument("--file", type=Path, required=True, help="JSON lines, to which results are added")
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE")
    options = parser.parse_args()
    run(options)
    name = "zoo" if options.against == "grid" else f"zoo_{options.against}"
    publish(name, report(read(options.file), options.tag or "default", options.against), options.write)


if __name__ == "__main__":
    main()
