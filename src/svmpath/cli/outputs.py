"""Checks, before any work and anything heavy is imported, that the files of a command can be read and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.live import Live

_INPUTS = {"model": "model file", "data": "file", "new": "file"}  # options that name files to read, in this order
_PATTERN = "*?["  # a name with one of these stands for several files
# What svmpath tune writes.
MODEL, SUMMARY, CONFIG, REPORT = "model.skops", "summary.json", "config.toml", "report.html"


def check_inputs(given: Any) -> None:
    """Make sure that the files that a command reads are there; a name with a pattern stands for several of them."""
    for option, what in _INPUTS.items():
        path = getattr(given, option, None)
        if not isinstance(path, Path) or str(path) == "-" or any(sign in str(path) for sign in _PATTERN):
            continue
        if not path.exists():
            raise DataError(f"{path.name}: there is no {what} {str(path)!r}; check its name and folder")


def check_folder(folder: Path, names: tuple[str, ...]) -> None:
    """Make sure that files of these names can be written to `folder`, which need not exist yet."""
    level = next(level for level in (folder, *folder.absolute().parents) if level.exists())
    if not level.is_dir():
        raise DataError(f"--output must be a folder, but {str(level)!r} is a file")
    if not os.access(level, os.W_OK | os.X_OK):
        raise DataError(f"--output: the folder {str(level)!r} is not writable; choose another one")
    for name in names:
        if (folder / name).is_dir():
            raise DataError(f"--output: {str(folder / name)!r} is a folder; remove it or choose another --output")


def check_file(path: Path, inputs: tuple[Path, ...], option: str = "--output", kind: str = "a csv file") -> None:
    """Make sure that `path`, the value of an option, can be written and is none of the files read."""
    if str(path) == "-":
        raise DataError(f"{option} must be {kind}, but {str(path)!r} stands for a stream; give the name of a file")
    if path.is_dir():
        raise DataError(f"{option} must be {kind}, but {str(path)!r} is a folder")
    if path.exists() and not path.is_file():
        raise DataError(f"{option} must be {kind}, but {str(path)!r} is not a regular file")
    if not path.parent.is_dir():
        raise DataError(f"{option}: there is no folder {str(path.parent)!r}; create it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"{option}: the folder {str(path.parent)!r} is not writable; choose another one")
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise DataError(f"{option} {str(path)!r} would overwrite an input file; choose another name")


def check_held_out(path: Path, data: Path, folder: Path, names: tuple[str, ...]) -> None:
    """Make sure that the held-out rows can be written to `path`, which may be in the folder of the model."""
    if path.resolve() in [(folder / name).resolve() for name in names]:
        raise DataError(
            f"--held-out {str(path)!r} is what the model, the summary or the report is written to; choose another name"
        )
    if path.exists() or path.parent.resolve() != folder.resolve():  # the folder need not exist yet
        check_file(path, (data,), "--held-out")


def save(writers: Mapping[Path, Callable[[Path], object]], live: Live) -> list[str]:
    """Write files, all of them or none, each by a function that takes its path; their names."""
    from svmpath.report import write_files

    live.stage("Saving")
    write_files(dict(writers))
    return [str(path) for path in writers]


def save_table(table: Any, path: Path | None, live: Live) -> list[str]:
    """Write a data frame as a csv file, if there is a name for it."""
    return [] if path is None else save({path: partial(to_csv, table)}, live)


def to_csv(table: Any, path: Path) -> None:
    """Write a data frame as it is done for all files of svmpath."""
    table.to_csv(path, index=False, lineterminator="\n")
