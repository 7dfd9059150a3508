"""The squared hinge over C on a full kernel matrix, in the coefficients of the samples.

To make features of a kernel matrix costs more than several machines. A path of which a few values are asked is followed
in the coefficients instead (``solvers.kernel_newton``), where the samples E on the left of the margin are a system of
their own. What has features only (every change of side, exact leave-one-out), and what the coefficients cannot resolve
because C is too large for the kernel, is done in features, as on every :class:`MarchPath`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.losses import Problem, Solution
from svmpath.paths.march import MarchPath
from svmpath.paths.path import Array, Path, Request
from svmpath.paths.store import KernelStore
from svmpath.solvers.kernel_newton import Coefficients, KernelNewton
from svmpath.solvers.samples import SampleSystem
from svmpath.solvers.threads import blas_threads

_UNRESOLVED = 1e-6  # of decision values; a machine that leaves more of its equations is found in features instead
_NEAR = 3.5  # most that the logarithm of C may differ from that of a known machine to start from it


@dataclass(frozen=True)
class SampleStop:
    """One value on the way: its position among the given values, the machine there, and the system it solves."""

    position: int
    C: float
    machine: Coefficients
    system: SampleSystem


@dataclass(frozen=True, repr=False, eq=False)
class SamplePath(MarchPath):
    """The squared hinge machine over C on a full kernel matrix."""

    @property
    def K(self) -> Array:
        """The kernel matrix."""
        assert isinstance(self.distinct.gram, DenseGram)
        return self.distinct.gram.K

    @property
    def has_both_classes(self) -> bool:
        """Whether both classes have weight, without which the systems of the coefficients may be empty."""
        y = self.distinct.y[self.distinct.active]
        return bool(np.any(y > 0) and np.any(y < 0))

    def _known_decisions(self, value: float) -> Array | None:
        """At the value nearest to this one of those visited so far."""
        nearest = _nearest(self.store.of_path.machines, value)
        return None if nearest is None else self.store.of_path.machines[nearest].f

    def walk_samples(self, values: Array) -> Iterator[SampleStop]:
        """Walk through the values from the smallest C to the largest, each from the last."""
        if not self.has_both_classes:
            raise PathError(
                "Only one class has weight, so that there is no margin: raise the weights of the other class."
            )
        newton = KernelNewton(self.K, self.distinct.y, self.distinct.s)
        now: Coefficients | None = None
        last: Coefficients | None = None
        for position in np.argsort(values, kind="stable"):
            C = float(values[position])
            with blas_threads(self.K.size):
                begin = self._begin(newton, C) if now is None else newton.prolonged(1.0 / C, now, last)
                machine, system = newton.at(1.0 / C, begin)
            E = machine.E
            rest = (self.distinct.y - machine.f)[E] - machine.u[E] / (2.0 * C * self.distinct.s[E])
            if np.abs(rest).max(initial=0.0) > _UNRESOLVED:  # of y - f = u / (2 C s)
                raise PathError(
                    f"At C = {C:.6g} the coefficients have too few digits: the kernel values are too large for this "
                    "C. Scale the columns (StandardScaler), or use smaller C."
                )
            now, last = machine, now
            self.store.of_path.machines[C] = machine
            yield SampleStop(int(position), C, machine, system)

    def _begin(self, newton: KernelNewton, C: float) -> Coefficients:
        """A machine to start from: a known one near C, one with the sides of a similar machine, or from small C."""
        nearest = _nearest(self.store.of_path.machines, C)
        if nearest is not None:
            return self.store.of_path.machines[nearest]
        if self.start is None:
            return newton.approach(C)
        return newton.with_sides(1.0 / C, self.distinct.y * self.start < 1.0)

    def without(self, rows: Array) -> Any:
        """The path of the same machine with weight zero for some rows."""
        return Path.without(self, rows)

    def _decisions(self, values: Array) -> Array:
        held = np.empty((len(values), self.distinct.n))
        try:
            for stop in self.walk_samples(values):
                held[stop.position] = stop.machine.f
        except PathError:
            return super()._decisions(values)
        return held

    def _solve(self, value: float) -> Solution:
        try:
            if value not in self.store.of_path.machines:
                next(self.walk_samples(np.array([value])))
        except PathError:
            return super()._solve(value)
        machine = self.store.of_path.machines[value]
        with blas_threads(self.distinct.gram.entries):
            return self.loss.polished(self.distinct, machine.u, machine.E, value)


def _nearest(known: Mapping[float, Any], C: float) -> float | None:
    """The value nearest to C, if it is near enough to start from."""
    nearest = min(list(known), key=lambda each: abs(log(each / C)), default=None)
    return nearest if nearest is not None and abs(log(nearest / C)) < _NEAR else None


def squared_hinge_path(problem: Problem, request: Request, store: KernelStore) -> MarchPath:
    """The path of the squared hinge: in the coefficients if the kernel matrix is held in full."""
    with blas_threads(problem.gram.entries):  # Z may be computed here
        kind = MarchPath if problem.gram.Z is not None else SamplePath
    return kind.of(problem, request, store)
