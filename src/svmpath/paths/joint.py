"""The path over C of the machine of all classes at once (M-SVM^2), and ``svmpath.trace_joint``.

The active pairs of a row and a wrong class change from event to event; between events the machine is a rational
function of 1 / C. Each value is reached by Newton's method (``solvers.joint``) from the nearest one that is known, and
is exact there, as on :class:`svmpath.paths.newton_path.NewtonPath`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from svmpath.exceptions import PrecisionWarning
from svmpath.gram import Approximation, make_gram
from svmpath.interrupts import checkpoint
from svmpath.kernels import Kernel, make_kernel
from svmpath.losses import Problem
from svmpath.losses.joint import JointSolution, JointSquaredHinge
from svmpath.parameters import Parameter
from svmpath.paths.curved import CurvedPath
from svmpath.paths.path import Array, Event, Request
from svmpath.solvers.feature_newton import Rows
from svmpath.solvers.joint import JointNewton, JointPoint
from svmpath.solvers.threads import blas_threads
from svmpath.validation import check_data, check_span, check_weights, draw_seed, encode_classes, plain_target

_LOST_DIGITS = 1e-4  # of the largest decision value, beyond which a machine is said to have lost digits

PLACES = ("satisfied", "active")


@dataclass(frozen=True, repr=False, eq=False)
class JointPath(CurvedPath):
    """The machine of all classes at once over C.

    Targets are 1 for the class of a row and -1 for the others, of shape (n, Q); decision values have that shape, too.
    ``events`` are recorded at nodes: a row changes its place when its first wrong class becomes active, or the last one
    is satisfied.

    See Also
    --------
    svmpath.trace_joint : Follow a machine of all classes over C.
    svmpath.paths.Path : What all paths have in common.

    Examples
    --------
    >>> import svmpath
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = svmpath.trace_joint(X, y, gamma=0.1, span=(0.1, 10.0))
    >>> type(path).__name__, len(path.breakpoints), path.decisions([1.0]).shape
    ('JointPath', 9, (1, 150, 3))
    """

    loss: JointSquaredHinge

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C, in the direction of the span."""
        return self.nodes

    def _events(self) -> Iterable[Event]:
        """Changes of place between one node and the next, recorded at the second."""
        nodes = self.breakpoints
        places = {at: np.asarray(point.slopes.active.any(axis=1), dtype=int) for at, point, _ in self.walk(nodes)}
        for k in range(1, len(nodes)):
            for i in np.flatnonzero(places[k - 1] != places[k]):
                yield Event(float(nodes[k]), int(i), PLACES[places[k - 1][i]], PLACES[places[k][i]])

    def walk(self, values: Array) -> Iterator[tuple[int, JointPoint, JointNewton]]:
        """The position of each value, the point there and what found it, from the smallest C to the largest."""
        newton = self.newton()
        with blas_threads(self.rows.entries):
            for position in np.argsort(values, kind="stable"):
                checkpoint()
                C = float(values[position])
                point = newton.at(C, self._approach(newton, C))
                self._remember(C, point)
                yield int(position), point, newton

    def newton(self) -> JointNewton:
        """What finds the machines."""
        rows, y = self.rows, self.distinct.y
        assert isinstance(rows, Rows)
        return JointNewton(rows.A, np.argmax(y, axis=1), self.distinct.s, y.shape[1])

    def _decisions(self, values: Array) -> Array:
        values = np.asarray(values, dtype=float)
        held = np.empty((len(values), *self.distinct.y.shape))
        for position, point, _ in self.walk(values):
            held[position] = point.H
        return held

    def _solve(self, value: float) -> JointSolution:
        ((_, point, newton),) = self.walk(np.array([value]))
        solution = self.loss.solution(self.distinct, newton, point, value)
        lost = float(np.abs(solution.fitted - point.H).max() / (1.0 + np.abs(point.H).max()))
        if lost > _LOST_DIGITS:
            warnings.warn(
                f"At C = {value:.6g} rounding leaves decision values of the coefficients that are off by {lost:.0e} of "
                "the largest: scale the columns (StandardScaler), or use smaller C.",
                PrecisionWarning,
                stacklevel=2,
            )
        return solution

    def _start_from(self, other: Any) -> JointPath:
        """The path, its machines to be found from those of another one in the same features."""
        if isinstance(other, JointPath):
            kept = {at: each for at, each in other.store.of_path.points.items() if each[1].shape == self._shape}
            self.store.of_path.points.update(kept)
        return self

    @property
    def _shape(self) -> tuple[int, int]:
        return self.rows.width, self.distinct.y.shape[1] - 1

    def _first_point(self, machines: JointNewton) -> JointPoint:
        return machines.start()

    def _next_point(self, machines: JointNewton, C: float, point: JointPoint) -> JointPoint:
        return machines.at(C, point)

    def _pack(self, point: JointPoint) -> Array:
        return point.theta

    def _unpack(self, machines: JointNewton, kept: Array) -> JointPoint:
        return machines.point(kept)


def trace_joint(
    X: Any,
    y: ArrayLike,
    *,
    span: tuple[float, float] | None = None,
    kernel: str | Kernel | Callable[..., Any] = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    rank: int | float | str | Approximation | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> JointPath:
    """Follow a machine of all classes at once over C: the M-SVM^2 of Guermeur and Monfrini.

    One function for each class, which sum to zero, are fitted together with a quadratic loss: a row's wrong classes
    should have decision values of at most ``-1 / (Q - 1)``. For two classes it is the squared hinge machine with the
    same C: the second decision value is its own.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; the (n, n) kernel values for ``kernel="precomputed"``.
    y : array of shape (n,)
        Two or more labels of any kind.
    span : (float, float), optional
        The first and the last value of C; default (1e-3, 1e4).
    kernel, gamma, degree, coef0 : optional
        As in :func:`svmpath.trace`.
    sample_weight : array of shape (n,), optional
        Multiplies C for each sample. A sample with weight zero takes no part in the fit.
    class_weight : dict or "balanced", optional
        Multiplies C for each class.
    rank : int, float, "auto" or Approximation, optional
        Low-rank kernel, as in :func:`svmpath.trace`; None uses the full kernel matrix. Machines have about ``rank`` or,
        in full, ``n`` times ``Q - 1`` unknowns: up to 4000 a system is factored, beyond that it is solved by conjugate
        gradients, and there is no prediction of leave-one-out.
    random_state : int, RandomState or None
        Random seed for choosing the landmarks or random features; None stands for 0.

    Returns
    -------
    JointPath
        Call it with any value in the span: ``path(0.7)(X_new)`` has one column for each of ``path.classes``.

    See Also
    --------
    svmpath.trace : Follow a machine of two classes, or a regression.
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.radius_margin : A bound on its error.

    Notes
    -----
    ``criteria.span`` costs little more than the path. ``criteria.loo`` finds a machine without each sample that has a
    coefficient, which is for a few hundred rows; with more, a low rank or ``criteria.kfold`` is quicker.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = svmpath.trace_joint(X, y, gamma=0.1)
    >>> curve = svmpath.criteria.span(path, np.geomspace(0.01, 100.0, 9))
    >>> machine = path(svmpath.select(curve).value)
    >>> bool(curve.scores.min() < 0.06), bool(np.mean(machine.predict(X) == y) > 0.95)
    (True, True)
    """
    X = check_data(X, kernel)
    check_consistent_length(X, y)
    classes, code = encode_classes(column_or_1d(plain_target(y), warn=True))
    given = None if sample_weight is None else check_weights(sample_weight, X)
    s = check_weights(sample_weight, X, class_weight, classes, code)
    spec = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X, sample_weight=given)
    loss = JointSquaredHinge()
    span = loss.policy.span if span is None else check_span(span, Parameter("C"))
    gram = make_gram(X, spec, rank=rank, seed=draw_seed(random_state))
    targets = np.where(code[:, None] == np.arange(len(classes)), 1.0, -1.0)
    problem = Problem(gram, targets, s, "classification", classes)
    request = Request(loss, "C", span)
    return JointPath(problem, loss, request.path_parameter, span)
