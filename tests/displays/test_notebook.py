"""What a notebook shows, and what is imported and computed for it."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import ElasticNetSVC, KernelDictionary, PathSVC, PathSVR, criteria, displays
from tests.displays.machines import PATHS, data, path
from tests.speed import first_quick, slow_except

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags of a page, its text, and whether they are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@first_quick(1)
@pytest.mark.parametrize("name", slow_except(list(PATHS), ["hinge", "least_squares/gamma", "elastic_hinge"]))
def test_paths(name):
    page = path(name)._repr_html_()
    tags = Tags(page)
    assert tags.seen.count("img") == 1
    assert f"samples{path(name).problem.n}" in tags.text
    assert repr(path(name)) in tags.text
    assert 'src="data:image/png;base64,iVBOR' in page


def test_curves_and_choices():
    curve = criteria.loo(path("hinge"), [0.5, 5.0, 50.0])
    choice = svmpath.select(curve)
    assert f"at C = {choice.value:.4g}" in Tags(curve._repr_html_()).text
    tags = Tags(choice._repr_html_())
    assert f"C = {choice.value:.4g}, gamma = " in tags.text
    assert tags.seen.count("img") == 1
    bound = criteria.radius_margin(path("squared_hinge"), [0.5, 5.0])
    assert "bound on the error rate" in Tags(bound._repr_html_()).text


@pytest.mark.slow
def test_the_curves_of_a_surface():
    curves = svmpath.surface(*data(), loss="least_squares", C=(0.1, 10.0), gamma=[0.1, 1.0]).curves(criteria.loo)
    tags = Tags(curves._repr_html_())
    assert tags.seen.count("img") == 1
    assert f"lowest held-out error rate{curves.scores.min():.4g}" in tags.text


def test_a_choice_over_the_kernel_names_its_own_value():
    choice = svmpath.select(criteria.loo(path("least_squares/gamma"), [0.3, 3.0]))
    assert f"gamma = {choice.value:.4g}, C = 1" in Tags(choice._repr_html_()).text


def test_nothing_is_scored_to_be_shown():
    asked = []
    X, y = data()

    def source():
        asked.append(1)
        return np.zeros((2, 40))

    done = criteria.loo(svmpath.trace(X, y, loss="least_squares"), [1.0, 2.0])
    curve = criteria.Curve(done.path, "loo", done.values, done.loss, done.rows, source, done.target, done.doubts)
    tags = Tags(curve._repr_html_())
    assert "img" not in tags.seen
    assert not asked
    done.in_order().scores  # noqa: B018  (known now)
    assert "img" in Tags(done.taken(np.array([1, 0]))._repr_html_()).seen  # known, in another order


@first_quick(2)
@pytest.mark.parametrize(
    "model",
    [PathSVC(random_state=0), PathSVC(C=1.0, gamma=1.0), PathSVC(gamma=1.0), ElasticNetSVC(lambda2=[0.1, 1.0], cv=3)],
    ids=["default", "fixed", "C", "elastic"],
)
def test_estimators(model):
    X, y = data()
    y = np.where(y == "yes", HOSTILE, "'\"><img src=x onerror=alert(1)>")
    model.fit(X, y)
    page = model._repr_html_()
    facts, diagram = page.split("</details>", 1)
    assert HOSTILE in Tags(facts + "</details>").text
    assert "<script>" not in facts
    assert "onerror" not in re.sub(r"&[a-z#0-9]+;.*?&gt;", "", facts)
    assert facts.count("<img") == (1 if model.choice_.curve.values.size > 1 or model.choice_.tried else 0)
    assert "sk-container" in diagram  # scikit-learn's own
    assert "text/html" in model._repr_mimebundle_()
    assert model._repr_mimebundle_()["text/html"].startswith("<details open><summary>")


@pytest.mark.parametrize("model", [PathSVC(), PathSVR(), ElasticNetSVC(), KernelDictionary()], ids=repr)
def test_unfitted_estimators_have_their_diagram_only(model):
    assert "<details open>" not in model._repr_html_()
    assert "sk-container" in model._repr_html_()


def test_text_instead_of_diagrams():
    model = PathSVC()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_attributes_that_take_long_are_not_computed_to_be_listed():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), PathSVC(gamma=1.0)).fit(X, y)
    model = pipeline[-1]
    names = dir(model)
    assert {"loo_error", "held_out_error", "C_", "predict"} <= set(names)
    model._repr_html_()
    pipeline._repr_html_()
    assert model._held_out._curves == {}  # no leave-one-out was done
    assert model.loo_error() < 0.5


@first_quick(1)
@pytest.mark.parametrize("name", ["hinge", "curve", "estimator"])
def test_few_machines_are_computed_to_be_shown(monkeypatch, name):
    things = {
        "hinge": lambda: path("hinge"),
        "curve": lambda: criteria.loo(path("least_squares"), np.geomspace(0.02, 50, 25)),
        "estimator": lambda: PathSVC(random_state=0).fit(*data()),
    }
    thing, asked, call = things[name](), [], svmpath.paths.Path.__call__
    monkeypatch.setattr(svmpath.paths.Path, "__call__", lambda each, value: asked.append(value) or call(each, value))
    thing._repr_html_()
    assert len(asked) <= {"hinge": 40, "curve": 0, "estimator": 0}[name]
    assert asked or name != "hinge"


def test_large_paths_are_facts_alone():
    X, y = np.random.default_rng(0).normal(size=(400, 2)), np.arange(400) % 2
    assert "<img" not in svmpath.trace(X, y, loss="squared_hinge")._repr_html_()


# --- without matplotlib ----------------------------------------------------------------------------------------------


def run(program, **variables):
    environment = {**os.environ, **variables}
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return child.stdout


WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import numpy as np, svmpath
from svmpath import PathSVC, criteria, displays
X = np.random.default_rng(0).normal(size=(20, 2)); y = np.sign(X[:, 0])
model = PathSVC(loss="hinge", C=[0.1, 1.0], gamma=[0.5, 1.0], search="grid").fit(X, y)
quantiles = svmpath.PathSVR(loss="pinball", C=1.0, gamma=0.5).fit(X, X[:, 0])
for name in displays.__all__:
    try:
        if name == "QuantileDisplay":
            displays.QuantileDisplay.from_estimator(quantiles, X, X[:, 0])
        getattr(displays, name).from_estimator(model)
    except ImportError as error:
        print(error)
print(len(displays.CurveDisplay(curves={"loo": model.curve_}, chosen={}).table()))
print([("<img" in each._repr_html_(), "<table" in each._repr_html_()) for each in (model, model.path_, model.curve_)])
"""


# As where neither a home nor a folder for temporary files can be written to: the import fails.
NOWHERE = """
import tempfile
def fail(*arguments, **options):
    raise FileNotFoundError("No usable temporary directory found")
tempfile.mkdtemp = fail
import numpy as np, svmpath
page = svmpath.trace(np.arange(8.0).reshape(-1, 1), np.arange(8) % 2, loss="squared_hinge")._repr_html_()
print("<img" in page, "<table" in page)
"""


@pytest.mark.slow
def test_without_a_folder_for_matplotlib():
    assert run(NOWHERE, HOME="/dev/null/home", XDG_CONFIG_HOME="", XDG_CACHE_HOME="", MPLCONFIGDIR="") == "False True\n"


@pytest.mark.slow
def test_without_matplotlib():
    *errors, rows, shown = run(WITHOUT).splitlines()
    assert errors == [
        f"{name} draws with matplotlib, which is not installed: run python -m pip install 'svmpath[plot]'."
        for name in displays.__all__
    ]
    assert rows == "2"
    assert shown == "[(False, True), (False, True), (False, True)]"
