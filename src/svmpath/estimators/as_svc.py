"""A fitted model as scikit-learn's ``SVC``, ``SVR`` or ``OneClassSVM`` with the same decision values.

These hold sum_i v_i k(x, x_i) + b for the kernels rbf, linear, poly and sigmoid. SVC has two classes, or a machine for
each pair of classes in the layout of LIBSVM: support vectors stand class by class, and for classes a < c the
coefficients of the machine (a, c) are in row c - 1 of those of class a, and in row a of those of class c. A positive
value means the first class there, and the second one here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, OneClassSVM

from svmpath.criteria.pairs import pairs_of
from svmpath.estimators.slim import SlimMachines
from svmpath.gram.expansion import OnColumns, OnFeatures, OnRows

Array = np.ndarray

_LIBSVM = ("linear", "poly", "rbf", "sigmoid")  # kernels that SVC knows by name
_SAME = 1e-8  # relative; decision values of landmarks by kernel functions and by features


def as_svc(model: Any, offset: float | Array) -> Any:
    """The model of scikit-learn, after a scaler if the columns were scaled; ``offset`` is that of the machines."""
    scaler = vars(model).get("scaler_")
    machine = (_of_pairs if model._machines.multi_class == "ovo" else _of_one)(model, offset)
    return machine if scaler is None else make_pipeline(scaler, machine)


def _of_one(model: Any, offset: Any) -> Any:
    """The model of a single machine."""
    machines = model._machines
    if len(np.atleast_1d(machines.b)) > 1:
        raise ValueError(
            f"{type(model).__name__} has {len(machines.b)} machines here, one per class or level, but scikit-learn has "
            "this for one machine, or one per pair of classes: export each by itself, or use svmpath.export.to_onnx."
        )
    if getattr(model, "threshold_", 0.0):
        raise ValueError(
            f"SVC predicts the second class above 0, but threshold_ = {model.threshold_:g} here: use "
            "svmpath.export.to_onnx, or fit with threshold=0."
        )
    kernel, points, v = _on_points(model)
    if "classes_" in vars(model):
        return _filled(SVC(**kernel), points, -v, -offset, [len(v), 0], model)
    kind = SVR if "nu_" not in vars(model) else OneClassSVM
    return _filled(kind(**kernel), points, v, offset, [len(v), len(v)], model)


def _on_points(model: Any) -> tuple[dict[str, Any], Array, Array]:
    """The parameters of the kernel, the points, and the coefficients on them, of shape (c, 1)."""
    form = model._machines.expansion
    if isinstance(form, OnColumns):  # one point: the weights themselves
        return {"kernel": "linear"}, form.w.T, np.ones((1, 1))
    if isinstance(form, OnFeatures):
        points, w = getattr(form.features, "points", None), form.features.on_points(form.w)
        if points is None or w is None:
            raise ValueError("SVC needs kernel functions on points, but this model has features of another kind.")
        whole, form = form, OnRows(model.kernel_, points, None, w)
        expected = whole(points)
        if np.abs(form(points) - expected).max() > _SAME * max(1.0, np.abs(expected).max()):
            raise ValueError(
                "The features of this low-rank model are nearly dependent, so that coefficients on its landmarks would "
                "lose more than eight digits: use for_prediction() or svmpath.export.to_onnx."
            )
    return _kernel(form.kernel), _dense(form.points), form.coef


def _kernel(kernel: Any) -> dict[str, Any]:
    """The parameters of SVC for a kernel of ours."""
    named = kernel.sklearn_name if kernel.sklearn_name in _LIBSVM else ""
    if not named or not np.isscalar(getattr(kernel, "gamma", 1.0)):
        raise ValueError(
            f"SVC has the kernels {', '.join(_LIBSVM)} by name, not {kernel!r}: use for_prediction() or "
            "svmpath.export.to_onnx."
        )
    fields = {name: getattr(kernel, name) for name in ("gamma", "coef0", "degree") if hasattr(kernel, name)}
    return {"kernel": named, **fields}


def _of_pairs(model: Any, offset: Any) -> SVC:
    """SVC with a machine for each pair of classes; ties are broken as they are here."""
    machines = model._machines
    if isinstance(machines, SlimMachines):
        raise ValueError("SVC needs the classes of the support vectors: call to_sklearn() of the whole model.")
    support, k = machines.support, len(model.classes_)
    labels = model._held_out.labels[support]
    order = np.argsort(labels, kind="stable")
    support, labels = support[order], labels[order]
    alpha, v = machines.alpha[support], np.zeros((k - 1, len(support)))
    for at, (a, c) in enumerate(pairs_of(k)):
        v[c - 1, labels == a] = -alpha[labels == a, at]
        v[a, labels == c] = -alpha[labels == c, at]
    svc = SVC(**_kernel(machines.gram.kernel), decision_function_shape="ovr", break_ties=True)
    points = _dense(machines.gram.X[machines.gram.places(support)])
    return _filled(svc, points, v.T, -np.asarray(offset), np.bincount(labels, minlength=k).tolist(), model)


def _filled(svc: Any, points: Array, v: Array, b: Any, counts: list[int], model: Any) -> Any:
    """A model of scikit-learn with what its fit would set; v are LIBSVM's coefficients, (c, machines)."""
    b = np.atleast_1d(np.asarray(b, dtype=float))
    is_pair = len(counts) == 2 and "classes_" in vars(model)
    svc.support_ = np.arange(len(points), dtype=np.int32)
    svc.support_vectors_ = np.ascontiguousarray(points, dtype=float)
    svc._dual_coef_ = np.ascontiguousarray(v.T, dtype=float)
    svc._intercept_ = b
    sign = -1.0 if is_pair else 1.0
    svc.dual_coef_, svc.intercept_ = sign * svc._dual_coef_, sign * b
    svc._n_support = np.array(counts, dtype=np.int32)
    svc._probA = svc._probB = np.empty(0)
    svc._sparse, svc._gamma = False, 0.0 if isinstance(svc.gamma, str) else float(svc.gamma)
    svc.shape_fit_, svc.fit_status_ = points.shape, 0
    svc.n_features_in_ = points.shape[1]
    if "classes_" in vars(model):
        svc.classes_, svc.class_weight_ = model.classes_, np.ones(len(model.classes_))
    if "nu_" in vars(model):
        svc.offset_ = -b
    if vars(model).get("scaler_") is None and "feature_names_in_" in vars(model):
        svc.feature_names_in_ = model.feature_names_in_
    return svc


def _dense(X: Any) -> Array:
    return X.toarray() if issparse(X) else np.asarray(X)
