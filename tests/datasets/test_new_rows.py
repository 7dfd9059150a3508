"""Rows to predict are read as the training rows were."""

import numpy as np
import pandas as pd
import pytest

from svmpath.datasets import read_new_rows, read_table
from svmpath.datasets.recipes import follow_recipe
from svmpath.exceptions import DataError

NAN = np.nan
RECIPES = {"b": {"kind": "category"}, "a": {"kind": "number"}, "t": {"kind": "boolean"}}


@pytest.fixture
def write(tmp_path):
    def write(text, name="new.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_columns_come_as_they_are_wanted(write):
    rows = read_new_rows(write("a,t,label,b,c\n1,true,,7,0\n2,maybe,x,u,0\n,NO,x,-,0\n"), RECIPES, ignored=["label"])
    assert list(rows.X.columns) == ["b", "a", "t"]
    assert rows.X["b"].tolist() == ["7", "u", None]
    np.testing.assert_array_equal(rows.X["a"], [1, 2, NAN])
    np.testing.assert_array_equal(rows.X["t"], [1, NAN, 0])
    assert (rows.unexpected, rows.unseen) == (["c"], {"t": ["maybe"]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c\n1\n", "new.csv: the table lacks 'a', 'b'; that is all the model needs, so it may be another table"),
        ("a\n1\n", "new.csv: the table lacks 'b'; the model needs the columns 'a', 'b'"),
        ("c\n1\n", "lacks 'a', 'b'"),
        ("a,b\nx,u\n", "column 'a' must hold numbers, but data row 1 .* has 'x'"),
        ("a,b\n1,u\nTrue,u\n", "column 'a' must hold numbers .* data row 2 .* has 'True'"),
        ("a,b\n", "there are no rows"),
        ("a,b,a\n1,2,3\n", "'a' occurs more than once"),
    ],
)
def test_columns_that_do_not_fit_the_model(write, text, message):
    with pytest.raises(DataError, match=message):
        read_new_rows(write(text), {"a": {"kind": "number"}, "b": {"kind": "category"}})


def follow(cells, **recipe):
    return follow_recipe(pd.Series(cells), "a", recipe)[0].tolist()


def test_typed_columns_become_what_the_model_needs():
    assert follow(["1", "2.5"], kind="number") == [1.0, 2.5]
    assert follow([1, 2], kind="category") == ["1", "2"]
    assert follow([0.5, 2.0], kind="category") == ["0.5", "2"]
    assert follow([True, False], kind="number") == [1.0, 0.0]
    assert follow([1, 0], kind="boolean") == [1.0, 0.0]
    assert follow([True, False], kind="category") == ["True", "False"]
    assert follow(pd.to_datetime(["1970-01-02"]), kind="date", format="%d.%m.%Y") == [1.0]
    with pytest.raises(DataError, match="column 'a' must hold numbers"):
        follow(["u", "2"], kind="number")


def test_a_column_reads_itself_again():
    """The values that a recipe gives are read to themselves: a pipeline takes tables that have been read before."""
    for cells, recipe in (
        (["1,5", "7"], {"kind": "number", "decimal": ","}),
        (["yes", "no"], {"kind": "boolean"}),
        (["31.01.2024", "?"], {"kind": "date", "format": "%d.%m.%Y"}),
        (["u", None], {"kind": "category"}),
    ):
        once = follow_recipe(pd.Series(cells, dtype=object), "a", recipe)[0]
        again = follow_recipe(pd.Series(once, dtype=once.dtype), "a", recipe)[0]
        pd.testing.assert_series_equal(pd.Series(once), pd.Series(again))


def test_numbers_may_be_written_otherwise_than_in_training():
    german = {"kind": "number", "decimal": ",", "thousands": "."}
    assert follow(["1.234,5"], **german) == [1234.5]
    assert follow(["1.234"], **german) == [1.234]  # plain numbers are what they are
    assert follow_recipe(pd.Series(["1.234"]), "a", german, decimal=",")[0].tolist() == [1234.0]
    assert follow([2.5], **german) == [2.5]
    assert follow(["12", "13 %"][:1], kind="number", sign="%") == [12.0]
    np.testing.assert_array_equal(follow(["12", "unknown", "NA"], kind="number", words=["unknown"]), [12, NAN, NAN])


def test_dates_may_be_written_otherwise_than_in_training():
    assert follow(["1.2.1970"], kind="date", format="%d.%m.%Y") == [31.0]
    assert follow(["1970-02-01"], kind="date", format="%d.%m.%Y") == [31.0]
    assert follow(["2/1/1970"], kind="date", format="%m/%d/%Y") == [31.0]
    for recipe in ({"kind": "date"}, {"kind": "date", "format": "%d.%m.%Y"}):
        with pytest.raises(DataError, match=r"column 'a' must hold dates, but data row 2 .* has '1/2/1970'"):
            follow(["", "1/2/1970"], **recipe)


def test_unnamed_columns_are_counted(tmp_path, write):
    wanted = {"x1": {"kind": "number"}, "x2": {"kind": "number"}}
    np.savez(tmp_path / "data.npz", X=np.eye(2))
    with pytest.raises(DataError, match="the table has 2 columns, but the model was fitted with 3"):
        read_new_rows(tmp_path / "data.npz", 3)
    with pytest.raises(DataError, match="the columns have no names, but the model needs 'a', 'b'"):
        read_new_rows(tmp_path / "data.npz", {"a": {"kind": "number"}, "b": {"kind": "number"}})
    with pytest.raises(DataError, match="the table has 4 columns, but the model was fitted with 3"):
        read_new_rows(write("0 4:1\n", "data.libsvm"), 3)
    assert read_new_rows(write("0 2:1\n", "data.libsvm"), 3).X.toarray().tolist() == [[0, 1, 0]]
    assert read_new_rows(tmp_path / "data.npz", wanted).X.to_numpy().tolist() == [[1, 0], [0, 1]]
    assert read_new_rows(write("x2,x1\n5,6\n"), 2).X.tolist() == [[6, 5]]


def test_libsvm_indices_begin_where_they_began_in_training(write):
    """A file without index 0 in its rows is still one that counts from 0, if the model says so."""
    path = write("0 1:5\n", "data.libsvm")
    assert read_new_rows(path, 3, zero_based=True).X.toarray().tolist() == [[0, 5, 0]]
    assert read_new_rows(path, 3, zero_based=False).X.toarray().tolist() == [[5, 0, 0]]
    with pytest.raises(DataError, match="not in libsvm format"):
        read_new_rows(write("0 0:5\n", "data.libsvm"), 3, zero_based=False)


def test_what_was_inferred_reads_the_same_file_again(write):
    text = "n;p;d;w;t;y\n1,5;7 %;1.2.2024;u;yes;1\n2,25;8 %;3.2.2024;v;no;2\n;9 %;31.1.2024;u;yes;1\n"
    table = read_table(write(text), "y")
    recipes = {column.name: column.recipe for column in table.columns}
    pd.testing.assert_frame_equal(read_new_rows(write(text), recipes).X, table.X)


@pytest.mark.parametrize(("separator", "value"), [(";", 1234), ("\t", 1234), (",", 1.234)])
def test_a_point_that_parted_thousands_still_does_unless_the_file_says_otherwise(write, separator, value):
    recipe = {"kind": "number", "decimal": ",", "thousands": ".", "sign": ""}
    text = "a|b\n1.234|1\n".replace("|", separator)
    assert read_new_rows(write(text), {"a": recipe}).X["a"].tolist() == [value]


def test_a_decimal_comma_of_training_is_one_in_new_rows(write):
    table = read_table(write("a\tb\ty\n1,5\tu\t0\n2,5\tv\t1\n"), "y")
    recipes = {column.name: column.recipe for column in table.columns}
    assert read_new_rows(write("a\tb\n1,234\tu\n"), {"a": recipes["a"]}).X["a"].tolist() == [1.234]


@pytest.mark.parametrize("recipe", [{"kind": "date"}, {"kind": "date", "format": "%d.%m.%Y", "words": ["open"]}])
def test_dates_may_all_be_missing(write, recipe):
    np.testing.assert_array_equal(follow(["", "NA"], **recipe), [NAN, NAN])


def test_words_among_dates_are_missing_as_in_training():
    recipe = {"kind": "date", "format": "%d.%m.%Y", "words": ["open"]}
    np.testing.assert_array_equal(follow(["2.1.1970", "open"], **recipe), [1, NAN])


def test_dates_are_no_numbers():
    with pytest.raises(DataError, match="column 'a' holds dates, but held numbers in the training data"):
        follow(pd.to_datetime(["2024-01-31"]), kind="number")


def test_dates_may_be_mixed_with_those_that_nobody_can_misread():
    assert follow(["2.1.1970", "1970-01-03"], kind="date", format="%d.%m.%Y") == [1.0, 2.0]
    with pytest.raises(DataError, match=r"data row 2 .* has '32\.1\.1970'"):
        follow(["1970-01-03", "32.1.1970"], kind="date", format="%d.%m.%Y")


def test_one_wrong_day_does_not_make_months_of_all_others():
    with pytest.raises(DataError, match=r"must hold dates, but data row 2 .* has '1/31/2024'"):
        follow(["1/2/2024", "1/31/2024"], kind="date", format="%d/%m/%Y")
