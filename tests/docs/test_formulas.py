"""Formulas of the documentation become MathML: every one of them, and what browsers would show wrongly is adapted."""

import re
import sys
from pathlib import Path

import pytest

from tests.speed import first_quick

pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
pytest.importorskip("sphinx", reason="the extra docs is not installed")
pytest.importorskip("fontTools", reason="the extra docs is not installed")

DOCS = Path(__file__).resolve().parents[2] / "docs"
CODE = re.compile(r"^```(?!\{math).*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$", re.DOTALL)
PAGES = sorted(page for page in DOCS.rglob("*.md") if "$" in page.read_text(encoding="utf-8"))


@pytest.fixture
def to_mathml(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS / "_ext"), *sys.path])
    import offline_math

    return offline_math.to_mathml


@first_quick(8)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_formula_is_understood(page, to_mathml):
    for found in FORMULA.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        latex = re.sub(r"\\tag\{[^}]*\}", "", found[1] or found[2])
        assert "\\" not in re.sub(r"<[^>]*>", "", to_mathml(latex))


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\mathbf 1", "<mn>\U0001d7cf</mn>"),
        (r"\mathbb R", "<mi>\u211d</mi>"),
        (r"|x|", '<mo stretchy="false" lspace="0" rspace="0">|</mo><mi>x</mi>'),
        (r"1/n", '<mo stretchy="false" lspace="0" rspace="0">/</mo>'),
        (r"\mathrm{E}", '<mi mathvariant="normal">E</mi>'),
        (r"\tilde K", '<mover accent="true">'),
        (r"\max_i x", '<munder><mo movablelimits="true"'),
        (r"\operatorname{diag}(s)", "<mi>diag</mi><mo"),
        (r"\log C", '<mi>log</mi><mspace width="0.167em" />'),
        (r"a\!b", '<mspace width="-0.167em" />'),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "<mtable"),
    ],
)
def test_adapted_to_browsers(latex, part, to_mathml):
    assert part in to_mathml(latex)


@pytest.mark.parametrize("latex", [r"\nosuchcommand x", r"a & b", r"a \\ b"])
def test_what_is_not_understood_is_an_error(latex, to_mathml):
    with pytest.raises(ValueError, match="does not know a command"):
        to_mathml(latex)
