"""All that svmpath asks of Dask: chunks as tasks, passes over them as tree reductions, lazy predictions.

Tasks go to whatever scheduler Dask is set to: its threads, a ``LocalCluster``, or the ``Client`` that you have. Each
task has a name that says what it computes, which Dask's dashboard shows. Nothing here keeps state on a worker that
cannot be made again from the source: a lost worker costs time, not the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from svmpath.chunked import is_chunked
from svmpath.distributed.blocks import total
from svmpath.gram.memory import memory_limit

Array = np.ndarray

_FAN_IN = 8  # chunks whose sums are added up by one task
_SHARE_OF_WORKERS = 0.5  # of their memory that features may take: workers begin to write to disk at 0.6
_CHUNKS_IN_MEMORY = 8  # chunks, with their features, that a thread of a worker should have room for
_FEWEST_ROWS = 100  # of a chunk that is worth a task
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


# --- collections -----------------------------------------------------------------------------------------------------


def is_frame(collection: Any) -> bool:
    """Whether it is a Dask data frame or series."""
    names = ("to_delayed", "partitions", "divisions")
    # A Delayed object says that it has any attribute.
    return not isinstance(collection, Delayed) and all(hasattr(collection, name) for name in names)


def check_kind(collection: Any, name: str) -> None:
    """Refuse Dask collections that are no tables or columns, such as Delayed objects."""
    if not is_frame(collection) and not isinstance(collection, da.Array):
        raise TypeError(
            f"{name} must be a Dask array, data frame or series, got {type(collection).__name__}: use "
            "dask.array.from_array, dask.array.from_delayed or dask.dataframe.from_pandas."
        )


def check_rows(X: Any) -> None:
    """Refuse a collection that is no table with at least one column."""
    check_kind(X, "X")
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns; got {X.ndim}: use X[:, None] for an array with one column, "
            "X.to_frame() for a series."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns; at least one is needed.")


def to_chunks(collection: Any, name: str) -> list[Delayed]:
    """The chunks of a collection along its rows, as tasks."""
    check_kind(collection, name)
    if is_frame(collection):
        # Optimised, X and y of one file may come out in different numbers of parts, and read it twice.
        return list(collection.to_delayed(optimize_graph=False))
    if collection.ndim > 1 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def known_lengths(collection: Any) -> tuple[int, ...]:
    """The number of rows of each chunk; empty if that is not known."""
    sizes = () if is_frame(collection) else collection.chunks[0]
    return () if np.isnan(sizes).any() else sizes


def largest_chunk(collection: Any) -> int | None:
    """The number of rows of the largest chunk; None if that is not known."""
    return max(known_lengths(collection), default=None)


def names_of(collection: Any) -> Array | None:
    """The names of the columns of a data frame, if all are text."""
    columns = list(collection.columns) if is_frame(collection) else [0]
    return np.array(columns, dtype=object) if all(isinstance(name, str) for name in columns) else None


def like_chunks(collection: Any, name: str, X: Any, lengths: Callable[[], tuple[int, ...]]) -> list[Delayed]:
    """The chunks of targets or weights, cut as those of X are."""
    if not is_chunked(collection):
        if np.ndim(collection) == 0:
            raise ValueError(f"{name} must have one entry for each row of X, got {collection!r}.")
        collection, known = np.asarray(collection), lengths()
        if len(collection) != sum(known):
            raise ValueError(f"{name} must have one entry per row: X has {sum(known)} rows, {name} {len(collection)}.")
        collection = da.from_array(collection, chunks=(known, *collection.shape[1:]))
    elif isinstance(collection, da.Array) and isinstance(X, da.Array) and collection.chunks[0] != X.chunks[0]:
        are_known = not np.isnan([*collection.chunks[0], *X.chunks[0]]).any()
        if are_known and collection.shape[0] == X.shape[0]:
            collection = collection.rechunk({0: X.chunks[0]})
    return to_chunks(collection, name)


def as_delayed(value: Any) -> Delayed:
    """A value that many tasks share, as a task of its own: it is sent once."""
    return delayed(value, pure=False, traverse=False)


def task(name: str, function: Callable[..., Any], *arguments: Any) -> Delayed:
    """A call, later, under a name that the dashboard shows."""
    return delayed(function, pure=False, traverse=False)(*arguments, dask_key_name=f"{name}-{uuid4().hex}")


# --- running ---------------------------------------------------------------------------------------------------------


def reduce_chunks(
    name: str, function: Callable[..., list[Any]], chunks: Sequence[tuple[Any, ...]], shared: Sequence[Any], places: Any
) -> list[Any]:
    """The sum over all chunks of ``function(*chunk, *shared)``, a list of what can be added: one pass over the data.

    ``places`` says where each chunk is held, if that is known: what is in one place is added up there, and one sum per
    place travels.
    """
    common = [as_delayed(each) for each in shared]
    groups: dict[Any, list[Any]] = {}
    for place, chunk in zip(places or [None] * len(chunks), chunks, strict=True):
        groups.setdefault(place, []).append(chunk)
    sums = []
    for place, group in groups.items():
        with _at(place):
            sums.append(_tree([task(name, function, *chunk, *common) for chunk in group]))
    return compute([_tree(sums)])[0]


def _at(place: Any) -> Any:
    """Tasks made inside run in a place, as long as there is one: to move a sum is cheaper than to move a chunk."""
    return nullcontext() if place is None else dask.annotate(workers=[place], allow_other_workers=True)


def _tree(parts: list[Delayed]) -> Delayed:
    """The sum of what several tasks return, a few at a time."""
    while len(parts) > 1:
        parts = [task("add-up", total, parts[at : at + _FAN_IN]) for at in range(0, len(parts), _FAN_IN)]
    return parts[0]


def compute(tasks: Sequence[Delayed]) -> list[Any]:
    """The results of tasks."""
    with _large_graphs():
        return list(dask.compute(*tasks, traverse=False))


def hold(tasks: Sequence[Delayed]) -> list[Delayed]:
    """The same tasks, begun now, their results held where they are computed; lost ones are made again."""
    with _large_graphs():
        return list(dask.persist(*tasks, traverse=False))


def places_of(tasks: Sequence[Delayed]) -> list[Any] | None:
    """The worker that holds each of several held tasks; None without a cluster. Waits until they are computed."""
    client = _client()
    if client is None:
        return None
    futures = sys.modules["distributed"].futures_of(list(tasks))
    sys.modules["distributed"].wait(futures)
    where = client.who_has(futures)
    return [min(where.get(each.key) or ("",)) for each in tasks]


def release(tasks: Sequence[Delayed]) -> None:
    """End what is still running of held tasks, and let go of their results."""
    client = _client()
    if client is not None:
        client.cancel(sys.modules["distributed"].futures_of(list(tasks)), force=True)


@contextmanager
def _large_graphs() -> Iterator[None]:
    """An r x r matrix for every task is what we mean to send: no warning of it."""
    if _client() is None:
        yield
        return
    with dask.config.set({_LARGE_GRAPH: "1GiB"}):
        yield


def _client() -> Any:
    """The client of a cluster, if Dask is set to use one; who has one has loaded its package."""
    package = sys.modules.get("distributed")
    if package is None or dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return package.get_client()
    except ValueError:
        return None


# --- memory ----------------------------------------------------------------------------------------------------------


def memory_for_features() -> float:
    """Bytes that all features may take together: a share of what the workers have, or of what is free here."""
    return memory_of_workers() if _workers() else memory_limit()


def memory_of_workers() -> float:
    """Bytes that features may take on the workers of a cluster; infinity if there are none or they have no limit."""
    limits = [each.get("memory_limit") or np.inf for each in _workers()]
    return _SHARE_OF_WORKERS * sum(limits) if limits else np.inf


def _workers() -> list[Any]:
    client = _client()
    return [] if client is None else list(client.scheduler_info(n_workers=-1)["workers"].values())


@contextmanager
def explained(rows: int | None, numbers_per_row: int) -> Iterator[None]:
    """A worker that runs out of memory ends in a sentence that names a chunk size.

    Parameters
    ----------
    rows : int or None
        Of the largest chunk, if that is known.
    numbers_per_row : int
        About how many are held per row while a chunk is worked on.
    """
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise MemoryError(out_of_memory(rows, numbers_per_row, _workers())) from error


def out_of_memory(rows: int | None, numbers_per_row: int, workers: Sequence[Any]) -> str:
    """The sentence, for workers of these limits and threads."""
    rooms = [each["memory_limit"] / each["nthreads"] for each in workers if each.get("memory_limit")]
    size = max(_FEWEST_ROWS, int(min(rooms, default=float(2**30)) / (_CHUNKS_IN_MEMORY * 8 * numbers_per_row)))
    if rows is not None:
        size = min(size, max(rows // 2, 1))
    digits = 10 ** max(len(str(size)) - 2, 0)
    size = size // digits * digits
    known = "" if rows is None else f" the largest chunk has {rows} rows;"
    return (
        f"A worker ended while it worked on a chunk, most likely because it ran out of memory:{known} use chunks of "
        f"{size} rows (X.rechunk({{0: {size}}}), or repartition for a data frame), or workers with more memory."
    )


# --- lazy results ----------------------------------------------------------------------------------------------------


def concatenated(parts: Sequence[Delayed], lengths: Sequence[float], tail: tuple[int, ...], dtype: Any) -> Any:
    """A lazy array from one task per chunk; lengths may be unknown (NaN)."""
    arrays = [
        da.from_delayed(part, shape=(length, *tail), dtype=dtype) for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(arrays, axis=0, allow_unknown_chunksizes=True)


def map_rows(name: str, function: Callable[[Any], Array], X: Any, tail: tuple[int, ...], dtype: Any) -> Any:
    """The lazy array of ``function(chunk)`` for the chunks of X, with shape (n, *tail)."""
    chunks = to_chunks(X, "X")
    lengths = [np.nan] * len(chunks) if is_frame(X) else X.chunks[0]
    call = as_delayed(function)
    return concatenated([task(name, _apply, call, chunk) for chunk in chunks], lengths, tail, dtype)


def _apply(function: Callable[[Any], Array], chunk: Any) -> Array:
    return function(chunk)
