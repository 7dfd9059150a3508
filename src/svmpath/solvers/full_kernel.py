"""Machines on the full kernel without a factor of it: many columns (values of C, folds, classes) by products K V.

For each column, with weights s (zero for samples that are held out) and u = 1 - y f or y - f::

    minimise   C sum_i s_i L(u_i) + 1/2 a' K a,      f = K a + b,   1'a = 0

for L = u^2, which is one system, and L = max(0, u)^2, whose Newton steps are systems on E = {i : u_i > 0}. The systems
of all columns are solved together (``solvers.preconditioned``). Dual coefficients have the sign of y for the squared
hinge; those of a column that are not feasible are brought to it, and the column is done when the duality gap at them,

    sum_i [ C s_i L(u_i) + a_i^2 / (4 C s_i) - a_i z_i u_i ]      (z = y or 1)

is small relative to the primal objective. The gap is computed with ``exact`` products: with products in single
precision the next step begins with what is left, which refines the solution to double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.interrupts import checkpoint
from svmpath.progress import begin, doing, part_done
from svmpath.solvers.pieces import Pieces
from svmpath.solvers.preconditioned import FactorProducts, Preconditioner, Product, conjugate_gradients

Array = np.ndarray

_MOST_STEPS = 60  # of Newton's method
_STALLS = 3  # steps without a smaller gap or objective, after which what is left is rounding
_ROUNDING = 1e-12  # of an objective, or of coefficients
_TINY = np.finfo(float).tiny
_ENOUGH = 0.3  # of the gap that is asked for, which the last system may leave


@dataclass(frozen=True)
class FullMachines:
    """Machines on the full kernel, one in each column.

    Attributes
    ----------
    a : array of shape (n, m)
        Dual coefficients, feasible.
    b : array of shape (m,)
    f : array of shape (n, m)
        Decision values of all rows, also of those without weight.
    gap : array of shape (m,)
        Duality gap, relative to the primal objective.
    products : int
        Products K V, exact ones included.
    steps : int
        Steps of Newton's method.
    """

    a: Array
    b: Array
    f: Array
    gap: Array
    products: int
    steps: int

    @staticmethod
    def join(parts: list[FullMachines]) -> FullMachines:
        """The columns of all parts."""
        a, b, f, gap = (
            np.concatenate([getattr(each, name) for each in parts], axis=-1) for name in ("a", "b", "f", "gap")
        )
        return FullMachines(a, b, f, gap, sum(each.products for each in parts), sum(each.steps for each in parts))

    def take(self, some: slice) -> FullMachines:
        """Some of the columns."""
        return FullMachines(self.a[:, some], self.b[some], self.f[:, some], self.gap[some], self.products, self.steps)


@dataclass(frozen=True)
class _Columns:
    """What is given of all columns."""

    loss: Pieces
    y: Array
    s: Array
    C: Array

    def take(self, some: Array) -> _Columns:
        return _Columns(self.loss, self.y[:, some], self.s[:, some], self.C[some])

    def of(self, function: str, *arrays: Array) -> Array:
        """A function of the loss, column by column."""
        columns = [getattr(self.loss, function)(*each) for each in zip(*(array.T for array in arrays), strict=True)]
        return np.stack(columns, axis=1)

    def feasible(self, a: Array) -> Array:
        """The nearest coefficients of the right sign, with those of one sign made smaller so that they sum to zero."""
        low, high = self.loss.range
        signed = np.clip(self.loss.signed(self.y, a), low if low == 0.0 else None, high if high == 0.0 else None)
        a = np.where(self.s > 0.0, self.loss.signed(self.y, signed), 0.0)
        positive, negative = np.maximum(a, 0.0).sum(axis=0), np.maximum(-a, 0.0).sum(axis=0)
        least = np.minimum(positive, negative)
        up = np.divide(least, positive, out=np.zeros_like(least), where=positive > 0.0)
        down = np.divide(least, negative, out=np.zeros_like(least), where=negative > 0.0)
        return np.where(a > 0.0, up * a, down * a)

    def offsets(self, Ka: Array) -> Array:
        """The best offset of each column."""
        columns = zip(Ka.T, self.y.T, self.s.T, strict=True)
        return np.array([self.loss.best_offset(each, y, s) for each, y, s in columns])

    def gaps(self, a: Array, Ka: Array, b: Array) -> tuple[Array, Array]:
        """The duality gap at feasible coefficients, and the primal objective."""
        box, u, slope = self.at(a, Ka, b)
        return (box * self.of("excess", u, slope)).sum(axis=0), self.primal(a, Ka, b)

    def at(self, a: Array, Ka: Array, b: Array) -> tuple[Array, Array, Array]:
        """C s, u, and the slopes L' that the coefficients stand for."""
        box = self.C * self.s
        slope = np.divide(self.loss.signed(self.y, a), box, out=np.zeros_like(a), where=box > 0.0)
        return box, self.of("u", self.y, Ka + b), slope

    def primal(self, a: Array, Ka: Array, b: Array) -> Array:
        """The primal objective."""
        u = self.of("u", self.y, Ka + b)
        return np.asarray((self.C * self.s * self.of("value", u)).sum(axis=0) + 0.5 * (a * Ka).sum(axis=0))

    def sides(self, Ka: Array, b: Array) -> Array:
        """E: the samples with a weight on a curved piece."""
        E = self.of("region", self.of("u", self.y, Ka + b))
        return self.loss.is_curved(E) & (self.s > 0.0)


def solve_full(
    loss: Pieces,
    Z: Array,
    y: Array,
    s: Array,
    C: Array,
    fast: Product,
    *,
    exact: Product | None = None,
    tol: float = 1e-3,
    start: Array | None = None,
) -> FullMachines:
    """Solve the machines of all columns on the full kernel.

    Parameters
    ----------
    loss : Pieces
        u^2 or max(0, u)^2: one curvature, and constant elsewhere.
    Z : array of shape (n, r)
        A factor with Z Z' ~ K, for the preconditioner.
    y, s : arrays of shape (n, m)
        Labels or targets, and weights, of each column.
    C : array of shape (m,)
    fast : callable
        K V in the precision of the systems.
    exact : callable, optional
        K V in double precision; ``fast`` if None, and then the gap is known up to the rounding of ``fast``.
    tol : float
        The duality gap that is small enough, relative to the primal objective.
    start : array of shape (n, m), optional
        Coefficients to begin with, such as those in low rank.
    """
    exact = exact or fast
    every, n_columns = _Columns(loss, y, s, np.asarray(C, dtype=float)), y.shape[1]
    a = every.feasible(np.zeros(y.shape) if start is None else start)
    Ka = exact(a) if a.any() else np.zeros(y.shape)
    products, steps = int(a.any()), 0
    b = every.offsets(Ka)
    found = [a.copy(), b.copy(), Ka + b, np.full(n_columns, np.inf)]
    stalls, lowest_yet, known = np.zeros(n_columns, dtype=int), np.full(n_columns, np.inf), FactorProducts(Z)
    open_columns, largest, inner = np.arange(n_columns), np.inf, 0

    def told(V: Array) -> Array:
        """A product inside a step, which may take a minute: said before it is done."""
        nonlocal inner
        inner += 1
        doing(f"gap {largest:.1g} after {products + inner} products")
        return fast(V)

    begin("full kernel")
    while True:
        # What feasible coefficients make of the machine: these are the ones to keep.
        given = every.take(open_columns)
        feasible = given.feasible(a)
        changed = np.abs(feasible - a).max(axis=0) > _ROUNDING * np.abs(a).max(axis=0)
        K_feasible, differs = Ka.copy(), np.flatnonzero(changed)
        if len(differs):
            K_feasible[:, differs] += exact(feasible[:, differs] - a[:, differs])
            products += 1
        offsets = given.offsets(K_feasible)
        gap, primal = given.gaps(feasible, K_feasible, offsets)
        relative = gap / np.maximum(np.abs(primal), _TINY)
        better = relative < found[3][open_columns]
        for kept, new in zip(found, (feasible, offsets, K_feasible + offsets, relative), strict=True):
            kept[..., open_columns[better]] = new[..., better]
        lowest, objective = lowest_yet[open_columns], given.primal(a, Ka, b)
        falls = objective < (1.0 - _ROUNDING) * lowest  # infinite at first
        lowest_yet[open_columns] = np.minimum(lowest, objective)
        stalls[open_columns] = np.where(better | falls, 0, stalls[open_columns] + 1)
        part_done()
        largest, inner = float(relative.max(initial=0.0)), 0
        doing(f"gap {largest:.1g} after {products} products")
        stays = (relative > tol) & (stalls[open_columns] < _STALLS)
        if not stays.any() or steps == _MOST_STEPS:
            break
        checkpoint()
        open_columns, given = open_columns[stays], given.take(stays)
        a, Ka, b = a[:, stays], Ka[:, stays], b[stays]
        aim, used = _aim(given, known, (a, Ka, b), told, _ENOUGH * tol)
        products, steps = products + used, steps + 1
        a, b = _on_the_way(given, (a, Ka, b), aim)
        Ka = exact(a)
        products += 1
    a, b, f, gap = found
    return FullMachines(a, b, f, gap, products, steps)


def gap_beyond(loss: Pieces, y: Array, s: Array, C: Array, found: FullMachines, off: Array) -> Array:
    """How much larger relative gaps may be if decision values are off by at most so much in each column.

    The derivative of a gap by u_i is C s_i (L'(u_i) - a_i z_i / (C s_i)), zero for a machine without a gap, and the
    second one at most C s_i times the curvature: rounding counts by its square.
    """
    given = _Columns(loss, y, s, C)
    box, u, slope = given.at(found.a, found.f, np.zeros(len(C)))
    first = (box * np.abs(given.of("derivative", u) - slope)).sum(axis=0)
    primal = (box * given.of("value", u)).sum(axis=0) + 0.5 * np.abs((found.a * found.f).sum(axis=0))
    return np.asarray(off * (first + 0.5 * loss.largest * off * box.sum(axis=0)) / np.maximum(primal, _TINY))


def _aim(
    given: _Columns, known: FactorProducts, here: tuple[Array, Array, Array], fast: Product, tol: float
) -> tuple[tuple[Array, Array, Array], int]:
    """The machines of the samples E (coefficients, product with K, offset), and how many products they took."""
    a, Ka, b = here
    E = given.sides(Ka, b)
    E = np.where(E.any(axis=0), E, given.s > 0.0)  # with no sample left of the margin, all count
    e = np.where(E, given.s, 0.0)
    d = given.loss.largest * given.C * e
    scales = (given.loss.largest * given.C).tolist()
    factors = [scale * G for scale, G in zip(scales, known.of_columns(e), strict=True)]
    first = np.where(E, a, 0.0)
    first -= d * (first.sum(axis=0) / d.sum(axis=0))
    K_first, used = Ka, 0
    if (first != a).any():
        K_first, used = Ka + fast(first - a), 1
    precondition = Preconditioner.of(known.Z, d, factors)
    # Where sides change, a machine that is better than this one is good enough to look at them again.
    ceiling = (
        np.inf if not given.loss.knots else 0.5 * (d * (given.y - Ka - b) ** 2).sum(axis=0) + 0.5 * (a * Ka).sum(axis=0)
    )
    solved = conjugate_gradients(fast, precondition, given.y, (first, K_first), tol, ceiling)
    # The offset that is best on E: with that of all samples, the way there need not lead downwards.
    offset = (d * (given.y - solved.product)).sum(axis=0) / d.sum(axis=0)
    return (solved.a, solved.product, offset), used + solved.products


def _on_the_way(
    given: _Columns, here: tuple[Array, Array, Array], there: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """Coefficients and offset where the primal objective is lowest between two machines."""
    (a, Ka, b), (aim, K_aim, b_aim) = here, there
    u, rate = given.of("u", given.y, Ka + b), given.loss.signed(given.y, -(K_aim + b_aim - Ka - b))
    level, steep = ((aim - a) * Ka).sum(axis=0), ((aim - a) * (K_aim - Ka)).sum(axis=0)
    t = np.ones(len(b))
    for j in np.flatnonzero((given.sides(Ka, b) != given.sides(K_aim, b_aim)).any(axis=0)):
        weights = given.C[j] * given.s[:, j]
        t[j] = given.loss.lowest(u[:, j], rate[:, j], weights, float(level[j]), float(steep[j]))
    return np.where(t == 1.0, aim, a + t * (aim - a)), np.where(t == 1.0, b_aim, b + t * (b_aim - b))
