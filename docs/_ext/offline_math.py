"""Formulas as MathML, made while the pages are built: they show offline, and no script has to run.

latex2mathml copies a command that it does not know into the formula, backslash and all. That would be easy to overlook,
so each such formula is a warning here, and an error of ``make docs``.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_LOGGER = logging.getLogger(__name__)
_TAGS = re.compile(r"<[^>]*>")
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
    mathml = convert(latex, display=display)
    if "\\" in _TAGS.sub("", mathml):
        raise ValueError(f"latex2mathml does not know a command in: {latex}")
    return mathml


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


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name that ``html_math_renderer`` gives."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
