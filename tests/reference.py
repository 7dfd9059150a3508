"""Slow twins: the formulas written out on whole matrices, with no code of the package."""

import warnings

import numpy as np


def bordered(K, s, C):
    """The (n+1) x (n+1) system of weighted least squares with an offset; all weights positive."""
    n = len(K)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = K + np.diag(0.5 / (C * s))
    M[n, :n] = M[:n, n] = 1.0
    return M


def fit(K, y, s, C):
    """alpha and b; samples of weight zero are left out of the system."""
    rows = np.flatnonzero(s > 0)
    M = bordered(K[np.ix_(rows, rows)], s[rows], C)
    solution = np.linalg.solve(M, np.append(y[rows], 0.0))
    alpha = np.zeros(len(y))
    alpha[rows] = solution[:-1]
    return alpha, solution[-1]


def held_out(K, y, s, C, train, test):
    """Decision values of the test rows by a plain refit on the train rows."""
    weights = np.zeros(len(y))
    weights[train] = s[train]
    alpha, b = fit(K, y, weights, C)
    return K[test] @ alpha + b


def leave_one_out(K, y, s, C):
    """Decision value of each row by a plain refit on the others."""
    n = len(y)
    every = np.arange(n)
    return np.array([held_out(K, y, s, C, np.delete(every, i), [i])[0] for i in range(n)])


def rbf(X, Z, gamma):
    """Kernel values entry by entry."""
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


class NoReference(Exception):
    """The slow twin itself failed: nothing can be compared."""


def squared_hinge(K, y, s, C, E=None):
    """alpha, b and the side E of each row, from dual systems on the whole matrix.

    On E (y f < 1) the machine is the least squares machine of the rows E; E is repaired until it is its own. Where that
    goes round in circles, an interior point solver gives the sides to start from.
    """
    E = s > 0 if E is None else E
    for _ in range(60):
        alpha, b = fit(K, y, np.where(E, s, 0.0), C)
        new = (y * (K @ alpha + b) < 1.0) & (s > 0)
        if np.array_equal(new, E):
            return alpha, b, E
        E = new
    alpha = squared_hinge_qp(K, y, s, C)
    E = y * alpha > 1e-7 * np.abs(alpha).max()
    for _ in range(60):
        alpha, b = fit(K, y, np.where(E, s, 0.0), C)
        f = K @ alpha + b
        # One row at a time, the worst first: slow, but it does not run in circles.
        wrong = np.where(E, y * f - 1.0, 1.0 - y * f)
        wrong[s == 0] = -1.0
        if wrong.max() <= 1e-11:
            return alpha, b, E
        E = E.copy()
        E[np.argmax(wrong)] ^= True
    raise NoReference("the reference did not settle")


def squared_hinge_qp(K, y, s, C):
    """Signed dual coefficients by Clarabel; all weights positive or zero."""
    import cvxpy as cp

    rows = np.flatnonzero(s > 0)
    H = np.outer(y[rows], y[rows]) * K[np.ix_(rows, rows)] + np.diag(0.5 / (C * s[rows]))
    L = np.linalg.cholesky(H + 1e-12 * np.trace(H) / len(H) * np.eye(len(H)))
    a = cp.Variable(len(rows), nonneg=True)
    objective = 0.5 * cp.sum_squares(L.T @ a) - cp.sum(a)
    options = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate answer is only where the sides are repaired from
            cp.Problem(cp.Minimize(objective), [y[rows] @ a == 0]).solve(solver=cp.CLARABEL, **options)
    except cp.error.SolverError as failure:
        raise NoReference(str(failure)) from failure
    alpha = np.zeros(len(y))
    alpha[rows] = y[rows] * a.value
    return alpha
