"""Prediction intervals and sets from machines that have not seen a sample: jackknife+, CV+ and conformal quantiles.

With f^(-i) the machine without sample i (jackknife+), or without the fold of i (CV+), weights w_i >= 0 in units in
which their sum W is the effective number of samples (``criteria.effective``), and r_i = |y_i - f^(-i)(x_i)|, the
interval of a new row x at coverage 1 - alpha is

    [-q(r_i - f^(-i)(x)),  q(f^(-i)(x) + r_i)],      q(v) = min {t : sum_{v_i <= t} w_i >= (1 - alpha) (W + 1)}

and infinite where no t is large enough. Equal weights are 1, and the ends are the floor(alpha (n + 1))-th smallest of
f^(-i)(x) - r_i and the ceil((1 - alpha) (n + 1))-th smallest of f^(-i)(x) + r_i. The new row counts as one sample.

With two machines l and u, of a low and a high quantile, E_i = max(l^(-i)(x_i) - y_i, y_i - u^(-i)(x_i)) says how far
y_i is beyond them (below zero: between them), and the interval is, as wide as the two are apart at x,

    [-q(E_i - l^(-i)(x)),  q(u^(-i)(x) + E_i)]        (conformalised quantile regression, in the form of CV+)

whatever the two quantiles are. Those that are nearer to the median than coverage asks for are easier to estimate, and
E makes up for the rest: of several pairs the one is taken whose intervals around the held-out values,
[l^(-i)(x_i) - q(E), u^(-i)(x_i) + q(E)], are narrowest on the average.

With E(y, f) = max_{c != y} f_c - f_y, minus the margin of label y (two classes: f = (-f, f) / 2, so that E = -y f),
label y is in the set of x if

    sum_i w_i [E(y_i, f^(-i)(x_i)) < E(y, f^(-i)(x))] < (1 - alpha) (W + 1).

See ``docs/math/conformal.md``. f^(-i)(x) for all i is what this file is about: :func:`leave_one_out_machines` has it
where a formula is known (``criteria.fast``), :func:`fold_machines` for any path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from svmpath.criteria.effective import counted
from svmpath.criteria.folds import most_folds, random_folds
from svmpath.criteria.held_out import Folds, held_rows
from svmpath.interrupts import checkpoint
from svmpath.losses import Solution
from svmpath.paths import Path

Array = np.ndarray

_VALUES_AT_ONCE = 1 << 22  # decision values f^(-i)(x) that are held at a time
_ROUNDING = 1e-10  # relative; 0.9 * 10 is 9, whatever the last digits say
_TIE = 1e-9  # misfits that differ by less are equal: those of a new row that is one of the training rows are
_FOLDS = 10  # of CV+, where the choice was not made by folds
_SEED = 0  # of these folds: intervals and sets depend on nothing but the fitted model


# --- machines that have not seen a sample ----------------------------------------------------------------------------


class LeftOut(ABC):
    """Machines that have not seen some samples: what they say of these, and of new rows.

    Attributes
    ----------
    rows : array of shape (N,)
        The samples held out, one entry each time a sample was held out.
    held : array of shape (N, k)
        Their decision values by the machines without them, one column per machine of one-vs-rest.
    """

    rows: Array
    held: Array

    @abstractmethod
    def at(self, X: Any) -> Array:
        """Decision values of new rows by the machines without each entry, of shape (m, N, k)."""

    def functions(self) -> tuple[Expansions, Array]:
        """All machines as functions of new rows, and for each entry those without it, of shape (N, k)."""
        raise ValueError("Machines without rows that are in chunks cannot be written down: fit a sample in memory.")

    def own(self, entries: Array) -> Callable[[Any], Array]:
        """A function of new rows, one for each of some entries: their decision values by the machine without it.

        Row j of X is decided by the machine of ``entries[j]``; the result is of shape (len(entries), k). In general
        from those of all machines.
        """

        def decide(X: Any) -> Array:
            f = np.empty((X.shape[0], self.held.shape[1]))
            for part, block in self.blocks(X):
                f[part] = block[np.arange(len(block)), entries[part]]
            return f

        return decide

    def blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """The same for some rows of X after the other, so that memory stays bounded."""
        step = max(1, _VALUES_AT_ONCE // self.held.size)
        for start in range(0, X.shape[0], step):
            checkpoint()
            part = slice(start, start + step)
            yield part, self.at(X[part])


@dataclass(frozen=True)
class OfCopies(LeftOut):
    """The machines without each of several rows, of which some are copies: ``places`` are their entries in ``few``."""

    few: LeftOut
    places: Array

    @property
    def rows(self) -> Array:  # type: ignore[override]
        """All rows."""
        return np.arange(len(self.places))

    @property
    def held(self) -> Array:  # type: ignore[override]
        """Their held-out values."""
        return self.few.held[self.places]

    def at(self, X: Any) -> Array:
        """Decision values of new rows by the machines without each row."""
        return self.few.at(X)[:, self.places]

    def functions(self) -> tuple[Expansions, Array]:
        """The machines without each of the few."""
        machines, of_entry = self.few.functions()
        return machines, of_entry[self.places]

    def own(self, entries: Array) -> Callable[[Any], Array]:
        """New rows, each by the machine of its entry."""
        return self.few.own(self.places[entries])


@dataclass(frozen=True)
class OfFolds(LeftOut):
    """The machines without each fold.

    Attributes
    ----------
    fold : array of shape (N,)
        The fold of each entry.
    decide : callable
        Decision values of new rows by all machines, of shape (m, folds * k): those of a fold stand together.
    """

    rows: Array
    held: Array
    fold: Array
    decide: Callable[[Any], Array]

    def at(self, X: Any) -> Array:
        """Decision values of new rows by the machines without the fold of each entry."""
        return self.decide(X).reshape(X.shape[0], -1, self.held.shape[1])[:, self.fold]

    def functions(self) -> tuple[Expansions, Array]:
        """The machines without each fold."""
        assert isinstance(self.decide, Expansions)
        k = self.held.shape[1]
        return self.decide, k * self.fold[:, None] + np.arange(k)

    def columns(self, which: Array) -> OfFolds:
        """The same of some machines, which are expansions."""
        assert isinstance(self.decide, Expansions)
        k, folds = self.held.shape[1], int(self.fold.max()) + 1
        machines = (k * np.arange(folds)[:, None] + which).ravel()
        return OfFolds(self.rows, self.held[:, which], self.fold, self.decide.taken(machines))

    def own(self, entries: Array) -> Callable[[Any], Array]:
        """New rows, each by the machine without the fold of its entry."""
        fold, k = self.fold[entries], self.held.shape[1]
        return lambda X: self.decide(X).reshape(X.shape[0], -1, k)[np.arange(len(fold)), fold]


@dataclass(frozen=True)
class Expansions:
    """Several machines on one Gram matrix: f(x) = k(x, X) alpha + b, one column each; w is ``gram.contract(alpha)``."""

    gram: Any
    alpha: Array
    b: Array
    w: Array | None

    @classmethod
    def of(cls, solutions: Sequence[Solution]) -> Expansions:
        """The machines of these solutions."""
        gram, alpha = solutions[0].problem.gram, np.stack([solution.alpha for solution in solutions], axis=1)
        return cls(gram, alpha, np.array([solution.b for solution in solutions]), gram.contract(alpha))

    def __call__(self, X: Any) -> Array:
        """Decision values of new rows."""
        return self.gram.apply(X, self.alpha, self.w) + self.b

    def taken(self, columns: Array) -> Expansions:
        """Some of the machines."""
        w = None if self.w is None else self.w[:, columns]
        return Expansions(self.gram, self.alpha[:, columns], self.b[columns], w)


@dataclass(frozen=True)
class Planes:
    """Several linear machines: f(x) = coef x + b."""

    coef: Array
    b: Array

    @classmethod
    def of(cls, solutions: Sequence[Any]) -> Planes:
        """The machines of these solutions."""
        return cls(np.array([each.coef for each in solutions]), np.array([each.b for each in solutions]))

    def __call__(self, X: Any) -> Array:
        """Decision values of new rows."""
        return np.asarray(X @ self.coef.T) + self.b


@singledispatch
def leave_one_out_machines(path: Path, value: float, targets: Array) -> LeftOut | None:
    """The machines without each sample at a value, for targets of shape (n, k); None if there is no formula for them.

    All targets share the kernel, the weights and the copies of the path's problem.
    """
    return None


def has_formula(kind: type) -> bool:
    """Whether a kind of path has more than the general form of :func:`leave_one_out_machines`."""
    return leave_one_out_machines.dispatch(kind) is not leave_one_out_machines.dispatch(object)


def fold_machines(
    paths: Sequence[Path],
    values: Sequence[float],
    folds: Folds,
    decide: Callable[[Sequence[Any]], Callable[[Any], Array]] = Expansions.of,
) -> OfFolds:
    """The machines without each fold, each at its value: one fit per fold and path, started from the whole machine.

    ``decide`` makes one function of all of them.
    """
    every: list[list[Any]] = [[] for _ in folds]
    for path, value in zip(paths, values, strict=True):
        parts = [np.setdiff1d(np.arange(path.problem.n), train) for train, _ in folds]
        for machine, machines in zip(path.without_each(parts, value), every, strict=True):
            machines.append(machine)
    held_out = [
        np.stack([each.fitted[test] for each in machines], axis=1)
        for (_, test), machines in zip(folds, every, strict=True)
    ]
    fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    return OfFolds(held_rows(folds), np.concatenate(held_out), fold, decide([each for row in every for each in row]))


def ten_folds(
    X: Any, labels: Array, *, is_classification: bool, groups: Array | None, s: Array, pairwise: bool
) -> Folds:
    """Ten folds, or as many as there are rows, groups, or rows of the largest class; drawn at random, always alike."""
    most, _ = most_folds(labels, groups, is_classification)
    if most < 2 and groups is not None:
        raise ValueError("All rows are in one group, so that none can be held out; give fit at least two groups.")
    if most < 2:  # no class has two rows
        is_classification, most = False, len(labels)
    kind: dict[str, Any] = {"is_classification": is_classification, "groups": groups, "s": s, "pairwise": pairwise}
    return random_folds(min(_FOLDS, most), X, labels, **kind, seed=_SEED)


# --- quantiles -------------------------------------------------------------------------------------------------------


def entry_weights(left_out: LeftOut, weights: Array | None) -> Array:
    """The weight of each entry as a number of samples; ``weights`` are those of all samples, if they differ."""
    rows = left_out.rows
    return counted(np.ones(len(rows)) if weights is None else weights[rows], rows)


def upper_quantile(values: Array, weights: Array, coverage: float) -> Array:
    """q of each row of values: the smallest one that enough weight is not above; infinite if there is not enough."""
    need = needed(weights, coverage)
    if np.all(weights == 1.0):
        place = int(np.ceil(need)) - 1
        if place >= values.shape[1]:
            return np.full(len(values), np.inf)
        return np.partition(values, place, axis=1)[:, place]
    order = np.argsort(values, axis=1)
    below = np.cumsum(weights[order], axis=1) < need
    place = below.sum(axis=1)
    last = values.shape[1] - 1
    quantile = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), np.minimum(place, last)]
    return np.where(place > last, np.inf, quantile)


def needed(weights: Array, coverage: float) -> float:
    """(1 - alpha) (W + 1), a little less because of rounding."""
    return float(coverage * (weights.sum() + 1.0) * (1.0 - _ROUNDING))


def residuals_of(left_out: LeftOut, y: Array) -> Array:
    """How far each target is outside its held-out value, or its two held-out quantiles; below zero inside of them."""
    held, target = left_out.held, y[left_out.rows]
    return np.maximum(held.min(axis=1) - target, target - held.max(axis=1))


def intervals(left_out: LeftOut, y: Array, X: Any, coverage: float, weights: Array | None = None) -> Array:
    """Prediction intervals of new rows, of shape (m, 2); ``weights`` are those of all samples.

    Of one machine by jackknife+ or CV+, and between two machines, the columns of ``left_out``, conformalised.
    """
    w, beyond = entry_weights(left_out, weights), residuals_of(left_out, y)
    ends = np.empty((X.shape[0], 2))
    for part, f in left_out.blocks(X):
        ends[part, 0] = -upper_quantile(beyond - f.min(axis=2), w, coverage)
        ends[part, 1] = upper_quantile(f.max(axis=2) + beyond, w, coverage)
    return ends


def narrowest_pair(left_out: OfFolds, y: Array, coverage: float, weights: Array | None = None) -> OfFolds:
    """Of the pairs of columns, the first and the last, the second and the last but one, ..., the one to take."""
    held, pairs = left_out.held, left_out.held.shape[1] // 2
    w, target = entry_weights(left_out, weights), y[left_out.rows]
    ends = np.sort(np.stack([held[:, :pairs], held[:, : -pairs - 1 : -1]]), axis=0)
    beyond = np.maximum(ends[0] - target[:, None], target[:, None] - ends[1])
    widths = np.average(ends[1] - ends[0], axis=0, weights=w) + 2.0 * upper_quantile(beyond.T, w, coverage)
    best = int(np.argmin(widths))
    pair = np.array([best, held.shape[1] - 1 - best])
    return left_out.columns(pair)


def misfits(f: Array) -> Array:
    """E of every label: the largest other decision value minus its own, of shape (..., k); two classes have one f."""
    if f.shape[-1] == 1:
        return np.concatenate([f, -f], axis=-1)
    ordered = np.sort(f, axis=-1)
    best, second = ordered[..., -1:], ordered[..., -2:-1]
    return np.where(f == best, second, best) - f


def label_sets(left_out: LeftOut, code: Array, X: Any, coverage: float, weights: Array | None = None) -> Array:
    """Which labels are in the set of each new row, of shape (m, k); ``code`` is the label of each sample."""
    w = entry_weights(left_out, weights)
    own = misfits(left_out.held)[np.arange(len(w)), code[left_out.rows]]
    least = (own + _TIE * np.maximum(1.0, np.abs(own)))[:, None]
    is_in_set = np.empty((X.shape[0], max(left_out.held.shape[1], 2)), dtype=bool)
    for part, f in left_out.blocks(X):
        is_in_set[part] = np.einsum("mik,i->mk", least < misfits(f), w) < needed(w, coverage)
    return is_in_set
