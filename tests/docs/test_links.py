"""Every page is in a table of contents, and every link in README.md and docs leads somewhere.

Web addresses are only parsed: tests do not use the network.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = {"api/generated", "gallery", "_build"}  # made by Sphinx
CODE = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1`*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^()\s>]+(?:\([^()]*\))?)>?(?:\s+\"[^\"]*\")?\)")
HTML = re.compile(r"(?:src|srcset|href)=\"([^\"]+)\"")
DEFINED = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def is_written(page):
    return not any(page.is_relative_to(DOCS / folder) for folder in GENERATED)


SOURCES = sorted(page for page in DOCS.rglob("*.md") if is_written(page))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md")), *SOURCES]


def prose(page):
    """The text of a page without its code, which may contain anything."""
    return CODE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text(encoding="utf-8"))


def links(page):
    text = prose(page)
    return [found[1] for pattern in (LINK, HTML, DEFINED) for found in pattern.finditer(text)]


def anchors(page):
    """The anchors of the headings of a page, as GitHub and MyST make them: a heading that comes again gets a number."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found, made = {}, set()
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        times = found.get(slug, 0)
        found[slug] = times + 1
        made.add(f"{slug}-{times}" if times else slug)
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def faults(page):
    """What is wrong with the links of a page, one sentence each."""
    return [fault for link in links(page) if (fault := fault_of(page, link))]


def fault_of(page, link):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        right = parts.scheme in ("http", "https", "mailto") and (parts.netloc or parts.scheme == "mailto")
        return None if right else f"{link} is no web address"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        generated = target.is_relative_to(DOCS) and not is_written(target)
        return None if generated else f"{link} names a file that is not there"
    if parts.fragment and target.suffix == ".md" and parts.fragment not in anchors(target):
        return f"{link} names a heading that is not there"
    return None


def entries(page):
    """The pages that the tables of contents of a page name."""
    for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
        lines = [line.strip() for line in block.splitlines()]
        for line in lines:
            if line and not line.startswith(":"):
                name = re.sub(r".*<(.*)>", r"\1", line)
                base = DOCS if name.startswith("/") else page.parent
                yield from (
                    sorted(base.glob(name.lstrip("/") + ".md"))
                    if "*" in name
                    else [(base / (name.lstrip("/") + ".md")).resolve()]
                )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert not faults(page)


def test_every_page_is_in_one_table_of_contents():
    named = [entry for page in SOURCES for entry in entries(page)]
    assert sorted(set(SOURCES) - set(named)) == [DOCS / "index.md"]
    assert sorted({entry for entry in named if named.count(entry) > 1}) == []
    assert [entry for entry in named if not entry.exists() and is_written(entry)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](other.md)", []),
        ("[a](other.md#one-heading)", []),
        ("[a](other.md#one-heading-1)", []),
        ("[a](#here)", []),
        ("[a](https://example.org/x)", []),
        ("`[a](lost.md)`\n\n```text\n[a](lost.md)\n```\n", []),
        ("[a](lost.md)", ["lost.md names a file that is not there"]),
        ("[![picture](lost.png)](other.md)", ["lost.png names a file that is not there"]),
        ('<img src="lost.png">', ["lost.png names a file that is not there"]),
        ("[a](other.md#two)", ["other.md#two names a heading that is not there"]),
        ("[a](htp://example.org)", ["htp://example.org is no web address"]),
    ],
)
def test_checker_finds_what_is_wrong(text, expected, tmp_path):
    (tmp_path / "other.md").write_text("# One `heading`\n\n## One heading\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(f"# Here\n\n{text}\n", encoding="utf-8")
    assert faults(page) == expected
