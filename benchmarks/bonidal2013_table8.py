"""Bonidal, Tindel & Guermeur (2013), Table 8, beside ours: ijcnn1 and a9a with polynomial kernels of degree 2.

As in the paper (its Table 7): kernel (32 <x, z> + 1)^2 with 500 landmarks for ijcnn1, (0.032 <x, z> + 1)^2 with 1500
for a9a, uniform Nystroem, eigenvalues below 1e-6 dropped, lambda = 1 / C from 1e7 down to 1e-6, chosen by the
leave-one-out prediction of the spans (never by the test). The data are as published, not standardised: the kernels
were chosen for them so. Generated waveform with (<x, z> / 21 + 1)^2 needs no file.

Beside it, in the same run and on the same features: one fit of ``LinearSVC(loss="squared_hinge", dual=False,
tol=1e-4)`` at the chosen C. Ours has the same machine at 53 values of C, and the leave-one-out error at each. For the
testing times the machine is also compressed to as many rows as its rank, as the paper expands it on r samples. With
``--libsvm SECONDS`` one fit of SVC (the hinge, C = 1 or --libsvm-C) gets that many seconds in a process of its own.

Run it on an idle machine, here with two BLAS threads (LinearSVC uses one):

    python benchmarks/bonidal2013_table8.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
os.environ.setdefault("MKL_NUM_THREADS", "2")
os.environ.setdefault("OMP_NUM_THREADS", "2")

import multiprocessing
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _bonidal import C_values, Parts, Split, trace, walk_and_curve
from _common import Array, arguments, chosen, load, machine, progress, publish, table, timed, warn_if_busy
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

import svmpath
from svmpath import datasets
from svmpath.gram import Nystroem


@dataclass(frozen=True)
class Paper:
    """The paper's Tables 7 and 8 for one set: seconds and error rates in per cent of the path and of l2-liblinear."""

    path_seconds: float
    path_error: float
    rank: int
    liblinear_seconds: float
    liblinear_error: float
    testing_seconds: tuple[float, float]  # of the path's machine and of l2-libsvm


@dataclass(frozen=True)
class Case:
    """A set: its kernel, its landmarks, the test error that is aimed at (None: no aim), and the paper's row."""

    gamma: float
    landmarks: int
    target: float | None
    paper: Paper | None

    @property
    def kernel(self) -> str:
        return f"({self.gamma:.3g} <x, z> + 1)^2"


CASES = {
    "ijcnn1": Case(32.0, 500, 2.5, Paper(30.2, 2.44, 208, 57.8, 2.46, (1.9, 27.0))),
    "a9a": Case(0.032, 1500, 15.0, Paper(179.9, 14.8, 1178, 459.7, 14.7, (1.9, 31.0))),
    "waveform": Case(1 / 21, 500, None, None),
}
ROWS = 20_000  # of the generated set, to train on and to test


def split(name: str, size: int) -> tuple[str, Split] | None:
    """Where the set comes from, and its rows; None where its file is not there."""
    if name == "waveform":
        X, y = datasets.waveform(2 * size, 0)
        return "generated", (X[:size], y[:size], X[size:], y[size:])
    data = load(name)
    if data is None:
        return None
    X, X_test = (data[key].astype(float) for key in ("X", "X_test"))
    return "file", (X, data["y"], X_test, data["y_test"])


# --- both sides ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What was measured on one set."""

    name: str
    kind: str
    n: int
    n_test: int
    rank: int
    C: float
    loo: float
    factor: float
    parts: Parts
    machine: float
    prediction: float
    error: float
    linear_seconds: float
    linear_error: float
    compressing: float
    compressed: tuple[int, float, float]  # rows, seconds of the prediction, test error
    libsvm: tuple[float, float, float, int] | None  # seconds of fit and prediction, test error, support vectors

    @property
    def total(self) -> float:
        """Factor, path and leave-one-out curve."""
        return self.factor + self.parts.curve.best

    @property
    def ratio(self) -> float:
        return self.total / self.linear_seconds


def error_rate(f: Array, y: Array) -> float:
    """In per cent, from decision values."""
    return float(100.0 * np.mean((f > 0) != (y > 0)))


def linear_svc(Z: Array, y: Array, Z_test: Array, y_test: Array, C: float) -> tuple[float, float]:
    """Seconds of one fit of the peer on the features, and its test error."""
    model = LinearSVC(loss="squared_hinge", dual=False, tol=1e-4, C=C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = timed(lambda: model.fit(Z, y)).best
    return seconds, error_rate(model.decision_function(Z_test), y_test)


def _libsvm(split: Split, kernel: dict[str, Any], C: float, answer: Any) -> None:
    """Fit and predict with SVC; what it takes goes through a pipe."""
    X, y, X_test, y_test = split
    model = SVC(C=C, cache_size=2000, **kernel)
    fitted = timed(lambda: model.fit(X, y))
    predicted = timed(lambda: model.decision_function(X_test))
    answer.send((fitted.cpu[0], predicted.cpu[0], error_rate(predicted.result, y_test), int(model.n_support_.sum())))


def libsvm(split: Split, kernel: dict[str, Any], C: float, limit: float) -> tuple[float, float, float, int] | None:
    """The same in a process of its own; None where it is not done in time."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_libsvm, args=(split, kernel, C, theirs))
    process.start()
    found = ours.recv() if ours.poll(limit) else None
    process.terminate()
    process.join()
    return found


def measure(name: str, kind: str, data: Split, options: Any) -> Row:
    """Factor, path, curve, machine and prediction, then the peers."""
    X, y, X_test, y_test = data
    case = CASES[name]
    kernel = {"kernel": "poly", "gamma": case.gamma, "coef0": 1.0, "degree": 2}
    values, repeats = C_values(options.Cs), options.repeats
    low = {"rank": Nystroem(min(options.landmarks or case.landmarks, len(y)), "uniform", min_eigenvalue=1e-6)}

    def factor() -> Any:
        path = trace(X, y, random_state=0, **kernel, **low)
        return path, path.rows.A

    built = timed(factor, repeats)
    path, _ = built.result
    parts = walk_and_curve(path, values, repeats)
    choice = svmpath.select(parts.curve.result)
    solved = timed(lambda: choice.solution)
    predicted = timed(lambda: choice.solution(X_test))
    Z, Z_test = path.gram.Z, path.gram.features(X_test)
    seconds, error = linear_svc(Z, y, Z_test, y_test, choice.value)
    compressing = timed(lambda: choice.solution.compress(path.gram.rank, random_state=0))
    few = compressing.result
    tested = timed(lambda: few(X_test))
    return Row(
        name,
        kind,
        len(y),
        len(y_test),
        path.gram.rank,
        choice.value,
        100.0 * choice.score,
        built.best,
        parts,
        solved.best,
        predicted.best,
        error_rate(predicted.result, y_test),
        seconds,
        error,
        compressing.best,
        (len(few.support), tested.best, error_rate(tested.result, y_test)),
        libsvm(data, kernel, options.libsvm_C, options.libsvm) if options.libsvm else None,
    )


# --- output ----------------------------------------------------------------------------------------------------------


def errors_table(rows: list[Row]) -> str:
    header = ["test error (%)", "data", "n", "test", "kernel", "paper rank", "rank", "lambda", "leave-one-out"]
    header += ["paper path", "paper liblinear", "path", "target", "LinearSVC"]
    lines = []
    for row in rows:
        case = CASES[row.name]
        paper = case.paper
        line = [row.name, row.kind, str(row.n), str(row.n_test), case.kernel]
        line += ["-" if paper is None else str(paper.rank), str(row.rank), f"{1 / row.C:.3g}", f"{row.loo:.2f}"]
        line += ["-", "-"] if paper is None else [f"{paper.path_error:.2f}", f"{paper.liblinear_error:.2f}"]
        lines.append([*line, f"{row.error:.2f}", _verdict(row.error, case.target), f"{row.linear_error:.2f}"])
    return table(header, lines)


def _verdict(error: float, target: float | None) -> str:
    if target is None:
        return "-"
    return f"<= {target:g} reached" if error <= target else f"> {target:g} MISSED"


def times_table(rows: list[Row]) -> str:
    header = ["time (s)", "paper path", "paper liblinear", "factor", "path", "span", "factor + path + span"]
    header += ["LinearSVC, one fit", "ratio", "machine", "prediction"]
    lines = []
    for row in rows:
        paper = CASES[row.name].paper
        line = [row.name]
        line += ["-", "-"] if paper is None else [f"{paper.path_seconds:.1f}", f"{paper.liblinear_seconds:.1f}"]
        line += [f"{part:.2f}" for part in (row.factor, row.parts.walk.best, row.parts.span, row.total)]
        line += [f"{row.linear_seconds:.2f}", f"{row.ratio:.2f}", f"{row.machine:.2f}", f"{row.prediction:.2f}"]
        lines.append(line)
    return table(header, lines)


def testing_table(rows: list[Row], limit: float) -> str:
    """Testing times: features, the compressed machine, and libsvm."""
    header = ["testing", "paper path s", "paper libsvm s", "features s", "error", "compress s", "rows", "compressed s"]
    header += ["error", "libsvm fit s", "support vectors", "libsvm s", "error"]
    lines = []
    for row in rows:
        paper = CASES[row.name].paper
        line = [row.name] + (["-", "-"] if paper is None else [f"{each:g}" for each in paper.testing_seconds])
        count, seconds, error = row.compressed
        line += [f"{row.prediction:.2f}", f"{row.error:.2f}", f"{row.compressing:.2f}", str(count), f"{seconds:.2f}"]
        line.append(f"{error:.2f}")
        if row.libsvm is None:
            line += [f"> {limit:g}" if limit else "-", "-", "-", "-"]
        else:
            fit, predict, wrong, support = row.libsvm
            line += [f"{fit:.1f}", str(support), f"{predict:.2f}", f"{wrong:.2f}"]
        lines.append(line)
    return table(header, lines)


def notes(skipped: list[str], repeats: int) -> str:
    """What a reader must know of the tables."""
    lines = [
        'Columns "paper ...": Bonidal, Tindel & Guermeur 2013, Table 8, training times on their hardware (MATLAB',
        "R2010b); theirs of liblinear is one training at a given C. All other columns are ours.",
        "factor: landmarks and features; path: the machines at all values of C; span: what the leave-one-out curve",
        f"(error rates only) takes beyond it; best of {repeats}. machine: coefficients at the chosen C; prediction: of",
        "all test rows, from the raw ones.",
        "LinearSVC: one fit on the same features at the chosen C (its offset is penalised, ours is not);",
        "ratio: factor + path + span over that one fit. At most 1 is aimed at on ijcnn1.",
        "testing: all test rows by the features of the landmarks, by the machine compressed to as many rows as its",
        "rank, and by libsvm's (SVC: the hinge, not its square; processor seconds).",
    ]
    if skipped:
        lines.append(f"Without the data folder (SVMPATH_DATA) there is no {', '.join(skipped)}.")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=53)
    parser.add_argument("--landmarks", type=int, help="landmarks of every set (default: the paper's)")
    parser.add_argument("--size", type=int, default=ROWS, help=f"rows of the generated set (default {ROWS})")
    parser.add_argument("--repeats", type=int, default=1, help="runs of ours, the best counts (default 1)")
    parser.add_argument("--libsvm", type=float, default=0, metavar="SECONDS", help="a fit of SVC, if done in so many")
    parser.add_argument("--libsvm-C", type=float, default=1.0, help="its C (default 1)")
    options = parser.parse_args(argv)
    warn_if_busy()
    rows: list[Row] = []
    skipped = []
    for name in chosen(list(CASES), options.sets):
        found = split(name, options.size)
        if found is None:
            skipped.append(name)
            continue
        progress(f"{name} ...")
        rows.append(measure(name, *found, options))
    title = f"Bonidal, Tindel & Guermeur 2013, Table 8: {options.Cs} values of lambda from 1e7 to 1e-6"
    parts = [
        f"{title}\n{machine()}",
        errors_table(rows),
        times_table(rows),
        testing_table(rows, options.libsvm),
        notes(skipped, options.repeats),
    ]
    publish("bonidal2013_table8", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
