"""Writing facts as JSON, without half-written files after a failure."""

from __future__ import annotations

import errno
import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["to_json", "write_files"]


def environment() -> Any:
    """The templates of the page and of its code."""
    import jinja2  # takes a while to load

    return jinja2.Environment(
        loader=jinja2.PackageLoader("svmpath.report"),
        autoescape=jinja2.select_autoescape(("html.j2",)),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def to_json(facts: Mapping[str, Any]) -> str:
    """The facts as JSON text; NaN and infinity, which JSON does not know, are refused.

    Parameters
    ----------
    facts : mapping
        What :func:`svmpath.report.summarise` returns, or any dictionary that JSON can hold.

    Returns
    -------
    str
        Indented, with a line end.

    See Also
    --------
    svmpath.report.summarise : The facts as a dictionary.
    svmpath.report.write_files : Write several files, or none.

    Examples
    --------
    >>> from svmpath.report.render import to_json
    >>> print(to_json({"C": 2.0}), end="")
    {
      "C": 2.0
    }
    """
    return json.dumps(facts, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_files(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write several files that belong together: all of them, or none.

    Each file is written under a temporary name in its own folder, which is created if necessary. When all are complete,
    they are renamed. If anything fails, or on Ctrl-C, the previous files are restored.

    Parameters
    ----------
    writers : mapping of Path to callable
        For each file, a function that writes its content to a given path.

    See Also
    --------
    svmpath.report.to_json : The facts as JSON.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from svmpath.report import write_files
    >>> with TemporaryDirectory() as folder:
    ...     write_files({Path(folder, "a.txt"): lambda file: file.write_text("done")})
    ...     Path(folder, "a.txt").read_text()
    'done'
    """
    writers = {path.resolve(): write for path, write in writers.items()}  # a link stays, what it points to is written
    mark = f".{uuid.uuid4().hex[:12]}"
    parts = {path: path.with_name(f".{path.name}{mark}.part") for path in writers}
    kept = {path: path.with_name(f".{path.name}{mark}.kept") for path in writers}
    made: list[Path] = []
    moving = False
    try:
        for path, write in writers.items():
            for folder in reversed([each for each in path.parents if not each.exists()]):
                folder.mkdir()
                made.append(folder)
            write(parts[path])
        for path in writers:
            _keep(path, kept[path])
        moving = True
        for path, part in parts.items():
            os.replace(part, path)
    except BaseException:
        for path in writers:
            placed = moving and not parts[path].exists()
            _restore(path, parts[path], kept[path], placed)
        for folder in reversed(made):
            folder.rmdir()
        raise
    for path in kept.values():
        path.unlink(missing_ok=True)


def _keep(path: Path, kept: Path) -> None:
    """Hold on to the file that is about to be replaced."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "there is a folder in place of the file", str(path))
    if path.exists():
        try:
            os.link(path, kept)
        except OSError:  # some file systems know no links
            shutil.copy2(path, kept)


def _restore(path: Path, part: Path, kept: Path, placed: bool) -> None:
    """Put things back as they were before :func:`write_files`."""
    part.unlink(missing_ok=True)
    if placed and kept.exists():
        os.replace(kept, path)
    elif placed:
        path.unlink(missing_ok=True)
    kept.unlink(missing_ok=True)
