"""Bounds on the leave-one-out errors of the hinge machine: Joachims' xi-alpha, and the span of Vapnik and Chapelle.

With a_i = y_i alpha_i and xi_i = max(0, 1 - y_i f_i), a sample that is an error when left out has

    2 a_i R^2 + xi_i >= 1,      R^2 = max_i K_ii - min_ij K_ij                                 (xi-alpha)

The bound takes for granted that the offset is held by an elbow, with all samples and without one: where it is not, the
offset jumps, and the bound can fail.

Of the samples on the elbow, 0 < a_i < C, those that are errors when left out have

    a_i S_i max(D, 1 / sqrt(C)) >= 1                                                           (span bound)

D being the diameter of the smallest ball around all samples, and S_i the distance of sample i to the combinations of
the other elbow points, with coefficients of sum one, that can take over its coefficient inside their boxes. All samples
at their limit, a_i = C, are counted as errors. S_i is not computed but bounded: by the combination of the span rule,
brought into the boxes (``solvers.removal``); where nothing can take over, the sample is counted as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.curve import check_values
from svmpath.criteria.held_out import elbow_only, samples
from svmpath.criteria.radius_margin import BoundCurve, counted, error_only
from svmpath.losses import Hinge, SquaredHinge
from svmpath.paths import JumpPath, Path
from svmpath.solvers.box_qp import FREE
from svmpath.solvers.enclosing_ball import EnclosingBall
from svmpath.solvers.removal import is_held
from svmpath.solvers.threads import one_thread_if_small

Array = np.ndarray

_TINY_BALL = 1e-6  # what is added to K for the ball, in units of its largest entry: it makes the ball a little larger


def xi_alpha(path: Path, values: Any, *, loss: Any = None) -> BoundCurve:
    """Joachims' xi-alpha estimate, a bound on the leave-one-out error rate of the hinge machine.

    It costs nothing beyond the machine itself, and is pessimistic: exact leave-one-out (:func:`svmpath.criteria.loo`)
    is the better choice wherever it can be afforded.

    Parameters
    ----------
    path : Path
        Of ``loss="hinge"``.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : None or "error"
        What is bounded is the error rate.

    Returns
    -------
    BoundCurve
        ``doubtful`` is the number of support vectors where no elbow point holds the offset, so that the bound is not
        proved; else 0.

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
    path = _hinge_only(path, "xi_alpha", loss)
    values = check_values(path, values)
    K, s = path.shared.K, path.problem.s
    height = float(np.diagonal(K).max() - K.min())
    scores, doubtful = np.empty(len(values)), np.zeros(len(values), dtype=int)
    for k, walker in path.states(values):
        C, y = path.motion.at(walker.t)["C"], path.problem.y
        a, xi = C * np.abs(walker.theta), np.maximum(1.0 - y * path.decided(walker), 0.0)
        suspect = (2.0 * a * height + xi >= 1.0) & (a > 0.0)
        scores[k] = s @ suspect / s.sum()
        doubtful[k] = 0 if is_held(walker) else np.count_nonzero(a)
    return BoundCurve(path, "xi_alpha", values, scores, doubtful)


def span_bound(path: Path, values: Any, *, loss: Any = None) -> BoundCurve:
    """Vapnik and Chapelle's span bound on the leave-one-out error rate of the hinge machine.

    Every sample at its limit counts as an error, so that the bound says little where many of them are; see
    :func:`svmpath.criteria.alo` for the prediction that is made of the same spans.

    Parameters
    ----------
    path : Path
        Of ``loss="hinge"``, with sample weights 0 and 1 only.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : None or "error"
        What is bounded is the error rate.

    Returns
    -------
    BoundCurve
        ``doubtful`` is the number of samples at their limit, each of which is counted as an error.

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
    path = _hinge_only(path, "span_bound", loss)
    values = check_values(path, values)
    rows = counted(path, "span_bound")
    with one_thread_if_small(path.problem.n**2):
        A = SquaredHinge().rows(path.problem).A[rows]
        ball = EnclosingBall(A).at(_TINY_BALL * float(np.einsum("ij,ij->i", A[:, :-1], A[:, :-1]).max()))
    scores, doubtful = np.empty(len(values)), np.zeros(len(values), dtype=int)
    for k, walker in path.states(values):
        C = path.motion.at(walker.t)["C"]
        reach = max(2.0 * np.sqrt(ball.squared_radius), 1.0 / np.sqrt(C))
        removal, left_out = samples(path, walker)
        spans, on_elbow = removal.spans(), walker.status[left_out] == FREE
        a = C * np.abs(walker.theta[left_out])
        full = np.count_nonzero(~on_elbow & (a > 0.0))
        with np.errstate(invalid="ignore"):
            share = np.where(a > 0.0, np.minimum(a * np.sqrt(spans) * reach, 1.0), 0.0)
        scores[k], doubtful[k] = (full + share[on_elbow].sum()) / len(rows), full
    return BoundCurve(path, "span_bound", values, scores, doubtful)


def _hinge_only(path: Path, criterion: str, loss: Any) -> JumpPath:
    path = elbow_only(path, criterion)
    if not isinstance(path.loss, Hinge):
        raise ValueError(f"criteria.{criterion} is made for the hinge; this path has {path.loss!r}.")
    error_only(criterion, loss)
    return path
