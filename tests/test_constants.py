"""Constants: in one room a name means one thing."""

import ast
import importlib
from collections import defaultdict
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).parents[1] / "src" / "svmpath"


def constants(tree):
    """The names in capitals that a module gives a value."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and len(name.id) > 1 and name.id == name.id.upper():
                    yield name.id


def test_in_one_room_a_name_has_one_value():
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in constants(ast.parse(path.read_text(encoding="utf-8"))):
            homes[path.parent, name].append(path.name)
    twice = {(room, name): files for (room, name), files in homes.items() if len(files) > 1}
    assert not {f"{room}: {name}": files for (room, name), files in twice.items() if not is_same(room, name, files)}


def is_same(room, name, files):
    """Whether a constant has the same value in all these files: a machine's epsilon, say."""
    package = ".".join(("svmpath", *room.relative_to(SOURCE).parts))
    values = [getattr(importlib.import_module(f"{package}.{file.removesuffix('.py')}"), name) for file in files]
    return all(type(value) in (int, float, np.float64) and value == values[0] for value in values)


def test_the_test_sees_constants():
    assert list(constants(ast.parse("A_B = 1\n_C1, _D2 = 2, 3\nvalue = 4\nE: int = 5"))) == ["A_B", "_C1", "_D2"]
