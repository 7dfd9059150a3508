"""Bonidal, Tindel & Guermeur (2013), Table 2, beside ours: is the path as good as an l2 LIBSVM, and how fast?

As in the paper: standardised training sets, a density-weighted Nystroem kernel on 80 % of the rows, eigenvalues below
1e-6 dropped, lambda = 1 / C from 1e7 down to 1e-6; the path is timed with the approximation and the leave-one-out
prediction along it.

The l2 LIBSVM is scikit-learn's SVC with a hard margin (C = 1e12) on K + lambda/2 I, at every fourth value of lambda.
The objective is the dual one, with the whole kernel, of both: sum a - 1/2 a'(H + lambda/2 I) a.

    ratio   objective of the path (low rank) over that of LIBSVM, mean over lambda: what the approximation costs
    dense   the same with the path on the whole kernel: the largest |ratio - 1|, what solving costs on either side
    gap     the largest relative duality gap of that path: what solving costs on our side

LIBSVM often does not end within its limit of iterations at the smallest lambda. These values are counted ("stopped")
and are part of its time; there the ratio is to the path on the whole kernel. Run it on an idle machine:

    python benchmarks/bonidal2013_table2.py --write
"""

from __future__ import annotations

import os

# One BLAS thread: the matrices are small, and the paper's times are of one process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _bonidal import C_values, set_changes, standardised, trace
from _common import Array, arguments, chosen, load, machine, progress, publish, table, timed, warn_if_busy
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from svmpath import criteria, datasets
from svmpath.gram import Nystroem

HARD = 1e12  # the C of LIBSVM that stands for a hard margin
TIMED_TOL, TIGHT_TOL = 1e-3, 1e-10  # LIBSVM's own, and the one at which objectives are compared


@dataclass(frozen=True)
class Paper:
    """A row of the paper's Table 2: sigma (None: linear), rank, seconds and set changes of the path, LIBSVM, ratio."""

    sigma: float | None
    rank: int
    path: float
    sets: int
    libsvm: float
    ratio: float

    @property
    def kernel(self) -> str:
        return "linear" if self.sigma is None else f"Gaussian ({self.sigma:g})"

    @property
    def options(self) -> dict[str, Any]:
        if self.sigma is None:
            return {"kernel": "linear"}
        return {"kernel": "rbf", "gamma": 0.5 / self.sigma**2}


# The paper's numbers, MATLAB R2010b. The time of LIBSVM is ten times its mean over lambda.
PAPER = {
    "banana": (
        Paper(None, 2, 0.5996, 44, 1.6229, 0.99988),
        Paper(0.2, 317, 1.5592, 49, 0.8799, 0.98236),
        Paper(0.6, 147, 0.95875, 45, 1.455, 0.99993),
        Paper(1.0, 81, 0.84712, 46, 16.0839, 0.99945),
        Paper(1.4, 56, 0.79836, 45, 18.8339, 1.0001),
        Paper(1.8, 44, 0.8895, 44, 13.0951, 0.9991),
    ),
    "twonorm": (
        Paper(None, 20, 0.69215, 50, 0.99338, 0.99963),
        Paper(10, 319, 1.0794, 49, 1.1886, 0.99304),
        Paper(15, 319, 1.0554, 49, 1.1857, 0.99361),
        Paper(20, 319, 1.0842, 49, 1.1932, 0.99231),
        Paper(25, 319, 1.0724, 49, 1.1952, 0.99305),
        Paper(30, 289, 0.99932, 49, 1.2005, 0.99553),
        Paper(35, 244, 0.90694, 49, 1.2022, 0.99558),
        Paper(40, 231, 0.90001, 49, 1.2066, 0.99672),
    ),
    "image": (
        Paper(None, 14, 2.267, 44, 33.7736, 1.0001),
        Paper(2, 905, 9.3627, 47, 5.4173, 0.98943),
        Paper(3, 873, 7.8396, 46, 5.2021, 0.99386),
        Paper(4, 778, 7.7303, 45, 5.5274, 0.99759),
        Paper(5, 683, 6.0358, 45, 6.3224, 0.99899),
        Paper(6, 598, 5.3664, 41, 5.6593, 0.99977),
        Paper(7, 527, 5.3114, 41, 5.7693, 0.99987),
    ),
}
GENERATORS: dict[str, Callable[..., tuple[Array, Array]]] = {"banana": datasets.banana, "twonorm": datasets.twonorm}
ROWS = 400  # of a generated set, as in the paper


def training_set(name: str, size: int | None) -> tuple[str, Array, Array] | None:
    """Where the set comes from, and its rows: the first split of its file, else generated, else None."""
    data = load(name)
    if data is not None and "train_gen" in data:
        kind, train = "file", data["train_gen"][0]
        X, y = data["X"][train], data["y"][train]
    elif name in GENERATORS:
        kind = "generated" if name == "twonorm" else "look-alike"
        X, y = GENERATORS[name](size or ROWS, 0)
    else:
        return None
    X, y, *_ = standardised(X, y, X, y)
    return kind, X, y


# --- both sides ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What was measured of one kernel on one set."""

    name: str
    kind: str
    n: int
    paper: Paper
    rank: int
    path_seconds: float
    sets: int
    moved: int
    libsvm_seconds: float
    stopped: int
    tried: int
    ratios: Array
    dense: Array
    gap: float


def dual_objective(K: Array, y: Array, lam: float, alpha: Array) -> float:
    """Sum a - 1/2 a'(H + lam/2 I) a for signed coefficients alpha = y a."""
    return float(y @ alpha - 0.5 * alpha @ (K @ alpha) - 0.25 * lam * (alpha @ alpha))


def libsvm(K: Array, y: Array, lam: float, tol: float, max_iter: int) -> tuple[float, Array | None]:
    """Seconds of the hard margin machine on K + lam/2 I, and its signed coefficients; None if it was stopped."""
    H = K + 0.5 * lam * np.eye(len(y))
    model = SVC(kernel="precomputed", C=HARD, tol=tol, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
        seconds = timed(lambda: model.fit(H, y)).best
    if np.max(model.n_iter_) >= max_iter:
        return seconds, None
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    return seconds, alpha


def measure(data: tuple[str, str, Array, Array], paper: Paper, values: Array, max_iter: int, every: int) -> Row:
    """The path once, and LIBSVM at some of its values."""
    name, kind, X, y = data
    n = len(y)
    low = {"rank": Nystroem(max(1, int(0.8 * n)), "density", min_eigenvalue=1e-6), "random_state": 0}

    def run() -> Any:
        path = trace(X, y, **paper.options, **low)
        assert np.isfinite(criteria.span(path, values).scores).all()
        return path

    timing = timed(run)
    path, whole = timing.result, trace(X, y, **paper.options)
    for _ in whole.walk(values):
        pass  # each machine below then starts from its neighbour
    K = whole.gram.block(slice(None), slice(None))
    seconds, ratios, dense, gaps, stopped = [], [], [], [], 0
    for C in values[::every]:
        lam, solution = 1.0 / C, whole(C)
        gaps.append(solution.gap)
        spent, rough = libsvm(K, y, lam, TIMED_TOL, max_iter)
        seconds.append(spent)
        alpha = None if rough is None else libsvm(K, y, lam, TIGHT_TOL, max_iter)[1]
        ours = best = dual_objective(K, y, lam, solution.alpha)
        if alpha is None:
            stopped += 1
        else:
            best = dual_objective(K, y, lam, alpha)
            dense.append(ours / best)
        ratios.append(dual_objective(K, y, lam, path(C).alpha) / best)
    sets, moved = set_changes(path, values)
    return Row(
        name,
        kind,
        n,
        paper,
        path.gram.rank,
        timing.best,
        sets,
        moved,
        10.0 * float(np.mean(seconds)),
        stopped,
        len(seconds),
        np.array(ratios),
        np.array(dense),
        max(gaps),
    )


# --- output ----------------------------------------------------------------------------------------------------------


def rows_table(rows: list[Row]) -> str:
    header = ["set", "data", "kernel", "paper rank", "rank", "paper path s", "path s", "paper sets", "sets", "moved"]
    header += ["paper LIBSVM s", "LIBSVM s", "stopped", "paper ratio", "ratio", "dense", "gap"]
    return table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    paper = row.paper
    ranks = [str(paper.rank), str(row.rank)]
    paths = [f"{paper.path:.3f}", f"{row.path_seconds:.3f}", str(paper.sets), str(row.sets), str(row.moved)]
    peers = [f"{paper.libsvm:.3f}", f"{row.libsvm_seconds:.3f}", f"{row.stopped} of {row.tried}"]
    dense = f"{np.abs(row.dense - 1.0).max():.1e}" if len(row.dense) else "-"
    return [
        row.name,
        row.kind,
        paper.kernel,
        *ranks,
        *paths,
        *peers,
        f"{paper.ratio:.5f}",
        f"{row.ratios.mean():.5f}",
        dense,
        f"{row.gap:.1e}",
    ]


def notes(rows: list[Row], skipped: list[str], max_iter: int) -> str:
    """What a reader must know of the table."""
    lines = [
        'Columns "paper ...": Bonidal, Tindel & Guermeur 2013, Table 2, on their hardware (MATLAB R2010b).',
        "path: seconds of the approximation, the path and the leave-one-out prediction along it (as in the paper).",
        "sets: values of lambda at which E differs from the one before, moved: rows that entered or left it, in all.",
        "The paper chooses its own values of lambda and seems to count these: it has 44 changes for banana, linear,",
        "where no row ever leaves E.",
        "LIBSVM: ten times its mean time over lambda, as in the paper; hard margin on K + lambda/2 I, tol = 1e-3.",
        f"stopped: values of lambda at which it did not end in {max_iter:.0e} iterations, with tol = 1e-3 or 1e-10.",
        "ratio: dual objective, with the whole kernel, of the low-rank path over LIBSVM's (tol = 1e-10; where it was",
        "stopped, over that of the dense path), mean over lambda.",
        "dense: largest |ratio - 1| of the path on the whole kernel, LIBSVM's own inaccuracy at small lambda included;",
        "gap: its largest relative duality gap, which needs no LIBSVM, also where that was stopped.",
    ]
    if any(row.kind == "look-alike" for row in rows):
        lines.append(
            "look-alike: a generated set of the same shape, not a sample of the paper's; its error rates differ."
        )
    if skipped:
        lines.append(f"Not here, neither as file nor as generator: {', '.join(skipped)}.")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=53)
    parser.add_argument("--kernels", type=int, help="only the first so many kernels of each set")
    parser.add_argument("--every", type=int, default=4, help="LIBSVM at every so many values of C (default 4)")
    parser.add_argument("--max-iter", type=int, default=1_000_000, help="iterations of LIBSVM (default 1000000)")
    parser.add_argument("--size", type=int, help=f"rows of the generated sets (default {ROWS})")
    options = parser.parse_args(argv)
    warn_if_busy()
    values = C_values(options.Cs)
    rows: list[Row] = []
    skipped = []
    for name in chosen(list(PAPER), options.sets):
        found = training_set(name, options.size)
        if found is None:
            skipped.append(name)
            continue
        for paper in PAPER[name][: options.kernels]:
            progress(f"{name}, {paper.kernel} ...")
            rows.append(measure((name, *found), paper, values, options.max_iter, options.every))
    title = f"Bonidal, Tindel & Guermeur 2013, Table 2: {options.Cs} values of lambda from 1e7 to 1e-6"
    parts = [f"{title}\n{machine()}", rows_table(rows), notes(rows, skipped, options.max_iter)]
    publish("bonidal2013_table2", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
