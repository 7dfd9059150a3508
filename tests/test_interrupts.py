"""Ctrl-C in the middle of long work ends the process, with and without threads."""

import signal
import subprocess
import sys

import pytest

from tests.signals import interrupted
from tests.speed import slow_except

DATA = """
import numpy as np, svmpath
from svmpath import PathSVC, PathSVR, criteria
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8))
y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=3000) > 0, 1.0, -1.0)
C = np.geomspace(1e-3, 1e3, 40)
print("begun", flush=True)
"""
# Each takes half a minute and more if nobody ends it.
WORK = {
    "least squares": "PathSVC(loss='least_squares', search='grid', rank=None).fit(X, y)",
    "squared hinge in two threads": "PathSVC(n_jobs=2, search='grid', rank=None).fit(X, y)",
    "regression in two threads": "PathSVR(n_jobs=2, search='grid', rank=None).fit(X, y * X[:, 2])",
    "indefinite kernel": "PathSVC(kernel='sigmoid', rank=svmpath.gram.Clipped(), n_jobs=2, search='grid').fit(X, y)",
    "exact sides": "svmpath.trace(X, y, loss='squared_hinge', gamma=1.0, breakpoints='exact').breakpoints",
    "surface in two threads": "svmpath.surface(X, y, loss='squared_hinge', gamma=(0.01, 10.0), n_jobs=2)"
    ".curves(criteria.span, C, n_jobs=2)",
    "k-fold": "criteria.kfold(svmpath.trace(X, y, loss='least_squares', gamma=1.0), C, cv=10)",
}


QUICK = ["least squares"]  # the others in make slow


@pytest.mark.parametrize("name", slow_except(WORK, QUICK))
def test_a_signal_ends_long_work(name):
    code = DATA + WORK[name] + "\nprint('ended by itself', flush=True)"
    returned, out, err = interrupted([sys.executable, "-c", code], "begun")
    assert "ended by itself" not in out
    assert err.rstrip().endswith("KeyboardInterrupt"), err
    assert returned == -signal.SIGINT


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_workers_of_interrupted_work_leave_and_the_next_work_is_not_affected(loss):
    code = (
        DATA.replace("3000", "1200")
        + f"""
import signal, threading, time
from svmpath.interrupts import workers_left
threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
try:
    PathSVC(loss={loss!r}, n_jobs=2, gamma=np.geomspace(0.01, 1.0, 60), search='grid').fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
while workers_left():
    time.sleep(0.05)
print("left", PathSVC(loss={loss!r}, n_jobs=2, gamma=[0.1, 0.2], C=[1.0]).fit(X[:50], y[:50]).C_, flush=True)
"""
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert child.stdout.splitlines() == ["begun", "interrupted", "left 1.0"], child.stderr
