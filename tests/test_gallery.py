"""Every example of the gallery runs, and what it says about its data is true."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

GALLERY = Path(__file__).resolve().parents[1] / "examples/gallery"
EXAMPLES = {file.stem.removeprefix("plot_"): file for file in sorted(GALLERY.glob("*/plot_*.py"))}
FIGURE = re.compile(r"^plt\.show\(\)$|\.animate\(", re.MULTILINE)


def grid_misses(v):
    assert v["along_path"] < v["grid"] - 0.01  # mean errors of five draws
    assert 10 < v["svmpath"].select(v["fine"]).value < 100  # between two values of the grid


def several_classes(v):
    test_error = 1 - v["model"].score(v["X_test"], v["y_test"])
    assert abs(v["model"].held_out_error() - test_error) < 0.02


def kernel_film(v):
    assert len(v["path"](50.0).support) > 0.9 * len(v["y"])
    assert v["path"].certificate < 1e-6
    assert Path("kernel_path.gif").stat().st_size < 1_500_000


def s_path(v):
    assert v["hidden"] > 0.99
    assert abs(v["machine"].norm1 - v["s"]) < 1e-8
    assert v["moving"].size
    assert list(v["shares"].values()) == sorted(v["shares"].values(), reverse=True)
    assert v["shares"][100.0] < 1e-6


def feature_selection(v):
    assert {"x0", "x1", "x2", "x3", "x4"} <= set(v["chosen"])
    assert len(v["chosen"]) < 20
    assert [v["X"].columns[event.feature] for event in v["order"][:5]] == ["x3", "x0", "x2", "x4", "x1"]
    full, sparse = v["accuracy"].values()
    assert sparse > full + 0.1
    assert v["full"].score(v["X"], v["y"]) == 1.0  # all columns fit the training rows without error
    assert np.count_nonzero(v["dense"].coef_) >= len(v["chosen"])


def unbalanced(v):
    f1, recall, accuracy = v["table"]["F1"], v["table"]["recall"], v["table"]["accuracy"]
    assert f1["F1"] == pytest.approx(f1["accuracy"], abs=0.02)  # the page says that the score alone changes little
    assert f1["F1 and threshold"] > f1["accuracy"] + 0.05
    assert recall["F1 and threshold"] > 2 * recall["accuracy"]
    assert accuracy["F1 and threshold"] < accuracy["accuracy"]


def model_life(v):
    assert v["low"] < v["error"] < v["high"]  # as good as promised
    assert v["difference"] < 1e-9
    assert np.allclose(v["slim"].predict(v["X"]), v["model"].predict(v["X"]))


def certificate(v):
    gaps = {place: gap for place, (gap, _, _) in v["seen"].items()}
    assert gaps[2, 100] < 1e-6
    assert gaps[10, 800] > 0.01
    assert all(distance <= bound for _, bound, distance in v["seen"].values())


def low_rank(v):
    errors, residuals = v["errors"], v["residuals"]["rpcholesky"]
    assert errors[25] < v["full"] + 0.0075
    assert residuals[v["ranks"].index(25)] > 1e-2  # not small yet
    assert v["path"].residual <= 1e-3


def hundred_thousand_rows(v):
    assert abs(v["choice"].score - v["measured"]) < 0.005
    few, many = (v["curves"][n].standard_errors.mean() for n in (6_250, 100_000))
    assert few / many == pytest.approx(4.0, rel=0.1)


def novelty(v):
    assert max(v["centre"], v["outside"]) < 0.01
    assert np.abs(v["ours"] - v["levels"]).max() < 0.03
    assert v["theirs"][2] > 1.8 * v["levels"][2]


# What each page says, checked in the names that its script has defined.
def quantiles(v):
    """Quantiles keep what they promise, sorting does no harm, and intervals cover small and large x alike."""
    assert np.abs(v["shares"] - v["levels"]).max() < 0.08
    assert v["pinball"](v["ordered"]) <= v["pinball"](v["plain"]) * (1 + 1e-12)
    assert np.abs(np.array(v["covered"]["quantiles"]) - 0.8).max() < 0.08
    assert v["covered"]["least squares"][1] - v["covered"]["least squares"][2] > 0.2


CLAIMS = {
    "certificate": certificate,
    "model_life": model_life,
    "feature_selection": feature_selection,
    "first_path": lambda v: v["difference"] < 1e-6,
    "grid_misses": grid_misses,
    "hundred_thousand_rows": hundred_thousand_rows,
    "kernel_film": kernel_film,
    "label_errors": lambda v: v["found"][27] >= 24 and v["found"][55] == 28,
    "loo_steps": lambda v: np.isclose(v["steps"](v["C"]), v["refitted"]),
    "low_rank": low_rank,
    "novelty": novelty,
    "prediction_intervals": lambda v: np.abs(v["measured"] - v["levels"]).max() < 0.05,
    "quantiles": quantiles,
    "s_path": s_path,
    "several_classes": several_classes,
    "surface": lambda v: v["difference"] < 1e-4,
    "unbalanced": unbalanced,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_and_tells_the_truth(name, tmp_path, monkeypatch, capsys):
    import matplotlib
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)  # where a film is written
    with matplotlib.rc_context():
        matplotlib.use("agg")
        monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
        variables = runpy.run_path(str(EXAMPLES[name]))
        plt.close("all")
    printed = capsys.readouterr()
    assert CLAIMS[name](variables) in (None, True, np.True_)
    assert printed.out
    lines = [line for line in printed.err.splitlines() if not line.startswith("svmpath: compiling")]
    assert not lines  # they would be on the page


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_a_page(name):
    text = EXAMPLES[name].read_text(encoding="utf-8")
    title, line = (ast.get_docstring(ast.parse(text)) or "").splitlines()[:2]
    assert line == "=" * len(title)
    chosen = re.search(r"^# sphinx_gallery_thumbnail_number = (\d+)$", text, re.MULTILINE)
    assert chosen
    assert 1 <= int(chosen[1]) <= len(FIGURE.findall(text))


def test_every_example_is_checked():
    assert CLAIMS.keys() == EXAMPLES.keys()
    assert len(EXAMPLES) >= 13


def test_every_section_has_a_header():
    for folder in (GALLERY, *{file.parent for file in EXAMPLES.values()}):
        assert (folder / "GALLERY_HEADER.rst").is_file()
