"""Random tables of odd cells: they are read or refused in one sentence, and read again in the same way."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmpath.cli.data_options import DataOptions, read_data
from svmpath.cli.options import TABLE
from svmpath.cli.preparation import prepare_columns, recipes_of
from svmpath.datasets import read_new_rows
from svmpath.exceptions import DataError
from tests.rounding import assert_same
from tests.speed import first_quick

IMPUTE = next(row.names for row in TABLE if row.flag == "--impute")
CELLS = [
    "1", "2.5", "-3", "", "NA", "?", "-", "yes", "no", "true", "2024-01-31", "31.01.2024", "1/2/2024", "12 %", "$5",
    "1,234", "1.234,5", "inf", "1e400", "nan", "x", "ü", '"q""q"', '"a,b"', '"a\nb"', "007", "0", "12:30", "00:61",
    " 5 ", "5x", "1_0",
    "+", "%", "€", "1 234", "9999-12-31", "31.12.9999", "Jan 1, 2020", "None", '""', "2024-01-31T25:00",
]  # fmt: skip


def draw(rng):
    """A table whose columns each have a few kinds of cells."""
    n, d, separator = int(rng.integers(1, 30)), int(rng.integers(1, 6)), str(rng.choice([",", ";", "\t"]))
    pools = [rng.choice(CELLS, int(rng.integers(1, 5))) for _ in range(d)]
    lines = [separator.join([f"c{position}" for position in range(d)] + ["y"])]
    for _ in range(n):
        row = [str(rng.choice(pool)) for pool in pools]
        quoted = [cell if separator not in cell or cell.startswith('"') else f'"{cell}"' for cell in row]
        lines.append(separator.join([*quoted, str(rng.choice(["u", "v"]))]))
    return "\n".join(lines)


def read_or_refuse(options):
    """The data, or the sentence that refuses them; any other exception is an error."""
    try:
        return read_data(options), ""
    except DataError as error:
        return None, str(error)


@first_quick(1)
@pytest.mark.parametrize("block", [0, 1, *(pytest.param(block, marks=pytest.mark.slow) for block in range(2, 40))])
def test_random_tables(block):
    path, read = Path("data.csv"), 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        path.write_text(draw(rng), encoding="utf-8")
        data, fault = read_or_refuse(DataOptions(path, target="y", impute=str(rng.choice(IMPUTE))))
        if data is None:
            assert fault.startswith("data.csv: ")
            assert "\n" not in fault
            continue
        columns = prepare_columns(data)
        Z = columns.fit_transform(data.X)
        assert np.isfinite(Z).all()
        assert len(Z) == len(data.y)
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in data.notes)
        again = read_new_rows(path, recipes_of(columns)).X.iloc[data.table.rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(again, data.X)
        assert_same(columns.transform(again), Z)
        read += 1
    assert read > 3
