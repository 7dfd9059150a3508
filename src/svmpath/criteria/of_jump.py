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
from svmpath.paths import JumpPath, Path
from svmpath.solvers.box_qp import EVERY, FREE, Walker
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.removal import Removal, Removed, has_unique_offsets, inverse_in_features
from svmpath.validation import check_whole

Array = np.ndarray

_SHORT = 1e-4  # relative length of a path that is followed for one value
_FEW = 5  # samples on the elbow from which on it does not lose them all when one sample goes
_ZERO = 1e-9  # a decision value so small is zero


FORMS = ("direct", "features")


def leave_one_out_jump(
    path: JumpPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Drive every sample out of the machine, from event to event."""
    rows = np.arange(path.problem.n)
    most = EVERY if max_events is None else check_whole(max_events, "max_events", least=0, words=" or None")
    if not count_only:
        driven = drive_out(path, values, most=most)
        return HeldOut(rows, driven.decisions, driven.unsolved if most == EVERY else driven.crossing)
    if max_events is not None:
        raise ValueError("count_only=True finds the exact error rate of a classification; leave max_events out.")
    driven = drive_out(path, values, only_errors=path.loss.falls_when_left_out)
    screened = Screened(error(path.problem.y, driven.decisions) > 0, driven.decisions)
    return HeldOut(rows, AtValues(_decide, path, values), driven.unsolved, screened)


def predict_left_out_jump(
    path: JumpPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their places."""
    check_options(path, form, screen)
    driven = drive_out(path, values, most=0, find_crossings=False, in_features=form == "features")
    return HeldOut(np.arange(path.problem.n), driven.decisions, AtValues(_count_crossings, path, values))


def check_options(path: Path, form: str, screen: bool | None) -> None:
    """Raise an error for options that losses with an elbow do not have."""
    if screen is not None:
        raise ValueError(f"screen= works for the squared hinge only, but this path has {path.loss!r}; leave it out.")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")


def _decide(path: JumpPath, values: Array) -> Array:
    """The exact decision values, of shape (m, n)."""
    return drive_out(path, values).decisions


def _count_crossings(path: JumpPath, values: Array) -> Array:
    """The number of samples whose removal makes another sample change its place."""
    return drive_out(path, values, most=0).crossing


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
    m, n, y = len(values), path.problem.n, path.problem.y
    driven = DrivenOut(np.empty((m, n)), *(np.zeros(m, dtype=int) for _ in range(3)))
    Z = _features(path) if in_features else None
    for k, walker in path.states(values):
        f = path.machines.decided(walker)
        # If the elbow is empty, the offset is the middle of an interval, and the last step of a removal, to it,
        # can be in favour of the sample: removals that can end so, from a small elbow, are completed.
        falls = only_errors and has_unique_offsets(walker) and len(walker.F) > _FEW
        removal, rows = samples(path, walker, f if falls else None)
        if Z is not None:
            F = walker.F
            inverse = inverse_in_features(walker.program.group[F], Z[walker.program.rows[F]], len(walker.nu))
            removal = replace(removal, inverse=inverse)
        left_out = removal.leave_out(
            most=most,
            find_crossings=find_crossings,
            trust=path.machines.trusted,
            turns=y[rows] if falls else None,  # y f = y (g - c) / lambda
            levels=y[rows] * removal.here.c0[removal.variables[:, 0]] if falls else None,
        )
        _check_margin(path, removal, rows, left_out)
        total = path.problem.s.sum() - path.problem.s[rows]
        at = path.path_parameter.at_t(walker.t)
        f[rows] = path.loss.decision_values(left_out.product, left_out.nu, at, total)
        f[np.abs(f) <= _ZERO] = 0.0  # a tie is one, whatever rounding says
        for i in rows[left_out.failed]:
            try:
                f[i] = _decide_alone(path, float(values[k]), i)
            except NoMarginError:
                raise
            except PathError:
                driven.unsolved[k] += path.problem.count(np.array([i]))
        driven.decisions[k] = f
        driven.events[k], driven.crossing[k] = left_out.events.sum(), path.problem.count(rows[left_out.passes])
    return driven


def _features(path: JumpPath) -> Array:
    """Z with K = Z Z'."""
    if path.gram.Z is not None:
        return path.gram.Z if path.problem.offset else np.pad(path.gram.Z, ((0, 1), (0, 0)))
    values, Q = interruptible(np.linalg.eigh, path.matrix.K)
    return Q * np.sqrt(np.maximum(values, 0.0))


def samples(path: JumpPath, walker: Walker, f: Array | None = None) -> tuple[Removal, Array]:
    """The samples that cannot be left out for nothing; given decision values f, not those that are wrong anyway."""
    program, problem, t = walker.program, path.problem, walker.t
    variables = np.argsort(program.rows, kind="stable")
    if not problem.offset:
        variables = variables[:-1]  # without the anchor
    variables = variables.reshape(problem.n, -1)
    size = np.abs(walker.theta[variables]) + np.where(walker.status[variables] == FREE, np.finfo(float).tiny, 0.0)
    # Of two variables of a sample one is zero: the other one comes first.
    variables = np.take_along_axis(variables, np.argsort(-size, axis=1, kind="stable"), axis=1)
    change = path.loss.released(problem, t)
    needed = (size > 0).any(axis=1) | (change != 0).any(axis=1) | (not has_unique_offsets(walker))
    needed &= (program.up(t) > program.low(t))[variables[:, 0]] | (size > 0).any(axis=1)
    if f is not None:
        needed &= problem.y * f >= -_ZERO
    rows = np.flatnonzero(needed & problem.is_counted())
    return Removal(walker, variables[rows], change[rows]), rows


def _decide_alone(path: JumpPath, value: float, i: int) -> float:
    """The decision value of sample i by the machine without it, which a short path finds."""
    low, high = sorted(path.span)
    near = value * (1 + _SHORT) if value * (1 + _SHORT) <= high else value * (1 - _SHORT)
    alone = replace(path.without(np.array([i])), span=(value, near) if value > 0.0 else (low, high))
    return float(alone(value).fitted[i])


def _check_margin(path: JumpPath, removal: Removal, rows: Array, left_out: Removed) -> None:
    """Refuse a nu at which the margin vanishes without some sample; approximate ways there are gone exactly."""
    t, problem = removal.walker.t, path.problem
    bad = np.flatnonzero(~left_out.failed & ~path.loss.exists(problem, left_out.nu, t))
    if len(bad) == 0:
        return
    again = Removal(removal.walker, removal.variables[bad], removal.change[bad]).leave_out(trust=path.machines.trusted)
    exists = path.loss.exists(problem, again.nu, t)
    if not exists.all():
        raise NoMarginError(
            f"At {path.over} = {path.path_parameter.value(t):.6g} the margin becomes zero when sample "
            f"{rows[bad[~exists][0]]} is left out, so there is no machine without it. Leave-one-out needs a larger "
            f"{path.over}."
        )
    left_out.product[bad], left_out.nu[:, bad], left_out.failed[bad] = again.product, again.nu, again.failed
