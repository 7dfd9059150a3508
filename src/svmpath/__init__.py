"""Tune support vector machines by following the path, not by searching a grid."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from svmpath.exceptions import (
    ChunkWarning,
    DataError,
    EdgeWarning,
    IndefiniteKernelWarning,
    LimitWarning,
    PathError,
    PrecisionWarning,
    WeakModelWarning,
)

if TYPE_CHECKING:
    from svmpath import criteria, datasets, displays, export, gram, kernels, scale
    from svmpath.estimators import ElasticNetSVC, KernelDictionary, PathOneClassSVM, PathSVC, PathSVR
    from svmpath.estimators.pipelines import importance, predict_interval, predict_set
    from svmpath.gram.memory import config_context, set_config
    from svmpath.paths import surface, trace, trace_elastic, trace_joint
    from svmpath.ranges import Range
    from svmpath.report import Report
    from svmpath.search import select

__version__ = "0.2.0"

__all__ = [
    "ChunkWarning",
    "DataError",
    "EdgeWarning",
    "ElasticNetSVC",
    "IndefiniteKernelWarning",
    "KernelDictionary",
    "LimitWarning",
    "PathError",
    "PathOneClassSVM",
    "PathSVC",
    "PathSVR",
    "PrecisionWarning",
    "Range",
    "Report",
    "WeakModelWarning",
    "__version__",
    "config_context",
    "criteria",
    "datasets",
    "displays",
    "export",
    "gram",
    "importance",
    "kernels",
    "predict_interval",
    "predict_set",
    "scale",
    "select",
    "set_config",
    "surface",
    "trace",
    "trace_elastic",
    "trace_joint",
]

# The modules of the names. They are imported when first used: scikit-learn takes a second to load, which
# ``svmpath --help`` need not wait for.
_MODULES = {
    "ElasticNetSVC": "svmpath.estimators",
    "KernelDictionary": "svmpath.estimators",
    "PathOneClassSVM": "svmpath.estimators",
    "PathSVC": "svmpath.estimators",
    "PathSVR": "svmpath.estimators",
    "Range": "svmpath.ranges",
    "Report": "svmpath.report",
    "importance": "svmpath.estimators.pipelines",
    "predict_interval": "svmpath.estimators.pipelines",
    "predict_set": "svmpath.estimators.pipelines",
    "config_context": "svmpath.gram.memory",
    "select": "svmpath.search",
    "set_config": "svmpath.gram.memory",
    "surface": "svmpath.paths",
    "trace": "svmpath.paths",
    "trace_elastic": "svmpath.paths",
    "trace_joint": "svmpath.paths",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in __all__:
        return import_module(f"svmpath.{name}")
    raise AttributeError(f"module 'svmpath' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
