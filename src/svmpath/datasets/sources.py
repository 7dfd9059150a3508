"""Where data come from: a file or standard input, unpacked, and the format of its content."""

from __future__ import annotations

import bz2
import gzip
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from svmpath.datasets.faults import EMPTY
from svmpath.exceptions import DataError
from svmpath.names import no_file, unknown_name

STANDARD_INPUT = "-"
_ENDINGS = {
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet", ".pq"),
    "arff": (".arff",),
    "libsvm": (".libsvm", ".svm", ".svmlight"),
    "npz": (".npz",),
}
FORMATS = tuple(_ENDINGS)
_FORMAT_OF = {ending: name for name, endings in _ENDINGS.items() for ending in endings}
_PACKED = {".gz": gzip.decompress, ".bz2": bz2.decompress}
_PACKED_HEADS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2"}
_HEADS = {b"PAR1": "parquet", b"PK\x03\x04": "npz"}
_LIBSVM = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?", re.IGNORECASE)


@dataclass(frozen=True)
class DataFile:
    """The content of a data file.

    Attributes
    ----------
    name : str
        The file without its folder, or "standard input".
    format : str
        One of `FORMATS`.
    content : bytes
        Unpacked.
    is_guessed : bool
        Whether the format was found from the content.
    """

    name: str
    format: str
    content: bytes
    is_guessed: bool = False

    def text(self) -> str:
        """The content as text."""
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError("the file is not text in UTF-8; save it as text in UTF-8") from error
        if "\0" in text:
            raise DataError("the file is not text (it holds NUL characters); save it as text in UTF-8")
        return text


def source_name(path: str | Path) -> str:
    """How messages name a file."""
    return "standard input" if str(path) == STANDARD_INPUT else Path(path).name


def open_source(path: str | Path, format: str | None = None) -> DataFile:
    """Read a file, or standard input for ``-``, and find its format: as given, by its suffix, or by its content.

    Examples
    --------
    >>> import tempfile
    >>> from svmpath.datasets.sources import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv.gz"
    ...     _ = path.write_bytes(gzip.compress(b"area,price"))
    ...     source = open_source(path)
    >>> source.format, source.content
    ('csv', b'area,price')
    """
    if format is not None and format not in FORMATS:
        raise DataError(unknown_name("--format", format, FORMATS))
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:  # as in svmpath tune - <&-
            raise DataError("there is nothing to read; pipe a table into the command, or name a file")
        content = _unpacked(sys.stdin.buffer.read(), "")
        return DataFile(source_name(path), format or _sniff(content), content, is_guessed=format is None)
    path = Path(path)
    if not path.exists():
        raise DataError(no_file(path))
    if not path.is_file():
        raise DataError("a data file was expected, but this is a folder")
    return DataFile(path.name, format or _by_suffix(path), _unpacked(path.read_bytes(), path.suffix.lower()))


def _by_suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _FORMAT_OF:
        raise DataError(
            f"the ending {path.suffix!r} does not say what the file holds; say it with --format, or rename the file to "
            f"end in one of {', '.join(_FORMAT_OF)}"
        )
    return _FORMAT_OF[suffixes[-1]]


def _unpacked(content: bytes, suffix: str) -> bytes:
    """The content, unpacked if its suffix says so; without a suffix, if it begins like a packed file."""
    if not content:
        raise DataError(EMPTY)
    begins = next((packed for head, packed in _PACKED_HEADS.items() if content.startswith(head)), "")
    unpack = _PACKED.get(suffix or begins, bytes)
    try:
        return unpack(content)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"the compressed file is damaged ({error}); fetch or pack it again") from error


def _sniff(content: bytes) -> str:
    """The format that the content shows."""
    for head, name in _HEADS.items():
        if content.startswith(head):
            return name
    start = content[:100_000].decode("utf-8-sig", errors="replace")
    lines = [line for line in start.splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith(("%", "#"))), "")
    if first.lower().startswith("@relation"):
        return "arff"
    return "libsvm" if _LIBSVM.fullmatch(first.strip()) else "csv"
