"""Columns on one scale: ``scale=True``, and the warning where they are not."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC, PathSVR, WeakModelWarning
from svmpath.cli.saved_model import is_known
from svmpath.estimators.scaling import deviations, two_valued
from svmpath.kernels import ARD, RBF
from tests import reference
from tests.rounding import assert_same

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 4))
X = Z * [1.0, 1e3, 1e-2, 1.0] + [5.0, 2e4, 0.0, 1.0]  # three units, and offsets
Y = Z[:, 0] + Z[:, 1] - Z[:, 2] + 0.5 * RNG.normal(size=60) > 0
THREE = np.digitize(Z[:, 0] + Z[:, 2], [-0.5, 0.5])
T = Z[:, 0] - Z[:, 2] + 0.1 * RNG.normal(size=60)
NEW = RNG.normal(size=(20, 4)) * [1.0, 1e3, 1e-2, 1.0] + [5.0, 2e4, 0.0, 1.0]
WEIGHT = RNG.uniform(0.2, 3.0, size=60)
FEW = {"gamma": [0.05, 0.2], "C": [0.1, 1.0, 10.0]}


def piped(model, **options):
    return Pipeline([("scaler", StandardScaler(**options)), ("model", model)])


# --- scale=True ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (PathSVC(**FEW), Y),
        (PathSVC(**FEW, loss="least_squares"), THREE),
        (PathSVR(**FEW), T),
        (PathSVC(C=[0.1, 1.0], kernel="linear"), Y),
        (PathSVC(**FEW, rank=10, random_state=0), Y),
    ],
)
def test_the_same_as_a_pipeline(model, target):
    plain, scaled = piped(model).fit(X, target), clone(model).set_params(scale=True).fit(X, target)
    assert (scaled.C_, scaled.gamma_) == (plain[-1].C_, plain[-1].gamma_)
    assert scaled.loo_error() == pytest.approx(plain[-1].loo_error())
    if target is T:
        assert_same(scaled.predict(NEW), plain.predict(NEW))
    else:
        np.testing.assert_array_equal(scaled.predict(NEW), plain.predict(NEW))
        assert_same(scaled.decision_function(NEW), plain.decision_function(NEW))
    np.testing.assert_allclose(scaled.scaler_.mean_, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scaled.scaler_.scale_, X.std(axis=0))


@pytest.mark.parametrize("target", [Y, THREE])
def test_weights_of_a_linear_machine_are_in_the_units_of_the_columns(target):
    model = PathSVC(kernel="linear", C=[1.0], scale=True).fit(X, target)
    assert model.coef_.shape == (len(model.intercept_), 4)
    f = model.decision_function(NEW)
    np.testing.assert_allclose((NEW @ model.coef_.T + model.intercept_).reshape(f.shape), f, atol=1e-11)
    # In the scaled columns the same machine: dual coefficients and rows say so.
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), model.dual_coef_ @ rows[model.support_], atol=1e-11)


def test_weights_of_linear_regression_are_in_the_units_of_the_columns():
    model = PathSVR(kernel="linear", scale=True).fit(X, T)
    np.testing.assert_allclose(NEW @ model.coef_[0] + model.intercept_[0], model.predict(NEW), atol=1e-11)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_offset_may_be_moved_by_hand(kernel):
    model = PathSVC(kernel=kernel, gamma=0.2, C=[1.0], scale=True).fit(X, Y)
    f = model.decision_function(NEW)
    model.intercept_ = model.intercept_ + 0.5
    np.testing.assert_allclose(model.decision_function(NEW), f + 0.5)


def test_a_kernel_machine_is_an_expansion_in_the_scaled_columns():
    model = PathSVC(**FEW, scale=True).fit(X, Y)
    np.testing.assert_allclose(model.support_vectors_, X[model.support_], rtol=1e-12, atol=1e-12)
    rows = (X - X.mean(axis=0)) / X.std(axis=0), (NEW - X.mean(axis=0)) / X.std(axis=0)
    K = reference.rbf(rows[1], rows[0][model.support_], model.gamma_)
    np.testing.assert_allclose(model.decision_function(NEW), K @ model.dual_coef_[0] + model.intercept_[0], atol=1e-9)
    path = model.path_(model.C_)
    np.testing.assert_allclose(path(model.scaler_.transform(NEW)), model.decision_function(NEW), atol=1e-9)


def test_units_do_not_matter():
    model, other = (PathSVC(**FEW, scale=True).fit(data, Y) for data in (Z, X))
    assert (model.C_, model.gamma_) == (other.C_, other.gamma_)
    np.testing.assert_allclose(model.decision_function(Z), other.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_columns_are_not_centred(kind, kernel):
    rows = np.where(Z > 0, X, 0.0)
    options = {**FEW, "kernel": kernel}
    model = PathSVC(**options, scale=True).fit(kind(rows), Y)
    plain = piped(PathSVC(**options), with_mean=False).fit(rows, Y)
    assert model.C_ == plain[-1].C_
    np.testing.assert_allclose(model.decision_function(kind(rows)), plain.decision_function(rows), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(rows), plain.decision_function(rows), atol=1e-9)
    assert issparse(model.path_.gram.X)
    assert issparse(model.support_vectors_)
    np.testing.assert_allclose(model.support_vectors_.toarray(), rows[model.support_])
    if kernel == "linear":
        np.testing.assert_allclose(
            rows @ model.coef_[0] + model.intercept_[0], model.decision_function(rows), atol=1e-9
        )


def test_sparse_rows_for_a_machine_of_dense_ones():
    model = PathSVC(**FEW, scale=True).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(csr_matrix(NEW)), model.decision_function(NEW))


def test_weights_are_those_of_the_samples_not_of_the_classes():
    model = PathSVC(**FEW, scale=True, class_weight={False: 1.0, True: 5.0}).fit(X, Y, sample_weight=WEIGHT)
    mean = np.average(X, axis=0, weights=WEIGHT)
    np.testing.assert_allclose(model.scaler_.mean_, mean)
    np.testing.assert_allclose(model.scaler_.var_, np.average((X - mean) ** 2, axis=0, weights=WEIGHT))
    plain = piped(PathSVC(**FEW, class_weight={False: 1.0, True: 5.0}))
    plain.fit(X, Y, model__sample_weight=WEIGHT, scaler__sample_weight=WEIGHT)
    np.testing.assert_allclose(model.decision_function(NEW), plain.decision_function(NEW), rtol=1e-9)


def test_rows_of_weight_zero_take_no_part():
    far = np.vstack([X, [[1e6, 1e12, 1e6, 1e6]]])
    model = PathSVR(**FEW, scale=True).fit(far, np.r_[T, 0.0], sample_weight=np.r_[np.ones(60), 0.0])
    np.testing.assert_allclose(model.predict(NEW), PathSVR(**FEW, scale=True).fit(X, T).predict(NEW), rtol=1e-6)


def test_constant_columns_keep_their_scale():
    model = PathSVC(kernel="linear", C=[1.0], scale=True).fit(np.c_[X, np.full(60, 7.0)], Y)
    assert model.scaler_.scale_[4] == 1.0
    assert model.coef_[0, 4] == 0.0


def test_feature_names_and_data_frames_as_output():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    expected = PathSVC(**FEW, scale=True).fit(X, Y)
    with config_context(transform_output="pandas"):
        model = PathSVC(**FEW, scale=True).fit(frame, Y)
        np.testing.assert_allclose(model.decision_function(frame), expected.decision_function(X), rtol=1e-12)
        assert isinstance(model.support_vectors_, np.ndarray)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("kind", [PathSVC, PathSVR])
def test_parameter_is_kept_and_cloned(kind):
    assert kind().get_params()["scale"] is False
    assert clone(kind(scale=True)).get_params()["scale"] is True


def test_a_refit_forgets_the_scaler():
    model = PathSVC(kernel="linear", C=[1.0], scale=True).fit(X, Y)
    model.set_params(scale=False).fit(Z, Y)
    assert model.scaler_ is None
    np.testing.assert_allclose(Z @ model.coef_[0] + model.intercept_[0], model.decision_function(Z), atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_models_are_pickled_and_saved(kernel):
    model = PathSVC(kernel=kernel, gamma=0.2, C=[1.0], scale=True).fit(X, Y)
    f = model.decision_function(NEW)
    assert_same(pickle.loads(pickle.dumps(model)).decision_function(NEW), f)
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert all(map(is_known, types))
    assert_same(skops.io.loads(data, trusted=types).decision_function(NEW), f)


def test_a_model_of_an_earlier_version_is_refused_by_name():
    state = PathSVC(**FEW).fit(Z, THREE).__getstate__()
    del state["_held_out"]
    with pytest.raises(ValueError, match=r"PathSVC was saved by svmpath 0\.1, .*: fit it again, or load it with"):
        PathSVC().__setstate__(state)


def test_refusals():
    with pytest.raises(ValueError, match=r"precomputed.* scale=False"):
        PathSVC(kernel="precomputed", scale=True).fit(Z @ Z.T, Y)
    with pytest.raises(ValueError, match="scale must be True or False, got 'yes'"):
        PathSVC(scale="yes").fit(Z, Y)
    with pytest.raises(ValueError, match="NaN"):
        PathSVC(scale=True).fit(np.where(Z > 2, np.nan, Z), Y)


# --- the warning -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", RBF(1.0) + RBF(0.1)])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_uneven_columns_are_named(kernel, kind):
    with pytest.warns(UserWarning, match="scale=True") as caught:
        PathSVR(kernel=kernel, gamma=None if not isinstance(kernel, str) else 1.0, C=[1.0]).fit(kind(X), T)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    d = X.std(axis=0)
    assert re.match(f"Column 1 has standard deviation {d[1]:.3g} and column 2 only {d[2]:.3g},", text)


def test_uneven_columns_are_called_by_name():
    frame = pd.DataFrame(X, columns=["age", "income", "share", "height"])
    with pytest.warns(UserWarning, match=r"Column 'income' has .* and column 'share' only"):
        PathSVC(gamma=1.0, C=[1.0]).fit(frame, Y)


@pytest.mark.slow
def test_no_warning():
    rare = np.c_[Z, np.arange(60) < 1, 1e4 * (np.arange(60) < 20)]  # indicators: two values each
    K = X @ X.T / 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakModelWarning)  # of how little some of these find
        PathSVC(gamma=1.0, C=[1.0]).fit(Z * [1.0, 20.0, 1.0, 1.0], Y)
        PathSVC(gamma=1.0, C=[1.0]).fit(rare, Y)
        PathSVC(gamma=1.0, C=[1.0]).fit(csr_matrix(rare), Y)
        PathSVC(gamma=1.0, C=[1.0]).fit(np.c_[Z, np.full(60, 1e9)], Y)
        PathSVC(kernel="precomputed", C=[1.0]).fit(K, Y)
        PathSVC(kernel=ARD((1.0, 1e-6, 1e4, 1.0)), gamma=None, C=[1.0]).fit(X, Y)  # it has widths of its own
        PathSVC(gamma="ard", C=[0.5, 2.0], random_state=0).fit(X[:20], Y[:20])  # it finds them
        PathSVC(kernel=gp.RBF([1.0, 1e3, 1e-2, 1.0]), gamma=None, C=[1.0]).fit(X, Y)


def test_rows_of_weight_zero_cause_no_warning():
    outlier = np.vstack([Z, [[1e6, 0.0, 0.0, 0.0]]])
    PathSVC(gamma=1.0, C=[1.0]).fit(outlier, np.r_[Y, True], sample_weight=np.r_[np.ones(60), 0.0])


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e9])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_deviations_far_from_zero(kind, offset):
    data = offset + np.round(RNG.normal(size=(2000, 3)) * 2**12) / 2**12  # the sum has no rounding
    data[7, 0] += 1e3
    np.testing.assert_allclose(deviations(kind(data)), (data - offset).std(axis=0), rtol=1e-12)


def test_deviations_of_columns_with_zeros():
    data = np.where(RNG.random((500, 4)) < 0.3, 1e6 + RNG.normal(size=(500, 4)), 0.0)
    np.testing.assert_allclose(deviations(csr_matrix(data)), data.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(deviations(csr_array(data)), data.std(axis=0), rtol=1e-12)


def test_rounding_is_no_deviation():
    data = np.c_[Z[:4, 0], [0.3, 0.1 + 0.2, 0.3, 0.3]]
    assert deviations(data)[1] == deviations(csr_matrix(data))[1] == 0.0


def test_huge_numbers_have_a_deviation():
    assert deviations(np.array([[1e200, 0.0], [0.0, 1.0]])).tolist() == [np.inf, 0.5]


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_two_valued_columns(kind):
    columns = np.array([[0, 0, 3, -1, 7, 0], [1, 0, 4, 0, 7, 2], [0, 0, 3, 1, 7, 1], [0, 0, 4, 1, 7, 1]], dtype=float)
    assert two_valued(kind(columns)).tolist() == [True, True, True, False, True, False]
