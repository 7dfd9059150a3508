"""Tests that fail on some machines only: what makes them do so is found in their sources."""

import ast
from pathlib import Path

import pytest

FILES = [path for path in Path(__file__).parent.rglob("*.py") if path.name.startswith(("test_", "conftest"))]
CLOCKS = {
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "monotonic",
    "monotonic_ns",
    "thread_time",
}
LEAST = 60.0  # seconds; a process that a busy machine keeps waiting may take that long to begin


def faults(source):
    """What each line may not do."""
    nodes = list(ast.walk(ast.parse(source)))
    closed = {id(item.context_expr) for node in nodes if isinstance(node, ast.With) for item in node.items}
    closed |= {id(node.value) for node in nodes if isinstance(node, ast.Return)}  # by whoever asked for it
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name | ast.alias):
            name = {ast.Attribute: "attr", ast.Name: "id", ast.alias: "name"}[type(node)]
            if getattr(node, name) in CLOCKS or (getattr(node, name) == "time" and ast.unparse(node) == "time.time"):
                yield f"line {node.lineno}: looks at a clock, which is for benchmarks"
        if isinstance(node, ast.Call):
            for each in node.keywords:
                value = each.value.value if isinstance(each.value, ast.Constant) else None
                if each.arg == "timeout" and value is not None and value < LEAST:
                    yield f"line {node.lineno}: waits for less than {LEAST:.0f} s"
            if getattr(node.func, "attr", getattr(node.func, "id", None)) not in ("load", "Popen"):
                continue
            called = ast.unparse(node.func)
            is_archive = called == "np.load" and ".npz" in ast.unparse(node)
            if (is_archive or called.endswith("Popen")) and id(node) not in closed:
                yield f"line {node.lineno}: {called} without a with statement"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("start = time.perf_counter()", "clock"),
        ("from time import monotonic", "clock"),
        ("assert time.time() < end", "clock"),
        ("child.communicate(timeout=20)", "less than 60 s"),
        ("found = np.load('path.npz')", "np.load without"),
        ("child = subprocess.Popen(command)", "Popen without"),
    ],
)
def test_habits_are_found(source, words):
    (fault,) = faults(source)
    assert words in fault


def test_no_test_depends_on_the_machine():
    assert len(FILES) > 100
    found = {str(path): list(faults(path.read_text(encoding="utf-8"))) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}
