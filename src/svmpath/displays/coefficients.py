"""``PathDisplay``: the coefficients of a machine along its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.displays._base import (
    Array,
    Display,
    along,
    check_fitted,
    check_inside,
    check_path,
    classes_of,
    colour,
    ink,
    label_parameter,
    mark_choice,
    plain,
)
from svmpath.kernels import Linear
from svmpath.names import unknown_name
from svmpath.paths import ElasticPath, Path

if TYPE_CHECKING:
    import pandas as pd

WHAT = ("coefficients", "multipliers")
_VALUES = 100  # evenly spaced values at which a path is drawn, and the most breakpoints that are added to them
_NAMED = 10  # lines with a name in the legend


@dataclass(eq=False, repr=False, kw_only=True)
class PathDisplay(Display):
    """Coefficients of features, or multipliers of samples, along a path, with its breakpoints.

    Make one by :meth:`from_path` or :meth:`from_estimator`, which draw it.

    Parameters
    ----------
    path : Path
    values : array of shape (m,)
        Values of the path's parameter.
    lines : array of shape (m, p)
        What is drawn: one column per feature or sample.
    names : list of p str
    what : {"coefficients", "multipliers"}
    unit : str
        What the numbers are, for the axis.
    chosen : float, optional
        A value to be marked.
    classes : array of two labels, optional
        The labels of negative and positive decision values.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    lines_ : list of Line2D
        Those drawn, the largest first.
    breakpoints_ : Line2D or None
        Ticks at the breakpoints of the path.
    choice_line_ : Line2D or None

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.displays.ElbowDisplay : Number of support vectors along a path.
    svmpath.displays.CurveDisplay : Held-out scores along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.displays import PathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> path = svmpath.trace_elastic(X, y, lambda2=1.0)
    >>> display = PathDisplay.from_path(path, names=["a", "b", "c"])
    >>> display.ax_.get_xlabel(), list(display.table().columns)
    ('lambda1', ['a', 'b', 'c'])
    """

    path: Path
    values: Array
    lines: Array
    names: list[str]
    what: str
    unit: str
    chosen: float | None = None
    classes: Any = None

    @classmethod
    def from_path(
        cls,
        path: Path,
        values: Any = None,
        *,
        what: str | None = None,
        names: Any = None,
        chosen: float | None = None,
        classes: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> PathDisplay:
        """Draw a path.

        Parameters
        ----------
        path : Path
        values : array, optional
            Where to evaluate it; by default 100 values over the span, and its breakpoints if there are no more.
        what : {"coefficients", "multipliers"}, optional
            The coefficients of the features (elastic net, linear kernel; the default there), or the multipliers of the
            samples: alpha / C for machines with a C, rho alpha for nu and alpha for the elastic net. They are the
            slopes of the losses, between zero and the weight of the sample for losses with an elbow.
        names : list of str, optional
            Names of the features.
        chosen : float, optional
            A value to be marked.
        classes : array of two labels, optional
            The labels of negative and positive decision values; those of the path by default.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        check_path(path, cls.__name__)
        what = _check_what(path, what)
        if values is None:
            at, nodes = along(path, _VALUES), np.asarray(path.breakpoints)
            at = np.unique(np.concatenate([at, nodes])) if len(nodes) <= _VALUES else at
        else:
            at = check_inside(path, values)
        lines, unit = (_coefficients if what == "coefficients" else _multipliers)(path, at)
        if names is None:
            names = [f"{'x' if what == 'coefficients' else 'sample '}{k}" for k in range(lines.shape[1])]
        if len(names) != lines.shape[1]:
            raise ValueError(f"names must hold one name for each of the {lines.shape[1]} {what}, got {len(names)}.")
        display = cls(
            path=path,
            values=at,
            lines=lines,
            names=[str(name) for name in names],
            what=what,
            unit=unit,
            chosen=chosen,
            classes=classes_of(path) if classes is None else classes,
        )
        return display.plot(ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, values: Any = None, *, ax: Any = None, **options: Any) -> PathDisplay:
        """Draw the path of a fitted estimator, and mark its choice.

        With several classes it is the path of the first class against the rest. With ``scale=True`` coefficients are
        those of the scaled columns. ``names`` are those of the columns that it was fitted to.
        """
        check_fitted(estimator, cls.__name__)
        is_of_features = _check_what(estimator.path_, options.get("what")) == "coefficients"
        names = getattr(estimator, "feature_names_in_", None) if is_of_features else None
        known = {"names": names, "chosen": estimator.choice_.value, "classes": classes_of(estimator.path_, estimator)}
        return cls.from_path(estimator.path_, values, ax=ax, **{**known, **options})

    def plot(self, ax: Any = None, *, most: int = _VALUES, breakpoints: bool = True, **options: Any) -> PathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        most : int, default=100
            Draw so many lines at most: of features those that become largest, of samples all sizes.
        breakpoints : bool, default=True
            Whether to mark the breakpoints.
        **options
            Passed to ``ax.plot``.
        """
        ax = self._start(ax)
        order = self.drawn(most)
        looks = [self._look(place, k) for place, k in enumerate(order.tolist())]
        self.lines_ = [
            ax.plot(self.values, self.lines[:, k], **{**look, **options})[0]
            for k, look in zip(order, looks, strict=True)
        ]
        self.breakpoints_ = None
        if breakpoints:  # short ticks on the axis, in the units of the axes vertically
            ticks = {"linestyle": "none", "marker": "|", "markersize": 9.0, "color": ink(), "alpha": 0.5}
            nodes, across = np.asarray(self.path.breakpoints), ax.get_xaxis_transform()
            self.breakpoints_ = ax.plot(nodes, np.zeros(len(nodes)), transform=across, clip_on=True, **ticks)[0]
        self.choice_line_ = mark_choice(ax, self.chosen)
        label_parameter(ax, self.path, self.values)
        more = f" ({len(order)} of {len(self.names)})" if len(order) < len(self.names) else ""
        ax.set_ylabel(f"{self.unit}{more}")
        self._legend(ax, order)
        return self

    def drawn(self, most: int) -> Array:
        """The columns that are drawn: the features that become largest, or samples from the largest to the smallest."""
        order = np.argsort(-np.abs(self.lines).max(axis=0), kind="stable")
        if self.what == "coefficients" or len(order) <= most:
            return order[:most]
        return order[np.linspace(0, len(order) - 1, most).round().astype(int)]

    def table(self) -> pd.DataFrame:
        """One row per value, one column per feature or sample."""
        import pandas as pd

        return pd.DataFrame(self.lines, index=pd.Index(self.values, name=self.path.over), columns=self.names)

    def _look(self, place: int, k: int) -> dict[str, Any]:
        """Features with a name in the legend have a colour each, samples that of their class."""
        if self.what == "coefficients":
            if place < _NAMED and self.lines[:, k].any():
                return {"color": colour(place)}
            return {"color": ink(), "alpha": 0.3, "linewidth": 0.8, "zorder": 1.8}
        is_positive = self.classes is not None and self.path.problem.y[k] > 0
        return {"color": colour(int(is_positive)), "alpha": 0.5, "linewidth": 0.8}

    def _legend(self, ax: Any, order: Array) -> None:
        if self.what == "coefficients":
            pairs = list(zip(self.lines_, order.tolist(), strict=True))[:_NAMED]
            shown = [(line, self.names[k]) for line, k in pairs if np.any(line.get_ydata())]
        else:  # a line of each class
            is_positive = self.path.problem.y[order] > 0
            sides = [] if self.classes is None else list(enumerate(self.classes))
            first = [(label, np.flatnonzero(is_positive == bool(side))[:1]) for side, label in sides]
            shown = [(self.lines_[k], label) for label, rows in first for k in rows]
        if shown:
            handles, names = zip(*shown, strict=True)
            legend = ax.legend(handles, [plain(name) for name in names], loc="best", fontsize="small")
            for handle in legend.legend_handles:  # samples are drawn thin
                handle.set(alpha=1.0, linewidth=1.5)


def _check_what(path: Path, what: str | None) -> str:
    is_linear = not path.loss.has_kernel or isinstance(path.gram.kernel, Linear)
    if what is None:
        return "coefficients" if is_linear else "multipliers"
    if what not in WHAT:
        raise ValueError(unknown_name("what", what, WHAT))
    if what == "coefficients" and not is_linear:
        raise ValueError(
            f"A machine with the kernel {path.gram.kernel!r} has no coefficients of features; use what='multipliers', "
            "or kernel='linear'."
        )
    return what


def _coefficients(path: Path, values: Array) -> tuple[Array, str]:
    """Those of the features at each value, and what to call them."""
    if isinstance(path, ElasticPath):
        return path.coefs(values)[0], "coefficient"
    X = path.gram.X
    return np.array([np.asarray(X.T @ path(float(value)).alpha).ravel() for value in values]), "coefficient"


def _multipliers(path: Path, values: Array) -> tuple[Array, str]:
    """The signed slopes of the losses: alpha / C, rho alpha, or alpha where the losses have no factor."""
    machines = [path(float(value)) for value in values]
    slopes = [each.alpha * getattr(each, "rho", 1.0) / each.parameters.get("C", 1.0) for each in machines]
    if "nu" in path.loss.parameter_names:
        return np.array(slopes), "rho alpha"
    return np.array(slopes), "alpha / C" if "C" in path.loss.parameter_names else "alpha"
