"""What the compiled walk of the elastic-net hinge machine reads and changes, and how it is laid out.

Many short vectors are rows of a few arrays, because every array that is handed from function to function costs time to
compile. Letters as in ``solvers.elastic``. Nothing here needs numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray

RIGHT, ELBOW, LEFT, OUT = 0, 1, 2, 3  # places of a sample; OUT has no weight and is only watched
ZERO, PLUS, MINUS, UNPENALISED = 0, 1, -1, 2  # of a feature; UNPENALISED ones are always active

# Why ``run`` came back: it is at the end; the events, or the room to write them down, are used up; W and G are too
# small; G has to be made anew; more features would be used than allowed; many steps of length zero; nothing ends a
# step; the elbow system cannot be solved; some work is done.
END, FULL, GROW, REFACTOR, STOP, STALLED, UNBOUNDED, SINGULAR, PAUSE = range(9)

# ElasticState.x: the value and the parameters there; what the last solution said of itself; tau; where the line begins
# and what it gains on a way of length one; and when a row counts as dependent on others, relative to its length.
U, LAM1, LAM2, B, FIRST_RESIDUAL, RESIDUAL, FLOOR, TAU, LINE1, LINE2, D1, D2, DEPENDENT = range(13)
K, M, RANDOM, IDLE, LOGGED, NULLS, IS_FRESH = range(7)  # ElasticState.num; fresh: G is LAPACK's, not updated yet
Y, MARGIN, WEIGHT, ALPHA, R, DR, W0, DW = range(8)  # rows of ElasticState.N, one number per sample
OM, ZMAX, BETA, C, DC, CW = range(6)  # rows of ElasticState.P, one number per feature; CW is Z_L' w_L'
DA, DX, F_, E_, V_, Q_, H_, Z_, U_ = range(9)  # rows of ElasticState.Q: room for vectors as long as E or A


class DesignArrays(NamedTuple):
    """Z = diag(y) X by rows and by columns: dense (Zr, Zc), or sparse with Zr empty.

    Sparse rows are numbers ``rv`` with ``ri``: first the n + 1 pointers, then the column of each number; columns alike.
    """

    Zr: Array
    Zc: Array
    ri: Array
    rv: Array
    ci: Array
    cv: Array


class ElasticState(NamedTuple):
    """Where the walk is, and on which line; all of it is changed in place. Rows: see the top of this file."""

    x: Array
    num: Array
    N: Array
    P: Array
    place: Array
    sign: Array
    E: Array
    A: Array
    W: Array
    G: Array
    Q: Array
