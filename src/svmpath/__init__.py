"""Tune support vector machines by following the path, not by searching a grid."""

from svmpath import criteria, kernels
from svmpath.estimators import PathSVC, PathSVR
from svmpath.exceptions import DataError, IndefiniteKernelWarning, PathError
from svmpath.paths import trace
from svmpath.selection import select

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "IndefiniteKernelWarning",
    "PathError",
    "PathSVC",
    "PathSVR",
    "__version__",
    "criteria",
    "kernels",
    "select",
    "trace",
]
