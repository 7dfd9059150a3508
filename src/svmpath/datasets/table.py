"""A table of features and a target, and the choice of its columns."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pandas as pd
from numpy.typing import NDArray

from svmpath.exceptions import DataError

__all__ = ["Request", "Table", "assemble", "check_names", "listed", "numbered"]


@dataclass(frozen=True)
class Table:
    """What a data file holds.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    X : pandas.DataFrame, ndarray or CSR matrix
        The features. Files whose columns have names give a data frame, npz gives an array, libsvm a CSR
        matrix.
    y : ndarray or None
        The target: float64 for numbers, bool for True and False, object for words.
    target : str or None
        The name of the target.
    kinds : dict of str
        The kind of each feature, by its name and in the order of `X`: "number", "category" (words, object
        dtype) or "boolean" (bool dtype). Features of npz and libsvm files are called x1, x2, ...
    zero_based : bool
        Whether the indices of a libsvm file began at 0.

    See Also
    --------
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from svmpath.datasets import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "cars.csv")
    ...     pd.DataFrame({"speed": [100, 120], "fuel": ["gas", "oil"], "price": [1.5, 2.5]}).to_csv(file, index=False)
    ...     table = read_table(file, target="price")
    >>> table.source, dict(table.kinds), table.y.tolist()
    ('cars.csv', {'speed': 'number', 'fuel': 'category'}, [1.5, 2.5])
    """

    source: str
    X: Any
    y: NDArray[Any] | None
    target: str | None
    kinds: Mapping[str, str]
    zero_based: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return isinstance(self.X, pd.DataFrame)


@dataclass(frozen=True)
class Request:
    """What is asked of a file: `columns` exactly (to predict), or all and the target (to tune)."""

    target: str | None
    columns: Mapping[str, str] | None
    zero_based: bool | None


def listed(names: Iterable[object], most: int = 12) -> str:
    """Names in quotes, shortened where there are many."""
    quoted = [repr(str(name)) for name in names]
    extra = [f"... ({len(quoted)} in all)"] if len(quoted) > most else []
    return ", ".join(quoted[:most] + extra)


def check_names(names: Sequence[str]) -> None:
    """Refuse columns without a name and names that occur twice."""
    for position, name in enumerate(names):
        if not name.strip():
            raise DataError(
                f"column {position + 1} has no name; name it in the first line, or remove it "
                "(an index saved by pandas is left out with index=False)"
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"the column name {twice[0]!r} occurs more than once; give every column its own name")


def _wanted(names: Sequence[str], request: Request) -> list[str]:
    """The features to read, in the order in which they are wanted."""
    if request.columns is None:
        return _features_to_tune(names, request.target)
    there = [name for name in names if name in request.columns or name != request.target]
    missing = [name for name in request.columns if name not in there]
    unexpected = [name for name in there if name not in request.columns]
    if missing or unexpected:
        faults = [f"lacks {listed(missing)}"] * bool(missing)
        faults += [f"has the unexpected {listed(unexpected)}"] * bool(unexpected)
        raise DataError(
            f"the table {' and '.join(faults)}; the model needs exactly the columns it was fitted with: "
            f"{listed(request.columns)}"
        )
    return list(request.columns)


def _features_to_tune(names: Sequence[str], target: str | None) -> list[str]:
    """All columns but the target, which must be there."""
    if target is None:
        raise DataError(f"name the column to predict with --target; there are {listed(names)}")
    if target not in names:
        close = difflib.get_close_matches(target.strip().lower(), [name.strip().lower() for name in names], n=1)
        meant = [name for name in names if close and name.strip().lower() == close[0]]
        hint = f" (did you mean {meant[0]!r}?)" if meant else ""
        raise DataError(f"there is no column {target!r} to predict{hint}; there are {listed(names)}")
    features = [name for name in names if name != target]
    if not features:
        raise DataError(f"the target {target!r} is the only column; at least one more is needed to predict it from")
    return features


def assemble(
    path: Path,
    names: Sequence[str],
    n_rows: int,
    convert: Callable[[str, str | None], tuple[NDArray[Any], str]],
    request: Request,
) -> Table:
    """Build the table of a file with named columns; ``convert(name, kind)`` gives one column and its kind."""
    check_names(names)
    features = _wanted(names, request)
    if n_rows == 0:
        raise DataError("there are no rows below the column names; at least one was expected")
    due = request.columns or {}
    pairs = {name: convert(name, due.get(name)) for name in features}
    # Given as a dictionary of object arrays pandas would turn words into its own string type.
    X = pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, (values, _) in pairs.items()})
    kinds = {name: kind for name, (_, kind) in pairs.items()}
    y = None
    if request.columns is None:
        y, _ = convert(cast(str, request.target), None)
    return Table(path.name, X, y, request.target, kinds)


def numbered(n_columns: int, request: Request) -> dict[str, str]:
    """The kinds of columns that have no names, once it is sure that they are the ones asked for."""
    kinds = {f"x{position + 1}": "number" for position in range(n_columns)}
    wanted = request.columns
    if wanted is not None and dict(wanted) != kinds:
        if len(wanted) != n_columns and all(re.fullmatch(r"x\d+", name) for name in wanted):
            raise DataError(f"the table has {n_columns} columns, but the model was fitted with {len(wanted)}")
        raise DataError(f"the columns have no names, but the model needs {listed(wanted)}; give a csv or parquet file")
    return kinds
