"""Results computed from a kernel matrix, which paths on the same kernel share."""

from __future__ import annotations

from dataclasses import dataclass, field

from svmpath.solvers.box_program import Centred
from svmpath.solvers.feature_newton import AnyRows
from svmpath.solvers.samples import OneValue
from svmpath.solvers.spectral import Spectrum


@dataclass
class OfKernel:
    """Results that do not depend on labels and weights.

    Attributes
    ----------
    matrix : Centred or None
        The full kernel matrix.
    rows : Rows, SingleRows or None
        Features whose inner products are the kernel, with the labels and weights of the path that computed them.
    """

    matrix: Centred | None = None
    rows: AnyRows | None = None


@dataclass
class Made:
    """A store that is empty at first, and is filled by the paths that share it; they have the same kernel and weights.

    Attributes
    ----------
    of_kernel : OfKernel
    spectrum : Spectrum or None
        The spectrum of the weighted kernel matrix.
    factors : dict of OneValue
        What least squares needs of the weighted kernel matrix at single values of C.
    merged : Made or None
        The store of the problem with one row for all copies of a sample.
    split : Made or None
        The store of the problem with one copy of each sample apart from the others.
    """

    of_kernel: OfKernel = field(default_factory=OfKernel)
    spectrum: Spectrum | None = None
    factors: dict[float, OneValue] = field(default_factory=dict)
    merged: Made | None = None
    split: Made | None = None

    def for_weights(self) -> Made:
        """The store of paths on the same kernel with other weights."""
        return Made(self.of_kernel, merged=None if self.merged is None else self.merged.for_weights())

    def forget_factors(self) -> None:
        """Free what single values of C took up, also of merged rows."""
        for made in (self, self.merged, self.split):
            if made is not None:
                made.factors.clear()
