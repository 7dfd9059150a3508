"""Held-out decision values of machines with an elbow, from the solution with all samples: exact, or frozen.

The work is done by ``solvers.removal``; here it is decided which samples have to be looked at. A sample without a
coefficient can be left out for nothing, unless the offset is an interval that this sample limits. Of the nu machine
every sample takes part in the sum of the coefficients, and none can be left out for nothing.

For the number of errors alone, of the hinge machine, more is known. While sample i is driven out, y_i f_i falls: its
slope is the span of i, and where the offset jumps it jumps against i. So a sample that is wrong in training is wrong
when left out, and a walk may end where y_i f_i has become negative, or where it is known to stay positive. This holds
as long as somebody stays on the elbow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import NoMarginError, PathError
from svmpath.losses import Solution
from svmpath.losses.elbow import ElbowLoss
from svmpath.losses.nu import Nu
from svmpath.paths import JumpPath
from svmpath.solvers.box_qp import EVERY, FREE, Walker
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.removal import LeftOut, Removal, inverse_in_features, is_held

Array = np.ndarray

_SHORT = 1e-4  # relative length of a path that is followed for one value
_FEW = 5  # samples on the elbow from which on it does not lose them all when one sample goes
_ZERO = 1e-9  # a decision value so small is zero


@dataclass(frozen=True)
class Held:
    """Held-out decision values at each value.

    Attributes
    ----------
    decisions : array of shape (m, n)
    events : array of int of shape (m,)
        Changes of place on the ways of all samples.
    passing : array of int of shape (m,)
        Samples for which, with all places frozen, somebody passes a bound.
    lost : array of int of shape (m,)
        Samples for which no exact value could be had.
    """

    decisions: Array
    events: Array
    passing: Array
    lost: Array


def held_out(
    path: JumpPath,
    values: Array,
    *,
    most: int = EVERY,
    find_crossings: bool = True,
    only_errors: bool = False,
    in_features: bool = False,
) -> Held:
    """Leave out every sample at every value; ``most`` and ``find_crossings`` as in ``solvers.removal``."""
    check_feasible(path, values)
    m, n = len(values), path.problem.n
    held = Held(np.empty((m, n)), *(np.zeros(m, dtype=int) for _ in range(3)))
    Z = _features(path) if in_features else None
    for k, walker in path.states(values):
        f = path.decided(walker)
        # Where nobody holds the offset it is the middle of an interval, and the last step of a walk, to that middle,
        # can be in favour of the sample: the walks that can end so, from a small elbow, are gone to their end.
        falls = only_errors and is_held(walker) and len(walker.F) > _FEW
        removal, rows = samples(path, walker, f if falls else None)
        if Z is not None:
            F = walker.F
            inverse = inverse_in_features(walker.program.group[F], Z[walker.program.rows[F]], len(walker.nu))
            removal = replace(removal, inverse=inverse)
        left = _leave_out(path, removal, rows, most, find_crossings, falls)
        _see_margin(path, removal, rows, left)
        f[rows] = path.loss.decide(left.product, left.nu, path.motion.at(walker.t))
        f[np.abs(f) <= _ZERO] = 0.0  # a tie is one, whatever rounding says
        held.lost[k] = _repair(path, float(values[k]), rows[left.failed], f)
        held.decisions[k] = f
        held.events[k], held.passing[k] = left.events.sum(), path.problem.count(rows[left.passes])
    return held


def _features(path: JumpPath) -> Array:
    """Z with K = Z Z'."""
    if path.gram.Z is not None:
        return path.gram.Z
    values, Q = interruptible(np.linalg.eigh, path.shared.K)
    return Q * np.sqrt(np.maximum(values, 0.0))


def samples(path: JumpPath, walker: Walker, f: Array | None = None) -> tuple[Removal, Array]:
    """The samples that cannot be left out for nothing; given decision values f, not those that are wrong anyway."""
    program, problem, t = walker.program, path.problem, walker.t
    variables = np.argsort(program.rows, kind="stable").reshape(problem.n, -1)
    size = np.abs(walker.theta[variables]) + np.where(walker.status[variables] == FREE, np.finfo(float).tiny, 0.0)
    # Of two variables of a sample one is zero: the other one comes first.
    variables = np.take_along_axis(variables, np.argsort(-size, axis=1, kind="stable"), axis=1)
    change = path.loss.released(problem, t)
    needed = (size > 0).any(axis=1) | (change != 0).any(axis=1) | (not is_held(walker))
    needed &= (program.up(t) > program.low(t))[variables[:, 0]] | (size > 0).any(axis=1)
    if f is not None:
        needed &= problem.y * f >= -_ZERO
    rows = np.flatnonzero(needed & problem.is_counted())
    return Removal(walker, variables[rows], change[rows]), rows


def _leave_out(
    path: JumpPath, removal: Removal, rows: Array, most: int, find_crossings: bool, only_errors: bool
) -> LeftOut:
    turns = levels = None
    if only_errors:  # y f = y (g - c) / lambda
        y, here = path.problem.y[rows], removal.here
        turns, levels = y, y * here.c0[removal.variables[:, 0]]
    return removal.leave_out(most=most, find_crossings=find_crossings, trust=path.trust, turns=turns, levels=levels)


def _repair(path: JumpPath, value: float, rows: Array, f: Array) -> int:
    """Solve without each of these samples by a path of its own; how many have no answer even so."""
    lost = 0
    for i in rows:
        try:
            f[i] = _alone(path, value, int(i)).fitted[i]
        except NoMarginError:
            raise
        except PathError:
            lost += path.problem.count(np.array([i]))
    return lost


def _alone(path: JumpPath, value: float, i: int) -> Solution:
    """The machine without sample i at one value, by a short path."""
    low, high = sorted(path.span)
    near = value * (1 + _SHORT) if value * (1 + _SHORT) <= high else value * (1 - _SHORT)
    return replace(path.without(np.array([i])), span=(value, near) if value > 0.0 else (low, high))(value)


def _see_margin(path: JumpPath, removal: Removal, rows: Array, left: LeftOut) -> None:
    """Refuse a nu at which the margin vanishes without some sample; approximate ways there are gone exactly."""
    t, problem = removal.walker.t, path.problem
    bad = np.flatnonzero(~left.failed & ~path.loss.exists(problem, left.nu, t))
    if len(bad) == 0:
        return
    again = Removal(removal.walker, removal.variables[bad], removal.change[bad]).leave_out(trust=path.trust)
    if not path.loss.exists(problem, again.nu, t).all():
        raise NoMarginError(
            f"At {path.over} = {path.motion.value(t):.6g} the margin vanishes when sample "
            f"{rows[bad[~path.loss.exists(problem, again.nu, t)][0]]} is left out: there is no machine without it. "
            f"Leave-one-out needs a larger {path.over}."
        )
    left.product[bad], left.nu[:, bad], left.failed[bad] = again.product, again.nu, again.failed


def check_feasible(path: JumpPath, values: Array) -> None:
    """Refuse a nu for which there is no machine without some sample."""
    if not isinstance(path.loss, Nu):
        return
    problem = path.problem
    y, s = problem.y, problem.s
    totals = [s[y > 0].sum(), s[y < 0].sum()]
    own = np.where(y > 0, *totals) - s
    shares = 2.0 * np.minimum(own, np.where(y > 0, *totals[::-1])) / (s.sum() - s)
    largest = float(np.min(shares[problem.is_counted()]))
    if values.max() > largest * (1 + 1e-12):
        raise ValueError(
            f"nu = {values.max():.6g} is infeasible when a sample of the smaller class is left out: leave-one-out "
            f"needs nu of at most {largest:.6g}."
        )


def elbow_only(path: object, criterion: str) -> JumpPath:
    """The path, refused if it is not an exact one of a loss with an elbow."""
    if isinstance(path, JumpPath):
        return path
    loss = getattr(path, "loss", None)
    if isinstance(loss, ElbowLoss):
        raise ValueError(
            f"criteria.{criterion} needs an exact path: leave tol out (up to 20 000 samples), or use criteria.kfold."
        )
    raise ValueError(f"criteria.{criterion} is made for losses with an elbow; this path has {loss!r}.")
