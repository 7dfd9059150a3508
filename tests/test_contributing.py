"""What CONTRIBUTING.md names exists: files, folders, tables, classes and functions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "svmpath"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (Add a.*?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.S))))
FILES = [name for name in QUOTED if re.fullmatch(r"[\w./<>]+\.(py|md)|[\w./]+/", name)]
NAMES = [name for name in QUOTED if re.fullmatch(r"[A-Za-z_][\w.]*(\([^)]*\))?", name) and name not in FILES]


@cache
def code() -> list[str]:
    files = [*SRC.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml", ROOT / "Makefile"]
    return [path.read_text(encoding="utf-8") for path in files if path.name != Path(__file__).name]


def test_there_are_recipes():
    assert {"Add a kernel", "Add a loss", "Add a path", "Add a criterion", "Add a command"} <= set(RECIPES)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_recipe_lists_the_files_to_touch(recipe):
    assert re.search(r"^Files: `", RECIPES[recipe], re.M), recipe


@pytest.mark.parametrize("name", FILES)
def test_files_exist(name):
    """From the root, or from the package; of a file that is yet to be written, its folder."""
    whole = name.split("<")[0]
    places = [ROOT / whole, SRC / whole, *SRC.glob(f"*/{whole}"), *SRC.glob(f"solvers/*/{whole}")]
    if "<" in name:
        places = [place.parent if not whole.endswith("/") else place for place in places]
    assert any(place.exists() for place in places)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_in_the_code(name):
    """The last part of a dotted name, as a word in some file of the package, the tests, the docs or the settings."""
    word = re.escape(name.split("(")[0].rsplit(".", 1)[-1])
    assert any(re.search(rf"\b{word}\b", text) for text in code())
