"""``ElbowDisplay``: how many samples lie on the elbow, and how many support the machine, along its path.

Between two events both numbers are constant. On a path that knows every event they are counted between neighbouring
breakpoints, and the steps are exact; on others they are counted at given values.
"""

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
    colour,
    is_log,
    label_parameter,
    mark_choice,
    middles,
)
from svmpath.losses import Solution
from svmpath.losses.elbow import NEAR
from svmpath.paths import Path

if TYPE_CHECKING:
    import pandas as pd

_COUNTED = 200  # places at which samples are counted, at most


@dataclass(eq=False, repr=False, kw_only=True)
class ElbowDisplay(Display):
    """The size of the elbow and the number of support vectors along a path.

    Make one by :meth:`from_path` or :meth:`from_estimator`, which draw it. The squared hinge has support vectors but
    no elbow; of the huberised hinge the samples on the slope are counted.

    Parameters
    ----------
    path : Path
    edges : array of shape (m + 1,)
        The ends of the intervals, in increasing order.
    values : array of shape (m,)
        The value in each interval at which samples were counted.
    support, elbow : array of shape (m,)
        Their numbers; ``elbow`` is None for losses without one.
    chosen : float, optional
        A value to be marked.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    support_, elbow_ : StepPatch
        ``elbow_`` is None for losses without one.
    choice_line_ : Line2D or None

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.displays.PathDisplay : Coefficients or multipliers along a path.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.displays import ElbowDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(0.1, 10.0))
    >>> table = ElbowDisplay.from_path(path).table()
    >>> list(table.columns), bool((table["elbow"] <= table["support_vectors"]).all())
    (['low', 'high', 'C', 'support_vectors', 'elbow'], True)
    """

    path: Path
    edges: Array
    values: Array
    support: Array
    elbow: Array | None
    chosen: float | None = None

    @classmethod
    def from_path(
        cls, path: Path, values: Any = None, *, chosen: float | None = None, ax: Any = None, **options: Any
    ) -> ElbowDisplay:
        """Count along a path, and draw.

        Parameters
        ----------
        path : Path
        values : array of at least two, optional
            Where to count. By default between all breakpoints if there are at most 200, else at 200 values.
        chosen : float, optional
            A value to be marked.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        check_path(path, cls.__name__)
        if not path.loss.is_sparse:
            raise ValueError(
                f"The {path.loss.label} loss has no elbow, and with it every sample is a support vector: ElbowDisplay "
                "needs a path of another loss."
            )
        if values is None:  # between breakpoints, or between evenly spaced values if there are too many or few
            edges = np.sort(path.breakpoints)
            if edges[0] == edges[-1]:
                raise ValueError(
                    "The span of this path is a single value, so there is nothing to draw; trace a wider span=."
                )
            if not (path.loss.kink == "elbow" and path.is_exact) or len(edges) > _COUNTED + 1:
                edges = along(path, _COUNTED + 1)
            at = middles(edges, is_log(path))
        else:
            at = check_inside(path, values)
            if len(at) < 2:
                raise ValueError("values must hold at least two values of the path's parameter; got fewer.")
            edges = np.concatenate([at[:1], middles(at, is_log(path, at)), at[-1:]])
        machines = [path(float(value)) for value in at]
        support = np.array([len(machine.support) for machine in machines])
        elbow = np.array([_on_elbow(machine) for machine in machines]) if path.loss.kink else None
        return cls(path=path, edges=edges, values=at, support=support, elbow=elbow, chosen=chosen).plot(ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, values: Any = None, *, ax: Any = None, **options: Any) -> ElbowDisplay:
        """Count along the path of a fitted estimator, and mark its choice.

        With several classes it is the path of the first class against the rest.
        """
        check_fitted(estimator, cls.__name__)
        return cls.from_path(estimator.path_, values, ax=ax, **{"chosen": estimator.choice_.value, **options})

    def plot(self, ax: Any = None, **options: Any) -> ElbowDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        **options
            Passed to ``ax.stairs``.
        """
        ax = self._start(ax)
        look: dict[str, Any] = {"baseline": None, **options}
        self.support_ = ax.stairs(self.support, self.edges, label="support vectors", **{"color": colour(0), **look})
        self.elbow_ = None
        if self.elbow is not None:
            label = f"on the {self.path.loss.kink}"
            self.elbow_ = ax.stairs(self.elbow, self.edges, label=label, **{"color": colour(1), **look})
        self.choice_line_ = mark_choice(ax, self.chosen)
        label_parameter(ax, self.path, self.edges)
        ax.set_ylabel("number of samples")
        ax.set_ylim(bottom=0)
        ax.legend(loc="best", fontsize="small")
        return self

    def table(self) -> pd.DataFrame:
        """One row per interval: ``low`` and ``high``, the value, ``support_vectors`` and ``elbow``."""
        import pandas as pd

        columns = {
            "low": self.edges[:-1],
            "high": self.edges[1:],
            self.path.over: self.values,
            "support_vectors": self.support,
        }
        return pd.DataFrame(columns if self.elbow is None else {**columns, "elbow": self.elbow})


def _on_elbow(machine: Solution) -> int:
    """How many samples have a coefficient between zero and its limit."""
    size, limit = np.abs(machine.alpha), machine.loss.limits(machine)
    return int(np.count_nonzero((size > NEAR * limit) & (size < (1.0 - NEAR) * limit)))
