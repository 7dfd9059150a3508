"""``svmpath predict``: what it notes and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from svmpath.datasets import twonorm
from tests.cli.tables import FIXED, GOOD, csv, flats, load


def test_unseen_categories_are_noted(tune, run):
    table = flats()
    table.to_csv("data.csv", index=False)
    tune("data.csv", "--target", "sold", *FIXED)
    table.loc[[1, 4], "town"] = "Paris"
    table["lift"] = table["lift"].astype(object)
    table.loc[2, "lift"] = "broken"
    table.to_csv("new.csv", index=False)
    code, _, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert code == 0
    assert "Note: new.csv: column 'town' has categories in 2 of 40 rows that were not in the training data" in err
    assert "column 'lift' has categories in 1 of 40 rows" in err
    assert "'Paris'" in err
    assert len(pd.read_csv("out.csv")) == 40


REFUSED_NEW = {
    "missing column": ("a\n1\n", "new.csv: the table lacks 'b'"),
    "text where numbers are due": ("a,b\n1,u\nx,v\n", "column 'a' must hold numbers (such as '1' in data row 1), but"),
    "only text where numbers are due": ("a,b\nx,u\n", "column 'a' must hold numbers, but data row 1"),
    "no rows": ("a,b\n", "there are no rows"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", REFUSED_NEW)
@pytest.mark.usefixtures("fitted")
def test_predict_refuses_data(refused, case):
    text, sentence = REFUSED_NEW[case]
    with open("new.csv", "w", encoding="utf-8") as file:
        file.write(text)
    assert sentence in refused("predict", "model.skops", "new.csv", "-o", "out.csv")


@pytest.mark.usefixtures("fitted")
def test_predict_refuses_files(refused):
    assert "none.csv: there is no file" in refused("predict", "model.skops", "none.csv", "-o", "out.csv")
    assert "there is no model file 'none.skops'" in refused("predict", "none.skops", "data.csv", "-o", "out.csv")
    assert "this is a folder" in refused("predict", ".", "data.csv", "-o", "out.csv")
    assert "would overwrite an input file" in refused("predict", "model.skops", "data.csv", "-o", "data.csv")
    assert "would overwrite" in refused("predict", "model.skops", "data.csv", "-o", "model.skops")
    assert "there is no folder 'none'" in refused("predict", "model.skops", "data.csv", "-o", "none/out.csv")
    assert "'.' is a folder" in refused("predict", "model.skops", "data.csv", "-o", ".")
    assert "'/dev/null' is not a regular file" in refused("predict", "model.skops", "data.csv", "-o", "/dev/null")


@pytest.mark.usefixtures("fitted")
def test_predict_counts_columns_without_names(refused, tune):
    np.savez("new.npz", X=np.eye(3))
    assert "have no names, but the model needs 'a', 'b'" in refused(
        "predict", "model.skops", "new.npz", "-o", "out.csv"
    )
    X, y = twonorm(30, 0)
    np.savez("data.npz", X=X, y=y)
    tune("data.npz", *FIXED)
    assert "has 3 columns, but the model was fitted with 20" in refused(
        "predict", "model.skops", "new.npz", "-o", "out.csv"
    )
    dump_svmlight_file(np.ones((2, 21)), [0, 0], "new.libsvm", zero_based=False)
    assert "has 21 columns, but the model was fitted with 20" in refused(
        "predict", "model.skops", "new.libsvm", "-o", "out.csv"
    )


@pytest.mark.usefixtures("fitted")
def test_other_columns_and_missing_cells_are_noted(run):
    with open("new.csv", "w", encoding="utf-8") as file:
        file.write("c,b,a,y\n1,u,,0\n2,,4,0\n")
    code, _, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert code == 0
    assert err.splitlines() == [
        "Note: new.csv: the model does not use the column 'c'.",
        "Note: new.csv: 2 missing values filled in as learnt from the training data.",
    ]
    assert len(pd.read_csv("out.csv")) == 2


@pytest.mark.slow
def test_a_word_for_missing_is_the_same_to_pandas_and_to_the_command_line(tune, run):
    rows = "\n".join(f"{word},{label}" for word, label in [("None", "a"), ("gas", "b"), ("oil", "a")] * 8)
    csv("fuel,y\n" + rows + "\n")
    tune("data.csv", "--target", "y", *FIXED)
    model = load()
    for options in ({}, {"keep_default_na": False}):
        assert model.predict(pd.read_csv("data.csv", **options))[:3].tolist() == ["a", "b", "a"]
    run("predict", "model.skops", "data.csv", "-o", "out.csv")
    assert pd.read_csv("out.csv")["prediction"][:3].tolist() == ["a", "b", "a"]


def test_missing_values_are_refused_if_you_say_so(tune, refused):
    tune(*csv(GOOD), *FIXED, "--impute", "none")
    with open("new.csv", "w", encoding="utf-8") as file:
        file.write("a,b\n1,u\n,v\n")
    sentence = refused("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert "new.csv: column 'a' has no value in data row 2" in sentence
    with pytest.raises(ValueError, match=r"Column 'a' has no value in row 2; .*--impute auto"):
        load().predict(pd.read_csv("new.csv"))


def test_a_dash_is_no_file_to_write(fitted, refused):
    assert "--output must be a csv file, but '-' stands for a stream" in refused(
        "predict", "model.skops", "data.csv", "-o", "-"
    )


def test_data_in_place_of_the_model_is_answered_with_the_order(tune, refused):
    tune(*csv(GOOD), *FIXED)
    assert "data.csv: the file is damaged or not a model written by svmpath tune; give MODEL first" in refused(
        "predict", "data.csv", "model.skops", "-o", "new.csv"
    )
