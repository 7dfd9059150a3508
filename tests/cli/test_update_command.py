"""``svmpath update`` and ``svmpath forget`` against a fit of the changed rows."""

from pathlib import Path

import numpy as np
import pytest

from svmpath.cli.saved_model import read_model
from tests.cli.tables import FIXED, flats


@pytest.fixture
def ready(tune_once):
    flats().to_csv("data.csv", index=False)
    tune_once("data.csv", "--target", "sold", *FIXED)


def fresh(pipeline, Z, y):
    """A fit at the same hyper-parameters on prepared rows."""
    model = pipeline["model"]
    given = model.get_params() | {"kernel": model.kernel_, "gamma": None, "loss": model.path_.loss}
    return type(model)(**given).fit(Z, y)


@pytest.mark.usefixtures("ready")
def test_rows_are_added_and_forgotten(run):
    table, old = flats(), read_model(Path("model.skops"))
    columns = [name for name in old["columns"].feature_names_in_ if name in table]
    Z, y = old["columns"].transform(table[columns]), old["model"].classes_[old["model"]._held_out.labels]
    table.head(5).to_csv("new.csv", index=False)
    assert run("update", "model.skops", "new.csv", "-o", "more.skops")[0] == 0
    model = read_model(Path("more.skops"))["model"]
    expected = fresh(old, np.vstack([Z, Z[:5]]), np.concatenate([y, y[:5]]))
    np.testing.assert_allclose(model.decision_function(Z), expected.decision_function(Z), atol=1e-8)
    assert run("forget", "more.skops", "--rows", "2,4-5")[0] == 0  # in place
    model, rows = read_model(Path("more.skops"))["model"], np.delete(np.r_[: len(y), :5], [1, 3, 4])
    expected = fresh(old, Z[rows], y[rows])
    np.testing.assert_allclose(model.decision_function(Z), expected.decision_function(Z), atol=1e-8)


@pytest.mark.usefixtures("ready")
def test_what_cannot_be_changed_is_a_sentence(refused):
    before = Path("model.skops").read_bytes()
    assert "positions from 0" in refused("forget", "model.skops", "--rows", "100000")
    table = flats().head(3).assign(sold="perhaps")
    table.to_csv("new.csv", index=False)
    assert "does not know the label 'perhaps'" in refused("update", "model.skops", "new.csv")
    assert Path("model.skops").read_bytes() == before
