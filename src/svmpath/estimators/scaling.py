"""Columns brought to one scale, and a word of warning where they are not.

With mean m_j and standard deviation d_j of column j, both weighted by ``sample_weight``, a machine with ``scale=True``
takes z_j = (x_j - m_j) / d_j. A linear machine of z is a linear machine of x:

    f(x) = sum_j w_j z_j + b = sum_j (w_j / d_j) x_j + b - sum_j (w_j / d_j) m_j.

Sparse columns stay sparse: their m_j is zero here, whatever their mean. A constant column has d_j = 1.

The warning needs d_j only. The sums of x_j - c_j and of its square give it in one pass. They cancel if c_j is far from
the mean, but c_j is one of the n numbers in the column, so that (c_j - m_j)^2 <= n d_j^2: d_j^2 keeps all but log10(n)
of its 16 digits, however far from zero the column is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.kernels import Product, Scaled, Sum
from svmpath.kernels.base import SimpleKernel
from svmpath.validation import is_pairwise

Array = np.ndarray

UNEVEN = 30.0  # quotient of two deviations from which on one column hardly counts beside the other
_BLOCK = 2**15  # numbers per block of rows: it stays in the processor's cache
_ROUNDING = 8 * np.finfo(float).eps  # a deviation this small beside the numbers themselves is rounding
_MEASURED = (str, SimpleKernel, Sum, Product, Scaled)  # kernels that take all columns alike


def fit_scaler(X: Any, s: Array | None, kernel: Any) -> Any:
    """A fitted :class:`sklearn.preprocessing.StandardScaler`.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    s : array of shape (n,) or None
        Weights.
    kernel : str, Kernel or callable
        As the user gave it.
    """
    from sklearn.preprocessing import StandardScaler

    if is_pairwise(kernel):
        raise ValueError(
            "scale=True cannot scale the columns behind a precomputed kernel; scale them before computing the kernel, "
            "and use scale=False."
        )
    # Whatever scikit-learn is set to return, the machine takes arrays.
    return StandardScaler(with_mean=not issparse(X)).set_output(transform="default").fit(X, sample_weight=s)


def scaled(X: Any, scaler: Any) -> Any:
    """The rows of X, scaled; sparse ones become dense if the columns were centred."""
    return scaler.transform(X.toarray() if scaler.with_mean and issparse(X) else X)


def shift_of_offset(w: Array, scaler: Any) -> Array:
    """sum_j w_j m_j for weights (k, d) of columns as given: what the offsets of linear machines lose from z to x."""
    return w @ scaler.mean_ if scaler.with_mean else np.zeros(len(w))


def warn_of_uneven_columns(X: Any, s: Array, kernel: Any, names: Any = None) -> None:
    """Warn if the deviations of two columns differ so much that the kernel hardly sees one of them.

    Columns that are constant or have two values only do not count: the indicator of a rare category is as it should be.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    s : array of shape (n,)
        Weights; rows of weight zero are left out.
    kernel : str, Kernel or callable
        As the user gave it. There is no warning for a matrix, a function, or a kernel with a width for each column.
    names : array of str, optional
    """
    if is_pairwise(kernel) or not isinstance(kernel, _MEASURED):
        return
    if not s.all():
        X = X[s > 0]
    warn_of_uneven_deviations(deviations(X), lambda: two_valued(X), kernel, names)


def warn_of_uneven_deviations(d: Array, find_two_valued: Callable[[], Array], kernel: Any, names: Any = None) -> None:
    """The same of deviations that are known; which columns have two values only is asked if it matters."""
    if not isinstance(kernel, _MEASURED) or not is_uneven(d):
        return
    d = np.where(find_two_valued(), 0.0, d)
    if not is_uneven(d):
        return
    wide, narrow = int(np.argmax(d)), int(np.argmin(np.where(d > 0, d, np.inf)))
    wide_name, narrow_name = (f"{j}" if names is None else repr(str(names[j])) for j in (wide, narrow))
    warnings.warn(
        f"Column {wide_name} has standard deviation {d[wide]:.3g} and column {narrow_name} only {d[narrow]:.3g}, so "
        "that the kernel hardly sees the latter; use scale=True to standardise the columns.",
        UserWarning,
        stacklevel=5,
    )


def is_uneven(d: Array) -> bool:
    """Whether deviations, of which zero means constant, differ by more than a factor of `UNEVEN`."""
    d = d[d > 0]
    return len(d) > 1 and bool(d.max() > UNEVEN * d.min())


def deviations(X: Any) -> Array:
    """The standard deviation of each column; exactly zero if it is constant but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.estimators.scaling import deviations
    >>> deviations(np.array([[1e9, 0.3], [1e9 + 2, 0.1 + 0.2]])).tolist()
    [1.0, 0.0]
    """
    n = X.shape[0]
    c = _number_of_each_column(X)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers beyond 1e154 the square is infinite
        if issparse(X):  # a number that is not stored is c_j, and adds nothing
            moved = X.data - c[X.indices]
            total, square = (np.bincount(X.indices, part, minlength=X.shape[1]) for part in (moved, moved**2))
        else:
            total, square = _sums(X, c)
        variance = square / n - (total / n) ** 2
    d = np.sqrt(np.where(np.isnan(variance), np.inf, np.maximum(variance, 0.0)))
    return np.where(d > _ROUNDING * np.abs(c), d, 0.0)


def _number_of_each_column(X: Any) -> Array:
    """c: the first number in each column; of a sparse one 0 if that is not stored somewhere, or else any number."""
    if not issparse(X):
        return np.asarray(X[0])
    n, d = X.shape
    c = np.zeros(d)
    c[X.indices] = X.data
    c[np.bincount(X.indices, minlength=d) < n] = 0.0
    return c


def _sums(X: Array, c: Array) -> tuple[Array, Array]:
    """Sums of x_j - c_j and of its square for each column."""
    n, d = X.shape
    step = max(1, _BLOCK // d)
    total, square = np.zeros(d), np.zeros(d)
    for start in range(0, n, step):
        block = X[start : start + step] - c
        total += np.ones(len(block)) @ block
        square += np.einsum("ij,ij->j", block, block)
    return total, square


def two_valued(X: Any) -> Array:
    """Whether each column has at most two different values."""
    if not issparse(X):
        return np.all((X.min(axis=0) == X) | (X.max(axis=0) == X), axis=0)
    n, d = X.shape
    low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    known = (X.data == low[X.indices]) | (X.data == high[X.indices])
    other = np.bincount(X.indices, weights=~known, minlength=d)
    has_zero = np.bincount(X.indices, minlength=d) < n
    return (other == 0) & ~(has_zero & (low < 0) & (high > 0))
