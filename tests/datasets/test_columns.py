"""What a column is read as, and its values."""

import numpy as np
import pandas as pd
import pytest

from svmpath.datasets.cells import NumberStyle, find_date_formats, find_styles, read_dates
from svmpath.datasets.columns import infer_column
from svmpath.exceptions import DataError

NAN = np.nan


def infer(cells, name="a", **options):
    return infer_column(pd.Series(cells, dtype=object), name, **options)


def assert_column(cells, kind, values, detail=None, **options):
    found, column = infer(cells, **options)
    assert column.kind == kind
    assert column.is_used
    if kind == "category":
        assert found.tolist() == values
    else:
        np.testing.assert_array_equal(found, values)
    assert column.missing == int(pd.isna(np.array(values, dtype=object)).sum())
    assert detail is None or detail in column.detail


# ----------------------------------------------------------------------------------------------------
# Numbers
# ----------------------------------------------------------------------------------------------------

NUMBERS = {
    "plain": (["1", "-2.5e1", ".5", "+7"], [1, -25, 0.5, 7], ""),
    "missing in every spelling": (
        ["1", "2", "", "NA", "n/a", "NaN", "null", "None", "?", "-", " ", "#N/A"],
        [1, 2, *[NAN] * 10],
        "",
    ),
    "percent": (["12 %", "7%", "-0.5 %"], [12, 7, -0.5], "'%' is left out"),
    "thousands": (["1,234.5", "7", "1,000,000"], [1234.5, 7, 1e6], "',' separates thousands"),
    "only thousands": (["1,234", "2,500"], [1234, 2500], "',' separates thousands"),
    "thousands do not begin with 0": (["0,123", "2,500"], [0.123, 2.5], "',' is the decimal sign"),
    "words among decimal commas": (["1,5", "2,5", "0,25", "k.A."], [1.5, 2.5, 0.25, NAN], "'k.A.' among the numbers"),
    "words among percents": (["5 %", "7 %", "unknown"], [5, 7, NAN], "'unknown' among the numbers"),
    "decimal comma": (["1,5", "12", "-0,25"], [1.5, 12, -0.25], "',' is the decimal sign"),
    "German": (["1.234,5", "7,25"], [1234.5, 7.25], "'.' separates thousands and ',' is the decimal sign"),
    "Swiss": (["1'234.5", "7"], [1234.5, 7], "separates thousands"),
    "French": (["1 234,5", "7"], [1234.5, 7], "' ' separates thousands and ',' is the decimal sign"),
    "dollars": (["$5", "$ 1,000.50", "-$3"], [5, 1000.5, -3], "'$' is left out and ',' separates thousands"),
    "euros": (["5,20 \u20ac", "1.000,00 \u20ac"], [5.2, 1000], "is left out"),
    "a word for missing": (["12", "unknown", "13", "unknown", "14"], [12, NAN, 13, NAN, 14], "'unknown' among the num"),
    "two words for missing": (
        ["1", "2", "3", "4", "none given", "n.d."],
        [1, 2, 3, 4, NAN, NAN],
        "'none given' and 'n.d.'",
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case):
    cells, values, detail = NUMBERS[case]
    assert_column(cells, "number", values, detail)


def test_cells_that_do_not_agree_are_no_numbers():
    for cells in (["12 %", "7", "x"], ["$5", "6 \u20ac", "7"], ["1,23,456", "1,2"]):
        assert infer([*cells, cells[0]])[1].kind == "category"


def test_the_decimal_sign_of_the_file_settles_what_can_be_read_in_two_ways():
    np.testing.assert_array_equal(infer(["1.234", "5.678"])[0], [1.234, 5.678])
    np.testing.assert_array_equal(infer(["1.234", "5.678"], decimal=",")[0], [1234, 5678])
    np.testing.assert_array_equal(infer(["1,234", "5,678"], decimal=",")[0], [1.234, 5.678])
    np.testing.assert_array_equal(infer(["0.5", "2.25"], decimal=",")[0], [0.5, 2.25])


@pytest.mark.parametrize("value", [0.5, -1234567.25, 1e6, 12.0, -3.75])
@pytest.mark.parametrize(
    "style",
    [
        NumberStyle(),
        NumberStyle(",", "."),
        NumberStyle(".", ","),
        NumberStyle(".", "'", "$"),
        NumberStyle(",", "", "%"),
    ],
)
def test_a_number_written_in_a_style_is_read_back(value, style):
    text = f"{value:,.2f}".replace(",", "T").replace(".", style.decimal).replace("T", style.thousands)
    cell = f"{text} {style.sign}".strip()
    assert style.read([cell]) == value
    assert any(found.read([cell]) == value for found in find_styles([cell]))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "2", "3", "4", "5x"], "column 'a' must hold numbers .*data row 5 .*'5x'.*--categorical or --drop"),
        (["1", "2", "inf"], "infinite value inf in data row 3"),
        (["1", "2", "1e200"], "too large to compute with"),
    ],
)
def test_mistakes_among_numbers_are_refused(cells, message):
    with pytest.raises(DataError, match=message):
        infer(cells)


# ----------------------------------------------------------------------------------------------------
# Words, truth values, dates
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("yes_no", [("yes", "no"), ("True", "FALSE"), ("t", "f"), ("Y", "n"), ("on", "off")])
def test_truth_values(yes_no):
    yes, no = yes_no
    assert_column([yes, no, no, "?"], "boolean", [1, 0, 0, NAN], f"{yes!r} is 1")


def test_zero_and_one_are_truth_values():
    assert_column(["1", "0", "0"], "boolean", [1, 0, 0])
    assert_column([1.0, 0.0, None, 0.0], "boolean", [1, 0, NAN, 0])
    assert infer(["0", "1", "2"])[1].kind == "number"


def test_words():
    assert_column([" u", "v ", "u", "NA"], "category", ["u", "v", "u", None])
    assert_column(["u", "7", "u", "v"], "category", ["u", "7", "u", "v"], "numbers and words")
    assert_column(["01067", "80331", "01067"], "category", ["01067", "80331", "01067"], "a code")
    assert_column(["7", "8", "7"], "category", ["7", "8", "7"], is_category=True)
    assert_column([7.0, 8.5, None], "category", ["7", "8.5", None], is_category=True)
    assert infer(["00.5", "01.5"])[1].kind == "number"


def test_categories_with_a_type():
    values, column = infer_column(pd.Series(pd.Categorical([1, 2, 1, None])), "a")
    assert (values.tolist(), column.kind, column.missing) == (["1", "2", "1", None], "category", 1)


DATES = {
    "ISO": (["2024-01-31", "2024-02-01"], [19753, 19754]),
    "ISO with time": (["2024-01-31T12:00", "2024-02-01 06:00:00"], [19753.5, 19754.25]),
    "with zone": (["2024-01-31T12:00+12:00", "2024-02-01T00:00Z"], [19753, 19754]),
    "slashes": (["2024/01/31", "2024/02/01"], [19753, 19754]),
    "German": (["31.01.2024", "1.2.2024"], [19753, 19754]),
    "German, short": (["31.01.24", "01.02.24"], [19753, 19754]),
    "British": (["31/01/2024", "01/02/2024"], [19753, 19754]),
    "American": (["01/31/2024", "02/01/2024"], [19753, 19754]),
    "American, with time": (["01/31/2024 6:00 PM", "02/01/2024 12:00 AM"], [19753.75, 19754]),
    "named month": (["31 Jan 2024", "1 Feb 2024"], [19753, 19754]),
    "named month, dashes": (["31-Jan-2024", "01-Feb-2024"], [19753, 19754]),
    "long names": (["January 31, 2024", "February 1, 2024"], [19753, 19754]),
    "never": (["9999-12-31", "2024-02-01"], [2932896, 19754]),
    "clock": (["06:00", "18:30"], None),
}


@pytest.mark.parametrize("case", DATES)
def test_dates(case):
    cells, days = DATES[case]
    if case == "never" and int(pd.__version__.split(".")[0]) < 3:
        pytest.skip("older versions of pandas know no dates beyond 2262")
    found, column = infer([*cells, ""])
    assert (column.kind, column.is_used, column.missing) == ("date", True, 1)
    if days is None:
        assert found[1] - found[0] == pytest.approx(12.5 / 24)
    else:
        np.testing.assert_array_equal(found, [*days, NAN])
        assert str(np.datetime64(int(found[1]), "D")) == "2024-02-01"


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (["1/2/2024", "3/4/2024"], "can be read in two ways"),
        (["31.02.2024", "30.02.2024"], "cannot be read"),
        (["2024-13-01", "2024-01-01"], "cannot be read"),
    ],
)
def test_dates_that_cannot_be_read_are_left_out(cells, fault):
    column = infer(cells)[1]
    assert (column.kind, column.is_used) == ("date", False)
    assert fault in column.detail


def test_a_random_date_survives_every_format():
    days = np.random.default_rng(0).integers(0, 25_000, 40)
    stamps = pd.Series(pd.to_datetime(days, unit="D"))
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y"):
        cells = stamps.dt.strftime(form).tolist()
        formats = find_date_formats(cells)
        assert len(formats) == 1
        np.testing.assert_array_equal(read_dates(cells, formats[0]), days)


# ----------------------------------------------------------------------------------------------------
# Columns from which nothing can be learnt
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "name", "kind"),
    [
        (["u", "v", "w"], "town", "identifier"),
        (["c0ffee-1", "c0ffee-2", "c0ffee-3"], "token", "identifier"),
        (["4", "9", "2"], "patient_id", "identifier"),
        (["4", "9", "2"], "PatientID", "identifier"),
        (["1", "2", "3"], "row", "identifier"),
        (["4", "9", "2"], "order number", "identifier"),
        ([4, 9, 2], "Index", "identifier"),
        (["7", "7", "7"], "a", "constant"),
        (["x", "x", "x"], "a", "constant"),
        (["", "NA", "?"], "a", "empty"),
        ([None, None, None], "a", "empty"),
        ([NAN, NAN, NAN], "a", "empty"),
    ],
)
def test_columns_that_are_left_out(cells, name, kind):
    column = infer(cells, name)[1]
    assert (column.kind, column.is_used) == (kind, False)


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (["4", "9", "2"], "age"),  # all different, and a number
        (["1", "2", "3"], "day"),
        (["4.5", "9.5", "2.5"], "id"),
        (["4", "9", "4"], "id"),  # not all different
        (["4", "9", "2"], "grid"),
        (["4", "9", "2"], "number of rooms"),
        (["4", "9", "2"], "width"),
        (["4", "4", ""], "a"),  # something can be learnt from what is missing
        (["u", "v", "u"], "uuid"),
    ],
)
def test_columns_that_are_kept(cells, name):
    assert infer(cells, name)[1].is_used


def test_a_column_that_counts_the_rows_is_kept_and_said():
    column = infer([str(number) for number in range(60)], "day")[1]
    assert column.is_used
    assert column.detail == "it counts the rows; use --drop day if that is all it does"
    assert infer([str(number) for number in [*range(30), *range(31, 61)]], "day")[1].detail == ""


def test_words_among_dates_are_missing():
    values, column = infer(["1970-01-02", "1970-01-04", "unknown"])
    np.testing.assert_array_equal(values, [1, 3, NAN])
    assert (column.kind, column.missing, column.recipe["words"]) == ("date", 1, ["unknown"])


def test_words_among_codes_leave_them_codes():
    assert_column(["01067", "04103", "04103", "unknown"], "category", ["01067", "04103", "04103", "unknown"])
