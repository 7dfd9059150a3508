"""Indefinite kernel matrices, made positive semi-definite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clipped:
    """The positive semi-definite part of the full kernel matrix, for an indefinite kernel; pass it as ``rank=``.

    Negative eigenvalues are set to zero, consistently in fit, prediction and held-out values.

    See Also
    --------
    svmpath.gram.Nystroem : Landmarks, whose matrix is always positive semi-definite.
    svmpath.gram.make_gram : The kernel matrix of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import Clipped, make_gram
    >>> from svmpath.kernels import Sigmoid
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> K = make_gram(X, Sigmoid(1.0, -1.0), rank=Clipped()).K
    >>> bool(np.linalg.eigvalsh(K)[0] > -1e-9)
    True
    """
