"""What the scripts for Bonidal, Tindel & Guermeur (2013) share: their range of lambda, their widths, the timed path.

R. Bonidal, S. Tindel, Y. Guermeur, "Model selection for the l2-SVM by following the regularization path", Transactions
on Computational Collective Intelligence XIII (2013). Their lambda is 1 / C. Their Gaussian kernel of bandwidth sigma is
exp(-|x - z|^2 / (2 sigma^2)): with it the ranks of their Table 2 come out (banana 147, 81, 56; twonorm 231), and with
exp(-|x - z|^2 / sigma^2) they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from _common import Array, Timing, timed
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import criteria
from svmpath.search import Choice

SPAN = (1e-7, 1e6)  # of C: their lambda from 1e7 down to 1e-6
VALUES = 53  # values of C: four per decade, both ends included

Split = tuple[Array, Array, Array, Array]  # X_train, y_train, X_test, y_test


def C_values(size: int = VALUES) -> Array:
    """So many values of C over the paper's range, the smallest first."""
    return np.geomspace(*SPAN, size)


# --- data ------------------------------------------------------------------------------------------------------------


def standardised(X: Array, y: Array, X_test: Array, y_test: Array) -> Split:
    """The split with columns of mean 0 and deviation 1 on its training part; labels -1 and +1."""
    scaler = StandardScaler().fit(np.asarray(X, dtype=float))
    return scaler.transform(np.asarray(X, dtype=float)), _signs(y), scaler.transform(np.asarray(X_test)), _signs(y_test)


def _signs(y: Array) -> Array:
    return np.where(np.asarray(y) > 0, 1.0, -1.0)


def mean_square(X: Array) -> float:
    """Mean squared distance of the rows to their centre."""
    return float(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))


# The paper sets sigma to "the square root of the mean distance of each point to the center of mass", after Zhang, Tsang
# & Kwok (2008). With squared distances and its own kernel that is 1/(2ms); if exp(-|x - z|^2 / sigma^2) is meant, 1/ms.
HEURISTICS: dict[str, Callable[[Array], float]] = {
    "1/ms": lambda X: 1.0 / mean_square(X),
    "1/(2ms)": lambda X: 0.5 / mean_square(X),
}


def gamma_factors(size: int) -> Array:
    """Multiples of 1/ms for a search: 2^-4 to 2^4."""
    return np.exp2(np.linspace(-4, 4, size))


# --- the path --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A machine chosen on a path, and the processor's seconds of everything up to it."""

    choice: Choice
    seconds: float

    @property
    def path(self) -> Any:
        return self.choice.curve.path

    @property
    def rank(self) -> int:
        return int(self.path.gram.rank)

    def error(self, X: Array, y: Array) -> float:
        """Error rate on these rows, in per cent."""
        return float(100.0 * np.mean((self.choice.solution(X) > 0) != (y > 0)))


def trace(X: Array, y: Array, **options: Any) -> Any:
    """The path over the paper's range."""
    return svmpath.trace(X, y, loss="squared_hinge", over="C", span=SPAN, **options)


def by_span(X: Array, y: Array, values: Array, **options: Any) -> Machine:
    """Approximate the kernel, follow the path, predict the test error along it, and build the best machine."""

    def run() -> Choice:
        choice = svmpath.select(criteria.span(trace(X, y, **options), values))
        choice.solution(X[:1])
        return choice

    timing = timed(run)
    return Machine(timing.result, timing.cpu_median)


def by_gradient(X: Array, y: Array, seed: int) -> tuple[Machine, float]:
    """The machine where the gradient of the smoothed span prediction vanishes, and its gamma."""
    model = svmpath.PathSVC(search="gradient", rank=None, random_state=seed)

    def run() -> Choice:
        choice = model.fit(X, y).choice_
        choice.solution(X[:1])
        return choice

    timing = timed(run)
    return Machine(timing.result, timing.cpu_median), float(model.gamma_)


def surface(X: Array, y: Array, gammas: Array, values: Array, criterion: Callable[..., Any], **options: Any) -> Machine:
    """The best pair of gamma and C by a criterion: a path over C for each gamma."""

    def run() -> Choice:
        choices = [svmpath.select(criterion(trace(X, y, gamma=gamma, **options), values)) for gamma in gammas]
        best = min(choices, key=lambda choice: (choice.score, float(choice.curve.smooth[choice.index])))
        best.solution(X[:1])
        return best

    timing = timed(run)
    return Machine(timing.result, timing.cpu_median)


def set_changes(path: Any, values: Array) -> tuple[int, int]:
    """At how many values the set E is another than at the one before, and how many rows came or went in all."""
    path = getattr(path, "inner", path)  # where rows repeat: the path of the distinct ones
    sets = rows = 0
    before: Array | None = None
    for stop in path.walk(values):
        moved = 0 if before is None else int(np.count_nonzero(before != stop.point.E))
        sets, rows, before = sets + (moved > 0), rows + moved, stop.point.E
    return sets, rows


# --- the clock -------------------------------------------------------------------------------------------------------


def unwalked(path: Any) -> Any:
    """The same path with the same features, as if nobody had walked it."""
    path.rows  # noqa: B018 - made, and kept in path.store
    return replace(path)


@dataclass(frozen=True)
class Parts:
    """Seconds of walking a path and of its curve, and the curve; features not counted."""

    walk: Timing
    curve: Timing

    @property
    def span(self) -> float:
        """What the curve takes beyond the walk that it makes."""
        return max(self.curve.best - self.walk.best, 0.0)


def walk_and_curve(path: Any, values: Array, repeats: int = 1) -> Parts:
    """Walk the path, then make its curve (scores only), each time anew."""

    def walk() -> int:
        return sum(1 for _ in unwalked(path).walk(values))

    def curve() -> Any:
        found = criteria.span(unwalked(path), values)
        assert np.isfinite(found.scores).all()
        return found

    return Parts(timed(walk, repeats), timed(curve, repeats))


# --- output ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """One number per split."""

    numbers: Array

    @property
    def mean(self) -> float:
        return float(np.mean(self.numbers))

    @property
    def deviation(self) -> float:
        return float(np.std(self.numbers, ddof=1)) if len(self.numbers) > 1 else float("nan")

    @property
    def standard_error(self) -> float:
        return self.deviation / np.sqrt(len(self.numbers))

    def __str__(self) -> str:
        return spread(self.mean, self.deviation)


def spread(mean: float, deviation: float) -> str:
    """Mean and deviation; the mean alone where there is no deviation."""
    return f"{mean:.2f}" if np.isnan(deviation) else f"{mean:.2f} +- {deviation:.2f}"


def in_standard_errors(ours: Sample, mean: float, deviation: float, splits: int) -> float:
    """Our mean minus the paper's, in standard errors of that difference, as if splits were independent."""
    return (ours.mean - mean) / float(np.hypot(ours.standard_error, deviation / np.sqrt(splits)))


def resampled_t(x: Array, y: Array) -> float:
    """The paper's test of two methods on the same splits (Dietterich 1998, section 3.3)."""
    p = np.asarray(x) - np.asarray(y)
    if len(p) < 2 or not p.any():
        return 0.0 if len(p) and not p.any() else float("nan")
    deviation = p.std(ddof=1)
    return float(p.mean() * np.sqrt(len(p)) / deviation) if deviation > 0 else float("nan")
