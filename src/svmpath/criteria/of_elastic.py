"""Leave-one-out of the elastic-net hinge machine: the weight of one sample is reduced to zero, exactly.

At a value of the path all places are known. Removing a sample on the right (alpha = 0) changes nothing. Any other
sample is put on the left with the weight that it uses, and this weight falls to zero along a straight line, from event
to event (``solvers.elastic``). This takes a few events, whereas a new fit takes a whole path of them.

If no other place changes on the way, the solution moves along one straight line. Using this line in any case
(``max_events=0``) gives a closed form, approximate leave-one-out; samples for which a place would have changed are
counted as unreliable. For small lambda2 these are most samples, and the approximation is no better than the training
error.
"""

from __future__ import annotations

import numpy as np

from svmpath.criteria.held_out import HeldOut
from svmpath.paths.elastic import ElasticPath
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_WRONG = 1e-8  # a violation from which on a sample's machine is fitted afresh


def leave_one_out_elastic(
    path: ElasticPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Drive the weight of every sample to zero; with ``max_events`` approximate, and 0 is the closed form."""
    if path.over == "weight":
        raise ValueError("Leave-one-out needs a path over lambda1, lambda2 or a ray, not over a weight.")
    if count_only:
        raise ValueError("count_only and exact do not work for the elastic hinge; leave them out.")
    if max_events is not None and max_events < 0:
        raise ValueError(f"max_events must be None or a number >= 0, got {max_events!r}.")
    problem = path.problem
    held, unreliable = np.empty((len(values), problem.n)), np.zeros(len(values), dtype=int)
    with blas_threads(problem.n * problem.p):
        for k, value in enumerate(values):
            held[k], unreliable[k] = left_out(path, float(value), max_events)
    return HeldOut(np.arange(problem.n), held, unreliable)


def predict_left_out_elastic(
    path: ElasticPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the places of all others, and of the features, are frozen."""
    if form != "direct" or screen is not None:
        raise ValueError("form= and screen= do not work for the elastic hinge; leave them out.")
    return leave_one_out_elastic(path, values, max_events=0)


def left_out(path: ElasticPath, value: float, max_events: int | None = None) -> tuple[Array, int]:
    """Held-out decision values of all samples at one value, and how many are unreliable."""
    walker = path.walker_at(value)
    f, done, off = walker.leave_out(max_events)
    if max_events is not None:
        return f, int(np.count_nonzero(~done))
    for i in np.flatnonzero(~done | ~(off <= _WRONG)):
        f[i] = refitted(path, value, int(i))
    return f, 0


def refitted(path: ElasticPath, value: float, i: int) -> float:
    """The decision value of sample i by the machine of all others, from a path of its own."""
    _, solution = next(path.without(np.array([i])).machines(np.array([value])))
    return float(solution.fitted[i])
