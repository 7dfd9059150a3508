"""A curve whose held-out decision values stay where the rows are: only their sums come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria.curve import HeldOutCurve, HeldOutLoss, OneVsRest, held_out_loss
from svmpath.lazy import lazy
from svmpath.search.choice import Scores

if TYPE_CHECKING:
    from svmpath.distributed.path import ChunkedPath

Array = np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedCurve(HeldOutCurve):
    """Held-out scores along a path on rows in chunks; lower is better.

    It has those attributes of a :class:`svmpath.criteria.Curve` that do not need the held-out decision values of all
    rows in one place, and you can pass it to :func:`svmpath.select`.

    Attributes
    ----------
    path : ChunkedPath
    criterion : str
    values : array of shape (m,)
        Values of C.
    loss : callable
        Per-sample loss of target and held-out decision value.
    known : array of shape (3, m), optional
        Weighted sums of the loss, of its square, and of the margin loss.
    counted : array of shape (m,), optional
        Number of unreliable rows.
    margin_share : float, default=0.0
        How much of the mean margin loss is added to the share of errors where machines are compared.

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
    """

    path: ChunkedPath
    criterion: str
    values: Array
    loss: Callable[[Array, Array], Array]
    known: Array | None = field(default=None, kw_only=True)
    counted: Array | None = field(default=None, kw_only=True)
    margin_share: float = field(default=0.0, kw_only=True)

    scoring = None
    screened = None
    split_scores = None
    units = None

    def __repr__(self) -> str:
        low, high = self.values.min(), self.values.max()
        return f"<ChunkedCurve: {self.criterion} at {len(self.values)} values of C in [{low:.6g}, {high:.6g}]>"

    @lazy
    def sums(self) -> Array:
        """Weighted sums over all rows, of shape (3, m)."""
        return self.path.sum_scores(self.values, self.loss, self.margin_loss) if self.known is None else self.known

    def computed(self, progress: Callable[[int, int], None] | None = None) -> ChunkedCurve:
        """The curve with its sums computed; ``progress(done, values)`` is called on the way."""
        known = self.path.sum_scores(self.values, self.loss, self.margin_loss, progress)
        return replace(self, known=known, counted=self.path.count_unreliable(self.values))

    @property
    def scores(self) -> Array:
        """Weighted mean held-out loss at each value."""
        return self.sums[0] / self.path.problem.weight

    @property
    def standard_errors(self) -> Array:
        """Standard errors of the scores, as if the losses were independent."""
        problem = self.path.problem
        variance = self.sums[1] / problem.weight - self.scores**2
        return np.sqrt(np.maximum(variance, 0.0) * problem.share)

    def standard_error(self, at: int) -> float:
        """The standard error at the value of this position."""
        return float(self.standard_errors[at])

    @property
    def machines(self) -> int:
        """How many machines there are: one, or one per class."""
        return int(self.path.problem.machines)

    @property
    def is_screened(self) -> bool:
        """Whether the errors were found without the held-out decision values."""
        return bool(self.path.is_screened(self.loss))

    @property
    def smooth(self) -> Array:
        """Mean held-out margin loss, which breaks ties between equal scores; an estimate with many rows."""
        return self.sums[2] / self.path.problem.weight

    @property
    def unreliable(self) -> Array:
        """Number of rows whose held-out value is lost to rounding, for least squares.

        For the squared hinge nobody counts the rows for which the prediction may be wrong, and the attribute does not
        exist.
        """
        counted = self.path.count_unreliable(self.values) if self.counted is None else self.counted
        if counted is None:
            raise AttributeError(
                f"unreliable is not counted for loss={self.path.loss.name!r} on rows in chunks; look at criteria.span "
                "of a sample in memory, which counts it."
            )
        return counted

    @property
    def numbers(self) -> Scores:
        """What a choice keeps of it."""
        return Scores(self.values, self.scores, self.standard_errors, self.smooth, share=self.share)

    @property
    def decisions(self) -> Any:
        """Held-out decision values as a lazy Dask array of shape (m, n), or (m, n, k) for k classes."""
        return self.path.hold_out(self.values)

    def rescored(self, loss: HeldOutLoss) -> ChunkedCurve:
        """The same machines under another loss; takes another pass over the rows."""
        new = loss_of(loss, self.path)
        return self if new == self.loss else replace(self, loss=new, known=None)

    def taken(self, order: Array) -> ChunkedCurve:
        """The curve at some of its values, given by their positions."""
        counted = None if self.counted is None else self.counted[order]
        return replace(self, values=self.values[order], known=self.sums[:, order], counted=counted)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return {**state, "known": self.__dict__.get("sums", self.known)}


def loss_of(loss: HeldOutLoss, path: ChunkedPath) -> Any:
    """The per-sample loss for a name, a callable or None, of all machines of a path."""
    found = held_out_loss(loss, path.problem.task)
    return found if path.problem.machines == 1 else OneVsRest(found)
