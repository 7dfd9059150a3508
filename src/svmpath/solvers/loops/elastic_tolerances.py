"""The tolerances and limits of the elastic-net engine, with the reason for each.

They are in this folder because compiled code reads some of them: a change here makes numba compile it again. The
engine is ``solvers.elastic``; its compiled part is ``elastic_system``, ``elastic_events`` and ``elastic_walk`` beside
this file.
"""

from __future__ import annotations

# --- rates: what is zero but for rounding ---

RATE_NOISE = 1e-10  # a rate below this, in units of what it is made of, is none: ties and duplicates make such rates
CANCELLED = 1e-13  # the same in units of the terms that cancel in it: a thousand roundings
FLAT = 1e-12  # what remains of f outside the span of the elbow: below this, in its own units, beta does not move

# --- the inverse G of the elbow system ---

REFINED = 1e-13  # a residual that needs no refinement: a few hundred roundings
REFINEMENTS = 6  # rounds of it in a compiled step, at most
BROKEN = 1e-8  # a residual before refinement from which on G, which has half the digits, is made anew
USELESS = 1e-6  # a residual after refinement, with a new G, from which on the system counts as singular
STALE_PIVOT = 1e-4  # a relative pivot below this takes four digits of G: it is made anew, or measured again
DEPENDENCE_MARGIN = 10.0  # columns are needed up to so many times the distance at which rows depend on each other, and
# G is made down to the same part of it: the two decisions must not contradict each other by rounding
INDEPENDENT = 1e-6  # a row nearer to the others, relative to its length, does not begin on the elbow of a corner

# --- steps ---

SAME_STEP = 1e-12  # steps that differ by less, relative, have equal length
NO_STEP = 1e-15  # a step shorter than this, relative to the value, does not change it
NO_MOVE = 1e-13  # neither does one at a constant parameter that moves margins by less
UNUSED = 1e-8  # a coefficient that moves margins by less is not in use: ties have steps of rounding
PATIENCE = 40  # steps of length zero before ties are broken at random: so many in a row may be a cycle

# --- the walk ---

STRETCH = 256  # events between two measurements of a walk: little is lost where they have to be walked again
BUDGET = 30_000_000  # numbers that compiled steps touch before they come back: some hundredths of a second
ROOM = 56  # rows and columns of the elbow system at a start, and by how much it grows at least
EVENTS_PER_PLACE = 400  # events per sample and feature before a walk is given up: it would never end
REMOVAL_EVENTS = 10  # the same for the removal of one sample, which takes a handful in all as a rule
NEGLIGIBLE = 1e-11  # a rest of the way that is less, relative to where it began, need not be walked
SURE = 1e-9  # a relative gap after a stretch with which it is taken at once
PASSABLE = 1e-7  # and one with which it is taken where no other attempt does better
LEAP = 1e-6  # relative; what is skipped where no attempt is good, ten times more where it fails again

# What is tried, stretch by stretch, until one is good: when a row depends on the others, relative to its length (their
# inverse has half as many digits as the rows, so that 1e-8 is too little to be sure of anything), and by how much
# weights, factors and margins are perturbed, relative, so that there are no ties.
ATTEMPTS = ((1e-7, 0.0), (1e-5, 0.0), (1e-7, 1e-10), (1e-5, 1e-9), (1e-9, 0.0), (1e-6, 1e-8))

# --- the start ---

BALANCED = 1e-12  # classes whose weights differ by less, relative, weigh the same
C_ROUNDING = 1e-11  # c below this, in units of all weights on the largest entry of its column, is zero

# --- the interior-point method ---

NEWTON_STEPS = 100  # at most; as a rule the gap ends it before
NO_GAIN = 12  # steps without a smaller gap after which the best point is taken
SMALL_ENOUGH = 1e-13  # a relative gap that needs no more steps
TO_BOUNDARY = 0.995  # part of the way to the boundary that a step goes, so that products stay positive
RIDGE = 1e-13  # relative to the diagonal; for columns without any penalty

# --- the measure ---

ALPHA_AT_BOUND = 1e-10  # an alpha nearer to its bound than this, relative, is at it
SMALL_OBJECTIVE = 1e-6  # gaps are relative to at least this part of all weights: below it, an objective is rounding's
