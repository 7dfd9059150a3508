"""What a fit on rows in chunks will cost: seconds, bytes and memory, before it is begun.

Of n rows, r landmarks, m values of C, k machines, F folds and P processors, a fit of the squared hinge takes

    P seconds = n (a + e r (1 or passes) + c r^2 + b m r k F)       microseconds of processor time,
    passes    = 4 + m (p + 1)

with e r the time to make the features of a row (once if they are held, else in every pass), c r^2 that of the sums over
all rows, and b m r k F that of steps and held-out values. The constants were fitted to :data:`FIGURES`. To these come

    passes (n / rows of a chunk) t        the scheduler, t seconds for each task
    passes 16 r^2 k F / bandwidth         a worker's network, if there are several workers
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

_ROW, _FEATURE, _SQUARE, _STEP = 4.6, 0.0187, 3.42e-4, 6.81e-3  # a, e, c, b, in microseconds
_NEWTON_STEPS = 2.6  # p: of Newton's method per value of C
_TASK = 1e-3  # seconds of Dask's scheduler per task
_SHARE = 0.5  # of a worker's memory that features may take
_HELD = 32  # bytes per row that are brought together, up to ten million rows
_MOST_NUMBERS = 10_000_000
_COLUMNS = 3  # times the numbers of a chunk that are held while it is read
_AT_ONCE = 2048  # rows whose features are in double precision at a time
_NUMBER = 8  # bytes


class Figure(NamedTuple):
    """A fit that was measured, with 20 columns and two classes: see ``benchmarks/RESULTS.md``."""

    n: int
    rank: int
    values: int
    is_held: bool
    microseconds: float  # of processor time per row


FIGURES = (
    Figure(30_000, 300, 6, True, 53.0),
    Figure(30_000, 300, 6, False, 207.0),
    Figure(100_000, 300, 22, True, 86.0),
    Figure(500_000, 300, 22, True, 85.0),
    Figure(1_000_000, 100, 3, True, 12.0),
    Figure(10_000_000, 100, 3, False, 40.0),
)


@dataclass(frozen=True)
class Estimate:
    """What a fit is expected to cost.

    Attributes
    ----------
    seconds : float
        From the beginning to the end, all parts one after another.
    processor_seconds : float
        Of all processors together.
    scheduler_seconds, network_seconds : float
        Parts of ``seconds``.
    bytes : float
        Moved between workers, all together.
    memory : float
        Bytes that a worker needs.
    client_memory : float
        Bytes that come together where ``fit`` was called.
    passes : float
        Over all rows.
    storage : {"double precision", "single precision", "made anew"}
        How features are kept.

    See Also
    --------
    svmpath.scale.estimate : Returns it.

    Examples
    --------
    >>> from svmpath.scale import estimate
    >>> estimate(1_000_000, 20, 100, 4).storage
    'double precision'
    """

    seconds: float
    processor_seconds: float
    scheduler_seconds: float
    network_seconds: float
    bytes: float
    memory: float
    client_memory: float
    passes: float
    storage: str


def estimate(
    n: int,
    d: int,
    rank: int,
    workers: int,
    *,
    threads: int = 1,
    values: int = 22,
    machines: int = 1,
    folds: int = 1,
    chunk: int = 100_000,
    memory: float | None = None,
    bandwidth: float = 125e6,
) -> Estimate:
    """What a fit of the squared hinge on rows in chunks will cost; least squares takes about half as long.

    Parameters
    ----------
    n, d : int
        Number of rows and columns.
    rank : int
        Number of landmarks.
    workers : int
        Number of processes of the cluster; 1 stands for this computer.
    threads : int, default=1
        Of each worker.
    values : int, default=22
        Values of C that are scored.
    machines : int, default=1
        One for two classes, else one per class.
    folds : int, default=1
        Of k-fold; 1 stands for leave-one-out.
    chunk : int, default=100_000
        Rows of a chunk.
    memory : float, optional
        Bytes of each worker; no limit if it is not given.
    bandwidth : float, default=125e6
        Bytes per second that a worker sends; 125e6 is 1 Gbit/s.

    Returns
    -------
    Estimate
        It assumes some tens of columns, as the figures have; with processors like those of ``benchmarks/RESULTS.md`` it
        is within a third of what was measured.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.scale.Estimate : Seconds, bytes and memory.

    Examples
    --------
    >>> from svmpath.scale import estimate
    >>> cost = estimate(10**7, 20, 300, 4, threads=2)
    >>> round(cost.passes), cost.storage, 60 < cost.seconds < 600
    (83, 'double precision', True)
    """
    counts = {"n": n, "d": d, "rank": rank, "workers": workers, "threads": threads, "values": values}
    for name, value in {**counts, "machines": machines, "folds": folds, "chunk": chunk}.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not value >= 1:
            raise ValueError(f"{name} must be a number >= 1, got {value!r}.")
    for name, size in {"memory": 1.0 if memory is None else memory, "bandwidth": bandwidth}.items():
        if not isinstance(size, Real) or isinstance(size, bool) or not size > 0:
            raise ValueError(f"{name} must be a number of bytes above 0, got {size!r}.")
    columns, passes = machines * folds, 4 + values * (_NEWTON_STEPS + 1)
    per_worker, storage, held = n / workers, "made anew", 0.0
    room = float("inf") if memory is None else _SHARE * memory
    for name, size in (("double precision", _NUMBER), ("single precision", _NUMBER / 2)):
        if per_worker * rank * size <= room:
            storage, held = name, per_worker * rank * size
            break
    made = 1 if held else passes
    work = _ROW + _FEATURE * rank * made + _SQUARE * rank**2 + _STEP * values * rank * columns
    processor = n * work * 1e-6
    sums = _NUMBER * (rank + 1) ** 2 * columns
    tasks = passes * (n / min(chunk, n)) * (1 if workers > 1 else 0)
    moved = 2.0 * passes * sums * workers if workers > 1 else 0.0
    network = moved / workers / bandwidth
    rows = threads * (chunk * (_COLUMNS * d + 2 * columns) + _AT_ONCE * rank) * _NUMBER
    return Estimate(
        seconds=processor / (workers * threads) + _TASK * tasks + network,
        processor_seconds=processor,
        scheduler_seconds=_TASK * tasks,
        network_seconds=network,
        bytes=moved,
        memory=held + rows + threads * sums,
        client_memory=min(n * machines, _MOST_NUMBERS) * _HELD + (2 * n * folds if folds > 1 else 0) + sums,
        passes=passes,
        storage=storage,
    )
