"""``BoundaryDisplay``: two features, the boundary between the classes, its margins and the support vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from svmpath.displays._base import (
    Array,
    Display,
    along,
    check_fitted,
    check_path,
    classes_of,
    colour,
    ink,
    need_matplotlib,
    plain,
    without_classes,
)
from svmpath.paths import Path
from svmpath.validation import check_whole

if TYPE_CHECKING:
    import pandas as pd

_WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}
_POINTS = 100  # of the mesh in each direction
_BEYOND_DATA = 0.1  # of the range of the data: how far the mesh goes beyond it
_LEVELS = (-1.0, 0.0, 1.0)  # one margin, the boundary, the other margin


@dataclass(eq=False, repr=False, kw_only=True)
class BoundaryDisplay(Display):
    """The boundary of a machine with two features, its margins and support vectors, at any value of its path.

    Make one by :meth:`from_path` or :meth:`from_estimator`, which draw it; :meth:`animate` walks along the path.

    Parameters
    ----------
    path : Path
        Of a machine with two features and two classes.
    value : float
        The value of the path's parameter.
    classes : array of two labels
        Of negative and positive decision values.
    names : (str, str)
        The names of the features.
    scaler : transformer, optional
        What takes rows to those that the machine was trained on.
    grid_resolution : int, default=100
        Points of the mesh in each direction.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    regions_ : QuadContourSet
        The two sides.
    contours_ : QuadContourSet
        The boundary and the margins: decision values 0, -1 and 1.
    points_ : list of PathCollection
        The samples of each class.
    support_ : PathCollection
        Rings around the support vectors.
    mesh_ : tuple of three arrays
        The features and the decision values on the mesh.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.displays.MarginDisplay : Held-out margins, sorted.
    sklearn.inspection.DecisionBoundaryDisplay : Boundaries of other estimators.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> from svmpath.displays import BoundaryDisplay
    >>> path = svmpath.trace(*banana(60, random_state=0), loss="hinge", span=(0.1, 100.0), gamma=1.0)
    >>> display = BoundaryDisplay.from_path(path, 10.0)
    >>> len(display.support_.get_offsets()) == len(path(10.0).support)
    True
    >>> display.animate("path.gif", frames=40)  # doctest: +SKIP
    """

    path: Path
    value: float
    classes: Any
    names: tuple[str, str] = ("x0", "x1")
    scaler: Any = None
    grid_resolution: int = _POINTS

    @classmethod
    def from_path(
        cls,
        path: Path,
        value: float | None = None,
        *,
        classes: Any = None,
        names: Any = None,
        scaler: Any = None,
        grid_resolution: int = _POINTS,
        ax: Any = None,
        **options: Any,
    ) -> BoundaryDisplay:
        """Draw the machine at a value of a path.

        Parameters
        ----------
        path : Path
        value : float, optional
            Inside the span; by default the middle of it.
        classes : array of two labels, optional
            Those of the path by default.
        names : list of two str, optional
            The names of the features.
        scaler : transformer, optional
            The fitted StandardScaler that the rows were scaled by: the picture is then in the original units.
        grid_resolution : int, default=100
            Points of the mesh in each direction.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        _check_drawable(check_path(path, cls.__name__))
        names = ("x0", "x1") if names is None else tuple(str(name) for name in names)
        if len(names) != 2:
            raise ValueError(f"names must hold the names of the two features, got {len(names)}.")
        middle = along(path, 3)
        display = cls(
            path=path,
            value=float(middle[len(middle) // 2]) if value is None else path.inside(value),
            classes=classes_of(path) if classes is None else classes,
            names=names,
            scaler=scaler,
            grid_resolution=check_whole(grid_resolution, "grid_resolution", least=2),
        )
        return display.plot(ax, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, value: float | None = None, *, ax: Any = None, **options: Any
    ) -> BoundaryDisplay:
        """Draw the machine of a fitted classifier at its choice, or at another value of its path.

        With several classes it is the machine of the first class against the rest.
        """
        check_fitted(estimator, cls.__name__)
        known = {
            "names": getattr(estimator, "feature_names_in_", None),
            "scaler": getattr(estimator, "scaler_", None),
            "classes": classes_of(estimator.path_, estimator),
        }
        at = estimator.choice_.value if value is None else value
        return cls.from_path(estimator.path_, at, ax=ax, **{**known, **options})

    def plot(self, ax: Any = None, **options: Any) -> BoundaryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        **options
            Passed to ``ax.scatter`` for the samples.
        """
        ax = self._start(ax)
        machine = self.path(self.value)
        X, y = self._rows(), self.path.problem.y
        low, high = X.min(axis=0), X.max(axis=0)
        room = _BEYOND_DATA * np.where(high > low, high - low, 1.0)
        xx, yy = np.meshgrid(*np.linspace(low - room, high + room, self.grid_resolution).T)
        nodes = np.column_stack([xx.ravel(), yy.ravel()])
        f = machine(nodes if self.scaler is None else self.scaler.transform(nodes)).reshape(xx.shape)
        self.mesh_ = xx, yy, f
        sides = [colour(0), colour(1)]
        ends = max(float(np.abs(f).max()), 1.0) * np.array([-1.0, 0.0, 1.0])
        self.regions_ = ax.contourf(xx, yy, f, levels=ends, colors=sides, alpha=0.15)
        self.contours_ = ax.contour(xx, yy, f, levels=_LEVELS, colors=[ink()], linestyles=["dashed", "solid", "dashed"])
        self.points_ = [
            ax.scatter(*X[(y > 0) == bool(k)].T, **{"color": sides[k], "s": 14, "label": plain(label), **options})
            for k, label in enumerate([-1, 1] if self.classes is None else self.classes)
        ]
        rings = X[machine.support]
        number = f"{len(rings)} support vectors"
        self.support_ = ax.scatter(*rings.T, s=48, facecolors="none", edgecolors=[ink()], linewidths=0.6, label=number)
        ax.set(xlabel=plain(self.names[0]), ylabel=plain(self.names[1]))
        ax.set_title(f"{self.path.loss.name}, {self.path.over} = {self.value:.3g}")
        ax.legend(loc="best", fontsize="small")
        return self

    def table(self) -> pd.DataFrame:
        """One row per sample: the features, ``label``, ``decision`` and ``alpha`` of the machine, ``support``."""
        import pandas as pd

        machine, X, y = self.path(self.value), self._rows(), self.path.problem.y
        labels = np.asarray([-1, 1] if self.classes is None else self.classes)
        return pd.DataFrame({
            self.names[0]: X[:, 0],
            self.names[1]: X[:, 1],
            "label": labels[(y > 0).astype(int)],
            "decision": machine.fitted,
            "alpha": machine.alpha,
            "support": machine.alpha != 0,
        })  # fmt: skip

    def animate(
        self, file: Any, values: Any = None, *, frames: int = 60, fps: int = 10, dpi: float | None = None
    ) -> str:
        """Walk along the path, and write what is seen to a file.

        Parameters
        ----------
        file : str or path
            ``.gif``, or ``.mp4`` if ffmpeg is installed.
        values : array, optional
            The value of each frame; by default evenly spaced ones, in the direction of the path.
        frames : int, default=60
            How many, if no values are given.
        fps : int, default=10
            Frames per second.
        dpi : float, optional
            Dots per inch; those of the user's style by default.

        Returns
        -------
        str
            The file.
        """
        need_matplotlib("animate")
        from matplotlib.animation import writers
        from matplotlib.figure import Figure

        check_whole(fps, "fps", least=1)
        name = _WRITERS.get(File(file).suffix.lower())
        if name is None:
            raise ValueError(f"An animation is written to a file that ends in .gif or .mp4, not to {str(file)!r}.")
        if not writers.is_available(name):
            raise RuntimeError(
                "An .mp4 needs the program ffmpeg, which was not found: install it, or write a .gif instead."
            )
        if values is None:
            values = along(self.path, check_whole(frames, "frames", least=1))
            values = values if self.path.span[0] <= self.path.span[1] else values[::-1]
        at = [self.path.inside(float(value)) for value in np.atleast_1d(values)]
        figure = Figure()
        ax, writer = figure.subplots(), writers[name](fps=fps)  # on axes that stay where they are
        with writer.saving(figure, str(file), figure.dpi if dpi is None else dpi):
            for value in at:
                ax.clear()
                self.moved(value).plot(ax)
                ax.legend(loc="upper left", fontsize="small")  # where "best" would jump from frame to frame
                writer.grab_frame()
        return str(file)

    def moved(self, value: float) -> BoundaryDisplay:
        """The display of the same path at another value, not yet drawn."""
        return replace(self, value=value)

    def _rows(self) -> Array:
        """The samples in the units of the picture."""
        X = self.path.gram.X
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return X if self.scaler is None else self.scaler.inverse_transform(X)


def _check_drawable(path: Path) -> None:
    """Refuse what has no boundary in a plane."""
    if path.problem.task != "classification":
        raise ValueError(
            f"BoundaryDisplay needs classes, but this is {without_classes(path.problem.task)}, which has no boundary "
            "between classes; draw its decision values."
        )
    if path.gram.kernel.pairwise:
        raise ValueError(
            "BoundaryDisplay needs two features, but a precomputed kernel has kernel values only; use a kernel of the "
            "features."
        )
    if path.gram.X.shape[1] != 2:
        raise ValueError(
            f"BoundaryDisplay needs two features, but the rows have {path.gram.X.shape[1]}: fit two of them, or two "
            "principal components."
        )
