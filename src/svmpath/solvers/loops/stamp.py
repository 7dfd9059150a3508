"""A digest of this folder, which makes numba's cache on disk right.

numba looks at the time stamp of the one file in which a cached function stands. What that function calls is compiled
into it, so after an edit in another file the cache would return code that is out of date. But the key of a cached
function holds the values in its closure. So every function that is kept on disk is made by a factory, which puts the
digest of all files into its closure::

    def _make_follow(stamp):
        @entry
        def follow(...):
            _ = stamp  # belongs to the key of numba's cache
            ...

        return follow


    follow = _make_follow(STAMP)

A cached function must not hold another compiled function in its closure: that has a new key in every process. It finds
them among the names of its module.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(folder: Path) -> int:
    """A number that changes with the name and the text of every Python file in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return int.from_bytes(found.digest()[:7])  # an int64 that is not negative


STAMP = digest(Path(__file__).parent)
