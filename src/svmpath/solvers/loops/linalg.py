"""Compiled updates of an inverse R that is held in the leading block of an array, and sums of rows.

``append`` and ``delete`` add and remove a row and column, ``replace`` does both in one step. Nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from svmpath.solvers.loops.decorators import inner

Array = np.ndarray


@inner
def combine(K: Array, rows: Array, x: Array, count: int, out: Array) -> None:
    """``out += sum_a x_a K[rows_a]``, some rows at a time so that ``out`` is read and written less often."""
    n, a = K.shape[1], 0
    while a + 8 <= count:
        A, B, C, D = K[rows[a]], K[rows[a + 1]], K[rows[a + 2]], K[rows[a + 3]]
        E, F, G, H = K[rows[a + 4]], K[rows[a + 5]], K[rows[a + 6]], K[rows[a + 7]]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        x4, x5, x6, x7 = x[a + 4], x[a + 5], x[a + 6], x[a + 7]
        for i in range(n):
            out[i] += (x0 * A[i] + x1 * B[i] + x2 * C[i] + x3 * D[i]) + (x4 * E[i] + x5 * F[i] + x6 * G[i] + x7 * H[i])
        a += 8
    while a < count:
        A, x0 = K[rows[a]], x[a]
        for i in range(n):
            out[i] += x0 * A[i]
        a += 1


@inner
def times(R: Array, size: int, v: Array, out: Array) -> None:
    """``out = R v`` on the leading block."""
    for a in range(size):
        row, total = R[a], 0.0
        for b in range(size):
            total += row[b] * v[b]
        out[a] = total


@inner
def append(R: Array, size: int, z: Array, sc: float) -> None:
    """R with one more free variable."""
    for a in range(size):
        row, x = R[a], z[a] / sc
        for b in range(size):
            row[b] += x * z[b]
        row[size] = -x
        R[size, a] = -x
    R[size, size] = 1.0 / sc


@inner
def delete(R: Array, size: int, a: int, column: Array) -> None:
    """R without the variable at position a; the last one takes its place."""
    pivot, last = R[a, a], size - 1
    for b in range(size):
        column[b] = R[b, a]
    for b in range(size):
        row, x = R[b], column[b] / pivot
        for e in range(size):
            row[e] -= x * column[e]
    if a != last:
        for b in range(size):
            R[a, b] = R[last, b]
        for b in range(size):
            R[b, a] = R[b, last]


@inner
def replace(R: Array, size: int, a: int, z: Array, sc: float, column: Array) -> None:
    """R with another variable at position a; never divides by sc, so that one may replace its duplicate."""
    for b in range(size):
        column[b] = R[b, a]
    pivot, za = column[a], z[a]
    D = pivot * sc + za * za
    for b in range(size):
        row, x, y = R[b], (pivot * z[b] - za * column[b]) / D, (sc * column[b] + za * z[b]) / D
        for e in range(size):
            row[e] += x * z[e] - y * column[e]
    for b in range(size):
        R[b, a] = R[a, b] = (za * column[b] - z[b] * pivot) / D
    R[a, a] = pivot / D
