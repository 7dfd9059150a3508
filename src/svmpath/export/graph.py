"""An ONNX graph under construction, as skl2onnx hands it to a converter: constants and nodes, with names made here."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray

_TYPES = {"f": "DOUBLE", "i": "INT64", "U": "STRING", "O": "STRING"}  # by the kind of a NumPy array


class Graph:
    """The graph of one operator. All numbers in it are of double precision, whatever its rows come in.

    Parameters
    ----------
    scope, container : object
        Of skl2onnx: what makes names, and what takes nodes.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, value: Any) -> str:
        """The name of a constant: of doubles, whole numbers or words."""
        from onnx import TensorProto

        array = np.asarray(value)
        kind = array.dtype.kind
        name: str = self._scope.get_unique_variable_name("constant")
        flat = [str(word).encode() for word in array.ravel()] if kind in "UO" else array.ravel().tolist()
        self._container.add_initializer(name, getattr(TensorProto, _TYPES[kind]), list(array.shape), flat)
        return name

    def node(self, op: str, *inputs: str, name: str | None = None, others: int = 0, **attributes: Any) -> str:
        """A node; the name of its first output, which is made here if none is given. ``others`` are not used."""
        first = name or self._scope.get_unique_variable_name(op)
        names = [first, *(self._scope.get_unique_variable_name(op) for _ in range(others))]
        self._container.add_node(op, list(inputs), names, name=self._scope.get_unique_operator_name(op), **attributes)
        return first

    def affine(self, x: str, factor: Any = None, shift: Any = None) -> str:
        """``factor * x + shift``, entry by entry."""
        x = x if factor is None else self.node("Mul", x, self.constant(factor))
        return x if shift is None else self.node("Add", x, self.constant(shift))

    def times(self, x: str, matrix: Any) -> str:
        """``x @ matrix``."""
        return self.node("MatMul", x, self.constant(np.asarray(matrix, dtype=float)))

    def columns(self, x: str, places: Any) -> str:
        """Some columns of x."""
        return self.node("Gather", x, self.constant(np.asarray(places, dtype=np.int64)), axis=1)

    def cast(self, x: str, kind: str, name: str | None = None) -> str:
        """``x`` in another type of ONNX."""
        from onnx import TensorProto

        return self.node("Cast", x, name=name, to=getattr(TensorProto, kind))

    def flat(self, x: str) -> str:
        """One column as a vector."""
        return self.node("Reshape", x, self.constant(np.array([-1])))
