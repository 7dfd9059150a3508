"""Converters for skl2onnx: an estimator of ours as an operator of its own, alone or as a step of a Pipeline.

skl2onnx asks three things of a converter: which outputs the operator has (``parser``), of which types and shapes they
are, and the nodes. Shapes are those of the methods in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.estimators import ElasticNetSVC, KernelDictionary, PathOneClassSVM, PathSVC, PathSVR
from svmpath.export.graph import Graph
from svmpath.export.intervals import interval_nodes
from svmpath.export.nodes import CALIBRATIONS, EXPANSIONS, kernel_nodes, vote_nodes
from svmpath.kernels import make_kernel

Array = np.ndarray


def decision_nodes(graph: Graph, model: Any, x: str) -> str:
    """Decision values of the rows x, of shape (m, machines) or (m, classes), in double precision."""
    machines = model._machines
    form = machines.expansion
    offsets = np.zeros(1) if isinstance(model, PathOneClassSVM) else model.intercept_ + model._shift
    f = graph.affine(EXPANSIONS[type(form)](graph, form, scaled_nodes(graph, model, x)), shift=offsets)
    return vote_nodes(graph, f, len(offsets)) if machines.multi_class == "ovo" else f


def scaled_nodes(graph: Graph, model: Any, x: str) -> str:
    """The rows as the machines take them."""
    scaler = vars(model).get("scaler_")
    if scaler is None:
        return x
    return graph.affine(graph.affine(x, shift=-scaler.mean_ if scaler.with_mean else None), 1.0 / scaler.scale_)


def _classify(graph: Graph, model: Any, x: str) -> dict[str, str]:
    """Labels, probabilities and decision values."""
    classes, f = model.classes_, decision_nodes(graph, model, x)
    is_pair = len(classes) == 2
    if is_pair:
        is_second = graph.node("Greater", f, graph.constant(np.array(float(model._held_out.cut))))
        code = graph.flat(graph.cast(is_second, "INT64"))
    else:
        code = graph.node("ArgMax", f, axis=1, keepdims=0)
    label = graph.node("Gather", graph.constant(label_values(classes)), code)
    calibration = model._held_out.calibration(model.calibration)
    probabilities = CALIBRATIONS[type(calibration)](graph, calibration, f)
    return {"label": label, "probabilities": probabilities, "decision": graph.flat(f) if is_pair else f}


def label_values(classes: Array) -> Array:
    """The labels as ONNX has them: whole numbers or words."""
    if classes.dtype.kind in "OU":
        return np.array([str(label) for label in classes])
    if not np.array_equal(classes, classes.astype(np.int64)):
        raise ValueError(
            f"ONNX has labels that are whole numbers or words, not {classes.tolist()}: encode them before."
        )
    return np.asarray(classes.astype(np.int64))


def _regress(graph: Graph, model: PathSVR, x: str) -> dict[str, str]:
    """Predictions; of several quantiles a column each, in order."""
    models = getattr(model, "models_", None) if "models_" in vars(model) else None
    parts = [decision_nodes(graph, each, x) for each in models or [model]]
    f = parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)
    if not model._has_columns:
        return {"prediction": graph.flat(f)}
    levels = np.asarray(model.quantile_)
    if model.rearrange and len(levels) > 1:
        count = graph.constant(np.array([len(levels)]))
        f = graph.node("TopK", f, count, others=1, axis=1, largest=0, sorted=1)
        f = graph.columns(f, np.argsort(np.argsort(levels)))
    return {"prediction": f}


def _detect(graph: Graph, model: PathOneClassSVM, x: str) -> dict[str, str]:
    """1 and -1, and decision values."""
    f = graph.flat(graph.affine(decision_nodes(graph, model, x), shift=-model.offset_))
    is_usual = graph.node("GreaterOrEqual", f, graph.constant(np.array(0.0)))
    label = graph.node("Where", is_usual, graph.constant(np.array([1])), graph.constant(np.array([-1])))
    return {"label": label, "decision": f}


def _compare(graph: Graph, model: KernelDictionary, x: str) -> dict[str, str]:
    """Kernel columns."""
    kernels = [make_kernel(model.kernel, gamma=float(gamma), X=model.centres_) for gamma in model.gammas_]
    parts = [kernel_nodes(graph, kernel, x, model.centres_) for kernel in kernels]
    return {"columns": parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)}


def _class_shapes(model: Any) -> dict[str, list[Any]]:
    k = len(model.classes_)
    return {"label": [None], "probabilities": [None, k], "decision": [None] if k == 2 else [None, k]}


def _regression_shapes(model: PathSVR) -> dict[str, list[Any]]:
    return {"prediction": [None, len(np.atleast_1d(model.quantile_))] if model._has_columns else [None]}


class Converter(NamedTuple):
    """What skl2onnx must know of an estimator."""

    nodes: Callable[[Graph, Any, str], dict[str, str]]
    shapes: Callable[[Any], dict[str, list[Any]]]


CONVERTERS: dict[type, Converter] = {
    PathSVC: Converter(_classify, _class_shapes),
    ElasticNetSVC: Converter(_classify, _class_shapes),
    PathSVR: Converter(_regress, _regression_shapes),
    PathOneClassSVM: Converter(_detect, lambda model: {"label": [None], "decision": [None]}),
    KernelDictionary: Converter(_compare, lambda model: {"columns": [None, model._n_features_out]}),
}


def _types(operator: Any) -> dict[str, Any]:
    """The type of each output, as skl2onnx has it; numbers are as precise as the rows that come in."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    model = operator.raw_operator
    number = DoubleTensorType if isinstance(operator.inputs[0].type, DoubleTensorType) else FloatTensorType
    has_words = "classes_" in vars(model) and label_values(model.classes_).dtype.kind == "U"
    label = StringTensorType if has_words else Int64TensorType
    shapes = CONVERTERS[type(model)].shapes(model)
    if _coverage(operator) is not None:
        shapes["interval"] = [None, 2]
    return {name: (label if name == "label" else number)(shape) for name, shape in shapes.items()}


def _coverage(operator: Any) -> float | None:
    """The coverage of the intervals that were asked for."""
    asked: float | None = operator.scope_inst.get_options(operator.raw_operator, {}, fail=False).get("interval")
    return asked


def _parse(alias: str, scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the operator and its outputs."""
    check_is_fitted(model)
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = list(inputs)
    for name, kind in _types(operator).items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _set_types(operator: Any) -> None:
    for variable, kind in zip(operator.outputs, _types(operator).values(), strict=True):
        variable.type = kind


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """The nodes: rows to double precision, what the model does, and numbers back to the precision of the rows."""
    graph, model = Graph(scope, container), operator.raw_operator
    given = [variable.full_name for variable in operator.inputs]
    x = graph.cast(given[0] if len(given) == 1 else graph.node("Concat", *given, axis=1), "DOUBLE")
    results = CONVERTERS[type(model)].nodes(graph, model, x)
    coverage = _coverage(operator)
    if coverage is not None:
        results["interval"] = interval_nodes(graph, model, scaled_nodes(graph, model, x), coverage)
    is_double = type(operator.inputs[0].type).__name__ == "DoubleTensorType"
    for variable, (name, result) in zip(operator.outputs, results.items(), strict=True):
        if name == "label":
            graph.node("Identity", result, name=variable.full_name)
        else:
            graph.cast(result, "DOUBLE" if is_double else "FLOAT", variable.full_name)


@cache
def register_converters() -> None:
    """Tell skl2onnx about the estimators of svmpath; ``svmpath.export.to_onnx`` does it by itself.

    See Also
    --------
    svmpath.export.to_onnx : A model as an ONNX graph.

    Examples
    --------
    >>> from svmpath.export import register_converters
    >>> register_converters()  # then skl2onnx.convert_sklearn takes a Pipeline that ends in a PathSVC
    """
    for kind, converter in list(CONVERTERS.items()):
        register(kind, converter)


def register(kind: type, converter: Converter) -> None:
    """Tell skl2onnx how a kind of estimator is converted."""
    from skl2onnx import update_registered_converter

    CONVERTERS[kind], alias = converter, f"Svmpath{kind.__name__}"
    options = {"interval": None} if kind is PathSVR else None  # None: any coverage
    update_registered_converter(kind, alias, _set_types, _convert, parser=partial(_parse, alias), options=options)
