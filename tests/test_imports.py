"""Imports go down only, and outside packages enter by their own doors."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "svmpath"

# A room may import the rooms below it in this list; "estimators" and "displays" stand side by side.
ORDER = [
    "cli",
    "report",
    "export",
    "estimators",
    "displays",
    "distributed",
    "search",
    "criteria",
    "paths",
    "losses",
    "solvers",
    "gram",
    "kernels",
    "exceptions",
    "chunked",
    "lazy",
    "interrupts",
    "validation",
    "names",
    "notebook",
    "parameters",
    "progress",
    "ranges",
    "row_order",
    "scale",
]
BOTTOM = {
    "chunked",
    "exceptions",
    "lazy",
    "interrupts",
    "names",
    "notebook",
    "parameters",
    "progress",
    "ranges",
    "row_order",
    "validation",
}  # anyone may import these
LEAVES = {"datasets": {"cli"}}  # who may import a leaf
DOORS = {
    "typer": {"cli"},
    "rich": {"cli"},
    "tomli_w": {"cli"},
    "skops": {"cli", "report"},
    "pandas": {"cli", "datasets", "displays", "distributed", "estimators", "report", "search"},
    "pyarrow": {"datasets", "distributed"},
    "arff": {"datasets"},
    "matplotlib": {"displays"},
    "plotly": {"report"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "numba": {"solvers"},
    "onnx": {"export"},
    "skl2onnx": {"cli", "export"},
}


def files():
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room(path):
    part = path.relative_to(SOURCE).parts[0]
    return "cli" if part == "__main__.py" else part.removesuffix(".py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "svmpath":
                yield from (f"svmpath.{alias.name}" for alias in node.names)


def allowed(source, target):
    if source == target or target in BOTTOM:
        return True
    if target in LEAVES:
        return source in LEAVES[target]
    if source not in ORDER or target not in ORDER or {source, target} == {"estimators", "displays"}:
        return False
    return ORDER.index(source) < ORDER.index(target)


def test_imports_go_down():
    for path, name in [(each, name) for each in files() for name in imported(each)]:
        parts = name.split(".")
        if parts[0] == "svmpath" and len(parts) > 1:
            if not (SOURCE / parts[1]).exists() and not (SOURCE / f"{parts[1]}.py").exists():
                continue  # a name of the package, such as __version__
            assert allowed(room(path), parts[1]), f"{path}: {room(path)} must not import {parts[1]}"
        elif parts[0] in DOORS:
            assert room(path) in DOORS[parts[0]], f"{path}: {parts[0]} enters by {DOORS[parts[0]]}, not by {room(path)}"


def test_the_guard_sees_a_wrong_import():
    assert not allowed("kernels", "gram")
    assert not allowed("criteria", "search")
    assert not allowed("estimators", "datasets")
    assert allowed("estimators", "kernels")


def test_there_is_no_drawer_for_odds_and_ends():
    assert not [path for path in files() if path.stem in ("utils", "helpers", "misc")]


@pytest.mark.slow
def test_the_import_loads_nothing_for_pictures():
    program = (
        "import sys; from svmpath import PathSVC, Report; print(*{'matplotlib', 'plotly', 'jinja2'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


@pytest.mark.slow
def test_a_default_fit_loads_nothing_that_it_does_not_need():
    program = """
import sys
import sklearn.model_selection, sklearn.svm
before = set(sys.modules)
from svmpath import PathSVC
imported = set(sys.modules)
PathSVC(gamma=1.0, C=[1.0]).fit([[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1])
print(*sorted({name.split(".")[0] for name in set(sys.modules) - imported}))
unneeded = {"numba", "sklearn.cluster", "sklearn.manifold", "matplotlib", "svmpath.displays"}
print(*sorted(unneeded & (set(sys.modules) - before)))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "\n\n"  # the import brings all that a fit needs, and none of what takes long to load
