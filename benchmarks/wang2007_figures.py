"""The figures of Wang, Yeung & Lochovsky (2007), "A kernel path algorithm for support vector machines".

Two moons and two Gaussians, 50 + 50 rows to train on as in the paper, and instead of the paper's 100 others 2000 fresh
rows for the accuracy; means and deviations of 20 draws; lambda in {0.1, 1, 5}; the rbf kernel with gamma from 10 down
to 0.02 in the paper's scale, exp(-|x - z|^2 / gamma).

    figure 1            how many trials per event the paper expects of its search, by its formula
    figures 2 and 4     boundary and margins at gamma = 5, 2 and 0.5, lambda = 1
    figures 3 and 5     accuracy, support vectors and events along the path, for each lambda, bands of one deviation
    animation           the boundary along the path, lambda = 1, as a gif (--frames 0: none)

The paper does not give the parameters of its data: these sets are alike, not the same. The table has the curves at some
gammas. Pictures go to the folder named by --pictures (they need matplotlib); without it only the table is printed.

    python benchmarks/wang2007_figures.py --pictures docs/_static/papers --frames 0 --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _common import Array, arguments, chosen, machine, progress, publish, table
from sklearn.datasets import make_moons

import svmpath

LAMBDAS = (0.1, 1.0, 5.0)
SPAN = (10.0, 0.02)  # of the paper's gamma
SHOWN = (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
BOUNDARIES = (5.0, 2.0, 0.5)
RATIOS = (0.85, 0.9, 0.95)  # of gamma at one event to gamma at the one before: the paper's pi
TOLERANCE = 1e-6  # the paper's epsilon
DECAYS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)  # its theta; 0.95 in its experiments


@dataclass(frozen=True)
class Split:
    """Rows and labels to train on, and those to test with."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def moons(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X, y = make_moons(2 * n, noise=0.1, random_state=int(rng.integers(2**31)))
    return X, 2.0 * y - 1.0


def gaussians(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Different means and covariances, overlapping."""
    first = rng.multivariate_normal([1.0, 0.5], [[1.0, 0.5], [0.5, 0.8]], n)
    second = rng.multivariate_normal([-1.0, -0.5], [[0.8, -0.3], [-0.3, 1.0]], n)
    return np.vstack([first, second]), np.repeat([1.0, -1.0], n)


SETS = {"moons": moons, "gaussians": gaussians}


def draw(name: str, seed: int) -> Split:
    """50 rows of each class to train on, 1000 to test."""
    rng = np.random.default_rng(seed)
    return Split(*SETS[name](50, rng), *SETS[name](1000, rng))


def trace(data: Split, lam: float) -> svmpath.paths.KernelPath:
    """The path in our scale: 1 / gamma."""
    span = (1.0 / SPAN[0], 1.0 / SPAN[1])
    return svmpath.trace(data.X, data.y, loss="hinge", over="gamma", span=span, C=1.0 / lam)


@dataclass(frozen=True)
class Curves:
    """Accuracy, support vectors and events so far at some of the paper's gammas."""

    gammas: Array
    accuracy: Array
    support: Array
    events: Array

    @staticmethod
    def along(path: svmpath.paths.KernelPath, data: Split, gammas: Array) -> Curves:
        when = np.array([event.value for event in path.events()])
        solutions = [path(float(np.clip(1.0 / gamma, *path.span))) for gamma in gammas]
        accuracy = [np.mean((solution(data.X_test) > 0) == (data.y_test > 0)) for solution in solutions]
        events = np.searchsorted(when, 1.0 / gammas * (1 + 1e-12))
        return Curves(gammas, np.array(accuracy), np.array([len(solution.support) for solution in solutions]), events)


def curves(name: str, lam: float, gammas: Array, seeds: Sequence[int]) -> list[Curves]:
    """The curves of several draws."""
    data = [draw(name, seed) for seed in seeds]
    return [Curves.along(trace(each, lam), each, gammas) for each in data]


WHAT = {"accuracy": "accuracy on fresh rows", "support": "support vectors", "events": "events"}


def rows(name: str, seeds: Sequence[int]) -> list[list[str]]:
    """Three lines of the table per lambda: means and deviations over the draws."""
    lines = []
    for lam in LAMBDAS:
        found = curves(name, lam, np.array(SHOWN), seeds)
        for field, title in WHAT.items():
            values, digits = np.array([getattr(each, field) for each in found]), 3 if field == "accuracy" else 0
            spread = values.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(len(SHOWN))
            pairs = zip(values.mean(axis=0), spread, strict=True)
            lines.append([f"{name}, {lam:g}", title, *(f"{m:.{digits}f} +- {s:.{digits}f}" for m, s in pairs)])
    return lines


def iterations(theta: Array | float, ratio: float) -> Array | float:
    """Trials from one event to the next as the paper counts them, log_theta(pi) + log_2(log_(1 - epsilon)(theta))."""
    return np.log(ratio) / np.log(theta) + np.log2(np.log(theta) / np.log1p(-TOLERANCE))


def figure1() -> str:
    """The table of figure 1."""
    rows = [[f"{ratio:g}", *(f"{iterations(theta, ratio):.1f}" for theta in DECAYS)] for ratio in RATIOS]
    return table(["pi, at theta", *(f"{theta:g}" for theta in DECAYS)], rows)


# --- pictures --------------------------------------------------------------------------------------------------------


def draw_iterations(plt: Any, file: Path) -> None:
    """Figure 1."""
    theta = np.linspace(0.5, 0.995, 200)
    figure, axis = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for ratio in RATIOS:
        axis.plot(theta, iterations(theta, ratio), label=rf"$\pi$ = {ratio:g}")
    axis.axvline(0.95, color="k", lw=0.7, ls=":")
    axis.set(xlabel=r"decay rate $\theta$", ylabel="trials per event", title="as the paper's formula counts them")
    axis.legend()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def draw_curves(plt: Any, name: str, seeds: Sequence[int], file: Path) -> None:
    """Figures 3 and 5: means, and bands of one deviation over the draws."""
    gammas = np.geomspace(*SPAN, 60)
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for lam in LAMBDAS:
        found = curves(name, lam, gammas, seeds)
        for axis, field in zip(axes, WHAT, strict=True):
            values = np.array([getattr(each, field) for each in found], dtype=float)
            mean, deviation = values.mean(axis=0), values.std(axis=0)
            axis.semilogx(gammas, mean, label=rf"$\lambda$ = {lam:g}")
            axis.fill_between(gammas, mean - deviation, mean + deviation, alpha=0.2)
    for axis, title in zip(axes, WHAT.values(), strict=True):
        axis.invert_xaxis()
        axis.set(xlabel=r"$\gamma$ (the paper's scale)", title=title)
    axes[0].legend()
    figure.suptitle(f"two {name}: along the kernel path, {len(seeds)} draws")
    figure.savefig(file, dpi=90)
    plt.close(figure)


def draw_boundary(axis: Any, data: Split, solution: svmpath.losses.Solution, title: str) -> None:
    low, high = data.X.min(axis=0) - 0.5, data.X.max(axis=0) + 0.5
    x, y = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
    f = solution(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    axis.contour(x, y, f, levels=[-1, 0, 1], colors=["tab:blue", "tab:green", "tab:red"], linestyles=["--", "-", "--"])
    axis.scatter(*data.X.T, c=np.where(data.y > 0, "tab:red", "tab:blue"), s=14)
    inside = data.y * solution(data.X) <= 1 + 1e-9
    axis.scatter(*data.X[inside].T, facecolors="none", edgecolors="k", s=50, linewidths=0.7)
    axis.set(title=title, xticks=[], yticks=[])


def draw_boundaries(plt: Any, name: str, data: Split, file: Path) -> None:
    """Figures 2 and 4."""
    path = trace(data, 1.0)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for axis, gamma in zip(axes, BOUNDARIES, strict=True):
        draw_boundary(axis, data, path(1.0 / gamma), rf"$\gamma$ = {gamma:g}")
    figure.suptitle(rf"two {name}, $\lambda$ = 1: boundary, margins, and the samples inside")
    figure.savefig(file, dpi=90)
    plt.close(figure)


def animate(plt: Any, name: str, data: Split, file: Path, frames: int) -> None:
    """The boundary along the path, as a gif."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    path = trace(data, 1.0)
    when = np.array([event.value for event in path.events()])
    figure, axis = plt.subplots(figsize=(5, 4.2), layout="constrained")

    def frame(gamma: float) -> None:
        axis.clear()
        value = float(np.clip(1.0 / gamma, *path.span))
        draw_boundary(axis, data, path(value), rf"$\gamma$ = {gamma:.3g}, events: {np.searchsorted(when, value)}")

    FuncAnimation(figure, frame, frames=np.geomspace(*SPAN, frames)).save(file, writer=PillowWriter(fps=12), dpi=80)
    plt.close(figure)


def draw_all(names: Sequence[str], seeds: Sequence[int], folder: Path, frames: int) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    draw_iterations(plt, folder / "wang2007_figure1.png")
    numbers = {"moons": (2, 3), "gaussians": (4, 5)}
    for name in names:
        progress(f"pictures of {name} ...")
        data = draw(name, seeds[0])
        draw_boundaries(plt, name, data, folder / f"wang2007_figure{numbers[name][0]}_{name}.png")
        draw_curves(plt, name, seeds, folder / f"wang2007_figure{numbers[name][1]}_{name}.png")
        if frames:
            animate(plt, name, data, folder / f"wang2007_{name}.gif", frames)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--draws", type=int, default=20, help="of data, seeds from 0 on (default 20)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the figures and animations there")
    parser.add_argument("--frames", type=int, default=120, help="of an animation (0: no animation)")
    options = parser.parse_args(argv)
    names = chosen(list(SETS), options.sets)
    seeds = range(options.draws)
    lines = [line for name in names for line in rows(name, seeds)]
    head = ["data, lambda", "at gamma", *(f"{gamma:g}" for gamma in SHOWN)]
    parts = [
        f"Along the kernel path, in the paper's scale of gamma (figures 3 and 5), {len(seeds)} draws\n{machine()}",
        table(head, lines),
        "Trials per event by the paper's formula (figure 1), epsilon = 1e-6",
        figure1(),
    ]
    publish("wang2007_figures", "\n\n".join(parts), options.write)
    if options.pictures is not None:
        draw_all(names, seeds, options.pictures, options.frames)


if __name__ == "__main__":
    main()
