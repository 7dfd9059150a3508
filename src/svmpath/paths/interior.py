"""The one-class machine on many rows in low rank: each machine by an interior point method, to a small duality gap.

An exact path needs the full kernel matrix, and on many rows has very many events. With K = Z Z' a machine at one nu is
a program over a box in few features (``solvers.box_features``), whose cost grows with the rows alone. There are no
events between machines, so that the path knows no breakpoints but its ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from svmpath.exceptions import PathError
from svmpath.losses import Solution
from svmpath.losses.elbow import ElbowLoss
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.box_features import minimise_in_box
from svmpath.solvers.offset import middle
from svmpath.solvers.threads import blas_threads

_MACHINE_GAP = 1e-8  # relative duality gap of a machine
_ON_BOUND = 1e-8  # a coefficient nearer to its bound than this, relative to the box, is at it
_NEARLY_ALL = 1e-12  # a sum nearer to that of all weights than this, relative, is that


@dataclass(frozen=True, repr=False, eq=False)
class InteriorPath(Path):
    """A path over nu whose machines have a relative duality gap of about 1e-8; for many rows in low rank.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.JumpPath : Exact paths of losses with an elbow.
    svmpath.paths.NodePath : Approximate paths over C.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> X = np.random.default_rng(0).normal(size=(2500, 2))
    >>> path = svmpath.trace(X, loss="one_class", gamma=0.5, rank=30, random_state=0)
    >>> type(path).__name__, path(0.1).gap < 1e-6
    ('InteriorPath', True)
    """

    loss: ElbowLoss

    @property
    def is_exact(self) -> bool:
        """False: machines are optimal to a small gap."""
        return False

    @property
    def breakpoints(self) -> Array:
        """Both ends: events are not looked for."""
        return np.array(self.span)

    def _events(self) -> Iterable[Event]:
        return ()

    def _solve(self, value: float) -> Solution:
        known = self.store.of_path.machines
        if value not in known:
            known[value] = self._coefficients(value)
        theta, rho = known[value]
        t = self.path_parameter.t(value)
        return self.loss.read(self.distinct, self.path_parameter, t, theta, np.array([-rho]))

    def _coefficients(self, nu: float) -> tuple[Array, float]:
        """theta and nu W rho; coefficients next to a bound are put on it, and those between make up for that."""
        problem = self.distinct
        rows, every = problem.active, problem.gram.Z
        assert every is not None
        Z, s, theta = every[rows].astype(np.float64, copy=False), problem.s[rows], np.zeros(problem.n)
        total = nu * float(s.sum())
        if total >= (1.0 - _NEARLY_ALL) * s.sum():
            theta[rows] = s
            return theta, float((Z @ (Z.T @ s)).max())
        with blas_threads(Z.size):
            found = minimise_in_box(Z, s, total, _MACHINE_GAP)
        x = np.where(found.x < _ON_BOUND * s, 0.0, np.where(found.x > (1.0 - _ON_BOUND) * s, s, found.x))
        room = np.minimum(x, s - x)
        is_free = room.any()
        if is_free:
            x += room * ((total - x.sum()) / room.sum())
        theta[rows], product = x, Z @ (Z.T @ x)
        rho = np.average(product, weights=room) if is_free else middle(product[x > 0], product[x == 0])
        return theta, float(rho)

    def check(self, tol: float = 1e-6) -> None:
        """Raise :class:`svmpath.PathError` if the relative duality gap is larger at an end or in the middle."""
        for value in (*self.span, 0.5 * sum(self.span)):
            gap = self(float(value)).gap
            if not gap <= tol:
                raise PathError(
                    f"At {self.over} = {value:.6g} the relative duality gap is {gap:.2e} > {tol:.2e}: scale the "
                    "columns, or use a smaller rank=."
                )
