"""How far a machine of low rank is from the one on the full kernel: a duality gap, and what follows from it.

Let H be the space of the full kernel, and P the primal and D the dual objective there::

    P(w, b) = C sum_i s_i loss(y_i, <w, phi_i> + b) + 1/2 ||w||^2,      minimal at (w*, b*)

The coefficients alpha of a machine of low rank are feasible in the dual of the full kernel, which has the same
constraints. With w = sum_i alpha_i phi_i, g = K alpha, any b and any v in H, and E the sum of ``Loss.excess``::

    P(v, b) - D(alpha) = E(alpha, <v, phi> + b) + 1/2 ||v - w||^2                                      (1)
    P(v, b) - P(w*, b*) >= 1/2 ||v - w*||^2,      D(alpha*) - D(alpha) >= 1/2 ||w - w*||^2              (2)

For v = w this is ||w - w*||^2 <= E(alpha, g + b), with the best b. For landmarks the machine as it predicts is itself
in H: its w is p, the projection of w on what the landmarks span, and ||p - w*||^2 <= 2 E(alpha, f) + ||p - w||^2.

Then ``|<w*, phi_i> - g_i| <= r sqrt(k_ii)``, which says where b* is (``Loss.enclose``). See docs/math/full_kernel.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.gram import LowRankGram
from svmpath.gram.exact import exact_product
from svmpath.kernels.base import pick
from svmpath.losses import Solution
from svmpath.losses.enclosure import Offsets
from svmpath.paths import Path
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_ROUNDINGS = 8.0  # of the sums whose difference is ||p - w||^2


@dataclass(frozen=True)
class ApproximationGap:
    """How far a machine f of low rank is at most from f', the machine of the same data on the full kernel.

    Attributes
    ----------
    gap : float
        The duality gap of the machine on the full kernel, relative to the objective there.
    bound : float
        Of ``|f'(x) - f(x)|`` with f as the machine predicts, ``solution(X)``, for all x with k(x, x) <= kappa. It is
        infinite for features that are not those of landmarks, such as random Fourier features.
    exact_kernel_bound : float
        The same with f as ``solution(X, exact_kernel=True)``.
    radius, exact_kernel_radius : float
        Of the norm of f' - f without the offsets, in the space of the full kernel.
    offset : float
        Of the distance of the offsets. Where many offsets are best on the full kernel, it is that of any of them.
    kappa : float
        The largest k(x, x) of the training rows. For kernels of distances, such as ``"rbf"``, this is every x.
    objective : float
        The primal objective on the full kernel; times ``gap`` this is the difference to the dual one.

    See Also
    --------
    svmpath.criteria.approximation_gap : Computes it.
    svmpath.criteria.approximation_bound : Ding and Liao's bound for least squares.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(200, random_state=0)
    >>> solution = svmpath.trace(X, y, gamma=0.3, rank=60, random_state=0)(1.0)
    >>> criteria.approximation_gap(solution).kappa
    1.0
    """

    gap: float
    bound: float
    exact_kernel_bound: float
    radius: float
    exact_kernel_radius: float
    offset: float
    kappa: float
    objective: float

    def __repr__(self) -> str:
        return (
            f"<ApproximationGap: gap {self.gap:.3g} of the objective; decision values differ by at most "
            f"{self.bound:.3g}, with the exact kernel by {self.exact_kernel_bound:.3g}>"
        )


def approximation_gap(solution: Solution) -> ApproximationGap:
    """How far a low-rank machine is from the one on the full kernel, by a duality gap; for every loss with a kernel.

    It computes each kernel value between a row and a support vector once, in blocks of rows, and solves nothing. The
    bounds hold for every kernel that is positive semi-definite, whatever the loss, the weights and the landmarks.

    Parameters
    ----------
    solution : Solution
        A machine, ``path(C)``, in low rank. With the full kernel the gap is that of the solver.

    Returns
    -------
    ApproximationGap
        ``gap`` and ``bound``, and what they are made of.

    See Also
    --------
    svmpath.criteria.ApproximationGap : What it returns.
    svmpath.criteria.approximation_bound : Ding and Liao's bound, for least squares.
    svmpath.gram.Nystroem : Landmarks.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(300, random_state=0)
    >>> low = svmpath.trace(X, y, gamma=1.0, rank=100, random_state=0)(1.0)
    >>> full = svmpath.trace(X, y, gamma=1.0)(1.0)
    >>> certificate = criteria.approximation_gap(low)
    >>> bool(np.abs(full(X) - low(X)).max() <= certificate.bound < 0.1)
    True
    """
    _check(solution)
    problem, loss, gram = solution.problem, solution.loss, solution.problem.gram
    unit, rows = loss.unit(solution), problem.active
    diag = pick(gram.kernel.diag(gram.X), gram.rows) if isinstance(gram, LowRankGram) else gram.diag
    root, kappa = np.sqrt(np.maximum(diag, 0.0)), float(diag.max(initial=0.0))
    alpha, b = _of_sum_zero(unit * solution.alpha), unit * solution.b
    moved = float(root @ np.abs(alpha - unit * solution.alpha))  # no less than the norm of what was changed
    g = np.zeros(problem.n)
    with blas_threads(len(rows) * len(solution.support)):
        g[rows] = exact_product(gram, alpha, rows)
    size = max(float(alpha @ g), 0.0)  # ||w||^2
    best, margin = loss.enclose(solution, g, g).middle
    gap = loss.excess(solution, alpha, g + best, margin)
    primal = loss.losses(solution, g + best, margin) + 0.5 * size
    r = float(np.sqrt(gap))
    enclosed = loss.enclose(solution, g - r * root, g + r * root)
    radius, norm, apart = (r + moved, np.sqrt(size) + moved, None)  # of the machine as it predicts
    if isinstance(gram, LowRankGram):
        weights, h = gram.contract(unit * solution.alpha), unit * (solution.fitted - solution.b)
        radius, norm = np.inf, float(np.linalg.norm(weights))
        apart = _apart(gram, weights, alpha, h, size, kappa)
    if apart is not None:
        of_p = loss.excess(solution, alpha, h + b, unit) + 0.5 * apart
        if of_p < gap:
            gap, primal = of_p, loss.losses(solution, h + b, unit) + 0.5 * norm**2
        radius = float(np.sqrt(2.0 * of_p))
        if radius < r:  # (2) holds of w, too
            r = radius
            enclosed = loss.enclose(solution, g - r * root, g + r * root)
        enclosed = enclosed.within(loss.enclose(solution, h - radius * root, h + radius * root))
    r, offset = r + moved, max(abs(enclosed.low - b), abs(enclosed.high - b))
    return ApproximationGap(
        gap=gap / max(abs(primal), np.finfo(float).tiny),
        bound=_bound(radius, norm, offset, b, unit, kappa, enclosed),
        exact_kernel_bound=_bound(r, np.sqrt(size) + moved, offset, b, unit, kappa, enclosed),
        radius=radius / unit,
        exact_kernel_radius=r / unit,
        offset=offset / unit,
        kappa=kappa,
        objective=primal,
    )


def _check(solution: Solution) -> None:
    """Raise an error for what has no full kernel, or one that is not positive semi-definite."""
    if not isinstance(solution, Solution):
        given = "a path: call it with a value, path(C)" if isinstance(solution, Path) else f"{type(solution).__name__}"
        more = "" if isinstance(solution, Path) else ", which has no coefficient for every row"
        raise ValueError(f"criteria.approximation_gap needs a machine with its coefficients, got {given}{more}.")
    if solution.problem.y.ndim > 1:
        raise ValueError(
            "criteria.approximation_gap is for machines of one function, but this one has all classes at once; use "
            "solution.gap, which is that on the low-rank kernel."
        )
    if not (solution.loss.sums_to_zero and solution.problem.offset):
        which = f"loss={solution.loss.name!r}" if solution.problem.offset else "offset=False"
        raise ValueError(
            f"criteria.approximation_gap has no bound for {which}, where coefficients do not sum to zero; use "
            "solution.gap, which is that on the low-rank kernel."
        )
    kernel = solution.problem.gram.kernel
    if kernel.psd is False and not solution.problem.gram.is_clipped:
        raise ValueError(
            f"criteria.approximation_gap needs a positive semi-definite kernel, but {kernel!r} is indefinite and has "
            "no duality gap; use another kernel, or rank=gram.Clipped()."
        )


def _of_sum_zero(alpha: Array) -> Array:
    """The coefficients with those of one sign made smaller, so that rounding does not leave the constraint."""
    rest = alpha.sum()
    side = alpha * np.sign(rest) > 0
    total = abs(alpha[side].sum())
    return np.where(side, alpha * (1.0 - abs(rest) / total), alpha) if total > 0 else alpha


def _apart(gram: LowRankGram, weights: Array, alpha: Array, h: Array, size: float, kappa: float) -> float | None:
    """||p - w||^2 of the function p with these weights and values h at the rows; None if the kernel has no such p."""
    points = gram.features.on_points(weights)
    if points is None:
        return None
    sums = float(weights @ weights), float(alpha @ h), size
    # Rounding of the features, and of kernel values: where landmarks nearly depend on each other, `points` is large.
    stored, computed = np.finfo(gram.Z.dtype).eps, np.finfo(float).eps
    rounding = stored * max(sums) + computed * kappa * float(alpha @ alpha + points @ points)
    return max(sums[0] - 2.0 * sums[1] + sums[2], 0.0) + _ROUNDINGS * rounding


def _bound(radius: float, norm: float, offset: float, b: float, unit: float, kappa: float, enclosed: Offsets) -> float:
    """The largest difference of ``(<w*, phi> + b*) / rho*`` and ``(<w, phi> + b) / unit``, given what encloses them."""
    if not enclosed.rho[0] > 0.0:
        return float("inf")
    root = float(np.sqrt(kappa))
    divided = max(abs(1.0 / rho - 1.0 / unit) for rho in enclosed.rho)
    return float((root * radius + offset) / enclosed.rho[0] + (root * norm + abs(b)) * divided)
