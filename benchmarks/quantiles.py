"""Quantile regression: whole paths over the quantile, many tuned quantiles beside peers, and conformalised intervals.

Paths: the time of ``trace(X, y, loss="pinball", over="quantile", span=(0.05, 0.95), C=1)`` in fits of scikit-learn's
``SVR(epsilon=0)``, which is one quantile, the median, to LIBSVM's tolerance of 1e-3.

Tuning: 19 quantiles, 0.05 to 0.95, with C and gamma (or what else there is) chosen, and their mean pinball loss on test
rows. Targets have deviation 1. The searches of Nystroem and boosting are made for the quantiles 0.1, 0.5 and 0.9 of the
first split alone, and their time is multiplied by 19 / 3; "loss at 3" is that of these quantiles on that split, for all
methods. "below 0.9" is the share of test targets below that quantile, in percent.

    shared        PathSVR(loss="pinball", quantile=[0.05, ..., 0.95]): one C and gamma for all, by the mean loss
    three, path   PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9]), then predict_quantiles at all 19
    calibrated    the same with calibrate=True: moved to the quantiles of held-out residuals
    Nystroem      GridSearchCV for each quantile: QuantileRegressor (HiGHS) on 100 Nystroem features, 3 gammas, 3 alphas
    boosting      GridSearchCV for each quantile: HistGradientBoostingRegressor(loss="quantile"), 3 sizes, 2 rates
    liquidSVM     qtSVM(weights=[0.05, ..., 0.95]) with its own grid and folds, where it can be imported (see
                  peers_tuning.py)

Predictions of all methods are sorted, which costs none of them anything.

Intervals: coverage and mean width of ``predict_interval`` on data whose noise depends on x: conformalised quantiles
(CQR, with the pair of quantiles that is narrowest on held-out rows, and nominal: with those of the coverage) beside
jackknife+ of ``PathSVR()``, over splits of 300 training and 1000 test rows. "true" are the quantiles of the
distributions that the rows are drawn from: the coverage is the same at every x, which is not where the mean width is
least. "noisy" is the coverage in the third of the test rows with the most noise.

    python benchmarks/quantiles.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sysconfig
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, chosen, data_folder, machine, progress, publish, table, timed, warn_if_busy
from _peers_sets import CHOSEN, REGRESSION, Source, sources
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import svmpath
from svmpath import PathSVR

Array = np.ndarray

LEVELS = np.round(np.linspace(0.05, 0.95, 19), 2)
SETS = ("autompg", "housing", "airfoil", "abalone-2000", "kin40k-2000", "diabetes", "waves", "fan")
FEW = np.array([0.1, 0.5, 0.9])  # what slow peers are searched at; their time is multiplied
COVERAGES = (0.8, 0.9)
TRAIN, TEST = 300, 1000  # rows of generated sets
PARTS = ("paths", "many", "tuned", "intervals")
WITHIN = 0.02  # of the nominal coverage
SEED = 11  # of the intervals; 7 and 8 were looked at while they were made


# --- data ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """y = mean(x) + size(x) e, with e from a distribution of scipy.stats."""

    name: str
    low: float
    high: float
    d: int
    mean: Callable[[Array], Array]
    size: Callable[[Array], Array]
    law: Any

    def __call__(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        X = rng.uniform(self.low, self.high, size=(n, self.d))
        return X, self.mean(X) + self.size(X) * self.law.rvs(size=n, random_state=rng)

    def ends(self, X: Array, coverage: float) -> Array:
        """The true quantiles of half what is missing, and of the rest."""
        tail = 0.5 * (1.0 - coverage)
        return self.mean(X)[:, None] + self.size(X)[:, None] * self.law.ppf([tail, 1.0 - tail])


waves = Noise(
    "waves", -2, 2, 2, lambda X: np.sin(2 * X[:, 0]), lambda X: 0.1 + 0.4 * np.abs(X[:, 0]), stats.norm()
)  # the noise grows with the size of the column
tails = Noise(
    "tails", -2, 2, 3, lambda X: np.sin(2 * X[:, 0]), lambda X: 0.2 + 0.4 * (X[:, 1] > 0), stats.t(4)
)  # three times as large for half of another column
skewed = Noise("skewed", 0, 2, 1, lambda X: X[:, 0] ** 2, lambda X: 0.1 + 0.5 * X[:, 0], stats.expon())
fan = Noise(
    "fan", -2, 2, 5, lambda X: X[:, 0] + 0.5 * X[:, 1] ** 2, lambda X: 0.4 * np.exp(0.7 * X[:, 2]), stats.norm()
)
bump = Noise(
    "bump", -2, 2, 1, lambda X: np.sin(4 * X[:, 0]), lambda X: 0.1 + 0.9 * np.exp(-4 * X[:, 0] ** 2), stats.norm()
)
# Drawn once, when all else was settled:
saddle = Noise("saddle", -1, 1, 2, lambda X: X[:, 0] * X[:, 1], lambda X: 0.1 + 0.3 * (X[:, 0] + 1), stats.laplace())
steps = Noise("steps", 0, 4, 2, lambda X: np.floor(X[:, 0]), lambda X: 0.1 + 0.2 * np.floor(X[:, 0]), stats.norm())
linear = Noise("linear", 0, 1, 8, lambda X: X.sum(axis=1), lambda X: 0.2 + X[:, 0], stats.t(5))

GENERATORS = (waves, tails, skewed, fan, bump, saddle, steps, linear)


def split(source: Source, k: int, rows: int) -> tuple[Array, Array, Array, Array]:
    """Split k with so many training rows at most."""
    X, y, X_test, y_test = source.split(k)
    train = np.random.default_rng(k).permutation(len(y))[:rows]
    return X[train], y[train], X_test, y_test


def all_sets(folder: Path | None) -> dict[str, Source]:
    """The sets that are there."""

    def drawn(make: Noise, k: int) -> tuple[Array, Array, Array, Array]:
        X, y = make(TRAIN + TEST, np.random.default_rng([TRAIN, k]))
        return X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:]

    def diabetes(k: int) -> tuple[Array, Array, Array, Array]:
        X, y = load_diabetes(return_X_y=True)
        train, test = np.split(np.random.default_rng(k).permutation(len(y)), [TRAIN])
        return X[train], y[train], X[test], y[test]

    found = {name: source for name, source in sources(folder).items() if source.task == REGRESSION}
    found["diabetes"] = Source("diabetes", REGRESSION, CHOSEN, TRAIN, diabetes)
    for make in (waves, fan):
        found[make.name] = Source(make.name, REGRESSION, CHOSEN, TRAIN, partial(drawn, make))
    return {name: found[name] for name in SETS if name in found}


# --- paths -----------------------------------------------------------------------------------------------------------


def paths(sizes: Sequence[int], repeats: int) -> str:
    """Times of whole paths over the quantile, in fits of one machine."""
    lines = []
    for make in (waves, tails):
        for n in sizes:
            X, y = make(n, np.random.default_rng(n))
            y = (y - y.mean()) / y.std()
            gamma = 1.0 / (X.shape[1] * X.var())
            follow = timed(
                lambda X=X, y=y, gamma=gamma: svmpath.trace(
                    X, y, loss="pinball", over="quantile", span=(0.05, 0.95), gamma=gamma, C=1.0
                ),
                repeats,
            )
            fit = timed(lambda X=X, y=y, gamma=gamma: SVR(C=0.5, epsilon=0.0, gamma=gamma).fit(X, y), repeats)
            path = follow.result
            worst = max(path(q).violation for q in LEVELS)
            lines.append([
                make.name, str(n), str(X.shape[1]), str(len(path.breakpoints)), f"{1e3 * follow.median:.1f}",
                f"{1e3 * fit.median:.1f}", f"{follow.median / fit.median:.1f}", f"{worst:.0e}",
            ])  # fmt: skip
            progress(f"path of {n} rows")
    header = ["data", "n", "d", "breakpoints", "path ms", "SVR fit ms", "fits", "violation"]
    return f"Whole path over the quantile, 0.05 to 0.95, medians of {repeats}\n\n{table(header, lines)}"


def many(sizes: Sequence[int] = (20_000, 100_000)) -> str:
    """A path over C in low rank with a gap."""
    lines = []
    for n in sizes:
        X, y = fan(n, np.random.default_rng(n))
        follow = timed(
            lambda X=X, y=y: svmpath.trace(
                X, y, loss="pinball", quantile=0.9, gamma=0.1, span=(0.01, 10.0), rank=200, tol=0.01, random_state=0
            )
        )
        path = follow.result
        gaps = timed(lambda path=path: max(path(C).gap for C in np.geomspace(0.01, 10.0, 9)))
        below = 100.0 * np.mean(y < path(1.0).fitted)
        lines.append(
            [
                str(n),
                f"{follow.cpu[0] + gaps.cpu[0]:.1f}",
                str(len(path.breakpoints)),
                f"{gaps.result:.0e}",
                f"{below:.1f}",
            ]
        )
    header = ["n, d = 5", "CPU s", "machines", "largest gap", "% below at C = 1"]
    return (
        "Many rows: path of the quantile 0.9 over C from 0.01 to 10 and machines at nine values, 200 landmarks, "
        f"tol=0.01; the gap is on the low-rank kernel\n\n{table(header, lines)}"
    )


# --- tuned quantiles -------------------------------------------------------------------------------------------------

Predict = Callable[[Array], Array]


def shared(X: Array, y: Array) -> Predict:
    return PathSVR(loss="pinball", quantile=LEVELS.tolist(), random_state=0).fit(X, y).predict


def three(X: Array, y: Array) -> Predict:
    model = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], random_state=0).fit(X, y)
    return lambda rows: model.predict_quantiles(rows, LEVELS)


def calibrated(X: Array, y: Array) -> Predict:
    model = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], calibrate=True, random_state=0).fit(X, y)
    return lambda rows: model.predict_quantiles(rows, LEVELS)


def searched(make: Callable[[float], tuple[object, dict]], X: Array, y: Array) -> Predict:
    """A search of its own for each quantile."""
    models = []
    for q in FEW.tolist():
        estimator, grid = make(q)
        score = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=q)
        models.append(GridSearchCV(estimator, grid, scoring=score, cv=5).fit(X, y))
    return lambda rows: np.column_stack([model.predict(rows) for model in models])


def nystroem(X: Array, y: Array) -> Predict:
    gamma = 1.0 / (X.shape[1] * X.var())

    def make(q: float) -> tuple[object, dict]:
        features = Nystroem(n_components=min(100, len(y) // 2), random_state=0)
        grid = {
            "nystroem__gamma": [gamma / 4, gamma, 4 * gamma],
            "quantileregressor__alpha": [1e-4, 1e-3, 1e-2],
        }
        return make_pipeline(features, QuantileRegressor(quantile=q, solver="highs")), grid

    return searched(make, X, y)


def boosting(X: Array, y: Array) -> Predict:
    def make(q: float) -> tuple[object, dict]:
        model = HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=0, early_stopping=False)
        return model, {"max_leaf_nodes": [4, 8, 31], "learning_rate": [0.03, 0.1]}

    return searched(make, X, y)


def liquid(X: Array, y: Array) -> Predict:
    sysconfig.get_config_vars()["SO"] = ".so"  # by which it looks for its own library, and which Python has dropped
    import liquidSVM

    model = liquidSVM.qtSVM(X, y, weights=LEVELS.tolist(), threads=1, display=0, random_seed=1)
    return lambda rows: np.asarray(model.test(rows, np.resize(y, len(rows)))[0])


METHODS: dict[str, Callable[[Array, Array], Predict]] = {
    "shared": shared, "three, path": three, "calibrated": calibrated, "Nystroem": nystroem,
    "boosting": boosting, "liquidSVM": liquid,
}  # fmt: skip


SLOW = ("Nystroem", "boosting")


def pinball(y: Array, f: Array, levels: Array) -> float:
    """The mean over rows and quantiles."""
    e = y[:, None] - np.sort(f, axis=1)
    return float(np.maximum(levels * e, (levels - 1.0) * e).mean())


@dataclass(frozen=True)
class Figures:
    """Of one method on one split."""

    seconds: float
    loss: float
    loss_at_few: float
    below: float


def measured(method: str, X: Array, y: Array, X_test: Array, y_test: Array) -> Figures:
    """Fit and predict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timing = timed(lambda: METHODS[method](X, y)(X_test))
    f, is_slow = np.sort(timing.result, axis=1), method in SLOW
    few = f if is_slow else f[:, np.searchsorted(LEVELS, FEW - 1e-9)]
    return Figures(
        timing.cpu[0] * (len(LEVELS) / len(FEW) if is_slow else 1.0),
        np.nan if is_slow else pinball(y_test, f, LEVELS),
        pinball(y_test, few, FEW),
        100.0 * float(np.mean(y_test < few[:, -1])),
    )


def tuned(found: dict[str, Source], splits: int, rows: int, methods: Sequence[str]) -> str:
    """CPU seconds and held-out loss of each method on each set."""
    lines = []
    for name, source in found.items():
        facts: dict[str, list[Figures]] = {}
        size: list[str] = []
        for k in range(splits):
            X, y, X_test, y_test = split(source, k, rows)
            size = [str(len(y)), str(X.shape[1])]
            for method in methods if k == 0 else [each for each in methods if each not in SLOW]:
                try:
                    facts.setdefault(method, []).append(measured(method, X, y, X_test, y_test))
                except ImportError:
                    del facts[method]
                    progress(f"{method}: missing")
                    continue
                progress(f"{name}, split {k + 1}, {method}: {facts[method][-1]}")
        ours = np.median([each.seconds for each in facts["shared"]])
        for method, figures in facts.items():
            seconds, loss = np.median([each.seconds for each in figures]), np.mean([each.loss for each in figures])
            below = np.mean([each.below for each in figures])
            lines.append([
                name, *size, method, f"{seconds:.2f}", f"{seconds / ours:.1f}", "" if np.isnan(loss) else f"{loss:.4f}",
                f"{figures[0].loss_at_few:.4f}", f"{below:.0f}",
            ])  # fmt: skip
    header = ["set", "n", "d", "", "CPU s", "times shared", "pinball loss", "loss at 3", "below 0.9"]
    return (
        f"19 quantiles, tuned; {splits} splits, at most {rows} training rows; median CPU seconds, mean test loss\n\n"
        f"{table(header, lines)}"
    )


# --- intervals -------------------------------------------------------------------------------------------------------


def intervals(splits: int) -> str:
    """Coverage and width of conformalised quantiles and of jackknife+."""
    facts: dict[tuple[str, str, float], list[tuple[float, float, float]]] = {}
    for make in GENERATORS:
        for k in range(splits):
            X, y = make(TRAIN + TEST, np.random.default_rng([SEED, k]))
            new, target, noise = X[TRAIN:], y[TRAIN:], make.size(X[TRAIN:])
            noisy = noise >= np.quantile(noise, 2 / 3)
            quantiles = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], random_state=0)
            means = PathSVR(random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for model in (quantiles, means):
                    model.fit(X[:TRAIN], y[:TRAIN])
            for level in COVERAGES:
                found = {
                    "CQR": quantiles.predict_interval(new, level),
                    "CQR, nominal": quantiles.predict_interval(new, level, method="cqr_nominal"),
                    "jackknife+": means.predict_interval(new, level),
                    "true": make.ends(new, level),
                }
                for method, ends in found.items():
                    inside = (ends[:, 0] <= target) & (target <= ends[:, 1])
                    figures = float(inside.mean()), float(inside[noisy].mean()), float(np.ptp(ends, axis=1).mean())
                    facts.setdefault((make.name, method, level), []).append(figures)
            progress(f"{make.name}: split {k + 1} of {splits}")
    mean = {key: np.mean(figures, axis=0) for key, figures in facts.items()}
    lines = []
    for data, method in dict.fromkeys(key[:2] for key in mean):
        cells = []
        for level in COVERAGES:
            inside, in_noise, width = mean[data, method, level]
            ratio = width / mean[data, "jackknife+", level][2]
            cells += [f"{100 * inside:.1f}", f"{100 * in_noise:.1f}", f"{width:.2f}", f"{ratio:.2f}"]
        lines.append([data, method, *cells])
    titles = [title for level in COVERAGES for title in (f"{100 * level:.0f} %", "noisy", "width", "ratio")]
    head = f"Intervals of {TRAIN} rows, {splits} splits; ratio: of the width to that of jackknife+"
    return f"{head}\n\n{table(['data', '', *titles], lines)}\n\n{verdicts(mean)}"


def verdicts(mean: dict[tuple[str, str, float], Array]) -> str:
    """How far coverages are from nominal, and how wide intervals are beside jackknife+."""
    sentences = []
    for method in dict.fromkeys(method for _, method, _ in mean):
        mine = {(data, level): each for (data, name, level), each in mean.items() if name == method}
        off = max(abs(each[0] - level) for (_, level), each in mine.items())
        ratios = [each[2] / mean[data, "jackknife+", level][2] for (data, level), each in mine.items()]
        sentences.append(
            f"{method}: at most {100 * off:.1f} points from nominal ({'reached' if off <= WITHIN else 'MISSED'}: 2 "
            f"points), {np.mean(ratios):.2f} times as wide as jackknife+ on the average ({min(ratios):.2f} to "
            f"{max(ratios):.2f})"
        )
    return "\n".join(sentences)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--folder", type=Path, default=data_folder(), help="folder of npz files (else SVMPATH_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000], help="rows of the paths")
    parser.add_argument("--splits", type=int, default=3, help="splits of the tuned quantiles (default 3)")
    parser.add_argument("--interval-splits", type=int, default=20, help="splits of the intervals (default 20)")
    parser.add_argument("--rows", type=int, default=300, help="largest number of training rows (default 300)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="only these; shared must be among them")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these")
    args = parser.parse_args(argv)
    warn_if_busy()
    found = all_sets(args.folder)
    found = {name: found[name] for name in chosen(list(found), args.sets)}
    run = {
        "paths": lambda: paths(args.sizes, 5),
        "many": many,
        "tuned": lambda: tuned(found, args.splits, args.rows, args.methods),
        "intervals": lambda: intervals(args.interval_splits),
    }
    note = [] if args.folder is not None else ["No data folder (--folder or SVMPATH_DATA): generated sets only."]
    publish("quantiles", "\n\n".join([machine(), *note, *(run[part]() for part in args.parts)]), args.write)


if __name__ == "__main__":
    main()
