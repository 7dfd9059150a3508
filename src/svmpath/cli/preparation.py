"""The step "columns" of a saved pipeline: columns of every kind become numbers, as learnt from the training rows.

Cells are read (:class:`ReadColumns`), missing values are filled in, dates become numbers (:class:`DateParts`), words
become indicator columns, and numbers are standardised. The transformers hold nothing but plain values, so that skops
can save them, and the pipeline takes a data frame with the columns of the file as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils.validation import check_is_fitted

from svmpath.datasets.recipes import follow_recipe
from svmpath.datasets.tables import as_frame

if TYPE_CHECKING:
    from svmpath.cli.data_options import TrainingData

_KINDS = ("number", "boolean", "date", "category")
MISSING_WORD = "(missing)"  # the category of words that are missing
MOST_LEVELS = 50  # categories of a column that get an indicator each; rarer ones share the last
_YEAR, _WEEK = 12, 7
# How a number stands in for a missing one; drop-rows and none concern the training rows, and new rows have gaps, too.
_STRATEGIES = {"mean": "mean", "most-frequent": "most_frequent"}


class ReadColumns(TransformerMixin, BaseEstimator):
    """Columns of a data frame as numbers, days and words, read as those of the training data were.

    Parameters
    ----------
    recipes : dict of dict
        How each column is read: see :class:`svmpath.datasets.Column`.
    takes_missing : bool
        Whether cells may be missing; if not, they raise an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.cli.preparation import ReadColumns
    >>> step = ReadColumns({"share": {"kind": "number", "sign": "%"}})
    >>> step.fit_transform(pd.DataFrame({"share": ["5 %", "12 %", None]}))["share"].tolist()
    [5.0, 12.0, nan]
    """

    def __init__(self, recipes: Mapping[str, Mapping[str, Any]], takes_missing: bool = True) -> None:
        self.recipes = recipes
        self.takes_missing = takes_missing

    def fit(self, X: Any, y: Any = None) -> ReadColumns:
        """Check the columns; nothing is learnt."""
        self._check(X)
        self.feature_names_in_ = np.array(list(self.recipes), dtype=object)
        self.n_features_in_ = len(self.recipes)
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """The columns as values."""
        check_is_fitted(self)
        self._check(X)
        read = {name: follow_recipe(X[name], name, recipe)[0] for name, recipe in self.recipes.items()}
        for name, values in read.items():
            if not self.takes_missing and pd.isna(values).any():
                row = np.flatnonzero(pd.isna(values))[0] + 1
                raise ValueError(f"Column {name!r} has no value in row {row}; fill it in, or tune with --impute auto.")
        return as_frame(read)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns."""
        return np.array(list(self.recipes), dtype=object)

    def _check(self, X: Any) -> None:
        if not isinstance(X, pd.DataFrame):
            raise TypeError(f"X must be a data frame with the columns {list(self.recipes)}, not {type(X).__name__}.")
        lacking = [name for name in self.recipes if name not in X.columns]
        if lacking:
            raise ValueError(f"X lacks the columns {', '.join(map(repr, lacking))}.")


class MissingCells(MissingIndicator):
    """Indicators of missing values, 1 where one is missing, for the columns that have any.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.cli.preparation import MissingCells
    >>> step = MissingCells().fit(pd.DataFrame({"age": [50.0, None], "size": [1.0, 2.0]}))
    >>> step.get_feature_names_out().tolist()
    ['age missing']
    """

    def __init__(self) -> None:
        super().__init__(error_on_new=False)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The name of each column, followed by "missing"."""
        every = [f"x{position}" for position in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", every if input_features is None else input_features)
        return np.array([f"{names[position]} missing" for position in self.features_], dtype=object)


class Filled(TransformerMixin, BaseEstimator):
    """Numbers in place of NaN, one for each column: a fitted imputer as onnxruntime takes it in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.cli.preparation import Filled
    >>> Filled(np.array([7.0])).transform(np.array([[1.0], [np.nan]])).tolist()
    [[1.0], [7.0]]
    """

    def __init__(self, statistics: Any = ()) -> None:
        self.statistics = statistics

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Filled:
        """Nothing is learnt."""
        return self

    def transform(self, X: Any) -> Any:
        """The numbers."""
        return np.where(np.isnan(X), self.statistics, X)


class DateParts(TransformerMixin, BaseEstimator):
    """Dates as numbers: the days since the earliest one, and month, weekday and hour as points on a circle.

    A part that hardly varies among the training rows is left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.cli.preparation import DateParts
    >>> step = DateParts().fit(pd.DataFrame({"day": [19723.0, 19724.0, 19725.0, None]}))
    >>> step.get_feature_names_out().tolist()
    ['day', 'day weekday sin', 'day weekday cos']
    >>> step.transform(pd.DataFrame({"day": [19730.0]})).round(2)
    array([[7., 0., 1.]])
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> DateParts:
        """Find the earliest date of each column, and the parts that vary."""
        self.earliest_ = {name: float(np.nanmin(X[name].to_numpy(dtype=float))) for name in X.columns}
        self.parts_ = {name: varying_parts(X[name].to_numpy(dtype=float)) for name in X.columns}
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """The numbers, NaN where a date is missing."""
        check_is_fitted(self)
        columns: list[NDArray[np.float64]] = []
        for name, earliest in self.earliest_.items():
            days = X[name].to_numpy(dtype=np.float64)
            columns.append(days - earliest)
            for part in self.parts_[name]:
                angle = 2 * np.pi * _PARTS[part][0](days) / _PARTS[part][1]
                columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The name of the column for the days, with the part for the others."""
        names: list[str] = []
        for name, parts in self.parts_.items():
            names += [name, *(f"{name} {part} {wave}" for part in parts for wave in ("sin", "cos"))]
        return np.array(names, dtype=object)


def varying_parts(days: NDArray[np.float64]) -> list[str]:
    """The parts of dates that vary: months and weekdays if there are three different ones, hours if two."""
    given = days[np.isfinite(days)]
    return [part for part, (read, _, least) in _PARTS.items() if len(np.unique(np.floor(read(given)))) >= least]


def _month(days: NDArray[np.float64]) -> NDArray[np.float64]:
    is_given = np.isfinite(days)
    dates = np.floor(np.where(is_given, days, 0)).astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    since = (dates - months.astype("datetime64[D]")).astype(np.float64)  # days since the first of the month
    return np.where(is_given, months.astype(np.int64) % _YEAR + since / 31, np.nan)


# How a part is read off the days, how many there are, and how many different ones are worth a column.
_PARTS: dict[str, tuple[Any, int, int]] = {
    "month": (_month, _YEAR, 3),
    "weekday": (lambda days: (np.floor(days) + 3) % _WEEK, _WEEK, 3),  # 1970-01-01 was a Thursday; Monday is 0
    "hour": (lambda days: np.round(days % 1 * 24, 6) % 24, 24, 2),
}


def _named(data: TrainingData) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    impute = data.options.impute
    used = [column for column in data.table.columns if column.is_used]
    by_kind = {kind: [column.name for column in used if column.kind == kind] for kind in _KINDS}
    gaps = [column.name for column in used if column.missing and column.kind != "category"]
    number, word = _STRATEGIES.get(impute, "median"), "constant" if impute == "auto" else "most_frequent"

    def scaled(strategy: str, *first: tuple[str, Any]) -> Pipeline:
        imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
        return Pipeline([*first, ("impute", imputer), ("scale", StandardScaler())])

    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_LEVELS, sparse_output=False)
    words = SimpleImputer(missing_values=None, strategy=word, fill_value=MISSING_WORD)
    parts = [
        ("numbers", scaled(number), by_kind["number"]),
        ("booleans", scaled("most_frequent"), by_kind["boolean"]),
        ("dates", scaled(number, ("parts", DateParts())), by_kind["date"]),
        ("missing", MissingCells(), gaps if impute == "auto" else []),
        ("categories", Pipeline([("fill", words), ("encoder", encoder)]), by_kind["category"]),
    ]
    recipes = {column.name: dict(column.recipe) for column in used}
    read = ReadColumns(recipes, takes_missing=impute != "none")
    return Pipeline([("read", read), ("encode", ColumnTransformer([part for part in parts if part[2]]))])


def prepare_columns(data: TrainingData) -> Any:
    """The transformer, not fitted, that makes numbers of the columns of `data`.

    Columns without names are taken by position; subtracting the mean would make a sparse matrix dense.
    """
    from scipy.sparse import issparse
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    if data.table.named:
        return _named(data)
    X, impute = data.table.X, data.options.impute
    scaler = StandardScaler(with_mean=not issparse(X))
    if impute == "none":
        return scaler
    imputer = SimpleImputer(strategy=_STRATEGIES.get(impute, "median"), keep_empty_features=True)
    numbers = Pipeline([("impute", imputer), ("scale", scaler)])
    if impute != "auto" or not np.isnan(X.data if issparse(X) else X).any():
        return numbers
    every = list(range(X.shape[1]))
    parts = [("numbers", numbers, every), ("missing", MissingCells(), every)]
    return ColumnTransformer(parts, sparse_threshold=1.0 if issparse(X) else 0.0)  # sparse stays sparse


def recipes_of(columns: Any) -> dict[str, Mapping[str, Any]] | int:
    """How a fitted step "columns" reads its columns, by name; or their number, if they have no names."""
    steps = getattr(columns, "named_steps", {})
    return dict(steps["read"].recipes) if "read" in steps else int(columns.n_features_in_)


def categories_of(columns: Any) -> dict[str, list[str]]:
    """The categories that a fitted step "columns" knows, by column."""
    steps = getattr(columns, "named_steps", {})
    if "encode" not in steps or "categories" not in steps["encode"].named_transformers_:
        return {}
    words = steps["encode"].named_transformers_["categories"]
    names = words["fill"].feature_names_in_
    return {name: known.tolist() for name, known in zip(names, words["encoder"].categories_, strict=True)}
