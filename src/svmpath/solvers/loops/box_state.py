"""What the compiled loops of the jump engine work on: the program, the point, the log, room for vectors.

Nothing here needs numba, so that Python may read the names of codes and positions without importing it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray

LOW, UP, FREE, FIXED = 0, 1, 2, 3  # the status of a variable

# How a call ended. GO: not yet. ARRIVED: at the end, where the gradient is still to be computed exactly.
# NEARLY_DEPENDENT: a variable that nearly depends on F is to become free, which is done by Python. CYCLING: steps of
# length zero only.
END, FULL, GROW, REFACTOR, INFEASIBLE, CYCLING, DECIDED, CUT, PAUSE, NEARLY_DEPENDENT, GO, ARRIVED = range(12)

# Numbers of a walk, in State.x: where it is, the largest wrong gradient found, where the gradient was last computed
# exactly, where the walk began, the Schur complement of the variable that nearly depends on F, the largest |c1|, the
# largest rate of a bound.
T, WORST, SYNCED_AT, FIRST, COMPLEMENT, LARGEST, FASTEST = range(7)

# Integers of a walk, in State.k: the number of free variables, the seed of random choices, events in this log, events
# of this walk, those at the last exact gradient, those at its very beginning, steps of length zero in a row, steps of
# this walk; whether R was just made, whether it must be made anew, whether an event was left out, whether the direction
# must be made anew; the variable whose gradient is recorded, the variable that becomes free.
SIZE, SEED, RECORDED, EVENTS, SYNCED, FIRST_EVENTS, ZERO_STEPS, STEPS = range(8)
FRESH, STALE, WAS_CUT, TURNED, WATCH, ENTERING = range(8, 14)


class ProgramArrays(NamedTuple):
    """The program: see ``solvers.box_qp.Program``."""

    K: Array
    r: Array
    p: Array
    c0: Array
    c1: Array
    l0: Array
    l1: Array
    u0: Array
    u1: Array
    b0: Array
    b1: Array
    unit: Array
    kmax: float


class State(NamedTuple):
    """Where the walk is; all of it is changed in place. Of F the first m entries count, of R the first q + m."""

    theta: Array
    status: Array
    nu: Array
    g: Array
    F: Array
    R: Array
    x: Array
    k: Array


class EventArrays(NamedTuple):
    """The events: where, which variable, from which status to which, and the gradient that is watched."""

    t: Array
    variable: Array
    source: Array
    target: Array
    extra: Array


class Work(NamedTuple):
    """Room for vectors made at every event: in the order of R, of the variables, of the rows, of the groups."""

    d: Array
    z: Array
    v: Array
    spare: Array
    extra: Array
    dg: Array
    sign: Array  # 1 for LOW, -1 for UP, 0 for the others and for variables that are overlooked for a while
    steps: Array
    KB: Array
    buffer: Array
    weights: Array
    dB: Array
    members: Array  # number of the free variables of each group
    rows: Array


class Removals(NamedTuple):
    """Samples to leave out one after another, and what is found.

    ``variables`` (S, w) are those of each sample, -1 for none; ``changes`` (S, q) what is added to b on the way;
    ``turns`` and ``levels`` where to stop (see :func:`follow`). Filled in: K theta at the sample, the multipliers, how
    the walk ended, its events, and the largest wrong gradient. ``place`` is how far this is: the sample, and whether
    its walk has begun.
    """

    variables: Array
    changes: Array
    turns: Array
    levels: Array
    product: Array
    offsets: Array
    codes: Array
    counts: Array
    worsts: Array
    place: Array
