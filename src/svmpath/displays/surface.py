"""``SurfaceDisplay``: held-out scores over the plane of two hyper-parameters.

Each value of the second parameter (gamma, lambda2) has its own values of the first (C, lambda1), so each is a row of
cells of its own. An edge between two cells lies halfway between their values on the axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.displays._base import Array, Display, check_fitted, ink, paper, thin_ticks
from svmpath.paths import Curves, Path
from svmpath.search.choice import Choice, Scores, Stage, best_pair, best_value
from svmpath.search.results import only_stage

if TYPE_CHECKING:
    import pandas as pd

_NO_PLANE = ("gradient", "ard", "penalty")  # stages whose scores are not rows over C at values of gamma
_ALONE = 10.0**0.5  # ratio of the edges of a cell without neighbours
_SHOWN = 0.9  # part of the scores that have colours of their own
_ROOM = 1.5  # ratio from a point to the end of an axis
_ZERO_CELL = 3.0  # the cell of zero ends at the smallest positive value over this


@dataclass(eq=False, repr=False, kw_only=True)
class SurfaceDisplay(Display):
    """The scores of a search over C and gamma (lambda1 and lambda2 of the elastic net), with all values tried.

    Make one by :meth:`from_curves`, :meth:`from_choice` or :meth:`from_estimator`, which draw it. The valley is the
    best C at each gamma.

    Parameters
    ----------
    tried : dict of float to Scores
        The scores over C at each gamma, which are drawn as cells.
    names : (str, str)
        The names of the two parameters, as on the axes.
    others : array of shape (q, 2)
        Pairs of C and gamma that other stages of a search tried; their scores cannot be compared.
    chosen : (float, float) or None
        The pair chosen.
    label : str
        What the scores are.
    sign : {1, -1}
        -1 if larger values make simpler machines, which breaks ties.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    rows_ : dict of float to QuadMesh
        The cells at each gamma; ``get_array()`` has the scores.
    valley_ : Line2D
    tried_ : PathCollection
        All pairs that were tried.
    choice_ : Line2D or None
    colorbar_ : Colorbar or None

    See Also
    --------
    svmpath.surface : Follow a machine over C and gamma together.
    svmpath.displays.CurveDisplay : Held-out scores along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> from svmpath.displays import SurfaceDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2)); y = np.sign(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=40))
    >>> surface = svmpath.surface(X, y, loss="least_squares", C=(0.1, 100.0), gamma=[0.1, 0.3, 1.0])
    >>> display = SurfaceDisplay.from_curves(surface.curves(criteria.loo))
    >>> table = display.table()
    >>> len(table), int(table["valley"].sum()), int(table["chosen"].sum())
    (30, 3, 1)
    """

    tried: Mapping[float, Scores]
    names: tuple[str, str] = ("C", "gamma")
    others: Any = None
    chosen: tuple[float, float] | None = None
    label: str = "score"
    sign: float = 1.0

    def __post_init__(self) -> None:
        self.others = np.empty((0, 2)) if self.others is None else self.others

    @classmethod
    def from_curves(
        cls, curves: Any, *, choice: Choice | None = None, ax: Any = None, **options: Any
    ) -> SurfaceDisplay:
        """Draw the curves of a surface.

        Parameters
        ----------
        curves : Curves
            From ``svmpath.surface(...).curves(criterion)``.
        choice : Choice, optional
            From ``svmpath.select(curves)``, which may lie between the gammas of the surface; its values are marked,
            too. By default the best pair of the surface itself.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        if not isinstance(curves, Curves):
            raise TypeError(
                f"{cls.__name__}.from_curves needs the curves of a surface, svmpath.surface(...).curves(criterion); "
                f"got {type(curves).__name__}."
            )
        gammas = curves.surface.gammas.tolist()
        tried = {gamma: Scores.of(curve) for gamma, curve in sorted(zip(gammas, curves.curves, strict=True))}
        names, others = ("C", curves.surface.over), None
        if choice is None:
            gamma, index = best_pair(tried)
            chosen: Any = float(tried[gamma].values[index]), gamma
        else:
            others = _pairs({gamma: scores for gamma, scores in choice.tried.items() if gamma not in tried})
            chosen = _pair(choice, names)
        label = f"score ({curves.curves[0].criterion})"
        return cls(tried=tried, names=names, others=others, chosen=chosen, label=label).plot(ax, **options)

    @classmethod
    def from_choice(cls, choice: Choice, *, stage: str | None = None, ax: Any = None, **options: Any) -> SurfaceDisplay:
        """Draw what a search tried.

        Parameters
        ----------
        choice : Choice
        stage : str, optional
            The stage whose scores are drawn: "screen", "narrow", "confirm", ... Scores of different stages cannot be
            compared, so what the others tried is drawn as points without scores. By default the stage with the most
            pairs.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        return cls.of_choice(choice, stage).plot(ax, **options)

    @classmethod
    def of_choice(cls, choice: Choice, stage: str | None = None) -> SurfaceDisplay:
        """The same without drawing it."""
        path = choice.curve.path
        stages = [
            each
            for each in choice.stages or (only_stage(choice),)
            # with scores over the first parameter at several values of the second
            if each.name not in _NO_PLANE and len(each.tried) > 1 and np.isfinite(list(each.tried)).all()
        ]
        names = _names(path)
        if not stages:
            raise ValueError(
                f"There is no plane to draw, as several values of {names[1]} were not tried: use CurveDisplay for the "
                "scores along the path."
            )
        shown = _pick(stages, stage)
        others = [_pairs(each.tried) for each in stages if each is not shown]
        sign = 1.0 if path.loss.has_kernel else -1.0
        label = f"{f'{shown.name} ' if choice.stages else ''}score ({shown.criterion})"
        pairs = np.concatenate(others) if others else None
        return cls(tried=shown.tried, names=names, others=pairs, chosen=_pair(choice, names), label=label, sign=sign)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, stage: str | None = None, ax: Any = None, **options: Any
    ) -> SurfaceDisplay:
        """Draw what the search of a fitted estimator tried; see :meth:`from_choice`."""
        return cls.from_choice(check_fitted(estimator, cls.__name__).choice_, stage=stage, ax=ax, **options)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **options: Any) -> SurfaceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        colorbar : bool, default=True
        **options
            Passed to ``ax.pcolormesh``.
        """
        ax = self._start(ax)
        from matplotlib.colors import Normalize

        pairs = np.concatenate([_pairs(self.tried), self.others])
        _scale(ax.set_xscale, ax.xaxis, pairs[:, 0])
        _scale(ax.set_yscale, ax.yaxis, pairs[:, 1])
        # One scale of colours for all rows; the worst scores share the last colour, so that the valley has many.
        scores = np.concatenate([each.scores for each in self.tried.values()])
        low, high, worst = np.nanmin(scores), np.nanquantile(scores, _SHOWN), np.nanmax(scores)
        options = {"norm": Normalize(low, high if high > low else worst), **options}
        tops = _edges(list(self.tried))
        self.rows_ = {
            outer: ax.pcolormesh(
                _edges(row.values), tops[k : k + 2], row.scores[np.argsort(row.values, kind="stable")][None], **options
            )
            for k, (outer, row) in enumerate(sorted(self.tried.items()))
        }
        self._mark(ax, pairs)
        self._limit(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        self.colorbar_ = None
        if colorbar:  # with an arrow if there are worse scores
            mesh = next(iter(self.rows_.values()))
            is_cut = mesh.norm.vmax is not None and worst > mesh.norm.vmax
            self.colorbar_ = ax.figure.colorbar(mesh, ax=ax, label=self.label, extend="max" if is_cut else "neither")
        return self

    def _limit(self, ax: Any) -> None:
        """From the first cell or point to the last: on a long logarithmic axis autoscaling ends at an inner edge."""
        cells = np.concatenate([mesh.get_coordinates().reshape(-1, 2) for mesh in self.rows_.values()])
        ends = np.concatenate([cells, self.others / _ROOM, self.others * _ROOM])
        ax.set(xlim=(ends[:, 0].min(), ends[:, 0].max()), ylim=(ends[:, 1].min(), ends[:, 1].max()))

    def table(self) -> pd.DataFrame:
        """One row per pair: C, gamma, ``score``, ``standard_error``, ``valley`` and ``chosen``.

        Pairs that were tried by other stages have no score.
        """
        import pandas as pd

        rows, valley = [row for _, row in sorted(self.tried.items())], set(self.valley())
        tried, unknown = _pairs(self.tried), np.full(len(self.others), np.nan)
        pairs = np.concatenate([tried, self.others])
        table = pd.DataFrame(pairs, columns=list(self.names))
        table["score"] = np.concatenate([*(row.scores for row in rows), unknown])
        table["standard_error"] = np.concatenate([*(np.asarray(row.standard_errors) for row in rows), unknown])
        table["valley"] = [
            *(pair in valley for pair in map(tuple, tried.tolist())),
            *np.zeros(len(unknown), dtype=bool),
        ]
        is_chosen = False if self.chosen is None else np.isclose(pairs, self.chosen, rtol=1e-9, atol=0.0).all(axis=1)
        return table.assign(chosen=is_chosen)

    def valley(self) -> list[tuple[float, float]]:
        """The best C at each gamma, as pairs."""
        return [
            (float(scores.values[best_value(scores, "min", self.sign)]), outer)
            for outer, scores in sorted(self.tried.items())
        ]

    def _mark(self, ax: Any, pairs: Array) -> None:
        """The valley, all pairs that were tried, and the choice, each set apart from the cells."""
        from matplotlib.patheffects import withStroke

        dots = {"s": 9, "color": ink(), "edgecolors": [paper()], "linewidths": 0.5, "label": "tried"}
        self.tried_ = ax.scatter(pairs[:, 0], pairs[:, 1], **dots)
        way = np.array(self.valley())
        self.valley_ = ax.plot(way[:, 0], way[:, 1], color=ink(), linestyle="--", label="valley")[0]
        self.valley_.set_path_effects([withStroke(linewidth=3.0, foreground=paper())])
        self.choice_ = None
        if self.chosen is not None:
            x, y = self.chosen
            look = {"marker": "*", "markersize": 16.0, "linestyle": "none", "markeredgecolor": paper()}
            self.choice_ = ax.plot(x, y, label=f"choice: {x:.3g}, {y:.3g}", zorder=3, **look)[0]
        ax.legend(loc="best", fontsize="small")


def _edges(values: Any) -> Array:
    """The ends of cells around values, halfway between them in the logarithm; that of zero is as wide either way."""
    values = np.sort(np.asarray(values, dtype=float))
    if values[0] == 0.0:
        least = values[1] / _ZERO_CELL if len(values) > 1 else 1.0
        return np.array([-least, least, *(_edges(values[1:])[1:] if len(values) > 1 else ())])
    t = np.log(values)
    if len(t) == 1:
        return np.exp(t[0] + 0.5 * np.log(_ALONE) * np.array([-1.0, 1.0]))
    inner = (t[1:] + t[:-1]) / 2
    return np.exp(np.concatenate([[2 * t[0] - inner[0]], inner, [2 * t[-1] - inner[-1]]]))


def _scale(set_scale: Any, axis: Any, values: Array) -> None:
    """The logarithm of the values; if zero is among them, on an axis that is linear near zero."""
    positive = values[values > 0]
    if not len(positive):
        return
    if len(positive) == len(values):
        set_scale("log")
        thin_ticks(axis, float(values.min()), float(values.max()))
        return
    least, most = positive.min(), positive.max()
    set_scale("symlog", linthresh=float(least))
    axis.set_ticks([0.0, *10.0 ** np.arange(np.ceil(np.log10(least)), np.floor(np.log10(most)) + 1)])


def _pairs(tried: Mapping[float, Scores]) -> Array:
    """All pairs, of shape (q, 2)."""
    pairs = [(float(x), outer) for outer, scores in sorted(tried.items()) for x in scores.values]
    return np.array(pairs).reshape(-1, 2)


def _pick(stages: Sequence[Stage], name: str | None) -> Stage:
    """The stage of this name, else that with the most pairs; the last one if there are several."""
    if name is None:
        return max(reversed(stages), key=lambda stage: len(_pairs(stage.tried)))
    named = [stage for stage in stages if stage.name == name]
    if not named:
        known = ", ".join(repr(stage.name) for stage in stages)
        raise ValueError(f"stage must be one of the stages of this search with several values, {known}; got {name!r}.")
    return named[-1]


def _names(path: Path) -> tuple[str, str]:
    if not path.loss.has_kernel:
        return path.over, "lambda2"
    parameters = [name for name in path.gram.kernel.parameters if name.split("__")[-1] == "gamma"]
    return path.over, parameters[0] if len(parameters) == 1 else "gamma"


def _pair(choice: Choice, names: tuple[str, str]) -> tuple[float, float] | None:
    """The pair chosen; None if its kernel has no single gamma."""
    path = choice.curve.path
    known = {**path.path_parameter.fixed, **path.gram.kernel.parameters}
    return (choice.value, float(known[names[1]])) if names[1] in known else None
