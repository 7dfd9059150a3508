"""A curve: held-out decision values along a path, and the score they give at each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from svmpath.criteria.sources import Rowwise, at_some, computed, joined
from svmpath.lazy import lazy, with_known
from svmpath.losses import Loss
from svmpath.names import unknown_name
from svmpath.notebook import Shown
from svmpath.paths import Path

if TYPE_CHECKING:
    from svmpath.criteria.scoring import Jackknife, Scoring

Array = np.ndarray
STEEP = 5.0  # of the smoothed step
MARGIN_SHARE = 0.5  # of the margin loss in what decides; from 0.25 to 2 it chooses as well
_COSTLY = ("scores", "standard_errors")  # a scorer takes about a millisecond for each, times the jackknife's parts
HeldOutLoss = str | Callable[[Array, Array], Array] | None


def error(y: Array, f: Array) -> Array:
    """1 if the sign of the decision value f is that of the wrong class, else 0 (f > 0 means class +1)."""
    return ((f > 0) != (y > 0)).astype(float)


def rejected(y: Array, f: Array) -> Array:
    """1 if the decision value is negative: of a machine without targets, the sample is taken for a novelty."""
    return (f < 0).astype(float)


def squared(y: Array, f: Array) -> Array:
    """(y - f)^2."""
    return (y - f) ** 2


def absolute(y: Array, f: Array) -> Array:
    """|y - f|."""
    return np.abs(y - f)


def squared_hinge(y: Array, f: Array) -> Array:
    """max(0, 1 - y f)^2, cut off at 9 to limit the effect of a single sample: a smooth replacement for the error."""
    return np.clip(1.0 - y * f, 0.0, 3.0) ** 2


def logistic(y: Array, f: Array) -> Array:
    """log(1 + exp(-y f)): a smooth replacement for the error."""
    return np.logaddexp(0.0, -y * f)


def sigmoid(y: Array, f: Array) -> Array:
    """1 / (1 + exp(5 y f)): the error with a smoothed step, as proposed by Chapelle."""
    return expit(-STEEP * y * f)


@dataclass(frozen=True)
class ErrorAbove:
    """The error where class +1 is predicted for decision values above a threshold other than 0."""

    threshold: float

    def __call__(self, y: Array, f: Array) -> Array:
        """1 for a wrong class, else 0."""
        return ((f > self.threshold) != (y > 0)).astype(float)


@dataclass(frozen=True)
class OwnLoss:
    """What machines keep small themselves: of one machine, or the mean over several with losses of their own.

    Attributes
    ----------
    losses : tuple of Loss
        One per machine.
    over : str
        The parameter of the path, which may be one of theirs.
    """

    losses: tuple[Loss, ...]
    over: str

    def __call__(self, y: Array, f: Array) -> Array:
        """Per-sample losses from targets and decision values of shape (n,), or (n, k) for k machines."""
        if y.ndim == 1:
            return self.losses[0].margin_loss(y, f)
        return np.mean([loss.margin_loss(y[:, c], f[:, c]) for c, loss in enumerate(self.losses)], axis=0)

    def at(self, value: float) -> OwnLoss:
        """With the parameter of the path at a value."""
        if self.over not in self.losses[0].fixed_parameters:
            return self
        return replace(self, losses=tuple(type(loss)(**{self.over: value}) for loss in self.losses))


HELD_OUT_LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "error": error,
    "squared": squared,
    "squared_hinge": squared_hinge,
    "logistic": logistic,
    "sigmoid": sigmoid,
}


# What is counted where no loss is named.
TASK_LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "classification": error,
    "regression": squared,
    "novelty": rejected,
}


def held_out_loss(loss: HeldOutLoss, task: str, parameter: str = "loss") -> Callable[[Array, Array], Array]:
    """The per-sample loss for a name, a callable ``loss(y, f)``, or None (the default of the task).

    ``parameter`` is what the user knows it by.
    """
    if loss is None:
        return TASK_LOSSES[task]
    if callable(loss):
        return loss
    if not isinstance(loss, str) or loss not in HELD_OUT_LOSSES:
        raise ValueError(unknown_name(parameter, loss, HELD_OUT_LOSSES, "a callable loss(y, f)"))
    if loss != "squared" and task == "regression":
        raise ValueError(
            f"{parameter}={loss!r} needs labels, which a regression does not have; use {parameter}='squared'."
        )
    return HELD_OUT_LOSSES[loss]


def score_by(loss: HeldOutLoss, path: Path) -> Callable[[Array, Array], Array]:
    """The per-sample loss that held-out values of a path are scored by; None is the one that its loss declares."""
    if loss is None and path.loss.own_score:
        return OwnLoss((path.loss,), path.over)
    return held_out_loss(loss, path.problem.task)


@dataclass(frozen=True)
class OneVsRest:
    """A loss of k machines, one per class: the error of the largest decision value; other losses are averaged."""

    loss: Callable[[Array, Array], Array]

    def __call__(self, y: Array, f: Array) -> Array:
        """Per-sample losses from targets and decision values of shape (n, k)."""
        if self.loss is error:
            return (np.argmax(f, axis=1) != np.argmax(y, axis=1)).astype(float)
        return np.mean([self.loss(y[:, c], f[:, c]) for c in range(y.shape[1])], axis=0)


def joint_score(loss: Callable[[Array, Array], Array], paths: Sequence[Path]) -> Callable[[Array, Array], Array]:
    """The per-sample loss of several machines, from that of the first."""
    if isinstance(loss, OwnLoss):
        return replace(loss, losses=tuple(path.loss for path in paths))
    return OneVsRest(loss)


def is_own(curve: Any) -> bool:
    """Whether a curve is scored by what its machines keep small themselves."""
    return isinstance(getattr(curve, "loss", None), OwnLoss) and curve.scoring is None


def own_parameters(curve: Any) -> Mapping[str, float]:
    """The parameters of the loss of a curve's machines; none if each machine has its own."""
    has_several = isinstance(getattr(curve, "loss", None), OwnLoss) and len(curve.loss.losses) > 1
    return {} if has_several else curve.path.loss.fixed_parameters


@dataclass(frozen=True)
class CutOff:
    """A loss cut off at 9, which a decision value of -2 instead of 1 has."""

    loss: Callable[[Array, Array], Array]

    def __call__(self, y: Array, f: Array) -> Array:
        """Per-sample losses."""
        return np.minimum(self.loss(y, f), 9.0)


@dataclass(frozen=True)
class Screened:
    """Which held-out samples are errors, of shape (m, N), and an estimate of their decision values."""

    errors: Array
    estimate: Array

    @property
    def parts(self) -> tuple[Array, Array]:
        """Both."""
        return self.errors, self.estimate


class HeldOutCurve(Shown):
    """What curves of held-out scores have in common, wherever their samples are: pictures and notebooks know it."""

    path: Any
    loss: Any
    scoring: Any
    margin_share: Any
    scores: Any
    smooth: Any
    machines: Any
    is_screened: Any

    @property
    def is_plain(self) -> bool:
        """Whether the loss is that of the task: the error, the squared residual, or the rejection."""
        return self.loss in (error, OneVsRest(error), squared, OneVsRest(squared), rejected)

    @property
    def margin_loss(self) -> Callable[[Array, Array], Array]:
        """The loss of the machine itself; of labels it is cut off, so that no single sample decides."""
        own = self.loss if isinstance(self.loss, OwnLoss) else self.path.loss.margin_loss
        return CutOff(own) if self.path.problem.task == "classification" else own

    @property
    def decisive(self) -> Array:
        """What decides between machines: the scores, plus a share of the margin loss if the scores count errors.

        Errors of a few hundred samples are whole numbers, and machines that differ by one or two of them are as good as
        each other. How far samples are on which side tells more.
        """
        return self.scores + self.share * self.smooth if self.share else self.scores

    @property
    def share(self) -> float:
        """The share of the margin loss. Its mean over k machines is scaled so that it is the same for two classes."""
        loss = self.loss if self.scoring is None else self.scoring.mean
        if self.is_screened:  # where errors are exact, decision values are estimates, good enough to break ties
            return 0.0
        if loss not in (error, OneVsRest(error)):
            return 0.0
        return self.margin_share * max(self.machines / 2.0, 1.0)


@dataclass(frozen=True, repr=False, eq=False)
class Curve(HeldOutCurve):
    """Held-out scores along a path; lower is better.

    Attributes
    ----------
    path : Path
    criterion : str
        Name of the criterion that computed it.
    values : array of shape (m,)
        Values of the path's parameter.
    loss : callable
        Per-sample loss of target and held-out decision value.
    rows : array of shape (N,)
        The samples held out, one entry each time a sample was held out.
    source : array of shape (m, N), or (m, N, k) for k classes, or callable
        Their held-out decision values, or a function that computes them on first access.
    target : array of shape (n,) or (n, k)
        Targets of all samples.
    doubts : array of shape (m,), or callable
        Number of samples for which the formula of the criterion is not known to hold, or a function that counts them.
    screened : Screened, optional
        The errors, if they were found without the held-out decision values.
    scoring : Scoring, optional
        A scorer of scikit-learn instead of a mean of losses: the scores are minus its values.
    splits : array of int of shape (N,), optional
        For k-fold: the number of the fold that each entry of ``rows`` was held out in.
    units : array of int of shape (n,), optional
        The group that each sample belongs to: losses of different groups only are independent.
    margin_share : float, default=0.0
        How much of the mean margin loss is added to the share of errors where machines are compared.
    margins : array of shape (m, N), optional
        For machines of pairs of classes: the margin losses, which are not those of the k numbers of each row.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.kfold : Exact k-fold.
    svmpath.select : Choose a value on a curve.
    svmpath.displays.CurveDisplay : Held-out scores along a path.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=1.0)
    >>> curve = criteria.loo(path, [0.1, 1.0, 10.0])
    >>> curve.scores.shape, curve.decisions.shape
    ((3,), (3, 60))
    >>> curve.rescored("squared").scores.shape  # another loss, nothing is fitted
    (3,)
    """

    path: Path
    criterion: str
    values: Array
    loss: Callable[[Array, Array], Array]
    rows: Array
    source: Array | Callable[[], Array]
    target: Array
    doubts: Array | Callable[[], Array]
    screened: Screened | None = None
    scoring: Scoring | None = None
    splits: Array | None = None
    units: Array | None = None
    margin_share: float = 0.0
    margins: Array | None = None

    def __repr__(self) -> str:
        low, high = self.values.min(), self.values.max()
        return f"<Curve: {self.criterion} at {len(self.values)} values of {self.path.over} in [{low:.6g}, {high:.6g}]>"

    @lazy
    def losses(self) -> Array:
        """Per-sample losses, of shape (m, N)."""
        if self.screened is not None and self.loss in (error, OneVsRest(error)):
            return self.screened.errors.astype(float)
        if self.loss in HELD_OUT_LOSSES.values():
            return self.loss(self.target[self.rows], self.finite)
        # One value at a time: a user's loss gets targets and decision values of the same shape.
        at = self.loss.at if isinstance(self.loss, OwnLoss) else lambda _: self.loss
        pairs = zip(self.values.tolist(), self.finite, strict=True)
        rows = [np.asarray(at(value)(self.target[self.rows], f), dtype=float) for value, f in pairs]
        table = np.array(rows).reshape(len(self.values), -1)
        if table.shape[1] != len(self.rows):
            raise ValueError(
                f"The held-out loss must return one number per sample, {len(self.rows)} in total; "
                f"it returned {table.shape[1]}."
            )
        return table

    @lazy
    def scores(self) -> Array:
        """Weighted mean held-out loss at each value; with ``scoring``, minus the scorer's value."""
        if self.scoring is not None:
            return 0.0 - self.scoring.values(self)  # without a -0
        return np.minimum(self.losses @ self._weights, self.losses.max(axis=1))  # no mean is larger, but for rounding

    @lazy
    def standard_errors(self) -> Array:
        """Standard errors of the scores, as if the losses were independent; with ``scoring``, by the jackknife.

        With ``units``, as if the sums of the losses of different units were.
        """
        if self.scoring is not None:
            return self.scoring.standard_errors(self)
        if self.units is not None:
            unit = np.unique(self.units[self.rows], return_inverse=True)[1]
            excess = self._weights * (self.losses - self.scores[:, None])
            return np.sqrt([np.sum(np.bincount(unit, row) ** 2) for row in excess])
        w, losses = self._weights, self.losses
        if np.bincount(self.rows).max() > 1:
            # A sample that was held out several times is one sample: its losses are averaged first.
            w = np.bincount(self.rows, w)
            losses = np.array([np.bincount(self.rows, self._weights * row) for row in losses]) / np.where(w > 0, w, 1.0)
        return np.sqrt((losses - self.scores[:, None]) ** 2 @ w * (w @ w))

    def standard_error(self, at: int) -> float:
        """The standard error at the value of this position; with ``scoring``, of this value alone."""
        if self.scoring is None or self.scoring.mean is not None or "standard_errors" in vars(self):
            return float(self.standard_errors[at])
        return float(self.jackknife.get("standard_error", at))

    @lazy
    def jackknife(self) -> Jackknife:
        """With ``scoring``: what standard errors are computed from."""
        assert self.scoring is not None
        return self.scoring.jackknife(self)

    @lazy
    def split_scores(self) -> Array | None:
        """The scores on each fold alone, of shape (m, number of folds); None if there are no folds."""
        if self.splits is None:
            return None
        if self.scoring is not None:
            return 0.0 - self.scoring.split_values(self)
        number = int(self.splits.max()) + 1
        weights = np.where(self.splits == np.arange(number)[:, None], self._weights, 0.0)
        with np.errstate(invalid="ignore"):  # a fold of weight zero has no score
            return (self.losses @ weights.T) / weights.sum(axis=1)

    @lazy
    def smooth(self) -> Array:
        """Mean held-out margin loss, which breaks ties between equal scores; with ``screen`` an estimate."""
        return self._margin_losses @ self._weights

    @property
    def decisive_losses(self) -> Array:
        """Per-sample losses whose weighted mean decides, of shape (m, N)."""
        return self.losses + self.share * self._margin_losses if self.share else self.losses

    @lazy
    def _margin_losses(self) -> Array:
        """Of shape (m, N); with ``screen``, of the estimated decision values."""
        if self.margins is not None:
            return self.margins
        if self.screened is None:
            return self.rescored(self.margin_loss).losses
        losses = self.margin_loss(self.target[self.rows], self.screened.estimate)
        return losses if losses.ndim == 2 else losses.mean(axis=2)

    @property
    def machines(self) -> int:
        """How many machines there are: one, or one per class."""
        return self.target.shape[1] if self.target.ndim == 2 else 1

    @property
    def multi_class(self) -> str:
        """Whether there is a machine for each class against the rest ("ovr"), or for each pair of classes ("ovo")."""
        return "ovr" if self.margins is None else "ovo"

    @property
    def is_screened(self) -> bool:
        """Whether the errors were found without the held-out decision values."""
        return self.screened is not None

    @lazy
    def held(self) -> Array:
        """Held-out decision values, of shape (m, N), or (m, N, k) for k classes."""
        return computed(self.source)

    @property
    def finite(self) -> Array:
        """The same; raises an error if some are not finite."""
        if not np.isfinite(self.held).all():
            raise ValueError(
                "The curve has held-out values that are not finite, so it has no scores; scale the data first."
            )
        return self.held

    @lazy
    def unreliable(self) -> Array:
        """Number of samples for which the formula of the criterion is not known to hold, at each value; 0 if exact."""
        return computed(self.doubts)

    @lazy
    def decisions(self) -> Array:
        """Held-out decision values per sample, of shape (m, n).

        The mean if a sample was held out several times, NaN if it was never held out.
        """
        n = len(self.target)
        times = np.bincount(self.rows, minlength=n).astype(float)
        total = np.zeros((n, *self.held.shape[:1], *self.held.shape[2:]))
        np.add.at(total, self.rows, np.moveaxis(self.held, 1, 0))
        times[times == 0] = np.nan
        return np.moveaxis(total / times.reshape(-1, *[1] * (total.ndim - 1)), 0, 1)

    @lazy
    def _weights(self) -> Array:
        s = self.path.problem.s[self.rows]
        if not s.any():
            raise ValueError("At least one held-out sample must have a positive weight, but all have weight zero.")
        return s / s.sum()

    def rescored(self, loss: Any) -> Curve:
        """The same held-out decision values under another loss."""
        if loss is None and isinstance(self.loss, OwnLoss):
            return replace(self, scoring=None)
        if not callable(loss):
            loss = score_by(loss, self.path)
        if isinstance(self.loss, OneVsRest) and not isinstance(loss, OneVsRest):
            loss = OneVsRest(loss)
        return replace(self, loss=loss, scoring=None)

    def joined(self, other: Curve) -> Curve:
        """The curve, and another one of the same machines at other values."""
        values = np.concatenate([self.values, other.values])
        source, doubts = joined(self.source, other.source), joined(self.doubts, other.doubts)
        seen = None
        if self.screened is not None and other.screened is not None:
            pairs = zip(self.screened.parts, other.screened.parts, strict=True)
            seen = Screened(*(np.vstack(pair) for pair in pairs))
        of_pairs = None
        if self.margins is not None and other.margins is not None:
            of_pairs = np.vstack([self.margins, other.margins])
        longer = replace(self, values=values, source=source, doubts=doubts, screened=seen, margins=of_pairs)
        return with_known(longer, **_costly([self, other]))

    def in_order(self) -> Curve:
        """The curve with its values in increasing order."""
        order = np.argsort(self.values, kind="stable")
        return self if np.array_equal(order, np.arange(len(order))) else self.taken(order)

    def taken(self, order: Array) -> Curve:
        """The curve at some of its values, given by their positions."""
        seen = None if self.screened is None else Screened(*(part[order] for part in self.screened.parts))
        known = vars(self)  # what has been computed is not computed again
        source, doubts = (known.get("held", self.source), known.get("unreliable", self.doubts))
        source, doubts = at_some(source, order), at_some(doubts, order)
        of_pairs = None if self.margins is None else self.margins[order]
        shorter = replace(
            self, values=self.values[order], source=source, doubts=doubts, screened=seen, margins=of_pairs
        )
        return with_known(shorter, **{name: known[order] for name, known in _costly([self]).items()})

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def _costly(parts: list[Curve]) -> dict[str, Array]:
    """What a scorer has computed of all parts, one after another; other scores take no time."""
    known = [name for name in _COSTLY if parts[0].scoring is not None and all(name in vars(part) for part in parts)]
    return {name: np.concatenate([vars(part)[name] for part in parts]) for name in known}


def one_vs_rest(curves: list[Curve]) -> Curve:
    """One curve from those of k machines (one-vs-rest, or one per quantile) with the same values, rows and weights.

    Where each was screened, the errors are those of the estimated decision values: what an estimate of the leverages
    changes is small compared to the distance from one machine's value to the next.
    """
    first = curves[0]
    target = np.stack([curve.target for curve in curves], axis=1)
    loss = joint_score(first.loss, [curve.path for curve in curves])
    doubts = Rowwise(_largest, [curve.doubts for curve in curves])
    seen = [curve.screened for curve in curves if curve.screened is not None]
    if len(seen) < len(curves) or first.loss is not error:
        source = np.stack([curve.held for curve in curves], axis=2)
        return replace(first, loss=loss, source=source, target=target, doubts=doubts, screened=None)
    estimate = np.stack([each.estimate for each in seen], axis=2)
    errors = np.argmax(estimate, axis=2) != np.argmax(target, axis=1)[first.rows]
    screened = Screened(errors, estimate)
    held = Rowwise(_stacked, [curve.source for curve in curves])
    return replace(first, loss=loss, source=held, target=target, doubts=doubts, screened=screened)


def _largest(parts: list[Array]) -> Array:
    return np.max(parts, axis=0)


def _stacked(parts: list[Array]) -> Array:
    return np.stack(parts, axis=2)


def check_values(path: Path, values: Any) -> Array:
    """Values of the path's parameter as an array, each inside the span."""
    values = np.atleast_1d(np.asarray(values, dtype=float))
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"values must be a list of numbers, got an array of shape {values.shape}.")
    return np.array([path.inside(value) for value in values])
