"""The machines of a fitted model: one, one per class against the rest, or one per pair of classes.

    f_c(x) = sum_i alpha_ic k(x, x_i) + b_c,        c = 1, ..., k,

with alpha from the path of class c at its value. The paths are those that the search has followed. Machines of pairs
vote, and their votes are k numbers, too (``criteria.pairs``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lstsq

from svmpath.criteria.conformal import LeftOut, OfFolds, Planes, fold_machines, leave_one_out_machines
from svmpath.criteria.curve import Curve, one_vs_rest
from svmpath.criteria.held_out import Folds
from svmpath.criteria.pairs import one_vs_one, votes, votes_of_folds
from svmpath.gram.expansion import Expansion, OnColumns
from svmpath.losses import Solution
from svmpath.paths import Path
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Machines:
    """Kernel machines that share a Gram matrix.

    Attributes
    ----------
    paths : list of Path
    values : list of float
        The value of C, or of another parameter, that each path is taken at.
    alpha : array of shape (n, k)
        Coefficients of the training rows.
    w : array or None
        What the Gram matrix makes of them, so that new rows take less time.
    b : array of shape (k,)
        Offsets.
    violation : float
        The largest breach of the optimality conditions, in units of decision values; of an approximate path, which is
        measured by its gap, zero.
    compression : float
        The largest change of a decision value of a training row by predicting with ``w`` instead of ``alpha``.
    """

    paths: Sequence[Path]
    values: Sequence[float]
    alpha: Array
    w: Array | None
    b: Array
    violation: float = 0.0
    compression: float = 0.0

    why_no_loo: ClassVar[str] = "exact leave-one-out would take too long here"
    multi_class: ClassVar[str] = "ovr"

    @classmethod
    def of(cls, paths: Sequence[Path], value: float) -> Machines:
        """The machines of paths over one parameter at one value."""
        solutions = [path(value) for path in paths]
        alpha = np.stack([solution.alpha for solution in solutions], axis=1)
        b = np.array([solution.b for solution in solutions])
        violation = max(solution.violation for solution in solutions) if paths[0].is_exact else 0.0
        return cls(list(paths), [value] * len(paths), alpha, paths[0].gram.contract(alpha), b, violation)

    @property
    def whole(self) -> Path:
        """A path with the weights of all rows: the first."""
        return self.paths[0]

    @property
    def solutions(self) -> list[Solution]:
        """The solution of each machine."""
        return [path(value) for path, value in zip(self.paths, self.values, strict=True)]

    @property
    def gram(self) -> Any:
        """The Gram matrix of the training rows."""
        return self.paths[0].gram

    @property
    def exact_rows(self) -> int:
        """The number of rows up to which exact leave-one-out is affordable after the fit; zero if it never is."""
        path = self.paths[0]
        return path.loss.policy.exact_rows if path.is_exact else 0

    @property
    def support(self) -> Array:
        """The training rows with a coefficient other than zero in some machine."""
        return np.flatnonzero(np.any(self.alpha != 0, axis=1))

    @property
    def coef(self) -> Array:
        """The weights of the columns, of shape (k, d), for the linear kernel; in low rank, those that decide."""
        return np.asarray(self.gram.weights(self.alpha, self.w).T)

    def decisions(self, X: Any, b: Array | None = None) -> Array:
        """Decision values of new rows, of shape (m, k); with other offsets if these are given."""
        with blas_threads(X.shape[0] * self.gram.rank):
            return self.by_class(np.asarray(self.gram.apply(X, self.alpha, self.w) + (self.b if b is None else b)))

    @property
    def expansion(self) -> Expansion:
        """The machines without their offsets, as a function of new rows alone."""
        return self.gram.expansion(self.alpha, self.w)

    def fitted(self) -> Array:
        """Decision values of the training rows, of shape (n,), or (n, k) for several machines."""
        return squeezed(self.by_class(self.gram.matmul(self.alpha) + self.b))

    def by_class(self, f: Array) -> Array:
        """Decision values of the classes from those of the machines, in columns."""
        return f

    def compressed(self, is_harmless: Callable[[Array], bool]) -> Machines:
        """The same machines, which predict from the landmarks of the full kernel's low-rank form if that is harmless.

        Their weights are fitted to the decision values of the training rows by least squares; ``is_harmless`` is asked
        about the differences that remain, of shape (n, k).
        """
        low = getattr(self.gram, "low", None)
        if low is None:
            return self
        f = np.stack([solution.fitted for solution in self.solutions], axis=1) - self.b
        with blas_threads(low.entries):
            w = lstsq(low.Z, f)[0]
        difference = low.Z @ w - f
        if is_harmless(difference):
            return replace(self, w=w, compression=float(np.abs(difference).max()))
        self.gram.forget_features()  # a saved model needs none
        return self

    def scored(self, criterion: Callable[..., Curve]) -> Curve:
        """What a criterion says of these machines, and of no others on their paths."""
        pairs = zip(self.paths, self.values, strict=True)
        return self.combined([criterion(path, np.array([value]), loss=None) for path, value in pairs])

    def combined(self, curves: list[Curve]) -> Curve:
        """One curve of those of all machines."""
        return curves[0] if len(curves) == 1 else one_vs_rest(curves)

    def without_each(self) -> LeftOut | None:
        """The machines without each training row; None if that would take a fit for each."""
        targets = np.stack([path.problem.y for path in self.paths], axis=1)
        return leave_one_out_machines(self.paths[0], self.values[0], targets)

    def without(self, folds: Folds) -> OfFolds:
        """The machines without each fold."""
        # A path from C to C: nothing else is walked through.
        paths = [path.over_span((value, value)) for path, value in zip(self.paths, self.values, strict=True)]
        machines = fold_machines(paths, self.values, folds)
        self.paths[0].forget()
        return machines


@dataclass(frozen=True, eq=False)
class PairMachines(Machines):
    """The machines of all pairs of classes, which vote; ``rest`` is the path of the first class against the rest.

    Columns of ``alpha`` and entries of ``b`` are in the order (0, 1), (0, 2), ..., (k - 2, k - 1).
    """

    multi_class = "ovo"
    rest: Path = field(kw_only=True)

    @classmethod
    def voting(cls, machines: Machines, rest: Path) -> PairMachines:
        """The machines of pairs of classes, with their votes."""
        return cls(**{each.name: getattr(machines, each.name) for each in fields(machines)}, rest=rest)

    @property
    def whole(self) -> Path:
        """The path that has the weights of all rows."""
        return self.rest

    def by_class(self, f: Array) -> Array:
        """The votes of the classes."""
        return votes(f)

    def combined(self, curves: list[Curve]) -> Curve:
        """One curve of those of all pairs."""
        return one_vs_one(curves, self.rest)

    def without_each(self) -> LeftOut | None:
        """There is no formula."""
        return None

    def without(self, folds: Folds) -> OfFolds:
        """The machines without each fold."""
        return votes_of_folds(super().without(folds))


@dataclass(frozen=True, eq=False)
class LinearMachines(Machines):
    """Linear machines that select features: f(x) = w'x + b, with ``w`` of shape (k, d) and no ``alpha``."""

    why_no_loo = "it was not chosen by exact leave-one-out (criterion='loo')"
    exact_rows = 0

    @classmethod
    def at(cls, paths: Sequence[Path], values: Sequence[float]) -> LinearMachines:
        """The machines of paths, each at its own value."""
        planes = Planes.of([path(value) for path, value in zip(paths, values, strict=True)])
        return cls(paths, values, np.empty((0, len(paths))), planes.coef, planes.b)

    @property
    def coef(self) -> Array:
        """The weights of the columns, of shape (k, d)."""
        assert self.w is not None
        return self.w

    @property
    def expansion(self) -> Expansion:
        """The machines without their offsets: weights of the columns."""
        return OnColumns(self.coef.T)

    def decisions(self, X: Any, b: Array | None = None) -> Array:
        """Decision values of new rows, of shape (m, k); with other offsets if these are given."""
        return np.asarray(X @ self.coef.T) + (self.b if b is None else b)

    def fitted(self) -> Array:
        """Decision values of the training rows, of shape (n,), or (n, k) for several machines."""
        return squeezed(self.decisions(self.gram.X))

    def without(self, folds: Folds) -> OfFolds:
        """The machines without each fold, by a path per fold and machine."""
        return fold_machines(self.paths, self.values, folds, Planes.of)


@dataclass(frozen=True, eq=False)
class ChunkedMachines(Machines):
    """Machines on the features of rows in chunks: weights of features, and no coefficients of rows."""

    why_no_loo = "rows in chunks have only its prediction with this loss"
    exact_rows = 0

    @classmethod
    def of(cls, paths: Sequence[Path], value: float) -> ChunkedMachines:
        """The machines of a path on chunks, which has all of them."""
        (path,), solution = paths, paths[0](value)
        w = solution.w.reshape(path.gram.rank, -1)  # type: ignore[attr-defined]
        return cls(paths, [value], np.empty((0, w.shape[1])), w, np.atleast_1d(solution.b))

    @property
    def support(self) -> Array:
        """There is none."""
        raise AttributeError(
            "A model that was fitted on rows in chunks has no coefficients of single rows; use predict or "
            "decision_function."
        )


def squeezed(f: Array) -> Array:
    """Decision values of shape (n,) if they are those of one machine."""
    return f[:, 0] if f.shape[1] == 1 else f
