"""Where approximate leave-one-out misleads, and what each criterion of a loss with an elbow costs.

Protocol: generated data, seed 0. First table: hinge, exact and approximate leave-one-out error at single values of C,
how far the held-out decision values of support vectors are apart, how many samples are unreliable, and both bounds.
Second: the root mean squared held-out residual of epsilon-insensitive machines in two dimensions. Third: the time of 19
values of C from 1e-3 to 1e3, by each criterion, in units of the path over the same span. One thread; run it on an idle
machine:

    python benchmarks/which_criterion.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, Array, machine, progress, publish, table, timed, warn_if_busy
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria

Data = tuple[Array, Array, float]  # X, y and gamma

SPAN = (1e-3, 1e3)
VALUES = np.geomspace(*SPAN, 19)
_MOST_STEPS = 300  # samples up to which the step function is timed


def moons(n: int) -> Data:
    X, y = make_moons(n, noise=0.3, random_state=0)
    return X, 2.0 * y - 1.0, 1.0


def twenty(n: int) -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    return X, np.sign(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)), 0.05


def wave(n: int) -> Data:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.5, 1.5, size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.normal(size=n), 1.0


SETS: dict[str, Callable[[int], Data]] = {"moons": moons, "20 columns": twenty}


def errors(name: str, n: int, values: Sequence[float]) -> list[list[str]]:
    """Lines of the first table."""
    X, y, gamma = SETS[name](n)
    path = svmpath.trace(X, y, loss="hinge", gamma=gamma, span=SPAN)
    exact, frozen = criteria.loo(path, values), criteria.alo(path, values)
    bounds = [criteria.xi_alpha(path, values), criteria.span_bound(path, values)]
    lines = []
    for k, C in enumerate(values):
        support = path(C).support
        apart = np.abs(exact.decisions[k] - frozen.decisions[k])[support]
        line = [name, str(n), str(X.shape[1]), f"{C:g}", str(len(support))]
        line += [f"{exact.scores[k]:.3f}", f"{frozen.scores[k]:.3f}", f"{np.median(apart):.1e}", f"{apart.max():.1e}"]
        lines.append([*line, str(frozen.unreliable[k]), *(f"{bound.scores[k]:.3f}" for bound in bounds)])
    return lines


def residuals(n: int, epsilon: float, values: Sequence[float]) -> list[list[str]]:
    """Lines of the second table."""
    X, y, gamma = wave(n)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", epsilon=epsilon, gamma=gamma, span=SPAN)
    exact, frozen = criteria.loo(path, values), criteria.alo(path, values)
    lines = []
    for k, C in enumerate(values):
        line = ["wave", str(n), "2", f"{epsilon:g}", f"{C:g}", str(len(path(C).support))]
        line += [f"{np.sqrt(curve.scores[k]):.3f}" for curve in (exact, frozen)]
        lines.append([*line, str(frozen.unreliable[k])])
    return lines


def works(X: Array, y: Array, loss: str, gamma: float) -> dict[str, Callable[[], Any]]:
    """What is timed, the path first."""

    def follow() -> Any:
        return svmpath.trace(X, y, loss=loss, gamma=gamma, span=SPAN)

    path = follow()
    every: dict[str, Callable[[], Any]] = {
        "path": follow,
        "loo": lambda: criteria.loo(path, VALUES).scores,
        "alo": lambda: criteria.alo(path, VALUES).scores,
        "alo, unreliable": lambda: criteria.alo(path, VALUES).unreliable,
        "5-fold": lambda: criteria.kfold(path, VALUES, cv=5).scores,
    }
    if loss == "hinge":
        every["count_only"] = lambda: criteria.loo(path, VALUES, count_only=True).scores
        every["xi_alpha"] = lambda: criteria.xi_alpha(path, VALUES).scores
        every["span_bound"] = lambda: criteria.span_bound(path, VALUES).scores
        if len(y) <= _MOST_STEPS:
            shorter = svmpath.trace(X, y, loss=loss, gamma=gamma, span=(SPAN[0], 100.0))
            every["exact=True"] = lambda: criteria.loo(shorter, exact=True).scores
    return every


COSTS = ("loo", "count_only", "alo", "alo, unreliable", "5-fold", "xi_alpha", "span_bound", "exact=True")


def costs(name: str, n: int, loss: str, repeats: int) -> list[str]:
    """One line of the third table."""
    progress(f"{name}, {n} ...")
    X, y, gamma = (SETS[name] if loss == "hinge" else wave)(n)
    seconds = {what: timed(work, repeats).median for what, work in works(X, y, loss, gamma).items()}
    line = [name, loss, str(n), f"{1e3 * seconds['path']:.1f}"]
    return [*line, *(f"{seconds[what] / seconds['path']:.1f}" if what in seconds else "" for what in COSTS)]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", nargs="+", type=int, default=[200, 500], help="numbers of samples that are timed")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the median is taken (default 5)")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    warn_if_busy()
    C = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    one = table(
        ["hinge", "n", "d", "C", "support", "loo", "alo", "median", "largest", "unreliable", "xi-alpha", "span bound"],
        [line for name in SETS for line in errors(name, 300, C)],
    )
    two = table(
        ["regression", "n", "d", "epsilon", "C", "support", "loo", "alo", "unreliable"],
        [line for epsilon in (0.05, 0.15) for line in residuals(200, epsilon, C[1:])],
    )
    timings = [costs(name, n, "hinge", options.repeats) for n in options.n for name in SETS]
    timings += [costs("wave", n, "epsilon_insensitive", options.repeats) for n in options.n]
    three = table(["data", "loss", "n", "path (ms)", *COSTS], timings)
    notes = (
        "median, largest: of the difference of held-out decision values, over support vectors.\n"
        f"Last table: 19 values of C, in units of the path; median of {options.repeats} runs. exact=True: the step\n"
        "function, of C up to 100."
    )
    publish(
        "which_criterion", "\n\n".join([f"Which criterion when\n{machine()}", one, two, three, notes]), options.write
    )


if __name__ == "__main__":
    main()
