"""The step "columns" of a saved pipeline: columns of every kind become numbers, as learnt from the training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svmpath.cli.data_options import Data


def prepare_columns(data: Data) -> Any:
    """The transformer, not fitted, that makes numbers of the columns of `data`."""
    from scipy.sparse import issparse
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    from svmpath.datasets import refuse_missing

    table = data.table
    numbers = [name for name, kind in table.kinds.items() if kind == "number"]
    categories = [name for name, kind in table.kinds.items() if kind != "number"]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    # The encoder would treat a missing value as one more unknown category, so missing values raise an error first.
    words = Pipeline([("complete", FunctionTransformer(refuse_missing)), ("encoder", encoder)])
    parts = [("numbers", StandardScaler(), numbers), ("categories", words, categories)]
    if table.named:
        return ColumnTransformer([part for part in parts if part[2]])
    # Columns without names are taken by position; subtracting the mean would make a sparse matrix dense.
    return StandardScaler(with_mean=not issparse(table.X))
