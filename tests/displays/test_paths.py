"""PathDisplay and ElbowDisplay: what is drawn are the path's numbers."""

from itertools import pairwise

import numpy as np
import pytest

import svmpath
from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.displays import ElbowDisplay, PathDisplay
from tests.displays.machines import PATHS, REGRESSION, data, path
from tests.speed import first_quick


def slopes(machine):
    """alpha in units in which the box of a loss with an elbow ends at the weight."""
    if machine.loss.name == "nu":
        return machine.alpha * machine.rho
    return machine.alpha / machine.parameters.get("C", 1.0)


@first_quick(5)
@pytest.mark.parametrize("name", PATHS)
def test_multipliers_are_those_of_the_machines(name):
    p = path(name)
    low, high = sorted(p.span)
    values = np.linspace(low, high, 7)
    display = PathDisplay.from_path(p, values, what="multipliers")
    table = display.table()
    assert table.shape == (7, p.problem.n)
    assert table.index.name == p.over
    np.testing.assert_array_equal(table.index, values)
    for k in (0, 3, 6):
        np.testing.assert_allclose(table.iloc[k], slopes(p(values[k])), atol=1e-12)
    drawn = np.array([line.get_ydata() for line in display.lines_])
    order = np.argsort(-np.abs(table.to_numpy()).max(axis=0), kind="stable")
    np.testing.assert_array_equal(drawn, table.to_numpy().T[order])
    np.testing.assert_array_equal(np.sort(display.breakpoints_.get_xdata()), np.sort(p.breakpoints))
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlabel() == p.over


@first_quick(1)
@pytest.mark.parametrize("name", ["elastic_hinge", "elastic_hinge/lambda2", "squared_hinge/linear"])
def test_coefficients_make_the_decision_values(name):
    p, (X, _) = path(name), data()
    display = PathDisplay.from_path(p, names=["age", "_dose $x"])
    assert display.what == "coefficients"
    for k in (0, 20, -1):
        machine = p(display.values[k])
        np.testing.assert_allclose(X @ display.lines[k] + machine.b, machine.fitted, atol=1e-7)
    assert set(p.breakpoints) <= set(display.values) or len(p.breakpoints) > 100
    display.figure_.canvas.draw()  # names are text: a dollar begins no mathematics, an underscore hides no line
    shown = [text.get_text().replace("\u200b", "") for text in display.ax_.get_legend().get_texts()]
    assert sorted(shown) == sorted(["age", r"_dose \$x"])


@pytest.mark.parametrize(
    ("name", "scale"),
    [("hinge", "log"), ("hinge/weight", "linear"), ("epsilon_insensitive/epsilon", "linear"), ("hinge/gamma", "log")],
)
def test_the_axis_is_that_of_the_search(name, scale):
    display = PathDisplay.from_path(path(name), np.linspace(*sorted(path(name).span), 4)[1:])
    assert display.ax_.get_xscale() == scale


def test_few_lines_of_many():
    display = PathDisplay.from_path(path("hinge"), [0.2, 1.0, 50.0], most=5, linewidth=3.0)
    assert len(display.lines_) == 5
    assert display.table().shape == (3, 40)
    assert "(5 of 40)" in display.ax_.get_ylabel()
    assert display.lines_[0].get_linewidth() == 3.0


def test_colours_are_those_of_the_style():
    from matplotlib import pyplot

    with pyplot.rc_context({"axes.prop_cycle": pyplot.cycler(color=["#010203", "#040506"]), "text.color": "#070809"}):
        display = PathDisplay.from_path(path("hinge"), [0.2, 1.0], chosen=0.5)
        assert {line.get_color() for line in display.lines_} == {"#010203", "#040506"}
        assert display.choice_line_.get_color() == "#070809"
        assert display.choice_line_.get_xdata()[0] == 0.5


def test_given_axes_are_used():
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, 2)
    assert PathDisplay.from_path(path("hinge"), [0.2, 1.0], ax=axes[1]).ax_ is axes[1]
    assert ElbowDisplay.from_path(path("hinge"), [0.2, 1.0], ax=axes[0]).ax_ is axes[0]
    assert len(pyplot.get_fignums()) == 1


def test_of_estimators():
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=["<b>age</b>", "dose"])
    model = ElasticNetSVC(lambda2=1.0, cv=3).fit(frame, y)
    display = PathDisplay.from_estimator(model)
    assert display.names == ["<b>age</b>", "dose"]
    assert display.chosen == model.lambda1_
    np.testing.assert_allclose(PathDisplay.from_estimator(model, [model.lambda1_]).lines[0], model.coef_[0], atol=1e-9)
    model = PathSVC(loss="hinge", gamma=1.0, C=[0.1, 1.0]).fit(frame, y)
    display = PathDisplay.from_estimator(model, [model.C_])
    np.testing.assert_allclose(display.lines[0][model.support_] * model.C_, model.dual_coef_[0], atol=1e-9)
    assert list(display.classes) == ["no", "yes"]
    classes = np.where(X[:, 1] > 1, "c", y)
    several = PathSVC(loss="hinge", gamma=1.0, C=[0.1, 1.0]).fit(X, classes)
    shown = PathDisplay.from_estimator(several, [1.0]).ax_.get_legend().get_texts()
    assert {text.get_text() for text in shown} == {"the rest", "c"}


def test_what_paths_refuse():
    p = path("hinge")
    with pytest.raises(ValueError, match="no coefficients of features; use what='multipliers'"):
        PathDisplay.from_path(p, what="coefficients")
    with pytest.raises(ValueError, match="what must be one of 'coefficients', 'multipliers'; got 'multiplier'"):
        PathDisplay.from_path(p, what="multiplier")
    with pytest.raises(ValueError, match="one name for each of the 40 multipliers, got 2"):
        PathDisplay.from_path(p, [1.0], names=["a", "b"])
    with pytest.raises(ValueError, match="outside the span"):
        PathDisplay.from_path(p, [1e5])
    with pytest.raises(TypeError, match=r"PathDisplay.from_path needs a path, such as svmpath.trace\(X, y\) returns"):
        PathDisplay.from_path(PathSVC())


# --- elbows ----------------------------------------------------------------------------------------------------------

ELBOWS = [name for name in PATHS if not name.startswith("least_squares")]


@first_quick(5)
@pytest.mark.parametrize("name", ELBOWS)
def test_counts_are_those_of_the_machines(name):
    p = path(name)
    few = None if name == "hinge" else np.linspace(*sorted(p.span), 5)[1:]
    display = ElbowDisplay.from_path(p, few)
    table = display.table()
    for value, support in zip(table[p.over], table["support_vectors"], strict=True):
        assert support == np.count_nonzero(p(value).alpha)
    heights, edges, _ = display.support_.get_data()
    np.testing.assert_array_equal(heights, table["support_vectors"])
    np.testing.assert_array_equal(edges[:-1], table["low"])
    np.testing.assert_array_equal(edges[1:], table["high"])
    assert np.all((table["low"] <= table[p.over]) & (table[p.over] <= table["high"]))
    if name.startswith("squared_hinge"):  # a loss without an elbow
        assert display.elbow_ is None
        assert "elbow" not in table
    else:
        np.testing.assert_array_equal(display.elbow_.get_data()[0], table["elbow"])


@pytest.mark.parametrize("name", ["hinge", "nu", "hinge/gamma", "hinge/down"])
def test_the_elbow_is_where_margins_are_one(name):
    p = path(name)
    values = np.linspace(*sorted(p.span), 9)[1:-1]
    table = ElbowDisplay.from_path(p, values).table()
    margins = [np.abs(p.problem.y * p(value).fitted - 1.0) < 1e-7 for value in values]
    np.testing.assert_array_equal(table["elbow"], np.count_nonzero(margins, axis=1))


@pytest.mark.parametrize("name", ["hinge", "elastic_hinge"])
def test_steps_are_exact(name):
    """Between two edges, wherever that is, the numbers are the same; at an edge there is an event."""
    p = path(name)
    display = ElbowDisplay.from_path(p)
    np.testing.assert_array_equal(display.edges, np.sort(p.breakpoints))
    rng = np.random.default_rng(1)
    for k in range(0, len(display.support), 7):
        low, high = display.edges[k : k + 2]
        inside = low + (high - low) * rng.uniform(0.05, 0.95)
        assert len(p(inside).support) == display.support[k]


def test_the_slope_of_the_huberised_hinge():
    p = path("huber_hinge")
    table = ElbowDisplay.from_path(p, [0.1, 1.0, 10.0]).table()
    u = np.array([1 - p.problem.y * p(value).fitted for value in (0.1, 1.0, 10.0)])
    np.testing.assert_array_equal(table["elbow"], np.count_nonzero((u > 1e-9) & (u < 0.3 - 1e-9), axis=1))


def test_weights_move_the_limit():
    X, y = data()
    s = np.where(np.arange(40) % 4 == 0, 0.0, 1.0 + np.arange(40) % 3)
    p = svmpath.trace(X, y, loss="hinge", span=(0.1, 10.0), sample_weight=s)
    table = ElbowDisplay.from_path(p, [0.5, 2.0]).table()
    on = [(np.abs(p.problem.y * p(value).fitted - 1.0) < 1e-7) & (s > 0) for value in (0.5, 2.0)]
    np.testing.assert_array_equal(table["elbow"], np.count_nonzero(on, axis=1))


def test_elbows_of_estimators():
    X, y = data()
    model = PathSVC(loss="hinge", gamma=1.0, C=[0.1, 1.0, 10.0]).fit(X, y)
    display = ElbowDisplay.from_estimator(model)
    assert display.choice_line_.get_xdata()[0] == model.C_
    with pytest.raises(ValueError, match="least squares loss has no elbow"):
        ElbowDisplay.from_estimator(PathSVR(gamma=1.0, C=[1.0, 2.0]).fit(X, X[:, 0]))
    with pytest.raises(ValueError, match="at least two values"):
        ElbowDisplay.from_path(path("hinge"), [1.0])
    with pytest.raises(ValueError, match="single value"):
        ElbowDisplay.from_estimator(PathSVC(loss="hinge", gamma=1.0, C=1.0).fit(X, y))


@pytest.mark.parametrize("name", REGRESSION)
def test_the_tube_of_a_regression(name):
    p = path(name)
    values = np.linspace(*sorted(p.span), 5)[1:-1]
    table = ElbowDisplay.from_path(p, values).table()
    widths = [p(value).parameters.get("epsilon", 0.0) for value in values]
    on = [np.abs(np.abs(p.problem.y - p(v).fitted) - e) < 1e-7 for v, e in zip(values, widths, strict=True)]
    np.testing.assert_array_equal(table["elbow"], np.count_nonzero(on, axis=1))


def test_labels_of_a_short_axis_do_not_overlap():
    display = PathDisplay.from_path(path("nu"), np.linspace(0.2, 0.6, 5))
    display.figure_.canvas.draw()
    for labels in (display.ax_.get_xticklabels(), display.ax_.get_xticklabels(minor=True)):
        boxes = [label.get_window_extent() for label in labels if label.get_text()]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert "0.5" in [label.get_text() for label in display.ax_.get_xticklabels()]
