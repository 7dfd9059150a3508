"""Every error of a path that could not be followed says what to do about it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "svmpath"
ERRORS = {"PathError", "NoMarginError"}
REASONS = {"solvers/kernel_walk.py"}  # which another message takes up and adds a remedy to
REMEDIES = (
    "scale", "smaller C", "larger", "end the span earlier", "another kernel", "another loss", "Clipped", "tol",
    "remove", "leave out", "raise", "_ADVICE", "advice",
)  # fmt: skip


def messages():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(error in text for error in ERRORS) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ERRORS and name not in REASONS:
                words = [getattr(part, "value", getattr(part, "id", "")) for part in ast.walk(node.args[0])]
                words += [part.attr.lstrip("_") for part in ast.walk(node.args[0]) if isinstance(part, ast.Attribute)]
                message = " ".join(word for word in words if isinstance(word, str))
                if message:  # else one that is never raised as it is
                    yield f"{name}:{node.lineno}", message


MESSAGES = list(messages())


def test_there_are_messages_to_look_at():
    assert len(MESSAGES) >= 10


@pytest.mark.parametrize(("place", "message"), MESSAGES)
def test_a_message_names_a_remedy(place, message):
    assert any(remedy in message for remedy in REMEDIES), f"{place}: {message}"
