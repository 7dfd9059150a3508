"""Weights are relative: where C is tuned, a common factor of all weights changes nothing that a user sees.

A power of two changes no digit of any weight; other factors round each weight once, by 1e-16. The chosen values are
points of a grid and must stay, and so must labels and sets. What is computed at them may differ by what an
ill-conditioned kernel matrix makes of 1e-16.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.svm import SVC, SVR

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Range
from svmpath.datasets import banana
from tests.speed import each_once, first_quick, slow_except

N = 80
X, Y = banana(N, random_state=0)
THREE = (Y > 0).astype(int) + (X[:, 0] > 0.5)
NUMBERS = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=N)
UNEVEN = np.random.default_rng(2).uniform(0.2, 3.0, size=N)
EVEN = np.ones(N)
NEW = np.random.default_rng(3).normal(size=(25, X.shape[1]))
CLOSE = {"rtol": 1e-8, "atol": 1e-8}  # 1e-16 times condition numbers of up to about 1e8
EXACT = {"rtol": 1e-13, "atol": 1e-13}
FACTORS = {
    "2^-10": (2.0**-10, EXACT),
    "2^7": (2.0**7, EXACT),
    "1e-3": (1e-3, CLOSE),
    "1e3": (1e3, CLOSE),
    "1/n": (1 / N, CLOSE),
}
COMMON = {"random_state": 0}

MODELS = {
    "default": (PathSVC(**COMMON), Y),
    "squared_hinge": (PathSVC(loss="squared_hinge", **COMMON, criterion="loo", calibration="isotonic"), Y),
    "squared_hinge_kfold": (
        PathSVC(loss="squared_hinge", **COMMON, criterion="kfold", threshold="tune", scoring="f1"),
        Y,
    ),
    "least_squares": (PathSVC(loss="least_squares", **COMMON, scale=True, class_weight="balanced"), Y),
    "least_squares_list": (PathSVC(loss="least_squares", C=[0.1, 1.0, 10.0], gamma="scale", **COMMON), Y),
    "hinge": (PathSVC(loss="hinge", C=Range(1e-2, 1e2), gamma=[0.5, 2.0], **COMMON), Y),
    "hinge_kfold": (PathSVC(loss="hinge", gamma=[0.5, 2.0], criterion="kfold", search="grid", **COMMON), Y),
    "log_loss": (PathSVC(loss="least_squares", scoring="neg_log_loss", gamma=[0.5, 2.0], search="grid", **COMMON), Y),
    "three": (PathSVC(**COMMON), THREE),
    "three_dictionary": (
        PathSVC(loss="least_squares", class_weight={0: 1.0, 1: 3.0, 2: 0.5}, calibration="temperature"),
        THREE,
    ),
    "one_se": (PathSVC(loss="least_squares", rule="one_se", gamma=[0.5, 2.0], **COMMON), Y),
    "gradient": (PathSVC(loss="least_squares", search="gradient", **COMMON), Y),
    "regression": (PathSVR(**COMMON), NUMBERS),
    "regression_scaled": (PathSVR(scale=True, criterion="kfold", **COMMON), NUMBERS),
    "epsilon": (PathSVR(loss="epsilon_insensitive", gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0], **COMMON), NUMBERS),
    "quantiles": (PathSVR(loss="pinball", quantile=[0.3, 0.8], gamma=[0.5, 2.0], **COMMON), NUMBERS),
    "elastic": (ElasticNetSVC(lambda2=[0.0, 1.0], threshold="tune"), Y),
    "elastic_tune": (ElasticNetSVC(), Y),
    "elastic_list": (ElasticNetSVC(lambda1=[0.1, 1.0], lambda2=[0.1, 10.0], criterion="loo"), Y),
    "elastic_three": (ElasticNetSVC(lambda1=[0.5, 2.0, 8.0], lambda2=0.0, class_weight="balanced"), THREE),
}
QUICK = ("default", "least_squares", "three", "regression", "elastic")
CHOSEN = ("C_", "gamma_", "epsilon_", "lambda1_", "lambda2_", "threshold_")


def same_choice(model, other, close):
    """Everything that was chosen, and the errors that were estimated."""
    for name in ("loss_", "criterion_", "error_criterion_"):
        assert getattr(model, name, None) == getattr(other, name, None), name
    for name in CHOSEN:
        if getattr(model, name, None) is not None:
            np.testing.assert_allclose(getattr(model, name), getattr(other, name), **close, err_msg=name)
    np.testing.assert_allclose(model.held_out_error(), other.held_out_error(), **close)
    np.testing.assert_allclose(model.held_out_interval(), other.held_out_interval(), **close)
    np.testing.assert_allclose(model.curve_.scores, other.curve_.scores, **close)
    np.testing.assert_allclose(model.held_out_decisions(), other.held_out_decisions(), **close)
    np.testing.assert_allclose(model.held_out_table()["weight"], other.held_out_table()["weight"], **close)


def same_answers(model, other, close):
    """Whatever is said of new rows."""
    if isinstance(model, PathSVR):
        np.testing.assert_allclose(model.predict(NEW), other.predict(NEW), **close)
        np.testing.assert_allclose(model.predict_interval(NEW), other.predict_interval(NEW), **close)
        return
    np.testing.assert_allclose(model.decision_function(NEW), other.decision_function(NEW), **close)
    assert model.predict(NEW).tolist() == other.predict(NEW).tolist()
    np.testing.assert_allclose(model.predict_proba(NEW), other.predict_proba(NEW), **close)
    np.testing.assert_array_equal(model.predict_set(NEW, 0.8), other.predict_set(NEW, 0.8))
    for name in ("mean_predicted", "fraction_positive", "counts"):
        mine, theirs = (getattr(each.calibration_curve(), name) for each in (model, other))
        np.testing.assert_allclose(mine, theirs, **close)


def same_honest(model, other):
    for method in ("bootstrap", "parts"):
        if model.can_be_corrected():
            mine, theirs = (each.nested_error(method) for each in (model, other))
            assert mine.value == pytest.approx(theirs.value, abs=1e-9)
            assert mine.interval == pytest.approx(theirs.interval, abs=1e-9)


@each_once
@pytest.mark.parametrize("factor", slow_except(FACTORS, ["1/n", "2^-10"]))
@pytest.mark.parametrize("weight", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("name", slow_except(MODELS, QUICK))
@pytest.mark.filterwarnings("ignore::svmpath.EdgeWarning")
@pytest.mark.filterwarnings("ignore:The machines of . of 3 classes")
def test_a_common_factor_changes_nothing(name, weight, factor):
    (model, y), (factor, close) = MODELS[name], FACTORS[factor]
    one, other = (clone(model).fit(X, y, sample_weight=each) for each in (weight, factor * weight))
    same_choice(one, other, close)
    same_answers(one, other, close)
    if model.get_params().get("scoring") is None and model.get_params().get("threshold") != "tune":
        same_honest(one, other)


@pytest.mark.parametrize("name", slow_except(MODELS, QUICK))
@pytest.mark.filterwarnings("ignore::svmpath.EdgeWarning")
@pytest.mark.filterwarnings("ignore:The machines of . of 3 classes")
def test_equal_weights_are_none(name):
    model, y = MODELS[name]
    none, equal = clone(model).fit(X, y), clone(model).fit(X, y, sample_weight=np.full(N, 0.3))
    close = CLOSE if model.get_params().get("scale") else EXACT  # a scaler adds up weights in another order
    same_choice(none, equal, close)
    same_answers(none, equal, close)


@first_quick(1)
@pytest.mark.parametrize("make", [PathSVC, PathSVR])
def test_nested_errors(make):
    y = Y if make is PathSVC else NUMBERS
    model = make(loss="least_squares", gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0], search="grid", random_state=0)
    one, other = (clone(model).fit(X, y, sample_weight=each).nested_error() for each in (UNEVEN, UNEVEN / N))
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.interval == pytest.approx(other.interval, rel=1e-9)


# --- what is seen of rows without weight, and of a C that is given ----------------------------------------------------


ABSENT = {
    "least_squares": (PathSVC(loss="least_squares", search="grid", scale=True, class_weight="balanced"), Y),
    "hinge": (PathSVC(loss="hinge", gamma="scale", criterion="loo", search="grid"), Y),
    "three": (PathSVC(loss="least_squares", gamma=[0.5, 2.0], search="grid", calibration="isotonic"), THREE),
    "regression": (PathSVR(loss="least_squares", gamma=[0.5, 2.0], search="grid"), NUMBERS),
    "elastic": (ElasticNetSVC(lambda2=[0.0, 1.0], criterion="loo"), Y),
}


@pytest.mark.parametrize("name", slow_except(ABSENT, ["least_squares", "regression", "elastic"]))
def test_rows_of_weight_zero_are_rows_left_out(name):
    model, y = ABSENT[name]
    weight = UNEVEN * (np.arange(N) % 4 > 0)
    kept, far = weight > 0, X.copy()
    far[~kept] *= 5.0  # so that they would be seen in the scale of columns
    one = clone(model).fit(far, y, sample_weight=weight)
    other = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept])
    for attribute in ("C_", "gamma_", "lambda1_", "lambda2_"):
        if hasattr(one, attribute):
            assert getattr(one, attribute) == pytest.approx(getattr(other, attribute), rel=1e-10)
    assert one.held_out_error() == pytest.approx(other.held_out_error(), rel=1e-10)
    if name == "regression":
        np.testing.assert_allclose(one.predict_interval(NEW), other.predict_interval(NEW), **CLOSE)
        return
    np.testing.assert_allclose(one.decision_function(NEW), other.decision_function(NEW), **CLOSE)
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), **CLOSE)
    if name in ("least_squares", "three"):  # the sets of others come from folds, which are drawn from all rows
        np.testing.assert_array_equal(one.predict_set(NEW, 0.8), other.predict_set(NEW, 0.8))


@first_quick(1)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge"])
def test_weights_multiply_a_C_that_is_given(loss):
    heavy = PathSVC(loss=loss, C=2.0, gamma="scale").fit(X, Y, sample_weight=UNEVEN)
    light = PathSVC(loss=loss, C=2e3, gamma="scale").fit(X, Y, sample_weight=1e-3 * UNEVEN)
    assert heavy.gamma_ == pytest.approx(light.gamma_, rel=1e-13)
    same_answers(heavy, light, CLOSE)  # one row counts as much beside either
    other = PathSVC(loss=loss, C=2.0, gamma="scale").fit(X, Y, sample_weight=1e-3 * UNEVEN)
    assert np.abs(other.decision_function(NEW) - heavy.decision_function(NEW)).max() > 0.1


def test_weights_stand_against_a_penalty_that_is_given():
    heavy = ElasticNetSVC(lambda1=2.0, lambda2=1.0).fit(X, Y, sample_weight=UNEVEN)
    light = ElasticNetSVC(lambda1=2e-3, lambda2=1e-3).fit(X, Y, sample_weight=1e-3 * UNEVEN)
    same_answers(heavy, light, CLOSE)
    other = ElasticNetSVC(lambda1="tune", lambda2=1.0).fit(X, Y, sample_weight=1e3 * UNEVEN)
    np.testing.assert_array_equal(other.path_.problem.s, 1e3 * UNEVEN)


def test_the_bound_of_a_row_is_C_times_its_weight_over_the_mean():
    relative = UNEVEN / UNEVEN.mean()
    model = PathSVC(loss="hinge", gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0]).fit(X, Y, sample_weight=UNEVEN)
    same = SVC(C=model.C_, gamma=model.gamma_, tol=1e-9).fit(X, Y, sample_weight=relative)
    np.testing.assert_allclose(model.decision_function(NEW), same.decision_function(NEW), atol=1e-6)
    model = PathSVR(loss="epsilon_insensitive", gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0], epsilon=0.1)
    model.fit(X, NUMBERS, sample_weight=UNEVEN)
    same = SVR(C=model.C_, gamma=model.gamma_, epsilon=0.1, tol=1e-9).fit(X, NUMBERS, sample_weight=relative)
    np.testing.assert_allclose(model.predict(NEW), same.predict(NEW), atol=1e-4)  # LIBSVM ends there


def test_class_weights_are_part_of_the_mean():
    model = PathSVC(loss="least_squares", class_weight={-1: 1.0, 1: 5.0}, random_state=0)
    s = model.fit(X, Y, sample_weight=UNEVEN).path_.problem.s
    product = UNEVEN * np.where(Y > 0, 5.0, 1.0)
    np.testing.assert_allclose(s, product / product.mean(), rtol=1e-14)
    again = clone(model).set_params(class_weight={-1: 0.2, 1: 1.0}).fit(X, Y, sample_weight=UNEVEN)
    assert again.C_ == model.C_


def test_balanced_classes_have_equal_sums_of_weights():
    weight = np.where(Y > 0, 3.0, 1.0) * UNEVEN
    s = PathSVC(loss="least_squares", class_weight="balanced").fit(X, Y, sample_weight=weight).path_.problem.s
    assert s[Y > 0].sum() == pytest.approx(s[Y < 0].sum(), rel=1e-12)  # SVC counts rows, whatever their weights


# --- as users meet it -------------------------------------------------------------------------------------------------


def test_boosting():
    boosted = AdaBoostClassifier(PathSVC(loss="least_squares", random_state=0), n_estimators=3, random_state=0).fit(
        X, Y
    )
    alone = PathSVC(loss="least_squares", random_state=0).fit(X, Y)
    first = boosted.estimators_[0]  # whose weights are all 1/n
    assert (first.C_, first.gamma_) == (alone.C_, alone.gamma_)
    np.testing.assert_allclose(first.predict_proba(NEW), alone.predict_proba(NEW), rtol=1e-12)
    assert boosted.score(X, Y) >= 0.9
