"""Kernels: one class each, with k(x, z), its diagonal and its derivative with respect to each parameter."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from svmpath.kernels.ard import ARD
from svmpath.kernels.base import Kernel
from svmpath.kernels.compound import Product, Scaled, Sum
from svmpath.kernels.dot import Linear, Polynomial, Sigmoid
from svmpath.kernels.foreign import FunctionKernel, GPKernel, Precomputed
from svmpath.kernels.stationary import RBF, Laplacian, squared_distances
from svmpath.names import unknown_name
from svmpath.parameters import Parameter

__all__ = [
    "ARD",
    "KERNELS",
    "RBF",
    "FunctionKernel",
    "GPKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "gamma_value",
    "make_kernel",
    "squared_distances",
]

# The kernels that have a name. Of ``gamma``, ``degree`` and ``coef0`` each takes those that are fields of its class.
KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "rbf": RBF,
    "poly": Polynomial,
    "laplacian": Laplacian,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}

Array = np.ndarray

_GAMMA_RULES = ("scale", "auto")  # scikit-learn's, which look at the data


def make_kernel(
    kernel: Any,
    *,
    gamma: Any = None,
    degree: int = 3,
    coef0: float = 0.0,
    X: Any = None,
    sample_weight: Array | None = None,
) -> Kernel:
    """A kernel from a name, a kernel object, a scikit-learn GP kernel or a callable.

    Parameters
    ----------
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable
        A name in ``svmpath.kernels.KERNELS`` ("linear", "rbf", "poly", "laplacian", "sigmoid", "precomputed"), or the
        kernel itself.
    gamma : float, "scale", "auto" or None
        Coefficient of rbf, poly, laplacian, sigmoid; "scale" is ``1 / (d * X.var())`` and "auto" ``1 / d`` as in
        scikit-learn; None means "scale". For a kernel object: a new value of its parameter ``gamma``, or None to keep
        it. A kernel or function that has no gamma is used as it is.
    degree, coef0 : int, float
        For poly; coef0 also for sigmoid.
    X : array or CSR matrix of shape (n, d), optional
        The data; needed for "scale" and "auto".
    sample_weight : array of shape (n,), optional
        Weights of the rows in the variance that "scale" stands for; see :func:`svmpath.kernels.gamma_value`.

    Returns
    -------
    Kernel
        Call it with rows: ``kernel(X)`` or ``kernel(X, Z)``.

    See Also
    --------
    svmpath.kernels.Kernel : What all kernels have in common.
    svmpath.kernels.gamma_value : The number that gamma stands for.

    Examples
    --------
    >>> from svmpath.kernels import make_kernel
    >>> make_kernel("rbf", gamma=0.5)
    RBF(gamma=0.5)
    """
    coef0 = Parameter("coef0", lowest="any", log=False).check(coef0)
    if isinstance(kernel, str) and kernel in KERNELS:
        kind: Any = KERNELS[kernel]
        names = {field.name for field in fields(kind)}
        options: dict[str, Any] = {"degree": degree, "coef0": coef0}
        if "gamma" in names:  # else X may have no scale, and need none
            options["gamma"] = gamma_value(gamma, X, sample_weight)
        return kind(**{name: value for name, value in options.items() if name in names})
    if isinstance(kernel, SklearnKernel):
        kernel = GPKernel(kernel)
    elif not isinstance(kernel, Kernel):
        if not callable(kernel) or isinstance(kernel, type):
            raise ValueError(unknown_name("kernel", kernel, KERNELS, "a kernel object or function"))
        kernel = FunctionKernel(kernel)
    if gamma is None or not any(re.search(r"(^|__)gamma(\[|$)", name) for name in kernel.parameters):
        return kernel
    return kernel.at("gamma", gamma_value(gamma, X, sample_weight))


def gamma_value(gamma: Any, X: Any = None, sample_weight: Array | None = None) -> float:
    """The number that ``gamma`` stands for: itself, or scikit-learn's "scale" and "auto" on X.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        "scale" is ``1 / (d * X.var())`` and "auto" ``1 / d``, as in scikit-learn.
    X : array or CSR matrix of shape (n, d), optional
        The data; needed for "scale" and "auto".
    sample_weight : array of shape (n,), optional
        Weights of the rows in ``X.var()``, of which only the proportions matter; rows of weight zero do not count. This
        is what scikit-learn's "scale" is not: it takes all rows alike.

    Returns
    -------
    float
        A positive number.

    See Also
    --------
    svmpath.kernels.make_kernel : A kernel by its name.
    svmpath.kernels.RBF : The Gaussian kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import gamma_value
    >>> gamma_value(0.5), gamma_value("auto", np.array([[1.0, 2.0], [3.0, 4.0]]))
    (0.5, 0.5)
    """
    if gamma is None or isinstance(gamma, str):
        if gamma not in (None, *_GAMMA_RULES):
            raise ValueError(unknown_name("gamma", gamma, _GAMMA_RULES, "a positive number"))
        if X is None:
            raise ValueError(f"gamma={gamma!r} needs the data X; give a number instead.")
        spread = 1.0 if gamma == "auto" else _variance(X, sample_weight)
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    return Parameter("gamma").check(gamma, ", 'scale' or 'auto'")


def _variance(X: Any, s: Array | None) -> float:
    """Of all entries of X, each with the weight of its row."""
    if s is not None and not s.all():
        X, s = X[s > 0], s[s > 0]
    if s is None or np.all(s == s[0]):
        return float(X.multiply(X).mean() - X.mean() ** 2) if issparse(X) else float(np.var(X))
    share = s / s.max()
    share /= share.sum()
    mean = float(share @ np.ravel(X.mean(axis=1)))
    if issparse(X):
        return float(share @ np.ravel(X.multiply(X).mean(axis=1))) - mean**2
    return float(share @ ((X - mean) ** 2).mean(axis=1))
