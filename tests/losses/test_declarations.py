"""What a loss can do is declared on its class: no other file looks it up by its name or its class."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import svmpath
from svmpath.losses import LOSSES, labels_of, quick_losses
from svmpath.paths import TRACKERS

SRC = Path(svmpath.__file__).parent
CLASSES = {kind.__name__ for kind in LOSSES.values()}
# Names of options as the command line writes them out, names of examples, and per-sample scores with the same names.
WRITTEN_OUT = {
    "cli/options.py": set(LOSSES),
    "cli/tune.py": {"epsilon_insensitive"},
    "cli/compile.py": {"hinge"},
    "criteria/curve.py": {"squared_hinge"},
    "report/curves.py": {"squared_hinge"},
    "paths/surface.py": {"hinge"},  # the default
    "search/screen.py": {"least_squares"},  # by which every screen scores
}


def names_in(path: Path) -> set[str]:
    """Names of losses in a file that are whole strings, and classes of losses that something is compared with."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in LOSSES and id(node) not in docs and node.value != "nu":
            found.add(node.value)
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "type"):
            parts = list(node.args)
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        for part in parts:
            found |= {each.id for each in ast.walk(part) if isinstance(each, ast.Name) and each.id in CLASSES}
    return found


FILES = [path for path in sorted(SRC.rglob("*.py")) if path.parent.name != "losses"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_file_looks_up_a_loss(path):
    assert names_in(path) <= WRITTEN_OUT.get(path.relative_to(SRC).as_posix(), set())


def test_declarations_are_complete():
    for name, kind in LOSSES.items():
        assert labels_of(name)[0]
        assert set(kind.followed_by.values()) <= set(TRACKERS)
        assert bool(kind.policy.chunked) == ("chunks" in kind.followed_by)
    assert labels_of("another") == ("another", "")


def test_quick_losses_begin_with_the_default():
    assert quick_losses("classification") == ["squared_hinge", "least_squares"]
    assert quick_losses("regression") == ["least_squares"]
