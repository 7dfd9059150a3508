"""Wang's s-path: machines under a bound on their size, against convex programmes."""

import numpy as np
import pytest

import svmpath
from svmpath.paths import SPath
from tests.speed import first_quick


def data(n=60, seed=0):
    """The example of the paper's section 4.3."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    sigma = np.where(np.eye(5) > 0, 1.0, 0.8)
    return rng.normal(size=(n, 5)) @ np.linalg.cholesky(sigma).T + y[:, None], y


def bounded(X, y, lambda2, s):
    """The lowest cost with a size of at most s."""
    import cvxpy as cp

    beta, b, xi = cp.Variable(5), cp.Variable(), cp.Variable(len(y), nonneg=True)
    cost = cp.sum(xi) + lambda2 / 2 * cp.sum_squares(beta)
    problem = cp.Problem(cp.Minimize(cost), [cp.multiply(y, X @ beta + b) >= 1 - xi, cp.norm1(beta) <= s])
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@first_quick(1)
@pytest.mark.parametrize("lambda2", [1.0, 1e-3, 0.0])
def test_machines_are_the_best_of_their_size(lambda2):
    X, y = data()
    by_size = SPath(svmpath.trace_elastic(X, y, lambda2=lambda2))
    assert np.all(np.diff(by_size.sizes) >= 0)
    for s in np.linspace(0.05, 0.95, 7) * by_size.sizes[-1]:
        solution = by_size(s)
        assert solution.norm1 == pytest.approx(s, rel=1e-8)
        cost = np.maximum(1 - y * solution.fitted, 0).sum() + lambda2 / 2 * solution.coef @ solution.coef
        assert cost == pytest.approx(bounded(X, y, lambda2, s), rel=1e-6)
        assert solution.gap < 1e-8


def test_nearly_all_of_a_path_with_small_lambda2_is_jumps():
    X, y = data(100)
    path = svmpath.trace_elastic(X, y, lambda2=1e-3)
    jumps = SPath(path).jumps()
    hidden = sum(jump.first - jump.last for jump in jumps)
    assert hidden > 0.99 * (path.span[0] - path.span[1])
    assert max(jump.change for jump in jumps) > 0.5
    for jump in jumps[:3]:
        middle = path((jump.first + jump.last) / 2)
        assert middle.norm1 == pytest.approx(jump.s, rel=1e-8)


def test_other_paths_and_sizes_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="needs a path over lambda1"):
        SPath(svmpath.trace_elastic(X, y, over="ray"))
    with pytest.raises(ValueError, match="outside"):
        SPath(svmpath.trace_elastic(X, y))(1e9)
