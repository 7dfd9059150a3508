"""Which columns matter: how much the held-out loss rises when one column is shuffled.

With f^(-i) the machine without row i, or without its fold, l the loss of a prediction, and x_i with entry j replaced by
that of row p(i) of a random permutation p, the importance of column j is

    I_j = mean_i w_i [ l(y_i, f^(-i)(x_1i, ..., x_j p(i), ..., x_di)) - l(y_i, f^(-i)(x_i)) ]

No machine is fitted for it: f^(-i) is known (``criteria.conformal``), exactly for all i where there is a formula, else
by folds. The mean over several permutations is the estimate. Its interval is that of a mean over rows (or groups) of
the differences, each averaged over the permutations. A root mean squared error is R = sqrt(M): with the mean M of the
squares and its rise D, the importance is sqrt(M + D) - sqrt(M), which rises with D, so that the ends of the interval
of D become those of the importance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import hstack, issparse, vstack

from svmpath.criteria.conformal import LeftOut
from svmpath.criteria.interval import standard_error
from svmpath.interrupts import checkpoint
from svmpath.progress import begin, finish, part_done

Array = np.ndarray

_NORMAL = 1.959963984540054  # a normal variable is within so many deviations with a probability of 95 %


@dataclass(frozen=True, eq=False)
class Importance:
    """How much the held-out loss rises when a column is shuffled; the names are those of scikit-learn's function.

    Attributes
    ----------
    feature_names : list of str
        The columns.
    importances : array of shape (p, n_repeats)
        The rise of the loss for each column and permutation.
    importances_mean, importances_std : arrays of shape (p,)
        Their mean and standard deviation over the permutations.
    intervals : array of shape (p, 2)
        The 95 % confidence interval of the mean, over rows: zero is inside where a column may not matter.
    baseline : float
        The held-out loss as it is.
    kind : str
        What the loss is called.
    held_out : {"rows", "folds"}
        Whether the machine without each row decides on it, or the machine without its fold.
    n_rows : int
        How many rows were shuffled.

    See Also
    --------
    svmpath.importance : Of a fitted model or pipeline.
    sklearn.inspection.permutation_importance : The same of any estimator, on rows that you hold out yourself.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)); y = 3 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=100)
    >>> found = PathSVR(kernel="linear", random_state=0).fit(X, y).importance()
    >>> found.order.tolist(), found.kind, found.held_out
    ([0, 1, 2], 'root mean squared error', 'rows')
    """

    feature_names: list[str]
    importances: Array
    intervals: Array
    baseline: float
    kind: str
    held_out: str
    n_rows: int

    @property
    def importances_mean(self) -> Array:
        """Mean over the permutations."""
        return self.importances.mean(axis=1)

    @property
    def importances_std(self) -> Array:
        """Standard deviation over the permutations."""
        return self.importances.std(axis=1)

    @property
    def order(self) -> Array:
        """Positions of the columns, the most important first."""
        return np.argsort(-self.importances_mean, kind="stable")

    def __repr__(self) -> str:
        shown = ", ".join(f"{self.feature_names[j]} {self.importances_mean[j]:+.3g}" for j in self.order[:3])
        more = ", ..." if len(self.feature_names) > 3 else ""
        return f"<Importance: {shown}{more}: rise of the held-out {self.kind}, {self.baseline:.4g} as it is>"


class Measure(NamedTuple):
    """A loss of held-out decision values: its name, ``losses(rows, f)``, and whether the root of its mean is shown."""

    name: str
    losses: Callable[[Array, Array], Array]
    is_root: bool = False


class Shuffled(NamedTuple):
    """The rows to shuffle: as the user has them, and what makes of them rows that the machine takes."""

    X: Any
    names: Sequence[str]
    to_machine: Callable[[Any], Any]


def shuffle_columns(
    left_out: LeftOut,
    data: Shuffled,
    measures: Sequence[Measure],
    weights: Array,
    units: Array,
    *,
    n_repeats: int,
    max_rows: int,
    seed: int,
) -> list[Importance]:
    """The importance of every column by each of several measures.

    Parameters
    ----------
    left_out : LeftOut
        Machines that have not seen each row.
    data : Shuffled
        The rows that the model was fitted to.
    measures : sequence of Measure
    weights, units : arrays of shape (n,)
        Weights of the rows, and the groups that they belong to.
    n_repeats, max_rows : int
        How many permutations, and the most rows that are shuffled, drawn at random.
    seed : int
    """
    rng = np.random.default_rng(seed)
    entries = np.flatnonzero(weights[left_out.rows] > 0)
    if len(entries) > max_rows:
        entries = np.sort(rng.choice(entries, max_rows, replace=False))
    rows, m = left_out.rows[entries], len(entries)
    w, own = weights[rows] / weights[rows].sum(), left_out.own(entries)
    taken = data.X.iloc[rows] if hasattr(data.X, "iloc") else data.X[rows]
    before = [measure.losses(rows, left_out.held[entries]) for measure in measures]
    p = len(data.names)
    rise = np.empty((len(measures), p, n_repeats))
    ends = np.empty((len(measures), p, 2))
    begin("shuffling columns", p)
    for j in range(p):
        checkpoint()
        orders = np.array([rng.permutation(m) for _ in range(n_repeats)])
        X = data.to_machine(_shuffled(taken, j, orders))
        decided = [own(X[k * m : (k + 1) * m]) for k in range(n_repeats)]
        for at, measure in enumerate(measures):
            differences = np.array([measure.losses(rows, f) - before[at] for f in decided])
            base, mean = float(w @ before[at]), differences.mean(axis=0)
            half = _NORMAL * standard_error(mean, weights[rows], units[rows])
            rise[at, j] = _shown(differences @ w, base, measure.is_root)
            ends[at, j] = _shown(w @ mean + half * np.array([-1.0, 1.0]), base, measure.is_root)
        part_done()
    finish(f"shuffling {p} columns")
    how = "rows" if len(left_out.held) == len(np.unique(left_out.rows)) and not hasattr(left_out, "fold") else "folds"
    return [
        Importance(
            list(data.names),
            rise[at],
            ends[at],
            float(np.sqrt(w @ before[at]) if measure.is_root else w @ before[at]),
            measure.name,
            how,
            m,
        )
        for at, measure in enumerate(measures)
    ]


def _shown(rise: Array, base: float, is_root: bool) -> Array:
    """The rise of a mean of losses, or of its root."""
    return np.sqrt(np.maximum(base + rise, 0.0)) - np.sqrt(base) if is_root else rise


def _shuffled(X: Any, j: int, orders: Array) -> Any:
    """The rows once for each order, one below the other, with column j in that order."""
    if hasattr(X, "iloc"):
        stacked = X.iloc[np.tile(np.arange(len(X)), len(orders))].reset_index(drop=True)
        stacked.isetitem(j, X.iloc[orders.ravel(), j].array)
        return stacked
    if issparse(X):
        column = X.tocsc()[:, [j]].tocsr()[orders.ravel()]
        stacked = vstack([X] * len(orders)).tocsc()
        return hstack([stacked[:, :j], column, stacked[:, j + 1 :]]).tocsr()
    stacked = np.tile(X, (len(orders), 1))
    stacked[:, j] = X[orders.ravel(), j]
    return stacked
