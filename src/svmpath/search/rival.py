"""The hinge instead of the squared hinge, where it is clearly better: on rows whose labels contradict each other.

The squared hinge weighs a sample far on the wrong side by its square, the hinge by its distance. Where equal rows have
both labels, the squared hinge settles between them, and the hinge sides with the majority. So where a third of the rows
or more have an equal one of the other class, both are compared on the same folds, and the hinge is chosen if its errors
e' are fewer than those of the squared hinge, e, by more than a standard error of the difference,

    m = sum_i w_i (e_i - e'_i) > sqrt(sum_i w_i^2 (e_i - e'_i - m)^2),      w_i = s_i / sum_j s_j.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.exceptions import PathError
from svmpath.progress import begin
from svmpath.search import limits
from svmpath.search.choice import best_value
from svmpath.search.trials import Trials
from svmpath.search.tuner import Tuner

_HINGE_C = 3.0  # times the C of a squared hinge: a sample at f = -y/2, with a slack of 3/2, has the coefficient 3 C
_SMOOTHER = 4.0  # times as small a gamma, with as much larger a C, at which the hinge is tried, too
_BEHIND = 0.5  # standard errors behind the squared hinge, up to which the hinge is followed


def hinge_or_squared(tuner: Tuner, best: Trials) -> Trials:
    """The trials of the squared hinge, or those of the hinge if that is clearly better."""
    (gamma, C), rivals = best.best(), tuner.evaluators[1:]
    is_noisy = best.score() >= limits.NOISY and C <= limits.RIVAL_C
    for evaluator in rivals if is_noisy and not tuner.deadline.is_over() else ():
        begin("compare")
        trials = Trials(tuner, evaluator.on(best.evaluator.gram), best.ends)
        with suppress(PathError):
            first = evaluator.curve(best.machines(), np.array([C]))
            trials.visit(gamma, tuner.C.nearest(_HINGE_C * C))
            if tuner.gamma is not None:
                trials.visit(tuner.gamma.nearest(gamma / _SMOOTHER), tuner.C.nearest(_HINGE_C * _SMOOTHER * C))
            if trials.score() < first.scores[0] + _BEHIND * first.standard_errors[0]:
                trials.follow(dict([trials.best()]), len(trials.tried) + 1)
            trials.enter("compare")
            best = trials if is_clearly_better(trials.best_curve(), first) else best
    return best


def is_clearly_better(curve: Curve, first: Curve) -> bool:
    """Whether the best value of a curve is better than another curve by a standard error of the weighted difference."""
    gain = first.losses[0] - curve.losses[best_value(curve)]  # both on the same folds, so in the same order
    share = first.path.problem.s[first.rows]
    share = share / share.sum()
    mean = share @ gain
    return bool(mean > np.sqrt(np.sum((share * (gain - mean)) ** 2)))


def is_worth_it(curve: Curve, first: Curve) -> bool:
    """Whether a curve is better than the first by a standard error, each at its best value."""
    at = best_value(first)
    return bool(curve.scores[best_value(curve)] < first.scores[at] - first.standard_error(at))
