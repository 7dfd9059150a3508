"""Models in use: slim copies, and scikit-learn's machines with the same decision values."""

import pickle

import numpy as np
import pytest
import skops.io
from sklearn.svm import SVC, SVR, OneClassSVM

from svmpath import PathOneClassSVM, PathSVC, PathSVR
from svmpath.datasets import banana

X, y = banana(80, random_state=0)


@pytest.mark.parametrize(
    "options", [{"kernel": "rbf"}, {"kernel": "linear", "scale": True}, {"kernel": "poly"}, {"rank": 20}]
)
def test_svc_has_the_same_decision_values(options):
    model = PathSVC(gamma=0.5, C=[1.0], **options).fit(X, np.where(y > 0, "u", "v"))
    svc = model.to_sklearn()
    np.testing.assert_allclose(svc.decision_function(X + 0.1), model.decision_function(X + 0.1), atol=1e-10)
    assert svc.predict(X + 0.1).tolist() == model.predict(X + 0.1).tolist()


def test_svr_and_one_class():
    model = PathSVR(gamma=0.5, C=[1.0]).fit(X, X[:, 0])
    assert isinstance(model.to_sklearn(), SVR)
    np.testing.assert_allclose(model.to_sklearn().predict(X + 0.1), model.predict(X + 0.1), atol=1e-10)
    one = PathOneClassSVM(gamma=0.5).fit(X)
    assert isinstance(one.to_sklearn(), OneClassSVM)
    np.testing.assert_allclose(one.to_sklearn().decision_function(X), one.decision_function(X.copy()), atol=1e-10)


def test_svc_of_our_machine_is_its_own_fit():
    model = PathSVC(loss="hinge", gamma=0.5, C=1.0).fit(X, y)
    fitted = SVC(gamma=0.5, C=1.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.to_sklearn().decision_function(X), fitted.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"kernel": "laplacian"}, "SVC has the kernels"), ({"threshold": 0.5}, "above 0, but threshold_")],
)
def test_what_scikit_learn_does_not_have(options, message):
    with pytest.raises(ValueError, match=message):
        PathSVC(gamma=0.5, C=[1.0], **options).fit(X, y).to_sklearn()


def test_slim_models_hold_little():
    model = PathSVC(gamma=0.5, C=[1.0]).fit(X, y)
    slim = model.for_prediction()
    assert slim._machines.expansion.points.shape[0] == len(model.support_) < len(X)
    again = pickle.loads(pickle.dumps(slim))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X.copy()), atol=1e-12)
    types = skops.io.get_untrusted_types(data=skops.io.dumps(slim))
    assert len(types) < len(skops.io.get_untrusted_types(data=skops.io.dumps(model))) / 2
    loaded = skops.io.loads(skops.io.dumps(slim), trusted=types)
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X.copy()), atol=1e-12)
    assert len(skops.io.dumps(slim)) < len(skops.io.dumps(model))


def test_slim_models_refuse_in_a_sentence():
    slim = PathSVC(gamma=0.5, C=[1.0]).fit(X, y).for_prediction()
    for ask in (slim.held_out_error, slim.nested_error, lambda: slim.predict_set(X)):
        with pytest.raises(ValueError, match="which for_prediction"):
            ask()
    for name in ("path_", "search_table_", "support_"):
        with pytest.raises(AttributeError, match=f"{name} needs .* for_prediction"):
            getattr(slim, name)
    assert slim.fit(X, y).held_out_error() >= 0.0
