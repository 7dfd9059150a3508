"""arff files, dense and sparse.

liac-arff reads them. It knows no dates, so that attributes of dates are given to it as strings and read afterwards; and
it leaves out what a sparse row does not mention, which is 0 for numbers and the first value of a nominal attribute.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from svmpath.datasets.faults import check_names
from svmpath.exceptions import DataError

_ATTRIBUTE = re.compile(r"\s*@attribute\s+(?P<name>\"[^\"]*\"|'[^']*'|\S+)\s+(?P<type>.*\S)\s*", re.IGNORECASE)
_DATE = re.compile(r"date\b\s*(?P<format>.*)", re.IGNORECASE)
_SPARSE = re.compile(r"^\s*@data\b[^\n]*\n(\s|%[^\n]*\n)*\{", re.IGNORECASE | re.MULTILINE)
_MOST_CELLS = 1e8  # of a sparse file, which is made dense
# Letters of a date's format in an arff file, as Python writes them.
_LETTERS = (("yyyy", "%Y"), ("yy", "%y"), ("MMM", "%b"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"),
            ("ss", "%S"), ("SSS", "%f"), ("Z", "%z"))  # fmt: skip


def read_arff(text: str) -> pd.DataFrame:
    """The table: nominal attributes as categories, numbers as float64, dates as such, strings as text."""
    try:
        import arff
    except ImportError as error:
        raise DataError('arff files need liac-arff; install it with pip install "svmpath[arff]"') from error
    lines, formats = _without_dates(text)
    is_sparse = _SPARSE.search(text) is not None
    try:
        content = arff.loads("\n".join(lines), return_type=arff.LOD if is_sparse else arff.DENSE)
    except (arff.ArffException, ValueError, IndexError) as error:
        raise DataError(f"the file is not a readable arff table ({' '.join(str(error).split())})") from error
    names = [name for name, _ in content["attributes"]]
    check_names(names)
    rows = content["data"]
    if is_sparse:
        if len(names) * len(rows) > _MOST_CELLS:
            raise DataError("the sparse table is too large to be made dense; write it in libsvm format")
        kinds = [kind for _, kind in content["attributes"]]
        default = [kind[0] if isinstance(kind, list) else None if kind == "STRING" else 0.0 for kind in kinds]
        rows = [[row.get(index, value) for index, value in enumerate(default)] for row in rows]
    columns: Any = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pd.DataFrame(
        {
            name: _series(list(cells), kind, formats.get(name), name)
            for (name, kind), cells in zip(content["attributes"], columns, strict=True)
        }
    )


def _without_dates(text: str) -> tuple[list[str], dict[str, str]]:
    """The lines with attributes of dates declared as strings, and the format of each."""
    lines, formats = text.splitlines(), {}
    for index, line in enumerate(lines):
        attribute = _ATTRIBUTE.fullmatch(line)
        if attribute is not None:
            kind, date = attribute["type"], _DATE.fullmatch(attribute["type"])
            if date is not None:
                kind, formats[attribute["name"].strip("'\"")] = "string", date["format"].strip(" \t'\"")
            lines[index] = f"@attribute {attribute['name']} {kind}"  # one space each, as liac-arff wants it
        elif line.strip().lower().startswith("@data"):
            break
    return lines, formats


def _series(cells: list[Any], kind: Any, form: str | None, name: str) -> pd.Series:
    """A column; dates are written as their attribute says, or as ISO 8601 if it does not."""
    if form is not None:
        python = form.replace("'", "")
        for letters, code in _LETTERS:
            python = python.replace(letters, code)
        try:
            return pd.to_datetime(pd.Series(cells, dtype=object), format=python or "ISO8601", utc=True)
        except (ValueError, OverflowError) as error:
            raise DataError(f"column {name!r} has dates that are not written like {form or 'ISO 8601'!r}") from error
    if isinstance(kind, list):
        return pd.Series(pd.Categorical(cells, categories=list(dict.fromkeys(kind))))
    if kind == "STRING":
        return pd.Series(cells, dtype=object)
    return pd.Series(np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64))
