"""``QuantileDisplay``: predicted quantiles as a fan over one column, or how often targets lie below each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.displays._base import Array, Display, colour, ink, plain
from svmpath.validation import check_levels

if TYPE_CHECKING:
    import pandas as pd

_QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_NODES = 200  # places along the column
_PALE = 0.16  # of the widest band
_BESIDE = 0.03  # on either side of the column's range


@dataclass(eq=False, repr=False, kw_only=True)
class QuantileDisplay(Display):
    """Quantiles predicted by a regressor: a fan chart for one column, or a check of their levels for any number.

    Make one by :meth:`from_estimator`, which draws it. With one column, bands between pairs of quantiles (5 % and 95 %,
    for instance) are drawn over it, and the targets as points. With more columns, or ``kind="calibration"``, the share
    of targets below each predicted quantile is drawn over its level: on the diagonal, predictions keep what they
    promise. The rows should be new to the model, or the shares are those of the fit.

    Parameters
    ----------
    levels : array of shape (k,)
        In increasing order.
    shares : array of shape (k,)
        The weighted share of the targets below each predicted quantile; half of those that are equal to it count.
    rows : int
        How many targets there are.
    x, y : arrays of shape (n,) or None
        The one column, and the targets.
    nodes : array of shape (m,) or None
        Places along the column.
    bands : array of shape (m, k) or None
        The predicted quantiles there.
    name : str
        Of the column.

    Attributes
    ----------
    ax_, figure_
        As in scikit-learn's displays.
    bands_ : list of PolyCollection
        The bands of a fan, the widest first.
    line_ : Line2D or None
        The middle quantile of a fan, or the shares.
    points_ : PathCollection or None
        The targets of a fan.

    See Also
    --------
    svmpath.PathSVR : ``predict_quantiles`` is what is drawn.
    svmpath.displays.CurveDisplay : Held-out scores along a path.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathSVR
    >>> from svmpath.displays import QuantileDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (300, 1)); y = np.sin(X[:, 0]) + 0.1 * X[:, 0] * rng.normal(size=300)
    >>> model = PathSVR(loss="pinball", gamma=0.5, C=3.0).fit(X[:150], y[:150])
    >>> table = QuantileDisplay.from_estimator(model, X[150:], y[150:]).table()
    >>> bool(np.abs(table["share below"] - table["quantile"]).max() < 0.15)
    True
    """

    levels: Array
    shares: Array
    rows: int
    x: Array | None = None
    y: Array | None = None
    nodes: Array | None = None
    bands: Array | None = None
    name: str = "x"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        quantiles: Any = None,
        kind: str = "auto",
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> QuantileDisplay:
        """Draw the quantiles that a fitted regressor predicts for some rows, best new ones.

        Parameters
        ----------
        estimator : PathSVR
            Fitted with ``loss="pinball"``; or any other with ``predict_quantiles(X, quantiles)``.
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        quantiles : list of floats, optional
            Levels between 0 and 1; by default 0.05, 0.1, 0.25, 0.5, 0.75, 0.9 and 0.95, or the levels that the
            model was fitted for if there are several.
        kind : {"auto", "fan", "calibration"}, default="auto"
            "auto" is a fan for one column.
        sample_weight : array of shape (n,), optional
            Weights of the rows in the shares.
        ax : matplotlib Axes, optional
        **options
            Further arguments of :meth:`plot`.
        """
        if not hasattr(estimator, "predict_quantiles"):
            raise TypeError(
                f"{cls.__name__}.from_estimator needs a regressor with predict_quantiles, such as "
                f"PathSVR(loss='pinball'); got {type(estimator).__name__}."
            )
        if kind not in ("auto", "fan", "calibration"):
            raise ValueError(f"kind must be 'auto', 'fan' or 'calibration', got {kind!r}.")
        own = np.atleast_1d(getattr(estimator, "quantile_", _QUANTILES[3]))
        levels = np.sort(check_levels((own if len(own) > 1 else _QUANTILES) if quantiles is None else quantiles))
        y, is_one = np.asarray(y, dtype=float), np.ndim(X) == 2 and X.shape[1] == 1
        if kind == "fan" and not is_one:
            raise ValueError("kind='fan' needs X with one column; use kind='calibration'.")
        f = estimator.predict_quantiles(X, levels)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        below = (y[:, None] < f) + 0.5 * (y[:, None] == f)
        display = cls(levels=levels, shares=np.average(below, axis=0, weights=weights), rows=len(y))
        if is_one and kind != "calibration":
            display._fan(estimator, X, y)
        return display.plot(ax, **options)

    def _fan(self, estimator: Any, X: Any, y: Array) -> None:
        """The quantiles along the one column."""
        self.x, self.y = np.asarray(X, dtype=float)[:, 0], y
        low, high = float(self.x.min()), float(self.x.max())
        room = _BESIDE * (high - low) or 1.0
        self.nodes = np.linspace(low - room, high + room, _NODES)
        rows: Any = self.nodes[:, None]
        if hasattr(X, "columns"):
            import pandas as pd  # as X came

            self.name, rows = str(X.columns[0]), pd.DataFrame(rows, columns=X.columns)
        self.bands = estimator.predict_quantiles(rows, self.levels)

    def plot(self, ax: Any = None, **options: Any) -> QuantileDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones by default.
        **options
            Passed to ``ax.scatter`` for a fan, and to ``ax.plot`` for shares.
        """
        ax = self._start(ax)
        self.bands_: list[Any] = []
        self.points_ = None
        if self.bands is not None:
            self._draw_fan(ax, options)
        else:
            self._draw_shares(ax, options)
        ax.legend(loc="best", fontsize="small")
        return self

    def _draw_fan(self, ax: Any, options: dict[str, Any]) -> None:
        assert self.bands is not None
        assert self.nodes is not None
        k, look = len(self.levels), {"color": colour(0), "linewidth": 0.0}
        for low in range(k // 2):
            high = k - 1 - low
            name = f"{self.levels[low]:g} to {self.levels[high]:g}"
            pale = _PALE * (1 + low) ** 0.8  # the inner ones are darker, also in the legend
            band = ax.fill_between(self.nodes, self.bands[:, low], self.bands[:, high], label=name, alpha=pale, **look)
            self.bands_.append(band)
        self.line_ = None
        if k % 2:
            middle = f"{self.levels[k // 2]:g}"
            (self.line_,) = ax.plot(self.nodes, self.bands[:, k // 2], color=colour(0), label=middle)
        self.points_ = ax.scatter(self.x, self.y, **{"s": 8.0, "color": ink(), "alpha": 0.6, "zorder": 2.5, **options})
        ax.set(xlabel=plain(self.name), ylabel="target and its quantiles")

    def _draw_shares(self, ax: Any, options: dict[str, Any]) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color=ink(), linestyle=":", linewidth=0.8, label="as promised")
        look = {"marker": "o", "color": colour(0), "label": f"of {self.rows} rows", **options}
        (self.line_,) = ax.plot(self.levels, self.shares, **look)
        ax.set(xlabel="quantile", ylabel="share of targets below it", xlim=(0, 1), ylim=(0, 1))

    def table(self) -> pd.DataFrame:
        """One row per level: ``quantile``, ``share below`` and ``rows``."""
        import pandas as pd

        return pd.DataFrame({"quantile": self.levels, "share below": self.shares, "rows": self.rows})
