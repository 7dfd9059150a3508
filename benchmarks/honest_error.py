"""How far estimates of the error are from the test error of the tuned model: optimism, and what corrects it.

Protocol: ``PathSVC(scale=True, random_state=0)`` (``PathSVR`` for regression) is fitted to the training part of a
split. Each column is the mean over the splits of an estimate minus the error on the test part, in points: per cent of
the test rows, or of the variance of the target.

    held out     held_out_error(): exact leave-one-out at the choice; loo_error() is the same without weights
    bootstrap    plus the bootstrap estimate of its optimism (BBC-CV)
    parts        plus Tibshirani and Tibshirani's estimate, on ten random parts
    nested 5     nested cross-validation, five fits on 80 % of the rows
    nested 10    nested cross-validation, ten fits on 90 % of the rows; nested_error()

Below: the mean of the column, its standard error over the sets, the mean of the absolute values, how many of the 95 %
intervals hold the test error (which is noisy itself: that is too few by what the test rows vary), and what it costs
beside the fit to all rows. The splits of a set overlap, and where training and test rows are two parts of one table,
an easy test part means a hard training part: the means of single sets are noisy.

Data: the sets of ``_peers_sets.py`` with at most ``--most`` training rows, from the folder named by ``--folder`` or
SVMPATH_DATA (or ../shared/data); without it, the embedded and generated ones. What is done is kept in ``--records`` and
not done again.

    python benchmarks/honest_error.py --records honest.jsonl --write
"""

from __future__ import annotations

import os

# One BLAS thread: the matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, chosen, data_folder, machine, progress, publish, table
from _peers_sets import CLASSIFICATION, Source, sources

from svmpath import PathSVC, PathSVR

METHODS = {
    "held out": None,
    "bootstrap": ("bootstrap", None),
    "parts": ("parts", None),
    "nested 5": ("nested", 5),
    "nested 10": ("nested", 10),
}


def measure(source: Source, k: int) -> dict[str, Any]:
    """Estimates, their intervals and the test error of one split, in points."""
    X, y, X_test, y_test = source.split(k)
    is_classes = source.task == CLASSIFICATION
    start = time.perf_counter()
    model = (PathSVC if is_classes else PathSVR)(scale=True, random_state=0).fit(X, y)
    record: dict[str, Any] = {"set": source.name, "task": source.task, "split": k, "n": len(y), "d": X.shape[1]}
    record["seconds"] = time.perf_counter() - start
    found = model.predict(X_test)
    record["test"] = 100 * float(np.mean(found != y_test) if is_classes else np.mean((found - y_test) ** 2))
    for name, how in METHODS.items():
        start = time.perf_counter()
        if how is None:
            value, interval, fits = model.held_out_error(), model.held_out_interval(), 0
        else:
            error = model.nested_error(how[0], n_splits=how[1])
            value, interval, fits = error.value, error.interval, error.n_fits
        record[name] = {"value": 100 * value, "interval": [100 * end for end in interval], "fits": fits}
        record[name]["seconds"] = time.perf_counter() - start
    return record


def report(records: Sequence[dict[str, Any]]) -> str:
    """The tables of classification and of regression."""
    tasks = dict.fromkeys(record["task"] for record in records)
    return "\n\n".join(_table([record for record in records if record["task"] == task], task) for task in tasks)


def _table(records: Sequence[dict[str, Any]], task: str) -> str:
    names = list(dict.fromkeys(record["set"] for record in records))
    bias = {name: [_bias(records, each, name) for each in names] for name in METHODS}
    rows = []
    for at, each in enumerate(names):
        own = [record for record in records if record["set"] == each]
        test = np.mean([record["test"] for record in own])
        seconds = np.median([record["seconds"] for record in own])
        size = [str(own[0]["n"]), str(own[0]["d"]), str(len(own))]
        rows.append([each, *size, f"{seconds:.2f}", f"{test:.2f}", *(f"{bias[name][at]:+.2f}" for name in METHODS)])
    blank, rest = [""] * 5, {name: np.array(values) for name, values in bias.items()}
    rows.append(["mean", *blank, *(f"{values.mean():+.2f}" for values in rest.values())])
    if len(names) > 1:
        errors = (values.std(ddof=1) / np.sqrt(len(names)) for values in rest.values())
        rows.append(["its standard error", *blank, *(f"{error:.2f}" for error in errors)])
    rows.append(["mean of absolute values", *blank, *(f"{abs(values).mean():.2f}" for values in rest.values())])
    rows.append(["% of intervals that hold", *blank, *(f"{_covered(records, name):.0f}" for name in METHODS)])
    rows.append(["fits", *blank, *(str(records[0][name]["fits"]) for name in METHODS)])
    cost = (np.mean([record[name]["seconds"] / record["seconds"] for record in records]) for name in METHODS)
    rows.append(["time, in fits", *blank, *(f"{each:.1f}" for each in cost)])
    return f"{task}: estimate minus test error, points\n\n" + table(
        ["set", "n", "d", "splits", "fit s", "test error", *METHODS], rows
    )


def _bias(records: Sequence[dict[str, Any]], each: str, name: str) -> float:
    return float(np.mean([record[name]["value"] - record["test"] for record in records if record["set"] == each]))


def _covered(records: Sequence[dict[str, Any]], name: str) -> float:
    held = [record[name]["interval"][0] <= record["test"] <= record[name]["interval"][1] for record in records]
    return 100 * float(np.mean(held))


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, help="folder of npz files (default: SVMPATH_DATA)")
    options.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets")
    options.add_argument("--splits", type=int, default=20, help="splits of each set (default 20)")
    options.add_argument("--most", type=int, default=1300, help="most training rows of a set (default 1300)")
    options.add_argument("--records", type=Path, help="file of results, one line each; what it has is not done again")
    options.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help="section of this file")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, and publish all."""
    options = parser().parse_args(arguments)
    folder = options.folder or data_folder()
    if folder is None:
        progress("There is no data folder (--folder, SVMPATH_DATA): embedded and generated sets only.")
    every = {name: source for name, source in sources(folder).items() if source.n <= options.most}
    names = chosen(list(every), options.sets)
    file = options.records
    lines = file.read_text().splitlines() if file is not None and file.exists() else []
    records = [record for record in map(json.loads, lines) if record["set"] in names]
    done = {(record["set"], record["split"]) for record in records}
    for name in names:
        progress(name)
        for k in range(options.splits):
            if (name, k) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                records.append(measure(every[name], k))
            if file is not None:
                with file.open("a") as out:
                    out.write(json.dumps(records[-1]) + "\n")
    records.sort(key=lambda record: (record["n"], record["set"], record["split"]))
    publish("honest_error", f"{machine()}\n\n{report(records)}", options.write)


if __name__ == "__main__":
    main()
