"""The data of the elastic-net hinge machine as compiled code reads them, lines of its parameters, points of a walk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from svmpath.lazy import lazy, with_known
from svmpath.solvers.loops.elastic_state import Data

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Table:
    """Z by rows and by columns, as compiled code reads it, with labels and penalty factors.

    Attributes
    ----------
    Z : array or CSR matrix of shape (n, p)
    y : array of shape (n,)
        Labels -1 and +1.
    om : array of shape (p,)
        Penalty factors; 0 for a feature whose absolute value costs nothing.
    margin : array of shape (n,)
        The margins asked for: ones.
    """

    Z: Any
    y: Array
    om: Array
    margin: Array

    @staticmethod
    def of(X: Any, y: Array, om: Array) -> Table:
        """The table of rows X."""
        Z = sparse.csr_matrix(X.multiply(y[:, None])) if sparse.issparse(X) else np.ascontiguousarray(X * y[:, None])
        return Table(Z, y, om, np.ones(len(y)))

    @lazy
    def parts(self) -> tuple[Any, ...]:
        """Both orders of Z as compiled code reads them, the largest entry of each column, and tau."""
        Z, none, empty = self.Z, np.empty(0, np.int64), np.empty((0, 0))
        n, p = Z.shape
        if sparse.issparse(Z):
            Z.sort_indices()
            zmax = np.asarray(abs(Z).max(axis=0).todense(), dtype=float).ravel() if n else np.zeros(p)
            square = float((Z.data**2).sum())
            data = Data(empty, empty, *_packed(Z), *_packed(Z.tocsc()))
        else:
            zmax = np.abs(Z).max(axis=0, initial=0.0)
            square = float(np.einsum("ij,ij->", Z, Z))
            data = Data(Z, np.ascontiguousarray(Z.T), none, np.empty(0), none, np.empty(0))
        return data, zmax, square / max(n * p, 1) or 1.0

    @property
    def data(self) -> Any:
        """Z by rows and by columns."""
        return self.parts[0]

    @property
    def zmax(self) -> Array:
        """The largest |z_ij| of each column."""
        return self.parts[1]

    @property
    def tau(self) -> float:
        """What is added to the elbow system along y, of the size of a squared entry."""
        return self.parts[2]

    def with_om(self, om: Array, margin: Array | None = None) -> Table:
        """The same rows with other penalty factors, and other margins."""
        return with_known(replace(self, om=om, margin=self.margin if margin is None else margin), parts=self.parts)

    def of_columns(self, columns: Array) -> Table:
        """Some columns alone, each with a penalty factor of one."""
        Z = self.Z[:, columns]
        return Table(Z if sparse.issparse(Z) else np.ascontiguousarray(Z), self.y, np.ones(len(columns)), self.margin)


def _packed(Z: Any) -> tuple[Array, Array]:
    """Pointers and indices one after another, and the numbers."""
    return np.concatenate([Z.indptr, Z.indices]).astype(np.int64), Z.data.astype(float)


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
