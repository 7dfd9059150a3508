"""Reports on a tuned model: facts as a dictionary, and functions that write them to files."""

from svmpath.report.render import to_json, write_files
from svmpath.report.summary import summarise

__all__ = ["summarise", "to_json", "write_files"]
