"""Rows in chunks: paths of low-rank machines on Dask arrays and data frames, on one computer or a cluster."""

from svmpath.distributed.curve import ChunkedCurve
from svmpath.distributed.data import for_sample, make_features, read
from svmpath.distributed.files import read_parquet, sample_rows, scheduler, transformed, with_target
from svmpath.distributed.machines import make_path
from svmpath.distributed.path import ChunkedPath, ChunkedSolution
from svmpath.distributed.predict import map_method
from svmpath.distributed.trace import check_loss, fit_scaler, refuse_pairwise, shape_of, trace, with_classes

__all__ = [
    "ChunkedCurve",
    "ChunkedPath",
    "ChunkedSolution",
    "check_loss",
    "fit_scaler",
    "for_sample",
    "make_features",
    "make_path",
    "map_method",
    "read",
    "read_parquet",
    "refuse_pairwise",
    "sample_rows",
    "scheduler",
    "shape_of",
    "trace",
    "transformed",
    "with_classes",
    "with_target",
]
