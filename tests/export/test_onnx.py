"""ONNX graphs against predict in Python: labels, probabilities and decision values of many kinds of models."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from svmpath import ElasticNetSVC, PathOneClassSVM, PathSVC, PathSVR
from svmpath.datasets import banana
from svmpath.export import to_onnx
from svmpath.export.nodes import KERNELS as NODES
from svmpath.gram import Clipped, RandomFourier
from svmpath.kernels import KERNELS, RBF, Linear

X, y = banana(90, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
RNG = np.random.default_rng(0)
R = RNG.normal(size=(80, 3))
T = np.sin(R[:, 0]) + 0.3 * R[:, 1] + 0.1 * RNG.normal(size=80)
TWO = {"C": [1.0, 10.0], "random_state": 0}

MODELS = {
    "rbf": lambda: (PathSVC(gamma=1.0, **TWO).fit(X, y), X),
    "linear, scaled": lambda: (PathSVC(kernel="linear", scale=True, **TWO).fit(X, y), X),
    "poly, isotonic": lambda: (
        PathSVC(kernel="poly", gamma=0.5, coef0=1.0, degree=2, calibration="isotonic", **TWO).fit(X, y), X
    ),
    "laplacian, words": lambda: (PathSVC(kernel="laplacian", gamma=0.5, **TWO).fit(X, np.where(y > 0, "u", "v")), X),
    "sigmoid, clipped": lambda: (PathSVC(kernel="sigmoid", gamma=0.1, rank=Clipped(), **TWO).fit(X, y), X),
    "sum": lambda: (PathSVC(kernel=RBF(1.0) + 2.0 * (Linear() * Linear()), **TWO).fit(X, y), X),
    "low rank, threshold": lambda: (
        PathSVC(gamma=0.5, rank=20, loss="least_squares", threshold=0.2, **TWO).fit(X, y), X
    ),
    "fourier": lambda: (PathSVC(gamma=0.5, rank=RandomFourier(30), **TWO).fit(X, y), X),
    "one-vs-rest, words": lambda: (PathSVC(gamma=0.5, loss="least_squares", **TWO).fit(IRIS, WORDS), IRIS),
    "one-vs-rest, temperature": lambda: (
        PathSVC(gamma=0.5, loss="squared_hinge", calibration="temperature", **TWO).fit(IRIS, SPECIES), IRIS
    ),
    "regression, scaled": lambda: (PathSVR(gamma=0.3, scale=True, **TWO).fit(R, T), R),
    "quantiles": lambda: (PathSVR(loss="pinball", quantile=[0.9, 0.1, 0.5], gamma=3.0, C=10.0).fit(R, T), R),
    "one-class": lambda: (PathOneClassSVM(gamma=0.5, scale=True).fit(R), R),
    "elastic net": lambda: (ElasticNetSVC(lambda1=1.0, lambda2=1.0).fit(IRIS, SPECIES), IRIS),
}  # fmt: skip
METHODS = {
    "probabilities": "predict_proba",
    "decision": "decision_function",
    "prediction": "predict",
    "label": "predict",
}


def run(graph, inputs):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, inputs), strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_graphs_are_equal_to_predict(name):
    model, rows = MODELS[name]()
    slim = model.for_prediction()
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-5)):
        new = (rows + 0.01).astype(dtype)
        for graph in (to_onnx(model, dtype=dtype), to_onnx(slim, dtype=dtype)):
            for output, found in run(graph, {"X": new}).items():
                expected = getattr(model, METHODS[output])(new)
                assert found.shape == expected.shape
                if output == "label":
                    assert found.tolist() == expected.tolist()
                else:
                    assert found.dtype == dtype
                    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


WITH_INTERVALS = {
    "rbf": {"gamma": 0.3},
    "scaled": {"gamma": 0.3, "scale": True},
    "linear": {"kernel": "linear"},
    "low rank": {"gamma": 0.3, "rank": 20},
    "by folds": {"gamma": 0.3, "criterion": "kfold"},
    "epsilon-insensitive": {"gamma": 0.3, "loss": "epsilon_insensitive", "C": 1.0},
    "quantiles": {"gamma": 0.3, "loss": "pinball", "quantile": [0.1, 0.9], "C": 1.0},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_intervals(name):
    rows, targets = np.concatenate([R, R[:9]]), np.concatenate([T, T[:5], T[5:9] + 1.0])  # copies, and contradictions
    model = make_pipeline(StandardScaler(), PathSVR(**{"C": [1.0, 10.0], "random_state": 0} | WITH_INTERVALS[name]))
    model.fit(rows, targets)
    expected = model[-1].predict_interval(model[:-1].transform(R + 0.01), 0.9)
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-4)):
        found = run(to_onnx(model, dtype=dtype, interval=0.9), {"X": (R + 0.01).astype(dtype)})
        assert found["interval"].dtype == dtype
        np.testing.assert_allclose(found["interval"], expected, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(found["prediction"], model.predict(R + 0.01), rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
def test_machines_of_pairs():
    rows = np.random.default_rng(1).normal(size=(200, 2))
    radius = (rows**2).sum(axis=1)
    model = PathSVC(random_state=0).fit(rows, np.searchsorted(np.quantile(radius, [0.25, 0.5, 0.75]), radius))
    assert model.multi_class_ == "ovo"
    # Coefficients are large here: what is summed in two orders differs by this much.
    tolerance = 1e-10 + 1e-14 * np.abs(model.dual_coef_).sum()
    found = run(to_onnx(model), {"X": rows + 0.01})
    np.testing.assert_allclose(found["decision"], model.decision_function(rows + 0.01), atol=tolerance)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows + 0.01), atol=tolerance)
    svc = model.to_sklearn()
    np.testing.assert_allclose(svc.decision_function(rows + 0.01), model.decision_function(rows + 0.01), atol=tolerance)
    assert svc.predict(rows).tolist() == model.predict(rows).tolist()


def test_every_named_kernel_has_nodes():
    assert {kind for name, kind in KERNELS.items() if name != "precomputed"} <= set(NODES)


@pytest.mark.filterwarnings("ignore")
def test_pipeline_with_columns():
    frame = pd.DataFrame({"a": R[:, 0], "b": 100 * R[:, 1], "town": np.where(R[:, 2] > 0, "Kiel", "Ulm")})
    columns = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("w", OneHotEncoder(), ["town"])])
    model = make_pipeline(columns, PathSVC(gamma=0.5, **TWO)).fit(frame, T > 0)
    inputs = {name: frame[[name]].to_numpy(dtype=object if name == "town" else float) for name in frame}
    found = run(to_onnx(model, frame), inputs)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=1e-10)
    assert found["label"].tolist() == model.predict(frame).astype(int).tolist()


def test_refusals():
    model = PathSVC(kernel=lambda A, B: A @ B.T, C=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match="ONNX has no form of the kernel"):
        to_onnx(model)
    with pytest.raises(ValueError, match="needs a PathSVR with one choice, not PathSVC"):
        to_onnx(PathSVC(gamma=1.0, C=[1.0]).fit(X, y), interval=0.9)
    fitted = PathSVR(gamma=1.0, C=[1.0]).fit(R, T)
    with pytest.raises(ValueError, match="which for_prediction"):
        to_onnx(fitted.for_prediction(), interval=0.9)
    with pytest.raises(ValueError, match="the ends are infinite"):
        to_onnx(fitted, interval=0.999)
    with pytest.raises(ValueError, match="rows with different weights"):
        to_onnx(PathSVR(gamma=1.0, C=[1.0]).fit(R, T, sample_weight=np.arange(80.0)), interval=0.9)
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(PathSVR(gamma=1.0, C=[1.0]).fit(R, T), dtype=int)
