"""All tolerances and limits of the jump engine, each with its reason; see ``solvers.box_qp`` for the letters.

They are used by the compiled loops (``box_rates``, ``box_walk``, ``box_removal``), by the Python around them
(``solvers.box_qp``, ``solvers.box_program``, ``solvers.removal``) and by the paths (``paths.jump``). The unit of K is
its largest diagonal entry kmax; the unit of a gradient is what one unit of a decision value f is in it.
"""

from __future__ import annotations

# --- how the solution moves ------------------------------------------------------------------------------------------

RATE_ZERO = 1e-11  # a rate below this, in units of the largest rates, is rounding
RATE_REFINED = 1e-14  # a gradient on F that moves by more, in these units, is refined against R
RATE_BROKEN = 1e-9  # and if it still moves by more after a refinement, R has lost its digits and is made anew

# --- the inverse R = M^-1 --------------------------------------------------------------------------------------------

COMPLEMENT_CANCELLED = 1e-5  # a Schur complement below this, in units of K, is computed again with refinement
COMPLEMENT_ZERO = 1e-14  # and one below this, in units of the terms that cancel in it, is zero
COMPLEMENT_STALE = 1e-6  # a Schur complement below this, in units of K, leaves R with too few digits: it is made anew
DEPENDENT_BELOW = 1e-10  # a variable whose Schur complement is less, in units of K, depends on F (first attempt)
SINGULAR_BELOW = 1e-14  # a matrix M with a smaller reciprocal condition number is not inverted
SINGULAR_AT_MOST = 20  # times that M may turn out to be singular at one t before the walk is given up
NULL_ZERO = 1e-9  # a component of a null direction below this, relative to the largest one, is zero
FROZEN_MOVED = 1e-11  # a gradient on F that moves by more, in units of its terms, while places are frozen: R is weak

# --- steps from event to event ---------------------------------------------------------------------------------------

STEP_TIE = 1e-13  # steps that differ by less, relative to t, are one
STEP_SOON = 1e-9  # a step shorter than this, relative to t, is as good as none
SLIDE_TIE = 1e-14  # steps along a null direction that differ by less, relative, are one
ZERO_STEPS_IN_ORDER = 20  # steps of length zero in a row before ties are broken at random
ZERO_STEPS_AT_ALL = 5000  # and before the walk is given up, as it turns in circles
SLOW_GRADIENT = 1e-8  # a gradient that moves more slowly, in units of the fastest c, may be overlooked for a while
STEPS_PER_VARIABLE = 40  # of a walk, before it is given up: paths have about one to four events per variable

# --- when the gradient is computed exactly ---------------------------------------------------------------------------

SYNC_EVENTS = 64  # after so many events, or n / 4 if that is more: then it costs less than the events
SYNC_STRETCH = 0.75  # or after such a stretch of t, relative

# --- bounds ----------------------------------------------------------------------------------------------------------

AT_BOUND = 1e-10  # a variable nearer to its bound than this, relative to the box and to the largest variable, is at it
THETA_NOISE = 2e-15  # rounding of a free variable, in units of the terms of its gradient times R_jj
NOISE_AT_MOST = 1e3  # times AT_BOUND, in units of the box: rounding beyond this is an error, not a place at a bound
THETA_OUTSIDE = 1e-7  # a free variable so far outside its box, in units of the box, is wrong
SUM_ROUNDING = 1e-14  # the sum of a group that is wrong by less, relative to the box, is right
EMPTY_ELBOW = 1e-9  # the only free variable, nearer to a bound than this in units of the box: the elbow is empty

# --- a start from any point ------------------------------------------------------------------------------------------

START_PAD = 1e-3  # what a wrong gradient is shifted to, in units of K: far from rounding, and near to the end
START_SEEDS = 4  # random shifts that are tried
START_MISSED = 1e-8  # a walk has missed its end if gradients are wrong by more, in units of the largest |K theta|
ORIGIN_FAR = 0.01  # points nearer to each other than this, in units of their squared norm, are far from the origin
ORIGIN_SAME = 1e-12  # and nearer than this they are one: nothing is gained by moving the origin

# --- samples left out ------------------------------------------------------------------------------------------------

SIGN_DECIDED = 1e-9  # how far from its level a gradient must be, in units of f, so that rounding does not decide
END_NEAR = 1e-9  # so near to the end nothing is decided any more: an event just before it may be one at it
RETURN_AT_MOST = 16  # free variables beyond their bounds up to which the cost of bringing them back is computed
RETURN_ROOM = 1e-9  # by how much, relative, the room of F must exceed what it has to take over
SLACK_ROUNDING = 1e-12  # a slack below zero by less, relative to the terms of which it is the sum, is zero

# --- machines and paths ----------------------------------------------------------------------------------------------

MACHINE_GOOD = 1e-9  # a violation, in units of f, that needs no polish
WALK_TRUSTED = 1e-8  # a violation with which an attempt at a walk is taken at once
WALK_ACCEPTED = 1e-6  # the largest violation with which a path is given at all
# Attempts at a walk: what counts as dependent, and the jitter, both in units of K. A jitter changes the problem, so it
# comes last, the smallest first.
PLAIN_ATTEMPTS = ((DEPENDENT_BELOW, 0.0), (1e-12, 0.0), (1e-8, 0.0))
WALK_ATTEMPTS = (*PLAIN_ATTEMPTS, (DEPENDENT_BELOW, 1e-12), (DEPENDENT_BELOW, 1e-11), (DEPENDENT_BELOW, 1e-10))
