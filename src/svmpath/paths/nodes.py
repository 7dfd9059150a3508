"""Certified approximate paths over C for losses with an elbow: nodes, straight lines between them, a bound on the gap.

In theta = lambda alpha, lambda b and lambda = 1 / C the exact path is piecewise linear, with an event for every sample
that changes its place, of which there can be very many. Here only some machines on it are found, each to a small
duality gap (``solvers.smoothed``), and the machines in between are mixtures of their two neighbours. Mixtures are
feasible, so that their duality gap can be bounded all along the line from what is known at its ends; nodes are put so
close to each other that the bound is at most ``tol``, relative to the primal objective.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy
from svmpath.losses import ElbowLoss, Solution, feature_rows
from svmpath.paths.path import Array, Event, Path, changes
from svmpath.solvers.smoothed import Node, Seen, Terms, between, middle_offset, node_of, solve
from svmpath.solvers.threads import blas_threads

_NODE = 0.3  # share of tol that the gap of a node may have
_SHARE_AIMED_AT = 0.75  # share of tol that a stretch is made for
_FIRST, _WIDEST = 1.05, 4.0  # factor from the first C to the second, and the largest one
_MOST_FAILURES = 12  # times that a stretch is made shorter in vain
_AT_BOUND = 1e-6  # a coefficient nearer to its bound than this, relative to the box, is at it
_H = 0.01  # the smoothing to begin with


@dataclass(frozen=True, repr=False, eq=False)
class NodePath(Path):
    """A path over C whose machines have a relative duality gap of at most ``tol``.

    Attributes
    ----------
    tol : float

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.JumpPath : Exact paths of losses with an elbow.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(2500, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(0.1, 1.0), tol=1e-2, rank=20, random_state=0)
    >>> type(path).__name__, path(0.3).gap <= 1e-2
    ('NodePath', True)
    """

    loss: ElbowLoss
    tol: float

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, gaps up to {self.tol:g}>"

    @property
    def is_exact(self) -> bool:
        """False: machines are optimal to a gap of ``tol``."""
        return False

    @property
    def _A(self) -> Array:
        """Centred features and a column of ones."""
        if self.store.of_kernel.rows is None:
            self.store.of_kernel.rows = feature_rows(self.distinct)
        return self.store.of_kernel.rows.A

    @lazy
    def terms(self) -> Terms:
        """The terms of the loss, one or two per sample."""
        return Terms(self._A, *self.loss.terms(self.distinct, self.path_parameter.fixed))

    @lazy
    def nodes(self) -> list[Node]:
        """Machines along the path, from the smallest C to the largest."""
        with blas_threads(0):  # products of one vector: a second thread gains little, and loses much on a busy machine
            return self._walk(*sorted(self.span))

    def _walk(self, low: float, high: float) -> list[Node]:
        if len(np.unique(self.terms.side[self.terms.s > 0])) < 2:  # one class: f is its label
            return [self._constant(1.0 / low), self._constant(1.0 / high)]
        kept = Seen(self.terms)  # of this walk alone: several threads may use a path
        nodes, factor, failures = [self._node(1.0 / low, [], kept)], _FIRST, 0
        if not nodes[0].relative <= self.tol:
            failures = _MOST_FAILURES + 1
        while nodes[-1].lam > 1.0 / high or failures:
            if failures > _MOST_FAILURES:
                raise PathError(
                    f"No machine with a gap below {self.tol:.1e} was found next to C = {1 / nodes[-1].lam:.6g}: use a "
                    "larger tol or a smaller C, or scale the columns."
                )
            checkpoint()
            here = nodes[-1]
            lam = max(here.lam / factor, 1.0 / high)
            node = self._node(lam, nodes[-2:], kept)
            bound = between(here, node)
            ratio = here.lam / lam
            if bound <= self.tol:
                nodes.append(node)
            failures = 0 if bound <= self.tol else failures + 1
            # What a stretch adds to the gap grows like its length squared.
            own = max(here.relative, node.relative)
            grown = max(bound - own, 1e-3 * self.tol)
            room = min(_SHARE_AIMED_AT * self.tol, 0.9 * (self.tol - own))
            scale = np.sqrt(room / grown) if room > 0.0 and bound < np.inf else 0.2
            factor = min(1.0 + (ratio - 1.0) * float(np.clip(scale, 0.2, 3.0 if bound <= self.tol else 0.8)), _WIDEST)
        return nodes

    def _constant(self, lam: float) -> Node:
        """The machine of the only class that has weight."""
        label = float(self.terms.side[self.terms.s > 0].flat[0])
        return node_of(self.terms, lam, np.zeros_like(self.terms.s), lam * label, 0.0)

    def _node(self, lam: float, last: list[Node], kept: Seen | None = None) -> Node:
        """The machine at lambda, from the last two prolonged, and with the rows that the last one was found with."""
        start, h = np.zeros(self._A.shape[1]), _H * 100
        if last:
            start, h = last[-1].x / lam, _H
        if len(last) == 2:
            one, two = last
            start = (two.x + (two.x - one.x) * (lam - two.lam) / (two.lam - one.lam)) / lam
        return solve(self.terms, lam, _NODE * self.tol, start, h, kept)

    @property
    def breakpoints(self) -> Array:
        """The values of C of the nodes, in the direction of the span."""
        values = np.array([1.0 / node.lam for node in self.nodes])
        values[[0, -1]] = sorted(self.span)
        return values if self.span[0] <= self.span[1] else values[::-1]

    def _events(self) -> Iterable[Event]:
        """Changes of place between one node and the next, recorded where first seen."""
        nodes = self.nodes if self.span[0] <= self.span[1] else self.nodes[::-1]
        places = (self.loss.term_places(node.a, self.terms.s, _AT_BOUND) for node in nodes)
        return changes((1.0 / node.lam for node in nodes), places, self.loss.names)

    def _solve(self, value: float) -> Solution:
        lams = np.array([node.lam for node in self.nodes])
        lam = float(np.clip(1.0 / value, lams[-1], lams[0]))
        k = int(np.clip(np.searchsorted(-lams, -lam), 1, max(len(lams) - 1, 1)))
        one, two = self.nodes[k - 1], self.nodes[min(k, len(lams) - 1)]
        tau = (one.lam - lam) / (one.lam - two.lam) if one.lam != two.lam else 0.0
        a = (1 - tau) * one.a + tau * two.a
        x = (1 - tau) * one.x + tau * two.x
        alpha = value * (self.terms.side * a).sum(axis=0)
        x[-1] = middle_offset(self.terms, value * x) / value
        # The b of f = K alpha + b, from the offset of the centred features.
        row = int(np.argmax(self.distinct.s))
        b = float(value * (self._A[row] @ x) - (self.distinct.gram.block([row], slice(None)) @ alpha)[0])
        parameters = {**self.path_parameter.fixed, "C": value, **self.gram.kernel.parameters}
        return Solution(self.distinct, self.loss, alpha, b, parameters)

    def node(self, value: float) -> Node:
        """A machine at a value of C that is computed, not interpolated."""
        lams = np.array([node.lam for node in self.nodes])
        k = int(np.argmin(np.abs(np.log(lams * value))))
        return self._node(1.0 / value, [replace(self.nodes[k], x=self.nodes[k].x / (lams[k] * value))])

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if the gap is larger than guaranteed, or than ``tol`` if that is larger."""
        allowed = max(self.tol, tol)
        nodes = self.breakpoints
        for value in np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])]):
            gap = self(float(value)).gap
            if not gap <= allowed:
                raise PathError(
                    f"At C = {value:.6g} the relative duality gap is {gap:.2e} > {allowed:.2e}: scale the columns, end "
                    "the span earlier, or trace with a larger tol."
                )

    def without(self, rows: Array) -> NodePath:
        """The path of the same machine with weight zero for some rows, in the same features."""
        self._A  # noqa: B018 - computed with all weights, including those of the samples left out
        return super().without(rows)
