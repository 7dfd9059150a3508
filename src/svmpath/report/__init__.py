"""Reports on a tuned model: facts as a dictionary, and functions that write them to files."""

from svmpath.report.render import write_files, write_json
from svmpath.report.summary import summarise

__all__ = ["summarise", "write_files", "write_json"]
