"""What ``svmpath predict`` writes: predictions, probabilities, intervals and sets of labels, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svmpath.exceptions import DataError
from svmpath.names import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from svmpath.datasets import NewRows

_BETWEEN = "|"  # two labels of a set


def check_wanted(pipeline: Any, model_name: str, proba: bool, interval: float | None, novelty: bool = False) -> None:
    """Refuse what the model cannot give."""
    if interval is not None and not 0.0 < interval < 1.0:
        raise DataError(f"--interval must be a coverage between 0 and 1, such as 0.9, not {interval:g}")
    model = pipeline["model"]
    if proba and not hasattr(model, "predict_proba"):
        raise DataError(
            f"--proba needs a classification, but {model_name} predicts numbers; use --interval 0.9 for an interval"
        )
    if interval is not None and not hasattr(model, "predict_interval") and not hasattr(model, "predict_set"):
        raise DataError(f"--interval: {model_name} has neither intervals nor sets of labels; leave it out")
    if novelty and "path_" not in vars(model):
        raise DataError(f"--novelty: {model_name} holds no training rows, as for_prediction() left them out")
    if novelty and model.path_.is_chunked:
        raise DataError(f"--novelty: {model_name} was tuned on rows in chunks, which it does not hold; leave it out")


def kept_columns(rows: NewRows, keep: Sequence[str] | None) -> pd.DataFrame | None:
    """The columns of the file that are written, too, as they are there; None if there are none.

    Parameters
    ----------
    rows : NewRows
    keep : list of str or None
        Names, with commas between them; "all" stands for all.
    """
    names = [name.strip() for text in keep or () for name in text.split(",") if name.strip()]
    if not names:
        return None
    if rows.frame is None:
        raise DataError(f"--keep: {rows.source} is a sparse matrix, whose columns have no names; leave it out")
    if names == ["all"] and "all" not in rows.frame.columns:
        return rows.frame
    unknown = [name for name in names if name not in rows.frame.columns]
    if unknown:
        known = list(map(str, rows.frame.columns))
        raise DataError(
            f"--keep: {rows.source} has no column {unknown[0]!r}; there are {', '.join(map(repr, known[:12]))}"
            f"{did_you_mean(unknown[0], known)}"
        )
    return rows.frame[list(dict.fromkeys(names))]


def beside(kept: pd.DataFrame | None, table: pd.DataFrame) -> pd.DataFrame:
    """The columns that are kept, and the predictions; a column of the same name is kept with _given behind it."""
    import pandas as pd

    if kept is None:
        return table
    renamed = {name: f"{name}_given" for name in kept.columns if name in table.columns}
    return pd.concat([kept.reset_index(drop=True).rename(columns=renamed), table], axis=1)


def predictions(
    pipeline: Any, X: Any, proba: bool = False, interval: float | None = None, novelty: bool = False
) -> pd.DataFrame:
    """The table: ``prediction``; with ``proba`` a column for each class, with ``interval`` the ends, or the labels.

    A model of several quantiles has the columns ``quantile_0.1`` and so on in the place of ``prediction``.

    Parameters
    ----------
    pipeline : Pipeline
        Its steps are "columns" and "model".
    X : array, DataFrame or CSR matrix
        New rows, as the pipeline takes them.
    proba : bool
        Whether to add ``probability_LABEL`` for each class.
    interval : float, optional
        A coverage: adds ``lower`` and ``upper`` for a regression, and ``set``, the labels that are plausible, with a
        bar between them, for a classification.
    novelty : bool
        Whether to add ``p_value``: how surprising each row is among the training rows, by a one-class machine.
    """
    import pandas as pd

    model, Z = pipeline["model"], pipeline[:-1].transform(X)
    f = model.predict(Z)
    table = {"prediction": f}
    if f.ndim > 1:  # several quantiles
        table = {f"quantile_{level:g}": column for level, column in zip(model.quantile_, f.T, strict=True)}
    if proba:
        columns = model.predict_proba(Z).T
        table.update({f"probability_{label}": column for label, column in zip(model.classes_, columns, strict=True)})
    if interval is not None and hasattr(model, "predict_interval"):
        ends = model.predict_interval(Z, coverage=interval)
        table.update(lower=ends[:, 0], upper=ends[:, 1])
    elif interval is not None:
        labels = [str(label) for label in model.classes_.tolist()]
        is_in = model.predict_set(Z, coverage=interval)
        table["set"] = [
            _BETWEEN.join(label for label, inside in zip(labels, row, strict=True) if inside) for row in is_in
        ]
    if novelty:
        from svmpath.estimators.novelty import novelty_of

        table["p_value"] = novelty_of(model).p_values(model._check_new(Z))
    return pd.DataFrame(table)
