"""The machines with an elbow stated as convex programmes and solved by an interior point method (Clarabel)."""

import warnings

import numpy as np

TIGHT = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "tol_ktratio": 1e-12}


def root(K):
    """Z with K = Z Z'."""
    values, Q = np.linalg.eigh(K)
    kept = values > 1e-15 * values[-1]
    return Q[:, kept] * np.sqrt(values[kept])


def solve(objective, constraints):
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tolerances ask for more than is promised; the answer is compared
        problem = cp.Problem(cp.Minimize(objective), constraints)
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    return problem


def hinge(K, y, s, C):
    """Decision values of the rows, and the primal objective."""
    import cvxpy as cp

    Z = root(K)
    w, b, xi = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    f = Z @ w + b
    problem = solve(C * s @ xi + 0.5 * cp.sum_squares(w), [cp.multiply(y, f) >= 1 - xi])
    return f.value, problem.value


def epsilon_insensitive(K, y, s, C, epsilon):
    """Decision values of the rows, and the primal objective."""
    import cvxpy as cp

    Z = root(K)
    w, b, xi = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    f = Z @ w + b
    problem = solve(C * s @ xi + 0.5 * cp.sum_squares(w), [y - f <= epsilon + xi, f - y <= epsilon + xi])
    return f.value, problem.value


def nu(K, y, s, nu):
    """Decision values of the rows over rho."""
    import cvxpy as cp

    Z = root(K)
    w, b, rho, xi = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(), cp.Variable(len(y), nonneg=True)
    f = Z @ w + b
    objective = 0.5 * cp.sum_squares(w) - nu * s.sum() * rho + s @ xi
    solve(objective, [cp.multiply(y, f) >= rho - xi])
    return f.value / rho.value


def one_class(K, s, nu):
    """Decision values of the rows, and the primal objective."""
    import cvxpy as cp

    Z = root(K)
    w, rho, xi = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(len(s), nonneg=True)
    f = Z @ w - rho
    problem = solve(0.5 * cp.sum_squares(w) - rho + (s / (nu * s.sum())) @ xi, [f >= -xi])
    return f.value, problem.value


def hinge_objective(K, y, s, C, alpha, b):
    """The primal objective of a machine."""
    f = K @ alpha + b
    return C * s @ np.maximum(1 - y * f, 0) + 0.5 * alpha @ K @ alpha
