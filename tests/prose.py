"""A check of the English of the documentation: ``python tests/prose.py [FILE ...]``, part of ``make lint``.

Reads Markdown without its code and formulas and reports, one line each:

- a sentence of more than ``LONGEST`` words, which most readers have to read twice;
- a word that stands twice in a row;
- a word from ``INSTEAD``: jargon that we replaced by what the field says, filler, and spellings other than the British
  ones that we use everywhere;
- a page whose title is missing, is a sentence, or has more than ``TITLE`` words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("_build", "generated", "gallery")
LONGEST = 40
TITLE = 10
INSTEAD = {  # pattern: what to write instead
    r"(?:is|are|was|were|every \w+) told(?! apart)": "recorded, counted or listed",
    r"rungs?": "attempt",
    r"shaken": "perturbed",
    r"nobody": "say who or what",
    r"(?:simply|obviously|basically|of course)": "leave it out",
    r"(?:utili[sz]e[sd]?|utili[sz]ing)": "use",
    r"in order to": "to",
    r"due to the fact that": "because",
    r"(?:e\.g\.|i\.e\.|cf\.|w\.r\.t\.)": "for example, that is, see, with respect to",
    r"(?:color|behavior|neighbor|center|favor)(?:s|ed|ing)?": "the British spelling",
    r"(?:normal|standard|minim|maxim|optim|summar|random)iz(?:e|es|ed|ing|ation)": "the spelling with s",
}
_CODE = re.compile(r"^(`{3,}|:{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$", re.DOTALL)
_INLINE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<[^>]+>")
_END = re.compile(r"(?<=[.!?:;])[)\"']*\s+")
_WORD = re.compile(r"[^\W_][\w'-]*")
_BAD = {re.compile(rf"\b{pattern}(?!\w)", re.IGNORECASE): advice for pattern, advice in INSTEAD.items()}


class Fault(NamedTuple):
    """Something to mend, and where."""

    line: int
    words: str


def plain(text: str) -> str:
    """The text without code and formulas, in the same lines; what was part of a sentence counts as a word."""

    def empty(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    def word(found: re.Match[str]) -> str:
        return "x" + "\n" * found[0].count("\n")

    text = re.split(r"^## References$", text, flags=re.MULTILINE)[0]  # titles are quoted as they are
    front = re.compile(r"\A---\n.*?^---$", re.MULTILINE | re.DOTALL)
    for pattern, instead in ((front, empty), (_CODE, empty), (_COMMENT, empty), (_INLINE, word), (_FORMULA, word)):
        text = pattern.sub(instead, text)
    return _TAG.sub(empty, _LINK.sub(lambda found: found[1], text))


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items, cells of tables and headings: the number of the first line, and the text in one line."""
    begin, held = 1, []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        starts = re.match(r"\s*(?:[-*+]|\d+\.)\s+|#+\s|\|", line)
        if held and (starts or not line.strip()):
            yield begin, " ".join(held)
            held = []
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in line.split("|"))
        elif line.strip():
            begin = begin if held else number
            held.append(re.sub(r"^\s*(?:[-*+]|\d+\.|#+)\s+", "", line).strip())


def faults(text: str) -> list[Fault]:
    """What the check finds in a page."""
    text = plain(text)
    found = list(title_faults(text))
    for line, block in blocks(text):
        for sentence in _END.split(block):
            words = _WORD.findall(sentence)
            if len(words) > LONGEST:
                found.append(Fault(line, f"a sentence of {len(words)} words: {' '.join(words[:6])} ..."))
        found += [Fault(line, f"{twice[0]!r} stands twice") for twice in re.finditer(r"\b([a-z]{2,}) \1\b", block)]
        for pattern, advice in _BAD.items():
            found += [Fault(line, f"{bad[0]!r}: {advice}") for bad in pattern.finditer(block)]
    return found


def title_faults(text: str) -> Iterator[Fault]:
    """What is wrong with the title of a page."""
    title = re.search(r"^# (.*)$", text, re.MULTILINE)
    if title is None:
        yield Fault(1, "the page has no title")
    elif title[1].rstrip().endswith("."):
        yield Fault(1, f"the title is a sentence: {title[1]}")
    elif len(title[1].split()) > TITLE:
        yield Fault(1, f"the title has more than {TITLE} words: {title[1]}")


def pages() -> list[Path]:
    """What is checked by default."""
    written = (page for page in (ROOT / "docs").rglob("*.md") if not set(page.relative_to(ROOT).parts) & set(GENERATED))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(written)]


def main(names: list[str]) -> int:
    """Print what is found; the number of faults, at most one."""
    count = 0
    for page in [Path(name) for name in names] or pages():
        for fault in faults(page.read_text(encoding="utf-8")):
            print(f"{page}:{fault.line}: {fault.words}")
            count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
