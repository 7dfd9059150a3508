"""Coverage of prediction intervals and sets: ``predict_interval`` and ``predict_set`` beside MAPIE.

Regression: jackknife+ of ``PathSVR()`` (least squares), and CV+ of the epsilon-insensitive machine with the same C and
gamma. Classification: jackknife+ of ``PathSVC(loss="least_squares")`` and CV+ of ``PathSVC(loss="squared_hinge")``. C
and gamma are chosen by ``fit`` on the same rows. Each set has several splits of at most ``--rows`` training rows; a
figure is the mean over the splits of the part of the test rows whose interval or set contains the target. Nominal are
80, 90 and 95 %.

MAPIE's jackknife+ (optional package ``mapie``) gets scikit-learn's ``KernelRidge`` with the same C and gamma, which is
the same machine but for the offset (targets have mean zero), and refits it for every row: small sets and few splits.
Times of both are those of a fit at the given C and gamma, of all that the intervals need, and of three predictions.

    python benchmarks/intervals.py --splits 20 --write
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from _common import arguments, chosen, data_folder, machine, progress, publish, table, timed, warn_if_busy
from _peers_sets import CHOSEN, CLASSIFICATION, REGRESSION, Source, sources
from sklearn.datasets import make_friedman1

from svmpath import PathSVC, PathSVR

Array = np.ndarray
Facts = dict[str, dict[float, list[tuple[float, float]]]]  # method -> level -> (coverage, width) of each split

LEVELS = (0.8, 0.9, 0.95)
INTERVALS = ("autompg", "housing", "airfoil", "abalone", "kin40k", "friedman", "noisy")
SETS = ("heart", "diabetis", "german", "banana", "waveform", "image", "wine", "digits")
MOST_TEST = 1000  # rows per split
MAPIE_ROWS = 500  # training rows up to which MAPIE's n refits are waited for
GENERATED = 400  # rows of generated sets
WITHIN = 0.02  # of the nominal coverage, on the average over the sets


# --- sets ------------------------------------------------------------------------------------------------------------


def friedman(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Friedman's first function of 10 columns with normal noise of deviation 1."""
    return make_friedman1(n, n_features=10, noise=1.0, random_state=int(rng.integers(2**31)))


def noisy(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A sine of one of three columns; the noise has heavy tails, and grows with another column."""
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * (1 + (X[:, 1] > 0)) * rng.standard_t(4, size=n)


def drawn(make: Callable[..., tuple[Array, Array]], k: int) -> tuple[Array, Array, Array, Array]:
    """Split k of a generated set."""
    X, y = make(GENERATED + MOST_TEST, np.random.default_rng([GENERATED, k]))
    return X[:GENERATED], y[:GENERATED], X[GENERATED:], y[GENERATED:]


def all_sets(folder: Path | None) -> dict[str, Source]:
    """The sets of this benchmark that are there: of a large set the smallest size."""
    found = {}
    for source in sorted(sources(folder).values(), key=lambda source: source.n):
        found.setdefault(source.name.partition("-")[0], source)
    for make in (friedman, noisy):
        found[make.__name__] = Source(make.__name__, REGRESSION, CHOSEN, GENERATED, partial(drawn, make))
    return {name: found[name] for name in (*INTERVALS, *SETS) if name in found}


def split(source: Source, k: int, rows: int) -> tuple[Array, Array, Array, Array]:
    """Split k with so many training rows at most, of each class in the proportion that it has by chance."""
    X, y, X_test, y_test = source.split(k)
    rng = np.random.default_rng(k)
    train, test = rng.permutation(len(y))[:rows], rng.permutation(len(y_test))[:MOST_TEST]
    return X[train], y[train], X_test[test], y_test[test]


# --- methods ---------------------------------------------------------------------------------------------------------


def regressors(X: Array, y: Array) -> dict[str, PathSVR]:
    """The fitted models whose intervals are measured."""
    squares = PathSVR(random_state=0).fit(X, y)
    tube = PathSVR(
        loss="epsilon_insensitive", epsilon=0.1, C=squares.C_, gamma=squares.gamma_, criterion="kfold", cv=10
    )
    return {"jackknife+": squares, "CV+": tube.fit(X, y)}


def classifiers(X: Array, y: Array) -> dict[str, PathSVC]:
    """The fitted models whose sets are measured."""
    losses = {"jackknife+": "least_squares", "CV+": "squared_hinge"}
    return {name: PathSVC(loss=loss, random_state=0).fit(X, y) for name, loss in losses.items()}


def of_intervals(ends: Array, y: Array) -> tuple[float, float]:
    """Part of the targets inside, and the mean width."""
    low, high = ends.T
    return float(np.mean((low <= y) & (y <= high))), float(np.mean(high - low))


def of_sets(is_in: Array, code: Array) -> tuple[float, float]:
    """Part of the labels in their sets, and the mean size."""
    return float(is_in[np.arange(len(code)), code].mean()), float(is_in.sum(axis=1).mean())


def measure(source: Source, splits: int, rows: int) -> tuple[str, Facts]:
    """Size and columns of a set, and the figures of both methods on each split."""
    facts: Facts = {}
    size = ""
    for k in range(splits):
        X, y, X_test, y_test = split(source, k, rows)
        size = f"{X.shape[0]} {X.shape[1]}"
        models = regressors(X, y) if source.task == REGRESSION else classifiers(X, y)
        for method, model in models.items():
            for level in LEVELS:
                if source.task == REGRESSION:
                    found = of_intervals(model.predict_interval(X_test, level), y_test)
                else:
                    found = of_sets(model.predict_set(X_test, level), np.searchsorted(model.classes_, y_test))
                facts.setdefault(method, {}).setdefault(level, []).append(found)
        progress(f"{source.name}: split {k + 1} of {splits}")
    return size, facts


# --- MAPIE -----------------------------------------------------------------------------------------------------------


def ours(C: float, gamma: float, X: Array, y: Array, X_test: Array) -> list[Array]:
    """Intervals at all levels, with the fit."""
    model = PathSVR(C=C, gamma=gamma).fit(X, y)
    return [model.predict_interval(X_test, level) for level in LEVELS]


def theirs(C: float, gamma: float, X: Array, y: Array, X_test: Array) -> list[Array]:
    """The same by MAPIE and kernel ridge regression."""
    from mapie.regression import CrossConformalRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import LeaveOneOut

    machine = KernelRidge(alpha=0.5 / C, kernel="rbf", gamma=gamma)
    model = CrossConformalRegressor(machine, confidence_level=list(LEVELS), method="plus", cv=LeaveOneOut())
    ends = model.fit_conformalize(X, y).predict_interval(X_test)[1]
    return [ends[:, :, level] for level in range(len(LEVELS))]


def beside_mapie(found: dict[str, Source], splits: int, rows: int) -> str:
    """The table of both packages; or that MAPIE is missing."""
    try:
        import mapie
    except ImportError:
        return "MAPIE: missing (pip install mapie); no comparison."
    lines = []
    for name, source in found.items():
        if source.task != REGRESSION or min(source.n, rows) > MAPIE_ROWS:
            continue
        facts: dict[str, list[tuple[float, ...]]] = {"svmpath": [], "MAPIE": []}
        for k in range(splits):
            X, y, X_test, y_test = split(source, k, rows)
            model = PathSVR(random_state=0).fit(X, y)
            for method, function in (("svmpath", ours), ("MAPIE", theirs)):
                timing = timed(partial(function, model.C_, model.gamma_, X, y, X_test))
                figures = [figure for ends in timing.result for figure in of_intervals(ends, y_test)]
                facts[method].append((*figures, timing.best))
            progress(f"{name} beside MAPIE: split {k + 1} of {splits}")
        seconds = {method: float(np.median([row[-1] for row in rows_])) for method, rows_ in facts.items()}
        for method, rows_ in facts.items():
            cells = _cells(np.mean(rows_, axis=0)[:-1].reshape(-1, 2))
            factor = "" if method == "svmpath" else f"{seconds['MAPIE'] / seconds['svmpath']:.0f}"
            lines.append([name, str(len(y)), method, *cells, f"{seconds[method]:.2f}", factor])
    header = ["set", "n", "", *_titles("width"), "seconds", "times ours"]
    return f"MAPIE {mapie.__version__}, {splits} splits, {MOST_TEST} test rows at most\n\n{table(header, lines)}"


# --- output ----------------------------------------------------------------------------------------------------------


def _titles(what: str) -> list[str]:
    return [title for level in LEVELS for title in (f"{100 * level:.0f} %", what)]


def _cells(figures: Array) -> list[str]:
    return [cell for coverage, width in figures for cell in (f"{100 * coverage:.1f}", f"{width:.2f}")]


def overview(rows: dict[str, tuple[str, Facts]], what: str) -> str:
    """A line per set and method, and the mean over the sets."""
    lines, means = [], []
    for method in ("jackknife+", "CV+"):
        kept = [[np.mean(facts[method][level], axis=0) for level in LEVELS] for _, facts in rows.values()]
        for (name, (size, _)), figures in zip(rows.items(), kept, strict=True):
            lines.append([name, *size.split(), method, *_cells(np.array(figures))])
        average = np.mean(kept, axis=0)
        lines.append(["mean", "", "", method, *_cells(average)])
        off = np.abs(average[:, 0] - LEVELS).max()
        verdict = "reached" if off <= WITHIN else "MISSED"
        means.append(f"{method}: at most {100 * off:.1f} points from nominal on the average ({verdict}: 2 points)")
    return table(["set", "n", "d", "", *_titles(what)], lines) + "\n\n" + "\n".join(means)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--folder", type=Path, default=data_folder(), help="folder of npz files (else SVMPATH_DATA)")
    parser.add_argument("--splits", type=int, default=20, help="splits per set (default 20)")
    parser.add_argument("--rows", type=int, default=600, help="largest number of training rows (default 600)")
    parser.add_argument("--mapie-splits", type=int, default=2, help="splits beside MAPIE (default 2)")
    args = parser.parse_args(argv)
    warn_if_busy()
    found = all_sets(args.folder)
    found = {name: found[name] for name in chosen(list(found), args.sets)}
    parts = [machine(), f"{args.splits} splits, at most {args.rows} training and {MOST_TEST} test rows"]
    if args.folder is None:
        parts.append("No data folder (--folder or SVMPATH_DATA): generated sets and those of scikit-learn only.")
    for task, what in ((REGRESSION, "width"), (CLASSIFICATION, "labels")):
        rows = {name: measure(source, args.splits, args.rows) for name, source in found.items() if source.task == task}
        if rows:
            parts.append(f"{'intervals' if task == REGRESSION else 'sets'}\n\n{overview(rows, what)}")
    if any(source.task == REGRESSION for source in found.values()):
        parts.append(beside_mapie(found, args.mapie_splits, args.rows))
    publish("intervals", "\n\n".join(parts), args.write)


if __name__ == "__main__":
    main()
