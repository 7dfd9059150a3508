"""What paths make of a kernel matrix, and hand on to others on the same kernel."""

from __future__ import annotations

from dataclasses import dataclass, field

from svmpath.solvers.box_program import Centred
from svmpath.solvers.feature_newton import Rows
from svmpath.solvers.spectral import Spectrum


@dataclass
class OfKernel:
    """What serves any labels and weights.

    Attributes
    ----------
    matrix : Centred or None
        The kernel matrix, held whole.
    rows : Rows or None
        Features whose inner products are the kernel, with the labels and weights of whoever made them.
    """

    matrix: Centred | None = None
    rows: Rows | None = None


@dataclass
class Made:
    """A store that is empty at first. Paths that share it, and with it kernel and weights, fill it as they need it.

    Attributes
    ----------
    of_kernel : OfKernel
    spectrum : Spectrum or None
        Of the weighted kernel matrix.
    merged : Made or None
        The store of the problem with one row for all copies of a sample.
    split : Made or None
        The store of the problem with one copy of each sample apart from the others.
    """

    of_kernel: OfKernel = field(default_factory=OfKernel)
    spectrum: Spectrum | None = None
    merged: Made | None = None
    split: Made | None = None

    def for_weights(self) -> Made:
        """The store of paths on the same kernel with other weights."""
        return Made(self.of_kernel, merged=None if self.merged is None else self.merged.for_weights())
