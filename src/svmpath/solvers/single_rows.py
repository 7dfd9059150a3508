"""Features in single precision for many rows: A = [Z - m, 1], Z stored once and not copied.

What is large is done in single precision, what needs digits in double precision:

- A' W A is the sum of products of a block of rows, each in single precision and added up in double precision. It is
  wrong by about 1e-7 of its diagonal, which makes Newton's steps inexact by a factor (``rate``), not the machine;
- f = A theta and the gradient A' v are computed in double precision from the stored numbers, so that the machine that
  the steps lead to is that of the stored features to rounding;
- where the factor is not small, for large C, A' W A is computed in double precision, too.

m is the mean of Z rounded to single precision. It is subtracted from a block of rows when that is multiplied, so that
neither digits nor memory are lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.gram.memory import require
from svmpath.gram.products import blocks, converted, times, transposed_times
from svmpath.lazy import lazy
from svmpath.solvers.pieces import Pieces

Array = np.ndarray

_MULTIPLIED_AT_ONCE = 1024  # rows; more would lose digits of their products, fewer cost time


@dataclass(frozen=True)
class SingleRows:
    """The data, as :class:`svmpath.solvers.feature_newton.Rows`, with features in single precision.

    Attributes
    ----------
    Z : array of shape (n, r), float32
    mean : array of shape (r,), float32
        What is subtracted from every row.
    y, s : array of shape (n,)
        Labels and weights.
    arithmetic : type
        Of products of rows with each other: np.float32 or np.float64.
    """

    Z: Array
    mean: Array
    y: Array
    s: Array
    arithmetic: Any = np.float32
    matrix = None
    offset = True
    is_single = True

    @staticmethod
    def of(Z: Array, y: Array, s: Array) -> SingleRows:
        """The rows of a feature matrix in single precision."""
        return SingleRows(Z, (transposed_times(Z, s) / s.sum()).astype(np.float32), y, s)

    @property
    def width(self) -> int:
        """Number of entries of theta."""
        return self.Z.shape[1] + 1

    @property
    def entries(self) -> int:
        """Number of entries of A."""
        return len(self.Z) * self.width

    @lazy
    def plain(self) -> bool:
        """Whether every weight is one."""
        return bool(np.all(self.s == 1.0))

    @lazy
    def A(self) -> Array:
        """The whole matrix in double precision, for those who cannot do with less."""
        require(8.0 * self.entries, f"The {len(self.Z)} x {self.width} features in double precision", "a smaller rank=")
        A = np.ones((len(self.Z), self.width))
        A[:, :-1] = self.Z
        A[:, :-1] -= self.mean
        return A

    @lazy
    def largest(self) -> float:
        """The largest squared length of a row of A."""
        return 1.0 + max(float(np.square(self.Z[part] - self.mean).sum(axis=1).max()) for part in blocks(self.Z))

    def doubled(self) -> SingleRows:
        """The same features, with products of rows in double precision."""
        return replace(self, arithmetic=np.float64)

    def leading(self, r: int) -> SingleRows:
        """The same rows with the first r features only."""
        return replace(self, Z=self.Z[:, :r], mean=self.mean[:r])

    def matvec(self, theta: Array) -> Array:
        """A theta."""
        w = theta[:-1]
        return times(self.Z, w) + (theta[-1] - self.mean.astype(float) @ w)

    def rmatvec(self, v: Array) -> Array:
        """A' v."""
        total = v.sum()
        return np.append(transposed_times(self.Z, v) - self.mean.astype(float) * total, total)

    def look(self, loss: Pieces, theta: Array) -> tuple[Array, Array, Array]:
        """f = A theta, the pieces of the rows there, and A' S z L'(u) / c*: all in one reading of Z."""
        w, mean = theta[:-1], self.mean.astype(float)
        f, pushed = np.empty(len(self.y)), np.empty(len(self.y))
        total, offset = np.zeros(len(w)), theta[-1] - mean @ w
        for part, block in converted(self.Z):
            f[part] = block @ w + offset
            y = self.y[part]
            pushed[part] = loss.signed(y, self.s[part] * loss.derivative(loss.u(y, f[part]))) / loss.largest
            total += pushed[part] @ block
        E = loss.region(loss.u(self.y, f))
        E = E if self.plain else np.where(self.s > 0, E, E.dtype.type(0))
        return f, E, np.append(total - mean * pushed.sum(), pushed.sum())

    def image(self, which: Any, B: Array) -> Array:
        """A[which] B, in single precision."""
        B = B.astype(np.float32)
        return self.Z[which] @ B[:-1] + (B[-1] - self.mean @ B[:-1])

    def projector(self) -> Any:
        """``image``, for many calls."""
        return self.image

    def moments(self, which: Array, weights: Array | None = None) -> tuple[Array, Array]:
        """A' W A and A' W y of some of the rows; W are their weights s if none are given."""
        G, c = np.zeros((self.width, self.width)), np.zeros(self.width)
        mean: Array = self.mean.astype(self.arithmetic)
        w = self.s[which] if weights is None else weights
        for start in range(0, len(which), _MULTIPLIED_AT_ONCE):
            chunk = slice(start, start + _MULTIPLIED_AT_ONCE)
            part, s = which[chunk], w[chunk]
            B = self.Z[part].astype(self.arithmetic, copy=False)
            B -= mean
            sides = np.array([s, s * self.y[part]], dtype=self.arithmetic) @ B
            G[-1, :-1] += sides[0]
            c[:-1] += sides[1]
            if weights is not None or not self.plain:
                B *= np.sqrt(s).astype(self.arithmetic)[:, None]
            G[:-1, :-1] += B.T @ B
        G[:-1, -1] = G[-1, :-1]
        G[-1, -1] = w.sum()
        c[-1] = w @ self.y[which]
        return G, c
