"""Bounds on the leave-one-out errors of the hinge machine: Joachims' xi-alpha, and the span of Vapnik and Chapelle.

With a_i = y_i alpha_i and xi_i = max(0, 1 - y_i f_i), a sample that is an error when left out has

    2 a_i R^2 + xi_i >= 1,      R^2 = max_i K_ii - min_ij K_ij                                 (xi-alpha)

Both bounds assume that some sample lies on the elbow, with all samples and without one, so that the offset does not
jump. This is not known without leaving the sample out. A sample is counted as an error, and as unreliable, if the
samples on the elbow cannot take over its coefficient. Even if they can, the offset may jump, and then the bound fails.

Of the samples on the elbow, 0 < a_i < C, those that are errors when left out have

    a_i S_i max(D, 1 / sqrt(C)) >= 1                                                           (span bound)

D being the diameter of the smallest ball around all samples, and S_i the distance of sample i to the combinations of
the other elbow points, with coefficients of sum one, that can take over its coefficient inside their boxes. All samples
at their limit, a_i = C, are counted as errors. S_i is not computed but bounded: by the combination of the span rule,
brought into the boxes (``solvers.removal``). A sample whose coefficient cannot be taken over is counted as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.curve import check_values
from svmpath.criteria.of_jump import samples
from svmpath.criteria.radius_margin import BoundCurve, counted, error_only
from svmpath.criteria.requires import requires
from svmpath.losses import Hinge, feature_rows
from svmpath.paths import JumpPath
from svmpath.solvers.box_qp import FREE, Walker
from svmpath.solvers.enclosing_ball import EnclosingBall
from svmpath.solvers.removal import has_unique_offsets
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_MORE = 1e-9  # by how much, relative, the room must exceed a coefficient
_TINY_BALL = 1e-6  # what is added to K for the ball, in units of the rows' spread: it makes the ball a little larger


@requires(Hinge, JumpPath)
def xi_alpha(path: JumpPath, values: Any, *, loss: Any = None) -> BoundCurve:
    """Joachims' xi-alpha estimate, a bound on the leave-one-out error rate of the hinge machine.

    It costs nothing beyond the machine itself, and is pessimistic. Exact leave-one-out (:func:`svmpath.criteria.loo`)
    is the better choice if you can afford it.

    Parameters
    ----------
    path : Path
        A path with ``loss="hinge"``.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : None or "error"
        The bound is on the error rate.

    Returns
    -------
    BoundCurve
        ``unreliable`` is the number of support vectors whose coefficient is too large for the samples on the elbow to
        take over. They are counted as errors, because the offset jumps when they are left out. The offset can also
        jump for other samples, and then the bound does not hold: do not rely on it at small C.

    See Also
    --------
    svmpath.criteria.span_bound : A tighter bound for the hinge.
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.BoundCurve : A bound along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    >>> bool(np.all(criteria.xi_alpha(path, [1.0, 10.0]).scores >= criteria.loo(path, [1.0, 10.0]).scores))
    True
    """
    error_only("xi_alpha", loss)
    values = check_values(path, values)
    K, s = path.matrix.K, path.problem.s
    height = float(np.diagonal(K).max() - K.min())
    scores, unreliable = np.empty(len(values)), np.zeros(len(values), dtype=int)
    for k, walker in path.states(values):
        C, y = path.path_parameter.at_t(walker.t)["C"], path.problem.y
        a, xi = C * np.abs(walker.theta), np.maximum(1.0 - y * path.machines.decided(walker), 0.0)
        unproved = _without_room(walker)
        suspect = ((2.0 * a * height + xi >= 1.0) | unproved) & (a > 0.0)
        scores[k] = s @ suspect / s.sum()
        unreliable[k] = np.count_nonzero(unproved)
    return BoundCurve(path, "xi_alpha", values, scores, unreliable)


@requires(Hinge, JumpPath)
def span_bound(path: JumpPath, values: Any, *, loss: Any = None) -> BoundCurve:
    """Vapnik and Chapelle's span bound on the leave-one-out error rate of the hinge machine.

    Every sample whose coefficient is at its limit counts as an error, so the bound says little if there are many; see
    :func:`svmpath.criteria.alo` for the prediction from the same spans.

    Parameters
    ----------
    path : Path
        A path with ``loss="hinge"`` and with sample weights 0 and 1 only.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : None or "error"
        The bound is on the error rate.

    Returns
    -------
    BoundCurve
        ``unreliable`` is the number of samples that are counted as errors because their coefficient is at its limit or
        too large for the samples on the elbow to take over. The bound assumes that the offset does not jump when a
        sample is left out, which is not known: with few samples or a small C the bound can fail.

    See Also
    --------
    svmpath.criteria.xi_alpha : A bound for the hinge that costs nothing.
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.BoundCurve : A bound along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    >>> bool(np.all(criteria.span_bound(path, [1.0, 10.0]).scores >= criteria.loo(path, [1.0, 10.0]).scores))
    True
    """
    error_only("span_bound", loss)
    values = check_values(path, values)
    rows = counted(path, "span_bound")
    with blas_threads(path.problem.n**2):  # of the smallest ball around the rows of A without its last column
        A = feature_rows(path.problem).A[rows]
        size = float(np.ptp(A[:, :-1], axis=0).max(initial=0.0)) ** 2
        radius = float(np.sqrt(EnclosingBall(A).at(_TINY_BALL * size).squared_radius)) if size > 0.0 else 0.0
    scores, unreliable = np.empty(len(values)), np.zeros(len(values), dtype=int)
    for k, walker in path.states(values):
        C = path.path_parameter.at_t(walker.t)["C"]
        diameter = max(2.0 * radius, 1.0 / np.sqrt(C))
        removal, left_out = samples(path, walker)
        spans, on_elbow = removal.spans(), walker.status[left_out] == FREE
        a = C * np.abs(walker.theta[left_out])
        counts = ((~on_elbow | ~np.isfinite(spans)) & (a > 0.0)) | _without_room(walker)[left_out]
        share = np.minimum(a * np.sqrt(np.where(counts | (a == 0.0), 0.0, spans)) * diameter, 1.0)
        scores[k], unreliable[k] = (np.count_nonzero(counts) + share.sum()) / len(rows), np.count_nonzero(counts)
    return BoundCurve(path, "span_bound", values, scores, unreliable)


def _without_room(walker: Walker) -> Array:
    """The support vectors whose coefficient the (other) samples on the elbow have too little room to take over."""
    low, up = walker.program.low(walker.t), walker.program.up(walker.t)
    theta, F = walker.theta, walker.F
    above, below = (up - theta)[F], (theta - low)[F]
    room = np.where(theta > 0, above.sum(), below.sum())
    room[F] -= np.where(theta[F] > 0, above, below)
    return (theta != 0.0) & ((room <= np.abs(theta) * (1.0 + _MORE)) | (not has_unique_offsets(walker)))
