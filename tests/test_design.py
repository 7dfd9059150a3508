"""``docs/design.md`` names rooms, files and tables that are there."""

import re
from importlib import import_module
from pathlib import Path

from svmpath.paths import Path as MachinePath
from tests.test_imports import ORDER

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs/design.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src/svmpath"


def section(title):
    """The text below a heading, up to the next."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_rooms_are_those_of_the_package():
    rooms = re.findall(r"^\| `(\w+)` \|", section("The rooms"), re.MULTILINE)
    assert set(rooms) == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert [room for room in ORDER if room in rooms] == rooms[:-1]
    assert rooms[-1] == "datasets"


def test_files_are_there():
    for name in set(re.findall(r"`([\w/*]+\.py)`", TEXT)) - {"utils.py"}:  # which there is not
        assert [*SOURCE.glob(name), *ROOT.glob(name)], name
    for room, words in re.findall(r"^\| `(\w+)` \| (.*) \|$", section("The rooms"), re.MULTILINE):
        for name in set(re.findall(r"`([a-z_]+)`", words)) - {"fit", "cli"}:  # a method, and a room
            assert (SOURCE / room / f"{name}.py").exists(), f"{room}/{name}.py"


def test_tables_and_methods_are_there():
    for room, name in re.findall(r"^\| `(\w+)\.([A-Z]+)` \|", section("The contracts"), re.MULTILINE):
        assert getattr(import_module(f"svmpath.{room}"), name)
    methods = re.findall(r"`(\w+)\((?:\w+)?\)`|`(\w+)`", section("The contracts").split("\n\n")[1])
    known = {*dir(MachinePath), *MachinePath.__dataclass_fields__}
    assert {first or second for first, second in methods} - {"path", "Path"} <= known


def test_it_stays_short_and_has_its_picture():
    assert len(TEXT.splitlines()) <= 120
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).exists(), target
