"""Compiled loops on disk: in folders that may be read-only, full, damaged, or shared by several processes.

numba keeps a compiled function in the first folder of a list that it can write to (``NUMBA_CACHE_DIR``, ``__pycache__``
beside the source, the user's cache directory), and refuses functions for which there is none. But a folder that was
filled when a container image was built cannot be written to later, and is needed most there. So a function is looked
for in each folder up to the first that can be written to, and saved in that one. If none can, it is compiled once per
process. ``__pycache__`` does not count as the first: installers (uv, pip from 26) remove it with what they replace, so
what is saved there is saved in the next folder as well, and is not compiled again after ``pip install`` of the same
version with another extra.

numba looks at the time stamp of the one file in which a cached function stands. What that function calls is compiled
into it, so after an edit in another file the cache would return code that is out of date. Here the stamp of a function
is a digest of all Python files in its folder: compiled code calls nothing outside.

numba's index of a function names a file for each key, which is a signature, a processor and the code. The index is
written before the file, so after a full disk, or beside another process, it can name a file that holds what belongs to
another key. Therefore key, stamp and a digest stand in the file, and code is used only if all are right.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache

_ROOM = 2**20  # bytes; more than any one function needs


def kept(compiler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The decorator ``compiler`` (``numba.njit`` with options), whose functions are kept on disk where that can be."""

    def decorate(function: Any) -> Any:
        dispatcher = compiler(function)
        if hasattr(dispatcher, "enable_caching"):  # with NUMBA_DISABLE_JIT it is the function itself
            dispatcher._cache = Kept(function)  # numba has no public way to give a function a cache of one's own
        return dispatcher

    return decorate


class Kept(NullCache):
    """What numba asks of the cache of a function, answered from all folders in which it may be."""

    def __init__(self, function: Any) -> None:
        folders: dict[str, _Folder] = {}
        for locator in CompileResultCacheImpl._locator_classes:
            with suppress(RuntimeError, OSError):  # the locator does not apply
                folder = _Folder(function, locator)
                if not folder.cache_path.startswith("~"):  # a home that is not known
                    folders.setdefault(folder.cache_path, folder)
        self._folders = list(folders.values())

    @property
    def cache_path(self) -> str | None:
        """The folder that numba would take, were it writable."""
        return next(iter(self.folders), None)

    @property
    def folders(self) -> list[str]:
        """Where the function may be, the first one first."""
        return [folder.cache_path for folder in self._folders]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature and this processor; None if it is nowhere."""
        for folder in self._tried():
            with suppress(Exception):  # damage of any kind: it is compiled again
                loaded = folder.load_overload(sig, target_context)
                if loaded is not None:
                    return loaded
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled in the first folder that takes it and lasts, and in those before it that take it."""
        for folder in self._folders:
            with suppress(OSError):
                os.makedirs(folder.cache_path, exist_ok=True)
                folder.save_overload(sig, data)
                if folder.lasts:
                    return

    def holds(self, codegen: Any) -> bool:
        """Whether the function is on disk, compiled for this processor and for arguments of some types."""
        return any(folder.holds(codegen) for folder in self._tried())

    def can_save(self) -> bool:
        """Whether there is a folder that can be written to and has room."""
        return any(_has_room(path) for path in self.folders)

    def _tried(self) -> Iterator[_Folder]:
        for folder in self._folders:
            yield folder
            if folder.lasts and _has_room(folder.cache_path):
                return


class _Folder(FunctionCache):
    """numba's cache in one folder, which need not be writable."""

    def __init__(self, function: Any, locator: Any) -> None:
        # Older versions of numba compare the time of the source, which the layers of an image round.
        stamp = digest(Path(function.__code__.co_filename).parent)
        here = {"ensure_cache_path": lambda self: None, "get_source_stamp": lambda self: stamp}
        unchecked = type(locator.__name__, (locator,), here)
        self._impl_class: Any = type("Impl", (CompileResultCacheImpl,), {"_locator_classes": [unchecked]})
        super().__init__(function)
        self._cache_file = _SealedFile(self._cache_path, self._impl.filename_base, stamp)

    @property
    def lasts(self) -> bool:
        """Whether it stays when the package is installed again."""
        return Path(self.cache_path).name != "__pycache__"

    def holds(self, codegen: Any) -> bool:
        wanted = self._index_key(None, codegen)[1:]
        file = self._cache_file
        return any(key[1:] == wanted and file.load(key) is not None for key in file._load_index())


class _SealedFile(IndexDataCacheFile):
    """The files of one function. What cannot be read, or belongs to another key, counts as not there."""

    def save(self, key: Any, data: Any) -> None:
        text = self._dump((key, data))
        super().save(key, (self._version, self._source_stamp, hashlib.sha256(text).digest(), text))

    def load(self, key: Any) -> Any:
        try:
            *seal, text = super().load(key)
            if seal != [self._version, self._source_stamp, hashlib.sha256(text).digest()]:
                return None
            owner, data = pickle.loads(text)
        except Exception:
            return None
        return data if owner == key else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}


@cache
def digest(folder: Path) -> int:
    """A number that changes with the name and the text of every Python file in a folder."""
    text = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        text.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return int.from_bytes(text.digest()[:7])


def _has_room(path: str) -> bool:
    try:
        os.makedirs(path, exist_ok=True)
        with TemporaryFile(dir=path) as file:
            file.write(bytes(_ROOM))
    except OSError:
        return False
    return True
