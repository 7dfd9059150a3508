"""Paths: the solution as a function of a hyper-parameter."""

from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.elastic import ElasticPath
from svmpath.paths.full_kernel_path import FullKernelPath
from svmpath.paths.interior import InteriorPath
from svmpath.paths.joint import JointPath, trace_joint
from svmpath.paths.jump import JumpPath
from svmpath.paths.kernel_march import KernelPath, NewtonKernelPath, OverKernel
from svmpath.paths.march import MarchPath
from svmpath.paths.nodes import NodePath
from svmpath.paths.path import Event, Path, Request
from svmpath.paths.s_path import SPath
from svmpath.paths.sample_path import SamplePath
from svmpath.paths.store import KernelStore
from svmpath.paths.surface import Curves, Surface, surface
from svmpath.paths.trace import trace
from svmpath.paths.trace_elastic import trace_elastic
from svmpath.paths.trackers import TRACKERS, trace_problem

__all__ = [
    "TRACKERS",
    "ClosedFormPath",
    "Curves",
    "ElasticPath",
    "Event",
    "FullKernelPath",
    "InteriorPath",
    "JointPath",
    "JumpPath",
    "KernelPath",
    "KernelStore",
    "MarchPath",
    "NewtonKernelPath",
    "NodePath",
    "OverKernel",
    "Path",
    "Request",
    "SPath",
    "SamplePath",
    "Surface",
    "surface",
    "trace",
    "trace_elastic",
    "trace_joint",
    "trace_problem",
]
