"""The named hard cases. Each returns (X, y, s): data, labels -1/+1, weights."""

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def _plain(n=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, np.ones(n)


@case
def plain():
    return _plain()


@case
def duplicates():
    X, y, _ = _plain()
    return np.vstack([X, X[:10], X[:5]]), np.concatenate([y, y[:10], y[:5]]), np.ones(45)


@case
def contradictory_duplicates():
    X, y, _ = _plain()
    return np.vstack([X, X[:10]]), np.concatenate([y, -y[:10]]), np.ones(40)


@case
def few_distinct_rows():
    """Categorical columns, standardised: most rows repeat, some with both labels, and their weights differ."""
    rng = np.random.default_rng(12)
    X = rng.integers(3, size=(60, 2)) * np.array([0.7312, 1.9])
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0.7, 1.0, -1.0)
    return X, y, rng.choice([0.0, 0.5, 1.0, 1.0, 2.0], size=60)


@case
def ties_on_a_grid():
    X = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    return X, np.where((X[:, 0] + X[:, 1]) % 3 == 0, 1.0, -1.0), np.ones(25)


@case
def unbalanced():
    X, y, s = _plain(40)
    y[:] = -1.0
    y[:2] = 1.0
    return X, y, s


@case
def one_sample_per_class():
    return np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([-1.0, 1.0]), np.ones(2)


@case
def constant_columns():
    X, y, s = _plain()
    X[:, 1] = 7.0
    return X, y, s


@case
def all_rows_equal():
    return np.ones((12, 2)), np.repeat([1.0, -1.0], 6), np.ones(12)


@case
def zero_kernel():
    """What standardising makes of constant columns: the linear kernel is zero."""
    _, y, s = _plain()
    return np.zeros((30, 2)), y, s


@case
def more_features_than_samples():
    return _plain(15, 200)


@case
def many_samples_one_feature():
    return _plain(150, 1)


@case
def far_from_the_origin():
    X, y, s = _plain()
    return X + 1e5, y, s


@case
def weights_with_zeros():
    X, y, _ = _plain(36)
    s = np.random.default_rng(1).exponential(size=36)
    s[::5] = 0.0
    return X, y, s


@case
def wild_weights():
    X, y, _ = _plain(30)
    return X, y, 10.0 ** np.linspace(-4, 3, 30)
