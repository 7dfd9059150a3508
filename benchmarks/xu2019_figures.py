"""Figures 1 to 10 of P. Xu, Approximate Leave-One-Out with kernel SVM (2019), with exact leave-one-out beside them.

    n = 300, lambda = 1 / C = exp(-2), exp(-5/3), ..., exp(6): 25 values

    figures 1, 2    rbf          p = 400  gamma = 3/p
    figures 3, 4    rbf          p = 50   gamma = 2/p
    figures 5, 6    polynomial   p = 50   gamma = 3/p  degree 3  coef0 = 0
    figures 7, 8    polynomial   p = 50   gamma = 2/p  degree 5  coef0 = 0.25
    figures 9, 10   sigmoid      p = 50   gamma = 2/p            coef0 = 0.3      rank=Clipped()

Of each pair the first is the direct form, the second the one with explicit features. Curves:

    exact     criteria.loo
    ALO       criteria.alo, form="direct" or "features"
    note      the note's formula as it stands, for the same machines: a_i without the offset, g on the elbow by least
              squares. These machines have an offset; a table of its own has those without, for which it is right.

The note does not say how its data were simulated, so that its pictures cannot be drawn again number by number. Here
X has independent standard normal entries, and there are three kinds of labels:

    sparse    ten coefficients w are standard normal, the others 0; y = sign(X w + e), e normal with half the standard
              deviation of X w. Where the kernel is too narrow, leave-one-out gives every sample to the larger class:
              the column "trivial" counts such values of lambda, at which there is nothing to predict
    equal     the same with y = sign(X w + e - median): classes of exactly the same size, where the offset matters most
    shifted   y is drawn first, and X moved by 2.5 (p / 50)^(1/4) y u, u a unit vector: curves that are not constant

The first is the figures; the others are means of --draws simulations, so that no conclusion hangs on one of them.

The matrix of the sigmoid is indefinite: a warning says so. The figures use its positive semi-definite part; what
happens without that is told below the table.

The nu machine has the same criteria along nu, for the kernels that are positive definite.

Last, where ALO misleads: few features and a small lambda. Two moons (noise 0.3, gamma 1), and regression on two
features, y = sin(2 x_1) + x_2^2 / 2 + e, x uniform on [-2, 2]^2, e normal of standard deviation 0.1, gamma 1.

Aim: the error rates of ALO and of exact leave-one-out differ by at most 0.006 on the average over lambda, for rbf and
polynomial kernels. One BLAS thread; CPU seconds, medians of --repeats. Pictures of the figures go to benchmarks/out/;
--overview FILE draws all error rates on one page.

    python benchmarks/xu2019_figures.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _common import ROOT, Array, Timing, arguments, chosen, machine, progress, publish, table, timed, warn_if_busy
from _xu2019_pictures import draw, draw_overview
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_limits

import svmpath
from svmpath import criteria
from svmpath.gram import Clipped

AIM = 0.006  # mean difference of error rates
PICTURES = ROOT / "benchmarks" / "out"
KINDS = ("sparse", "equal", "shifted")
SIGNAL, NOISE = 10, 0.5  # coefficients that are not zero, and the noise in units of the signal
DISTANCE = 2.5  # of each shifted class from the centre, in 50 columns
ELBOW = 1e-7  # a margin nearer to 1 than this is on the elbow, for the note's formula
CLAMP = 1e-12  # of the note's singular values
NU = np.array([0.1, 0.2, 0.4, 0.6, 0.8])  # of the largest with which any sample can be left out
MISLEADING = np.array([10.0, 1.0, 0.1, 0.01])  # lambda


@dataclass(frozen=True)
class Case:
    """A pair of figures: its first number, the number of features, and the kernel."""

    figure: int
    name: str
    p: int
    gamma_p: float
    kernel: str
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """What ``svmpath.trace`` is told."""
        return {"kernel": self.kernel, "gamma": self.gamma_p / self.p, **dict(self.more)}

    @property
    def title(self) -> str:
        words = {"degree": "degree {}", "coef0": "coef0 = {}", "rank": "rank={!r}"}
        more = [words[key].format(value) for key, value in self.more]
        return ", ".join([self.kernel, f"p = {self.p}", f"gamma = {self.gamma_p:g}/p", *more])


CASES = (
    Case(1, "rbf400", 400, 3.0, "rbf"),
    Case(3, "rbf50", 50, 2.0, "rbf"),
    Case(5, "poly3", 50, 3.0, "poly", (("degree", 3), ("coef0", 0.0))),
    Case(7, "poly5", 50, 2.0, "poly", (("degree", 5), ("coef0", 0.25))),
    Case(9, "sigmoid", 50, 2.0, "sigmoid", (("coef0", 0.3), ("rank", Clipped()))),
)


def grid(size: int = 25) -> Array:
    """The note's lambda, exp(-2) to exp(6); another size spreads so many over the same range."""
    return np.exp(np.linspace(-2.0, 6.0, size))


def simulate(n: int, p: int, seed: int, kind: str = "sparse") -> tuple[Array, Array]:
    """A sparse linear signal with noise, the same with classes of equal size, or classes that are shifted."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, p)), np.zeros(p)
    if kind == "shifted":
        y, w = np.where(rng.random(n) < 0.5, 1, -1), rng.normal(size=p)
        return X + DISTANCE * (p / 50) ** 0.25 * np.outer(y, w / np.linalg.norm(w)), y
    w[:SIGNAL] = rng.normal(size=min(SIGNAL, p))
    score = X @ w + NOISE * np.linalg.norm(w) * rng.normal(size=n)
    return X, np.where(score > (np.median(score) if kind == "equal" else 0.0), 1, -1)


# --- the note's formula ----------------------------------------------------------------------------------------------


def note_direct(K: Array, y: Array, alpha: Array, f: Array, lam: float) -> Array:
    """Held-out decision values in kernel values; alpha = theta / lambda are the coefficients of the machine."""
    V, below = _places(y, f)
    if not len(V):
        return f - np.diagonal(K) / lam * y * below
    inverse = np.linalg.pinv(K, hermitian=True)  # that of a clipped kernel does not exist
    KV = K[:, V]
    H = np.linalg.pinv(KV.T @ inverse @ KV, hermitian=True)
    projected = inverse - inverse @ KV @ H @ KV.T @ inverse
    a = np.einsum("ij,ik,kj->j", K, projected, K, optimize=True) / lam
    a[V] = 1.0 / (lam * np.diagonal(H))
    g = -y * below
    g[V] = np.linalg.lstsq(KV, K @ (y * below) - lam * K @ alpha, rcond=None)[0]
    return f + a * g


def note_features(K: Array, y: Array, alpha: Array, f: Array, lam: float) -> Array:
    """The same in the features K U S^(-1/2) V' of the singular value decomposition K = U S V'."""
    V, below = _places(y, f)
    U, S, Vt = np.linalg.svd(K, hermitian=True)
    Z = (K @ U / np.sqrt(np.maximum(S, CLAMP))) @ Vt
    a, g = np.einsum("ij,ij->i", Z, Z) / lam, -y * below
    if len(V):
        H = np.linalg.pinv(Z[V] @ Z[V].T, hermitian=True)
        cross = Z @ Z[V].T
        a -= np.einsum("ij,jk,ik->i", cross, H, cross, optimize=True) / lam
        a[V] = 1.0 / (lam * np.diagonal(H))
        g[V] = np.linalg.lstsq(Z[V].T, Z.T @ (y * below) - lam * Z.T @ alpha, rcond=None)[0]
    return f + a * g


def _places(y: Array, f: Array) -> tuple[Array, Array]:
    """The elbow, and which margins are below it."""
    margin = y * f
    return np.flatnonzero(np.abs(margin - 1.0) <= ELBOW), (margin < 1.0 - ELBOW).astype(float)


NOTE: dict[str, Callable[[Array, Array, Array, Array, float], Array]] = {
    "direct": note_direct,
    "features": note_features,
}


def note_curve(path: Any, values: Array, form: str) -> Array:
    """The note's held-out decision values at each C, of shape (m, n)."""
    K, y = path.problem.gram.K, path.problem.y
    machines = [path(float(C)) for C in values]
    return np.array([NOTE[form](K, y, m.alpha, m.fitted, 1.0 / C) for m, C in zip(machines, values, strict=True)])


# --- measurements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """The three curves of one figure: held-out decision values of shape (m, n), side by side if of several draws."""

    case: Case
    number: int
    form: str
    lam: Array
    y: Array
    held: dict[str, Array]
    alo: Timing
    exact: Timing
    unreliable: Array
    draws: int = 1

    def rates(self, name: str) -> Array:
        """Error rates over lambda."""
        return np.mean((self.held[name] > 0) != (self.y > 0), axis=1)

    @property
    def trivial(self) -> float:
        """Values of lambda at which every sample that is left out is given to the same class; mean over draws."""
        positive = np.mean((self.held["exact"] > 0).reshape(len(self.lam), self.draws, -1), axis=2)
        return float(np.count_nonzero((positive == 0) | (positive == 1)) / self.draws)

    def rate_difference(self, name: str) -> Array:
        return np.abs(self.rates(name) - self.rates("exact"))

    def difference(self, name: str) -> Array:
        """Differences of decision values, of shape (m, n)."""
        return np.abs(self.held[name] - self.held["exact"])


def measure(case: Case, n: int, lam: Array, seed: int, repeats: int, kind: str = "sparse") -> list[Figure]:
    """Both figures of a case."""
    X, y = simulate(n, case.p, seed, kind)
    values = 1.0 / lam
    path = svmpath.trace(X, y, loss="hinge", span=(values.min(), values.max()), **case.options)
    exact = timed(lambda: criteria.loo(path, values), repeats)
    figures = []
    for k, form in enumerate(NOTE):
        alo = timed(lambda form=form: criteria.alo(path, values, form=form), repeats)
        held = {"exact": exact.result.held, "ALO": alo.result.held, "note": note_curve(path, values, form)}
        figures.append(Figure(case, case.figure + k, form, lam, y, held, alo, exact, alo.result.unreliable))
    return figures


def together(figures: list[Figure]) -> Figure:
    """The same figure of several draws."""
    held = {name: np.concatenate([figure.held[name] for figure in figures], axis=1) for name in figures[0].held}
    return replace(
        figures[0],
        y=np.concatenate([figure.y for figure in figures]),
        held=held,
        unreliable=np.mean([figure.unreliable for figure in figures], axis=0),
        draws=len(figures),
    )


def by_draw(figure: Figure) -> list[str]:
    """A line of the table of draws: how far the error rates of ALO are from exact, for one simulation after another."""
    wrong = {name: (figure.held[name] > 0) != (figure.y > 0) for name in ("ALO", "exact")}
    rates = {name: each.reshape(len(figure.lam), figure.draws, -1).mean(axis=2) for name, each in wrong.items()}
    differences = np.abs(rates["ALO"] - rates["exact"])
    means = differences.mean(axis=0)
    reached = f"{np.count_nonzero(means <= AIM)} of {figure.draws}"
    return [figure.case.name, f"{np.median(means):.4f}", f"{means.max():.4f}", f"{differences.max():.4f}", reached]


def along_nu(case: Case, n: int, seed: int) -> list[list[str]]:
    """Lines of the table of nu machines."""
    X, y = simulate(n, case.p, seed, "shifted")
    path = svmpath.trace(X, y, loss="nu", **case.options)
    values = NU * 2 * (min(np.sum(y > 0), np.sum(y < 0)) - 1) / (n - 1)
    exact, alo = criteria.loo(path, values), criteria.alo(path, values)
    difference = np.abs(alo.held - exact.held)
    return [
        [case.name, f"{values[k]:.3f}", f"{exact.scores[k]:.4f}", f"{alo.scores[k]:.4f}", f"{difference[k].mean():.4f}",
         f"{difference[k].max():.3f}", str(alo.unreliable[k])]
        for k in range(len(NU))
    ]  # fmt: skip


def unclipped(case: Case, n: int, lam: Array, seed: int) -> str:
    """What happens where an indefinite matrix is taken as it is."""
    X, y = simulate(n, case.p, seed)
    values, options = 1.0 / lam, {**case.options, "rank": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            path = svmpath.trace(X, y, loss="hinge", span=(values.min(), values.max()), **options)
            difference = np.abs(criteria.alo(path, values).held - criteria.loo(path, values).held).max()
            end = f"The path was followed; ALO and exact decision values differ by up to {difference:.3g}."
        except svmpath.PathError as error:
            end = f"PathError: {error}"
    told = [str(each.message) for each in caught if issubclass(each.category, svmpath.IndefiniteKernelWarning)]
    if not told:
        raise RuntimeError("The sigmoid's matrix is indefinite, and no IndefiniteKernelWarning was given.")
    return f"IndefiniteKernelWarning: {told[0]}\n{end}"


def without_offset(case: Case, n: int, lam: Array, seed: int, kind: str) -> list[str]:
    """A line of the table of machines without an offset: ALO and the note's formula, beside exact leave-one-out."""
    X, y = simulate(n, case.p, seed, kind)
    values = 1.0 / lam
    path = svmpath.trace(X, y, loss="hinge", offset=False, span=(values.min(), values.max()), **case.options)
    exact, alo = criteria.loo(path, values).held, criteria.alo(path, values).held
    note = note_curve(path, values, "direct")
    rates = [np.mean((held > 0) != (y > 0), axis=1) for held in (exact, alo, note)]
    cells = [f"{np.abs(each - rates[0]).mean():.4f}" for each in rates[1:]]
    cells += [f"{np.abs(held - exact).mean():.4f}" for held in (alo, note)]
    return [case.name, kind, *cells, f"{np.abs(alo - note).max():.1e}"]


def moons(n: int, lam: Array) -> list[list[str]]:
    """Lines of the table of two moons."""
    X, y = make_moons(n, noise=0.3, random_state=0)
    values = 1.0 / lam
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(values.min(), values.max()))
    exact, alo = criteria.loo(path, values), criteria.alo(path, values)
    difference = np.abs(alo.held - exact.held)
    elbow = [_elbow(path(float(C)).alpha, C) for C in values]
    return [
        [f"{lam[k]:g}", str(elbow[k]), f"{exact.scores[k]:.4f}", f"{alo.scores[k]:.4f}", f"{difference[k].mean():.3f}",
         f"{difference[k].max():.2f}", str(alo.unreliable[k])]
        for k in range(len(lam))
    ]  # fmt: skip


def regression(n: int, epsilon: float, lam: Array) -> list[list[str]]:
    """Lines of the table of regression."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 / 2.0 + 0.1 * rng.normal(size=n)
    values = 1.0 / lam
    options = {"loss": "epsilon_insensitive", "epsilon": epsilon, "gamma": 1.0, "task": "regression"}
    path = svmpath.trace(X, y, span=(values.min(), values.max()), **options)
    exact, alo = criteria.loo(path, values), criteria.alo(path, values)
    difference = np.abs(alo.held - exact.held)
    return [
        [f"{epsilon:g}", f"{lam[k]:g}", str(_elbow(path(float(values[k])).alpha, values[k])),
         f"{np.sqrt(exact.scores[k]):.4f}", f"{np.sqrt(alo.scores[k]):.4f}", f"{difference[k].mean():.3f}",
         f"{difference[k].max():.2f}", str(alo.unreliable[k])]
        for k in range(len(lam))
    ]  # fmt: skip


def _elbow(alpha: Array, C: float) -> int:
    """Samples between their bounds."""
    a = np.abs(alpha) / C
    return int(np.count_nonzero((a > 1e-9) & (a < 1.0 - 1e-9)))


# --- output ----------------------------------------------------------------------------------------------------------


def row(figure: Figure) -> list[str]:
    """A line of the table of figures."""
    cells = [f"{figure.number} {figure.case.name}", figure.form, f"{np.count_nonzero(figure.y > 0)}:"]
    cells[-1] += str(np.count_nonzero(figure.y < 0))
    for name in ("ALO", "note"):
        rate, difference = figure.rate_difference(name), figure.difference(name)
        cells += [f"{rate.mean():.4f}", f"{rate.max():.4f}", f"{difference.mean():.4f}", f"{difference.max():.3f}"]
    reached = figure.rate_difference("ALO").mean() <= AIM
    aim = "-" if figure.case.name == "sigmoid" else f"<= {AIM:g} {'reached' if reached else 'MISSED'}"
    counts = [f"{figure.trivial:g} of {len(figure.lam)}", f"{figure.unreliable.mean():.0f}"]
    times = [f"{figure.alo.cpu_median:.3f}", f"{figure.exact.cpu_median:.3f}"]
    ratio = figure.exact.cpu_median / figure.alo.cpu_median
    return [*cells, aim, *counts, *times, f"{ratio:.1f}"]


HEAD = [
    "figure", "form", "classes", "ALO rate mean", "max", "value mean", "max", "note rate mean", "max", "value mean",
    "max", "aim", "trivial", "unreliable", "ALO s", "exact s", "exact / ALO",
]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=25)
    parser.add_argument("--n", type=int, default=300, help="samples (default 300)")
    parser.add_argument("--features", type=int, help="features of every case, to see that it runs")
    parser.add_argument("--seed", type=int, default=0, help="of the simulation (default 0)")
    parser.add_argument("--draws", type=int, default=5, help="simulations of the kinds equal and shifted (default 5)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, the median counts (default 3)")
    parser.add_argument("--overview", type=Path, metavar="FILE", help="draw the error rates of all figures there")
    options = parser.parse_args(argv)
    warn_if_busy()
    names = chosen([case.name for case in CASES], options.sets)
    cases = [case for case in CASES if case.name in names]
    if options.features:
        cases = [replace(case, p=options.features) for case in cases]
    with threadpool_limits(1, "blas"):
        text = _measured(cases, options)
    publish("xu2019_figures", text, options.write)


def _measured(cases: list[Case], options: Any) -> str:
    n, lam = options.n, grid(options.Cs)
    measure(replace(cases[0], p=4), 40, grid(3), 0, 1)  # compiles
    figures, drawn = [], True
    several: dict[str, list[Figure]] = {kind: [] for kind in KINDS}
    seeds = range(options.seed, options.seed + options.draws)
    for case in cases:
        progress(f"figures {case.figure} and {case.figure + 1} ...")
        figures += measure(case, n, lam, options.seed, options.repeats)
        for kind, found in several.items():
            found.append(together([measure(case, n, lam, seed, 1, kind)[0] for seed in seeds]))
    for figure in figures:
        drawn &= draw(figure, PICTURES)
    if options.overview is not None:
        drawn &= draw_overview({kind: several[kind] for kind in ("sparse", "shifted", "equal")}, options.overview)
    progress("nu ...")
    definite = [case for case in cases if case.kernel != "sigmoid"]
    progress("machines without an offset ...")
    free = [without_offset(case, n, lam, options.seed, kind) for case in cases for kind in KINDS]
    progress("where ALO misleads ...")
    where = PICTURES.relative_to(ROOT) if PICTURES.is_relative_to(ROOT) else PICTURES
    parts = [
        "Xu (2019), figures 1 to 10: approximate beside exact leave-one-out\n" + machine(),
        f"n = {n}, {len(lam)} values of lambda from {lam[0]:.3g} to {lam[-1]:.4g}, seed {options.seed}",
        table(HEAD, [row(figure) for figure in figures]),
    ]
    for kind, found in several.items():
        title = f"{kind}, direct form, {len(seeds)} draws"
        parts += [title, table(HEAD, [row(figure) for figure in found])]
        head = ["kernel", "median draw", "worst draw", "one lambda", f"<= {AIM:g}"]
        parts += [f"{title}: mean over lambda of the difference of ALO's error rate"]
        parts += [table(head, [by_draw(figure) for figure in found])]
    for case in cases:
        if ("rank", Clipped()) in case.more:
            parts.append(f"{case.kernel} without rank=Clipped()\n{unclipped(case, n, lam, options.seed)}")
    head = ["kernel", "classes", "ALO rate mean", "note rate mean", "ALO value mean", "note value mean"]
    parts += ["Machines without an offset (offset=False), direct form", table([*head, "ALO - note, max"], free)]
    head = ["exact", "ALO", "value mean", "max", "unreliable"]
    lines = [line for case in definite for line in along_nu(case, n, options.seed)]
    parts += ["The nu machine, classes shifted: error rates", table(["kernel", "nu", *head], lines)]
    head = ["elbow", "exact", "ALO", "value mean", "max", "unreliable"]
    lines = [line for epsilon in (0.05, 0.15) for line in regression(2 * n // 3, epsilon, MISLEADING)]
    parts += [
        f"Where ALO misleads: error rates of two moons, n = {n}",
        table(["lambda", *head], moons(n, np.append(MISLEADING, 1e-3))),
        f"Where ALO misleads: root mean squared errors of regression on two features, n = {2 * n // 3}",
        table(["epsilon", "lambda", *head], lines),
        "rate: |error rate - exact|, value: |decision value - exact|, mean and max over lambda (and samples).\n"
        "note: its formula as it stands, without the offset, for the same machines.\n"
        "trivial: values of lambda at which every sample left out is given to one class, mean over the draws.\n"
        "unreliable: samples whose absence leads somebody across a bound, mean over lambda.\n"
        f"Times: all values of lambda, path traced before, CPU seconds, median of {options.repeats};\n"
        "of several draws, one run of the first.\n"
        + (f"Pictures: {where}/xu2019_figure*.png" if drawn else "No pictures: matplotlib is not installed."),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
