"""Gradient selection beside the grid of paths, and one gamma per feature beside one for all.

Three ways of choosing, all by the squared held-out residual (span prediction for the squared hinge, exact leave-one-out
for least squares), with the defaults of ``PathSVC`` and ``PathSVR`` otherwise:

    grid       a path over C for each of 9 gammas and for two more between the best ones: the surface
    gradient   L-BFGS over (log C, log gamma) from the best point of a screen
    ard        one gamma per feature by gradient, their spread decided by held-out folds

Data: the first splits of the npz files in the folder named by SVMPATH_DATA (or ../shared/data), standardised, with 400
of the training rows where there are more; generated twonorm, ringnorm and waveform where there is no file; banana-like
data of 2 features with 8 of noise beside them. Regression sets have centred targets in units of their deviation. Times
are processor seconds of one fit, best read as ratios:

    python benchmarks/gradient_selection.py --write
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

# One BLAS thread: the matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _bonidal import Split, standardised
from _common import RESULTS, Array, chosen, load, machine, progress, publish, table, warn_if_busy
from bonidal2013_table3_4 import PAPER
from selection_quality import MOST, N_TEST, sources
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC, PathSVR, datasets

REGRESSION = ("airfoil", "autompg", "housing")
NOISE = 8  # features that mean nothing
N_NOISY = 200
METHODS: dict[str, dict[str, Any]] = {
    "grid": {"search": "grid", "scoring": "squared"},
    "gradient": {"search": "gradient"},
    "ard": {"gamma": "ard"},
}


# --- data ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where the splits of a set come from, and the losses to be compared on it."""

    name: str
    losses: tuple[str, ...]
    splits: Callable[[int], Iterator[Split]]

    @property
    def is_regression(self) -> bool:
        return self.losses == ("regression",)


def all_sources(size: int) -> dict[str, Source]:
    """All sets that are here; generated ones have so many rows."""
    both = ("squared_hinge", "least_squares")
    found = {name: Source(name, both, each.splits) for name, each in sources((size,)).items()}
    found["noisy"] = Source("noisy", both, lambda count: _noisy(count, min(size, N_NOISY)))
    for name in REGRESSION:
        data = load(name)
        if data is not None and "test_mask" in data:
            found[name] = Source(name, ("regression",), _Masked(data))
    return found


def _noisy(count: int, n: int) -> Iterator[Split]:
    """Banana-like data with features of noise beside them."""
    for seed in range(count):
        X, y = datasets.banana(n + N_TEST, seed)
        X = np.column_stack([X, np.random.default_rng(seed).normal(size=(len(X), NOISE))])
        yield standardised(X[:n], y[:n], X[n:], y[n:])


@dataclass(frozen=True)
class _Masked:
    """The splits of a regression file."""

    data: dict[str, Array]

    def __call__(self, count: int) -> Iterator[Split]:
        X, y = self.data["X"].astype(float), self.data["y"].astype(float).ravel()
        for seed, mask in enumerate(self.data["test_mask"].astype(bool).T[:count]):
            train = np.random.default_rng(seed).permutation(np.flatnonzero(~mask))[:MOST]
            scaler, unit = StandardScaler().fit(X[train]), y[train].std()
            yield scaler.transform(X[train]), y[train] / unit, scaler.transform(X[mask]), y[mask] / unit


# --- selection -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """One set and loss: test errors and processor seconds of each way, one number per split."""

    n: int
    d: int
    errors: dict[str, Array]
    seconds: dict[str, Array]


def run(source: Source, loss: str, count: int) -> Outcome:
    """All ways of choosing on the first splits of a set."""
    errors: dict[str, list[float]] = {name: [] for name in METHODS}
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    for X, y, X_test, y_test in source.splits(count):
        for name, options in METHODS.items():
            model = PathSVR(**options) if source.is_regression else PathSVC(loss=loss, **options)
            model.set_params(random_state=0)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # choices at an edge are measured like all others
                model.fit(X, y)
            seconds[name].append(time.process_time() - start)
            errors[name].append(_error(model, X_test, y_test, source.is_regression))
        shape = X.shape
    return Outcome(*shape, *({name: np.array(each) for name, each in one.items()} for one in (errors, seconds)))


def _error(model: Any, X: Array, y: Array, is_regression: bool) -> float:
    """Error rate in per cent, or root mean squared error in per cent of the deviation."""
    if is_regression:
        return float(100.0 * np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    return float(100.0 * np.mean(model.predict(X) != y))


# --- output ----------------------------------------------------------------------------------------------------------


def standard_error(numbers: Array) -> float:
    """Of the mean over splits."""
    return float(np.std(numbers, ddof=1) / np.sqrt(len(numbers))) if len(numbers) > 1 else float("nan")


def _within(one: Array, other: Array) -> str:
    """Whether the first is not above the second by more than the second's standard error."""
    return "yes" if one.mean() - other.mean() <= standard_error(other) else "no"


def rows_of(results: dict[tuple[str, str], Outcome]) -> str:
    header = ["test error", "loss", "n", "d", "paper gradient", *METHODS, "gradient - grid", "within 1 s.e."]
    header += ["ard - gradient", "time gradient / grid", "time ard / grid"]
    rows = []
    for (name, loss), found in results.items():
        errors, seconds = found.errors, {way: float(np.median(each)) for way, each in found.seconds.items()}
        paper = f"{PAPER[name].gradient[0]:.2f}" if name in PAPER and loss == "squared_hinge" else "-"
        row = [name, loss, str(found.n), str(found.d), paper]
        row += [f"{errors[way].mean():.2f} +- {standard_error(errors[way]):.2f}" for way in METHODS]
        for one, other in (("gradient", "grid"), ("ard", "gradient")):
            difference = errors[one] - errors[other]
            row.append(f"{difference.mean():+.2f} +- {standard_error(difference):.2f}")
            if one == "gradient":
                row.append(_within(errors["gradient"], errors["grid"]))
        rows.append([*row, *(f"{seconds[way] / seconds['grid']:.1f}" for way in ("gradient", "ard"))])
    return table(header, rows)


def notes(splits: int) -> str:
    """What a reader must know of the table."""
    lines = [
        f"{splits} splits of each set. Test error: per cent of wrong labels; for regression the root mean squared",
        "error in per cent of the targets' deviation. +-: standard error of the mean over the splits; of differences",
        "it is that of the paired differences. within 1 s.e.: gradient is not above grid by more than the standard",
        "error of grid. Splits of one file overlap, which makes standard errors too small.",
        f"noisy: banana-like data of 2 features and {NOISE} of noise. Sets with a number are generated.",
        "paper gradient: Bonidal, Tindel & Guermeur 2013, Table 3, on their splits and all training rows.",
        "time: ratio of the median processor seconds of one fit in one thread.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets")
    parser.add_argument("--splits", type=int, default=10, help="training / test splits of each set (default 10)")
    parser.add_argument("--size", type=int, default=MOST, help="training rows of the generated sets")
    parser.add_argument(
        "--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help="put the output into its section there"
    )
    options = parser.parse_args(argv)
    warn_if_busy()
    found = all_sources(options.size)
    PathSVC(loss="least_squares").fit(*datasets.twonorm(40, 0))  # load what is loaded at the first call
    results = {}
    for name in chosen(list(found), options.sets):
        for loss in found[name].losses:
            progress(f"{name}, {loss} ...")
            results[name, loss] = run(found[name], loss, options.splits)
            progress(rows_of({(name, loss): results[name, loss]}).splitlines()[-1])
    parts = [f"Gradient selection\n{machine()}", rows_of(results), notes(options.splits)]
    publish("gradient_selection", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
