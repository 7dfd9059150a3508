"""The elastic-net hinge machine stated as a convex programme, solved by Clarabel, or by HiGHS where it is linear."""

import warnings

import numpy as np
from scipy.optimize import linprog

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "tol_ktratio": 1e-11}


def objective(X, y, s, om, lambda1, lambda2, coef, b):
    """The cost of a machine."""
    hinge = np.maximum(1 - y * (X @ coef + b), 0)
    return s @ hinge + lambda2 / 2 * coef @ coef + lambda1 * om @ np.abs(coef)


def minimum(X, y, s, om, lambda1, lambda2):
    """The lowest cost."""
    return linear(X, y, s, om, lambda1) if lambda2 == 0 else quadratic(X, y, s, om, lambda1, lambda2)


def quadratic(X, y, s, om, lambda1, lambda2):
    import cvxpy as cp

    beta, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    cost = s @ xi + lambda2 / 2 * cp.sum_squares(beta) + lambda1 * om @ cp.abs(beta)
    problem = cp.Problem(cp.Minimize(cost), [cp.multiply(y, X @ beta + b) >= 1 - xi])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tolerances ask for more than is promised; the answer is compared
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    return problem.value


def linear(X, y, s, om, lambda1):
    """By HiGHS, over (beta+, beta-, b+, b-, xi)."""
    n = len(y)
    Z = X * y[:, None]
    cost = np.concatenate([lambda1 * om, lambda1 * om, [0, 0], s])
    A = np.hstack([-Z, Z, -y[:, None], y[:, None], -np.eye(n)])
    found = linprog(cost, A_ub=A, b_ub=-np.ones(n), method="highs-ds")
    return found.fun


def largest_lambda1(X, y, s, om):
    """The paper's linear programme for the start: the smallest lambda1 at which the constant machine is optimal."""
    n, p = X.shape
    up, down = s[y > 0].sum(), s[y < 0].sum()
    bounds = [(w, w) if (up > down) == (label < 0) or up == down else (0, w) for w, label in zip(s, y, strict=True)]
    Z = X * y[:, None]
    A = np.vstack([np.hstack([Z.T, -om[:, None]]), np.hstack([-Z.T, -om[:, None]])])
    found = linprog(
        np.append(np.zeros(n), 1), A_ub=A, b_ub=np.zeros(2 * p), A_eq=np.append(y, 0)[None], b_eq=[0],
        bounds=[*bounds, (0, None)], method="highs",
    )  # fmt: skip
    return found.fun
