"""The elastic-net path beside its peers, in the same process, one thread each.

    path       svmpath.trace_elastic over lambda1, from its first value to a hundredth of it
    one QP/LP  one machine at a tenth of the first value, as a plain primal programme: by Clarabel (tolerance 1e-8) for
               lambda2 = 1, by HiGHS for lambda2 = 0
    SGD        SGDClassifier(loss="hinge", penalty="elasticnet") at 20 values of lambda1; excess: of its objective
    LinearSVC  LinearSVC(penalty="l1") at 20 values of C; another machine (squared hinge), so that only times compare
    loo        exact leave-one-out at one value, beside a machine per sample walked to that value

Data: correlation 0.3, five relevant features of p, labels with noise. Run it on an idle machine:

    python benchmarks/peers_elastic.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence

import clarabel
import numpy as np
from _common import Array, arguments, machine, progress, publish, table, timed, warn_if_busy
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

import svmpath
from svmpath.criteria.of_elastic import left_out, refitted

SIZES = ((100, 10), (50, 300), (500, 50), (100, 1000), (1000, 100), (500, 500))
GRID = 20
COMPILE = """
import time, numpy as np, svmpath
rng = np.random.default_rng(0); X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + rng.normal(size=40))
start = time.perf_counter(); svmpath.trace_elastic(X, y); print(time.perf_counter() - start)
"""


def draw(n: int, p: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([n, p])
    X = np.sqrt(0.3) * rng.normal(size=(n, 1)) + np.sqrt(0.7) * rng.normal(size=(n, p))
    return X, np.where(X[:, :5].sum(axis=1) + 2.0 * rng.normal(size=n) > 0.5, 1.0, -1.0)


def quadratic(X: Array, y: Array, lam1: float, lam2: float) -> float:
    """The optimal cost by Clarabel, over (beta, |beta|, b, xi)."""
    n, p = X.shape
    P = sparse.diags(np.r_[np.full(p, lam2), np.zeros(p + 1 + n)]).tocsc()
    q = np.r_[np.zeros(p), np.full(p, lam1), 0.0, np.ones(n)]
    one, none = sparse.eye(p), sparse.csc_matrix((p, n + 1))
    A = sparse.vstack([
        sparse.hstack([one, -one, none]), sparse.hstack([-one, -one, none]),
        sparse.hstack([-sparse.csc_matrix(X * y[:, None]), sparse.csc_matrix((n, p)), -y[:, None], -sparse.eye(n)]),
        sparse.hstack([sparse.csc_matrix((n, 2 * p + 1)), -sparse.eye(n)]),
    ]).tocsc()  # fmt: skip
    b = np.r_[np.zeros(2 * p), -np.ones(n), np.zeros(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    return clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(len(b))], settings).solve().obj_val


def linear(X: Array, y: Array, lam1: float) -> float:
    """The optimal cost by HiGHS, over (beta+, beta-, b, xi)."""
    n, p = X.shape
    Z = X * y[:, None]
    cost = np.r_[np.full(2 * p, lam1), 0.0, np.ones(n)]
    A = sparse.csc_matrix(np.hstack([-Z, Z, -y[:, None], -np.eye(n)]))
    bounds = [*[(0, None)] * (2 * p), (None, None), *[(0, None)] * n]
    return linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs").fun


def objective(X: Array, y: Array, lam1: float, lam2: float, coef: Array, b: float) -> float:
    return np.maximum(1 - y * (X @ coef + b), 0).sum() + lam2 / 2 * coef @ coef + lam1 * np.abs(coef).sum()


def stochastic(X: Array, y: Array, values: Array, lam2: float) -> list[SGDClassifier]:
    n = len(y)
    return [
        SGDClassifier(
            loss="hinge", penalty="elasticnet", alpha=(lam1 + lam2) / n, l1_ratio=lam1 / (lam1 + lam2), random_state=0
        ).fit(X, y)
        for lam1 in values
    ]


def lasso(X: Array, y: Array, values: Array) -> list[LinearSVC]:
    return [LinearSVC(penalty="l1", dual=False, C=1 / lam1).fit(X, y) for lam1 in values]


def one_size(n: int, p: int, repeats: int) -> tuple[list[str], dict[str, float]]:
    progress(f"n = {n}, p = {p} ...")
    X, y = draw(n, p)
    paths = {lam2: timed(lambda lam2=lam2: svmpath.trace_elastic(X, y, lambda2=lam2), repeats) for lam2 in (1.0, 0.0)}
    path, zero = paths[1.0].result, paths[0.0].result
    tenth = 0.1 * path.span[0]
    few = max(repeats // 2, 1)
    qp, lp = timed(lambda: quadratic(X, y, tenth, 1.0), few), timed(lambda: linear(X, y, tenth), few)
    off = max(
        abs(objective(X, y, tenth, lam2, each(tenth).coef, each(tenth).b) / known - 1)
        for lam2, each, known in ((1.0, path, qp.result), (0.0, zero, lp.result))
    )
    values = np.geomspace(*path.span, GRID + 1)[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sgd, svc = timed(lambda: stochastic(X, y, values, 1.0)), timed(lambda: lasso(X, y, values))
    excess = [
        objective(X, y, lam1, 1.0, model.coef_[0], model.intercept_[0])
        / objective(X, y, lam1, 1.0, path(lam1).coef, path(lam1).b)
        - 1
        for lam1, model in zip(values, sgd.result, strict=True)
    ]
    best = {lam2: run.best for lam2, run in paths.items()}
    ratios = {
        "qp": best[1.0] / qp.best,
        "lp": best[0.0] / lp.best,
        "sgd": sgd.best / best[1.0],
        "svc": svc.best / best[0.0],
    }
    events = sum(1 for _ in path.events())
    return [
        f"{n}, {p}", str(events), f"{1e3 * best[1.0]:.1f}", f"{1e6 * best[1.0] / events:.0f}", f"{1e3 * qp.best:.1f}",
        f"{ratios['qp']:.2f}", f"{1e3 * best[0.0]:.1f}", f"{1e3 * lp.best:.1f}", f"{ratios['lp']:.2f}", f"{off:.0e}",
        f"{sgd.best:.2f}", f"{ratios['sgd']:.1f}", f"{100 * np.median(excess):.1f}", f"{svc.best:.2f}",
        f"{ratios['svc']:.1f}",
    ], ratios  # fmt: skip


def removal(n: int, p: int, lam2: float, tied: bool) -> list[str]:
    """Exact leave-one-out beside a walk per sample."""
    X, y = draw(n, p)
    X = np.round(X) if tied else X
    path = svmpath.trace_elastic(X, y, lambda2=lam2)
    value = 0.1 * path.span[0]
    path(value)
    run = timed(lambda: left_out(path, value)[0], 3)
    refits = timed(lambda: np.array([refitted(path, value, i) for i in range(n)]))
    ratio = run.best / refits.best
    return [
        f"{n}, {p}{', tied' if tied else ''}", f"{lam2:g}", f"{1e3 * run.best:.1f}", f"{1e3 * refits.best:.0f}",
        f"{ratio:.3f}",
        "<= 0.2 reached" if ratio <= 0.2 else "<= 0.2 MISSED", f"{np.abs(run.result - refits.result).max():.0e}",
    ]  # fmt: skip


def compiling() -> str:
    """Seconds of the first path in a process that compiles, and in the next one."""
    progress("compiling ...")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        first, second = (
            float(
                subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True, capture_output=True).stdout
            )
            for _ in range(2)
        )
    return f"First path of a process: {first:.1f} s where the loops are compiled, {second:.2f} s in the next process."


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--quick", action="store_true", help="small problems only, to see that it runs")
    options = parser.parse_args(argv)
    warn_if_busy()
    sizes, repeats = (((40, 5), (20, 30)), 1) if options.quick else (SIZES, 5)
    svmpath.trace_elastic(*draw(30, 4))  # compiles
    lines = [one_size(n, p, repeats) for n, p in sizes]
    left = [
        removal(n, p, lam2, tied)
        for n, p in (((30, 5),) if options.quick else ((60, 20), (60, 200), (200, 50)))
        for lam2, tied in ((1.0, False), (0.0, False), (1.0, True))
    ]
    notes = "" if options.quick else compiling()
    publish("peers_elastic", report(lines, left, notes), options.write)


def report(lines: list[tuple[list[str], dict[str, float]]], left: list[list[str]], notes: str) -> str:
    ratios = {name: [each[name] for _, each in lines] for name in lines[0][1]}
    both = ratios["qp"] + ratios["lp"]
    head = ["n, p", "events", "path ms", "us/event", "QP ms", "path/QP", "l2=0 ms", "LP ms", "path/LP", "off", "SGD s",
            "SGD/path",
            "excess %", "LinearSVC s", "/path l2=0"]  # fmt: skip

    def said(reached: bool) -> str:
        return "reached" if reached else "MISSED"

    return "\n\n".join([
        "The elastic-net path beside its peers\n" + machine(),
        table(head, [line for line, _ in lines]),
        f"path / one QP or LP: largest {max(both):.2f} (aim <= 1: {said(max(both) <= 1)}), "
        f"median {np.median(both):.2f} (aim <= 0.4: {said(np.median(both) <= 0.4)}).\n"
        f"SGD / path: median {np.median(ratios['sgd']):.1f} (aim >= 5: {said(np.median(ratios['sgd']) >= 5)}). "
        f"LinearSVC / path: least {min(ratios['svc']):.1f} (aim >= 1: {said(min(ratios['svc']) >= 1)}).\n"
        "off: relative difference to the objective of the QP and the LP. All times are the best of several.",
        table(["n, p", "lambda2", "loo ms", "refits ms", "ratio", "aim", "largest difference"], left),
        "loo: exact, all samples at a tenth of the first lambda1; refits: a walk per sample to that value.\n" + notes,
    ]).rstrip()  # fmt: skip


if __name__ == "__main__":
    main()
