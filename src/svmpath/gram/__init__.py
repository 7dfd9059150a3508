"""Gram matrices: the full matrix, or an approximation K ~ Z Z'."""

from __future__ import annotations

from typing import Any

from svmpath.gram.approximation import Approximation
from svmpath.gram.base import Gram
from svmpath.gram.clipped import Clipped
from svmpath.gram.dense import DenseGram
from svmpath.gram.exact import ProductGram
from svmpath.gram.features import Factor, FeatureMap
from svmpath.gram.fourier import RandomFourier
from svmpath.gram.low_rank import LowRankGram
from svmpath.gram.nystroem import LANDMARKS, Nystroem, is_share
from svmpath.kernels import Kernel
from svmpath.names import did_you_mean
from svmpath.validation import is_whole_number

__all__ = [
    "LANDMARKS",
    "Approximation",
    "Clipped",
    "DenseGram",
    "Factor",
    "FeatureMap",
    "Gram",
    "LowRankGram",
    "Nystroem",
    "ProductGram",
    "RandomFourier",
    "automatic_rank",
    "make_approximation",
    "make_gram",
]

# rank="auto": with more than AUTO_ROWS rows a decomposition per kernel takes seconds; AUTO_LANDMARKS are used instead.
AUTO_ROWS = 2000
AUTO_LANDMARKS = 500


def make_gram(
    X: Any,
    kernel: Kernel,
    *,
    rank: Any = None,
    landmarks: Any = None,
    seed: int = 0,
) -> Gram:
    """The Gram matrix of the rows of X, in full or of low rank.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    kernel : Kernel
    rank : int, float, "auto", Approximation or None
        None means the full matrix. A whole number is the number of landmarks; with as many landmarks as rows you get
        the full matrix. A number between 0 and 1 is a target for the relative trace residual. "auto" means the full
        matrix up to 2000 rows and 500 landmarks with more. You can also give an approximation such as ``Nystroem(200,
        truncate=50)`` or ``RandomFourier(300)``, or ``Clipped()`` for the positive semi-definite part of the full
        matrix of an indefinite kernel.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of row numbers, optional
        How the landmarks are chosen; "rpcholesky" by default. If you give row numbers, leave ``rank`` out.
    seed : int
        Random seed of the approximation.

    Returns
    -------
    Gram
        A :class:`~svmpath.gram.DenseGram` or a :class:`~svmpath.gram.LowRankGram`.

    See Also
    --------
    svmpath.gram.DenseGram : The full kernel matrix.
    svmpath.gram.LowRankGram : A kernel matrix of low rank.
    svmpath.gram.Nystroem : Landmarks.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import make_gram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> gram = make_gram(X, RBF(0.1), rank=1e-6)
    >>> gram.rank < 60, gram.residual <= 1e-6
    (True, True)
    """
    if isinstance(rank, Clipped):
        return DenseGram(kernel, X, clip=True)
    approximation = make_approximation(rank, landmarks, X.shape[0])
    if approximation is None or approximation.is_whole(X.shape[0]):
        return DenseGram(kernel, X)
    approximation.check(kernel, X)
    return LowRankGram(kernel, X, approximation, seed)


def make_approximation(rank: Any, landmarks: Any, n: int) -> Approximation | None:
    """The approximation that ``rank=`` and ``landmarks=`` stand for with n rows; None for the full matrix."""
    if isinstance(rank, Approximation):
        if landmarks is not None:
            raise ValueError(
                f"landmarks= cannot be combined with rank={rank!r}; leave landmarks out, or pass them to gram.Nystroem."
            )
        return rank
    if isinstance(rank, str) and rank == "auto":
        rank = automatic_rank(n)
    elif not (rank is None or is_whole_number(rank) or is_share(rank)):
        raise ValueError(
            "rank must be None (the full matrix), 'auto', a whole number >= 1 (of landmarks), a number between 0 and "
            "1 (a target for the relative trace residual) or an approximation such as gram.Nystroem(200); got "
            f"{rank!r}.{did_you_mean(rank, ['auto'])}"
        )
    if rank is None and (landmarks is None or isinstance(landmarks, str)):
        Nystroem(1, LANDMARKS[0] if landmarks is None else landmarks)  # raises an error for an unknown name
        return None
    return Nystroem(rank, LANDMARKS[0] if landmarks is None else landmarks)


def automatic_rank(n: int) -> int | None:
    """The rank that "auto" stands for with n rows: None (the full matrix), or a number of landmarks."""
    return None if n <= AUTO_ROWS else AUTO_LANDMARKS
