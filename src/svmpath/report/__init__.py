"""What a tuned model has to say: facts as a dictionary, and ways to write them down."""

from svmpath.report.render import write_files, write_json
from svmpath.report.summary import summarise

__all__ = ["summarise", "write_files", "write_json"]
