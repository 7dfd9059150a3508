"""``CurveDisplay``: held-out scores along a path, by one criterion or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria import BoundCurve, Curve
from svmpath.criteria.curve import HeldOutCurve, OneVsRest, error, is_own, squared
from svmpath.criteria.table import make_criterion
from svmpath.displays._base import (
    Display,
    along,
    check_fitted,
    check_inside,
    check_path,
    colour,
    ink,
    label_parameter,
    plain,
    unreliable_of,
)
from svmpath.paths import Path
from svmpath.search.choice import Choice, best_value, check_rule

if TYPE_CHECKING:
    import pandas as pd

AnyCurve = Curve | BoundCurve
_CURVES = (HeldOutCurve, BoundCurve)

_SCORED = 25  # values at which a path is scored, where none are given
_WORDS: dict[Any, str] = {error: "held-out error rate", squared: "mean squared held-out error"}
_SIMPLE_IS_LARGE = ("lambda1", "lambda2", "ray")  # parameters of which a larger value makes a simpler machine


@dataclass(eq=False, repr=False, kw_only=True)
class CurveDisplay(Display):
    """Held-out scores along a path with their standard errors; several criteria in one picture.

    Make one by :meth:`from_curve`, :meth:`from_path` or :meth:`from_estimator`, which draw it.

    Parameters
    ----------
    curves : dict of str to Curve
        The curves by name, over the same parameter.
    chosen : dict of str to int
        The position of the choice on each curve, where there is one.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    lines_ : dict of str to Line2D
        The scores.
    bands_ : dict of str to PolyCollection
        One standard error on either side; not for bounds.
    unreliable_ : dict of str to Line2D
        Hollow markers at values at which the formula is not known to hold for some samples. With more than 3000
        samples of the squared hinge counting them takes long; ask for ``curve.unreliable`` before you draw if you want
        them.
    choices_ : dict of str to Line2D
        A marker at the choice.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.select : Choose a value on a curve.
    svmpath.displays.SurfaceDisplay : Scores over C and gamma.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.displays import CurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> path, values = svmpath.trace(X, y), np.geomspace(0.01, 100, 9)
    >>> curves = {"exact": criteria.loo(path, values), "predicted": criteria.span(path, values)}
    >>> display = CurveDisplay.from_curve(curves)
    >>> display.table().groupby("curve")["score"].min().round(3).to_dict()
    {'exact': 0.125, 'predicted': 0.125}
    """

    curves: Mapping[str, AnyCurve]
    chosen: Mapping[str, int]

    @classmethod
    def from_curve(
        cls, curve: Any, *, choice: Any = None, rule: str = "min", ax: Any = None, **options: Any
    ) -> CurveDisplay:
        """Draw one curve or several.

        Parameters
        ----------
        curve : Curve, list of Curve, or dict of str to Curve
            Over the same parameter.
        choice : Choice, optional
            The choice to be marked on the curve it was made on. By default the one of each curve.
        rule : {"min", "one_se"}, default="min"
            How to choose on each curve where no choice is given; see :func:`svmpath.select`.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        curves = _named(curve, cls.__name__)
        check_rule(rule)
        if choice is None:
            simple = -1.0 if next(iter(curves.values())).path.over in _SIMPLE_IS_LARGE else 1.0
            finite: dict[str, Any] = {name: each for name, each in curves.items() if np.isfinite(each.scores).all()}
            chosen = {name: best_value(each, rule, simple) for name, each in finite.items()}
        else:
            chosen = {name: choice.index for name, each in curves.items() if each is choice.curve}
        return cls(curves=curves, chosen=chosen).plot(ax, **options)

    @classmethod
    def from_path(
        cls, path: Path, criteria: Any = "loo", values: Any = None, *, cv: Any = 5, ax: Any = None, **options: Any
    ) -> CurveDisplay:
        """Score a path by one criterion or several, and draw the curves.

        Parameters
        ----------
        path : Path
        criteria : str, callable or list of them, default="loo"
            Criteria by name ("loo", "kfold", "span", ...) or functions ``criterion(path, values)``.
        values : array, optional
            Values of the path's parameter; 25 over the span by default.
        cv : int, splitter or iterable, default=5
            For "kfold".
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        check_path(path, cls.__name__, one_function=False)
        at = along(path, _SCORED) if values is None else check_inside(path, values)
        several = criteria if isinstance(criteria, list | tuple) else [criteria]
        return cls.from_curve([make_criterion(each, cv)(path, at) for each in several], ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> CurveDisplay:
        """Draw the curve that a fitted estimator has chosen on, and its choice."""
        choice: Choice = check_fitted(estimator, cls.__name__).choice_
        return cls.from_curve(choice.curve, choice=choice, ax=ax, **options)

    def plot(self, ax: Any = None, *, errors: bool = True, **options: Any) -> CurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        errors : bool, default=True
            Whether to draw standard errors.
        **options
            Passed to ``ax.plot`` for the scores.
        """
        ax = self._start(ax)
        self.lines_: dict[str, Any] = {}
        self.bands_: dict[str, Any] = {}
        self.unreliable_: dict[str, Any] = {}
        self.choices_: dict[str, Any] = {}
        for number, (name, curve) in enumerate(self.curves.items()):
            self._draw(ax, name, curve, {"color": colour(number), **options}, errors)
        first = next(iter(self.curves.values()))
        label_parameter(ax, first.path, np.concatenate([curve.values for curve in self.curves.values()]))
        labels = {describe(curve) for curve in self.curves.values()}
        ax.set_ylabel(labels.pop() if len(labels) == 1 else "held-out score")
        self._legend(ax)
        return self

    def table(self) -> pd.DataFrame:
        """A row per curve and value: curve, value, score, standard_error, unreliable and chosen."""
        import pandas as pd

        parts = []
        for name, curve in self.curves.items():
            columns = {"curve": name, curve.path.over: curve.values, "score": curve.scores}
            columns |= {"standard_error": curve.standard_errors, "unreliable": unreliable_of(curve)}
            parts.append(pd.DataFrame(columns | {"chosen": np.arange(len(curve.values)) == self.chosen.get(name, -1)}))
        return pd.concat(parts, ignore_index=True)

    def _draw(self, ax: Any, name: str, curve: AnyCurve, look: dict[str, Any], errors: bool) -> None:
        values, order = curve.values, np.argsort(curve.values, kind="stable")
        x, y, spread = values[order], curve.scores[order], np.asarray(curve.standard_errors)[order]
        edges, style = getattr(curve, "edges", None), {"marker": "o", "markersize": 3.0}
        if edges is not None:  # the steps of a curve that is known between the values
            x, y, spread, style = np.repeat(edges, 2)[1:-1], np.repeat(y, 2), np.repeat(spread, 2), {}
        self.lines_[name] = ax.plot(x, y, **{**style, **look})[0]
        paint = self.lines_[name].get_color()
        if errors and spread.any():
            self.bands_[name] = ax.fill_between(x, y - spread, y + spread, color=paint, alpha=0.2, linewidth=0)
        unsure = order[unreliable_of(curve)[order] > 0]
        if len(unsure):
            hollow = {"marker": "o", "markersize": 8.0, "markerfacecolor": "none", "color": paint}
            self.unreliable_[name] = ax.plot(values[unsure], curve.scores[unsure], linestyle="none", **hollow)[0]
        if name in self.chosen:
            at, star = self.chosen[name], {"marker": "*", "markersize": 14.0, "color": paint, "markeredgecolor": ink()}
            self.choices_[name] = ax.plot(values[at], curve.scores[at], linestyle="none", zorder=3, **star)[0]

    def _legend(self, ax: Any) -> None:
        """The names of the curves, and what the markers mean."""
        shown = [(line, plain(name)) for name, line in self.lines_.items()]
        shown += [(line, "unreliable") for line in [*self.unreliable_.values()][:1]]
        for name, line in [*self.choices_.items()][:1]:
            curve = self.curves[name]
            value = f": {curve.path.over} = {curve.values[self.chosen[name]]:.3g}" if len(self.choices_) == 1 else ""
            shown.append((line, f"choice{value}"))
        ax.legend(*zip(*shown, strict=True), loc="best", fontsize="small")


def _named(curve: Any, owner: str) -> dict[str, AnyCurve]:
    """The curves by name; raises an error for something else, or for curves over different parameters."""
    if isinstance(curve, Mapping):
        curves = {str(name): each for name, each in curve.items()}
    else:
        several = list(curve) if isinstance(curve, list | tuple) else [curve]
        curves = {}
        for each in several:
            name = str(getattr(each, "criterion", ""))
            used = sum(known == name or known.startswith(f"{name} (") for known in curves)
            curves[f"{name} ({used + 1})" if used else name] = each
    wrong = [type(each).__name__ for each in curves.values() if not isinstance(each, _CURVES)]
    if wrong or not curves:
        raise TypeError(
            f"{owner}.from_curve needs a curve, such as criteria.loo(path, values) returns, or a list or dict of them; "
            f"got {wrong[0] if wrong else 'none'}."
        )
    names = sorted({each.path.over for each in curves.values()})
    if len(names) > 1:
        raise ValueError(
            f"The curves must be over one parameter to share an axis, but they are over {' and '.join(names)}; draw "
            "them one by one."
        )
    return curves


def describe(curve: AnyCurve) -> str:
    """What the scores are, in words."""
    if isinstance(curve, BoundCurve):
        return "bound on the error rate"
    if is_own(curve):
        return f"held-out {curve.path.loss.own_score}"
    loss = curve.loss.loss if isinstance(curve.loss, OneVsRest) else curve.loss
    return _WORDS.get(loss, "mean held-out loss")
