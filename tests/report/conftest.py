"""Fitted models, their reports, and a browser to look at them."""

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification, make_moons

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Report

HOSTILE = "<script>alert(1)</script>"
CHROMIUM = os.environ.get("SVMPATH_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def two_classes():
    X, code = make_moons(120, noise=0.35, random_state=0)
    table = pd.DataFrame(X, columns=[HOSTILE, "a \"quoted\" & 'odd' name"])
    y = np.array(["</script><script>alert(2)</script>", '"><img src=x onerror=alert(3)>'])[code]
    return PathSVC(random_state=0), table, y


def several_classes():
    X, y = load_iris(return_X_y=True)
    return PathSVC(loss="least_squares", random_state=0), X, y


def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return PathSVR(random_state=0), X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.standard_t(3, size=120)


def elastic_net():
    X, y = make_classification(90, 12, n_informative=3, n_redundant=0, random_state=0)
    table = pd.DataFrame(X, columns=["a name that is so long that no table and no legend has room for all of it"] + [
        f"feature <b>{j}</b>" for j in range(11)
    ])  # fmt: skip
    return ElasticNetSVC(), table, y


def quantiles():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, (80, 1))
    y = np.sin(X[:, 0]) + 0.1 * (1 + X[:, 0]) * rng.normal(size=80)
    model = PathSVR(loss="pinball", quantile=[0.9, 0.1, 0.5], gamma=[3.0], C=[30.0, 100.0], search="grid")
    return model, pd.DataFrame(X, columns=["a <b>column</b>"]), y


CASES = {
    "two": two_classes, "several": several_classes, "regression": regression, "elastic": elastic_net,
    "quantiles": quantiles,
}  # fmt: skip


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """By name: the fitted model, its rows, its report and the file of that; made when first asked for."""
    made = {}

    def report(name):
        if name not in made:
            model, X, y = CASES[name]()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)
            found = Report(model, X, y, title=name)
            path = tmp_path_factory.mktemp("report") / f"{name}.html"
            found.save(path)
            made[name] = (model, X, y, found, path)
        return made[name]

    return report


@pytest.fixture(scope="session")
def browser():
    """Chromium; where ``SVMPATH_CHROMIUM`` names one, it must be there."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (apt-get install chromium), so the report cannot be looked at")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def open_page(browser):
    """Open a file; whatever goes wrong in the page, or is asked of the network, fails the test at its end."""
    contexts, faults = [], []

    def look(path, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(300_000)  # milliseconds; a busy machine takes its time
        page.on(
            "console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        allowed = ("file:", "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(allowed) else faults.append(request.url))
        page.goto(Path(path).as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield look
    for context in contexts:
        context.close()
    assert faults == []
