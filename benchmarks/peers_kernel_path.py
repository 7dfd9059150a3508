"""Kernel paths and surfaces beside independent solutions, the decay scheme of Wang et al., and SVC.

    agreement       the path at 50 gammas beside a quadratic programme (Clarabel), and its violation at breakpoints and
                    at three values of every segment
    decay scheme    the paper's search, theta = 0.95 and epsilon = 1e-6, in the same process: events, solves, time
    surface         20 gammas from 0.1 to 10 and the whole path over C from 1e-3 at each, beside one SVC fit
    moving gamma    events of the homotopy from one gamma to the next, at fixed C

Data: two moons (noise 0.1) and two Gaussians for the paths, 50 + 50 rows as in the paper, and 400 rows; two moons
(noise 0.3) for the surface. Times are processor times of one thread, medians of repeated runs that take turns.

    python benchmarks/peers_kernel_path.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
from _common import Array, arguments, machine, progress, publish, table, warn_if_busy
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import svmpath
from svmpath.kernels import squared_distances
from svmpath.solvers import box_qp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import reference_qp
from tests.decay_scheme import DecayPath

SPAN = (0.1, 50.0)  # of gamma; 10 to 0.02 in the paper's scale


def moons(n: int, seed: int = 0) -> tuple[Array, Array]:
    X, y = make_moons(2 * n, noise=0.1, random_state=seed)
    return X[::2], 2.0 * y[::2] - 1.0


def gaussians(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    wide = rng.normal(size=(n, 2)) * np.where(y > 0, 1.0, 0.6)[:, None]
    return wide + 0.8 * y[:, None], y


SETS = {"moons": moons, "gaussians": gaussians}


def in_turns(functions: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median processor seconds of each function; they take turns."""
    seconds = np.empty((repeats, len(functions)))
    for row in seconds:
        for k, function in enumerate(functions):
            begin = time.process_time()
            function()
            row[k] = time.process_time() - begin
    return np.median(seconds, axis=0).tolist()


def trace(X: Array, y: Array, lam: float) -> svmpath.paths.KernelPath:
    return svmpath.trace(X, y, loss="hinge", over="gamma", span=SPAN, C=1.0 / lam)


def agreement(name: str, lam: float, values: int) -> list[str]:
    """One line of the first table."""
    progress(f"{name}, lambda = {lam}: agreement ...")
    X, y = SETS[name](100)
    path, S = trace(X, y, lam), squared_distances(X)
    nodes = path.breakpoints
    inside = np.concatenate([nodes[:-1] + share * np.diff(nodes) for share in (0.25, 0.5, 0.75)])
    differences = []
    for gamma in np.geomspace(*SPAN, values):
        f, _ = reference_qp.hinge(np.exp(-gamma * S), y, np.ones(len(y)), 1.0 / lam)
        solution = path(gamma)
        off, size = solution.fitted - f, np.abs(solution.alpha)
        if not np.any((size > 1e-9) & (size < (1 - 1e-9) / lam)):
            off = off - np.mean(off)  # nobody on the elbow: the offset is free, and ours is the middle
        differences.append(np.abs(off).max())
    at_nodes, between = (max(path(value).violation for value in part) for part in (nodes, inside))
    return [f"{name}, {lam:g}", str(len(nodes) - 2), f"{max(differences):.1e}", f"{at_nodes:.0e}", f"{between:.0e}"]


def beside_decay(name: str, n: int, lam: float, repeats: int) -> list[str]:
    """One line of the second table."""
    progress(f"{name}, n = {n}, lambda = {lam}: decay scheme ...")
    X, y = SETS[name](n)
    path, S = trace(X, y, lam), squared_distances(X)
    start = path(SPAN[0]).alpha
    slow = DecayPath(S, y, 1.0 / lam, SPAN[0], start).to(SPAN[1])
    ours, theirs = in_turns(
        [lambda: trace(X, y, lam), lambda: DecayPath(S, y, 1.0 / lam, SPAN[0], start).to(SPAN[1])], repeats
    )
    events = [event.sample for event in path.events()]
    same = "yes" if events == [sample for _, sample in slow.events] else f"{len(slow.events)} events"
    return [
        f"{name}, {n}, {lam:g}", str(len(events)), same, f"{path.record.solves / len(events):.2f}",
        f"{slow.trials / len(slow.events):.1f}", f"{1e3 * ours:.0f}", f"{1e3 * theirs:.0f}", f"{theirs / ours:.1f}",
    ]  # fmt: skip


def surface_line(n: int, last: float, repeats: int) -> list[str]:
    """One line of the third table."""
    progress(f"surface, n = {n}, C to {last:g} ...")
    X, y = make_moons(n, noise=0.3, random_state=0)
    gammas = np.geomspace(0.1, 10.0, 20)

    def fits() -> None:
        for gamma in gammas:
            SVC(C=1.0, gamma=gamma).fit(X, y)

    def whole() -> svmpath.paths.Surface:
        return svmpath.surface(X, y, loss="hinge", C=(1e-3, last), gamma=gammas)

    surface = whole()
    events = sum(len(list(path.events())) for path in surface.paths)
    rng = np.random.default_rng(0)
    pairs = zip(10 ** rng.uniform(-3, np.log10(last), 100), 10 ** rng.uniform(-1, 1, 100), strict=True)
    violation = max(surface(C, gamma).violation for C, gamma in pairs)
    all_fits, seconds = in_turns([fits, whole], repeats)
    fit = all_fits / len(gammas)
    return [
        f"moons, {n}, {last:g}",
        str(events),
        f"{seconds:.2f}",
        f"{1e3 * fit:.1f}",
        f"{seconds / fit:.0f}",
        f"{violation:.0e}",
    ]


def moving(n: int, C: float) -> list[str]:
    """One line of the fourth table: events of each homotopy, counted where they are told."""
    progress(f"moving gamma, n = {n}, C = {C} ...")
    X, y = make_moons(n, noise=0.3, random_state=0)
    gammas = np.geomspace(0.1, 10.0, 20)
    counts: list[int] = []
    solution = svmpath.trace(X, y, loss="hinge", gamma=gammas[0], span=(0.5 * C, C))(C)
    walk = box_qp.Walker.to

    def counted(self: box_qp.Walker, t_end: float) -> None:
        before = len(self.events.t)
        walk(self, t_end)
        counts[-1] += len(self.events.t) - before

    violations = []
    with patch.object(box_qp.Walker, "to", counted):
        for gamma in gammas[1:]:
            counts.append(0)
            near = svmpath.paths.JumpPath(
                solution.problem.at("gamma", float(gamma)), solution.loss,
                svmpath.losses.PathParameter("weight", {"C": C}), (1.0, 1.0), solution.alpha / C,
            )  # fmt: skip
            solution = near.from_places(near.begin().status)
            violations.append(solution.violation)
    share = np.array(counts) / n
    return [f"moons, {n}, {C:g}", f"{np.mean(counts):.0f}", f"{share.mean():.3f}", f"{share.max():.3f}",
            f"{max(violations):.0e}"]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--quick", action="store_true", help="small problems only, to see that it runs")
    options = parser.parse_args(argv)
    warn_if_busy()
    lams = (1.0,) if options.quick else (0.1, 1.0, 5.0)
    repeats = 1 if options.quick else 7
    first = [agreement(name, lam, 3 if options.quick else 50) for name in SETS for lam in lams]
    second = [beside_decay(name, 100, lam, repeats) for name in SETS for lam in lams]
    if not options.quick:
        second += [beside_decay(name, 400, 1.0, 3) for name in SETS]
    sizes = (60,) if options.quick else (200, 600)
    third = [surface_line(n, last, min(repeats, 5)) for n in sizes for last in (100.0, 1000.0)]
    fourth = [moving(n, C) for n in sizes for C in (1.0, 10.0)]
    publish("peers_kernel_path", report(first, second, third, fourth), options.write)


def report(first: list[list[str]], second: list[list[str]], third: list[list[str]], fourth: list[list[str]]) -> str:
    decay = ["data, n, lambda", "events", "same", "solves / event", "decay: trials / event", "ms", "decay ms", "ratio"]
    return "\n\n".join(
        [
            "Kernel paths and surfaces\n" + machine(),
            table(["data, lambda", "breakpoints", "f differs from QP", "violation at them", "between"], first),
            table(decay, second),
            table(
                ["data, n, last C", "events", "surface s", "one fit ms", "surface / fit", "violation between gammas"],
                third,
            ),
            table(["data, n, C", "events per step", "per sample, mean", "largest", "violation"], fourth),
            "Paths: 100 rows (400 where it says so), rbf, gamma from 0.1 to 50, C = 1 / lambda. f differs: largest\n"
            "difference of decision values to an interior point method at 50 gammas. Violations: in units of f.\n"
            "ms: the whole call of svmpath.trace; the decay scheme is given the first machine and the distances.\n"
            "Surface: 20 gammas from 0.1 to 10, C from 1e-3 to the last C; fit: SVC at C = 1, mean over 20 gammas.\n"
            "events per step: of the homotopy that moves gamma by 27 % at fixed C.\n"
            "same: where a number of events is told instead, the elbow is empty for a while, and of two samples that\n"
            "leave it together the other one is kept as its place-holder.",
        ]
    )


if __name__ == "__main__":
    main()
