"""What the benchmark scripts share: the grid, the data, the clock, and plain text tables.

A script sets the number of BLAS threads before it imports anything else (the libraries read it once, when they are
loaded), so that this module must not be imported first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

import svmpath

Array = np.ndarray

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
DATA = "SVMPATH_DATA"  # the environment variable that names the data folder


# --- the grid of Ding & Liao -----------------------------------------------------------------------------------------


def gamma_grid(size: int = 13) -> list[float]:
    """Ding & Liao's gammas, 2^-15 to 2^9; another size spreads so many over the same range."""
    return np.exp2(np.linspace(-15, 9, size)).tolist()


def C_grid(size: int = 11) -> list[float]:
    """Ding & Liao's mu, 2^-15 to 2^5, as C = 1 / (2 mu)."""
    return (0.5 / np.exp2(np.linspace(-15, 5, size))).tolist()


def arguments(doc: str | None, gammas: int | None = 13, Cs: int = 11) -> argparse.ArgumentParser:
    """A parser with the options that all scripts have, and how large the grid is by default (None: no gammas)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets")
    if gammas is not None:
        text = f"values of gamma over the same range (default {gammas})"
        parser.add_argument("--gammas", type=int, default=gammas, help=text)
    parser.add_argument("--Cs", type=int, default=Cs, help=f"values of C over the same range (default {Cs})")
    parser.add_argument(
        "--write",
        nargs="?",
        type=Path,
        const=RESULTS,
        metavar="FILE",
        help="put the output into its section of this file (default benchmarks/RESULTS.md)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep finished pieces in benchmarks/out, and take those kept"
    )
    return parser


def chosen(names: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The names wanted, all if None; a name that does not exist ends the script."""
    unknown = sorted(set(wanted or ()) - set(names))
    if unknown:
        raise SystemExit(f"There is no set {', '.join(unknown)}; there are {', '.join(names)}.")
    return [name for name in names if wanted is None or name in wanted]


# --- data ------------------------------------------------------------------------------------------------------------


def data_folder() -> Path | None:
    """The folder of npz files: named by SVMPATH_DATA, else shared/data beside the repository; None if not there."""
    named = os.environ.get(DATA)
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def load(name: str) -> dict[str, Array] | None:
    """The arrays of a data set; None where its file is not there."""
    folder = data_folder()
    if folder is None or not (folder / f"{name}.npz").is_file():
        return None
    with np.load(folder / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


# --- clock -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timing:
    """Wall seconds of each run, its CPU seconds, and what the last one returned."""

    seconds: tuple[float, ...]
    cpu: tuple[float, ...]
    result: Any

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    @property
    def cpu_median(self) -> float:
        return float(np.median(self.cpu))


def timed(function: Callable[[], Any], repeats: int = 1) -> Timing:
    """Run a function some times, by the wall clock and by that of the process."""
    seconds, cpu, result = [], [], None
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        result = function()
        cpu.append(time.process_time() - cpu_start)
        seconds.append(time.perf_counter() - start)
    return Timing(tuple(seconds), tuple(cpu), result)


# --- long runs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pieces:
    """Finished pieces of a long run, each written down at once, so that a run that was stopped goes on from there."""

    file: Path | None  # a line of JSON per piece; None: nothing is kept

    def __call__(self, key: Sequence[Any], compute: Callable[[], Any]) -> Any:
        """What was kept under a key, else what ``compute`` returns: numbers, lists and dictionaries of them."""
        if self.file is None:
            return compute()
        name = json.dumps(key)
        if self.file.is_file():
            for line in self.file.read_text().splitlines():
                if line.startswith(name + "\t"):
                    return json.loads(line.split("\t", 1)[1])
        value = compute()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write(f"{name}\t{json.dumps(value)}\n")
        return value


def pieces(script: str, options: argparse.Namespace) -> Pieces:
    """The pieces of a script, kept with ``--resume`` only."""
    return Pieces(ROOT / "benchmarks" / "out" / f"{script}.pieces" if options.resume else None)


# --- output ----------------------------------------------------------------------------------------------------------


def machine() -> str:
    """What the times were measured on: a line of hardware with its load of the last 15 minutes, one of software."""
    threads = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    load = f", load {os.getloadavg()[2]:.1f}" if hasattr(os, "getloadavg") else ""
    counts = ", ".join(map(str, sorted(threads))) or "unknown"
    return (
        f"{_cpu_model()}, {os.cpu_count()} cores{load}, BLAS threads: {counts}\n"
        f"Python {platform.python_version()}, {versions}, svmpath {svmpath.__version__}"
    )


def _cpu_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain text table: the first column to the left, numbers to the right."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
    return "  ".join([line[0].ljust(widths[0]), *cells[1:]]).rstrip()


def progress(text: str) -> None:
    """A word to whoever waits; not part of the output."""
    print(text, file=sys.stderr, flush=True)


def warn_if_busy() -> None:
    """Say so where other work is running: threads that share a core are slower than one."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.5:
        progress(f"The load of this machine is {load:.1f} at the start: times are right on an idle machine only.")


def publish(name: str, text: str, file: Path | None) -> None:
    """Print the output, and put it into its section of a file."""
    print(text)
    if file is not None:
        file.write_text(with_section(file.read_text() if file.exists() else "# Benchmark results\n", name, text))


def with_section(page: str, name: str, text: str) -> str:
    """The page with the section between ``<!-- name -->`` and ``<!-- /name -->`` replaced, or added at the end."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{first}\n```text\n{text}\n```\n{last}"
    if first in page and last in page:
        before, rest = page.split(first, 1)
        return before + section + rest.split(last, 1)[1]
    return f"{page.rstrip()}\n\n## {name}\n\n{section}\n"
