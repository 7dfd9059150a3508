"""Formulas as MathML, made while the pages are built: they show offline, and no script has to run.

latex2mathml reads the LaTeX. What it writes is then adapted to browsers: they know one value of ``mathvariant`` and no
named widths, take a bar in the middle of a row for an operator, and set names such as ``diag`` like one. A command that
latex2mathml does not know stays in the formula, backslash and all. That would be easy to overlook, so each is a warning
here, and an error of ``make docs``.

Browsers need a font with a table of mathematical constants. Many systems have none, so STIX Two Math (SIL Open Font
License) is copied into the site, reduced to the blocks of Unicode that formulas use.
"""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

FONT = "math.woff"
BLOCKS = (  # of the font: Latin, Greek, accents, punctuation, letters, arrows and operators, alphabets
    *((0x20, 0x17F), (0x237, 0x237), (0x2C6, 0x2DD), (0x300, 0x3FF), (0x2000, 0x214F), (0x2190, 0x23FF)),
    *((0x25A0, 0x25FF), (0x27E0, 0x27EF), (0x2A00, 0x2AFF), (0x1D400, 0x1D7FF)),
)
WIDTHS = {"negativethinmathspace": "-0.167em", "thinmathspace": "0.167em"}
ALPHABETS = {"bold": "BOLD", "double-struck": "DOUBLE-STRUCK", "monospace": "MONOSPACE"}
KINDS = {"Lu": "CAPITAL ", "Ll": "SMALL ", "Nd": "DIGIT "}
TIGHT = ("|", "\u2016", "/")
ACCENTS = ("~", "^", "\u02d9", "\u00a8", "\u00af")
LIMITS = ("max", "min", "argmin")  # what is written below them stands below them, in a formula of its own
RELATIONS = (":", ";", "\u2aaf")
OPENS = ("(", "[", "{", "|", "\u2016", ",", ")")

_LOGGER = logging.getLogger(__name__)
_LOST = re.compile(r"\\(?![^<]*>)|>&<|linebreak")  # a command, a column or a line that has become a sign
_UPRIGHT = re.compile(r"<mi>(?=&#x000[4-7][0-9A-F];)")  # one letter in \\mathrm: written by its number
_TAG = re.compile(r"\\tag\{([^}]*)\}")


def to_mathml(latex: str, display: str = "inline") -> str:
    r"""MathML of a formula; ``ValueError`` if a part of it is not understood.

    Examples
    --------
    >>> to_mathml("x")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>x</mi></mrow></math>'
    >>> to_mathml(r"\nosuchcommand x")
    Traceback (most recent call last):
    ValueError: latex2mathml does not know a command in: \nosuchcommand x
    """
    text = convert(latex.replace("{aligned}", "{split}"), xmlns="", display=display)
    if _LOST.search(text):
        raise ValueError(f"latex2mathml does not know a command in: {latex}")
    root = ElementTree.fromstring(_UPRIGHT.sub(r'<mi mathvariant="normal">', text))
    for parent in list(root.iter()):
        _space_names(parent)
        for mend in (_spell, _tighten, _set_accent, _move_limits, _name_width):
            mend(parent)
    root.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    return ElementTree.tostring(root, encoding="unicode")


def _spell(node: Element) -> None:
    """Bold 1 is a character of its own: browsers know no other ``mathvariant`` than "normal"."""
    alphabet = ALPHABETS.get(node.get("mathvariant", ""))
    if alphabet and node.text:
        del node.attrib["mathvariant"]
        node.text = "".join(_letter(alphabet, sign) for sign in node.text)


def _letter(alphabet: str, sign: str) -> str:
    kind = KINDS.get(unicodedata.category(sign))
    name = unicodedata.name(sign).split()[-1]
    for family in ("MATHEMATICAL ", ""):  # some letters, such as the real numbers' R, are older than their alphabet
        try:
            return unicodedata.lookup(f"{family}{alphabet} {kind}{name}")
        except KeyError:
            continue
    return sign


def _tighten(node: Element) -> None:
    """Bars enclose, and fractions in a line are short: no space around them, and the height of a letter."""
    if node.tag == "mo" and node.text in TIGHT and "minsize" not in node.attrib and "fence" not in node.attrib:
        node.attrib.update(stretchy="false", lspace="0", rspace="0")


def _set_accent(node: Element) -> None:
    if node.tag == "mover" and node[1].text in ACCENTS:
        node.set("accent", "true")
        node[1].set("stretchy", "false")


def _move_limits(node: Element) -> None:
    if node.tag == "msub" and node[0].text in LIMITS:
        node.tag = "munder"
        node[0].tag = "mo"
        node[0].attrib.update(movablelimits="true", lspace="0.167em", rspace="0.167em")


def _name_width(node: Element) -> None:
    if node.tag == "mspace":
        node.set("width", WIDTHS.get(node.get("width", ""), node.get("width", "0")))


def _space_names(row: Element) -> None:
    """Names of functions are upright words with a thin space before an argument without parentheses."""
    for place, node in reversed(list(enumerate(row))):
        text = node.text or ""
        if node.tag == "mi" and text in RELATIONS:
            node.tag = "mo"
        if node.tag not in ("mo", "mi") or len(text) < 2 or not text.isalpha():
            continue
        follows = row[place + 1] if place + 1 < len(row) else None
        node.tag = "mi"
        if row.tag in ("mrow", "mtd", "math", "mstyle") and follows is not None and _first(follows) not in OPENS:
            row.insert(place + 1, Element("mspace", width="0.167em"))


def _first(node: Element) -> str:
    return next(iter(node.itertext()), "")


def _append(writer: HTML5Translator, node: nodes.Element, latex: str, display: str) -> None:
    try:
        writer.body.append(to_mathml(latex, display))
    except Exception as error:
        _LOGGER.warning("%s", error, location=node)


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula of a sentence."""
    writer.body.append(writer.starttag(node, "span", "", CLASS="math"))
    _append(writer, node, node.astext(), "inline")
    writer.body.append("</span>")
    raise nodes.SkipNode


def visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number if it has one."""
    latex = node.astext().strip()
    number = _TAG.search(latex)
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    _append(writer, node, _TAG.sub("", latex), "block")
    if number:
        writer.body.append(f'<span class="eqno">({number[1]})</span>')
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def write_font(folder: Path) -> None:
    """Write the font of the formulas, which ziamath brings along, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as file, TTFont(file) as font:
        reduced = subset.Subsetter()
        reduced.populate(unicodes=[code for first, last in BLOCKS for code in range(first, last + 1)])
        reduced.subset(font)
        font.flavor = "woff"
        font.save(folder / FONT)


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        write_font(Path(app.outdir) / "_static" / "fonts")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name that ``html_math_renderer`` gives."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
