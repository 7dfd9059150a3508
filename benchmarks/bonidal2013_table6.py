"""Bonidal, Tindel & Guermeur (2013), Table 6, beside ours: many rows in the plane, where the kernel has low rank.

The set is the paper's: the two classes are equally likely, +1 is one Gaussian, -1 a mixture of two. The training rows
are standardised, 30000 rows are tested; lambda = 1 / C from 1e7 down to 1e-6 is chosen by the leave-one-out prediction
of the spans. (The paper gives 12.11 % as the Bayes error. That of the densities it prints is 13.67 %, by quadrature and
by drawing 10^6 rows, which also fits its test errors.) The paper takes sigma from Chapelle's gradient descent; here:

    heuristic   gamma = 1/(2ms), ms the mean squared distance to the centre (see bonidal2013_table3_4.py), and the
                paper's approximation: 60 % of the rows as landmarks (density-weighted below 4000 rows, else uniform),
                eigenvalues below 1e-4 dropped
    surface     9 gammas from 1/16 to 16 over ms x 25 values of lambda from 1e3 to 1e-3, the best pair by the spans, on
                200 columns of a randomly pivoted Cholesky factor

Run it on an idle machine:

    python benchmarks/bonidal2013_table6.py --write
"""

from __future__ import annotations

import os

# One BLAS thread: the matrices are small, and the paper's times are of one process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _bonidal import HEURISTICS, C_values, Sample, by_span, gamma_factors, mean_square, spread, standardised, surface
from _common import Array, arguments, chosen, machine, progress, publish, table, warn_if_busy
from scipy.stats import multivariate_normal

from svmpath import criteria
from svmpath.gram import Nystroem

# The paper's densities: mean and covariance of each Gaussian; those of class -1 have weight 1/2 each.
POSITIVE = ((1.0, 1.0), ((8.0, -6.0), (-6.0, 8.0)))
NEGATIVE = (
    ((0.0, 0.0), ((0.25, 0.0), (0.0, 0.25))),
    ((5.0, -2.0), ((1.0, 0.0), (0.0, 1.0))),
)
DENSITY_BELOW = 4000  # rows: the paper's density-weighted landmarks, uniform ones from here on


@dataclass(frozen=True)
class Paper:
    """A row of the paper's Table 6: error rate in per cent (mean, deviation) and seconds of both, and the rank."""

    path: tuple[float, float]
    gradient: tuple[float, float]
    path_seconds: float
    gradient_seconds: float
    rank: float


# The paper's numbers, MATLAB R2010b, 10 realizations.
PAPER = {
    1000: Paper((14.22, 0.28), (14.05, 0.25), 5.68, 9.21, 127.5),
    2000: Paper((13.97, 0.16), (13.93, 0.13), 12.84, 57.55, 165.8),
    3000: Paper((13.86, 0.17), (13.85, 0.19), 20.87, 101.1, 181.4),
    4000: Paper((13.85, 0.33), (13.83, 0.33), 28.41, 262.56, 155.2),
    5000: Paper((13.84, 0.19), (13.82, 0.2), 37.98, 446.56, 154.7),
}
METHODS = ("heuristic", "surface")


def mixture(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the paper's set: +1 from one Gaussian, -1 from a mixture of two, both labels equally likely."""
    y = np.where(rng.random(n) < 0.5, 1, -1)
    second = rng.random(n) < 0.5
    draws = [rng.multivariate_normal(*gaussian, size=n) for gaussian in (POSITIVE, *NEGATIVE)]
    return np.where((y > 0)[:, None], draws[0], np.where(second[:, None], draws[2], draws[1])), y


def bayes_error(X: Array, y: Array) -> float:
    """Error rate in per cent of the best possible rule on these rows."""
    plus = multivariate_normal(*POSITIVE).pdf(X)
    minus = 0.5 * sum(multivariate_normal(*gaussian).pdf(X) for gaussian in NEGATIVE)
    return float(100.0 * np.mean((plus > minus) != (y > 0)))


@dataclass(frozen=True)
class Outcome:
    """One method at one number of rows: one number per realization."""

    errors: Sample
    seconds: Sample
    ranks: Sample


BAYES = "Bayes"


def measure(n: int, names: list[str], options: Any) -> dict[str, Outcome]:
    """The methods, and the best possible rule, on some realizations of n rows; each has test rows of its own."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(options.splits):
        rng = np.random.default_rng([n, seed])
        draw, test = mixture(n, rng), mixture(options.test, rng)
        found.setdefault(BAYES, []).append((bayes_error(*test), 0.0, 0.0))
        X, y, X_test, y_test = standardised(*draw, *test)
        for name in names:
            if name == "heuristic":
                kind = "density" if n < DENSITY_BELOW else "uniform"
                low = {"rank": Nystroem(int(0.6 * n), kind, min_eigenvalue=1e-4), "random_state": seed}
                best = by_span(X, y, C_values(options.Cs), gamma=HEURISTICS["1/(2ms)"](X), **low)
            else:
                gammas = gamma_factors(options.gammas) / mean_square(X)
                values = np.geomspace(1e-3, 1e3, options.surface_Cs)
                best = surface(X, y, gammas, values, criteria.span, rank=min(options.rank, n), random_state=seed)
            found.setdefault(name, []).append((best.error(X_test, y_test), best.seconds, best.rank))
    return {name: Outcome(*(Sample(column) for column in np.array(rows).T)) for name, rows in found.items()}


def warm_up() -> None:
    """Load what is loaded at the first call."""
    X, y, *_ = standardised(*2 * mixture(100, np.random.default_rng(0)))
    by_span(X, y, C_values(3), rank=Nystroem(20, "density", min_eigenvalue=1e-4))


def rows_table(names: list[str], results: dict[int, dict[str, Outcome]]) -> str:
    header = ["m", "paper path %", "paper gradient %", *(f"{name} %" for name in (*names, BAYES)), "paper path s"]
    header += ["paper gradient s", *(f"{name} s" for name in names), "paper rank", *(f"rank {name}" for name in names)]
    rows = []
    for n, ours in results.items():
        paper = PAPER.get(n)
        errors = ["-", "-"] if paper is None else [spread(*paper.path), spread(*paper.gradient)]
        times = ["-", "-"] if paper is None else [f"{paper.path_seconds:.2f}", f"{paper.gradient_seconds:.2f}"]
        row = [str(n), *errors, *(str(ours[name].errors) for name in (*names, BAYES))]
        row += [*times, *(f"{ours[name].seconds.mean:.2f}" for name in names)]
        row += ["-" if paper is None else f"{paper.rank:.1f}", *(f"{ours[name].ranks.mean:.1f}" for name in names)]
        rows.append(row)
    return table(header, rows)


def notes(options: Any) -> str:
    """What a reader must know of the table."""
    lines = [
        'Columns "paper ...": Bonidal, Tindel & Guermeur 2013, Table 6, 10 realizations, sigma by Chapelle\'s',
        "gradient, MATLAB R2010b. All other columns are ours.",
        f"heuristic: gamma = 1/(2ms), {options.Cs} values of C, 60 % of the rows as landmarks, eigenvalues below 1e-4",
        f"dropped. surface: {options.gammas} gammas x {options.surface_Cs} values of C, rank {options.rank} (pivoted).",
        "Both choose by the span prediction.",
        "error: mean +- deviation over the realizations; time: mean wall time of approximation, paths, leave-one-out",
        "along them, and machine. Bayes: error of the best possible rule on the same test rows; 13.67 % in the limit",
        "by quadrature. The paper says 12.11 %, which does not belong to the densities it prints.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=9, Cs=53)
    parser.add_argument("--splits", type=int, default=10, help="realizations of each size (default 10)")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(PAPER), help="training rows (default 1000 .. 5000)"
    )
    parser.add_argument("--test", type=int, default=30_000, help="test rows (default 30000)")
    parser.add_argument("--surface-Cs", type=int, default=25, help="values of C at each gamma (default 25)")
    parser.add_argument("--rank", type=int, default=200, help="columns of the surface's kernel (default 200)")
    options = parser.parse_args(argv)
    warn_if_busy()
    names = chosen(METHODS, options.sets)
    warm_up()
    results = {}
    for n in options.sizes:
        progress(f"m = {n} ...")
        results[n] = measure(n, names, options)
    title = f"Bonidal, Tindel & Guermeur 2013, Table 6: {options.splits} realizations, {options.test} test rows"
    parts = [f"{title}\n{machine()}", rows_table(names, results), notes(options)]
    publish("bonidal2013_table6", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()
