"""CurveDisplay, SurfaceDisplay and MarginDisplay: what is drawn are the scores, and the margins."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import ElasticNetSVC, PathSVC, PathSVR, criteria
from svmpath.datasets import twonorm
from svmpath.displays import CurveDisplay, MarginDisplay, SurfaceDisplay
from tests.displays.machines import PATHS, REGRESSION, data, path
from tests.speed import first_quick

CRITERION = {"huber_hinge": "kfold", "nu": "kfold", "hinge/weight": "kfold"}


@first_quick(8)
@pytest.mark.parametrize("name", PATHS)
def test_scores_of_every_loss(name):
    p = path(name)
    values = np.linspace(*sorted(p.span), 5)[1:4]
    criterion = CRITERION.get(name, "kfold" if name.startswith("elastic") else "loo")
    display = CurveDisplay.from_path(p, criterion, values, cv=3)
    (curve,) = display.curves.values()
    table, line = display.table(), display.lines_[criterion]
    np.testing.assert_array_equal(line.get_xdata(), values)
    np.testing.assert_array_equal(line.get_ydata(), curve.scores)
    np.testing.assert_array_equal(table["score"], curve.scores)
    np.testing.assert_array_equal(table["standard_error"], curve.standard_errors)
    best = int(np.flatnonzero(table["chosen"])[0])
    assert curve.scores[best] == pytest.approx(curve.scores.min())
    np.testing.assert_array_equal(display.choices_[criterion].get_xydata(), [[values[best], curve.scores[best]]])
    label = "mean squared held-out error" if name in REGRESSION else "held-out error rate"
    assert display.ax_.get_ylabel() == ("held-out pinball loss" if name.startswith("pinball") else label)


def test_several_criteria_with_errors_and_doubts():
    p, values = path("hinge"), np.geomspace(0.2, 50.0, 6)
    curves = {"exact": criteria.loo(p, values), "<predicted>": criteria.span(p, values)}
    display = CurveDisplay.from_curve(curves)
    assert list(display.lines_) == ["exact", "<predicted>"]
    for name, curve in curves.items():
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), curve.scores)
        ends = display.bands_[name].get_paths()[0].vertices
        for x, y, spread in zip(values, curve.scores, curve.standard_errors, strict=True):
            for end in (y - spread, y + spread):
                assert np.isclose(ends, (x, end)).all(axis=1).any()
    unreliable = curves["<predicted>"].unreliable > 0
    assert unreliable.any()
    np.testing.assert_array_equal(display.unreliable_["<predicted>"].get_xdata(), values[unreliable])
    assert "exact" not in display.unreliable_


def test_doubts_of_a_screened_curve_are_not_counted_for_a_picture():
    X, y = twonorm(120, 0)
    path, values = svmpath.trace(X, y, rank=10, landmarks="uniform"), np.geomspace(0.01, 10, 4)
    held = criteria.predict_left_out(path, values, screen=True)
    curve = held.curve(path, "span", values, None)
    display = CurveDisplay.from_curve(curve)
    assert not display.table()["unreliable"].any()
    assert "unreliable" not in vars(curve)
    assert curve.unreliable.any()  # asked for, they are counted, and then shown
    np.testing.assert_array_equal(CurveDisplay.from_curve(curve).table()["unreliable"], curve.unreliable)
    assert not display.plot(errors=False).bands_


def test_the_same_criterion_twice():
    p, values = path("hinge"), [0.5, 5.0]
    display = CurveDisplay.from_curve([criteria.loo(p, values), criteria.loo(p, values, loss="squared")])
    assert list(display.curves) == ["loo", "loo (2)"]
    assert display.ax_.get_ylabel() == "held-out score"


def test_steps_between_edges():
    p = path("hinge")
    curve = criteria.loo(p, exact=True)
    x, y = CurveDisplay.from_curve(curve).lines_["loo"].get_data()
    np.testing.assert_array_equal(x[::2], curve.edges[:-1])
    np.testing.assert_array_equal(x[1::2], curve.edges[1:])
    np.testing.assert_array_equal(y[::2], curve.scores)
    np.testing.assert_array_equal(y[1::2], curve.scores)


def test_a_bound_has_no_errors():
    curve = criteria.radius_margin(path("squared_hinge"), [0.1, 1.0, 10.0])
    display = CurveDisplay.from_curve(curve)
    assert not display.bands_
    np.testing.assert_array_equal(display.lines_["radius_margin"].get_ydata(), curve.scores)
    with pytest.raises(ValueError, match="without held-out decision values"):
        MarginDisplay.from_curve(curve)


def test_values_in_any_order():
    curve = criteria.loo(path("hinge"), [5.0, 0.5, 50.0])
    x, y = CurveDisplay.from_curve(curve).lines_["loo"].get_data()
    np.testing.assert_array_equal(x, [0.5, 5.0, 50.0])
    np.testing.assert_array_equal(y, curve.scores[[1, 0, 2]])


def test_the_choice_of_an_estimator():
    X, y = data()
    model = PathSVC(loss="least_squares", gamma=1.0, C=[0.1, 1.0, 10.0], rule="one_se").fit(X, y)
    display = CurveDisplay.from_estimator(model)
    assert display.choices_["loo"].get_xdata()[0] == model.C_
    assert display.table().loc[lambda t: t["chosen"], "C"].tolist() == [model.C_]
    curve = criteria.loo(path("least_squares"), [0.1, 1.0, 10.0])
    chosen = svmpath.select(curve, "one_se").value
    display = CurveDisplay.from_curve(curve, rule="one_se")
    assert display.choices_["loo"].get_xdata()[0] == chosen


def test_what_curves_refuse():
    loo = criteria.loo(path("least_squares"), [1.0, 2.0])
    over_gamma = criteria.loo(path("least_squares/gamma"), [1.0, 2.0])
    with pytest.raises(ValueError, match="must be over one parameter to share an axis, but they are over C and gamma"):
        CurveDisplay.from_curve([loo, over_gamma])
    for nothing in ([], {}, "loo", path("hinge")):
        with pytest.raises(TypeError, match=r"needs a curve, such as criteria.loo\(path, values\) returns"):
            CurveDisplay.from_curve(nothing)
    with pytest.raises(ValueError, match="rule must be one of"):
        CurveDisplay.from_curve(loo, rule="best")


# --- surfaces --------------------------------------------------------------------------------------------------------


@first_quick(2)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge", "huber_hinge", "epsilon_insensitive"])
def test_the_plane_of_a_surface(loss):
    X, y = data()
    target = X[:, 0] if loss == "epsilon_insensitive" else y
    gammas = [1.0, 0.1, 0.3]
    curves = svmpath.surface(X, target, loss=loss, C=(0.1, 10.0), gamma=gammas).curves(criteria.kfold, cv=3)
    display = SurfaceDisplay.from_curves(curves)
    for k, gamma in enumerate(gammas):
        np.testing.assert_array_equal(display.rows_[gamma].get_array().ravel(), curves.scores[k])
        corners = display.rows_[gamma].get_coordinates()
        assert (corners[0, :-1, 0] < curves.values).all()
        assert (curves.values < corners[0, 1:, 0]).all()
        assert corners[0, 0, 1] < gamma < corners[1, 0, 1]
    valley = display.valley_.get_xydata()
    np.testing.assert_array_equal(valley[:, 1], sorted(gammas))
    for C, gamma in valley:
        row = curves.scores[gammas.index(gamma)]
        assert row[np.flatnonzero(curves.values == C)[0]] == pytest.approx(row.min(), rel=1e-9)  # equal scores
    assert len(display.tried_.get_offsets()) == curves.scores.size
    table = display.table()
    assert table["score"].min() == pytest.approx(table.loc[table["chosen"], "score"].item(), rel=1e-9)
    x, z = display.choice_.get_xydata()[0]
    at = gammas.index(z), np.flatnonzero(curves.values == x)[0]
    assert curves.scores[at] == pytest.approx(curves.scores.min(), rel=1e-9)


def test_a_choice_between_the_gammas():
    X, y = data()
    curves = svmpath.surface(X, y, loss="least_squares", C=(0.1, 10.0), gamma=[0.1, 0.4, 1.6]).curves(criteria.loo)
    choice = svmpath.select(curves, refine=1)
    display = SurfaceDisplay.from_curves(curves, choice=choice)
    np.testing.assert_allclose(display.choice_.get_xydata()[0], [choice.value, choice.parameters["gamma"]], rtol=1e-12)
    others = {gamma for gamma in choice.tried if gamma not in (0.1, 0.4, 1.6)}
    assert {gamma for _, gamma in display.others.tolist()} == others


def test_the_stages_of_a_search():
    X, y = data()
    model = PathSVC(random_state=0).fit(X, y)
    display = SurfaceDisplay.from_estimator(model)
    tried = model.search_table_
    screen = tried[tried["stage"] == "screen"]
    drawn = display.table()
    np.testing.assert_array_equal(
        drawn.dropna().sort_values(["gamma", "C"])["score"], screen.sort_values(["gamma", "C"])["score"]
    )
    assert len(display.tried_.get_offsets()) == len(tried)
    np.testing.assert_allclose(display.choice_.get_xydata()[0], [model.C_, model.gamma_])
    confirm = SurfaceDisplay.from_estimator(model, stage="confirm")
    assert len(confirm.table().dropna()) == np.count_nonzero(tried["stage"] == "confirm")
    for shown in (display, confirm):  # nothing is cut off
        limits = np.array([shown.ax_.get_xlim(), shown.ax_.get_ylim()])
        assert (limits[:, 0] < shown.tried_.get_offsets()).all()
        assert (shown.tried_.get_offsets() < limits[:, 1]).all()
    with pytest.raises(ValueError, match=r"stage must be one of the stages of this search .* got 'last'"):
        SurfaceDisplay.from_estimator(model, stage="last")


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("lambda1", ["tune", [0.0, 0.5, 2.0]])
def test_the_plane_of_the_elastic_net(lambda1):
    X, y = data()
    model = ElasticNetSVC(lambda1=lambda1, lambda2=[0.0, 0.1, 10.0], cv=3, patience=None).fit(X, y)
    display = SurfaceDisplay.from_estimator(model)
    assert display.names == ("lambda1", "lambda2")
    for lam2, scores in model.choice_.tried.items():
        order = np.argsort(scores.values)
        np.testing.assert_array_equal(display.rows_[lam2].get_array().ravel(), scores.scores[order])
        corners = display.rows_[lam2].get_coordinates()
        assert (corners[0, :-1, 0] < scores.values[order]).all()
        assert (scores.values[order] < corners[0, 1:, 0]).all()
        assert corners[0, 0, 1] < lam2 < corners[1, 0, 1]
    np.testing.assert_array_equal(display.choice_.get_xydata()[0], [model.lambda1_, model.lambda2_])
    assert display.table().loc[lambda t: t["chosen"], "lambda2"].tolist() == [model.lambda2_]
    display.figure_.canvas.draw()


def test_where_there_is_no_plane():
    X, y = data()
    for model in (PathSVC(gamma=1.0), PathSVC(kernel="linear"), PathSVC(C=1.0, gamma=1.0)):
        with pytest.raises(
            ValueError, match="no plane to draw, as several values of gamma were not tried: use CurveDisp"
        ):
            SurfaceDisplay.from_estimator(model.fit(X, y))
    with pytest.raises(TypeError, match=r"needs the curves of a surface, svmpath.surface\(...\).curves"):
        SurfaceDisplay.from_curves(criteria.loo(path("least_squares"), [1.0]))


def test_equal_scores_everywhere():
    X = np.vstack([np.full((6, 2), -1.0), np.full((6, 2), 1.0)]) + 1e-3 * np.arange(24).reshape(12, 2)
    y = np.repeat(["a", "b"], 6)
    display = SurfaceDisplay.from_estimator(PathSVC(gamma=[0.5, 1.0], C=[1.0, 10.0], search="grid").fit(X, y))
    assert (display.table()["score"] == 0.0).all()
    display.figure_.canvas.draw()


# --- margins ---------------------------------------------------------------------------------------------------------


@first_quick(3)
@pytest.mark.parametrize("name", [name for name in PATHS if name not in REGRESSION and "/" not in name])
def test_margins_of_every_loss(name):
    p, (_, y) = path(name), data()
    value = float(np.mean(p.span))
    curve = criteria.kfold(p, [value], cv=3)
    display = MarginDisplay.from_curve(curve, value, doubtful=0.3)
    table = display.table()
    f, sign = curve.decisions[0], np.where(y == "yes", 1.0, -1.0)
    np.testing.assert_array_equal(table["margin"], np.sort(sign * f))
    np.testing.assert_array_equal(table["label"], y[table["row"]])
    np.testing.assert_array_equal(table["wrong"], ((f > 0) != (sign > 0))[table["row"]])
    np.testing.assert_array_equal(table["doubtful"], ~table["wrong"] & (table["margin"] < 0.3))
    drawn = np.concatenate([points.get_offsets() for points in display.points_.values()])
    np.testing.assert_array_equal(drawn[np.argsort(drawn[:, 0])][:, 1], table["margin"])
    assert len(display.points_["wrong"].get_offsets()) == table["wrong"].sum()


def test_margins_of_several_classes():
    X, y = data()
    y = np.where(X[:, 1] > 0.8, "<i>", y)
    model = PathSVC(gamma=1.0, C=1.0).fit(X, y)
    table = MarginDisplay.from_estimator(model).table().sort_values("row")
    f = model.held_out_decisions()
    code = np.searchsorted(model.classes_, y)
    own = f[np.arange(40), code]
    others = [max(row[j] for j in range(3) if j != c) for row, c in zip(f, code, strict=True)]
    np.testing.assert_allclose(table["margin"], own - others, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(table["wrong"], np.argmax(f, axis=1) != code)
    np.testing.assert_array_equal(table["label"], y)


def test_rows_that_are_never_held_out_are_left_out():
    curve = criteria.kfold(path("hinge"), [1.0], cv=[(np.arange(20, 40), np.arange(20))])
    assert sorted(MarginDisplay.from_curve(curve).table()["row"]) == list(range(20))


def test_what_margins_refuse():
    X, _ = data()
    with pytest.raises(ValueError, match="needs classes, but this is a regression"):
        MarginDisplay.from_estimator(PathSVR(C=1.0, gamma=1.0).fit(X, X[:, 0]))
    curve = criteria.loo(path("hinge"), [0.5, 5.0])
    with pytest.raises(ValueError, match="C = 4 is not among the 2 values of this curve; the nearest is 5"):
        MarginDisplay.from_curve(curve, 4.0)
    with pytest.raises(TypeError, match="needs a curve"):
        MarginDisplay.from_curve(path("hinge"))
    with pytest.raises(ValueError, match="doubtful must be a number >= 0"):
        MarginDisplay.from_curve(curve, doubtful=-1.0)


@pytest.mark.parametrize("display", [CurveDisplay, SurfaceDisplay, MarginDisplay])
def test_only_fitted_estimators_of_ours(display):
    from sklearn.exceptions import NotFittedError
    from sklearn.svm import SVC

    X, y = data()
    with pytest.raises(NotFittedError):
        display.from_estimator(PathSVC())
    with pytest.raises(TypeError, match="needs a fitted PathSVC, PathSVR or ElasticNetSVC; got SVC"):
        display.from_estimator(SVC().fit(X, y))
    with pytest.raises(TypeError, match=r"give it the step of the Pipeline: model\[-1\]"):
        display.from_estimator(make_pipeline(StandardScaler(), PathSVC(C=1.0, gamma=1.0)).fit(X, y))
