"""The site is built, without running the gallery's examples, and its pages are read as a browser would: offline."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("pydata_sphinx_theme", reason="the extra docs is not installed")

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}  # without being clicked
NOT_TEXT = {"script", "style", "pre", "code", "math"}
LATEX = re.compile(r"\\(?:[a-zA-Z]{2,}|[()\[\]])|\$\$|(?<!\w)\$[^$\n]{1,60}\$(?!\w)")

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a browser loads for a page, and the text that it shows outside code and formulas."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.text, self.formulas, self._inside = [], [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in LOADED and not (
            tag == "link" and given.get("rel") in ("canonical", "author", "search", "next", "prev")
        ):
            self.loads.append(given.get(LOADED[tag]) or "")
        if tag in NOT_TEXT:
            self._inside.append(tag)
        self.formulas += tag == "math"

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        if not self._inside:
            self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built pages."""
    folder = tmp_path_factory.mktemp("site")
    left_out = shutil.ignore_patterns("_build", "generated", "gallery")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=left_out)
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "src").symlink_to(ROOT / "src")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-D",
        "plot_gallery=0",
        "-b",
        "html",
        "docs",
        "html",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    files = [file for file in site.rglob("*.html") if "_static" not in file.parts]  # there are templates of the theme
    return {str(file.relative_to(site)): Page(file.read_text(encoding="utf-8")) for file in files}


def test_no_page_needs_the_network(site, pages):
    assert len(pages) > 100
    assert {name: bad for name, page in pages.items() if (bad := [x for x in page.loads if "//" in x])} == {}
    sheets = [sheet.read_text(encoding="utf-8") for sheet in site.rglob("*.css")]
    assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", "\n".join(sheets))


def test_what_pages_load_is_there(site, pages):
    for name, page in pages.items():
        wanted = [(site / name).parent / load.split("?")[0].split("#")[0] for load in page.loads if ":" not in load]
        assert [file for file in wanted if not file.exists()] == []


def test_formulas_show(site, pages):
    assert (site / "_static" / "fonts" / "math.woff").stat().st_size > 100_000
    derivations = {name: page for name, page in pages.items() if name.startswith("math/") and name != "math/index.html"}
    assert all(page.formulas > 5 for page in derivations.values())
    raw = {name: found for name, page in pages.items() if (found := LATEX.findall(" ".join(page.text)))}
    assert raw == {}


def test_navigation_and_reference(site, pages):
    landing = (site / "index.html").read_text(encoding="utf-8")
    for title in ("Start", "Guide", "Gallery", "Derivations", "Papers", "Reference", "FAQ"):
        assert re.search(rf'class="nav-link[^>]*>\s*{title}\s*<', landing)
    estimator = (site / "api/generated/svmpath.PathSVC.html").read_text(encoding="utf-8")
    for part in ("Methods", "predict_proba", "predict_set", "Examples", "admonition seealso", "sphx-glr-thumbnails"):
        assert part in estimator
