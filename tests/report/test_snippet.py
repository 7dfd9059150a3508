"""The snippet of a report makes the same decisions as the model."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.report.fitted import Fitted
from svmpath.report.snippet import snippet
from tests.speed import first_quick

MOONS = make_moons(60, noise=0.3, random_state=0)
IRIS = load_iris(return_X_y=True)
LINE = MOONS[0], np.sin(3 * MOONS[0][:, 0]) + MOONS[0][:, 1]
C = {"C": [0.5, 2.0], "search": "grid"}

CASES = {
    "hinge": (PathSVC(loss="hinge", gamma=0.7, **C), MOONS, 1e-2),
    "hinge, poly": (PathSVC(loss="hinge", kernel="poly", gamma=0.5, degree=2, coef0=1.0, **C), MOONS, 1e-2),
    "hinge, laplacian": (PathSVC(loss="hinge", kernel="laplacian", gamma=0.7, **C), MOONS, 1e-2),
    "hinge, strings, weights": (
        PathSVC(loss="hinge", gamma=0.7, **C),
        (MOONS[0], np.array(["a'b", "c"])[MOONS[1]]),
        1e-2,
    ),
    "epsilon": (PathSVR(loss="epsilon_insensitive", gamma=0.7, epsilon=0.1, **C), LINE, 1e-2),
    "least squares": (PathSVR(loss="least_squares", gamma=0.7, **C), LINE, 1e-9),
    "least squares, scaled": (PathSVR(loss="least_squares", gamma=0.7, scale=True, **C), LINE, 1e-9),
    "least squares, two": (
        PathSVC(loss="least_squares", gamma=0.7, **C),
        (MOONS[0], np.array(["a'b", "c"])[MOONS[1]]),
        1e-9,
    ),
    "least squares, linear, three": (PathSVC(loss="least_squares", kernel="linear", **C), IRIS, 1e-9),
    "squared hinge": (PathSVC(loss="squared_hinge", gamma=0.7, **C), MOONS, 1e-4),
    "squared hinge, three": (PathSVC(loss="squared_hinge", gamma=0.7, **C), IRIS, 1e-4),
    "ard": (PathSVC(loss="least_squares", gamma="ard", random_state=0), MOONS, 1e-9),
}


def decisions(code, X, y, **names):
    """What the code decides for the rows that it was given."""
    space = {"X": np.asarray(X), "y": y, **names}
    exec(code, space)
    if "decision_function" in space:
        return space["decision_function"](space["X"])
    return getattr(space["model"], "decision_function", space["model"].predict)(space["X"])


@first_quick(4)
@pytest.mark.parametrize("name", CASES)
def test_the_snippet_decides_alike(name):
    model, (X, y), tol = CASES[name]
    weight = np.linspace(0.5, 2.0, len(y)) if "weights" in name else None
    model.fit(X, y, sample_weight=weight)
    found = snippet(Fitted.of(model, X, y))
    own = model.predict(X) if isinstance(model, PathSVR) else model.decision_function(X)
    np.testing.assert_allclose(decisions(found["code"], X, y, weight=weight), own, atol=tol)


def test_hinge_of_three_classes_is_one_against_the_rest():
    X, y = IRIS
    model = PathSVC(loss="hinge", gamma=0.7, **C).fit(X, y)
    code = snippet(Fitted.of(model, X, y))["code"]
    np.testing.assert_allclose(decisions(code, X, y), model.decision_function(X), atol=1e-2)


def test_rows_of_a_pipeline():
    X, y = MOONS
    model = make_pipeline(StandardScaler(), PathSVC(loss="hinge", gamma=0.7, **C)).fit(X, y)
    found = snippet(Fitted.of(model, X, y))
    assert "model[:-1].transform(X)" in found["words"]
    own = model.decision_function(X)
    np.testing.assert_allclose(decisions(found["code"], model[:-1].transform(X), y), own, atol=1e-2)


@pytest.mark.parametrize(
    ("model", "weight", "word"),
    [
        (PathSVC(loss="huber_hinge", gamma=1.0, C=[1.0]), None, "huber_hinge"),
        (PathSVC(loss="least_squares", gamma=1.0, C=[1.0]), np.linspace(1, 2, 60), "weights"),
        (PathSVC(loss="least_squares", gamma=1.0, C=[1.0], rank=10), None, "rank 10"),
        (PathSVC(loss="least_squares", kernel=lambda A, B: A @ B.T, C=[1.0]), None, "no name"),
        (ElasticNetSVC(lambda2=1.0), None, "elastic-net"),
    ],
)
def test_where_there_is_none_it_says_so(model, weight, word):
    X, y = MOONS
    model.fit(X, y, sample_weight=weight)
    found = snippet(Fitted.of(model, X, y))
    assert found["code"] is None
    assert word in found["words"]
