"""How much a search may do: all its limits of rows, ranks, values, operations and memory, each with its reason.

Budgets are numbers of operations, not seconds: the same data give the same choice on any machine.
"""

from __future__ import annotations

# --- rows ------------------------------------------------------------------------------------------------------------
SCREENED_ROWS = 2000  # the first look needs no more to tell good kernels from bad ones
NARROWED_ROWS = 20_000  # least squares on all rows and hundreds of landmarks stays within seconds
UNNARROWED_ROWS = 700  # up to here the kernels themselves are confirmed as quickly as they could be narrowed
FULL_ROWS = 2000  # up to here the full kernel matrix is used whatever the machines cost
MOST_FULL_ROWS = 8000  # and up to here if few samples are on the left of the margin: n^2 numbers are 0.5 GB
LAST_FULL_ROWS = 4000  # up to here the full kernel matrix may follow the largest rank, if that still gained
PAIR_LOO_ROWS = 500  # of two classes, up to which rows are left out exactly: milliseconds per machine
SEARCHED_ROWS = 25_000  # on the full kernel, with all of which pairs are compared; with more rows some minutes
SCOUTING_ROWS = 10_000  # of more than that: a search on the full kernel takes some ten seconds
SCREENED_PER_CLASS = 20  # rows of a rare class that are kept when rows are drawn

# --- landmarks -------------------------------------------------------------------------------------------------------
LANDMARKS = ((700, 64), (float("inf"), 100))  # of a screen of two classes: up to so many rows, so many
LANDMARKS_OF_TARGETS = 128  # of a regression
LANDMARKS_OF_CLASSES = 200  # of several classes, whose kernels are narrower: with 64 a large gamma looked bad
CLOSER_LANDMARKS = 200  # for a second look at narrow kernels, of which few landmarks know little
FIRST_RANK = 300  # in which gammas are narrowed, and which is doubled
SMOOTHER_RANK = 100  # in which smooth kernels are tried with the squared hinge of several classes
MOST_RANK = 1200  # the next one takes four to six times as long, and gained at most a tenth of a point
SINGLE_PRECISION_ENTRIES = 2_000_000  # of features, from which on they are kept in single precision

PRECONDITIONER = 5.0  # times the root of the number of rows: the rank that systems on the full kernel want

# --- values of gamma and C -------------------------------------------------------------------------------------------
NARROWED_GAMMAS = 3
CONFIRMED_GAMMAS = 2  # if there is no descent; and one that is far from the best
SCREEN_WIDENINGS = 3  # times that the range of a screen is widened: a factor of 64 for gamma="tune"
PATH_WIDENINGS = 2  # times that a gamma beyond the last is tried with the loss itself
C_WIDENINGS = 5  # times that a C beyond the last is: the squared hinge can be best at 100 times the C of least squares
BROKEN_PROMISES = 2  # gammas that are tried after the best, where none is as good as the screen said
CONTRADICTED = 1 / 3  # share of rows with an equal one of another class, from which on the hinge is compared, too
NOISY = 0.15  # share of errors of the squared hinge, from which on it is
RIVAL_C = 100.0  # of the squared hinge, up to which it is: with a larger one its path is long
SMOOTHER = (3, 2)  # powers of the factors to a smaller gamma and a larger C: a 64th of that of least squares, a 16th
SMOOTHER_CONFIRMED = 8.0  # times as small a gamma, with a C as much larger or more, that two classes try, too
GOOD = 0.02  # share of errors below which there is little to gain far from the best pair
DESCENT_PAIRS = 8
PAIR_DESCENT = 5  # the same with pairs of classes, whose rows are left out exactly
PAIR_MACHINES = 300  # of pairs of classes in such a descent: some ten milliseconds each
BRENT_GAMMAS = 16  # evaluations of Brent's method over log gamma

# --- operations ------------------------------------------------------------------------------------------------------
FULL_OPERATIONS = 2e10  # of a machine on the full kernel matrix of more than FULL_ROWS rows: a second or two
LAST_FULL_OPERATIONS = 1e11  # of all machines at one C on the full kernel matrix, after the largest rank
DESCENT_OPERATIONS = 4e10  # of a descent
PAIR_OPERATIONS = 4e10  # of the machines of all pairs of classes at one C and gamma: some seconds

# Of a search on the full kernel, by effort: passes over the kernel matrix, each of which takes about as long as an
# eightieth of a fit of SVC; and kernel values in all of them, a fifth of a nanosecond each.
FULL_KERNEL_PASSES = {"quick": 0.0, "auto": 200.0, "best": 2000.0}
FULL_KERNEL_VALUES = {"quick": 0.0, "auto": 2e11, "best": float("inf")}
FULL_KERNEL_COLUMNS = 12  # machines of folds and classes at one C: with more classes there are fewer folds

# --- memory ----------------------------------------------------------------------------------------------------------
KEPT_ENTRIES = 5e7  # of the kernel matrices that trials keep: 400 MB
KEPT_LOSSES = 4_000_000  # of a curve: at most 16 MB in single precision
KEPT_DECISIONS = 500_000  # of a curve by a scorer, for its standard errors: 4 MB
