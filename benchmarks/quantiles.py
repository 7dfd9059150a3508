"""Quantile regression: whole paths over the quantile, many tuned quantiles beside peers, and conformalised intervals.

Paths: the time of ``trace(X, y, loss="pinball", over="quantile", span=(0.05, 0.95), C=1)`` in fits of scikit-learn's
``SVR(epsilon=0)``, which is one quantile, the median, to LIBSVM's tolerance of 1e-3.

Tuning: 19 quantiles, 0.05 to 0.95, with C and gamma (or what else there is) chosen, and their mean pinball loss on test
rows. Targets have deviation 1.

    shared        PathSVR(loss="pinball", quantile=[0.05, ..., 0.95]): one C and gamma for all, by the mean loss
    three, path   PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9]), then predict_quantiles at all 19
    Nystroem      GridSearchCV for each quantile: QuantileRegressor (HiGHS) on 100 Nystroem features, 3 gammas, 3 alphas
    boosting      GridSearchCV for each quantile: HistGradientBoostingRegressor(loss="quantile"), 3 sizes, 2 rates
    liquidSVM     qtSVM(weights=[0.05, ..., 0.95]) with its own grid and folds, where it can be imported (see
                  peers_tuning.py)

Predictions of all methods are sorted, which costs none of them anything.

Intervals: coverage and mean width of ``predict_interval`` on data whose noise depends on x: conformalised quantiles
(CQR) beside jackknife+ of ``PathSVR()``, over splits of 300 training and 1000 test rows.

    python benchmarks/quantiles.py --write
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sysconfig
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from _common import arguments, chosen, data_folder, machine, progress, publish, table, timed, warn_if_busy
from _peers_sets import CHOSEN, REGRESSION, Source, sources
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
SETS = ("autompg", "housing", "airfoil", "waves")
COVERAGES = (0.8, 0.9)
TRAIN, TEST = 300, 1000  # rows of generated sets
WITHIN = 0.02  # of the nominal coverage


# --- data ------------------------------------------------------------------------------------------------------------


def waves(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A sine of the first of two columns; the noise grows with its size."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + (0.1 + 0.4 * np.abs(X[:, 0])) * rng.normal(size=n)


def tails(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A sine of one of three columns; the noise has heavy tails, and is three times as large for half of another."""
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.2 * (1 + 2 * (X[:, 1] > 0)) * rng.standard_t(4, size=n)


def skewed(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A parabola of one column, with exponential noise that grows along it."""
    X = rng.uniform(0, 2, size=(n, 1))
    return X, X[:, 0] ** 2 + (0.1 + 0.5 * X[:, 0]) * rng.exponential(size=n)


GENERATORS = (waves, tails, skewed)


def split(source: Source, k: int, rows: int) -> tuple[Array, Array, Array, Array]:
    """Split k with so many training rows at most."""
    X, y, X_test, y_test = source.split(k)
    train = np.random.default_rng(k).permutation(len(y))[:rows]
    return X[train], y[train], X_test, y_test


def all_sets(folder: Path | None) -> dict[str, Source]:
    """The sets that are there."""

    def drawn(k: int) -> tuple[Array, Array, Array, Array]:
        X, y = waves(TRAIN + TEST, np.random.default_rng([TRAIN, k]))
        return X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:]

    found = {name: source for name, source in sources(folder).items() if source.task == REGRESSION}
    found["waves"] = Source("waves", REGRESSION, CHOSEN, TRAIN, drawn)
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
                make.__name__, str(n), str(X.shape[1]), str(len(path.breakpoints)), f"{1e3 * follow.median:.1f}",
                f"{1e3 * fit.median:.1f}", f"{follow.median / fit.median:.1f}", f"{worst:.0e}",
            ])  # fmt: skip
            progress(f"path of {n} rows")
    header = ["data", "n", "d", "breakpoints", "path ms", "SVR fit ms", "fits", "violation"]
    return f"Whole path over the quantile, 0.05 to 0.95, medians of {repeats}\n\n{table(header, lines)}"


# --- tuned quantiles -------------------------------------------------------------------------------------------------

Predict = Callable[[Array], Array]


def shared(X: Array, y: Array) -> Predict:
    return PathSVR(loss="pinball", quantile=LEVELS.tolist(), random_state=0).fit(X, y).predict


def three(X: Array, y: Array) -> Predict:
    model = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], random_state=0).fit(X, y)
    return lambda rows: model.predict_quantiles(rows, LEVELS)


def searched(make: Callable[[float], tuple[object, dict]], X: Array, y: Array) -> Predict:
    """A search of its own for each quantile."""
    models = []
    for q in LEVELS.tolist():
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
    "shared": shared, "three, path": three, "Nystroem": nystroem, "boosting": boosting, "liquidSVM": liquid,
}  # fmt: skip


def pinball(y: Array, f: Array) -> float:
    """The mean over rows and quantiles."""
    e = y[:, None] - np.sort(f, axis=1)
    return float(np.maximum(LEVELS * e, (LEVELS - 1.0) * e).mean())


def tuned(found: dict[str, Source], splits: int, rows: int, methods: Sequence[str]) -> str:
    """Seconds and held-out loss of each method on each set."""
    lines = []
    for name, source in found.items():
        facts: dict[str, list[tuple[float, float]]] = {}
        size = ""
        for k in range(splits):
            X, y, X_test, y_test = split(source, k, rows)
            size = f"{len(y)} {X.shape[1]}"
            for method in methods:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        timing = timed(lambda X=X, y=y, X_test=X_test, m=method: METHODS[m](X, y)(X_test))
                    except ImportError:
                        progress(f"{method}: missing")
                        continue
                facts.setdefault(method, []).append((timing.seconds[0], pinball(y_test, timing.result)))
                progress(f"{name}, split {k + 1}, {method}: {facts[method][-1]}")
        ours = np.median([seconds for seconds, _ in facts["shared"]])
        for method, figures in facts.items():
            seconds, loss = np.median([each[0] for each in figures]), np.mean([each[1] for each in figures])
            lines.append([name, *size.split(), method, f"{seconds:.2f}", f"{seconds / ours:.1f}", f"{loss:.4f}"])
    header = ["set", "n", "d", "", "seconds", "times shared", "pinball loss"]
    return (
        f"19 quantiles, tuned; {splits} splits, at most {rows} training rows; median seconds, mean test loss\n\n"
        f"{table(header, lines)}"
    )


# --- intervals -------------------------------------------------------------------------------------------------------


def intervals(splits: int) -> str:
    """Coverage and width of conformalised quantiles and of jackknife+."""
    lines, verdicts = [], []
    off: dict[str, list[float]] = {"CQR": [], "jackknife+": []}
    for make in GENERATORS:
        facts: dict[tuple[str, float], list[tuple[float, float]]] = {}
        for k in range(splits):
            X, y = make(TRAIN + TEST, np.random.default_rng([8, k]))
            models = {
                "CQR": PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], random_state=0),
                "jackknife+": PathSVR(random_state=0),
            }
            for method, model in models.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X[:TRAIN], y[:TRAIN])
                for level in COVERAGES:
                    low, high = model.predict_interval(X[TRAIN:], level).T
                    inside = float(np.mean((low <= y[TRAIN:]) & (y[TRAIN:] <= high)))
                    facts.setdefault((method, level), []).append((inside, float(np.mean(high - low))))
            progress(f"{make.__name__}: split {k + 1} of {splits}")
        for method in off:
            cells = []
            for level in COVERAGES:
                inside, width = np.mean(facts[method, level], axis=0)
                off[method].append(abs(inside - level))
                cells += [f"{100 * inside:.1f}", f"{width:.2f}"]
            lines.append([make.__name__, str(TRAIN), method, *cells])
    for method, found in off.items():
        reached = "reached" if max(found) <= WITHIN else "MISSED"
        verdicts.append(f"{method}: at most {100 * max(found):.1f} points from nominal ({reached}: 2 points)")
    header = ["data", "n", "", *(title for level in COVERAGES for title in (f"{100 * level:.0f} %", "width"))]
    return f"Intervals, {splits} splits\n\n{table(header, lines)}\n\n" + "\n".join(verdicts)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--folder", type=Path, default=data_folder(), help="folder of npz files (else SVMPATH_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000], help="rows of the paths")
    parser.add_argument("--splits", type=int, default=2, help="splits of the tuned quantiles (default 2)")
    parser.add_argument("--interval-splits", type=int, default=20, help="splits of the intervals (default 20)")
    parser.add_argument("--rows", type=int, default=500, help="largest number of training rows (default 500)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="only these; shared must be among them")
    args = parser.parse_args(argv)
    warn_if_busy()
    found = all_sets(args.folder)
    found = {name: found[name] for name in chosen(list(found), args.sets)}
    parts = [machine(), paths(args.sizes, 5)]
    if args.folder is None:
        parts.append("No data folder (--folder or SVMPATH_DATA): generated sets only.")
    parts += [tuned(found, args.splits, args.rows, args.methods), intervals(args.interval_splits)]
    publish("quantiles", "\n\n".join(parts), args.write)


if __name__ == "__main__":
    main()
