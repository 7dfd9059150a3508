"""What all displays share: matplotlib when it is needed, axes, scales, colours of the user's style, words.

Nothing here, or in the other files of this room, imports matplotlib before something is drawn: ``svmpath.displays`` can
be imported without it, and tables can be had without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.paths import Path

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

_ESTIMATORS = "PathSVC, PathSVR or ElasticNetSVC"
_TWO_DECADES = 100.0
_UNSEEN = "\u200b"  # matplotlib leaves out legend entries that begin with an underscore


class Display(ABC):
    """A picture of something computed: ``plot`` draws it, ``table`` has its numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """The numbers that are drawn."""

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw."""

    def _start(self, ax: Any) -> Any:
        """The axes to draw on: those given, or new ones of a new figure."""
        need_matplotlib(type(self).__name__)
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def need_matplotlib(owner: str) -> None:
    """Say what to install if matplotlib is not there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise ImportError(
            f"{owner} draws with matplotlib, which is not installed: run python -m pip install 'svmpath[plot]'."
        ) from missing


# --- what is given ---------------------------------------------------------------------------------------------------


def check_path(path: Any, owner: str, *, one_function: bool = True) -> Path:
    """The path; raises an error for something else, and for machines of more than one function if they are no good."""
    if not isinstance(path, Path):
        raise TypeError(
            f"{owner}.from_path needs a path, such as svmpath.trace(X, y) returns; got {type(path).__name__}."
        )
    if one_function and path.problem.y.ndim > 1:
        raise ValueError(f"{owner} shows machines of one function, but this path has one for each class.")
    return path


def check_fitted(estimator: Any, owner: str) -> Any:
    """The estimator; raises an error if it is not fitted, or not one of ours."""
    if hasattr(estimator, "choice_"):
        return estimator
    kind = type(estimator).__name__
    if hasattr(estimator, "steps"):
        raise TypeError(f"{owner}.from_estimator needs a {_ESTIMATORS}; give it the step of the {kind}: model[-1].")
    check_is_fitted(estimator)
    raise TypeError(f"{owner}.from_estimator needs a fitted {_ESTIMATORS}; got {kind}.")


def without_classes(task: str) -> str:
    """What a task without classes is, in words."""
    return "a regression" if task == "regression" else "a one-class machine"


def classes_of(path: Path, estimator: Any = None) -> Array | None:
    """The labels of negative and positive decision values; for one class of several that class and "the rest"."""
    if path.problem.task != "classification":
        return None
    labels = getattr(estimator, "classes_", None)
    if labels is not None and len(labels) > 2:
        return np.array(["the rest", str(labels[0])])
    return path.classes if labels is None else labels


# --- the parameter of a path -----------------------------------------------------------------------------------------


def is_log(path: Path, values: Any = None) -> bool:
    """Whether the parameter of a path is searched in its logarithm, and these values (or its span) have one."""
    known = {parameter.name: parameter for parameter in path.loss.parameters}
    parameter = known.get(path.over) or path.gram.kernel.parameter(path.over)
    return parameter.log and float(np.min(path.span if values is None else values)) > 0.0


def along(path: Path, size: int) -> Array:
    """So many values from the smallest to the largest of a path, evenly spaced as its parameter is searched."""
    low, high = sorted(path.span)
    return np.array([low]) if low == high else (np.geomspace if is_log(path) else np.linspace)(low, high, size)


def check_inside(path: Path, values: Any) -> Array:
    """Values of the path's parameter, in increasing order."""
    return np.unique([path.inside(float(value)) for value in np.atleast_1d(values)])


def middles(values: Array, log: bool) -> Array:
    """Halfway between neighbours."""
    return np.sqrt(values[1:] * values[:-1]) if log else (values[1:] + values[:-1]) / 2


def label_parameter(ax: Any, path: Path, values: Any = None) -> None:
    """The axis of the path's parameter, in its logarithm if it is searched so."""
    ax.set_xlabel(path.over)
    at = np.asarray(path.span if values is None else values)
    if is_log(path, at):
        ax.set_xscale("log")
        thin_ticks(ax.xaxis, float(at.min()), float(at.max()))


def thin_ticks(axis: Any, low: float, high: float) -> None:
    """On a logarithmic axis of less than two decades: labels at 1, 2 and 5 times powers of ten, lest they overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if high / low < _TWO_DECADES:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


# --- what the user's style says --------------------------------------------------------------------------------------


def colour(number: int) -> Any:
    """One of the colours of the property cycle."""
    from matplotlib import rcParams

    cycle = rcParams["axes.prop_cycle"].by_key().get("color", [rcParams["lines.color"]])
    return cycle[number % len(cycle)]


def ink() -> Any:
    """The colour of text, for what belongs to no class."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def paper() -> Any:
    """The colour behind the axes, to set lines and points apart from what they are drawn on."""
    from matplotlib import rcParams

    return rcParams["axes.facecolor"]


def plain(text: Any) -> str:
    """A name from data as matplotlib draws it letter by letter: no mathematics, and nothing left out."""
    text = str(text).replace("$", r"\$")
    return _UNSEEN + text if text.startswith("_") else text


def mark_choice(ax: Any, value: float | None) -> Any:
    """A vertical line at the value that was chosen."""
    return None if value is None else ax.axvline(value, color=ink(), linestyle=":", zorder=1.5)


def unreliable_of(curve: Any) -> Array:
    """How many samples are unreliable at each value, as far as that is known or takes little time.

    On a curve whose errors were screened, because there are many samples, counting them takes a hundred times as long
    as the curve: there it is zero unless ``curve.unreliable`` was computed before. So it is where rows in chunks are
    not counted.
    """
    is_slow = getattr(curve, "screened", None) is not None and "unreliable" not in vars(curve)
    nothing = np.zeros(len(curve.values), dtype=int)
    return nothing if is_slow else np.asarray(getattr(curve, "unreliable", nothing))
