"""How long users wait for what should be there at once: a picture in a notebook, and the end of a process after Ctrl-C.

Protocol: the best of three drawings, the first of which loads matplotlib; the time from the signal to the end of a
process that has worked for 1.5 s, single runs. The guide promises two seconds for Ctrl-C, and pictures should be there
within 0.3 s. Run it on an idle machine:

    python benchmarks/waiting.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, chosen, machine, progress, publish, table, timed, warn_if_busy
from sklearn.datasets import make_moons

import svmpath
from svmpath import PathSVC, criteria

X, Y = make_moons(100, noise=0.3, random_state=0)
SHOWN: dict[str, Callable[[], Any]] = {
    "a path": lambda: svmpath.trace(X, Y, loss="hinge", gamma=1.0),
    "a curve": lambda: criteria.loo(svmpath.trace(X, Y, loss="least_squares"), np.geomspace(0.02, 50, 25)),
    "an estimator": lambda: PathSVC(random_state=0).fit(X, Y),
}
BEGIN = """
import numpy as np, svmpath
from svmpath import ElasticNetSVC, PathSVC, criteria
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8)); y = np.sign(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=3000))
C = np.geomspace(1e-3, 1e3, 40)
print("begun", flush=True)
"""
INTERRUPTED = {
    "least squares": "PathSVC(loss='least_squares', search='grid', rank=None).fit(X, y)",
    "squared hinge, two threads": "PathSVC(n_jobs=2, search='grid', rank=None).fit(X, y)",
    "hinge path": "svmpath.trace(X, y, loss='hinge', gamma=1.0).breakpoints",
    "elastic net": "ElasticNetSVC().fit(np.hstack([X[:900], rng.normal(size=(900, 450))]), y[:900])",
    "ten folds": "criteria.kfold(svmpath.trace(X, y, loss='least_squares', gamma=1.0), C, cv=10)",
}


def seconds_to_end(work: str) -> float:
    """From Ctrl-C to the end of a process that is in the middle of some work."""
    command = [sys.executable, "-c", f"{BEGIN}{work}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(1.5)
        start = time.perf_counter()
        child.send_signal(signal.SIGINT)
        child.wait()
        return time.perf_counter() - start


def measure(name: str) -> list[str]:
    """One line of the table."""
    progress(f"{name} ...")
    if name in SHOWN:
        thing = SHOWN[name]()
        return ["in a notebook", name, f"{timed(thing._repr_html_, 3).best:.2f}", "0.3"]
    return ["after Ctrl-C", name, f"{seconds_to_end(INTERRUPTED[name]):.2f}", "2"]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these lines")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    names = chosen([*SHOWN, *INTERRUPTED], options.only)
    warn_if_busy()
    rows = [measure(name) for name in names]
    parts = [f"Waiting\n{machine()}", table(["where", "what", "time (s)", "aim (s)"], rows)]
    publish("waiting", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
