"""``svmpath select``."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from svmpath import ElasticNetSVC, trace_elastic


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 1] - 0.5 * X[:, 4] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    names = [f"c{k}" for k in range(6)]
    pd.DataFrame(X, columns=names).assign(y=y).to_csv("data.csv", index=False)
    return StandardScaler().fit_transform(pd.read_csv("data.csv")[names]), y


def selected(run, *arguments):
    code, out, err = run("select", "data.csv", "--target", "y", "--lambda2", "1", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_coefficients_are_those_of_the_estimator(run, rows):
    facts = selected(run, "-o", "features.csv")
    model = ElasticNetSVC(lambda2=1.0).fit(*rows)
    assert facts["lambda1"] == pytest.approx(model.lambda1_)
    assert facts["error"] == pytest.approx(model.held_out_error())
    table = pd.read_csv("features.csv").set_index("feature")
    np.testing.assert_allclose(table.loc[[f"c{k}" for k in range(6)], "coefficient"], model.coef_[0], atol=1e-9)
    assert facts["selected"] == (model.coef_ != 0).sum()
    assert (table.loc["c1", "sign"], table.loc["c4", "sign"]) == ("+", "-")


def test_features_come_in_the_order_in_which_they_enter(run, rows):
    X, y = rows
    table = pd.DataFrame(selected(run)["table"])
    entered = table.dropna(subset="order")
    assert entered["enters_at_lambda1"].is_monotonic_decreasing
    assert entered["order"].is_monotonic_increasing
    path = trace_elastic(X, np.where(y == "yes", 1, -1), lambda2=1.0, standardize=True)
    for row in entered.itertuples():
        k, at = int(row.feature[1:]), row.enters_at_lambda1
        assert path(min(1.001 * at, path.span[0])).coef[k] == 0
        assert path(0.9999 * at).coef[k] != 0


def test_what_a_sign_speaks_for_is_said(run, rows):
    code, out, _ = run("select", "data.csv", "--target", "y", "--lambda2", "1")
    assert code == 0
    assert "A coefficient > 0 speaks for 'yes', one < 0 for 'no'; columns are standardised.\n" in out


def test_equal_places_are_shared():
    from svmpath.cli.select import _turns

    assert _turns([3.0, 3.0, 2.0, 1.0, 1.0 - 1e-12, None, None]) == [1, 1, 3, 4, 4, None, None]
    assert _turns([]) == []


@pytest.mark.slow
def test_several_classes_have_a_machine_each(run):
    rng = np.random.default_rng(1)
    label = rng.choice(list("uvw"), 90)
    X = rng.normal(size=(90, 3)) + np.array([[3 * (each == name) for name in "uvw"] for each in label])
    pd.DataFrame(X, columns=list("abc")).assign(y=label).to_csv("data.csv", index=False)
    facts = selected(run)
    assert [row["class"] for row in facts["table"]] == ["u"] * 3 + ["v"] * 3 + ["w"] * 3
    largest = {row["class"]: row["feature"] for row in sorted(facts["table"], key=lambda row: abs(row["coefficient"]))}
    assert largest == {"u": "a", "v": "b", "w": "c"}
    code, out, _ = run("select", "data.csv", "--target", "y", "--lambda2", "1")
    assert code == 0
    assert "class" in out


@pytest.mark.slow
def test_fewer_features_if_asked(run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = np.where(X @ [1.0, 0.8, 0.7, 0.6, 0.5, 0.4] + 0.2 * rng.normal(size=120) > 0, "yes", "no")
    pd.DataFrame(X).add_prefix("c").assign(y=y).to_csv("data.csv", index=False)
    assert selected(run)["selected"] == 6
    fewer = selected(run, "--max-features", "5")["selected"]
    assert 0 < fewer <= 5
    code, out, _ = run("select", "data.csv", "--target", "y", "--lambda2", "1", "--max-features", "5")
    assert code == 0
    assert f"{fewer} of 6 features at lambda1 = " in out
    assert "Held-out error (5-fold): " in out
