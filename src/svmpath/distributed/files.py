"""Files in chunks, and the scheduler that works on them: what the command line needs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from typing import Any

import dask
import numpy as np
from dask.system import CPU_COUNT

from svmpath.distributed import cluster
from svmpath.exceptions import DataError
from svmpath.gram.memory import parse_bytes
from svmpath.names import did_you_mean

SCHEDULERS = ("threads", "processes")
_CONNECT = "10s"  # how long to wait for a scheduler's answer


def read_parquet(pattern: str) -> Any:
    """The Dask data frame of all parquet files that a pattern names, in the order of their names.

    All files must have the same columns, in any order.
    """
    import dask.dataframe as dd

    files = sorted(glob(pattern))
    if not files:
        raise DataError(f"there is no file {pattern!r}; check the pattern and the folder")
    others = [file for file in files if not file.endswith((".parquet", ".pq"))]
    if others:
        raise DataError(f"data in chunks are read from parquet files only, but {others[0]!r} is none; convert it first")
    _check_columns(files)
    try:
        return dd.read_parquet(files)
    except (OSError, ValueError) as error:
        raise DataError(f"{pattern}: the files cannot be read ({str(error).splitlines()[0]})") from error


def _check_columns(files: Sequence[str]) -> None:
    """Refuse a file, by its name, that cannot be read or has other columns than most files have."""
    found = {file: frozenset(_columns_of(file)) for file in files}
    usual = Counter(found.values()).most_common(1)[0][0]
    for file, columns in found.items():
        lacks, more = (sorted(map(repr, each)) for each in (usual - columns, columns - usual))
        if lacks or more:
            what = f"lacks {', '.join(lacks)}" if lacks else f"has {', '.join(more)}, too"
            raise DataError(f"{file!r} has other columns than the other files: it {what}; give all the same columns")


def _columns_of(file: str) -> list[str]:
    """The names of the columns of one parquet file; its rows are not read."""
    from pyarrow import parquet

    try:
        return list(parquet.read_schema(file).names)
    except (OSError, ValueError) as error:
        raise DataError(f"{file!r} cannot be read ({str(error).splitlines()[0]}); write it again") from error


def with_target(frame: Any, target: str) -> tuple[Any, int]:
    """The rows that have a value in the target, and the number of the others."""
    missing = int(frame[target].isna().sum().compute())
    return (frame.dropna(subset=[target]) if missing else frame), missing


def sample_rows(frame: Any, size: int, seed: int) -> tuple[Any, int]:
    """About so many random rows of a Dask data frame in memory, and the number of all rows."""
    n = len(frame)
    return (frame.compute() if n <= size else frame.sample(frac=size / n, random_state=seed).compute()), n


def transformed(frame: Any, columns: Sequence[str], transform: Callable[[Any], Any], width: int) -> Any:
    """The lazy array of what a transformer makes of some columns."""
    return cluster.map_rows("prepare-columns", _Prepare(transform, width), frame[list(columns)], (width,), float)


class _Prepare:
    """A transformer for one chunk; a chunk without rows has a result without rows."""

    def __init__(self, transform: Callable[[Any], Any], width: int) -> None:
        self._transform, self._width = transform, width

    def __call__(self, chunk: Any) -> Any:
        return np.asarray(self._transform(chunk), dtype=float) if len(chunk) else np.empty((0, self._width))


@contextmanager
def scheduler(name: str, memory_limit: Any = None) -> Iterator[None]:
    """While inside, Dask works on its threads, on processes of this computer, or on a cluster (tcp://host:port).

    What is still running at the end is cancelled.
    """
    if name == "threads":
        with dask.config.set(scheduler="threads"):
            yield
    elif name == "processes":
        with _processes(memory_limit):
            yield
    elif "://" in name:
        with _connected(name):
            yield
    else:
        raise DataError(
            f"--scheduler must be threads, processes or an address such as tcp://host:8786, not {name!r}."
            f"{did_you_mean(name, SCHEDULERS)}"
        )


@contextmanager
def _processes(memory_limit: Any) -> Iterator[None]:
    """A cluster of one process per core, on the loopback interface, without a dashboard."""
    from distributed import Client, LocalCluster

    each: Any = "auto" if memory_limit is None else int(parse_bytes(memory_limit) / CPU_COUNT)
    with (
        LocalCluster(
            n_workers=CPU_COUNT,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            memory_limit=each,
            silence_logs=logging.CRITICAL,
        ) as workers,
        Client(workers),
    ):
        try:
            yield
        except KeyboardInterrupt:  # the processes end without waiting for their tasks: nothing that they hold is kept
            for nanny in workers.workers.values():
                nanny.auto_restart = False
                nanny.process.process.kill()
            raise


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """A client of a cluster that runs already."""
    from distributed import Client

    try:
        client = Client(address, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise DataError(
            f"--scheduler: no Dask scheduler answers at {address!r} ({type(error).__name__}); start one with dask "
            "scheduler, or check the address"
        ) from error
    with client:
        yield
