"""Where svmpath 0.1 had a class that its pickled models hold: loading one says what to do instead."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "Motion":
        raise ValueError(
            "This model was saved by svmpath 0.1, whose models have other parts: fit it again, or load it with "
            "svmpath 0.1."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
