"""The interface of approximations of a kernel matrix: Z with K ~ Z Z', and the same features for new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.gram.features import Factor
from svmpath.kernels import Kernel
from svmpath.kernels.base import pick

if TYPE_CHECKING:
    from svmpath.gram.low_rank import LowRankGram

Array = np.ndarray

_TRACE_ROUNDING = {4: 1e-5, 8: 1e-10}  # relative; by the number of bytes of an entry of Z


class Approximation(ABC):
    """A way to approximate kernel matrices, which you pass as ``rank=``.

    To add one, write a frozen dataclass with :meth:`factor` and :meth:`columns`; the other methods have defaults.

    See Also
    --------
    svmpath.gram.Nystroem : Landmarks.
    svmpath.gram.RandomFourier : Random Fourier features.
    svmpath.gram.Factor : The thin factor, and its features.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.datasets import banana
    >>> from svmpath.gram import RandomFourier
    >>> X, y = banana(200, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=1.0, rank=RandomFourier(40), random_state=0)
    >>> path.gram.rank
    40
    """

    @property
    def dtype(self) -> type:
        """The type of the entries of Z."""
        return np.float64

    @abstractmethod
    def factor(self, kernel: Kernel, X: Any, seed: int) -> Factor:
        """Z for the rows of X, and the map to such features; the same for the same seed."""

    @abstractmethod
    def columns(self, n: int) -> int:
        """The largest number of columns of Z for n rows, as far as it is known before Z is computed."""

    def check(self, kernel: Kernel, X: Any) -> None:  # noqa: B027 - by default every kernel is accepted
        """Raise an error, before any work, for a kernel or rows that cannot be approximated in this way."""

    def prepare(self, X: Any, seed: int) -> Callable[[Kernel], Factor]:
        """The factor as a function of the kernel, for many values of its parameters.

        Override it to compute once what does not depend on the kernel.
        """
        return partial(self.factor, X=X, seed=seed)

    def is_whole(self, n: int) -> bool:
        """Whether there is nothing to approximate with n rows, so that the full matrix is used."""
        return False

    def residual(self, gram: LowRankGram) -> float:
        """The relative error of the approximation, from 0 to 1: the relative trace residual unless overridden."""
        return trace_residual(pick(gram.kernel.diag(gram.X), gram.rows), gram.Z)


def trace_residual(diag: Array, Z: Array) -> float:
    """trace(K - Z Z') / trace(K), from the diagonal of K."""
    trace = float(diag.sum())
    missing = trace - float(np.einsum("ij,ij->i", Z, Z).sum(dtype=float))
    share = missing / trace if trace > 0 else 0.0
    # Below zero by more than rounding: indefinite.
    return share if share < -_TRACE_ROUNDING[Z.dtype.itemsize] else max(share, 0.0)
