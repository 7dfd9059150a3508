"""The cut of the decision value that scores best on held-out decision values.

With held-out decision values f_i at one value of a path, the candidates are 0, the midpoints between neighbouring
distinct f_i, of which at most 200 are taken, evenly by their rank, and one cut below and one above all f_i, as far from
them as they are wide: where a score is best if one class is always predicted, that should hold for new rows, too. Among
equal scores the cut nearest to 0 wins, and of two as near the negative one; so a score that does not look at
predictions leaves the cut at 0.
"""

from __future__ import annotations

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.criteria.scoring import Scoring

Array = np.ndarray

MOST_CUTS = 200
_SAME_SCORE = 1e-12  # relative; scores closer than this are the same score in another order of addition


def best_threshold(curve: Curve, scoring: Scoring) -> float:
    """The cut that the scorer likes best, at the first value of a curve of two classes."""
    is_counted = curve.path.problem.s[curve.rows] > 0
    cuts = threshold_candidates(curve.finite[0, is_counted])
    scores = scoring.over_thresholds(curve, cuts)
    best = scores.max()
    equal = cuts[scores >= best - _SAME_SCORE * max(abs(best), 1.0)]
    return float(equal[np.lexsort((equal, np.abs(equal)))[0]])


def threshold_candidates(f: Array) -> Array:
    """Zero, midpoints between neighbouring decision values, and a cut on either side of all of them."""
    levels = np.unique(f)
    middle = levels[:-1] + 0.5 * np.diff(levels)
    few = np.unique(np.linspace(0, max(len(middle) - 1, 0), MOST_CUTS).round().astype(int))
    wide = float(levels[-1] - levels[0]) or 1.0
    return np.concatenate([middle[few] if len(middle) else middle, [levels[0] - wide, 0.0, levels[-1] + wide]])
