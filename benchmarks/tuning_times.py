"""The processor time to a tuned model, before and after a change, beside what others take; all in one run.

    git worktree add ../svmpath-before <commit>
    python benchmarks/tuning_times.py ../svmpath-before/src src --file times.jsonl
    python benchmarks/tuning_times.py ../svmpath-before/src src --file times.jsonl --write      # what is there already
    git worktree remove ../svmpath-before

before, after   PathSVC() and PathSVR() of the two source trees, as they are
grid            GridSearchCV of SVC and SVR over 5 values of C and 7 of gamma, as in zoo.py
liquid          liquidSVM's mcSVM and lsSVM
optuna          50 trials of Optuna for SVC, five folds each

Sets of ``_peers_sets.py`` with at most ``--most`` rows, the first split of each. Set by set, every method runs in a
process of its own with one thread, after a fit on a tiny problem that loads what is loaded once. Processor seconds are
counted, since other work on the machine makes them longer by little; of ours the least of ``--repeats`` fits, and the
two trees take turns. A method that takes more than ``--limit`` processor seconds on a set is left out there, and
counted.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, data_folder, machine, progress, publish, table
from _peers_methods import AUTO, AUTO_R, LIQUID, METHODS, Tuned, Work
from _peers_sets import CLASSIFICATION, named, sources
from peers_tuning import tiny
from zoo import make_grid

OURS = ("before", "after")
PEERS = ("grid", "liquid", "optuna")
NAMES = {"liquid": (LIQUID, "liquidSVM lsSVM"), "optuna": ("Optuna(SVC)", None)}
CLOCK = 20.0  # times the limit of processor seconds, after which a process is ended in any case


def child(method: str, name: str, repeats: int, limit: int) -> None:
    """Fit some times, and print a line of JSON with the least processor seconds."""
    warnings.simplefilter("ignore")
    source = named(data_folder(), name)
    at = 0 if source.task == CLASSIFICATION else 1
    if method == "grid":

        def fit(work: Any) -> Tuned:
            model = make_grid(source.task).fit(work.X, work.y)
            return Tuned(model.predict, model.best_params_)
    else:
        fit = METHODS[(AUTO, AUTO_R)[at] if method in OURS else NAMES[method][at]].prepare()
    with suppress(Exception):  # what fails on a tiny problem may work on the set, or fail there
        fit(tiny(source.task, 1))
    import resource

    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + repeats * limit, used + repeats * limit))
    X, y, X_test, y_test = source.split(0)
    work, seconds = Work(X, y, 0, 1), []
    for _ in range(repeats):
        start = time.process_time()
        tuned = fit(work)
        seconds.append(time.process_time() - start)
    wrong = np.asarray(tuned.predict(X_test), dtype=float) - y_test
    error = np.mean(wrong != 0.0) if at == 0 else np.mean(wrong**2)
    classes = len(np.unique(y)) if at == 0 else 0
    facts = {"n": len(y), "d": X.shape[1], "classes": classes, "seconds": min(seconds), "error": float(error)}
    print(json.dumps({"set": name, "method": method, **facts}), flush=True)


def run(options: argparse.Namespace) -> None:
    """What the file does not have yet."""
    known = {(each["set"], each["method"]) for each in read(options.file)}
    trees = dict(zip(OURS, (options.old.resolve(), options.new.resolve()), strict=True))
    small = [source for source in sources(data_folder()).values() if source.n <= options.most]
    for turn, source in enumerate(small):
        ours = OURS if turn % 2 == 0 else OURS[::-1]
        for method in (*ours, *PEERS):
            if (source.name, method) in known or (method == "optuna" and source.task != CLASSIFICATION):
                continue
            repeats = options.repeats if method in OURS else 1
            environment = {**os.environ, "PYTHONPATH": str(trees.get(method, trees["after"]))}
            command = [sys.executable, __file__, "--child", method, source.name, str(repeats), str(options.limit)]
            line = {"set": source.name, "method": method, "limit": options.limit}
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=CLOCK * options.limit, check=False
                )
                if done.returncode == 0:
                    line = json.loads(done.stdout.splitlines()[-1])
                elif done.returncode > 0:
                    raise SystemExit(f"{method} failed on {source.name}:\n{done.stderr}")
            except subprocess.TimeoutExpired:
                pass
            with options.file.open("a") as file:
                file.write(json.dumps(line) + "\n")
            progress(f"{source.name}: {method} {line.get('seconds', 'over the limit')}")


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(entries: list[dict[str, Any]]) -> str:
    """Seconds of each method on each set, and geometric means of their ratios to ours."""
    by: dict[str, dict[str, dict[str, Any]]] = {}
    for each in entries:
        by.setdefault(each["set"], {})[each["method"]] = each
    rows, ratios, over = [], {method: [] for method in ("before", *PEERS)}, dict.fromkeys(("before", *PEERS), 0)
    for name, methods in by.items():
        if any("seconds" not in methods.get(method, {}) for method in OURS):
            continue
        ours = methods["after"]
        for method, found in ratios.items():
            if "seconds" in methods.get(method, {}):
                found.append(methods[method]["seconds"] / ours["seconds"])
            elif method in methods:
                over[method] += 1
        cells = [methods.get(method, {}).get("seconds", "-") for method in (*OURS, *PEERS)]
        cells = [each if each == "-" else f"{each:.3g}" for each in cells]
        change = f"{ours['seconds'] / methods['before']['seconds']:.2f}"
        errors = [methods.get(method, {}).get("error") for method in OURS]
        shown = ["-" if each is None else f"{100 * each:.2f}" for each in errors]
        rows.append([name, *(str(ours[key]) for key in ("n", "d", "classes")), *cells, change, *shown])
    means = {method: np.exp(np.mean(np.log(found))) for method, found in ratios.items() if found}
    sentences = [f"after / before: {1 / means['before']:.2f} (geometric mean of {len(ratios['before'])} sets)"]
    sentences += [
        f"{method} / after: {means[method]:.1f} ({len(ratios[method])} sets; over the limit on {over[method]} more)"
        for method in PEERS
        if method in means
    ]
    header = ("set", "n", "d", "classes", *OURS, *PEERS, "ratio", "error before", "after")
    return "\n".join([machine(), "", *sentences, "", table(header, rows)])


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        method, name, repeats, limit = sys.argv[2:]
        child(method, name, int(repeats), int(limit))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD_SRC", help="the folder that holds the package svmpath, before")
    parser.add_argument("new", type=Path, metavar="NEW_SRC", help="the same after the change")
    parser.add_argument("--most", type=int, default=2000, help="rows of a set (default 2000)")
    parser.add_argument("--limit", type=int, default=60, help="processor seconds of a fit (default 60)")
    parser.add_argument("--repeats", type=int, default=3, help="fits of ours on a set (default 3)")
    parser.add_argument("--file", type=Path, required=True, help="JSON lines, to which results are added")
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE")
    options = parser.parse_args()
    run(options)
    publish("tuning_times", report(read(options.file)), options.write)


if __name__ == "__main__":
    main()
