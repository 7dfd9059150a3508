"""Gram matrices: held whole, or as K ~ Z Z' by an approximation."""

from __future__ import annotations

from typing import Any

from svmpath.gram.approximation import Approximation
from svmpath.gram.base import Gram
from svmpath.gram.dense import DenseGram
from svmpath.gram.features import Factor, FeatureMap
from svmpath.gram.fourier import RandomFourier
from svmpath.gram.low_rank import LowRankGram
from svmpath.gram.nystroem import LANDMARKS, Nystroem, is_count, is_share
from svmpath.kernels import Kernel

__all__ = [
    "LANDMARKS",
    "Approximation",
    "DenseGram",
    "Factor",
    "FeatureMap",
    "Gram",
    "LowRankGram",
    "Nystroem",
    "RandomFourier",
    "automatic_rank",
    "make_approximation",
    "make_gram",
]

# rank="auto": with more rows than this a decomposition per kernel takes seconds, and so many landmarks serve instead.
AUTO_ROWS = 2000
AUTO_LANDMARKS = 500


def make_gram(
    X: Any,
    kernel: Kernel,
    *,
    rank: Any = None,
    landmarks: Any = None,
    psd: str = "warn",
    seed: int = 0,
) -> Gram:
    """The Gram matrix of the rows of X, whole or in low rank.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    kernel : Kernel
    rank : int, float, "auto", Approximation or None
        None holds the matrix whole. A whole number is the number of columns (landmarks) used; as many as there are
        rows leave nothing to approximate, and the matrix is held whole. A number between 0 and 1 is the relative trace
        residual to reach. "auto" holds the matrix whole up to 2000 rows, and takes 500 landmarks beyond. An
        approximation such as ``Nystroem(200, truncate=50)`` or ``RandomFourier(300)`` is used as it is.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of row numbers, optional
        How the landmarks are chosen, "rpcholesky" if not given; ``rank`` is not needed when they are given as rows.
    psd : {"warn", "clip"}
        What to do with an indefinite matrix held whole; in low rank, Z Z' is semi-definite by construction.
    seed : int
        For what the approximation draws at random.

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
    if psd not in ("warn", "clip"):
        raise ValueError(f"psd must be 'warn' or 'clip', got {psd!r}.")
    approximation = make_approximation(rank, landmarks, X.shape[0])
    if approximation is None or approximation.is_whole(X.shape[0]):
        return DenseGram(kernel, X, clip=psd == "clip")
    approximation.check(kernel, X)
    return LowRankGram(kernel, X, approximation, seed)


def make_approximation(rank: Any, landmarks: Any, n: int) -> Approximation | None:
    """The approximation that ``rank=`` and ``landmarks=`` stand for with n rows; None for the matrix held whole."""
    if isinstance(rank, Approximation):
        if landmarks is not None:
            raise ValueError(
                f"landmarks= does not go with rank={rank!r}, which says itself what is done; leave landmarks out, or "
                "give them to gram.Nystroem."
            )
        return rank
    if isinstance(rank, str) and rank == "auto":
        rank = automatic_rank(n)
    elif not (rank is None or is_count(rank) or is_share(rank)):
        raise ValueError(
            "rank must be None (the whole matrix), 'auto', a whole number >= 1 (of landmarks), a number between 0 and "
            "1 (the relative trace residual to reach) or an approximation such as gram.Nystroem(200); got "
            f"{rank!r}."
        )
    if rank is None and (landmarks is None or isinstance(landmarks, str)):
        Nystroem(1, LANDMARKS[0] if landmarks is None else landmarks)  # a wrong name is refused all the same
        return None
    return Nystroem(rank, LANDMARKS[0] if landmarks is None else landmarks)


def automatic_rank(n: int) -> int | None:
    """The rank that "auto" stands for with n rows: None (the whole matrix), or a number of landmarks."""
    return None if n <= AUTO_ROWS else AUTO_LANDMARKS
