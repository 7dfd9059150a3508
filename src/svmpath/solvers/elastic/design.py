"""The data of the elastic-net hinge machine as compiled code reads them, lines of its parameters, points of a walk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from svmpath.lazy import lazy, with_known
from svmpath.solvers.loops.elastic_state import DesignArrays

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Design:
    """The design matrix times the labels, Z = diag(y) X, with labels and penalty factors.

    Attributes
    ----------
    Z : array or CSR matrix of shape (n, p)
    y : array of shape (n,)
        Labels -1 and +1.
    om : array of shape (p,)
        Penalty factors; 0 for a feature whose absolute value costs nothing.
    margin : array of shape (n,)
        The margins required: ones.
    """

    Z: Any
    y: Array
    om: Array
    margin: Array

    @staticmethod
    def of(X: Any, y: Array, om: Array) -> Design:
        """The design of rows X."""
        Z = sparse.csr_matrix(X.multiply(y[:, None])) if sparse.issparse(X) else np.ascontiguousarray(X * y[:, None])
        return Design(Z, y, om, np.ones(len(y)))

    @lazy
    def arrays(self) -> DesignArrays:
        """Z by rows and by columns, as compiled code reads it."""
        Z, none, empty = self.Z, np.empty(0, np.int64), np.empty((0, 0))
        if not sparse.issparse(Z):
            return DesignArrays(Z, np.ascontiguousarray(Z.T), none, np.empty(0), none, np.empty(0))
        Z.sort_indices()
        packed = [
            part
            for order in (Z, Z.tocsc())
            for part in (np.concatenate([order.indptr, order.indices]).astype(np.int64), order.data.astype(float))
        ]
        return DesignArrays(empty, empty, *packed)

    @lazy
    def zmax(self) -> Array:
        """The largest |z_ij| of each column."""
        if sparse.issparse(self.Z) and self.Z.shape[0]:
            return np.asarray(abs(self.Z).max(axis=0).todense(), dtype=float).ravel()
        return np.zeros(self.Z.shape[1]) if sparse.issparse(self.Z) else np.abs(self.Z).max(axis=0, initial=0.0)

    @lazy
    def tau(self) -> float:
        """What is added to the elbow system along y: the mean of the squared entries."""
        Z = self.Z
        square = (Z.data**2).sum() if sparse.issparse(Z) else np.einsum("ij,ij->", Z, Z)
        return float(square) / max(Z.shape[0] * Z.shape[1], 1) or 1.0

    def with_om(self, om: Array) -> Design:
        """The same rows with other penalty factors."""
        return with_known(replace(self, om=om), arrays=self.arrays, zmax=self.zmax, tau=self.tau)

    def of_columns(self, columns: Array) -> Design:
        """Some columns alone, each with a penalty factor of one."""
        Z = self.Z[:, columns]
        return Design(Z if sparse.issparse(Z) else np.ascontiguousarray(Z), self.y, np.ones(len(columns)), self.margin)


@dataclass(frozen=True, eq=False)
class Line:
    """A straight line of the parameters, along which a value u falls: (lambda1, lambda2, w) - u (d1, d2, dw)."""

    lam1: float
    lam2: float
    d1: float
    d2: float
    w: Array
    dw: Array

    @staticmethod
    def lambda1(lam2: float, w: Array) -> Line:
        """The value is lambda1."""
        return Line(0.0, lam2, -1.0, 0.0, w, np.zeros_like(w))

    def at(self, value: float) -> tuple[float, float, Array]:
        """Lambda1, lambda2 and the weights at a value."""
        w = np.maximum(self.w - value * self.dw, 0.0) if self.dw.any() else self.w
        return max(self.lam1 - value * self.d1, 0.0), max(self.lam2 - value * self.d2, 0.0), w


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A point of a walk, to walk on from: value, lambda1, lambda2, b; coefficients and places."""

    x: Array
    w: Array
    alpha: Array
    beta: Array
    place: Array
    sign: Array

    @property
    def value(self) -> float:
        """The value of the line."""
        return float(self.x[0])

    @property
    def b(self) -> float:
        """The offset."""
        return float(self.x[3])
