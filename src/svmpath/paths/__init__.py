"""Paths: the solution as a function of a hyper-parameter."""

from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.elastic import ElasticPath
from svmpath.paths.jump import JumpPath
from svmpath.paths.march import MarchPath
from svmpath.paths.nodes import NodePath
from svmpath.paths.path import Event, Path
from svmpath.paths.s_path import SPath
from svmpath.paths.trace import trace, trace_problem

__all__ = [
    "ClosedFormPath",
    "ElasticPath",
    "Event",
    "JumpPath",
    "MarchPath",
    "NodePath",
    "Path",
    "SPath",
    "trace",
    "trace_problem",
]
