"""A curve whose held-out decision values stay where the rows are: only what is made of them is kept.

Means of losses are sums over chunks. Whatever else is asked (a scorer, errors of groups, the losses themselves) is
computed in memory, from the numbers of the rows at one value after the other: n decision values are brought together,
or those of a random sample, and dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutCurve, HeldOutLoss, OneVsRest, OwnLoss, Screened, held_out_loss
from svmpath.criteria.scoring import Scoring
from svmpath.lazy import lazy
from svmpath.search import limits
from svmpath.search.choice import Scores, best_value

if TYPE_CHECKING:
    from svmpath.distributed.path import ChunkedPath

Array = np.ndarray
Progress = Callable[[int, int], None]


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedCurve(HeldOutCurve):
    """Held-out scores along a path on rows in chunks; lower is better.

    It has those attributes of a :class:`svmpath.criteria.Curve` that do not need the held-out decision values of all
    rows in one place, and you can pass it to :func:`svmpath.select`. :meth:`at` has the others.

    Attributes
    ----------
    path : ChunkedPath
    criterion : str
    values : array of shape (m,)
        Values of C.
    loss : callable
        Per-sample loss of target and held-out decision value.
    held_by : ChunkedPath, optional
        For k-fold: the machines without each fold.
    known : Scores, optional
        What was computed.
    counted : array of shape (m,), optional
        Number of unreliable rows.
    margin_share : float, default=0.0
        How much of the mean margin loss is added to the share of errors where machines are compared.
    scoring : Scoring, optional
        A scorer of scikit-learn instead of a mean of losses: the scores are minus its values.
    units : array of int, optional
        The group that each gathered row belongs to.
    splits : array of int, optional
        For k-fold: the number of the fold of each entry.

    See Also
    --------
    svmpath.criteria.span : Returns it for a path of the squared hinge on rows in chunks.
    svmpath.criteria.press : The same for least squares.

    Examples
    --------
    >>> import dask.array as da, numpy as np, svmpath
    >>> X = np.random.default_rng(0).normal(size=(200, 2)); y = X[:, 0] > 0
    >>> path = svmpath.trace(da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50), rank=10, random_state=0)
    >>> curve = svmpath.criteria.span(path, [0.1, 1.0, 10.0])
    >>> bool(curve.scores.min() < 0.05), svmpath.select(curve).value in curve.values
    (True, True)
    >>> curve.at(1).held.shape  # in memory
    (1, 200)
    """

    path: ChunkedPath
    criterion: str
    values: Array
    loss: Callable[[Array, Array], Array]
    held_by: ChunkedPath | None = field(default=None, kw_only=True)
    known: Scores | None = field(default=None, kw_only=True)
    counted: Array | None = field(default=None, kw_only=True)
    margin_share: float = field(default=0.0, kw_only=True)
    scoring: Scoring | None = field(default=None, kw_only=True)
    units: Array | None = field(default=None, kw_only=True)
    splits: Array | None = field(default=None, kw_only=True)

    screened = None

    def __repr__(self) -> str:
        low, high = self.values.min(), self.values.max()
        return f"<ChunkedCurve: {self.criterion} at {len(self.values)} values of C in [{low:.6g}, {high:.6g}]>"

    # --- scores ------------------------------------------------------------------------------------------------------

    @lazy
    def table(self) -> Scores:
        """What was computed; or, in a pass per value, what takes no numbers of rows where that is possible."""
        return self._computed(self.values) if self.known is None else self.known

    def computed(
        self, progress: Progress | None = None, *, keep: bool = False, deadline: Any = None, first: float | None = None
    ) -> ChunkedCurve:
        """The curve with its scores computed; ``progress(done, values)`` is called on the way.

        With ``keep`` also with the losses that they are means of, if they take little room. After a deadline only at
        the values that there was time for, from the one next to ``first`` on.
        """
        order, steps = np.arange(len(self.values)), [np.arange(len(self.values))]
        if deadline is not None and deadline.left is not None and len(order) > 1:
            near = np.abs(np.log(self.values / (np.median(self.values) if first is None else first)))
            steps = list(np.argsort(near, kind="stable")[:, None])
        known: Scores | None = None
        done: list[Array] = []
        for step in steps:
            if known is not None and deadline.is_over():
                break
            part = self._computed(self.values[step], progress if len(steps) == 1 else None, keep)
            known, done = part if known is None else known.and_(part), [*done, step]
            if progress is not None and len(steps) > 1:
                progress(len(done), len(steps))
        at = np.argsort(np.concatenate(done), kind="stable")
        values = self.values[np.concatenate(done)[at]]
        assert known is not None
        known = known if len(steps) == 1 else known.taken(at)
        return replace(self, values=values, known=known, counted=self._source.count_unreliable(values))

    def _computed(self, values: Array, progress: Progress | None = None, keep: bool = False) -> Scores:
        is_mean = self.scoring is None or self.scoring.mean is not None
        masks = getattr(self._source.live, "masks", None)
        can_sum = is_mean and self.units is None and (masks is None or masks.are_simple)
        few = self.path.problem.n * len(self.values)
        if can_sum and not (keep and few <= limits.KEPT_LOSSES and self.path.gathered.problem.are_all):
            return self._summed(values, progress)
        parts, done = np.empty(len(values), dtype=object), 0
        for at, curve in self._curves(values):
            for k, position in enumerate(at.tolist()):
                parts[position] = self._numbers(curve.taken(np.array([k])), few)
            done += len(at)
            if progress is not None:
                progress(done, len(values))
        scores = parts[0]
        for other in parts[1:]:
            scores = scores.and_(other)
        return scores

    def _numbers(self, curve: Curve, few: int) -> Scores:
        """What is kept of one value."""
        is_mean = self.scoring is None or self.scoring.mean is not None
        if is_mean:
            kept = Scores.of(curve)
            return kept if few <= limits.KEPT_LOSSES else kept.without_losses()
        unknown = np.full(1, np.nan)  # the jackknife takes long: of the best value only, where there are many rows
        error = curve.standard_errors if few <= limits.KEPT_DECISIONS else unknown
        return Scores(curve.values, curve.scores, error, curve.smooth, curve.split_scores)

    def _summed(self, values: Array, progress: Progress | None) -> Scores:
        loss = self.loss if self.scoring is None else self._of_machines(self.scoring.mean)
        sums = self._source.sum_scores(values, loss, self.margin_loss, progress)
        if not np.all(sums[3] > 0):
            raise ValueError("At least one held-out sample must have a positive weight, but all have weight zero.")
        means = sums[:3] / sums[3]
        deviations = np.sqrt(np.maximum(means[1] - means[0] ** 2, 0.0) * sums[4]) / sums[3]
        scores = means[0]
        if self.scoring is not None and self.scoring.name == "accuracy":
            scores = scores - 1.0
        return Scores(values, scores, deviations, means[2])

    @property
    def scores(self) -> Array:
        """Weighted mean held-out loss at each value; with ``scoring``, minus the scorer's value."""
        return self.table.scores

    @property
    def standard_errors(self) -> Array:
        """Standard errors of the scores, as if the losses were independent; NaN where they were not computed."""
        return np.asarray(self.table.standard_errors)

    def standard_error(self, at: int) -> float:
        """The standard error at the value of this position."""
        known = float(self.standard_errors[at])
        return self.at(at).standard_error(0) if np.isnan(known) else known

    @property
    def split_scores(self) -> Array | None:
        """The scores on each fold alone; None if there are none, or they were not computed."""
        return None if self.table.splits is None else np.asarray(self.table.splits)

    @property
    def machines(self) -> int:
        """How many machines there are: one, or one per class."""
        return int(self.path.problem.machines)

    @property
    def is_screened(self) -> bool:
        """Whether the errors were found without the held-out decision values."""
        return self._source.is_screened(self.loss) and self.scoring is None

    @property
    def smooth(self) -> Array:
        """Mean held-out margin loss, which breaks ties between equal scores; an estimate with many rows."""
        return self.table.smooth

    @property
    def unreliable(self) -> Array:
        """Number of rows whose held-out value is lost to rounding, for least squares.

        For other losses nobody counts the rows for which the prediction may be wrong, and the attribute does not exist.
        """
        counted = self._source.count_unreliable(self.values) if self.counted is None else self.counted
        if counted is None and self.held_by is not None:
            return np.zeros(len(self.values), dtype=int)
        if counted is None:
            raise AttributeError(
                f"unreliable is not counted for loss={self.path.loss.name!r} on rows in chunks; look at criteria.span "
                "of a sample in memory, which counts it."
            )
        return counted

    @property
    def numbers(self) -> Scores:
        """What a choice keeps of it."""
        return replace(self.table, share=self.share)

    # --- held-out decision values ------------------------------------------------------------------------------------

    @property
    def decisions(self) -> Any:
        """Held-out decision values as a lazy Dask array of shape (m, n), or (m, n, k) for k classes."""
        return self._source.hold_out(self.values)

    def at(self, position: int) -> Curve:
        """The curve at one value in memory, of the held-out values of all rows, or of a random sample.

        ``path.problem.rows`` of it are the numbers of these rows.
        """
        ((_, curve),) = self._curves(self.values[[position]], screens=False)
        return curve

    def _curves(self, values: Array, *, screens: bool = True) -> Iterator[tuple[Array, Curve]]:
        """The positions of some values, and the curve there in memory."""
        source, is_screened = self._source, screens and self.is_screened
        whole = self.path.gathered
        for at, held in source.gather_held(values, is_screened):
            counted = source.count_unreliable(values[at])
            doubts = np.zeros(len(at), dtype=int) if counted is None else counted
            # Where errors are known, values are estimates.
            seen = None if held.errors is None else Screened(held.errors, held.decisions)
            yield at, Curve(
                whole, self.criterion, values[at], self.loss, held.rows, held.decisions, whole.problem.Y, doubts, seen,
                scoring=self.scoring, splits=held.fold if source.is_folded else None, units=self.units,
                margin_share=self.margin_share,
            )  # fmt: skip

    @property
    def _source(self) -> ChunkedPath:
        return self.path if self.held_by is None else self.held_by

    # --- other curves ------------------------------------------------------------------------------------------------

    def rescored(self, loss: HeldOutLoss) -> ChunkedCurve:
        """The same machines under another loss; takes another pass over the rows."""
        new = loss_of(loss, self.path)
        return self if new == self.loss and self.scoring is None else replace(self, loss=new, known=None, scoring=None)

    def _of_machines(self, loss: Any) -> Any:
        return loss if self.machines == 1 else OneVsRest(loss)

    def taken(self, order: Array) -> ChunkedCurve:
        """The curve at some of its values, given by their positions."""
        counted = None if self.counted is None else self.counted[order]
        return replace(self, values=self.values[order], known=self.table.taken(order), counted=counted)

    def with_error_of_best(self, rule: str) -> ChunkedCurve:
        """The curve, its standard error known at the best value."""
        curve: Any = self
        at, errors = best_value(curve, rule), self.standard_errors.copy()
        errors[at] = self.standard_error(at)
        return replace(self, known=replace(self.table, standard_errors=errors))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return {**state, "known": self.__dict__.get("table", self.known)}


def loss_of(loss: HeldOutLoss, path: ChunkedPath) -> Any:
    """The per-sample loss for a name, a callable or None, of all machines of a path."""
    if loss is None and path.loss.own_score:
        return OwnLoss((path.loss,), path.over)
    found = held_out_loss(loss, path.problem.task)
    return found if path.problem.machines == 1 else OneVsRest(found)
