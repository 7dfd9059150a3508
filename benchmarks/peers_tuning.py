"""The time to a tuned model, and its test error: our estimators as they are, beside those of others.

Every (set, method) runs in a process of its own, with so many threads (``--threads``, two) for BLAS, OpenMP and
``n_jobs``, ``--limit`` seconds for each fit, and ``--memory`` GB. What is timed is the fit alone, from standardised
rows to a model that predicts: after all imports, and after a fit on a tiny problem, so that neither compiling nor
starting processes counts. CPU seconds include the processes that a method starts (where there is /proc).

The sets and their two halves are described in ``_peers_sets.py``, the methods and the grid in ``_peers_methods.py``.
Without a folder of npz files (``--folder``, SVMPATH_DATA) only generated and embedded sets are there. A peer that is
not installed is named as missing:

    pip install optuna liquidSVM 'setuptools<81' scikit-learn-intelex liblinear-official torchkm

Results are kept in ``--state``, a line for each (set, split, method); what is there is not run again. Errors can be
collected at any time, times are right on an idle machine only: ``--timing`` measures again what has not been measured
so, and where there are such times the others are not used.

    python benchmarks/peers_tuning.py --folder data --only 'heart/*' 'banana/GridSearchCV*'
    python benchmarks/peers_tuning.py --folder data --timing --splits 3
    python benchmarks/peers_tuning.py --report > peers.md
    python benchmarks/peers_tuning.py --scale-plot scale.png --timing
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from _common import ROOT, data_folder, progress, warn_if_busy
from _peers_methods import AUTO, FLOOR, LIQUID, METHODS, PLAIN_FIT, Work
from _peers_report import report, scale_plot
from _peers_sets import CLASSIFICATION, Source, named, scale, sources

THREADS = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
)  # fmt: skip
READY = 900.0  # seconds for imports, the first compilation, and reading data
SCALE_SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
SCALE_METHODS = (AUTO, LIQUID, PLAIN_FIT, FLOOR)
Record = dict[str, Any]


# --- the process that fits -------------------------------------------------------------------------------------------


def child(job: dict[str, Any]) -> None:
    """Fit on some splits of a set; a line of JSON when ready, when a fit begins, and when it has ended."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries that print do not disturb the answers

    def say(**message: Any) -> None:
        print(json.dumps(message, default=_plain), file=answers, flush=True)

    _limit_memory(job["memory"])
    warnings.simplefilter("ignore")
    method = METHODS[job["method"]]
    try:
        fit = method.prepare()
    except (ImportError, OSError) as error:  # OSError: a library that it was built with is not there
        say(missing=_sentence(error))
        return
    source = named(Path(job["folder"]) if job["folder"] else None, job["set"])
    with suppress(Exception):  # what fails on a tiny problem may work on the set, or fail there in a record
        fit(tiny(source.task, job["threads"]))
    for k, given in job["splits"]:
        X, y, X_test, y_test = source.split(k)
        classes = len(np.unique(y)) if source.task == CLASSIFICATION else 0
        say(begin=k, n=len(y), d=X.shape[1], classes=classes)
        if method.classes is not None and classes > method.classes:
            say(note=f"for {method.classes} classes only")
            continue
        try:
            say(**measured(fit, Work(X, y, k, job["threads"], given), X_test, y_test))
        except Exception as error:
            say(note=_sentence(error))


def measured(fit: Any, work: Work, X_test: np.ndarray, y_test: np.ndarray) -> Record:
    """Seconds of a fit, and its error on the test rows: the fraction wrong, or the mean square."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    tuned = fit(work)
    seconds, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    wrong = np.asarray(tuned.predict(X_test), dtype=float) - y_test
    is_class = np.issubdtype(work.y.dtype, np.integer)
    error = np.mean(wrong != 0.0) if is_class else np.mean(wrong**2)
    return {"seconds": seconds, "cpu": cpu, "error": float(error), "chosen": tuned.chosen}


def tiny(task: str, threads: int) -> Work:
    """A problem on which whatever is loaded or compiled at the first fit is loaded."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 3)) + y[:, None]
    return Work(X, y if task == CLASSIFICATION else y + 0.1 * X[:, 0], 0, threads)


def cpu_seconds() -> float:
    """CPU time of this process, of all that it has started, and of all that these have."""
    total, found = sum(os.times()[:4]), {os.getpid()}
    parents: dict[int, tuple[int, float]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):  # a process that has just ended
            fields = file.read_text().rpartition(")")[2].split()
            parents[int(file.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    while new := {pid for pid, (parent, _) in parents.items() if parent in found} - found:
        total += sum(parents[pid][1] for pid in new)
        found |= new
    return total


def _limit_memory(gigabytes: float) -> None:
    with suppress(ImportError, ValueError, OSError):  # where the system has no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 2**30),) * 2)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _sentence(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


# --- the process that asks -------------------------------------------------------------------------------------------


class Child:
    """A process that fits; its answers, each within a time limit."""

    def __init__(self, job: dict[str, Any]) -> None:
        environment = {**os.environ, **dict.fromkeys(THREADS, str(job["threads"]))}
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed by end()
        command = [sys.executable, __file__, "--child", json.dumps(job)]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=self.errors, text=True, start_new_session=True
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as answers:
            for line in answers:
                self.lines.put(line)
        self.lines.put(None)

    def answer(self, limit: float) -> dict[str, Any] | None:
        """The next one; None if the process has ended, queue.Empty after the limit."""
        line = self.lines.get(timeout=limit)
        return None if line is None else json.loads(line)

    def last_words(self) -> str:
        self.process.wait()
        self.errors.seek(0)
        words = self.errors.read().split("\n")
        said = [line for line in words if line.strip()]
        return f"the process ended with code {self.process.returncode}: {said[-1] if said else 'no message'}"[:300]

    def end(self) -> None:
        """Kill it with all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.errors.close()


def measure(job: dict[str, Any], limit: float) -> Iterator[Record]:
    """A record for each split of a job, or one that says that the method is missing.

    A process that dies takes its split with it, and the next split gets another process. After one that is over the
    limit the others are not tried: they would be, too.
    """
    todo = list(job["splits"])
    while todo:
        process = Child({**job, "splits": todo})
        try:
            for record in _records(process, todo, limit):
                yield record
                if "missing" in record or "limit" in record:
                    return
        finally:
            process.end()


def _records(process: Child, todo: list[Any], limit: float) -> Iterator[Record]:
    """Records of one process; what is done is taken from the list."""
    while todo:
        facts: Record = {"split": todo[0][0]}
        try:
            begin = process.answer(READY)
            if begin is not None and "missing" in begin:
                yield begin
                return
            facts |= {key: value for key, value in (begin or {}).items() if key != "begin"}
            done = None if begin is None else process.answer(limit)
        except queue.Empty:
            yield facts | {"note": f"over the limit of {limit:g} s", "limit": limit}
            return
        todo.pop(0)
        yield facts | (done or {"note": process.last_words()})
        if done is None:
            return


# --- state -----------------------------------------------------------------------------------------------------------


def read_state(file: Path) -> list[Record]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def open_splits(records: Sequence[Record], source: Source, method: str, options: argparse.Namespace) -> list[int]:
    """The splits that are still to be run: not there, or over a lower limit than that of today."""
    mine = [
        record for record in records
        if (record["set"], record["method"], record.get("timing", False)) == (source.name, method, options.timing)
    ]  # fmt: skip
    if any(record.get("limit", 0.0) >= options.limit for record in mine):
        return []
    done = {record["split"] for record in mine if "split" in record and "limit" not in record}
    return [k for k in range(options.splits) if k not in done]


def choice_of(records: Sequence[Record], name: str, method: str | None, split: int) -> dict[str, Any]:
    """What a method chose on a split; nothing if it has not been there."""
    found: dict[str, Any] = {}
    for record in records:
        if (record["set"], record["method"], record.get("split")) == (name, method, split):
            found = record.get("chosen", found)
    return found


def run(records: list[Record], source: Source, method: str, options: argparse.Namespace) -> None:
    """Fit on the splits that are open, and keep what comes."""
    known = [] if options.again else records
    needs = METHODS[method].needs
    given = [(k, choice_of(records, source.name, needs, k)) for k in open_splits(known, source, method, options)]
    if needs is not None:
        given = [(k, choice) for k, choice in given if choice]
    job = {
        "set": source.name, "method": method, "folder": str(options.folder or ""), "splits": given,
        "threads": options.threads, "memory": options.memory,
    }  # fmt: skip
    for record in measure(job, options.limit) if given else ():
        facts = {"set": source.name, "method": method, "task": source.task, "half": source.half}
        row = facts | record | {"timing": options.timing, "threads": options.threads}
        records.append(row)
        with options.state.open("a") as file:
            file.write(json.dumps(row) + "\n")
        words = record.get("missing") or record.get("note") or f"{record['error']:.4f} in {record['seconds']:.2f} s"
        progress(f"{source.name}/{method} {record.get('split', '')}: {words}")


def is_missing(records: Sequence[Record], method: str) -> bool:
    """Whether the last word on a method is that it is not installed."""
    mine = [record for record in records if record["method"] == method]
    return bool(mine) and "missing" in mine[-1]


def run_all(records: list[Record], options: argparse.Namespace) -> None:
    """All sets, the small ones first, through all methods; one that is missing is tried once."""
    begin = len(records)
    for source in sources(options.folder).values():
        for name, method in METHODS.items():
            wanted = any(fnmatch(f"{source.name}/{name}", pattern) for pattern in options.only)
            if wanted and method.suits(source.name, source.task) and not is_missing(records[begin:], name):
                run(records, source, name, options)


def run_scale(records: list[Record], options: argparse.Namespace) -> None:
    """Time over n; a method that has failed at some n is not tried on more rows."""
    options.splits, failed = 1, set()
    for n in (n for n in SCALE_SIZES if n <= options.most):
        for name in SCALE_METHODS:
            if name in failed:
                continue
            run(records, scale(n), name, options)
            mine = [record for record in records if (record["set"], record["method"]) == (f"scale-{n}", name)]
            if not mine or "seconds" not in mine[-1]:
                failed.add(name)


# --- command ---------------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    options = _options(argv)
    options.folder = options.folder or data_folder()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    records = read_state(options.state)
    if options.timing:
        warn_if_busy()
    if options.scale_plot:
        if not options.report:
            run_scale(records, options)
        print(scale_plot(records, options.scale_plot))
        return
    if not options.report:
        run_all(records, options)
    print(report(records, options.only))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="npz files with X and y")
    parser.add_argument("--splits", type=int, default=10, help="training / test splits of each set (default 10)")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="SET/METHOD", help="only these; * is anything")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for a fit (default 600)")
    parser.add_argument("--memory", type=float, default=12.0, help="GB for a process (default 12)")
    parser.add_argument("--threads", type=int, default=2, help="threads, or processes, of a method (default 2)")
    parser.add_argument("--timing", action="store_true", help="measure times, on an idle machine")
    parser.add_argument("--again", action="store_true", help="run what has been run before, too; the last run counts")
    parser.add_argument("--report", action="store_true", help="run nothing, show what is known")
    parser.add_argument("--scale-plot", type=Path, metavar="FILE.png", help="time over n instead, as a picture")
    parser.add_argument("--most", type=int, default=SCALE_SIZES[-1], help="rows of the plot at most (default 10^6)")
    state = ROOT / ".fuzz" / "peers_tuning.jsonl"
    parser.add_argument("--state", type=Path, default=state, help="where results are kept")
    return parser.parse_args(argv)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(json.loads(sys.argv[2]))
    else:
        main()
