"""Approximate leave-one-out of machines with an elbow: what leave-one-out would be if nobody else changed place.

With the elbow E, M = [0, 1'; 1, K_EE] and R = M^-1, leaving out a sample with coefficient alpha_i gives

    f^(-i)(x_i) = f(x_i) - alpha_i s_i,      s_i = 1 / R_ii on the elbow,      s_i = K_ii - v'R v otherwise,

v = (1, K_Ei): for the hinge and the epsilon-insensitive loss alike. s_i is the squared distance from sample i to the
affine hull of the (other) elbow points, the span of Vapnik and Chapelle: with the offset in it, approximate
leave-one-out is their span rule. Xu's formula is the one without the border of M, which is right for machines without
offset.

The nu machine has a row in M for each class, and the sum of its coefficients is nu (W - s_i) without sample i: its
rates are those of ``solvers.removal`` with that change.

Where the elbow is empty the offset is an interval, and leaving out i moves it to one of its ends, at which another
sample comes to the elbow; that one change is made before the places are frozen.

With explicit features Z, K = Z Z', R is had from the singular values of the centred rows Z_E, and no kernel value is
needed. An approximate path (``tol=``) has features and no exact elbow: there the smoothed loss of ``solvers.smoothed``
is used, with H the second derivative of its objective in x = (w, b), A_i = (z_i, 1), c_i the curvature of the loss at
i,

    f^(-i)(x_i) = f(x_i) - alpha_i q_i lambda / (1 - c_i q_i),        q_i = A_i'H^-1 A_i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, held_out_loss
from svmpath.criteria.elastic_loo import elastic_loo
from svmpath.criteria.held_out import elbow_only, held_out
from svmpath.criteria.merged import by_split_copies
from svmpath.criteria.over_kernel import along_kernel
from svmpath.paths import ElasticPath, JumpPath, NodePath, OverKernel, Path
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

FORMS = ("direct", "features")
_PLACE = 1e-6  # a coefficient nearer to its bound than this, relative to the box, is at it
_BLOCK = 512  # samples whose effect on all others is looked at at a time


@by_split_copies
def alo(path: Path, values: Any, *, loss: HeldOutLoss = None, form: str = "direct") -> Curve:
    """Approximate leave-one-out: exact where leaving a sample out moves no other across its margin.

    For losses with an elbow this is the span rule of Vapnik and Chapelle, with the offset that many derivations drop.
    It costs some paths; exact leave-one-out (:func:`svmpath.criteria.loo`) costs a few times more, and is the better
    choice while that can be afforded. It is poor where the elbow is small and C large, as with few features: look at
    ``doubtful``.

    Parameters
    ----------
    path : Path
        Of ``loss="hinge"``, ``"epsilon_insensitive"`` or ``"nu"``, over any of their parameters; also an approximate
        one (``tol=``), whose features and smoothed loss are then used. Or of
        :func:`svmpath.trace_elastic`, where places of features are frozen as well.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    form : {"direct", "features"}, default="direct"
        "direct" inverts the kernel matrix of the elbow points; "features" decomposes their explicit features, those of
        a low-rank kernel or the square root of the whole matrix. The result is the same; with features it keeps more
        digits where the elbow is nearly dependent.

    Returns
    -------
    Curve
        ``doubtful``, counted when first asked for, is the number of samples whose absence does move others across a
        bound, so that the formula's assumption fails.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    >>> curve = criteria.alo(path, [0.1, 1.0, 10.0])
    >>> curve.scores.shape, bool(np.all(curve.doubtful <= 60))
    ((3,), True)
    """
    if isinstance(path, ElasticPath):
        return replace(elastic_loo(path, check_values(path, values), loss=loss, max_events=0), criterion="alo")
    if isinstance(path, OverKernel):
        return along_kernel(path, values, lambda there, C: alo(there, C, loss=loss, form=form))
    values = check_values(path, values)
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    problem = path.problem
    doubts: _Doubts | _SmoothedDoubts
    if isinstance(path, NodePath):
        source, doubts = _smoothed(path, values), _SmoothedDoubts(path, values)
    else:
        path = elbow_only(path, "alo")
        source = held_out(path, values, most=0, find_crossings=False, in_features=form == "features").decisions
        doubts = _Doubts(path, values)
    rows = np.arange(problem.n)
    return Curve(path, "alo", values, held_out_loss(loss, problem.task), rows, source, problem.y, doubts)


@dataclass(frozen=True)
class _Doubts:
    """Counts the samples whose absence leads somebody across a bound."""

    path: JumpPath
    values: Array

    def __call__(self) -> Array:
        return held_out(self.path, self.values, most=0).passing


@dataclass(frozen=True)
class _Smooth:
    """A machine of the smoothed loss: u and the coefficients a of its terms, and A H^-1 A' in parts."""

    A: Array
    side: Array
    f: Array
    u: Array
    a: Array
    curvature: Array
    h: float
    solved: Array  # H^-1 A'

    @staticmethod
    def at(path: NodePath, value: float) -> _Smooth:
        """The machine at a value of C."""
        terms, node = path.terms, path.node(value)
        lam, h, A = node.lam, node.h, terms.A
        f = A @ node.x / lam
        u = terms.u(f)
        inner = (node.a > _PLACE * terms.s) & (node.a < (1.0 - _PLACE) * terms.s)
        curvature = np.where(inner, terms.s / h if h > 0 else 0.0, 0.0).sum(axis=0)
        rows = np.flatnonzero(curvature)
        H = (A[rows] * curvature[rows, None]).T @ A[rows]
        H[np.diag_indices(len(H) - 1)] += lam
        H[-1, -1] += 1e-10 * terms.s.sum()  # where no row is in between the offset does not move
        return _Smooth(A, terms.side, f, u, node.a, curvature, h, cho_solve(cho_factor(H), A.T))

    @property
    def step(self) -> Array:
        """How far x moves along H^-1 A_i when sample i is left out."""
        q = np.einsum("ij,ji->i", self.A, self.solved)
        return -(self.side * self.a).sum(axis=0) / (1.0 - self.curvature * q)

    @property
    def held(self) -> Array:
        """Held-out decision values."""
        return self.f + self.step * np.einsum("ij,ji->i", self.A, self.solved)


def _smoothed(path: NodePath, values: Array) -> Array:
    """Held-out decision values of an approximate path."""
    with blas_threads(path.terms.A.size):
        return np.array([_Smooth.at(path, float(value)).held for value in values])


@dataclass(frozen=True)
class _SmoothedDoubts:
    """The same count for an approximate path: who leaves the part of the loss, flat, curved or steep, where it is."""

    path: NodePath
    values: Array

    def __call__(self) -> Array:
        with blas_threads(self.path.terms.A.size):
            return np.array([self._count(_Smooth.at(self.path, float(value))) for value in self.values])

    def _count(self, machine: _Smooth) -> int:
        part, step = np.digitize(machine.u, [0.0, machine.h]), machine.step
        support, count = np.flatnonzero(machine.a.max(axis=0) > 0.0), 0
        for start in range(0, len(support), _BLOCK):
            block = support[start : start + _BLOCK]
            moved = (machine.A @ machine.solved[:, block]) * step[block]
            crossed = np.zeros(moved.shape, dtype=bool)
            for side, u, before in zip(machine.side, machine.u, part, strict=True):
                crossed |= np.digitize(u[:, None] - side[:, None] * moved, [0.0, machine.h]) != before[:, None]
            crossed[block, np.arange(len(block))] = False
            count += self.path.problem.count(block[crossed.any(axis=0)])
        return count
