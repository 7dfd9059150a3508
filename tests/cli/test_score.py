"""``svmpath predict``: columns that are kept, rows on the terminal, scores; ``svmpath export``."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from svmpath.datasets import banana


@pytest.fixture
def model(run):
    X, y = banana(160, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(y > 0, "yes", "no"), id=[f"r{k}" for k in range(160)])
    frame[:80].to_csv("data.csv", index=False)
    frame[80:].to_csv("new.csv", index=False)
    code, _, err = run("tune", "data.csv", "--target", "y", "--drop", "id", "--C", "1,10", "--gamma", "1", "-q")
    assert code == 0, err
    return frame[80:]


def test_columns_are_kept(run, model):
    assert run("predict", "model.skops", "new.csv", "--keep", "id,y", "-o", "out.csv")[0] == 0
    table = pd.read_csv("out.csv")
    assert list(table.columns) == ["id", "y", "prediction"]
    assert table["id"].tolist() == model["id"].tolist()
    assert run("predict", "model.skops", "new.csv", "--keep", "all", "-o", "out.csv")[0] == 0
    assert list(pd.read_csv("out.csv").columns) == ["a", "b", "y", "id", "prediction"]
    code, _, err = run("predict", "model.skops", "new.csv", "--keep", "idd", "-o", "out.csv")
    assert code == 2
    assert "has no column 'idd'" in err


def test_first_rows_are_printed(run, model):
    code, out, _ = run("predict", "model.skops", "new.csv")
    assert code == 0
    assert "The first 10 of 80 rows" in " ".join(out.split())


def test_score(run, model):
    code, out, err = run("predict", "model.skops", "new.csv", "--score", "--json", "-o", "out.csv")
    assert code == 0, err
    score = json.loads(out)["score"]
    wrong = pd.read_csv("out.csv")["prediction"].to_numpy() != model["y"].to_numpy()
    assert score["value"] == pytest.approx(wrong.mean())
    for row in score["recall"]:
        of_class = model["y"].to_numpy() == row["label"]
        assert row["recall"] == pytest.approx(1 - wrong[of_class].mean())
    assert score["verdict"] == "as expected"
    model.assign(y=np.where(model["y"] == "yes", "no", "yes")).to_csv("turned.csv", index=False)
    code, out, _ = run("predict", "model.skops", "turned.csv", "--score", "--json")
    assert json.loads(out)["score"]["verdict"] == "worse than expected"
    model.drop(columns="y").to_csv("bare.csv", index=False)
    code, _, err = run("predict", "model.skops", "bare.csv", "--score")
    assert (code, "has no column 'y', the target" in err) == (2, True)


def test_export(run, model):
    assert run("predict", "model.skops", "new.csv", "--proba", "-o", "out.csv")[0] == 0
    code, _, err = run("export", "model.skops", "model.onnx")
    assert code == 0, err
    session = onnxruntime.InferenceSession("model.onnx")
    inputs = {each.name: model[[each.name]].to_numpy() for each in session.get_inputs()}
    (p,) = session.run(["probabilities"], inputs)
    np.testing.assert_allclose(p[:, 1], pd.read_csv("out.csv")["probability_yes"], atol=1e-10)
