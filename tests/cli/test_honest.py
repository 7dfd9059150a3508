"""``svmpath tune`` shows what error to expect on new rows, and how it was estimated."""

import numpy as np
import pytest

from tests.cli.tables import FIXED, GOOD, csv, flats, load


@pytest.fixture
def nested(monkeypatch):
    """The limits of the rule in proportion to the 40 rows of the tests."""

    def limits(few, very_few):
        monkeypatch.setattr("svmpath.cli.honest._FEW", few)
        monkeypatch.setattr("svmpath.cli.honest._VERY_FEW", very_few)

    return limits


def test_few_rows_are_tuned_again_and_many_are_corrected(tune, nested):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold")
    nested(40, 39)
    out, _, summary = tune(*arguments)
    honest, held_out = summary["honest"], summary["held_out"]
    assert (honest["method"], honest["fits"]) == ("nested", 10)
    model = load()["model"]
    assert honest["value"] == model.nested_error().value  # kept in the file
    assert honest["interval"] == list(model.nested_error().interval)
    assert held_out["interval"] == list(model.held_out_interval())
    assert f"{100 * honest['value']:.2f} % (nested cross-validation, 10 fits)" in out
    low, high = held_out["interval"]
    assert f"95 % interval: {100 * low:.2f} to {100 * high:.2f} %" in out
    assert "Honest error: of tuning and fitting together, so what to expect on new rows." in out
    nested(39, 39)
    out, _, summary = tune(*arguments)
    assert (summary["honest"]["method"], summary["honest"]["fits"]) == ("bootstrap", 0)
    assert summary["honest"]["value"] == pytest.approx(load()["model"].nested_error("bootstrap").value)
    assert "held-out error, corrected by the bootstrap" in out


@pytest.mark.slow
@pytest.mark.parametrize("slow", [("--search", "grid"), pytest.param(("--loss", "hinge"), marks=pytest.mark.slow)])
def test_slow_fits_are_repeated_for_fewer_rows_only(tune, nested, slow):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    nested(40, 39)
    assert tune("data.csv", "--target", "sold", "--gamma", "0.1", *slow)[2]["honest"]["method"] == "bootstrap"
    nested(0, 40)
    assert tune("data.csv", "--target", "sold", *FIXED, *slow)[2]["honest"]["method"] == "nested"


@pytest.mark.slow
def test_the_method_can_be_said(tune, refused):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", *FIXED)
    assert tune(*arguments, "--honest", "nested")[2]["honest"]["method"] == "nested"
    assert tune(*arguments, "--honest", "bootstrap")[2]["honest"]["method"] == "bootstrap"
    out, _, summary = tune(*arguments, "--honest", "none")
    assert summary["honest"] is None
    assert "Honest error" not in out
    message = refused("tune", *arguments, "--honest", "nest")
    assert (
        "--honest must be one of 'auto', 'nested', 'bootstrap', 'none'; got 'nest'. Did you mean 'nested'?" in message
    )


@pytest.mark.slow
def test_where_auto_has_no_cheap_estimate_there_is_none(tune, refused):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", "--search", "gradient")
    assert tune(*arguments)[2]["honest"] is None
    assert "use --honest nested" in refused("tune", *arguments, "--honest", "bootstrap")


@pytest.mark.slow
def test_a_regression_shows_roots(tune):
    table = flats().drop(columns="sold")
    table.to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "price", "--honest", "nested")
    honest = summary["honest"]
    assert honest["root_mean_squared_error"] == pytest.approx(honest["value"] ** 0.5)
    assert f"{honest['root_mean_squared_error']:.6g} (nested cross-validation, 10 fits)" in out
    low, high = np.sqrt(summary["held_out"]["interval"])
    assert f"95 % interval: {low:.6g} to {high:.6g}" in out
    assert f"{np.std(table['price']):.6g} (mean of the target)" in out


def test_the_baseline_is_the_most_frequent_class(tune):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    assert "50.00 % (most frequent class)" in tune("data.csv", "--target", "sold", *FIXED)[0]


def test_no_optimism_is_said_in_the_table_the_summary_and_the_report(tune, monkeypatch):
    monkeypatch.setattr("svmpath.estimators.honest.bootstrap_error", lambda *_, **__: 0.0)
    out, _, facts = tune(*csv(GOOD), "--C", "0.1,1", "--gamma", "1", "--honest", "bootstrap")
    assert facts["honest"]["value"] == facts["held_out"]["value"]
    assert facts["honest"]["has_optimism"] is False
    assert "the bootstrap found no" in out
