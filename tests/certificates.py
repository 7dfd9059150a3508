"""Whether a machine is optimal, from its coefficients and the kernel matrix alone: no formula of the package is used.

A machine (alpha, b) is a point of its primal problem, and alpha, put into its box, one of the dual problem. The
difference of the two objectives bounds what any other machine could gain. ``excess`` is that difference in units of the
objective's terms, less what rounding in the decision values can do to it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from svmpath import PathError
from svmpath.gram import ProductGram
from svmpath.paths.full_kernel_path import FULL_GAP

GAP = 1e-8  # relative duality gap that is allowed
VIOLATION = 1e-8  # of the conditions of optimality, in units of decision values
_NOTHING = 1e-12  # an objective so small, in units of what the machine f = 0 costs, is rounding's
_EPS, _FEW_DIGITS = np.finfo(float).eps, 1e-3
_ROUNDING = 1e-6  # rounding up to which a violation may be put down to it, as in Path.check


def excess(solution) -> float:
    """The relative duality gap beyond rounding."""
    gap, size, slip = _terms(solution)
    return (gap - slip) / size if size > 0 else 0.0


def gap(solution) -> float:
    """The duality gap itself, with what rounding can do to it."""
    found, _, slip = _terms(solution)
    return max(found, 0.0) + slip


def _terms(solution) -> tuple[float, float, float]:
    """Gap, the size of the objective's terms, and what rounding can do to the gap."""
    return {
        "least_squares": least_squares,
        "squared_hinge": squared_hinge,
        "hinge": hinge,
        "huber_hinge": huber_hinge,
        "nu": hinge,
        "one_class": one_class,
        "epsilon_insensitive": epsilon_insensitive,
        "pinball": pinball,
        "expectile": expectile,
        "elastic_hinge": elastic_hinge,
    }[solution.loss.name](solution)


def check(solution, what: str) -> None:
    """Raise AssertionError where a machine is not optimal, by its own conditions or by its gap."""
    assert np.isfinite(solution.alpha).all(), f"{what}: coefficients that are not finite"
    scale = solution.loss.scale(solution.problem) if hasattr(solution.loss, "scale") else 1.0
    if solution.loss.name in ("least_squares", "expectile"):
        scale = 1.0 + float(np.abs(solution.problem.y).max())
    lost = _lost(solution)
    if lost > _FEW_DIGITS:
        return  # a kernel far too large for this C: nothing is promised
    if isinstance(solution.problem.gram, ProductGram):  # on the full kernel of many rows a machine has a gap
        found = excess(solution)
        assert found <= FULL_GAP * (1.0 + 1e-6) + GAP, f"{what}: duality gap {found:.2e}"
        return
    allowed = (VIOLATION + lost) * max(scale, 1.0)
    if allowed + _ROUNDING * scale < solution.violation <= allowed + solution.rounding:
        raise PathError(f"{what}: too few digits, violation {solution.violation:.2e}")  # as Path.check says it
    violation = solution.violation - min(solution.rounding, _ROUNDING * scale)
    assert violation <= allowed, f"{what}: violation {violation:.2e}"
    found = excess(solution)
    assert found <= GAP, f"{what}: duality gap {found:.2e}"


def _lost(solution) -> float:
    """What solving K + 1 / (2 C s) in double precision leaves open, relative; nothing for losses with an elbow."""
    if solution.loss.name not in ("least_squares", "squared_hinge", "huber_hinge", "expectile"):
        return 0.0
    problem, curvature = solution.problem, 1.0 / solution.parameters.get("h", 0.5)  # of the loss
    condition = curvature * solution.parameters["C"] * problem.s.max() * problem.gram.diag.sum()
    return _EPS * (1.0 + float(condition))


def _parts(solution):
    """K alpha, decision values, weights times C, how far decision values can be off."""
    problem = solution.problem
    product = problem.gram.matmul(solution.alpha)
    C = 1.0 / solution.rho if solution.loss.name == "nu" else solution.parameters["C"]
    slip = 4.0 * solution.rounding + 1e-14 * float(np.abs(problem.y).max())
    return product, product + solution.b, C * problem.s, slip


def hinge(solution):
    product, f, limit, slip = _parts(solution)
    y, alpha = solution.problem.y, solution.alpha
    a = np.clip(y * alpha, 0.0, limit)
    half, losses = 0.5 * alpha @ product, limit @ np.maximum(1.0 - y * f, 0.0)
    uneven = abs((y * a).sum()) * (1.0 + np.abs(f).max())
    size = losses + abs(half) + _NOTHING * limit.sum()
    return losses + 2.0 * half - a.sum() + uneven, size, slip * (limit.sum() + a.sum())


def one_class(solution):
    problem, rho = solution.problem, -solution.b
    product = problem.gram.matmul(solution.alpha)
    limit = problem.s / (solution.parameters["nu"] * problem.s.sum())
    a = np.clip(solution.alpha, 0.0, limit)
    half, losses = 0.5 * solution.alpha @ product, limit @ np.maximum(rho - product, 0.0)
    uneven = abs(a.sum() - 1.0) * (rho + np.abs(product).max())
    slip = 8.0 * solution.rounding
    return 2.0 * half - rho + losses + uneven, abs(half) + losses + rho, slip


def huber_hinge(solution):
    product, f, limit, slip = _parts(solution)
    y, alpha, h = solution.problem.y, solution.alpha, solution.parameters["h"]
    u, a, counted = 1.0 - y * f, np.clip(y * alpha, 0.0, limit), limit > 0
    half, losses = 0.5 * alpha @ product, limit @ np.where(u < h, np.maximum(u, 0.0) ** 2 / (2.0 * h), u - h / 2.0)
    dual = a.sum() - half - (h * a[counted] ** 2 / (2.0 * limit[counted])).sum()
    uneven = abs((y * a).sum()) * (1.0 + np.abs(f).max())
    size = losses + abs(half) + _NOTHING * limit.sum()
    return losses + half - dual + uneven, size, slip * (limit.sum() + a.sum())


def epsilon_insensitive(solution):
    product, f, limit, slip = _parts(solution)
    y, epsilon = solution.problem.y, solution.parameters["epsilon"]
    alpha = np.clip(solution.alpha, -limit, limit)
    half, losses = 0.5 * alpha @ product, limit @ np.maximum(np.abs(y - f) - epsilon, 0.0)
    tube = epsilon * np.abs(alpha).sum()
    uneven = abs(alpha.sum()) * (1.0 + np.abs(f).max())
    gap = losses + 2.0 * half - alpha @ y + tube + uneven
    size = losses + abs(half) + tube + 1e-6 * limit.sum() * np.ptp(y)
    return gap, size, slip * (limit.sum() + np.abs(alpha).sum())


def pinball(solution):
    product, f, limit, slip = _parts(solution)
    y, q = solution.problem.y, solution.parameters["quantile"]
    alpha, e = np.clip(solution.alpha, (q - 1.0) * limit, q * limit), y - f
    half, losses = 0.5 * alpha @ product, limit @ np.where(e > 0, q * e, (q - 1.0) * e)
    uneven = abs(alpha.sum()) * (1.0 + np.abs(f).max())
    size = losses + abs(half) + 1e-6 * limit.sum() * (np.ptp(y) or np.abs(y).max() or 1.0)
    # Every residual is at a kink or pays for it: ten times what rounding does to f given the coefficients, as these are
    # solved for, too.
    return losses + 2.0 * half - alpha @ y + uneven, size, 10.0 * slip * (limit.sum() + np.abs(alpha).sum())


def expectile(solution):
    product, f, limit, slip = _parts(solution)
    y, e, alpha, tau = (
        solution.problem.y,
        solution.problem.y - f,
        solution.alpha,
        getattr(solution.loss, solution.loss.level),
    )
    counted = limit > 0
    weight, mine = np.where(e > 0, tau, 1.0 - tau), np.where(alpha > 0, tau, 1.0 - tau)
    half, losses = 0.5 * alpha @ product, limit @ (weight * e**2)
    conjugate = float(np.sum(alpha[counted] ** 2 / (4.0 * limit[counted] * mine[counted])))
    uneven = abs(alpha.sum()) * (1.0 + np.abs(f).max())
    nothing = _NOTHING * limit @ y**2
    slip *= 2.0 * limit @ np.abs(e) + np.abs(alpha).sum() + limit.sum() * slip
    return losses + conjugate + 2.0 * half - alpha @ y + uneven, losses + abs(half) + nothing, slip + 0.01 * nothing


def least_squares(solution):
    product, f, limit, slip = _parts(solution)
    e, alpha = solution.problem.y - f, solution.alpha
    counted = limit > 0
    half, losses = 0.5 * alpha @ product, limit @ e**2
    dual = alpha @ solution.problem.y - half - (alpha[counted] ** 2 / (4.0 * limit[counted])).sum()
    uneven = abs(alpha.sum()) * (1.0 + np.abs(f).max())
    nothing = _NOTHING * limit @ solution.problem.y**2
    slip *= 2.0 * limit @ np.abs(e) + np.abs(alpha).sum() + limit.sum() * slip
    return losses + half - dual + uneven, losses + abs(half) + nothing, slip + 0.01 * nothing


def squared_hinge(solution):
    product, f, limit, slip = _parts(solution)
    y, alpha = solution.problem.y, solution.alpha
    xi, a, counted = np.maximum(1.0 - y * f, 0.0), np.maximum(y * alpha, 0.0), limit > 0
    half, losses = 0.5 * alpha @ product, limit @ xi**2
    dual = a.sum() - half - (a[counted] ** 2 / (4.0 * limit[counted])).sum()
    uneven = abs((y * a).sum()) * (1.0 + np.abs(f).max())
    size = losses + abs(half) + _NOTHING * limit.sum()
    return losses + half - dual + uneven, size, slip * (2.0 * limit @ xi + limit.sum() * slip + a.sum())


def elastic_hinge(solution):
    """On the columns as they are penalised: (x - centre) / scale."""
    problem = solution.problem
    lam1, lam2 = solution.parameters["lambda1"], solution.parameters["lambda2"]
    X, y, s = problem.gram.X, problem.y, problem.s
    X = X.toarray() if sparse.issparse(X) else X
    X = (X - problem.centre) / problem.scale
    beta, b = solution.coef * problem.scale, solution.b + solution.coef @ problem.centre
    margin, wall = y * (X @ beta + b), lam1 * problem.om
    a = np.clip(y * solution.alpha, 0.0, s)
    penalty = 0.5 * lam2 * beta @ beta + wall @ np.abs(beta)
    losses = s @ np.maximum(1.0 - margin, 0.0)
    c = X.T @ (a * y)
    beyond = np.maximum(np.abs(c) - wall, 0.0)
    charge = abs(y @ a) * (1.0 + np.abs(margin).max())
    if lam2 > 0.0:
        dual = a.sum() - (beyond @ beyond) / (2.0 * lam2)
    else:  # what is beyond the threshold is charged at the size of its coefficient
        reach = np.abs(beta) + 1.0 / np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
        dual, charge = a.sum(), charge + beyond @ np.where(np.abs(X).max(axis=0) > 0, reach, 0.0)
    slip = (4.0 * solution.rounding + 1e-15) * 2.0 * s.sum()
    return losses + penalty - dual + charge, losses + penalty + 1e-6 * s.sum(), slip
