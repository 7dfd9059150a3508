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
_limit: ContextVar[float | None] = ContextVar("svmpath_memory_limit", default=None)
_for_all: dict[str, float | None] = {"memory_limit": None}  # what set_config has set, in all threads
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
    """Bytes that one matrix may take: what is set, or a share of what is free."""
    given = given_limit()
    return SHARE * free_memory() if given is None else given


def given_limit() -> float | None:
    """Bytes that one matrix may take as set by :func:`config_context` or :func:`set_config`; None by default."""
    return _for_all["memory_limit"] if _limit.get() is None else _limit.get()


def set_config(*, memory_limit: float | str | None = None) -> None:
    """Set how much memory one matrix may take, from now on.

    Parameters
    ----------
    memory_limit : float or str, optional
        A number of bytes, or a text such as "4GiB" or "500MB". A matrix that would be larger raises a MemoryError
        before it is made, and ``rank="auto"`` stays below it. None means 70 % of what is free.

    See Also
    --------
    svmpath.config_context : The same for a block of code.

    Examples
    --------
    >>> import svmpath
    >>> svmpath.set_config(memory_limit="8GiB")
    >>> svmpath.set_config()  # as it was
    """
    _for_all["memory_limit"] = None if memory_limit is None else parse_bytes(memory_limit)


@contextmanager
def config_context(*, memory_limit: float | str | None = None) -> Iterator[None]:
    """Set how much memory one matrix may take, for a block of code.

    Parameters
    ----------
    memory_limit : float or str, optional
        A number of bytes, or a text such as "4GiB" or "500MB". A matrix that would be larger raises a MemoryError
        before it is made, and ``rank="auto"`` stays below it. None leaves it as it is: 70 % of what is free, unless
        :func:`svmpath.set_config` has set something else.

    Returns
    -------
    context manager

    See Also
    --------
    svmpath.set_config : The same from now on.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> with svmpath.config_context(memory_limit="1GiB"):
    ...     model = svmpath.PathSVC(random_state=0).fit(*banana(100, random_state=0))
    """
    token = _limit.set(_limit.get() if memory_limit is None else parse_bytes(memory_limit))
    try:
        yield
    finally:
        _limit.reset(token)


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
    if needed < _SMALL and given_limit() is None:
        return
    limit = memory_limit()
    if needed > limit:
        whose = f"{SHARE:.0%} of what is free" if given_limit() is None else f"memory_limit={limit:.3g}"
        raise MemoryError(
            f"{what} would need {_in_words(needed)} of memory, but a matrix may take {_in_words(limit)} here "
            f"({whose}); use {remedy}."
        )


def _in_words(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= _SMALL else f"{size / 2**20:.2g} MiB"
