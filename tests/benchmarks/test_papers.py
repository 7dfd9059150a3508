"""The pages about papers: each command names a script and options that exist, each picture is there and small."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/papers").glob("*.md"))
COMMAND = re.compile(r"(?:python |\$\(RUN\) |\$\(PAPERS\)/)((?:benchmarks/|examples/)?[\w/]+\.py)([^`|\n]*)")
PICTURE = re.compile(r"\]\(\.\./(_static/[^)]+)\)")
LARGEST = 150_000  # bytes


def commands():
    """Script and options of every command on the pages, of `make papers` and `make papers-full`."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    texts += [makefile.split(f"\n{target}:")[1].split("\n\n")[0] for target in ("papers", "papers-full")]
    found = {(script, options.strip()) for text in texts for script, options in COMMAND.findall(text)}
    return sorted((script if "/" in script else f"benchmarks/{script}", options) for script, options in found)


@pytest.mark.parametrize(("script", "options"), commands(), ids=lambda part: part.replace("benchmarks/", ""))
def test_command_exists(script, options, monkeypatch, capsys):
    assert (ROOT / script).is_file()
    flags = re.findall(r"--[A-Za-z-]+", options)
    if not flags:
        return
    monkeypatch.syspath_prepend(str((ROOT / script).parent))
    with pytest.raises(SystemExit):
        importlib.import_module(Path(script).stem).main(["--help"])
    known = set(re.findall(r"--[A-Za-z-]+", capsys.readouterr().out))
    assert set(flags) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_whole(page):
    text = page.read_text(encoding="utf-8")
    for picture in PICTURE.findall(text):
        assert (ROOT / "docs" / picture).stat().st_size < LARGEST
    if page.stem == "index":
        missing = [other.stem for other in PAGES if other is not page and other.stem not in text]
        assert not missing
        return
    for heading in ("## What svmpath implements", "## Where we differ", "## Errors found", "again\n"):
        assert heading in text


def test_every_script_of_a_paper_is_on_a_page():
    """A script named after a paper belongs on its page."""
    named = {script for script, _ in commands()}
    of_papers = {f"benchmarks/{file.name}" for file in (ROOT / "benchmarks").glob("[a-z]*20[0-9][0-9]_*.py")}
    assert len(of_papers) >= 9
    assert of_papers <= named
