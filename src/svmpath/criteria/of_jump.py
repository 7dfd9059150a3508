"""Held-out values of machines with an elbow, from the solution with all samples: exact, or with fixed places.

With fixed places, the elbow E, M = [0, 1'; 1, K_EE] and R = M^-1, leaving out a sample with coefficient alpha_i gives

    f^(-i)(x_i) = f(x_i) - alpha_i s_i,      s_i = 1 / R_ii on the elbow,      s_i = K_ii - v'R v otherwise,

v = (1, K_Ei): for the hinge and the epsilon-insensitive loss alike. s_i is the squared distance from sample i to the
affine hull of the (other) elbow points, the span of Vapnik and Chapelle: with the offset in it, approximate
leave-one-out is their span rule. Xu's formula is the one without the border of M, which is right for machines without
offset.

The nu machine has a row in M for each class, and the sum of its coefficients is nu (W - s_i) without sample i: its
rates are those of ``solvers.removal`` with that change.

If the elbow is empty, the offset is an interval, and leaving out i moves it to one of its ends, at which another sample
comes to the elbow; this one change is made before the places are fixed. With explicit features Z, K = Z Z', R is
computed from the singular values of the centred rows Z_E, and no kernel value is needed.

The work is done by ``solvers.removal``; this file decides which samples need it. Leaving out a sample whose coefficient
is zero changes nothing, unless the offset is an interval that this sample limits. In the nu machine every sample takes
part in the sum of the coefficients, so leaving out any sample changes the machine.

For the number of errors of the hinge machine, more is known. While sample i is removed, y_i f_i falls: its slope is
minus the span of i, and if the offset jumps, it jumps against i. So a sample that is misclassified in training is
misclassified when left out, and a removal may end when y_i f_i has become negative, or is known to stay positive. This
holds as long as some sample stays on the elbow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.criteria.curve import Screened, error
from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.sources import AtValues
from svmpath.exceptions import NoMarginError, PathError
from svmpath.losses import Solution
from svmpath.paths import JumpPath
from svmpath.solvers.box_qp import EVERY, FREE, Walker
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.removal import LeftOut, Removal, inverse_in_features, is_held

Array = np.ndarray

_SHORT = 1e-4  # relative length of a path that is followed for one value
_FEW = 5  # samples on the elbow from which on it does not lose them all when one sample goes
_ZERO = 1e-9  # a decision value so small is zero


FORMS = ("direct", "features")


def leave_one_out_jump(
    path: JumpPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Drive every sample out of the machine, from event to event."""
    rows, most = np.arange(path.problem.n), _check_events(max_events)
    if not count_only:
        found = drive_out(path, values, most=most)
        return HeldOut(rows, found.decisions, found.unsolved if most == EVERY else found.crossing)
    if max_events is not None:
        raise ValueError("count_only=True finds the exact error rate of a classification; leave max_events out.")
    found = drive_out(path, values, only_errors=path.loss.falls_when_left_out)
    screened = Screened(error(path.problem.y, found.decisions) > 0, found.decisions)
    return HeldOut(rows, _Exact(path, values), found.unsolved, screened)


def _check_events(max_events: int | None) -> int:
    if max_events is None:
        return EVERY
    if not isinstance(max_events, (int, np.integer)) or isinstance(max_events, bool) or max_events < 0:
        raise ValueError(f"max_events must be a whole number >= 0 or None, got {max_events!r}.")
    return int(max_events)


def predict_left_out_jump(
    path: JumpPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their places."""
    if screen is not None:
        raise ValueError(f"screen= works for the squared hinge only, but this path has {path.loss!r}; leave it out.")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    found = drive_out(path, values, most=0, find_crossings=False, in_features=form == "features")
    return HeldOut(np.arange(path.problem.n), found.decisions, _Doubts(path, values))


@dataclass(frozen=True)
class _Exact(AtValues):
    """Computes the exact decision values, of shape (m, n)."""

    path: JumpPath
    values: Array

    def __call__(self) -> Array:
        return drive_out(self.path, self.values).decisions


@dataclass(frozen=True)
class _Doubts(AtValues):
    """Counts the samples whose removal makes another sample change its place."""

    path: JumpPath
    values: Array

    def __call__(self) -> Array:
        return drive_out(self.path, self.values, most=0).crossing


@dataclass(frozen=True)
class DrivenOut:
    """Held-out decision values at each value, and what it took.

    Attributes
    ----------
    decisions : array of shape (m, n)
    events : array of int of shape (m,)
        Changes of place during the removal of all samples.
    crossing : array of int of shape (m,)
        Number of samples for which, with all places fixed, a variable crosses a bound.
    unsolved : array of int of shape (m,)
        Number of samples for which no exact value could be computed.
    """

    decisions: Array
    events: Array
    crossing: Array
    unsolved: Array


def drive_out(
    path: JumpPath,
    values: Array,
    *,
    most: int = EVERY,
    find_crossings: bool = True,
    only_errors: bool = False,
    in_features: bool = False,
) -> DrivenOut:
    """Leave out every sample at every value; ``most`` and ``find_crossings`` as in ``solvers.removal``."""
    path.loss.check_left_out(path.problem, values)
    m, n = len(values), path.problem.n
    held = DrivenOut(np.empty((m, n)), *(np.zeros(m, dtype=int) for _ in range(3)))
    Z = _features(path) if in_features else None
    for k, walker in path.states(values):
        f = path.machines.decided(walker)
        # If the elbow is empty, the offset is the middle of an interval, and the last step of a removal, to it,
        # can be in favour of the sample: removals that can end so, from a small elbow, are completed.
        falls = only_errors and is_held(walker) and len(walker.F) > _FEW
        removal, rows = samples(path, walker, f if falls else None)
        if Z is not None:
            F = walker.F
            inverse = inverse_in_features(walker.program.group[F], Z[walker.program.rows[F]], len(walker.nu))
            removal = replace(removal, inverse=inverse)
        left = _leave_out(path, removal, rows, most, find_crossings, falls)
        _see_margin(path, removal, rows, left)
        f[rows] = path.loss.decision_values(left.product, left.nu, path.motion.at_t(walker.t))
        f[np.abs(f) <= _ZERO] = 0.0  # a tie is one, whatever rounding says
        held.unsolved[k] = _repair(path, float(values[k]), rows[left.failed], f)
        held.decisions[k] = f
        held.events[k], held.crossing[k] = left.events.sum(), path.problem.count(rows[left.passes])
    return held


def _features(path: JumpPath) -> Array:
    """Z with K = Z Z'."""
    if path.gram.Z is not None:
        return path.gram.Z
    values, Q = interruptible(np.linalg.eigh, path.matrix.K)
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
    return removal.leave_out(
        most=most, find_crossings=find_crossings, trust=path.machines.trusted, turns=turns, levels=levels
    )


def _repair(path: JumpPath, value: float, rows: Array, f: Array) -> int:
    """Solve without each of these samples by a path of its own; how many have no answer even so."""
    unsolved = 0
    for i in rows:
        try:
            f[i] = _alone(path, value, int(i)).fitted[i]
        except NoMarginError:
            raise
        except PathError:
            unsolved += path.problem.count(np.array([i]))
    return unsolved


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
    again = Removal(removal.walker, removal.variables[bad], removal.change[bad]).leave_out(trust=path.machines.trusted)
    if not path.loss.exists(problem, again.nu, t).all():
        raise NoMarginError(
            f"At {path.over} = {path.motion.value(t):.6g} the margin becomes zero when sample "
            f"{rows[bad[~path.loss.exists(problem, again.nu, t)][0]]} is left out, so there is no machine without it. "
            f"Leave-one-out needs a larger {path.over}."
        )
    left.product[bad], left.nu[:, bad], left.failed[bad] = again.product, again.nu, again.failed
