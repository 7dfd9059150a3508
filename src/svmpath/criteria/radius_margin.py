"""The radius-margin bound of the squared hinge: leave-one-out errors bounded by a ball and a margin.

With lam = 1 / C the squared hinge machine is the hard margin machine of the kernel K + lam/2 I, with coefficients
a_i = y_i alpha_i and the margin 1 / |w|, |w|^2 = sum_i a_i. A sample that is an error when left out has
a_i >= 1 / D^2, D being the largest distance between two samples in the space of that kernel; D <= 2 R with R the radius
of the smallest ball around them (Vapnik 1998; Bonidal, Tindel & Guermeur's Theorem 1). So of m samples at most

    4 R^2 sum_i a_i / m = 4 R^2 / (m margin^2)

is the fraction that leave-one-out gets wrong. It holds whether or not other samples change sides. With J the objective
of ``solvers.feature_newton``, sum_i a_i = 2 C J: a sum of positive terms, and too large, not too small, where J is not
quite the minimum. Where rounding in f makes it much too large, the coefficients themselves are added up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NoReturn

import numpy as np

from svmpath.criteria.curve import check_values
from svmpath.criteria.requires import requires
from svmpath.losses import SquaredHinge
from svmpath.notebook import Shown
from svmpath.paths import MarchPath, Path
from svmpath.solvers.enclosing_ball import EnclosingBall
from svmpath.solvers.feature_newton import FeatureNewton
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_AGREE = 1e-6  # relative; two sums of the coefficients that differ by more have lost digits


@dataclass(frozen=True, repr=False)
class BoundCurve(Shown):
    """A bound on the held-out error rate along a path; lower is better.

    It has those attributes of a :class:`svmpath.criteria.Curve` that do not need held-out decision values, and you can
    pass it to :func:`svmpath.select`.

    Attributes
    ----------
    path : Path
    criterion : str
        Name of the criterion that computed it.
    values : array of shape (m,)
        Values of the path's parameter.
    scores : array of shape (m,)
        The bound at each value. Above one it says nothing about the error rate.
    unreliable : array of shape (m,)
        Number of training errors (samples with y f <= 0) at each value. They make the bound loose and its minimum a bad
        choice; see :func:`radius_margin`.

    See Also
    --------
    svmpath.criteria.radius_margin : A bound for the squared hinge.
    svmpath.criteria.xi_alpha : A bound for the hinge that costs nothing.
    svmpath.criteria.span_bound : A tighter bound for the hinge.
    svmpath.criteria.Curve : Held-out scores along a path.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> bound = criteria.xi_alpha(svmpath.trace(X, y, loss="hinge", gamma=1.0), [0.1, 1.0])
    >>> bound.scores.shape, bool((bound.scores >= 0).all())
    ((2,), True)
    """

    path: Path
    criterion: str
    values: Array
    scores: Array
    unreliable: Array

    def __repr__(self) -> str:
        low, high = self.values.min(), self.values.max()
        where = f"{len(self.values)} values of {self.path.over} in [{low:.6g}, {high:.6g}]"
        return f"<BoundCurve: {self.criterion} at {where}>"

    @property
    def target(self) -> Array:
        """Targets of all samples."""
        return self.path.problem.y

    def joined(self, other: BoundCurve) -> BoundCurve:
        """The curve, and another one of the same machine at other values."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("values", "scores", "unreliable")]
        return BoundCurve(self.path, self.criterion, *(np.concatenate(pair) for pair in pairs))

    def in_order(self) -> BoundCurve:
        """The curve with its values in increasing order."""
        order = np.argsort(self.values, kind="stable")
        return replace(self, values=self.values[order], scores=self.scores[order], unreliable=self.unreliable[order])

    @property
    def standard_errors(self) -> Array:
        """Zero: a bound is not a mean over samples."""
        return np.zeros(len(self.values))

    def standard_error(self, at: int) -> float:
        """None is known at any value."""
        return float(self.standard_errors[at])

    @property
    def split_scores(self) -> None:
        """None: a bound holds nothing out."""

    @property
    def smooth(self) -> Array:
        """The scores, which are smooth themselves."""
        return self.scores

    def __getattr__(self, name: str) -> NoReturn:
        what = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in ("decisions", "held"):
            what = (
                f"criteria.{self.criterion} is a bound and has no held-out decision values; use criteria.loo to get "
                "them."
            )
        raise AttributeError(what)

    def rescored(self, loss: Any) -> BoundCurve:
        """The curve itself for the error rate (None or "error"); a bound has no other loss."""
        error_only(self.criterion, loss)
        return self


@singledispatch
def radius_margin(path: Path, values: Any, *, loss: Any = None) -> BoundCurve:
    """The radius-margin bound on the leave-one-out error rate, 4 R^2 / (m margin^2).

    R is the radius of the smallest ball around the m samples, and the margin is that of the machine. Both are measured
    in the feature space of the kernel K + I / (2 C), in which the squared hinge machine is a hard margin machine. The
    bound always holds. It is a smooth function of C, and costs about as much as the path.

    Parameters
    ----------
    path : Path
        A path with ``loss="squared_hinge"`` over C, or of :func:`svmpath.trace_joint`. Sample weights must be 0 or 1,
        because the bound is on a number of errors. Samples of weight zero do not count.
    values : float or array of shape (m,)
        Values of C.
    loss : None or "error"
        The bound is on the error rate.

    Returns
    -------
    BoundCurve
        ``unreliable`` counts the training errors (samples with y f <= 0) at each value. The bound holds in spite of
        them, but is no good measure of the error: see the notes.

    See Also
    --------
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.BoundCurve : A bound along a path.

    Notes
    -----
    A sample inside the margin adds 8 C R^2 xi / m to the bound, xi = 1 - y f, where leave-one-out counts one error at
    most. On noisy data this grows with C for as long as there are training errors (xi >= 1), and the minimum of the
    bound lies at a C that is too small. Do not use it if ``unreliable`` is not small compared with the number of
    samples; use :func:`svmpath.criteria.loo` or :func:`svmpath.criteria.span` instead.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2))
    >>> values = np.logspace(-2, 2, 5)
    >>> bound = criteria.radius_margin(path, values)
    >>> bool(np.all(bound.scores >= criteria.loo(path, values).scores))
    True
    """
    return _of_two_classes(path, values, loss)


@requires(SquaredHinge, MarchPath, "radius_margin")
def _of_two_classes(path: Any, values: Any, loss: Any) -> BoundCurve:
    error_only("radius_margin", loss)
    values = check_values(path, values)
    rows = counted(path, "radius_margin")
    scores, unreliable = np.empty(len(values)), np.empty(len(values), dtype=int)
    balls, ball = EnclosingBall(path.rows.A[rows]), None
    for stop in path.walk(values):  # C rises, lam falls: each ball starts from the last
        with blas_threads(path.rows.A.size):
            ball = balls.at(1.0 / stop.C, ball)
        # sum a = 1 / margin^2, in two ways that agree at the minimum of J unless C times the kernel has used up f.
        newton = FeatureNewton.of(path.loss.pieces, path.rows)
        weight = 2.0 * stop.C * newton.objective_at(1.0 / stop.C, stop.point)
        slack = np.maximum(1.0 - path.rows.y * stop.point.f, 0.0)
        if abs(2.0 * stop.C * (path.rows.s @ slack) - weight) > _AGREE * weight:
            weight = float(path.problem.y @ path.loss.solve(path.problem, newton, stop.point, stop.C).alpha)
        scores[stop.position] = 4.0 * ball.squared_radius * weight / len(rows)
        unreliable[stop.position] = np.count_nonzero((path.problem.y * stop.point.f)[rows] <= 0)
    return BoundCurve(path, "radius_margin", values, scores, unreliable)


def counted(path: Path, criterion: str) -> Array:
    """The samples of positive weight; raises an error unless all weights are 0 or 1."""
    if not np.isin(path.problem.s, (0.0, 1.0)).all():
        raise ValueError(
            f"criteria.{criterion} bounds a number of errors, so sample weights and class weights must be 0 or 1; use "
            "criteria.loo or criteria.span with other weights."
        )
    return path.problem.active


def error_only(criterion: str, loss: Any) -> None:
    """Raise an error for any loss but the error rate."""
    if loss not in (None, "error"):
        raise ValueError(f"criteria.{criterion} bounds the error rate only; leave loss out.")
