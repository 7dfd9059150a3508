"""Machines as ONNX nodes: one function for each kernel, expansion and calibration, found in tables by its class.

Squared distances are |x|^2 + |z|^2 - 2 x'z around the mean of the points, as one product of matrices; a sum of absolute
differences is added up one column after the other, so that nothing is larger than rows times points. A factor beside a
product of matrices is an array, or part of the matrix: onnxruntime makes one node of a product and a single number, and
keeps that number in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.criteria.calibration import Coupled, Isotonic, Softmax
from svmpath.criteria.pairs import class_count, pairs_of
from svmpath.export.graph import Graph
from svmpath.gram.expansion import OnColumns, OnFeatures, OnRows
from svmpath.gram.features import LandmarkFeatures
from svmpath.gram.fourier import FourierFeatures
from svmpath.kernels import ARD, RBF, Laplacian, Linear, Polynomial, Product, Scaled, Sigmoid, Sum

Array = np.ndarray

_FEW_COLUMNS = 8  # up to which squared distances are added up column by column, which keeps all digits
_CONFIDENCE = 3.0  # as in criteria.pairs: confidences are less than a third of a vote


# --- kernels: k(x, points) of rows x ---------------------------------------------------------------------------------


def _squares(graph: Graph, x: str, points: Array) -> str:
    """Squared distances."""
    if points.shape[1] <= _FEW_COLUMNS:
        parts = [graph.affine(graph.columns(x, [j]), shift=-points[:, j]) for j in range(points.shape[1])]
        return _total(graph, [graph.node("Mul", part, part) for part in parts])
    centre = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
    x, points = graph.affine(x, shift=-centre), points - centre
    of_rows = graph.node("ReduceSum", graph.node("Mul", x, x), graph.constant(np.array([1])), keepdims=1)
    products = graph.affine(graph.times(x, -2.0 * points.T), shift=np.einsum("ij,ij->i", points, points))
    return graph.node("Max", graph.node("Add", products, of_rows), graph.constant(np.array(0.0)))


def _total(graph: Graph, parts: list[str]) -> str:
    total = parts[0]
    for part in parts[1:]:
        total = graph.node("Add", total, part)
    return total


def _rbf(graph: Graph, kernel: RBF, x: str, points: Array) -> str:
    return graph.node("Exp", graph.affine(_squares(graph, x, points), -kernel.gamma))


def _ard(graph: Graph, kernel: ARD, x: str, points: Array) -> str:
    root = np.sqrt(np.array(kernel.gamma))
    return graph.node("Exp", graph.affine(_squares(graph, graph.affine(x, root), points * root), -1.0))


def _laplacian(graph: Graph, kernel: Laplacian, x: str, points: Array) -> str:
    parts = [
        graph.node("Abs", graph.affine(graph.columns(x, [j]), shift=-points[:, j]))  # (m, 1) and (c,) make (m, c)
        for j in range(points.shape[1])
    ]
    return graph.node("Exp", graph.affine(_total(graph, parts), -kernel.gamma))


def _linear(graph: Graph, kernel: Linear, x: str, points: Array) -> str:
    return graph.times(x, points.T)


def _polynomial(graph: Graph, kernel: Polynomial, x: str, points: Array) -> str:
    base = graph.affine(graph.times(x, kernel.gamma * points.T), shift=kernel.coef0)
    return graph.node("Pow", base, graph.constant(np.array(float(kernel.degree))))


def _sigmoid(graph: Graph, kernel: Sigmoid, x: str, points: Array) -> str:
    return graph.node("Tanh", graph.affine(graph.times(x, kernel.gamma * points.T), shift=kernel.coef0))


def _sum(graph: Graph, kernel: Sum, x: str, points: Array) -> str:
    return graph.node("Add", *(kernel_nodes(graph, part, x, points) for part in (kernel.k1, kernel.k2)))


def _product(graph: Graph, kernel: Product, x: str, points: Array) -> str:
    return graph.node("Mul", *(kernel_nodes(graph, part, x, points) for part in (kernel.k1, kernel.k2)))


def _scaled(graph: Graph, kernel: Scaled, x: str, points: Array) -> str:
    return graph.affine(kernel_nodes(graph, kernel.kernel, x, points), np.full(len(points), kernel.scale))


KERNELS: dict[type, Callable[..., str]] = {
    RBF: _rbf,
    ARD: _ard,
    Laplacian: _laplacian,
    Linear: _linear,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Sum: _sum,
    Product: _product,
    Scaled: _scaled,
}


def kernel_nodes(graph: Graph, kernel: Any, x: str, points: Any) -> str:
    """Kernel values of rows x and points."""
    if type(kernel) not in KERNELS:
        known = ", ".join(sorted(kind.__name__ for kind in KERNELS))
        raise ValueError(
            f"ONNX has no form of the kernel {kernel!r}: use one of {known}, or save the model with skops."
        )
    return KERNELS[type(kernel)](graph, kernel, x, points.toarray() if issparse(points) else np.asarray(points))


# --- expansions: f(x) without offsets --------------------------------------------------------------------------------


def _on_rows(graph: Graph, form: OnRows, x: str) -> str:
    if form.size == 0:
        width = graph.node("ReduceSum", x, graph.constant(np.array([1])), keepdims=1)
        return graph.times(graph.affine(width, 0.0), np.zeros((1, form.coef.shape[1])))
    if form.kernel.pairwise:
        return graph.times(graph.columns(x, form.columns), form.coef)
    return graph.times(kernel_nodes(graph, form.kernel, x, form.points), form.coef)


def _on_columns(graph: Graph, form: OnColumns, x: str) -> str:
    return graph.times(x, form.w)


def _on_features(graph: Graph, form: OnFeatures, x: str) -> str:
    return graph.times(FEATURES[type(form.features)](graph, form.features, x), form.w)


def _landmarks(graph: Graph, features: LandmarkFeatures, x: str) -> str:
    if features.pairwise:
        return graph.times(graph.columns(x, features.rows), features.T)
    return graph.times(kernel_nodes(graph, features.kernel, x, features.points), features.T)


def _waves(graph: Graph, features: FourierFeatures, x: str) -> str:
    phase, size = graph.times(x, features.W), 1.0 / np.sqrt(features.W.shape[1])
    both = graph.node("Concat", graph.node("Cos", phase), graph.node("Sin", phase), axis=1)
    return graph.affine(both, np.full(features.rank, size))


FEATURES: dict[type, Callable[..., str]] = {LandmarkFeatures: _landmarks, FourierFeatures: _waves}
EXPANSIONS: dict[type, Callable[..., str]] = {OnRows: _on_rows, OnColumns: _on_columns, OnFeatures: _on_features}


def vote_nodes(graph: Graph, f: str, pairs: int) -> str:
    """The votes of the classes from the decision values of all pairs."""
    k = class_count(pairs)
    first, second = np.zeros((pairs, k)), np.zeros((pairs, k))
    for at, (a, b) in enumerate(pairs_of(k)):
        first[at, a] = second[at, b] = 1.0
    is_second = graph.cast(graph.node("Greater", f, graph.constant(np.array(0.0))), "DOUBLE")
    number = graph.affine(graph.times(is_second, second - first), shift=first.sum(axis=0))
    confidence = graph.times(f, second - first)
    size = graph.affine(graph.node("Abs", confidence), _CONFIDENCE, _CONFIDENCE)
    return graph.node("Add", number, graph.node("Div", confidence, size))


# --- probabilities of the classes from decision values of shape (m, 1) or (m, k) -------------------------------------


def _logits(graph: Graph, form: Softmax, beyond: str) -> str:
    """The offsets plus the slope times what decision values are beyond that of the first class."""
    moved = graph.affine(graph.affine(beyond, shift=-form.shift), form.slope / form.scale)
    return graph.affine(moved, shift=form.offsets)


def _softmax(graph: Graph, form: Softmax, f: str) -> str:
    k = len(form.offsets) + 1
    beyond = f
    if k > 2:
        beyond = graph.node("Sub", graph.columns(f, np.arange(1, k)), graph.columns(f, [0]))
    return graph.node("Softmax", graph.times(_logits(graph, form, beyond), np.eye(k)[1:]), axis=1)


def _coupled(graph: Graph, form: Coupled, f: str) -> str:
    against = graph.node("Softplus", graph.affine(_logits(graph, form.sigmoid, f), -1.0))
    return _softmax(graph, form.softmax, graph.affine(against, -1.0))


def _isotonic(graph: Graph, form: Isotonic, f: str) -> str:
    """y_0 + sum_j slope_j min(max(f - x_j, 0), x_j+1 - x_j) for each class, divided by the sum over classes."""
    f, columns = graph.affine(f, 1.0 / form.units), []
    for c, (x, y) in enumerate(form.knots):
        widths = np.diff(x)
        steps = graph.affine(graph.columns(f, [c]), shift=-x[:-1])
        steps = graph.node("Max", steps, graph.constant(np.array(0.0)))
        steps = graph.node("Min", steps, graph.constant(widths))
        columns.append(graph.affine(graph.times(steps, (np.diff(y) / widths)[:, None]), shift=y[:1]))
    if len(columns) == 1:
        columns.insert(0, graph.affine(columns[0], -1.0, 1.0))
    p = graph.node("Concat", *columns, axis=1)
    return graph.node("Div", p, graph.node("ReduceSum", p, graph.constant(np.array([1])), keepdims=1))


CALIBRATIONS: dict[type, Callable[..., str]] = {Softmax: _softmax, Coupled: _coupled, Isotonic: _isotonic}
