"""The table of everything that a search tried."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmpath import PathSVC, PathSVR
from tests.speed import first_quick

X, Y = make_moons(70, noise=0.3, random_state=0)
T = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=70)
THREE = np.digitize(X[:, 0], [0.0, 1.0])
COLUMNS = ["stage", "loss", "criterion", "rank", "gamma", "C", "score", "standard_error", "kept"]
FIRST = ["screen", "narrow"]
MODELS = {
    "two classes": (PathSVC(random_state=0), Y),
    "three classes": (PathSVC(random_state=0), THREE),
    "three classes at one C": (PathSVC(C=1.0, random_state=0), THREE),
    "numbers": (PathSVR(random_state=0), T),
    "numbers at one gamma": (PathSVR(gamma="scale", random_state=0), T),
    "values of epsilon": (PathSVR(loss="epsilon_insensitive", epsilon=[0.1, 0.2], C=[1.0, 10.0], gamma=1.0), T),
    "one standard error": (PathSVC(rule="one_se", scoring="squared", random_state=0), Y),
    "huber, one standard error": (PathSVC(loss="huber_hinge", rule="one_se", scoring="squared", cv=3), Y),
    "hinge": (PathSVC(loss="hinge", C=[0.1, 1.0, 10.0], gamma=[0.3, 1.0, 3.0]), Y),
    "linear": (PathSVC(kernel="linear", random_state=0), Y),
    "linear, one standard error": (PathSVC(kernel="linear", rule="one_se", random_state=0), Y),
    "a pair": (PathSVC(C=1.0, gamma=1.0), Y),
    "a grid": (PathSVC(C=[0.1, 1.0], gamma=[0.5, 2.0], search="grid"), Y),
    "a grid of C": (PathSVC(C=[0.1, 1.0], kernel="linear", search="grid"), Y),
    "easy classes that all losses separate": (PathSVC(random_state=0), np.where(X[:, 1] > 0.3, 1, 0)),
}


@first_quick(5)
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")
@pytest.mark.parametrize("name", MODELS)
def test_columns_stages_and_the_pair_chosen(name):
    model, y = MODELS[name]
    model = model.fit(X, y)
    table = model.search_table_
    own = {"values of epsilon": ["epsilon"], "huber, one standard error": ["h"]}.get(name, [])
    assert table.columns.tolist() == [*COLUMNS, *own]
    last = table[~table.stage.isin(FIRST)]
    (chosen,) = last[last.kept].to_dict("records")
    assert chosen["C"] == pytest.approx(model.C_)
    assert chosen["loss"] == model.loss_
    assert chosen["rank"] == model.rank_
    assert all(chosen[each] == getattr(model, f"{each}_") for each in own)
    assert chosen["score"] == pytest.approx(model.choice_.score)
    if "linear" in name or "a grid of C" in name or "one gamma" in name or name in ("a pair", "values of epsilon"):
        assert table.gamma.isna().all()
    else:
        assert chosen["gamma"] == pytest.approx(model.gamma_)
    order = ["screen", "narrow", "confirm", "rank", "compare", "grid"]
    places = [order.index(stage) for stage in table.stage]
    assert places == sorted(places)
    assert np.isfinite(table[["C", "score", "standard_error"]]).all(axis=None)
    if model.rule == "min" and "compare" not in set(table.stage):
        assert chosen["score"] == pytest.approx(last.score.min())


def test_gammas_that_are_kept_are_those_of_later_stages():
    table = PathSVC(random_state=0).fit(X, Y).search_table_
    screen, confirm = table[table.stage == "screen"], table[table.stage == "confirm"]
    assert set(screen[screen.kept].gamma) <= set(confirm.gamma)
    assert 0 < screen[screen.kept].gamma.nunique() < screen.gamma.nunique()


@first_quick(1)
@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"C": 2.0}], ids=repr)
def test_the_pair_that_a_descent_ends_at(options):
    model = PathSVC(search="gradient", random_state=0, **options).fit(X, Y)
    table = model.search_table_.query("stage == 'gradient'")
    (chosen,) = table[table.kept].to_dict("records")
    assert chosen["C"] == pytest.approx(model.C_, rel=1e-5)
    assert "kernel" in options or chosen["gamma"] == pytest.approx(model.gamma_, rel=1e-5)


def test_values_of_C_much_below_one_are_told_apart():
    model = PathSVC(C=[1e-12, 1e-11, 1e-10], gamma=1.0).fit(X, Y)
    last = model.search_table_.query("stage == 'confirm'")
    assert last[last.kept].C.tolist() == [model.C_]


def test_values_of_epsilon_are_told_apart():
    table = PathSVR(loss="epsilon_insensitive", epsilon=[0.1, 0.2], C=[1.0, 10.0], gamma=1.0).fit(X, T).search_table_
    assert table[table.stage == "screen"].epsilon.isna().all()
    assert set(table[table.stage != "screen"].epsilon) == {0.1, 0.2}


@pytest.mark.parametrize("seed", [0, 1])
def test_one_gamma_per_feature_is_no_number_of_a_point(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    y = np.sign(rows[:, 0] + 0.3 * seed * rows[:, 1] + 0.3 * rng.normal(size=60))
    model = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(rows, y)
    table = model.search_table_
    assert table.columns.tolist() == [*COLUMNS, "eta"]
    points = table[table.stage == "ard"]
    assert points.gamma.isna().all()
    (chosen,) = points[points.kept].C
    assert chosen == pytest.approx(model.C_)
    penalty = table[table.stage == "penalty"]
    assert penalty[["gamma", "C"]].isna().all(axis=None)
    assert penalty[penalty.kept].score.tolist() == [penalty.score.min()]
    assert table[table.stage != "penalty"].eta.isna().all()
    visited = table[table.stage == "gradient"].gamma.to_numpy()
    assert all(np.isclose(gamma, visited).any() for gamma in table[table.stage == "screen"].query("kept").gamma)
