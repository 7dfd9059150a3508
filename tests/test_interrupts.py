"""Ctrl-C in the middle of long work ends the process at once, with and without threads."""

import signal
import subprocess
import sys
import time

import pytest

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
    "least squares": "PathSVC(loss='least_squares').fit(X, y)",
    "least squares in two threads": "PathSVC(loss='least_squares', n_jobs=2).fit(X, y)",
    "squared hinge in two threads": "PathSVC(n_jobs=2).fit(X, y)",
    "regression in two threads": "PathSVR(n_jobs=2).fit(X, y * X[:, 2])",
    "gradient": "PathSVC(search='gradient').fit(X, y)",
    "indefinite kernel": "PathSVC(kernel='sigmoid', psd='clip', n_jobs=2).fit(X, y)",
    "exact sides": "svmpath.trace(X, y, loss='squared_hinge', gamma=1.0, breakpoints='exact').breakpoints",
    "kernel path": "svmpath.trace(X, y, loss='squared_hinge', over='gamma', breakpoints='exact')",
    "surface in two threads": "svmpath.surface(X, y, loss='squared_hinge', gamma=(0.01, 10.0), n_jobs=2)"
    ".curves(criteria.span, C, n_jobs=2)",
    "leave-one-out": "criteria.loo(svmpath.trace(X, y, loss='squared_hinge', gamma=1.0), C)",
    "k-fold": "criteria.kfold(svmpath.trace(X, y, loss='least_squares', gamma=1.0), C, cv=10)",
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_a_signal_ends_long_work(work):
    code = DATA + work + "\nprint('ended by itself', flush=True)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    try:
        out, err = child.communicate(timeout=10)
    finally:
        child.kill()
    assert "ended by itself" not in out
    assert err.rstrip().endswith("KeyboardInterrupt"), err
    assert child.returncode == -signal.SIGINT
