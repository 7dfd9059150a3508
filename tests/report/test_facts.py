"""What a report says equals what the model has."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Report
from svmpath.report import summarise
from svmpath.report.facts import REPORT, SUMMARY
from svmpath.report.page import to_script_json
from tests.report.conftest import CASES, HOSTILE
from tests.speed import first_quick, slow_except

QUICK = {"C": [0.3, 3.0], "gamma": [0.5, 2.0], "search": "grid", "random_state": 0}


@first_quick(2)
@pytest.mark.parametrize("name", CASES)
def test_the_facts_are_as_the_schema_says(name, reports):
    facts = reports(name)[3].facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert list(faults(facts, REPORT)) == []


def test_the_summary_is_as_the_schema_says():
    X, y = rows_of("wide")
    for model, target, task in ((PathSVC(**QUICK), y, "classification"), (PathSVR(**QUICK), X[:, 0], "regression")):
        model.fit(X, target)
        kinds = {f"x{j}": "number" for j in range(7)} | {"when": "date"}
        known = {"file": "a.csv", "kinds": kinds, "target": "y", "task": task, "seconds": 1.0}
        facts = summarise(model, target, **known, honest=model.nested_error("bootstrap"))
        assert list(faults(facts, SUMMARY)) == []
        assert facts["data"]["columns"] == {"numbers": 7, "categories": 0, "dates": 1}


def faults(value, schema, place="facts"):
    """Where a value is not as a schema says, each as a sentence."""
    if isinstance(schema, tuple):  # alternatives
        each = [list(faults(value, one, place)) for one in schema]
        yield from () if [] in each else min(each, key=len)
    elif isinstance(schema, list):
        if not isinstance(value, list):
            yield f"{place} is no list but {value!r}"
        else:
            yield from (fault for i, item in enumerate(value) for fault in faults(item, schema[0], f"{place}[{i}]"))
    elif isinstance(schema, dict) and str in schema:  # any names
        yield from faults(value, dict.fromkeys(value, schema[str]), place)
    elif isinstance(schema, dict):
        if not isinstance(value, dict):
            yield f"{place} is no dictionary but {value!r}"
            return
        inner = {key.removesuffix("?"): one for key, one in schema.items()}
        yield from (f"{place} has no {key!r}" for key in schema if not key.endswith("?") and key not in value)
        yield from (f"{place} has {key!r}, of which nothing is said" for key in value if key not in inner)
        both = [key for key in value if key in inner]
        yield from (fault for key in both for fault in faults(value[key], inner[key], f"{place}.{key}"))
    elif schema is not Any and not isinstance(
        value, schema | int if schema in (float, float | None) else schema or type(None)
    ):
        yield f"{place} is {value!r}, not {schema}"
    elif isinstance(value, bool) and schema in (int, float, float | None):
        yield f"{place} is {value!r}, not a number"


@pytest.mark.parametrize(
    ("value", "schema", "words"),
    [
        ({"a": 1}, {"a": float, "b?": str}, []),
        ({"a": "1"}, {"a": float}, ["facts.a is '1', not <class 'float'>"]),
        ({"a": True}, {"a": float | None}, ["facts.a is True, not a number"]),
        ({"b": [1, "x"]}, {"b": [int]}, ["facts.b[1] is 'x', not <class 'int'>"]),
        ({"c": None}, {"c": ({"d": int}, None)}, []),
        ({"c": {"d": 1.5}}, {"c": ({"d": int}, None)}, ["facts.c.d is 1.5, not <class 'int'>"]),
        ({"x": 1}, {"y": int}, ["facts has no 'y'", "facts has 'x', of which nothing is said"]),
        ({"any": 1}, {str: str}, ["facts.any is 1, not <class 'str'>"]),
    ],
)
def test_a_schema_finds_faults(value, schema, words):
    assert list(faults(value, schema)) == words


def test_the_choice_and_its_errors(reports):
    model, _, y, report, _ = reports("two")
    facts = report.facts
    assert facts["chosen"] == {"value": model.C_, "other": model.gamma_}
    assert facts["summary"]["held_out"]["value"] == model.held_out_error()
    held = model.held_out_decisions()
    predicted = model.classes_[(held > 0).astype(int)]
    assert facts["classified"]["confusion"] == confusion_matrix(y, predicted).tolist()
    assert facts["classified"]["roc"][0]["area"] == pytest.approx(roc_auc_score(y == model.classes_[1], held))
    wrong = {row[0] for row in facts["samples"]["rows"] if row[1] == "wrong"}
    assert wrong == set(np.flatnonzero(predicted != y).tolist())
    assert facts["samples"]["wrong"] == len(wrong)
    doubtful = [row[0] for row in facts["samples"]["rows"] if row[1] == "doubtful"]
    margin = np.where(y == model.classes_[1], held, -held)
    assert set(doubtful) == set(np.flatnonzero((margin > 0) & (margin < 0.5)).tolist())


def test_every_pair_tried_is_there(reports):
    model, _, _, report, _ = reports("two")
    table = model.search_table_
    assert [len(stage["x"]) for stage in report.facts["tried"]] == [
        len(group) for _, group in table.groupby("stage", sort=False)
    ]
    last = report.facts["tried"][-1]
    rows = table[table["stage"] == last["stage"]]
    np.testing.assert_allclose(last["x"], rows["C"])
    np.testing.assert_allclose(last["y"], rows["gamma"])
    np.testing.assert_allclose(last["score"], rows["score"], atol=1e-8)
    (at,) = np.flatnonzero(last["kept"])
    assert (last["x"][at], last["y"][at]) == (model.C_, model.gamma_)


@pytest.mark.parametrize("name", ["two", "several", "regression"])
def test_the_walk_passes_the_choice(name, reports):
    model, X, _, report, _ = reports(name)
    walk = report.facts["walk"]
    at = walk["start"]
    assert walk["values"][at] == pytest.approx(model.C_)
    assert walk["support"][at] == len(model.support_)
    assert walk["held_out"][at] == pytest.approx(report.facts["curves"][0]["measures"][0]["scores"][at])
    own = model.predict(X)[:, None] if name == "regression" else model.decision_function(X).reshape(len(X), -1)
    for machine, picture in enumerate(walk["pictures"]):
        if walk["kind"] != "plane":
            np.testing.assert_allclose(picture[at], own[:, machine], atol=1e-3 * np.abs(own).max())


def test_the_plane_is_in_the_units_of_the_data(reports):
    model, X, _, report, _ = reports("two")
    walk = report.facts["walk"]
    grid = np.column_stack([part.ravel() for part in np.meshgrid(walk["grid"]["x"], walk["grid"]["y"])])
    own = model.decision_function(pd.DataFrame(grid, columns=X.columns))
    np.testing.assert_allclose(walk["pictures"][0][walk["start"]], own, atol=2e-3)
    piped = make_pipeline(StandardScaler(), PathSVC(loss="least_squares", scale=True, **QUICK))
    X, y = make_moons(50, noise=0.3, random_state=0)
    walk = Report(piped.fit(X * 100 + 3, y), X * 100 + 3, y).facts["walk"]
    grid = np.column_stack([part.ravel() for part in np.meshgrid(walk["grid"]["x"], walk["grid"]["y"])])
    np.testing.assert_allclose(walk["pictures"][0][walk["start"]], piped.decision_function(grid), atol=2e-3)


def test_feature_paths_end_at_the_coefficients(reports):
    model, X, _, report, _ = reports("elastic")
    paths = report.facts["feature_paths"]
    at = int(np.argmin(np.abs(np.array(paths["values"]) - model.lambda1_)))
    shown = dict(zip(paths["names"], (coefs[at] for coefs in paths["coefs"][0]), strict=True))
    own = dict(zip(X.columns, model.coef_[0], strict=True))
    assert {name for name, value in own.items() if value} <= set(shown)
    for name, value in shown.items():
        assert value == pytest.approx(own[name], abs=1e-3 * np.abs(model.coef_).max())
    assert report.facts["walk"]["features"][report.facts["walk"]["start"]] == int((model.coef_ != 0).sum())


def test_coverage_is_that_of_other_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400)
    model = PathSVR(**QUICK).fit(X, y)
    found = Report(model, X, y).facts["residuals"]
    np.testing.assert_allclose(found["covered"], found["nominal"], atol=0.06)
    assert sum(found["counts"]) == 400
    few = PathSVR(**QUICK).fit(X[:6], y[:6])
    assert Report(few, X[:6], y[:6]).facts["residuals"]["covered"][-1] == 1.0  # too few to leave anything out


def rows_of(kind):
    """Sixty rows of one kind, and their labels."""
    X, y = make_moons(60, noise=0.3, random_state=0)
    more = np.random.default_rng(0).normal(size=(60, 6))
    kinds = {
        "plane": X,
        "kernel": X @ X.T,
        "sparse": csr_array(np.hstack([X, more[:, :3]])),
        "line": X[:, :1],
        "wide": np.hstack([X, more]),
    }
    return kinds[kind], y


MODELS = {
    "hinge": (PathSVC(loss="hinge", **QUICK), "plane"),
    "huber hinge": (PathSVC(loss="huber_hinge", **QUICK), "plane"),
    "linear": (PathSVC(loss="least_squares", kernel="linear", C=[1.0], search="grid"), "plane"),
    "bound": (PathSVC(loss="squared_hinge", criterion="radius_margin", **QUICK), "plane"),
    "ard": (PathSVC(loss="least_squares", gamma="ard", random_state=0), "plane"),
    "low rank": (PathSVC(loss="least_squares", rank=12, **QUICK), "plane"),
    "given": (PathSVC(loss="least_squares", gamma=1.0, C=1.0), "plane"),
    "kernel": (PathSVC(loss="least_squares", kernel="precomputed", C=[1.0, 2.0]), "kernel"),
    "sparse": (PathSVC(loss="least_squares", **QUICK), "sparse"),
    "one column": (PathSVC(loss="least_squares", **QUICK), "line"),
    "scorer": (PathSVC(loss="least_squares", scoring="f1", **QUICK), "plane"),
    "one standard error": (PathSVC(loss="least_squares", rule="one_se", **QUICK), "plane"),
    "own loss": (PathSVC(loss="least_squares", scoring=lambda y, f: np.abs(y - f), **QUICK), "plane"),
    "elastic net": (ElasticNetSVC(lambda2=[0.0, 1.0]), "wide"),
}


@pytest.mark.parametrize("name", slow_except(MODELS, ("hinge", "bound", "elastic net")))
@pytest.mark.filterwarnings("ignore:The machine chosen by criterion='radius_margin'")
def test_every_kind_of_model_has_a_report(name):
    model, kind = MODELS[name]
    X, y = rows_of(kind)
    report = Report(model.fit(X, y), X, y)
    assert list(faults(report.facts, REPORT)) == []
    assert "Held-out error" in [cell["name"] for cell in report.facts["overview"]["sure"]]
    assert report.facts["curves"]
    is_fixed = name in ("linear", "given", "kernel")
    assert report.facts["other"] == (None if is_fixed else "lambda2" if name == "elastic net" else "gamma")
    assert len(report.html()) > 1e6


def test_the_criterion_that_decided_comes_first():
    X, y = make_moons(60, noise=0.3, random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = PathSVC(loss="least_squares", criterion="kfold", cv=folds, **QUICK).fit(X, y)
    first, *others = Report(model, X, y).facts["curves"]
    assert first["criterion"] == "kfold"
    assert [curve["criterion"] for curve in others] == ["loo"]
    np.testing.assert_allclose(first["values"], model.curve_.values)
    np.testing.assert_allclose(first["measures"][0]["scores"], model.curve_.scores, atol=1e-8)


@pytest.mark.parametrize("loss", ["least_squares", "pinball"])
def test_the_constant_to_compare_with_has_weights(loss):
    """Rows of weight zero count for nothing, however far they are."""
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(60, 2)), rng.integers(0, 3, 60).astype(float)
    y = np.where(s > 0, X[:, 0] + rng.normal(size=60), 300.0)
    options = {"loss": loss, "gamma": 0.1, "C": 1.0, "search": "grid", "random_state": 0}
    models = [PathSVR(**options).fit(X, y, s), PathSVR(**options).fit(X[s > 0], y[s > 0], s[s > 0])]
    known = {"file": "", "kinds": dict.fromkeys("ab", "number"), "target": "y", "task": "regression", "seconds": None}
    whole, kept = (
        summarise(model, target, **known)["held_out"]["baseline"]
        for model, target in zip(models, (y, y[s > 0]), strict=True)
    )
    assert whole == pytest.approx(kept)
    assert whole < 10.0


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_several_quantiles_are_told_one_by_one(reports):
    model, _, y, report, _ = reports("quantiles")
    facts, f = report.facts["levels"], model.held_out_decisions()
    order = np.argsort(model.quantile_)
    assert [row["level"] for row in facts["each"]] == [0.1, 0.5, 0.9]
    for row, k in zip(facts["each"], order, strict=True):
        q, e = model.quantile_[k], y - f[:, k]
        assert row["loss"] == pytest.approx(np.mean(np.maximum(q * e, (q - 1) * e)))
        assert row["below"] == pytest.approx(np.mean(e < 0))  # no target is on a held-out quantile
        best = min(np.mean(np.maximum(q * (y - b), (q - 1) * (y - b))) for b in y)
        assert row["baseline"] == pytest.approx(best, rel=1e-6)
    assert np.mean([row["loss"] for row in facts["each"]]) == pytest.approx(model.held_out_error())
    held = report.facts["summary"]["held_out"]
    assert held["baseline"] == pytest.approx(np.mean([row["baseline"] for row in facts["each"]]))
    g = f[:, order]
    crossed = np.diff(g, axis=1) < 0
    assert crossed.any()
    assert facts["crossed"] == crossed.any(axis=1).sum()
    assert [row["crossed"] for row in facts["each"]] == [None, *crossed.sum(axis=0)]
    assert facts["inside"] == pytest.approx(np.mean((g[:, 0] <= y) & (y <= g[:, 2])))
    assert facts["meant_inside"] == pytest.approx(0.8)
    fan, sorted_ = np.array(facts["fan"]["predicted"]), np.sort(g, axis=1)
    np.testing.assert_allclose(fan.T, sorted_[np.argsort(sorted_[:, 1], kind="stable")], atol=1e-3)
    out = np.maximum(sorted_[:, 0] - y, y - sorted_[:, 2])
    assert report.facts["samples"]["wrong"] == np.sum(out > 0)
    assert report.facts["samples"]["rows"][0][0] == np.argmax(out)
    assert report.facts["machines"] == ["quantile 0.9", "quantile 0.1", "quantile 0.5"]
    walk = report.facts["walk"]
    rows = pd.DataFrame(np.array(walk["grid"]["x"])[:, None], columns=["a <b>column</b>"])
    model_at = np.array([frames[walk["start"]] for frames in walk["pictures"]]).T
    np.testing.assert_allclose(np.sort(model_at, axis=1)[:, [2, 0, 1]], model.predict(rows), atol=1e-2)
    assert any("of held-out targets are below" in note["text"] for note in report.facts["overview"]["notes"]) == any(
        abs(row["below"] - row["level"]) > max(0.05, 3 * row["deviation"]) for row in facts["each"]
    )


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "pinball", "quantile": [0.2, 0.8], "calibrate": True, "rearrange": False},
        {"loss": "pinball", "quantile": [0.7]},
        {"loss": "expectile", "quantile": [0.2, 0.8]},
    ],
)
def test_other_levels_have_a_report(options):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] + rng.normal(size=50)
    model = PathSVR(**options, gamma=[0.2], C=[1.0, 3.0], search="grid").fit(X, y)
    report = Report(model, X, y, honest=None)
    assert list(faults(report.facts, REPORT)) == []
    assert len(report.html()) > 1_000_000
    levels = report.facts["levels"]
    assert (levels is None) == (len(options["quantile"]) == 1)
    if levels is not None:
        assert [row["shift"] for row in levels["each"]] == model.shift_.tolist()
        f = model.held_out_decisions() + model.shift_
        np.testing.assert_allclose(np.sort(levels["fan"]["predicted"], axis=1), np.sort(f.T, axis=1), atol=1e-3)


def test_one_column_of_a_regression_is_drawn_as_a_function():
    x = np.linspace(0, 6, 50)[:, None]
    model = PathSVR(**QUICK).fit(x, np.sin(x[:, 0]))
    walk = Report(model, x, np.sin(x[:, 0])).facts["walk"]
    assert walk["kind"] == "line"
    own = model.predict(np.array(walk["grid"]["x"])[:, None])
    np.testing.assert_allclose(walk["pictures"][0][walk["start"]], own, atol=1e-3)


def test_columns_are_described():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(3.0, 2.0, 60), "kind": ["a", "b", "b"] * 20, "flag": [True, False] * 30})
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["kind", "flag"]))
    y = (table["size"] > 3).to_numpy().astype(int)
    model = make_pipeline(columns, PathSVC(loss="least_squares", **QUICK)).fit(table, y)
    report = Report(model, table, y, target="large")
    size, kind, flag = report.facts["columns"]["shown"]
    assert (size["kind"], size["mean"]) == ("number", pytest.approx(table["size"].mean()))
    assert (kind["kind"], kind["distinct"], kind["top"]) == ("category", 2, "b")
    assert flag["kind"] == "category"
    assert report.facts["walk"]["kind"] == "projection"


def test_what_cannot_be_reported_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="not SVC"):
        Report(SVC().fit(X, y), X, y)
    model = PathSVC(loss="least_squares", **QUICK).fit(X, y)
    with pytest.raises(ValueError, match="needs the 150 rows that the model was fitted to, but X has 100"):
        Report(model, X[:100], y[:100])
    with pytest.raises(ValueError, match="but y has 100"):
        Report(model, X, y[:100])
    with pytest.raises(ValueError, match="method must be one of"):
        Report(model, X, y, honest="yes")


def test_nothing_in_the_page_ends_the_data_or_runs(reports):
    report = reports("two")[3]
    page = report.html()
    assert page.count("<script") - report_library_count() == 3  # the data, the library, the scripts
    head, _, rest = page.partition('<script type="application/json" id="facts">')
    data = rest.partition("</script>")[0]
    assert not set("<>&") & set(data)
    assert HOSTILE in json.dumps(json.loads(data)["walk"]["titles"])
    assert HOSTILE not in head
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in head + rest
    assert to_script_json("\u2028\u2029&") == '"\\u2028\\u2029\\u0026"'


def report_library_count():
    """How often the library itself has the word."""
    from plotly.offline import get_plotlyjs

    return get_plotlyjs().count("<script")


def test_the_title_is_text():
    X, y = make_moons(40, noise=0.3, random_state=0)
    model = PathSVC(loss="least_squares", **QUICK).fit(X, y)
    page = Report(model, X, y, title=HOSTILE, target=HOSTILE).html()
    assert HOSTILE not in page
    assert "<title>&lt;script&gt;" in page


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, reports):
    report, path = reports("regression")[3], tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        report.save(path)
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
