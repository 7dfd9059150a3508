"""How much memory there is, and a sentence instead of a computer that comes to a halt.

The operating system grants memory that it does not have and ends the process when the memory is used. So what a large
matrix needs is compared with what is free before it is made: of the computer, and of the container (control group) that
the process runs in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from numbers import Real
from pathlib import Path
from typing import Any

_SMALL = 1 << 28  # bytes; smaller arrays are not worth a look, unless a limit is given
SHARE = 0.7  # of the free memory that one matrix may take: work on it needs room, too
_UNITS = {
    "": 1.0,
    **{k: 1000.0**p for p, k in enumerate("kmgt", 1)},
    **{f"{k}i": 1024.0**p for p, k in enumerate("kmgt", 1)},
}
_given: ContextVar[float | None] = ContextVar("svmpath_memory_limit", default=None)
_MEMINFO = Path("/proc/meminfo")
# The limit of a control group, and what it uses, in both versions of Linux' interface.
_GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def free_memory() -> float:
    """Bytes that this process can still have; infinite where that is not known."""
    free = [float("inf")]
    with suppress(OSError, ValueError, IndexError):
        free.append(1024.0 * int(_MEMINFO.read_text(encoding="utf-8").split("MemAvailable:")[1].split()[0]))
    if len(free) == 1:  # other systems of the Unix family; not all of them know
        with suppress(AttributeError, OSError, ValueError):
            free.append(float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    for limit, used in _GROUPS:  # no number where there is no limit ("max")
        with suppress(OSError, ValueError):
            remaining = int(limit.read_text(encoding="utf-8")) - int(used.read_text(encoding="utf-8"))
            free.append(max(float(remaining), 0.0))
    return min(free)


def memory_limit() -> float:
    """Bytes that one matrix may take: what is set by :func:`limited`, or a share of what is free."""
    given = _given.get()
    return SHARE * free_memory() if given is None else given


@contextmanager
def limited(limit: Any) -> Iterator[None]:
    """While inside, a matrix may take so many bytes: a number, a text such as "4GiB", or None for the default."""
    token = _given.set(None if limit is None else parse_bytes(limit))
    try:
        yield
    finally:
        _given.reset(token)


def parse_bytes(size: Any) -> float:
    """A number of bytes from a number, or from a text with a unit.

    Examples
    --------
    >>> from svmpath.gram.memory import parse_bytes
    >>> parse_bytes("1.5GiB"), parse_bytes("200 MB"), parse_bytes(1e9)
    (1610612736.0, 200000000.0, 1000000000.0)
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?i?b?)\s*", str(size).lower()) if isinstance(size, str) else None
    number = float(match[1]) if match and match[1].count(".") <= 1 and match[1] != "." else size
    if not isinstance(number, Real) or isinstance(number, bool) or not 0 < float(number) < float("inf"):
        raise ValueError(
            f"memory_limit must be None, a positive number of bytes or a text such as '4GiB' or '500MB', got {size!r}."
        )
    unit = match[2].removesuffix("b") if match else ""
    return float(number) * _UNITS[unit]


def require(needed: float, what: str, remedy: str) -> None:
    """Raise a MemoryError if a matrix needs more bytes than there are.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        The matrix, as the subject of a sentence.
    remedy : str
        What to use instead.
    """
    if needed < _SMALL and _given.get() is None:
        return
    limit = memory_limit()
    if needed > limit:
        whose = f"{SHARE:.0%} of what is free" if _given.get() is None else f"memory_limit={limit:.3g}"
        raise MemoryError(
            f"{what} would need {_in_words(needed)} of memory, but a matrix may take {_in_words(limit)} here "
            f"({whose}); use {remedy}."
        )


def _in_words(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= _SMALL else f"{size / 2**20:.2g} MiB"
