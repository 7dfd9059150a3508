"""Readers of data files."""

import bz2
import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from svmpath.datasets import read_table
from svmpath.exceptions import DataError


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
    path = write("a,town,ok,y\n1,Ulm,True,3\n-2.5e1,NA,false,4.5\n .5 ,None,TRUE,+5\n")
    table = read_table(path, "y")
    assert table.kinds == {"a": "number", "town": "category", "ok": "boolean"}
    assert table.X["a"].tolist() == [1.0, -25.0, 0.5]
    assert table.X["town"].tolist() == ["Ulm", "NA", "None"]
    assert table.X["town"].dtype == object
    assert table.X["ok"].tolist() == [True, False, True]
    assert table.X["ok"].dtype == bool
    assert table.y.tolist() == [3.0, 4.5, 5.0]
    assert (table.n_rows, table.source, table.target) == (3, "data.csv", "y")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
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
    assert read_table(write("a;b\ty\n1\t2\n", "data.tsv"), "y").X["a;b"].tolist() == [1.0]


BAD_CSV = {
    "stray word": ("a,y\n1,1\n2,1\nabc,2\n", "column 'a' must hold numbers .* data row 3 .* 'abc'"),
    "stray number": ("a,y\nred,1\n7,1\n", "column 'a' must hold numbers .*'7' in data row 2.* data row 1 .* 'red'"),
    "stray word in the target": ("a,y\n1,1\n2,x\n3,2\n", "column 'y' must hold numbers .* data row 2 .* 'x'"),
    "decimal comma": ("a;y\n1;1\n1,5;2\n", "data row 2 .* '1,5'.* with a decimal point"),
    "only decimal commas": ("a;y\n2,5;1\n1,5;2\n", "column 'a' holds numbers that cannot be read .*decimal point"),
    "thousands": ('a,y\n"1,000",1\n"2,500",2\n', "column 'a' holds numbers that cannot be read"),
    "per cent": ("a,y\n10 %,1\n12%,2\n", "column 'a' holds numbers that cannot be read"),
    "underscore": ("a,y\n1_000,1\n2,2\n", "data row 1 .* '1_000'"),
    "empty cell": ("a,y\n1,1\n,2\n", "column 'a' has no value in data row 2"),
    "nan": ("a,y\n1,1\nNaN,2\n", "column 'a' has no value in data row 2"),
    "NA among numbers": ("a,y\n1,1\n2,1\nNA,2\n", "column 'a' has no value in data row 3"),
    "empty word": ("a,y\nx,1\n  ,2\n", "column 'a' has no value in data row 2"),
    "nan among words": ("a,y\nx,1\nnan,2\n", "column 'a' has no value in data row 2"),
    "only empty": ("a,b,y\n,1,1\n,2,2\n", "column 'a' has no value in data row 1"),
    "blank line in one column": ("a,y\n1,\n2,2\n", "column 'y' has no value in data row 1"),
    "infinite": ("a,y\n1,1\n-inf,2\n", "column 'a' has the infinite value -inf in data row 2"),
    "only infinite": ("a,y\ninf,1\ninf,2\n", "column 'a' has the infinite value inf in data row 1"),
    "too large": ("a,y\n1,1\n1e999,2\n", "column 'a' has the infinite value 1e999 in data row 2"),
    "squares overflow": ("a,y\n1,1\n-1e200,2\n", "column 'a' has the value -1e.200 in data row 2 .*too large"),
    "missing target value": ("a,y\n1,u\n2,\n", "column 'y' has no value in data row 2"),
    "dates": ("a,y\n2024-01-31,1\n2024-02-01,2\n", "column 'a' holds dates or times .*'2024-01-31'"),
    "days": ("a,y\n31.01.2024,1\n1.2.2024,2\n", "column 'a' holds dates or times"),
    "date as target": ("a,y\n1,1/31/2024\n2,2/1/2024\n", "column 'y' holds dates or times"),
    "duplicate names": ("a,b,a,y\n1,2,3,4\n", "the column name 'a' occurs more than once"),
    "no name": (",a,y\n0,1,2\n", "column 1 has no name.*index=False"),
    "no rows": ("a,y\n", "there are no rows below the column names"),
    "only blank lines": ("\n\n", "the file is empty"),
    "empty file": ("", "the file is empty"),
    "short row": ("a,b,y\n1,2,3\n1,2\n", "data row 2 .* has 2 cells, but the header has 3"),
    "long row": ("a,y\n1,2,3\n", "data row 1 .* has 3 cells, but the header has 2"),
    "open quote": ('a,y\n"1,2\n3,4\n', "not a readable csv table"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe", "not text in UTF-8"),
    "zeros": (b"a,y\n\0\0,1\n", "not text .it holds NUL"),
    "only the target": ("y\n1\n2\n", "'y' is the only column"),
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
    with pytest.raises(DataError, match="column 'a' has no value in data row 2"):
        read_table(write("a\n1\n\n3\n"), columns={"a": "number"})
    assert read_table(write("a\n1\n2\n\n\n"), columns={"a": "number"}).n_rows == 2


# ----------------------------------------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_used(tmp_path, write):
    with pytest.raises(DataError, match=r"none\.csv: there is no file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="this is a folder"):
        read_table(tmp_path / "folder.csv")
    for name in ("data.xlsx", "data", "data.npz.gz"):
        with pytest.raises(DataError, match="does not say what the file holds; rename it to end in one of"):
            read_table(write("a,y\n1,2\n", name), "y")


@pytest.mark.parametrize("name", ["data.csv.gz", "data.csv.bz2", "data.parquet", "data.npz", "data.libsvm"])
def test_garbled_files(write, name):
    for content in (b"this is, no; such file\n", b"\x00\x01\x02PK"):
        with pytest.raises(DataError, match=r"damaged|not in libsvm format|NUL|not text"):
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
        i=[1, 2, 3],
        f=np.array([0.5, 1, 2], dtype=np.float32),
        n=pd.array([1, 2, 3], dtype="Int64"),
        b=[True, False, True],
        w=words,
        c=pd.Categorical(words),
        code=["01", "02", "03"],
        y=words,
    )
    table = read_table(path, "y")
    assert list(table.kinds.values()) == ["number"] * 3 + ["boolean"] + ["category"] * 3
    assert table.X["code"].tolist() == ["01", "02", "03"]
    assert table.X["w"].dtype == object
    assert table.y.tolist() == words


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, None], "no value in data row 2"),
        (["u", None], "no value in data row 2"),
        (["u", ""], "no value in data row 2"),
        ([1.0, np.inf], "infinite value inf in data row 2"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), "holds dates or times"),
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
    with pytest.raises(DataError, match="no array 'z' to predict; there are 'X', 'y', 'words'"):
        read_table(path, "z")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Z": np.eye(2)}, "no array 'X' with the features; there are 'Z'"),
        ({"X": np.ones(2), "y": np.ones(2)}, "'X' has 1 dimensions"),
        ({"X": np.ones((0, 2)), "y": np.ones(0)}, "no rows or no columns"),
        ({"X": np.array([["a"], ["b"]]), "y": np.ones(2)}, "'X' is of type <U1 where numbers are due"),
        ({"X": np.ones((2, 1)), "y": np.ones(3)}, r"'y' has shape \(3,\); one value for each of the 2 rows"),
        ({"X": np.array([[1, 2], [3, np.nan]]), "y": np.ones(2)}, "column 'x2' has no value in data row 2"),
        (
            {"X": np.array([[1, 2], [np.inf, 3]]), "y": np.ones(2)},
            "column 'x1' has the infinite value inf in data row 2",
        ),
        ({"X": np.ones((2, 1)), "y": np.array([1, np.nan])}, "column 'y' has no value in data row 2"),
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
        ("1 1:2\n-1 1:nan\n", "column 'x1' has no value in data row 2"),
        ("1 1:2\n-1 3:inf\n", "column 'x3' has the infinite value inf in data row 2"),
        ("1 1:2\nnan 1:1\n", "column 'y' has no value in data row 2"),
        ("1 1:2\n-1 3:1e200\n", "column 'x3' has the value 1e.200 in data row 2"),
        ("1 2:1 1:2\n", "not in libsvm format"),
        ("yes 1:1\n", "not in libsvm format"),
        ("# nothing\n", "no rows"),
    ],
)
def test_libsvm_is_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        read_table(write(text, "data.libsvm"))


# ----------------------------------------------------------------------------------------------------
# Reading for prediction
# ----------------------------------------------------------------------------------------------------


def test_columns_come_as_they_are_wanted(write):
    wanted = {"b": "category", "a": "number", "t": "boolean"}
    path = write("a,t,label,b\n1,true,,7\n2,maybe,x,u\n")
    table = read_table(path, "label", columns=wanted)
    assert list(table.X.columns) == ["b", "a", "t"]
    assert table.X["b"].tolist() == ["7", "u"]
    assert table.X["t"].tolist() == [True, "maybe"]
    assert table.y is None
    assert table.kinds == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n", "the table lacks 'b'; the model needs exactly the columns it was fitted with: 'a', 'b'"),
        ("a,b,c\n1,u,2\n", "the table has the unexpected 'c'"),
        ("a,d,c\n1,u,2\n", "the table lacks 'b' and has the unexpected 'd', 'c'"),
        ("a,b\nx,u\n", "column 'a' must hold numbers, but data row 1 .* has 'x'"),
        ("a,b\n1,u\nTrue,u\n", "column 'a' must hold numbers .* data row 2 .* has 'True'"),
        ("a,b\n1,\n", "column 'b' has no value in data row 1"),
        ("a,b\n", "there are no rows"),
    ],
)
def test_columns_that_do_not_fit_the_model(write, text, message):
    with pytest.raises(DataError, match=message):
        read_table(write(text), "y", columns={"a": "number", "b": "category"})


def test_typed_columns_become_what_the_model_needs(parquet):
    path = parquet(a=["1", "2.5"], b=[1, 2], c=[0.5, 2.0], d=[True, False])
    table = read_table(path, columns={"a": "number", "b": "category", "c": "category", "d": "category"})
    assert table.X["a"].tolist() == [1.0, 2.5]
    assert table.X["b"].tolist() == ["1", "2"]
    assert table.X["c"].tolist() == ["0.5", "2"]
    assert table.X["d"].tolist() == ["True", "False"]
    with pytest.raises(DataError, match="column 'd' must hold numbers"):
        read_table(path, columns={"a": "number", "b": "number", "c": "number", "d": "number"})


def test_unnamed_columns_are_counted(tmp_path, write):
    wanted = {"x1": "number", "x2": "number", "x3": "number"}
    np.savez(tmp_path / "data.npz", X=np.eye(2))
    with pytest.raises(DataError, match="the table has 2 columns, but the model was fitted with 3"):
        read_table(tmp_path / "data.npz", columns=wanted)
    with pytest.raises(DataError, match="the columns have no names, but the model needs 'a', 'b'"):
        read_table(tmp_path / "data.npz", columns={"a": "number", "b": "number"})
    with pytest.raises(DataError, match="the table has 4 columns, but the model was fitted with 3"):
        read_table(write("0 4:1\n", "data.libsvm"), columns=wanted)
    assert read_table(write("0 2:1\n", "data.libsvm"), columns=wanted).X.toarray().tolist() == [[0, 1, 0]]


def test_libsvm_indices_begin_where_they_began_in_training(write):
    """A file without index 0 in its rows is still one that counts from 0, if the model says so."""
    wanted = {"x1": "number", "x2": "number", "x3": "number"}
    path = write("0 1:5\n", "data.libsvm")
    assert read_table(path, columns=wanted, zero_based=True).X.toarray().tolist() == [[0, 5, 0]]
    assert read_table(path, columns=wanted, zero_based=False).X.toarray().tolist() == [[5, 0, 0]]
    with pytest.raises(DataError, match="not in libsvm format"):
        read_table(write("0 0:5\n", "data.libsvm"), columns=wanted, zero_based=False)
