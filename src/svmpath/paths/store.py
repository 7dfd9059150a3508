"""What paths on one kernel compute once and share.

A path is not modified, with one exception: its store. Lazy attributes are no exception, as they have the same value
whenever they are first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from svmpath.gram import Gram
from svmpath.solvers.box_program import Centred
from svmpath.solvers.feature_newton import AnyRows
from svmpath.solvers.samples import OneValue
from svmpath.solvers.spectral import Spectrum


@dataclass
class OfKernel:
    """Results that do not depend on labels and weights.

    Attributes
    ----------
    distinct : Gram or None
        The Gram matrix with one row for all copies of a sample.
    matrix : Centred or None
        The full kernel matrix of the distinct rows.
    rows : Rows, SingleRows or None
        Features whose inner products are the kernel, with the labels and weights of the path that computed them.
    """

    distinct: Gram | None = None
    matrix: Centred | None = None
    rows: AnyRows | None = None


@dataclass
class OfWeights:
    """Results that do not depend on labels.

    Attributes
    ----------
    spectrum : Spectrum or None
        The spectrum of the weighted kernel matrix.
    factors : dict of OneValue
        What least squares needs of the weighted kernel matrix at single values of C.
    split : KernelStore or None
        The store of the problem with one copy of each sample apart from the others.
    together : Together or None
        The problems of all classes on the full kernel of many rows, which are solved together.
    """

    spectrum: Spectrum | None = None
    factors: dict[float, OneValue] = field(default_factory=dict)
    split: KernelStore | None = None
    together: Any = None


@dataclass
class OfPath:
    """What a path has met on its way: the next machine is found from the nearest of these.

    Attributes
    ----------
    points : dict
        Points along the path, packed, by where they are.
    machines : dict
        Machines in the coefficients of the samples, by C.
    newton : dict
        What found the machines of the last walk under the key "last", for the walk that takes it out: it needs a few
        rows more or less.
    scored : tuple of Path and array, or None
        The path that a criterion followed in place of this one, and its row for each of these.
    """

    points: dict[Any, Any] = field(default_factory=dict)
    machines: dict[float, Any] = field(default_factory=dict)
    newton: dict[str, Any] = field(default_factory=dict)
    scored: tuple[Any, Any] | None = None


@dataclass
class KernelStore:
    """A store that is empty at first, and is filled by the paths that share it.

    Attributes
    ----------
    of_kernel : OfKernel
        Shared by all paths on the same kernel.
    of_weights : OfWeights
        Shared by those that have the same weights as well.
    of_path : OfPath
        Of one path, whatever its span.
    """

    of_kernel: OfKernel = field(default_factory=OfKernel)
    of_weights: OfWeights = field(default_factory=OfWeights)
    of_path: OfPath = field(default_factory=OfPath)

    def for_labels(self) -> KernelStore:
        """The store of a path with other labels on the same kernel and weights."""
        return KernelStore(self.of_kernel, self.of_weights)

    def for_weights(self) -> KernelStore:
        """The store of a path with other weights on the same kernel."""
        return KernelStore(self.of_kernel)

    @property
    def split(self) -> KernelStore:
        """The store of the problem with one copy of each sample apart from the others."""
        if self.of_weights.split is None:
            self.of_weights.split = KernelStore()
        return self.of_weights.split

    def forget_factors(self) -> None:
        """Free what single values of C took up, also with copies apart."""
        for store in (self, self.of_weights.split):
            if store is not None:
                store.of_weights.factors.clear()
