"""Constants: in one room a name means one thing."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "svmpath"


def constants(tree):
    """The names in capitals that a module gives a value."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and len(name.id) > 1 and name.id == name.id.upper():
                    yield name.id


def test_no_name_of_a_constant_is_defined_twice_in_one_room():
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in constants(ast.parse(path.read_text(encoding="utf-8"))):
            homes[path.parent, name].append(path.name)
    twice = {f"{room.relative_to(SOURCE)}: {name}": files for (room, name), files in homes.items() if len(files) > 1}
    assert not twice


def test_the_test_sees_constants():
    assert list(constants(ast.parse("A_B = 1\n_C1, _D2 = 2, 3\nvalue = 4\nE: int = 5"))) == ["A_B", "_C1", "_D2"]
