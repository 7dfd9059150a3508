"""What selects C and gamma best for the squared hinge: test errors beyond the best pair of one grid.

Protocol: standardised training sets of at most 400 rows, 9 gammas x 22 values of C (those of ``PathSVC``), one BLAS
thread. Each way of choosing takes one pair of the grid, and its machine is measured on the test rows; the oracle takes
the pair with the lowest test error of all, which nobody can do:

    span               the span prediction of the leave-one-out error (the default of PathSVC)
    span squared hinge the same with the cut squared hinge of the held-out decision values for the error
    span logistic      the same with the logistic loss
    loo                exact leave-one-out error
    radius margin      the radius-margin bound
    5-fold             exact 5-fold error, stratified and shuffled
    span one_se        the smallest C, then gamma, within one standard error of the lowest span error

The last column, "least squares", is the other machine: the same gammas, 46 values of C, exact leave-one-out. It may
beat the oracle, who has the squared hinge only.

Data: the first splits ``train_gen`` of the npz files in the folder named by SVMPATH_DATA (or ../shared/data), with 400
of the training rows where there are more, and generated twonorm, ringnorm and waveform. Run it on an idle machine:

    python benchmarks/selection_quality.py --write
"""

from __future__ import annotations

import os
import time
import warnings

# One BLAS thread: the matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _bonidal import Split, standardised
from _common import Array, arguments, chosen, load, machine, progress, publish, table, warn_if_busy
from sklearn.model_selection import StratifiedKFold

import svmpath
from svmpath import PathSVC, datasets
from svmpath.kernels import gamma_value

MOST = 400  # training rows
FILES = {
    "banana": "banana",
    "breast": "breast_cancer",
    "diabetis": "diabetis",
    "heart": "heart",
    "image": "image",
    "ringnorm": "ringnorm",
    "titanic": "titanic",
    "twonorm": "twonorm",
}
GENERATORS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "ringnorm": datasets.ringnorm,
    "twonorm": datasets.twonorm,
    "waveform": datasets.waveform,
}
SIZES = (100, 400)  # training rows of the generated sets
N_TEST = 4000
METHODS: dict[str, dict[str, Any]] = {
    "span": {"criterion": "span"},
    "span squared hinge": {"criterion": "span", "scoring": "squared_hinge"},
    "span logistic": {"criterion": "span", "scoring": "logistic"},
    "loo": {"criterion": "loo"},
    "radius margin": {"criterion": "radius_margin"},
    "5-fold": {"criterion": "kfold"},
    "span one_se": {"criterion": "span", "rule": "one_se"},
}
OTHER = "least squares"


# --- data ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where the splits of a set come from."""

    name: str
    kind: str  # "file", "generated"
    splits: Callable[[int], Iterator[Split]]


def sources(sizes: Sequence[int]) -> dict[str, Source]:
    """All sets that are here; twonorm and ringnorm in full size only where there is no file."""
    found = {}
    for name, file in FILES.items():
        data = load(file)
        if data is not None and "train_gen" in data:
            found[name] = Source(name, "file", _Stored(data))
    for size in sizes:
        for name in GENERATORS:
            if size < MOST or name not in found:
                found[f"{name}-{size}"] = Source(f"{name}-{size}", "generated", _Generated(name, size))
    return found


@dataclass(frozen=True)
class _Stored:
    """The splits of a file."""

    data: dict[str, Array]

    def __call__(self, count: int) -> Iterator[Split]:
        X, y = self.data["X"], self.data["y"]
        for seed, train in enumerate(self.data["train_gen"][:count]):
            test = np.setdiff1d(np.arange(len(X)), train)
            some = np.random.default_rng(seed).permutation(train)[:MOST]  # the file has the rows in order
            yield standardised(X[some], y[some], X[test], y[test])


@dataclass(frozen=True)
class _Generated:
    """Splits drawn from a recipe."""

    name: str
    n: int

    def __call__(self, count: int) -> Iterator[Split]:
        for seed in range(count):
            X, y = GENERATORS[self.name](self.n + N_TEST, seed)
            yield standardised(X[: self.n], y[: self.n], X[self.n :], y[self.n :])


# --- selection -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """One training set: sizes, test errors in per cent (oracle, methods), seconds, and what the curves say."""

    n: int
    d: int
    n_test: int
    oracle: float
    errors: dict[str, float]
    seconds: dict[str, float]
    ties: int  # pairs of the grid that share the lowest span error
    unreliable: float  # training errors at the bound's choice, in per cent


def surface(split: Split, gammas: Array, values: Array) -> Array:
    """Test errors in per cent at all pairs of gamma and C."""
    X, y, X_test, y_test = split
    errors = np.empty((len(gammas), len(values)))
    for row, gamma in zip(errors, gammas, strict=True):
        path = svmpath.trace(X, y, loss="squared_hinge", gamma=gamma, span=(values[0], values[-1]))
        cross, K = path.gram.cross(X_test), path.gram.K
        for stop in path.walk(values):
            E = stop.point.E
            alpha = np.where(E, 2.0 * stop.C * (y - stop.point.f), 0.0)
            b = np.mean((y - K @ alpha - alpha / (2.0 * stop.C))[E])
            row[stop.position] = 100.0 * np.mean((cross @ alpha + b > 0) != (y_test > 0))
    return errors


def processor_time(model: PathSVC, X: Array, y: Array) -> float:
    """Seconds that a fit takes of one processor, whatever else is running."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # that the radius-margin bound is loose on noisy data is measured here
        model.fit(X, y)
    return time.process_time() - start


def run(split: Split, seed: int, gammas: Array, values: Array) -> Outcome:
    """All ways of choosing on one training set."""
    X, y, X_test, y_test = split
    gammas = gamma_value("scale", X) * gammas
    grid = surface(split, gammas, values)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    errors, seconds, models = {}, {}, {}
    for name, options in METHODS.items():
        model = PathSVC(gamma=list(gammas), C=list(values), search="grid", cv=folds, **options)
        seconds[name] = processor_time(model, X, y)
        place = (int(np.argmin(abs(gammas - model.gamma_))), int(np.argmin(abs(values - model.C_))))
        errors[name], models[name] = grid[place], model
    other = PathSVC(loss="least_squares", gamma=list(gammas), search="grid")
    seconds[OTHER] = processor_time(other, X, y)
    errors[OTHER] = 100.0 * (1.0 - other.score(X_test, y_test))
    scores = np.concatenate([t.scores for t in models["span"].choice_.tried.values()])
    bound = models["radius margin"]
    unreliable = 100.0 * bound.curve_.unreliable[bound.choice_.index] / len(y)
    ties = int(np.count_nonzero(scores <= scores.min() + 1e-12))
    return Outcome(len(y), X.shape[1], len(y_test), float(grid.min()), errors, seconds, ties, float(unreliable))


# --- output ----------------------------------------------------------------------------------------------------------


def excess_table(results: dict[str, list[Outcome]]) -> str:
    """Mean test error of each way beyond the oracle's, in points; below, means over sets."""
    names = [*METHODS, OTHER]
    header = ["excess (points)", "n", "d", "oracle %", *names, "ties", "unreliable %"]
    excess = np.array(
        [[np.mean([o.errors[name] - o.oracle for o in few]) for name in names] for few in results.values()]
    )
    rows = []
    for (name, few), numbers in zip(results.items(), excess, strict=True):
        row = [name, str(few[0].n), str(few[0].d), f"{np.mean([o.oracle for o in few]):.2f}"]
        row += [f"{number:.2f}" for number in numbers]
        rows.append([*row, f"{np.mean([o.ties for o in few]):.0f}", f"{np.mean([o.unreliable for o in few]):.1f}"])
    rows.append(["mean", "", "", "", *(f"{number:.2f}" for number in excess.mean(axis=0)), "", ""])
    rows.append(["largest", "", "", "", *(f"{number:.2f}" for number in excess.max(axis=0)), "", ""])
    difference = excess - excess[:, :1]
    rows.append(["minus span", "", "", "", *(f"{number:+.2f}" for number in difference.mean(axis=0)), "", ""])
    deviation = (
        difference.std(axis=0, ddof=1) / np.sqrt(len(excess)) if len(excess) > 1 else np.full(len(names), np.nan)
    )
    rows.append(["its s.e.", "", "", "", *(f"{number:.2f}" for number in deviation), "", ""])
    return table(header, rows)


def times_table(results: dict[str, list[Outcome]]) -> str:
    names = [*METHODS, OTHER]
    seconds = np.array([[np.mean([o.seconds[name] for o in few]) for name in names] for few in results.values()])
    rows = [[name, *(f"{s:.3f}" for s in row)] for name, row in zip(results, seconds, strict=True)]
    rows.append(["mean", *(f"{s:.3f}" for s in seconds.mean(axis=0))])
    return table(["time (s)", *names], rows)


def notes(results: dict[str, list[Outcome]], splits: int, gammas: int, Cs: int) -> str:
    """What a reader must know of the tables."""
    sizes = ", ".join(f"{name} {few[0].n_test}" for name, few in results.items())
    lines = [
        f"{splits} splits of each set, {gammas} gammas x {Cs} values of C; test rows: {sizes}.",
        "excess: mean test error of the chosen pair minus that of the best pair of the same grid (oracle %: its mean).",
        "least squares: another machine and its own values of C, beside the oracle of the squared hinge.",
        "minus span: mean over sets of the difference to the column span, and its standard error over sets.",
        "ties: pairs of the grid that share the lowest span error, mean; of these span takes the one of the lowest",
        "squared held-out residual. unreliable: training errors at the pair that the bound chooses, per cent.",
        "time: mean processor time of one PathSVC.fit in one thread. Those of span and radius margin include the exact",
        "leave-one-out error of the choice. Sets with a number are generated, with so many training rows.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=9, Cs=22)
    parser.add_argument("--splits", type=int, default=5, help="training / test splits of each set (default 5)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="training rows of the generated sets")
    options = parser.parse_args(argv)
    warn_if_busy()
    gammas, values = 4.0 ** np.linspace(-4, 4, options.gammas), np.geomspace(1e-3, 1e4, options.Cs)
    found = sources(options.sizes)
    X, y, *_ = standardised(*2 * datasets.twonorm(60, 0))
    run((X, y, X, y), 0, gammas[:2], values[:3])  # load what is loaded at the first call
    results = {}
    for name in chosen(list(found), options.sets):
        progress(f"{name} ...")
        splits = enumerate(found[name].splits(options.splits))
        results[name] = [run(split, seed, gammas, values) for seed, split in splits]
    parts = [
        f"What selects C and gamma for the squared hinge\n{machine()}",
        excess_table(results),
        times_table(results),
        notes(results, options.splits, options.gammas, options.Cs),
    ]
    publish("selection_quality", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
