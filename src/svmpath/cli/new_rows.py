"""New rows for a saved model: read as the training rows were, with notes on what the model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import note

if TYPE_CHECKING:
    from svmpath.datasets import NewRows

_MOST_NAMED = 6


def read_rows(pipeline: Any, data: Path, data_format: str | None = None) -> NewRows:
    """The rows of a file in the form that a pipeline takes, and notes about them.

    Parameters
    ----------
    pipeline : Pipeline
        As :func:`svmpath.cli.saved_model.read_model` gives it.
    data : Path
        The file; ``-`` is standard input.
    data_format : str or None
    """
    import pandas as pd

    from svmpath.cli.preparation import categories_of, recipes_of
    from svmpath.cli.saved_model import training_data
    from svmpath.datasets import read_new_rows

    trained = training_data(pipeline)
    rows = read_new_rows(
        data,
        recipes_of(pipeline["columns"]),
        format=data_format,
        ignored=trained["ignored"],
        zero_based=trained["zero_based"],
    )
    if rows.is_guessed:
        note(f"{rows.source} was read as {rows.format}; use --format if it is something else.")
    if rows.unexpected:
        shown = ", ".join(map(repr, rows.unexpected[:_MOST_NAMED]))
        more = f" and {len(rows.unexpected) - _MOST_NAMED} more" if len(rows.unexpected) > _MOST_NAMED else ""
        note(f"{rows.source}: the model does not use the column{'s' * (len(rows.unexpected) > 1)} {shown}{more}.")
    _note_missing(rows, trained["impute"])
    for name, known in categories_of(pipeline["columns"]).items():
        seen = set(known)
        unseen = [word for word in rows.X[name] if not pd.isna(word) and word not in seen]
        _note_words(rows, name, unseen, "they are treated as none of the known ones")
    for name, words in rows.unseen.items():
        _note_words(rows, name, words, "they are treated as missing")
    return rows


def _note_missing(rows: NewRows, impute: str) -> None:
    """Refuse missing values, or say how many are filled in."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import issparse

    from svmpath.datasets.faults import missing_cell
    from svmpath.datasets.matrices import column_names
    from svmpath.exceptions import DataError

    gaps = np.isnan(rows.X.data) if issparse(rows.X) else np.asarray(pd.isna(rows.X))
    if not gaps.any():
        return
    if impute == "none":
        if issparse(rows.X):
            raise DataError(f"{rows.source}: values are missing; fill them in, or tune with --impute auto")
        row, column = np.argwhere(gaps)[0]
        names = list(rows.X.columns) if isinstance(rows.X, pd.DataFrame) else column_names(rows.X)
        raise DataError(f"{rows.source}: {missing_cell(names[column], int(row))}")
    count = int(gaps.sum())
    note(f"{rows.source}: {count} missing value{'s' * (count > 1)} filled in as learnt from the training data.")


def _note_words(rows: NewRows, name: str, unseen: Sequence[str], what: str) -> None:
    if unseen:
        words = ", ".join(repr(str(word)) for word in list(dict.fromkeys(unseen))[:3])
        note(
            f"{rows.source}: column {name!r} has categories in {len(unseen)} of {rows.n_rows} rows that were not in "
            f"the training data (such as {words}); {what}."
        )
