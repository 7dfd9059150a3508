"""What an approximation of a kernel matrix must be able to do: give Z with K ~ Z Z', and such features of new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.gram.features import Factor
from svmpath.kernels import Kernel

if TYPE_CHECKING:
    from svmpath.gram.low_rank import LowRankGram

Array = np.ndarray


class Approximation(ABC):
    """A way to approximate kernel matrices, given as ``rank=`` wherever a kernel can have low rank.

    A new one is a frozen dataclass with :meth:`factor` and :meth:`columns`; the other methods have defaults.
    """

    @abstractmethod
    def factor(self, kernel: Kernel, X: Any, seed: int) -> Factor:
        """Z for the rows of X, and the map to such features; the same for the same seed."""

    @abstractmethod
    def columns(self, n: int) -> int:
        """How many columns Z has at most for n rows, as far as that is known before Z is."""

    def check(self, kernel: Kernel, X: Any) -> None:  # noqa: B027 - by default every kernel will do
        """Refuse, in a sentence and before any work, a kernel or rows that cannot be approximated so."""

    def prepare(self, X: Any, seed: int) -> Callable[[Kernel], Factor]:
        """The factor as a function of the kernel, for many values of its parameters.

        Override it to compute once what does not depend on the kernel.
        """
        return partial(self.factor, X=X, seed=seed)

    def is_whole(self, n: int) -> bool:
        """Whether there is nothing to approximate with n rows: the matrix is then held whole."""
        return False

    def residual(self, gram: LowRankGram) -> float:
        """How much of the kernel is missing, from 0 (nothing) to 1: the relative trace residual unless overridden."""
        return trace_residual(gram.exact_diag, gram.Z)


def trace_residual(diag: Array, Z: Array) -> float:
    """trace(K - Z Z') / trace(K), from the diagonal of K."""
    trace = float(diag.sum())
    missing = trace - float(np.einsum("ij,ij->", Z, Z))
    share = missing / trace if trace > 0 else 0.0
    return share if share < -1e-10 else max(share, 0.0)  # below zero by more than rounding: indefinite
