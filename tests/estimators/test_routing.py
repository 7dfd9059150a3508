"""Groups and weights reach ``fit`` through pipelines and searches, by scikit-learn's metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_moons
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmpath import ElasticNetSVC, PathSVC, PathSVR
from tests.rounding import assert_same
from tests.speed import each_once, first_quick

X, Y = make_moons(60, noise=0.3, random_state=0)
S = np.random.default_rng(1).integers(1, 4, size=60).astype(float)
GROUPS = np.arange(60) % 6
MODELS = [
    PathSVC(loss="least_squares", gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0], cv=3, random_state=0),
    PathSVR(gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0], cv=3, random_state=0),
    ElasticNetSVC(lambda1=[0.5, 2.0], lambda2=[0.1, 10.0], cv=3),
]


@pytest.fixture(autouse=True)
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def requesting(model):
    return sklearn.base.clone(model).set_fit_request(sample_weight=True, groups=True)


@first_quick(1)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_through_a_pipeline(model):
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), requesting(model))
    pipeline.fit(X, Y, sample_weight=S, groups=GROUPS)
    plain = sklearn.base.clone(model).fit(StandardScaler().fit_transform(X), Y, sample_weight=S, groups=GROUPS)
    assert pipeline[-1].error_criterion_ == "kfold"
    assert pipeline[-1].held_out_error() == pytest.approx(plain.held_out_error())
    assert_same(pipeline[-1].held_out_decisions(), plain.held_out_decisions())
    assert pipeline[-1].nested_error(n_splits=3).value == pytest.approx(plain.nested_error(n_splits=3).value)


@first_quick(1)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_through_cross_validation(model):
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), requesting(model))
    scorer = get_scorer("r2" if isinstance(model, PathSVR) else "accuracy").set_score_request(sample_weight=True)
    given = {"sample_weight": S, "groups": GROUPS}
    found = cross_validate(pipeline, X, Y, cv=GroupKFold(3), params=given, return_estimator=True, scoring=scorer)
    for (train, _), fitted in zip(GroupKFold(3).split(X, Y, GROUPS), found["estimator"], strict=True):
        rows = StandardScaler().fit(X[train], sample_weight=S[train]).transform(X[train])
        plain = sklearn.base.clone(model).fit(rows, Y[train], sample_weight=S[train], groups=GROUPS[train])
        assert fitted[-1].held_out_error() == pytest.approx(plain.held_out_error(), abs=1e-12)


@pytest.mark.slow
def test_through_a_grid_search():
    scorer, losses = get_scorer("accuracy").set_score_request(sample_weight=True), ["least_squares", "squared_hinge"]
    search = GridSearchCV(requesting(MODELS[0]), {"loss": losses}, cv=LeaveOneGroupOut(), scoring=scorer)
    search.fit(X, Y, sample_weight=S, groups=GROUPS)
    best = search.best_estimator_
    plain = sklearn.base.clone(best).fit(X, Y, sample_weight=S, groups=GROUPS)
    assert best.error_criterion_ == "kfold"
    assert best.held_out_error() == pytest.approx(plain.held_out_error())


def test_what_is_not_requested_is_refused_by_scikit_learn():
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="groups"):
        cross_validate(MODELS[0], X, Y, params={"groups": GROUPS}, cv=GroupKFold(3))


# --- leave-one-group-out ---------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("model", [
    PathSVC(loss="squared_hinge", gamma=1.0, C=2.0), PathSVC(loss="least_squares", gamma=1.0, C=2.0),
    PathSVC(loss="hinge", gamma=1.0, C=2.0), PathSVR(gamma=1.0, C=2.0),
    ElasticNetSVC(lambda1=0.5, lambda2=1.0, standardize=False),
], ids=lambda model: f"{type(model).__name__} {getattr(model, 'loss', '')}")  # fmt: skip
@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_group_out_is_refits(model, classes):
    y = Y if classes == 2 else np.where(X[:, 0] > 1.0, 2, Y)
    model = sklearn.base.clone(model).set_params(cv=LeaveOneGroupOut(), criterion="kfold")
    model.fit(X, y, sample_weight=S, groups=GROUPS)
    for group in np.unique(GROUPS):
        keep = group != GROUPS
        other = sklearn.base.clone(model).set_params(cv=2).fit(X[keep], y[keep], sample_weight=S[keep])
        f = other.predict(X[~keep]) if isinstance(model, PathSVR) else other.decision_function(X[~keep])
        np.testing.assert_allclose(model.held_out_decisions()[~keep], f, atol=1e-6)
