"""What a tuned model has to say: facts as a dictionary, and ways to write them down."""

from svmpath.report.render import to_json, write_files
from svmpath.report.summary import summarise

__all__ = ["summarise", "to_json", "write_files"]
