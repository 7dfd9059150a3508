"""The check of the English of the documentation finds what it is meant to find, and leaves code and formulas alone."""

import subprocess
import sys

import pytest

from tests import prose

LONG = " ".join(["one", "two", *["three", "four"] * prose.LONGEST][: prose.LONGEST + 1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A short sentence.", []),
        (f"{LONG}.", [(3, f"a sentence of {prose.LONGEST + 1} words")]),
        (f"One line.\n\nTwo lines,\n{LONG}.", [(5, f"a sentence of {prose.LONGEST + 3} words")]),
        ("| a cell | " + LONG + " |", [(3, "a sentence of")]),
        (f"- {LONG}", [(3, "a sentence of")]),
        ("the the path", [(3, "'the the' stands twice")]),
        ("Paris in the\nthe spring", [(3, "'the the' stands twice")]),
        ("Every event told.", [(3, "'Every event told': recorded")]),
        ("Classes that cannot be told apart.", []),
        ("The color is red.", [(3, "'color': the British")]),
        ("It is standardized, i.e. scaled.", [(3, "'i.e.'"), (3, "'standardized'")]),
        ("`the the` and $the the$ and `standardize`.", []),
        (f"```python\n{LONG}\n```", []),
        (f"$$\n{LONG}\n$$", []),
        (f"Text.\n\n## References\n\n{LONG}", []),
    ],
)
def test_finds(text, expected):
    found = prose.faults(f"# Title\n\n{text}\n")
    assert [fault.line for fault in found] == [line for line, _ in expected]
    assert all(fault.words.startswith(begin) for fault, (_, begin) in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("page", "begin"),
    [
        ("No title.\n", "the page has no title"),
        ("# Every event is recorded.\n", "the title is a sentence"),
        ("# One two three four five six seven eight nine ten eleven\n", "the title has more than 10 words"),
    ],
)
def test_finds_riddles_for_titles(page, begin):
    assert [fault.words.startswith(begin) for fault in prose.faults(page)] == [True]


def test_as_a_program(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nThe the.\n\nthe the path\n", encoding="utf-8")
    done = subprocess.run([sys.executable, prose.__file__, str(page)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"{page}:5: 'the the' stands twice\n")
    page.write_text("# Title\n", encoding="utf-8")
    assert subprocess.run([sys.executable, prose.__file__, str(page)], check=False).returncode == 0


def test_every_page_is_read():
    names = {str(page.relative_to(prose.ROOT)) for page in prose.pages()}
    assert {"README.md", "docs/index.md", "docs/start.md", "docs/guide/index.md", "docs/math/span.md"} <= names
