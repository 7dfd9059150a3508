"""Kernel columns as features."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmpath import ElasticNetSVC, KernelDictionary


@parametrize_with_checks([KernelDictionary()])
def test_estimator_check(estimator, check):
    check(estimator)


def test_columns_are_kernel_values():
    X = np.random.default_rng(0).normal(size=(30, 4))
    columns = KernelDictionary(gamma=[0.1, 2.0]).fit(X).transform(X[:5])
    np.testing.assert_allclose(columns, np.hstack([rbf_kernel(X[:5], X, gamma) for gamma in (0.1, 2.0)]), atol=1e-12)
    held = KernelDictionary(gamma=[0.1, 2.0]).fit(sparse.csr_matrix(X)).transform(sparse.csr_matrix(X[:5]))
    np.testing.assert_allclose(held, columns, atol=1e-10)
    few = KernelDictionary(gamma=1.0, max_centres=7, random_state=0).fit(X)
    assert few.transform(X).shape == (30, 7)
    assert len(few.get_feature_names_out()) == 7


def test_a_sparse_kernel_machine_of_several_widths():
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = make_pipeline(KernelDictionary(), ElasticNetSVC(lambda2=[0.0, 0.1], cv=3, standardize=False)).fit(X, y)
    assert 0 < np.count_nonzero(model[-1].coef_) < 120
    assert model[-1].held_out_error() < 0.12  # a linear machine errs on 0.13


@pytest.mark.parametrize(
    ("options", "message"),
    [({"gamma": "scale"}, "gamma must be"), ({"gamma": []}, "empty list"), ({"max_centres": 0}, "max_centres")],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        KernelDictionary(**options).fit(np.ones((3, 2)))


def test_a_kernel_without_gamma_is_refused():
    with pytest.raises(ValueError, match="gamma"):
        KernelDictionary(kernel="linear").fit(np.eye(4))
