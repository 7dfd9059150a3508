"""``MarginDisplay``: the held-out margin of every sample, in order.

The margin of a sample is y f: how far its held-out decision value is on the right side, in units in which the machine's
own margin is one. With several classes it is the decision value of the right class minus the largest of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria import BoundCurve, Curve
from svmpath.criteria.curve import OneVsRest, error
from svmpath.criteria.frozen import margins
from svmpath.displays._base import Array, Display, check_fitted, colour, ink, without_classes
from svmpath.search.choice import best_value
from svmpath.validation import check_amount

if TYPE_CHECKING:
    import pandas as pd

_CLOSE = 0.2  # a right decision with a smaller margin is doubtful, where nothing else is said
# The marker of each kind, and its place among the colours: blue, orange and red in those of matplotlib.
_MARKERS = {"right": ("o", 0), "doubtful": ("s", 1), "wrong": ("X", 3)}


@dataclass(eq=False, repr=False, kw_only=True)
class MarginDisplay(Display):
    """The held-out margins of the samples from the smallest to the largest; wrong and doubtful ones are marked.

    Make one by :meth:`from_curve` or :meth:`from_estimator`, which draw it. Wrong are the samples whose held-out
    decision is another class; doubtful those that are right by a margin of less than ``doubtful``.

    Parameters
    ----------
    rows : array of shape (n,)
        The samples, the one with the smallest margin first.
    margins : array of shape (n,)
    wrong : array of bool of shape (n,)
    labels : array of shape (n,)
        The label of each sample.
    doubtful : float, default=0.2
        A right decision with a smaller margin is marked as doubtful.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    points_ : dict of str to PathCollection
        "right", "doubtful" and "wrong": position and margin of each.
    line_ : Line2D
        At zero.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.displays.BoundaryDisplay : The boundary of a machine with two features.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathSVC
    >>> from svmpath.displays import MarginDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> model = PathSVC(C=1.0, gamma=1.0).fit(X, y)
    >>> table = MarginDisplay.from_estimator(model).table()
    >>> bool(table["wrong"].mean() == model.loo_error())
    True
    """

    rows: Array
    margins: Array
    wrong: Array
    labels: Array
    doubtful: float = _CLOSE

    @classmethod
    def from_curve(
        cls,
        curve: Any,
        value: float | None = None,
        *,
        classes: Any = None,
        doubtful: float = _CLOSE,
        ax: Any = None,
        **options: Any,
    ) -> MarginDisplay:
        """Draw the held-out margins at one value of a curve.

        Parameters
        ----------
        curve : Curve
            From a criterion with held-out decision values.
        value : float, optional
            One of the values of the curve; by default that with the lowest score.
        classes : array, optional
            The labels; by default those of the path.
        doubtful : float, default=0.2
            A right decision with a smaller margin is marked as doubtful.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        _check(curve, cls.__name__)
        check_amount(doubtful, "doubtful")
        if value is None:
            at = best_value(curve) if len(curve.values) > 1 else 0
        else:
            at = int(np.argmin(np.abs(curve.values - value)))
            if not np.isclose(curve.values[at], value, rtol=1e-9, atol=0.0):
                raise ValueError(
                    f"{curve.path.over} = {value:.6g} is not among the {len(curve.values)} values of this curve; the "
                    f"nearest is {curve.values[at]:.6g}."
                )
        f, target = curve.decisions[at], curve.target
        is_two, classes = target.ndim == 1, curve.path.classes if classes is None else classes
        code = (target > 0).astype(int) if is_two else np.argmax(target, axis=1)
        wrong = (error if is_two else OneVsRest(error))(target, f) > 0
        labels = np.asarray(([-1, 1] if is_two else range(f.shape[1])) if classes is None else classes)[code]
        margin = margins(f, code)
        rows = np.argsort(margin, kind="stable")
        rows = rows[np.isfinite(margin[rows])]  # others were never held out
        display = cls(rows=rows, margins=margin[rows], wrong=wrong[rows], labels=labels[rows], doubtful=doubtful)
        return display.plot(ax, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, doubtful: float = _CLOSE, ax: Any = None, **options: Any
    ) -> MarginDisplay:
        """Draw the margins of ``held_out_decisions()``, at the choice of a fitted classifier."""
        check_fitted(estimator, cls.__name__)
        classes = getattr(estimator, "classes_", None)
        return cls.from_curve(estimator._held_out.curve(), classes=classes, doubtful=doubtful, ax=ax, **options)

    def plot(self, ax: Any = None, **options: Any) -> MarginDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        **options
            Passed to ``ax.scatter``.
        """
        ax = self._start(ax)
        self.points_ = {}
        for number, (kind, (marker, place_of_colour)) in enumerate(_MARKERS.items()):
            place = np.flatnonzero(self._kinds() == kind)
            look = {"color": colour(place_of_colour), "marker": marker, "s": 12.0 + 8.0 * number, **options}
            self.points_[kind] = ax.scatter(place, self.margins[place], label=f"{kind}: {len(place)}", **look)
        self.line_ = ax.axhline(0.0, color=ink(), linewidth=0.8, zorder=0.9)
        ax.set(xlabel="samples, in order of their margins", ylabel="held-out margin")
        ax.legend(loc="best", fontsize="small")
        return self

    def table(self) -> pd.DataFrame:
        """One row per sample, the smallest margin first: ``row``, ``label``, ``margin``, ``wrong`` and ``doubtful``."""
        import pandas as pd

        return pd.DataFrame({
            "row": self.rows,
            "label": self.labels,
            "margin": self.margins,
            "wrong": self.wrong,
            "doubtful": self._kinds() == "doubtful",
        })  # fmt: skip

    def _kinds(self) -> Array:
        close = np.where(self.margins < self.doubtful, "doubtful", "right")
        return np.where(self.wrong, "wrong", close)


def _check(curve: Any, owner: str) -> None:
    """Refuse what has no held-out margins."""
    if isinstance(curve, BoundCurve):
        raise ValueError(
            f"criterion={curve.criterion!r} bounds the error rate without held-out decision values, so there are no "
            "margins to draw; use criteria.loo or criteria.kfold."
        )
    if not isinstance(curve, Curve):
        raise TypeError(
            f"{owner}.from_curve needs a curve, such as criteria.loo(path, values) returns; got {type(curve).__name__}."
        )
    if curve.path.problem.task != "classification":
        raise ValueError(
            f"{owner} needs classes, but this is {without_classes(curve.path.problem.task)}, in which samples have no "
            "margins; see curve.decisions."
        )
