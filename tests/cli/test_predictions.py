"""``svmpath predict --proba`` and ``--interval``, against the estimators."""

import numpy as np
import pandas as pd
import pytest

from tests.cli.tables import flats, load


@pytest.fixture
def new():
    table = flats(15, seed=1)
    table[["lift", "area", "town"]].to_csv("new.csv", index=False)
    return table


def predicted(run, *arguments):
    code, out, err = run("predict", "model.skops", "new.csv", *arguments, "-o", "out.csv")
    assert code == 0, err
    assert "Wrote 15 predictions to out.csv." in out
    return pd.read_csv("out.csv", keep_default_na=False)


def test_a_column_per_class(tune, run, new):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    tune("data.csv", "--target", "sold", "--C", "1")
    table, model = predicted(run, "--proba"), load()
    assert list(table.columns) == ["prediction", "probability_cheap", "probability_dear"]
    probabilities = table.iloc[:, 1:].to_numpy(dtype=float)
    np.testing.assert_allclose(probabilities, model.predict_proba(new))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert table["prediction"].tolist() == model.predict(new).tolist()


def test_the_set_of_labels(tune, run, new):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    tune("data.csv", "--target", "sold", "--C", "1")
    table, model = predicted(run, "--interval", "0.95"), load()
    is_in = model["model"].predict_set(model[:-1].transform(new), coverage=0.95)
    assert list(table.columns) == ["prediction", "set"]
    sets = [tuple(text.split("|")) if text else () for text in table["set"]]
    assert sets == [tuple(np.array(["cheap", "dear"])[row]) for row in is_in]


@pytest.mark.parametrize("loss", ["least_squares", pytest.param("epsilon_insensitive", marks=pytest.mark.slow)])
def test_the_ends_of_an_interval(tune, run, new, loss):
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    tune("data.csv", "--target", "price", "--loss", loss, "--C", "1000", "--gamma", "0.1")
    table, model = predicted(run, "--interval", "0.8"), load()
    ends = model["model"].predict_interval(model[:-1].transform(new), coverage=0.8)
    assert list(table.columns) == ["prediction", "lower", "upper"]
    np.testing.assert_allclose(table[["lower", "upper"]], ends)
    assert (table["lower"] < table["prediction"]).all()
    assert (table["prediction"] < table["upper"]).all()
