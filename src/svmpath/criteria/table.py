"""The criteria by name: what the estimators and the command line know of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from svmpath.criteria.alo import alo, span
from svmpath.criteria.elbow_bounds import span_bound, xi_alpha
from svmpath.criteria.kfold import kfold
from svmpath.criteria.loo import loo, press
from svmpath.criteria.radius_margin import radius_margin
from svmpath.names import unknown_name


@dataclass(frozen=True)
class Criterion:
    """A criterion and what its scores are.

    Attributes
    ----------
    function : callable
        ``function(path, values, loss=...) -> Curve``.
    kind : {"exact", "estimate", "bound"}
        Held-out values of machines that have not seen the sample; a prediction of them; a bound on the number of
        errors, without held-out values.
    words : str
        What it is, as the command line prints it beside a result.
    takes_folds : bool
        Whether it has an option ``cv``.
    one_row_each : bool
        Whether it holds out every sample once, by itself.
    same_as : str or None
        The criterion that it is another name of.

    See Also
    --------
    svmpath.criteria.make_criterion : A criterion by its name.

    Examples
    --------
    >>> from svmpath.criteria.table import CRITERIA
    >>> CRITERIA["span"].kind, CRITERIA["span"].words
    ('estimate', 'span prediction of leave-one-out')
    """

    function: Callable[..., Any]
    kind: Literal["exact", "estimate", "bound"]
    words: str
    takes_folds: bool = False
    one_row_each: bool = False
    same_as: str | None = None


CRITERIA: dict[str, Criterion] = {
    "loo": Criterion(loo, "exact", "exact leave-one-out", one_row_each=True),
    "press": Criterion(press, "exact", "exact leave-one-out of least squares", one_row_each=True, same_as="loo"),
    "kfold": Criterion(kfold, "exact", "k-fold cross-validation", takes_folds=True),
    "span": Criterion(span, "estimate", "span prediction of leave-one-out", one_row_each=True),
    "alo": Criterion(alo, "estimate", "approximate leave-one-out", one_row_each=True),
    "radius_margin": Criterion(radius_margin, "bound", "the radius-margin bound of the squared hinge"),
    "xi_alpha": Criterion(xi_alpha, "bound", "Joachims' bound for the hinge"),
    "span_bound": Criterion(span_bound, "bound", "the span bound for the hinge"),
}


def make_criterion(criterion: Any, cv: Any = 5) -> Callable[..., Any]:
    """The criterion meant by its name or a callable ``criterion(path, values, loss=...)``.

    Parameters
    ----------
    criterion : str or callable
        A name, such as "loo" or "kfold", or a function, which is returned as it is.
    cv : int, splitter or iterable, default=5
        For "kfold".

    Returns
    -------
    callable
        ``criterion(path, values, loss=...) -> Curve``.

    See Also
    --------
    svmpath.criteria.Criterion : A row of the table of criteria.
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.kfold : Exact k-fold.

    Examples
    --------
    >>> from svmpath import criteria
    >>> criteria.make_criterion("loo") is criteria.loo
    True
    >>> criteria.make_criterion("kfold", cv=10).keywords
    {'cv': 10}
    """
    if callable(criterion):
        return criterion
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise ValueError(unknown_name("criterion", criterion, CRITERIA, "a callable"))
    known = CRITERIA[criterion]
    return partial(known.function, cv=cv) if known.takes_folds else known.function


def is_by_folds(criterion: Any) -> bool:
    """Whether a criterion, or its name, holds out the rows of folds."""
    row = row_of(criterion)
    return row is not None and row.takes_folds


def row_of(criterion: Any) -> Criterion | None:
    """The row of a criterion, or of its name; None if it is not in the table."""
    name = getattr(criterion, "__name__", criterion)
    return CRITERIA.get(name) if isinstance(name, str) else None


def plain_name(criterion: str) -> str:
    """The name of a criterion under which it is known for all losses: "loo" for "press"."""
    row = CRITERIA.get(criterion)
    return criterion if row is None or row.same_as is None else row.same_as


def is_bound(criterion: Any) -> bool:
    """Whether a criterion, or its name, bounds the number of errors."""
    row = row_of(criterion)
    return row is not None and row.kind == "bound"


def is_exact(criterion: Any) -> bool:
    """Whether its held-out values are exact, so that their only doubt is rounding."""
    row = row_of(criterion)
    return row is not None and row.kind == "exact"


def is_estimate(criterion: Any) -> bool:
    """Whether it predicts held-out values, or bounds the number of errors."""
    row = row_of(criterion)
    return row is not None and row.kind != "exact"
