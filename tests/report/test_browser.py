"""The report in a real browser: what is seen, clicked, typed and downloaded."""

import csv
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from svmpath import PathSVC, Report
from tests.report.conftest import CASES, HOSTILE
from tests.speed import slow_except

pytestmark = pytest.mark.browser

CHECKS = (Path(__file__).parent / "checks.js").read_text(encoding="utf-8")
DARK = "rgb(16, 20, 26)"


def ask(page, name, argument=None):
    """The answer of a function in checks.js."""
    return page.evaluate(f"(argument) => {CHECKS.strip()}.{name}(argument)", argument)


def drawn(page, plot):
    """How often a picture has been drawn; scrolls there, as pictures are drawn when they come near."""
    node = page.locator(f"#{plot}")
    node.scroll_into_view_if_needed()
    page.wait_for_selector(f"#{plot}[data-drawn]", state="attached")
    return int(node.get_attribute("data-drawn"))


def until(is_true, what):
    """Wait for the page, which takes its time on a busy machine."""
    for _ in range(1200):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError(what)


def wait_redrawn(page, plot, before):
    node = page.locator(f"#{plot}")
    until(lambda: int(node.get_attribute("data-drawn")) > before, f"{plot} was not drawn again")


def traces(page, plot):
    """The data of a picture."""
    return ask(page, "traces", plot)


def cells(page, where):
    """Names and values of a list of facts."""
    return {
        row.locator("dt").inner_text(): row.locator("dd .value").inner_text()
        for row in page.locator(f"{where} > div").all()
    }


def number(text):
    return float(text.replace("\N{MINUS SIGN}", "-").replace("\u202f", ""))


@pytest.mark.parametrize("name", slow_except(CASES, ["several"]))
def test_every_picture_is_drawn_and_nothing_is_loaded(name, reports, open_page):
    page = open_page(reports(name)[4])
    for node in page.locator(".plot").all():
        drawn(page, node.get_attribute("id"))
    assert page.locator(".plot").count() >= 4
    assert page.locator("h1").inner_text() == name
    assert page.locator(".plot:not([data-drawn])").count() == 0


@pytest.mark.slow
def test_the_slider_changes_the_picture_and_its_numbers(reports, open_page):
    model, _, _, report, path = reports("two")
    page, walk = open_page(path), report.facts["walk"]
    before = drawn(page, "walk-plot")
    assert cells(page, "#walk-cells")["Support vectors"] == str(len(model.support_))
    first = traces(page, "walk-plot")[0]["z"]
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    wait_redrawn(page, "walk-plot", before)
    assert traces(page, "walk-plot")[0]["z"] != first
    assert np.allclose(np.ravel(traces(page, "walk-plot")[0]["z"]), walk["pictures"][0][0])
    assert cells(page, "#walk-cells")["Support vectors"] == str(walk["support"][0])
    assert page.locator("#slider").get_attribute("aria-valuetext").startswith("C = ")


@pytest.mark.slow
def test_play_walks_to_the_end_and_stops_there(reports, open_page):
    page = open_page(reports("two")[4])
    drawn(page, "walk-plot")
    slider, button = page.locator("#slider"), page.locator("#play")
    last = int(slider.get_attribute("max"))
    page.evaluate("(at) => setFrame(at)", last - 2)
    button.focus()
    page.keyboard.press("Space")
    assert button.inner_text() == "Pause"
    until(lambda: button.inner_text() == "Play", "it did not stop")
    assert slider.input_value() == str(last)
    time.sleep(0.6)
    assert slider.input_value() == str(last)  # it stays there
    button.click()  # from the beginning again
    until(lambda: int(slider.input_value()) < last, "it did not begin again")
    button.click()
    at = slider.input_value()
    time.sleep(0.6)
    assert (slider.input_value(), button.inner_text()) == (at, "Play")


@pytest.mark.parametrize("name", slow_except(["two", "elastic"], ["two"]))
def test_a_click_on_the_surface_shows_the_numbers_of_python(name, reports, open_page):
    model, _, _, report, path = reports(name)
    page = open_page(path)
    stage = max(range(len(report.facts["tried"])), key=lambda i: len(report.facts["tried"][i]["x"]))
    drawn(page, "surface-plot")
    if page.locator("#stage").is_enabled():  # it opens at the stage of the choice
        assert cells(page, "#cell")["This is"] == "the pair chosen"
        page.locator("#stage").select_option(str(stage))
    before = drawn(page, "surface-plot")
    drawn(page, "curve-plot")
    at = 7
    page.locator("#surface-plot").scroll_into_view_if_needed()
    x, y = ask(page, "place", ["surface-plot", at])
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    wait_redrawn(page, "surface-plot", before)
    shown = cells(page, "#cell")
    if name == "two":
        table = model.search_table_
        row = table[table["stage"] == report.facts["tried"][stage]["stage"]].iloc[at]
        C, gamma, score = row["C"], row["gamma"], row["score"]
        curve = table[(table["stage"] == row["stage"]) & (table["gamma"] == gamma)]
        expected = np.sort(curve["C"]), curve.sort_values("C")["score"]
    else:
        gamma, scores = next(iter(model.choice_.tried.items()))
        C, score = scores.values[at], scores.scores[at]
        order = np.argsort(scores.values)
        expected = scores.values[order], 100 * scores.scores[order]
    assert number(shown["C" if name == "two" else "lambda1"]) == pytest.approx(C, rel=1e-3)
    assert number(shown["gamma" if name == "two" else "lambda2"]) == pytest.approx(gamma, rel=1e-2, abs=1e-12)
    text = shown["Squared residual" if name == "two" else "Error rate"]
    assert number(text.removesuffix(" %")) == pytest.approx(score * (100 if "%" in text else 1), rel=1e-2, abs=0.006)
    assert shown["This is"] == "picked"
    line = traces(page, "curve-plot")[1]  # the curve at that gamma
    np.testing.assert_allclose(line["x"], expected[0])
    np.testing.assert_allclose(line["y"], expected[1], rtol=1e-6)
    page.locator("#back").click()
    assert cells(page, "#cell")["This is"] != "picked"


@pytest.mark.slow
def test_the_curve_changes_with_criterion_and_measure(reports, open_page):
    _, _, _, report, path = reports("two")
    page = open_page(path)
    before = drawn(page, "curve-plot")
    page.locator("#criterion").select_option("1")
    wait_redrawn(page, "curve-plot", before)
    other = report.facts["curves"][1]
    np.testing.assert_allclose(traces(page, "curve-plot")[1]["y"], 100 * np.array(other["measures"][0]["scores"]))
    before = drawn(page, "curve-plot")
    page.locator("#measure").select_option("2")
    wait_redrawn(page, "curve-plot", before)
    np.testing.assert_allclose(traces(page, "curve-plot")[1]["y"], other["measures"][2]["scores"])
    low, high = ask(page, "range", "curve-plot")
    page.locator("#zoom-in").click()

    def is_half():
        near = ask(page, "range", "curve-plot")
        return near[1] - near[0] == pytest.approx((high - low) / 2)

    until(is_half, "the range is not half of what it was")


@pytest.mark.slow
def test_the_machine_is_switched(reports, open_page):
    _, _, _, report, path = reports("several")
    page = open_page(path)
    before = drawn(page, "walk-plot")
    drawn(page, "roc-plot")
    page.locator("#machine").select_option("2")
    wait_redrawn(page, "walk-plot", before)
    walk = report.facts["walk"]
    colors = sorted(value for trace in traces(page, "walk-plot") for value in trace["marker"]["color"])
    assert np.allclose(colors, np.sort(walk["pictures"][2][walk["start"]]))
    area = report.facts["classified"]["roc"][2]["area"]
    assert f"{area:.4f}" in page.locator("#roc-area").inner_text()


@pytest.mark.slow
def test_several_quantiles_are_drawn_together(reports, open_page):
    model, _, _, report, path = reports("quantiles")
    page, facts = open_page(path), report.facts["levels"]
    before = drawn(page, "walk-plot")
    assert page.locator("#machine").input_value() == "1"
    lines = [trace for trace in traces(page, "walk-plot") if trace["mode"] == "lines"]
    assert len(lines) == len(model.quantile_)
    page.locator("#machine").select_option("2")
    wait_redrawn(page, "walk-plot", before)
    walk = report.facts["walk"]
    assert traces(page, "walk-plot")[-1]["y"] == walk["pictures"][2][walk["start"]]
    drawn(page, "fan-plot")
    points = traces(page, "fan-plot")[-1]
    assert points["y"] == facts["fan"]["target"]
    low, _, high = facts["fan"]["predicted"]
    warm = page.evaluate("color('warm')")
    for target, color, ends in zip(points["y"], points["marker"]["color"], zip(low, high, strict=True), strict=True):
        assert (color == warm) == (not ends[0] <= target <= ends[1])
    drawn(page, "shares-plot")
    assert traces(page, "shares-plot")[-1]["y"] == [row["below"] for row in facts["each"]]
    assert "Crossings" in page.locator("#overview thead").inner_text()


@pytest.mark.slow
def test_the_table_sorts_filters_and_downloads(reports, open_page, tmp_path):
    _, _, _, report, path = reports("several")
    page, rows = open_page(path), report.facts["samples"]["rows"]
    assert len(rows) > 4
    head = page.locator("#sample-table thead th")
    margin = [column["key"] for column in report.facts["samples"]["columns"]].index("margin")
    head.nth(margin).locator("button").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert head.nth(margin).get_attribute("aria-sort") == "descending"
    shown = [number(text) for text in page.locator(f"#sample-table tbody td:nth-child({margin + 1})").all_inner_texts()]
    np.testing.assert_allclose(shown, sorted((row[margin] for row in rows), reverse=True), rtol=1e-3)
    page.locator("#verdict").select_option("wrong")
    wrong = [row for row in rows if row[1] == "wrong"]
    assert page.locator("#sample-table tbody tr").count() == len(wrong) < len(rows)
    page.locator("#verdict").select_option("")
    page.locator("#search").fill("doubtful")
    doubtful = sorted((row for row in rows if row[1] == "doubtful"), key=lambda row: -row[margin])
    assert page.locator("#count").inner_text() == f"{len(doubtful)} of {len(rows)} rows"
    with page.expect_download() as waiting:
        page.locator("#csv").click()
    waiting.value.save_as(tmp_path / "samples.csv")
    with open(tmp_path / "samples.csv", encoding="utf-8", newline="") as file:
        head, *body = csv.reader(file)
    assert head == [column["key"] for column in report.facts["samples"]["columns"]]
    assert [int(row[0]) for row in body] == [row[0] for row in doubtful]
    assert [float(row[margin]) for row in body] == [row[margin] for row in doubtful]
    page.locator("#search").fill("no such thing")
    assert page.locator("#sample-table tbody tr").count() == 0
    assert page.locator("#csv").is_disabled()


def test_hostile_names_stay_text(reports, open_page, tmp_path):
    _, X, y, report, path = reports("two")
    page = open_page(path)
    for plot in ("walk-plot", "roc-plot"):
        drawn(page, plot)
    assert page.evaluate("document.scripts.length") == 3
    assert page.locator("img").count() == 0
    assert page.locator("#data tbody th").first.inner_text() == HOSTILE
    assert page.locator("#data tbody th").nth(1).inner_text() == X.columns[1]
    labels = {text for row in report.facts["samples"]["rows"] for text in row[2:4]}
    assert labels == set(y)
    assert set(page.locator("#sample-table tbody .name").all_inner_texts()) == labels
    titles = page.locator("#walk-plot .xtitle, #walk-plot .ytitle, #walk-plot .legendtext").all_text_contents()
    assert HOSTILE in titles
    assert any(text.startswith("</script><script>") for text in titles)
    with page.expect_download() as waiting:
        page.locator("#csv").click()
    waiting.value.save_as(tmp_path / "samples.csv")
    with open(tmp_path / "samples.csv", encoding="utf-8", newline="") as file:
        assert {row[2] for row in list(csv.reader(file))[1:]} <= set(y)


@pytest.mark.slow
def test_markup_in_names_is_not_obeyed_by_the_pictures(reports, open_page):
    page = open_page(reports("elastic")[4])
    drawn(page, "features-plot")
    texts = page.locator("#features-plot .legendtext").all_text_contents()
    assert any("<b>" in text for text in texts)
    assert page.locator("#features-plot .legendtext tspan[style*='bold']").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_control_is_reached_by_tab(name, reports, open_page):
    page = open_page(reports(name)[4])
    wanted = set(ask(page, "controls"))
    page.evaluate("document.body.focus()")
    seen = set()
    for _ in range(len(wanted) + 5):
        page.keyboard.press("Tab")
        at = ask(page, "focused")
        if at is not None:
            seen.add(at[0])
            assert at[1] != "none", "the focus is not seen"
            assert at[2] >= 1
    assert seen == wanted
    assert ask(page, "unnamed") == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["two", "regression", "quantiles"])
def test_text_has_contrast_and_the_page_fits_a_phone(name, scheme, reports, open_page):
    page = open_page(reports(name)[4], width=390, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert ask(page, "contrast") == []
    assert (ask(page, "background") == DARK) == (scheme == "dark")
    page.locator("#theme").click()  # light, then dark
    page.locator("#theme").click()
    assert ask(page, "background") == DARK
    assert ask(page, "contrast") == []


@pytest.mark.slow
def test_it_can_be_printed(reports, open_page):
    page = open_page(reports("regression")[4], color_scheme="dark")
    assert len(page.pdf(format="A4")) > 50_000
    assert page.locator(".plot:not([data-drawn])").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ink = page.evaluate("document.getElementById('curve-plot').layout.font.color")
    assert ink == "#1a2230"  # dark on white paper
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.getElementById('curve-plot').layout.font.color") == "#e7ebf1"
    page.emulate_media(media="print")
    assert not page.locator("#play").is_visible()
    assert page.locator("#overview").is_visible()


@pytest.mark.slow
def test_many_rows_stay_light(open_page, tmp_path):
    X, y = make_classification(20_000, 20, n_informative=5, flip_y=0.1, random_state=0)
    model = PathSVC(loss="least_squares", gamma=0.02, C=[0.1, 1.0], rank=100, random_state=0).fit(X, y)
    path = tmp_path / "report.html"
    Report(model, X, y).save(path)
    from plotly.offline import get_plotlyjs

    assert path.stat().st_size - len(get_plotlyjs().encode()) < 5e6
    page = open_page(path)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.reload()
    page.wait_for_selector("html[data-first-drawing]", state="attached")
    used = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    # The time that the page needs: the clock also counts what others do on a busy machine.
    assert min(used["ThreadTime"], int(page.locator("html").get_attribute("data-first-drawing")) / 1000) < 2.0


@pytest.mark.slow
def test_the_controls_work_by_keyboard(reports, open_page):
    _, _, _, report, path = reports("two")
    page = open_page(path)
    stage = max(report.facts["tried"], key=lambda each: len(each["x"]))
    before = cells(page, "#cell")
    page.locator("#cell-x").focus()
    page.keyboard.press("ArrowDown")
    after = cells(page, "#cell")
    assert after["This is"] == "picked"
    gamma = [i for i, y in enumerate(stage["y"]) if y == report.facts["chosen"]["other"]]
    values = sorted(stage["x"][i] for i in gamma)
    at = int(np.argmin(np.abs(np.array(values) - number(before["C"]))))
    assert number(after["C"]) == pytest.approx(values[at + 1], rel=1e-3)
    page.locator("#cell-y").focus()
    page.keyboard.press("ArrowUp")
    if cells(page, "#cell")["gamma"] == after["gamma"]:  # it was the first of its stage
        page.keyboard.press("ArrowDown")
    assert number(cells(page, "#cell")["gamma"]) != number(after["gamma"])
    page.locator("#back").focus()
    page.keyboard.press("Enter")
    assert cells(page, "#cell") == before
    page.locator("#theme").focus()
    page.keyboard.press("Space")
    assert page.locator("html").get_attribute("data-theme") == "light"
    page.locator("#verdict").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#sample-table tbody tr").count() == report.facts["samples"]["wrong"]
    page.locator("#slider").focus()
    first = page.locator("#walk-value").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#walk-value").inner_text() != first
