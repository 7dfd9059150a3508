"""Readers of data files."""

import bz2
import datetime
import decimal
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from svmpath.datasets import read_new_rows, read_table
from svmpath.datasets.delimited import read_delimited
from svmpath.exceptions import DataError
from tests.speed import each_once


@pytest.fixture
def write(tmp_path):
    """Write text (or bytes) to a file in a fresh folder and give its path."""

    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# ----------------------------------------------------------------------------------------------------
# csv
# ----------------------------------------------------------------------------------------------------


def test_csv_kinds_and_values(write):
    path = write("a,town,ok,y\n1,Ulm,True,3\n-2.5e1,NA,false,4.5\n .5 ,Ulm,TRUE,+5\n")
    table = read_table(path, "y")
    assert table.kinds == {"a": "number", "town": "category", "ok": "boolean"}
    assert table.X["a"].tolist() == [1.0, -25.0, 0.5]
    assert table.X["town"].tolist() == ["Ulm", None, "Ulm"]
    assert table.X["town"].dtype == object
    assert table.X["ok"].tolist() == [1.0, 0.0, 1.0]
    assert table.y.tolist() == [3.0, 4.5, 5.0]
    assert (table.n_rows, table.source, table.target) == (3, "data.csv", "y")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_separators_and_line_ends(write, separator, end):
    lines = ["a|b b|y", '1|"x, y; z"|2', '3|"say ""no"""|4']
    path = write(end.join(lines).replace("|", separator))
    table = read_table(path, "y")
    assert table.X["b b"].tolist() == ["x, y; z", 'say "no"']


def test_csv_byte_order_mark_blank_lines_and_accents(write):
    path = write("\ufeffäge,y\n\n1,2\n\n3,4\n\n\n")
    assert read_table(path, "y").X["äge"].tolist() == [1.0, 3.0]


def test_csv_newline_inside_quotes(write):
    assert read_table(write('a,y\n"two\nlines",1\nb,2\n'), "y").X["a"].tolist() == ["two\nlines", "b"]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_csv(write, suffix, pack):
    path = write(pack(b"a,y\n1,2\n3,4\n"), "data.csv" + suffix)
    assert read_table(path, "y").y.tolist() == [2.0, 4.0]


def test_tsv(write):
    assert read_table(write("a;b\ty\n1\t2\n3\t4\n", "data.tsv"), "y").X["a;b"].tolist() == [1.0, 3.0]


BAD_CSV = {
    "wrong cell among numbers": ("a,y\n1,1\n2,1\n3,1\n4,1\n5x,2\n", "'a' must hold numbers .* data row 5 .* '5x'"),
    "stray word in the target": ("a,y\n1,1\n2,x\n3,2\n", "column 'y' must hold numbers .* data row 2 .* 'x'"),
    "underscore": ("a,y\n1_000,1\n2,2\n", "data row 1 .* '1_000'"),
    "infinite": ("a,y\n1,1\n-inf,2\n", "column 'a' has the infinite value -inf in data row 2"),
    "only infinite": ("a,y\ninf,1\ninf,2\n", "column 'a' has the infinite value inf in data row 1"),
    "too large": ("a,y\n1,1\n1e999,2\n", "column 'a' has the infinite value (1e999|inf) in data row 2"),
    "squares overflow": ("a,y\n1,1\n-1e200,2\n", "column 'a' has the value -1e.200 in data row 2 .*too large"),
    "no target at all": ("a,y\n1,\n2,NA\n", "no row has a value in the target 'y'"),
    "date as target": ("a,y\n1,1/31/2024\n2,2/1/2024\n", "column 'y' holds dates or times"),
    "duplicate names": ("a,b,a,y\n1,2,3,4\n", "the column name 'a' occurs more than once"),
    "no name": (",a,y\n0,1,2\n", "column 1 has no name.*index=False"),
    "no rows": ("a,y\n", "there are no rows below the column names"),
    "only blank lines": ("\n\n", "the file is empty"),
    "empty file": ("", "the file is empty"),
    "short row": ("a,b,y\n1,2,3\n1,2\n", "data row 2 .* has 2 cells, but the header has 3"),
    "short row among words": ("a,b,y\n1,2,u\n1,2\n2,3,v\n", "data row 2 .* has 2 cells, but the header has 3"),
    "long row": ("a,y\n1,2,3\n", "data row 1 .* has 3 cells, but the header has 2"),
    "long row later": ("a,y\n1,2\n1,2,3\n", "data row 2 .* has 3 cells, but the header has 2"),
    "open quote": ('a,y\n"1,2\n3,4\n', "not a readable csv table"),
    "latin-1": ("a,y\nM\u00fcnchen,1\nUlm,2\n".encode("latin-1"), "not text in UTF-8; save it as text in UTF-8"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe", "not text in UTF-8"),
    "zeros": (b"a,y\n\0\0,1\n", "not text .it holds NUL"),
    "only the target": ("y\n1\n2\n", "'y' is the only column"),
    "nothing to learn from": ("a,b,y\n1,,1\n1,,2\n", r"no column is left .*'a' .constant., 'b' .empty."),
    "missing target": ("age,Label\n1,2\n", r"there is no column 'y' to predict; there are 'age', 'Label'"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_csv_is_refused_in_one_sentence(write, case):
    text, message = BAD_CSV[case]
    with pytest.raises(DataError, match=message) as caught:
        read_table(write(text), "y")
    assert str(caught.value).startswith("data.csv: ")
    assert "\n" not in str(caught.value)


def test_missing_target_suggests_the_close_name(write):
    with pytest.raises(DataError, match=r"no column 'lable' .*did you mean ' Label'\?"):
        read_table(write("age, Label\n1,2\n"), "lable")
    with pytest.raises(DataError, match="name the column to predict with --target; there are 'age'"):
        read_table(write("age,Label\n1,2\n"))


def test_a_one_column_file_keeps_its_gaps(write):
    numbers = {"a": {"kind": "number"}}
    np.testing.assert_array_equal(read_new_rows(write("a\n1\n\n3\n"), numbers).X["a"], [1, np.nan, 3])
    assert read_new_rows(write("a\n1\n2\n\n\n"), numbers).n_rows == 2


def test_rows_without_a_target_are_left_out(write):
    table = read_table(write("a,y\n1,u\n2,\n3,v\n4,?\n5,None\n6,-\n"), "y")
    assert table.y.tolist() == ["u", "v", "None", "-"]  # the last two may well be classes
    assert table.rows.tolist() == [0, 2, 4, 5]
    assert table.X["a"].tolist() == [1.0, 3.0, 5.0, 6.0]
    assert read_table(write("a,y\n1,1\n2,-\n3,2\n"), "y").y.tolist() == [1.0, 2.0]


def test_numbers_and_words_in_a_target_are_classes_if_you_say_so(write):
    path = write("a,y\n1,1\n2,2\n3,3+\n4,1\n")
    assert read_table(path, "y", task="classification").y.tolist() == ["1", "2", "3+", "1"]
    assert read_table(write("a,y\n1,1\n2,2\n"), "y", task="classification").y.tolist() == [1.0, 2.0]


def test_quoted_line_ends_and_quotes_are_part_of_a_cell():
    frame, decimal = read_delimited('a,b,y\n1,"two\nlines",u\n2,"x ""y""",v\n', ",", {"a"})
    assert frame["b"].tolist() == ["two\nlines", 'x "y"']
    assert frame["a"].tolist() == ["1", "2"]
    assert decimal == "."


def test_lines_that_end_with_a_carriage_return_may_hold_quoted_line_ends():
    frame, _ = read_delimited('a,b\r1,"two\nlines"\r2,x\r', None, set())
    assert frame["b"].tolist() == ["two\nlines", "x"]


def test_a_blank_line_is_an_empty_cell_of_a_single_column_but_not_at_the_end():
    frame, _ = read_delimited("\na\n1\n\n3\n\n \n", None, set())
    assert frame["a"].tolist() == ["1", "", "3"]
    with pytest.raises(DataError, match=r"data row 3 .* has 2 cells, but the header has 1"):
        read_delimited("a\n1\n\n3,4\n", ",", set())


def test_many_rows_are_read_exactly(write):
    values = np.random.default_rng(0).normal(size=(500, 3)) * 10.0 ** np.random.default_rng(1).integers(-9, 9, (500, 3))
    frame = pd.DataFrame(values, columns=["a", "b", "y"])
    table = read_table(write(frame.to_csv(index=False)), "y")
    np.testing.assert_array_equal(table.X.to_numpy(), values[:, :2])
    np.testing.assert_array_equal(table.y, values[:, 2])


# ----------------------------------------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_used(tmp_path, write):
    with pytest.raises(DataError, match=r"none\.csv: there is no file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="this is a folder"):
        read_table(tmp_path / "folder.csv")
    for name in ("data.xlsx", "data", "data.zip.gz"):
        with pytest.raises(DataError, match="does not say what the file holds; say it with --format, or rename"):
            read_table(write("a,y\n1,2\n", name), "y")


@pytest.mark.parametrize(
    "name", ["data.csv.gz", "data.csv.bz2", "data.parquet", "data.npz", "data.libsvm", "data.arff"]
)
def test_garbled_files(write, name):
    for content in (b"this is, no; such file\n", b"\x00\x01\x02PK"):
        with pytest.raises(DataError, match=r"damaged|not in libsvm format|NUL|not text|not a readable arff"):
            read_table(write(content, name), None if name.endswith(("npz", "libsvm")) else "y")


# ----------------------------------------------------------------------------------------------------
# parquet
# ----------------------------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow")

    def save(**columns):
        path = tmp_path / "data.parquet"
        pd.DataFrame(columns).to_parquet(path)
        return path

    return save


def test_parquet_kinds(parquet):
    words = ["u", "v", "u"]
    path = parquet(
        i=[1, 2, 4],
        f=np.array([0.5, 1, 2], dtype=np.float32),
        n=pd.array([1, None, 3], dtype="Int64"),
        b=[True, False, True],
        w=words,
        c=pd.Categorical(words),
        code=["01", "02", "01"],
        text=["1.5", "2.5", "?"],
        when=pd.to_datetime(["2024-01-01", "2024-01-02", None]),
        zone=pd.to_datetime(["2024-01-01 01:00", "2024-01-02 00:00", None]).tz_localize("Europe/Berlin"),
        day=[datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 4)],
        span=pd.to_timedelta(["1D", "36h", None]),
        price=[decimal.Decimal("1.50"), decimal.Decimal("2.25"), None],
        y=words,
    )
    table = read_table(path, "y")
    kinds = ["number"] * 3 + ["boolean"] + ["category"] * 3 + ["number"] + ["date"] * 3 + ["number"] * 2
    assert list(table.kinds.values()) == kinds
    assert table.X["code"].tolist() == ["01", "02", "01"]
    assert table.X["w"].dtype == object
    np.testing.assert_array_equal(table.X["day"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.X["when"], [19723, 19724, np.nan])
    np.testing.assert_array_equal(table.X["zone"], [19723, 19724 - 1 / 24, np.nan])
    np.testing.assert_array_equal(table.X["span"], [1, 1.5, np.nan])
    np.testing.assert_array_equal(table.X["price"], [1.5, 2.25, np.nan])
    np.testing.assert_array_equal(table.X["n"], [1, np.nan, 3])
    assert table.y.tolist() == words


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.inf], "infinite value inf in data row 2"),
        ([[1], [2]], "holds values of type ndarray"),
        ([b"u", b"v"], "holds values of type bytes"),
    ],
)
def test_parquet_columns_that_are_refused(parquet, values, message):
    with pytest.raises(DataError, match=f"column 'a' .*{message}"):
        read_table(parquet(a=values, y=[1, 2]), "y")


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r'pip install "svmpath\[parquet\]"'):
        read_table(write(b"PAR1", "data.parquet"), "y")


# ----------------------------------------------------------------------------------------------------
# npz and libsvm
# ----------------------------------------------------------------------------------------------------


def test_npz(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.eye(3, dtype=np.uint8), y=np.array([1, 2, 1], dtype=np.int8), words=np.array(["u", "v", "u"]))
    table = read_table(path)
    assert table.kinds == {"x1": "number", "x2": "number", "x3": "number"}
    assert (table.X.dtype, table.y.dtype, table.target) == (np.float64, np.float64, "y")
    assert read_table(path, "words").y.tolist() == ["u", "v", "u"]
    with pytest.raises(DataError, match="no array 'z'; there are 'X', 'y', 'words'"):
        read_table(path, "z")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Z": np.eye(2)}, "no array 'X' with the features; there are 'Z'"),
        ({"X": np.ones(2), "y": np.ones(2)}, "'X' has 1 dimensions"),
        ({"X": np.ones((0, 2)), "y": np.ones(0)}, "no rows or no columns"),
        ({"X": np.array([["a"], ["b"]]), "y": np.ones(2)}, "'X' is of type <U1 where numbers are due"),
        ({"X": np.ones((2, 1)), "y": np.ones(3)}, r"'y' has shape \(3,\); one value for each of the 2 rows"),
        (
            {"X": np.array([[1, 2], [np.inf, 3]]), "y": np.ones(2)},
            "column 'x1' has the infinite value inf in data row 2",
        ),
        ({"X": np.ones((2, 1)), "y": np.array([None, 1])}, "holds Python objects"),
        ({"X": np.ones((2, 1)), "y": np.array(["2020-01-01", "2021-01-01"], "M8[D]")}, "holds dates"),
    ],
)
def test_npz_is_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "data.npz")


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_stays_sparse(tmp_path, zero_based):
    dense = np.random.default_rng(0).integers(3, size=(20, 6)).astype(float)
    dense[0, [0, 5]] = 1.0
    X = sparse.csr_matrix(dense)
    y = np.where(np.arange(20) % 2, 1, -1)
    path = tmp_path / "data.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    table = read_table(path)
    assert sparse.issparse(table.X)
    assert table.zero_based is zero_based
    np.testing.assert_allclose(table.X.toarray(), X.toarray())
    np.testing.assert_array_equal(table.y, y)
    with pytest.raises(DataError, match="only one target, its labels"):
        read_table(path, "label")


def test_libsvm_compressed(write):
    path = write(gzip.compress(b"1 1:2 3:4\n-1 2:1\n"), "data.svm.gz")
    assert read_table(path).X.toarray().tolist() == [[2, 0, 4], [0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n-1 3:inf\n", "column 'x3' has the infinite value inf in data row 2"),
        ("1 1:2\n-1 3:1e200\n", "column 'x3' has the value 1e.200 in data row 2"),
        ("1 2:1 1:2\n", "not in libsvm format"),
        ("yes 1:1\n", "not in libsvm format"),
        ("# nothing\n", "no rows"),
    ],
)
def test_libsvm_is_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        read_table(write(text, "data.libsvm"))


def test_missing_values_of_matrices(tmp_path, write):
    np.savez(tmp_path / "data.npz", X=np.array([[1, 2], [3, np.nan]]), y=np.array([1.0, 2.0]))
    assert np.isnan(read_table(tmp_path / "data.npz").X).tolist() == [[False, False], [False, True]]
    np.savez(tmp_path / "data.npz", X=np.array([[1.0], [3.0], [4.0]]), y=np.array([1, np.nan, 2]))
    table = read_table(tmp_path / "data.npz")
    assert (table.y.tolist(), table.X.tolist(), table.rows.tolist()) == ([1.0, 2.0], [[1.0], [4.0]], [0, 2])
    table = read_table(write("1 1:2\n-1 1:nan\n", "data.libsvm"))
    assert np.isnan(table.X.toarray()).tolist() == [[False], [True]]


def test_weights_and_groups_of_matrices(tmp_path, write):
    np.savez(tmp_path / "data.npz", X=np.eye(3), y=[1, 2, 1], w=[1.0, 2.0, 3.0], who=["a", "b", "a"])
    table = read_table(tmp_path / "data.npz", weight="w", group="who")
    assert (table.weights.tolist(), table.groups.tolist()) == ([1.0, 2.0, 3.0], ["a", "b", "a"])
    table = read_table(write("1 qid:7 1:2\n-1 qid:8 1:1\n", "data.libsvm"), group="qid")
    assert table.groups.tolist() == ["7", "8"]
    with pytest.raises(DataError, match="no column 'w'; there are 'y'"):
        read_table(write("1 1:2\n-1 1:1\n", "data.libsvm"), weight="w")


def test_columns_of_a_matrix_can_be_chosen(tmp_path):
    np.savez(tmp_path / "data.npz", X=np.arange(12.0).reshape(4, 3), y=[1, 2, 1, 2])
    assert list(read_table(tmp_path / "data.npz", drop=["x2"]).kinds) == ["x1", "x3"]
    assert list(read_table(tmp_path / "data.npz", columns=["x3"]).X["x3"]) == [2, 5, 8, 11]
    with pytest.raises(DataError, match="there is no column 'x4'; there are 'x1', 'x2', 'x3'"):
        read_table(tmp_path / "data.npz", drop=["x4"])


# ----------------------------------------------------------------------------------------------------
# arff
# ----------------------------------------------------------------------------------------------------

ARFF = """% a comment
@RELATION flats
@attribute area numeric
@ATTRIBUTE\t'nice town' {Ulm, 'Bad Tölz', Kiel}
@attribute "agent" string
@attribute seen date "dd.MM.yyyy"
@attribute stamp date
@attribute price {low,high}
@data
50, Ulm, 'a b', 31.01.2024, 2024-01-31T10:00:00, low
?, 'Bad Tölz', "c, d", ?, 2024-02-01T00:00:00, high
70.5, ?, 'a b', 02.02.2024, 2024-02-02T00:00:00, low
"""


def test_arff(write):
    pytest.importorskip("arff")
    table = read_table(write(ARFF, "data.arff"), "price")
    kinds = {"area": "number", "nice town": "category", "agent": "category", "seen": "date", "stamp": "date"}
    assert table.kinds == kinds
    np.testing.assert_array_equal(table.X["area"], [50, np.nan, 70.5])
    assert table.X["nice town"].tolist() == ["Ulm", "Bad Tölz", None]
    assert table.X["agent"].tolist() == ["a b", "c, d", "a b"]
    np.testing.assert_array_equal(table.X["seen"], [19753, np.nan, 19755])
    np.testing.assert_allclose(table.X["stamp"], [19753 + 10 / 24, 19754, 19755], rtol=0, atol=1e-9)
    assert table.y.tolist() == ["low", "high", "low"]


def test_numbers_of_arff_files_against_scipy(write):
    from scipy.io import arff

    text = "@relation r\n@attribute a numeric\n@attribute b real\n@attribute y {u,v}\n@data\n1,2.5,u\n-3e2,?,v\n4,5,u\n"
    table = read_table(write(text, "data.arff"), "y")
    other = arff.loadarff(io.StringIO(text))[0]
    for name in "ab":
        np.testing.assert_array_equal(table.X[name], other[name])


def test_sparse_arff_fills_in_zero_and_the_first_value(write):
    pytest.importorskip("arff")
    text = "@relation r\n@attribute a numeric\n@attribute b {x,z}\n@attribute y {u,v}\n@data\n{0 2, 2 v}\n{1 z}\n{}\n"
    table = read_table(write(text, "data.arff"), "y")
    assert table.X["a"].tolist() == [2, 0, 0]
    assert table.X["b"].tolist() == ["x", "z", "x"]
    assert table.y.tolist() == ["v", "u", "u"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a numeric\n@data\nx\n", "not a readable arff table"),
        ("@relation r\n@attribute a {u,v}\n@data\nw\n", "not a readable arff table"),
        ("@relation r\n@attribute a date\n@attribute y {u,v}\n@data\nsoon,u\n", "'a' has dates that are not written"),
        ("a,b\n1,2\n", "not a readable arff table"),
    ],
)
def test_arff_is_refused(write, text, message):
    pytest.importorskip("arff")
    with pytest.raises(DataError, match=message):
        read_table(write(text, "data.arff"), "y")


def test_arff_without_its_package(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(DataError, match=r'pip install "svmpath\[arff\]"'):
        read_table(write(ARFF, "data.arff"), "price")


# ----------------------------------------------------------------------------------------------------
# Compressed files and standard input
# ----------------------------------------------------------------------------------------------------


@pytest.fixture
def contents(tmp_path):
    """The same table in every format."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x1": [1.0, 2.5, 4.0], "x2": [0.5, 0.0, 2.0], "y": [1, 2, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=frame[["x1", "x2"]], y=frame["y"])
    dump_svmlight_file(frame[["x1", "x2"]], frame["y"], str(tmp_path / "t.libsvm"), zero_based=False)
    head = b"@relation r\n@attribute x1 numeric\n@attribute x2 numeric\n@attribute y numeric\n@data\n"
    return {
        "csv": frame.to_csv(index=False).encode(),
        "tsv": frame.to_csv(index=False, sep="\t").encode(),
        "arff": head + frame.to_csv(index=False, header=False).encode(),
        **{name: (tmp_path / f"t.{name}").read_bytes() for name in ("parquet", "npz", "libsvm")},
    }


FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm", "npz")


@each_once
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_every_format_from_a_path_and_from_standard_input(contents, write, monkeypatch, format, suffix, pack):
    path = write(pack(contents[format]), f"data.{format}{suffix}")
    for source, given in ((path, None), ("-", format), ("-", None)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        table = read_table(source, "y", format=given)
        X = table.X.toarray() if sparse.issparse(table.X) else np.asarray(table.X)
        assert X.tolist() == [[1.0, 0.5], [2.5, 0.0], [4.0, 2.0]]
        assert table.y.tolist() == [1, 2, 1]
        assert table.is_guessed == (source == "-" and given is None)
        assert not table.is_guessed or table.format == {"tsv": "csv"}.get(format, format)


def test_a_wrong_format_is_refused(write, contents):
    with pytest.raises(DataError, match=r"--format must be one of 'csv', .*Did you mean 'parquet'"):
        read_table(write(contents["csv"]), "y", format="parqet")
    with pytest.raises(DataError, match="not a parquet file"):
        read_table(write(contents["csv"]), "y", format="parquet")
    assert read_table(write(contents["csv"], "data.txt"), "y", format="csv").n_rows == 3


# ----------------------------------------------------------------------------------------------------
# What could be read wrongly without a word
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "zip,b,y\n01067,1,0\n,2,1\n99999,3,0\n99999,3,1\n",  # a gap makes floats of whole numbers
        "zip;b;y\n01067;1,5;0\n;2,5;1\n99999;3,5;0\n99999;3;1\n",
    ],
)
def test_codes_keep_their_zeros(write, text):
    assert read_table(write(text), "y").X["zip"].tolist() == ["01067", None, "99999", "99999"]


def test_the_target_and_the_weights_have_the_decimal_sign_of_the_file(write):
    path = write("a;w;y\n1,5;1.000,5;1,234\n2,5;2.000;2,345\n3,5;3.000;3,456\n")
    table = read_table(path, "y", weight="w")
    assert table.y.tolist() == [1.234, 2.345, 3.456]
    assert table.weights.tolist() == [1000.5, 2000, 3000]


def test_semicolons_make_a_comma_that_can_be_both_the_decimal_sign(write):
    assert read_table(write("a;y\n1,234;0\n5,678;1\n"), "y").X["a"].tolist() == [1.234, 5.678]
    assert read_table(write('a,y\n"1,234",0\n"5,678",1\n'), "y").X["a"].tolist() == [1234, 5678]
    assert read_table(write("a;y\n1.234;0\n5.678;1\n"), "y").X["a"].tolist() == [1.234, 5.678]


def test_labels_keep_their_zeros(write):
    path = write("a,y\n1,01\n2,02\n3,01\n4,10\n")
    assert read_table(path, "y").y.tolist() == ["01", "02", "01", "10"]
    assert read_table(path, "y", task="classification").y.tolist() == ["01", "02", "01", "10"]
    assert read_table(path, "y", task="regression").y.tolist() == [1, 2, 1, 10]


@pytest.mark.parametrize("options", [{}, {"weight": "b"}])
def test_errors_name_the_row_of_the_file_where_rows_are_left_out(write, options):
    path = write("a,b,y\n1,2,\n1,2,3\n2,inf,4\n2,1,5\n")
    with pytest.raises(DataError, match="column 'b' has the infinite value inf in data row 3"):
        read_table(path, "y", **options)


@pytest.mark.parametrize("option", ["weight", "group"])
def test_the_target_has_no_second_purpose(write, option):
    with pytest.raises(DataError, match=f"--{option}-column names the target 'y'"):
        read_table(write("a,y\n1,1\n2,2\n3,1\n"), "y", **{option: "y"})
