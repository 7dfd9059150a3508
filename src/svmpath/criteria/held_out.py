"""Held-out decision values along a path, which criteria are made of, and three ways to compute them.

Each way has a general form for every path, which uses only ``path.without(rows)`` and ``path.decisions(values)``.
``criteria.fast`` lists the kinds of path that have a faster form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, OneVsRest, Screened, score_by
from svmpath.criteria.sources import Joined, Rowwise
from svmpath.interrupts import checkpoint
from svmpath.paths import Path

Array = np.ndarray
Folds = Sequence[tuple[Array, Array]]
Counts = Array | Callable[[], Array]


@dataclass(frozen=True)
class HeldOut:
    """Decision values of samples, computed by machines that were trained without them.

    Attributes
    ----------
    rows : array of shape (N,)
        The samples held out, one entry each time a sample was held out.
    decisions : array of shape (m, N), or callable
        The decision values at each value of the path, or a function that computes them on first access.
    doubts : array of shape (m,), or callable
        Number of samples for which they are not known to be exact.
    screened : Screened, optional
        The errors, if they were found without the decision values.

    See Also
    --------
    svmpath.criteria.leave_one_out : Held-out decision values, each sample in turn.
    svmpath.criteria.Curve : Held-out scores along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=1.0)
    >>> held = criteria.leave_one_out(path, np.array([1.0]))
    >>> held.curve(path, "loo", np.array([1.0]), None).scores.shape
    (1,)
    """

    rows: Array
    decisions: Array | Callable[[], Array]
    doubts: Counts
    screened: Screened | None = None

    def curve(self, path: Path, criterion: str, values: Array, loss: HeldOutLoss) -> Curve:
        """Their scores along the path."""
        y, score = path.problem.y, score_by(loss, path)
        score = score if y.ndim == 1 else OneVsRest(score)
        return Curve(path, criterion, values, score, self.rows, self.decisions, y, self.doubts, self.screened)


@singledispatch
def leave_one_out(path: Path, values: Array, *, max_events: int | None = None, count_only: bool = False) -> HeldOut:
    """Leave out every sample in turn, exactly: in general by a path without each sample.

    Where samples are removed from a machine one event after another, ``max_events`` limits the number of events per
    sample, and ``count_only`` computes only the errors.

    Parameters
    ----------
    path : Path
        A path of any loss.
    values : array of shape (m,)
        Values of the path's parameter.
    max_events : int, optional
        Where samples are removed from a machine one event after another: the most events per sample. None means all.
    count_only : bool, default=False
        Whether only the errors are computed, and decision values when you access them.

    Returns
    -------
    HeldOut
        The held-out decision values.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.predict_left_out : The same by a formula, places fixed.
    svmpath.criteria.leave_folds_out : Held-out decision values, fold by fold.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    >>> held = criteria.leave_one_out(path, np.array([1.0, 10.0]))
    >>> held.rows.shape, held.decisions.shape
    ((60,), (2, 60))
    """
    refuse_events(path, max_events, count_only)
    problem = path.problem
    if len(problem.active) < 2:
        raise ValueError("Leave-one-out needs at least two samples of positive weight.")
    decisions = path.decisions(values)
    for i in np.flatnonzero((problem.s > 0) & problem.is_counted()):
        checkpoint()
        decisions[:, i] = path.without(np.array([i])).decisions(values)[:, i]
    return HeldOut(np.arange(problem.n), decisions, np.zeros(len(values), dtype=int))


def refuse_events(path: Path, max_events: int | None, count_only: bool) -> None:
    """Raise an error for options that only removal from event to event has."""
    if max_events is not None or count_only:
        raise ValueError(
            f"max_events and count_only work for losses with an elbow only, but this path has {path.loss!r}; leave "
            "them out."
        )


@singledispatch
def predict_left_out(path: Path, values: Array, *, form: str = "direct", screen: bool | None = None) -> HeldOut:
    """Leave out every sample in turn as if no other changed its place; raises an error if there is no such formula.

    Parameters
    ----------
    path : Path
        A path for which there is such a formula, such as one of the squared hinge or the hinge.
    values : array of shape (m,)
        Values of the path's parameter.
    form : str, default="direct"
        Which of two equal formulas is used, where there are two; see :func:`svmpath.criteria.span`.
    screen : bool, optional
        Whether errors are counted without computing all decision values; by default where there are many samples.

    Returns
    -------
    HeldOut
        The predicted decision values; ``doubts`` counts the samples for which they may be wrong.

    See Also
    --------
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.alo : Approximate leave-one-out.
    svmpath.criteria.leave_one_out : Held-out decision values, each sample in turn.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0)
    >>> held = criteria.predict_left_out(path, np.array([1.0]))
    >>> held.rows.shape
    (60,)
    """
    raise ValueError(
        "Leave-one-out can be predicted for the squared hinge and for losses with an elbow, not for "
        f"loss={path.loss.name!r}: use exact leave-one-out (criterion='loo') instead."
    )


@singledispatch
def leave_folds_out(path: Path, values: Array, folds: Folds) -> HeldOut:
    """Leave out all rows but the training rows of each fold: in general by a path per fold.

    Parameters
    ----------
    path : Path
        A path of any loss.
    values : array of shape (m,)
        Values of the path's parameter.
    folds : list of (array, array)
        The training rows and the held-out rows of each fold, as a splitter of scikit-learn gives them.

    Returns
    -------
    HeldOut
        The held-out decision values.

    See Also
    --------
    svmpath.criteria.kfold : Exact k-fold.
    svmpath.criteria.leave_one_out : Held-out decision values, each sample in turn.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from sklearn.model_selection import KFold
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    >>> held = criteria.leave_folds_out(path, np.array([1.0, 10.0]), list(KFold(5).split(X)))
    >>> held.rows.shape, held.decisions.shape
    ((60,), (2, 60))
    """
    held = np.hstack([decide_fold(path, values, train, test) for train, test in folds])
    return HeldOut(held_rows(folds), held, np.zeros(len(values), dtype=int))


def decide_fold(path: Path, values: Array, train: Array, test: Array) -> Array:
    """Decision values of the test rows along the path of the train rows, of shape (m, len(test))."""
    fold = path.without(np.setdiff1d(np.arange(path.problem.n), train)).start_from(path)
    return fold.decisions(values)[:, test]


def held_rows(folds: Folds) -> Array:
    """The test rows of all folds."""
    return np.concatenate([test for _, test in folds])


def fold_numbers(folds: Folds) -> Array:
    """The number of the fold of each of them."""
    return np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])


def of_rows(held: HeldOut, places: Array, rows: Array) -> HeldOut:
    """The held-out values of some samples for their copies; the samples are those at ``places`` of ``held.rows``."""
    repeated = Rowwise(partial(_columns, places=places), [held.decisions])
    decisions = repeated if callable(held.decisions) else repeated()
    seen = held.screened
    screened = None if seen is None else Screened(seen.errors[:, places], seen.estimate[:, places])
    return replace(held, rows=rows, decisions=decisions, screened=screened)


def _columns(parts: list[Array], places: Array) -> Array:
    return parts[0][:, places]


def join(parts: list[HeldOut]) -> HeldOut:
    """Several parts as one, along the values."""
    screened = [part.screened for part in parts if part.screened is not None]
    seen = None
    if len(screened) == len(parts):
        seen = Screened(np.vstack([one.errors for one in screened]), np.vstack([one.estimate for one in screened]))
    decisions, doubts = Joined([part.decisions for part in parts]), Joined([part.doubts for part in parts])
    return HeldOut(parts[0].rows, decisions, doubts, seen)
