"""``coef_`` and ``intercept_`` are the linear machine that decides, also in low rank."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from svmpath import PathSVC, PathSVR
from svmpath.gram import Nystroem
from tests.speed import first_quick

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 60)) * rng.uniform(0.5, 3.0, size=60) + 1.0
LABELS = (X[:, :10].sum(axis=1) + 2.0 * rng.normal(size=150) > 10.0).astype(int)
RANKS = {
    "full": None,
    "rpcholesky": 20,
    "uniform": Nystroem(20, "uniform"),
    "truncated": Nystroem(30, "uniform", truncate=15),
    "single": Nystroem(20, "uniform", single=True),
}


def assert_linear(model, X, f):
    expected = np.asarray(X @ model.coef_.T) + model.intercept_
    np.testing.assert_allclose(np.squeeze(expected), f, rtol=0, atol=1e-8 * np.abs(f).max())


@first_quick(3)
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("rank", RANKS)
def test_labels_classes_and_numbers(rank, scale):
    options = {"kernel": "linear", "rank": RANKS[rank], "scale": scale, "random_state": 0}
    for y in (LABELS, np.digitize(X[:, 0], [0.5, 1.5])):
        model = PathSVC(**options).fit(X, y)
        assert_linear(model, X, model.decision_function(X))
        assert_linear(pickle.loads(pickle.dumps(model)), X, model.decision_function(X))
    model = PathSVR(**options).fit(X, X[:, :10].sum(axis=1))
    assert_linear(model, X, model.predict(X))


@pytest.mark.parametrize("rank", ["full", "rpcholesky", "uniform"])
def test_sparse_rows(rank):
    few = sparse.csr_matrix(np.where(rng.random(X.shape) < 0.7, 0.0, X))
    model = PathSVC(kernel="linear", rank=RANKS[rank], random_state=0).fit(few, LABELS)
    assert_linear(model, few, model.decision_function(few))
