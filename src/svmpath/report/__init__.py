"""Reports on a tuned model: its facts, a page with pictures, and functions that write them to files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svmpath.report.render import to_json, write_files
from svmpath.report.summary import summarise

if TYPE_CHECKING:
    from svmpath.report.page import Report

__all__ = ["Report", "summarise", "to_json", "write_files"]


def __getattr__(name: str) -> Any:
    if name == "Report":
        from svmpath.report.page import Report  # which the command line may not need

        return Report
    raise AttributeError(f"module 'svmpath.report' has no attribute {name!r}")
