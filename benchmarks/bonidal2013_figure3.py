"""Bonidal, Tindel & Guermeur (2013), Figure 3: bound, prediction and test error along the regularization path.

As in the paper: the banana set, standardised, the squared hinge with a Gaussian kernel, lambda = 1 / C from 1e7 down to
1e-6. The kernel is approximated as for their Tables 3 and 4 (density-weighted Nystroem on 60 % of the rows, eigenvalues
below 1e-4 dropped). The paper does not give the width of this figure. Here are two (ms: mean squared distance to the
centre of the training set): the heuristic of Table 4, gamma = 1/(2ms), and 4/ms, near which the bound is lowest.

    bound        the radius-margin bound on the leave-one-out error, 4 R^2 / (m margin^2), cut at 1 in the picture
    bound / 4    the same without the factor 4: no longer a bound, and what fits the picture's scale
    prediction   the leave-one-out prediction of the spans
    exact        exact leave-one-out: ours, not in the paper
    test         the error on the test rows

For each width one table has the curves of the first split, and another what the minimum of each curve chooses on all
splits. The picture, of the first split, goes to --picture (it needs matplotlib).

Data: the splits ``train_gen`` of banana.npz in the folder named by SVMPATH_DATA (or ../shared/data); where there is
none, the look-alike of ``svmpath.datasets``. Other sets of the paper's Table 3 can be named by --sets.

    python benchmarks/bonidal2013_figure3.py --splits 20 --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _bonidal import HEURISTICS, C_values, Sample, Split, mean_square, standardised, trace
from _common import Array, arguments, chosen, machine, progress, publish, table, warn_if_busy
from _raetsch import Source, source
from bonidal2013_table3_4 import PAPER

from svmpath import criteria, datasets
from svmpath.gram import Nystroem

WIDTHS = {"1/(2ms)": HEURISTICS["1/(2ms)"], "4/ms": lambda X: 4.0 / mean_square(X)}
SHOWN = 14  # values of lambda in the table
RATES = ("prediction", "exact", "test")


@dataclass(frozen=True)
class Curves:
    """What the figure shows, as fractions, at each lambda from the largest to the smallest."""

    lam: Array
    bound: Array
    prediction: Array
    exact: Array
    test: Array
    left: Array  # samples left of the margin: the set E

    def at_minimum(self, name: str) -> tuple[float, float]:
        """The lambda at which a curve is lowest (the largest of several), and the test error there in per cent."""
        best = int(np.argmin(getattr(self, name)))
        return float(self.lam[best]), float(100 * self.test[best])


def measure(split: Split, values: Array, seed: int, width: str) -> Curves:
    """The curves of one split at one width."""
    X, y, X_test, y_test = split
    low = Nystroem(max(1, int(0.6 * len(y))), "density", min_eigenvalue=1e-4)
    path = trace(X, y, gamma=WIDTHS[width](X), rank=low, random_state=seed)
    machines = [path(float(C)) for C in values]
    return Curves(
        lam=1.0 / values,
        bound=criteria.radius_margin(path, values).scores,
        prediction=criteria.span(path, values).scores,
        exact=criteria.loo(path, values).scores,
        test=np.array([np.mean((each(X_test) > 0) != (y_test > 0)) for each in machines]),
        left=np.array([len(each.support) for each in machines]),
    )


def found(name: str, size: int | None) -> Source | None:
    """The set's file or generator; for banana a look-alike where there is no file."""
    row = PAPER[name]
    n = size or row.n
    data = source(name, row.file, n, row.n_test)
    if data is not None or name != "banana":
        return data

    def drawn(seed: int) -> Split:
        X, y = datasets.banana(n + row.n_test, seed)
        return X[:n], y[:n], X[n:], y[n:]

    return Source(name, "look-alike", n, 2, 0, drawn)


# --- output ----------------------------------------------------------------------------------------------------------


def curves_table(curves: Curves) -> str:
    """The curves at some of the values."""
    header = ["lambda", "bound", "bound / 4", *(f"{name} %" for name in RATES), "left of the margin"]
    rows = []
    for k in np.unique(np.linspace(0, len(curves.lam) - 1, SHOWN).round().astype(int)):
        row = [f"{curves.lam[k]:.1e}", f"{curves.bound[k]:.3g}", f"{curves.bound[k] / 4:.3g}"]
        row += [f"{100 * getattr(curves, name)[k]:.2f}" for name in RATES]
        rows.append([*row, str(curves.left[k])])
    return table(header, rows)


def minima_table(runs: list[Curves]) -> str:
    """What the minimum of each curve chooses, over the splits."""
    rows = []
    for curve in ("bound", *RATES):
        lam, errors = np.array([each.at_minimum(curve) for each in runs]).T
        rows.append([curve, f"{np.exp(np.mean(np.log(lam))):.2g}", str(Sample(errors))])
    return table(["minimum of", "lambda, geometric mean", "test error % there"], rows)


def agreement(runs: list[Curves]) -> str:
    """How near the prediction is to what it predicts."""
    near = {name: [np.abs(each.prediction - getattr(each, name)).mean() for each in runs] for name in ("exact", "test")}
    least = [each.bound.min() for each in runs]
    return (
        f"|prediction - exact|, mean over lambda: {100 * np.mean(near['exact']):.2f} points; |prediction - test|: "
        f"{100 * np.mean(near['test']):.2f} points.\nThe bound is at least {np.min(least):.2f} on every split"
        f" ({np.mean(least):.2f} in the mean): {'below' if np.min(least) < 1 else 'never below'} 1."
    )


def draw(name: str, shown: dict[str, Curves], file: Path) -> bool:
    """The figure, one panel per width; False where there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = figure.subplots(1, len(shown), sharey=True)
    for axes, (width, curves) in zip(panels, shown.items(), strict=True):
        axes.semilogx(curves.lam, np.minimum(curves.bound, 1.0), "C3-", label="radius-margin bound, cut at 1")
        axes.semilogx(curves.lam, np.minimum(curves.bound / 4.0, 1.0), "C3:", label="the same without its factor 4")
        axes.semilogx(curves.lam, curves.prediction, "C0-", label="leave-one-out prediction (spans)")
        axes.semilogx(curves.lam, curves.exact, "k--", lw=1, label="leave-one-out, exact")
        axes.semilogx(curves.lam, curves.test, "C2-", label="test error")
        axes.invert_xaxis()
        axes.set(xlabel="lambda = 1 / C", ylim=(0, 1.05), title=f"{name}, gamma = {width}")
    panels[0].set_ylabel("error rate")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)
    return True


NOTES = (
    "The paper names no width for this figure. bound: 4 R^2 / (m margin^2), not in per cent.\n"
    "left of the margin: the set E, among the rows in training. minimum of: the largest lambda with the lowest\n"
    "value of that curve; test: the best that the path offers."
)


def report(name: str, data: Source, options: Any) -> tuple[list[str], dict[str, Curves]]:
    """The tables of a set, and its curves on the first split."""
    parts, first = [], {}
    for width in WIDTHS:
        splits = ((seed, standardised(*data.split(seed))) for seed in range(options.splits))
        runs = [measure(split, C_values(options.Cs), seed, width) for seed, split in splits]
        parts.append(f"{name} ({data.kind}), n = {data.n}, gamma = {width}, first of {len(runs)} splits")
        parts += [curves_table(runs[0]), minima_table(runs), agreement(runs)]
        first[width] = runs[0]
    return parts, first


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=53)
    parser.add_argument("--splits", type=int, default=5, help="training / test splits (default 5)")
    parser.add_argument("--size", type=int, help="training rows of a generated set (default: the paper's)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the first split there")
    options = parser.parse_args(argv)
    warn_if_busy()
    parts = [f"Bonidal, Tindel & Guermeur 2013, Figure 3: {options.Cs} values of lambda from 1e7 to 1e-6\n{machine()}"]
    drawn = False
    for name in chosen(list(PAPER), options.sets or ["banana"]):
        data = found(name, options.size)
        if data is None:
            parts.append(f"Not here, neither as file nor as generator: {name}.")
            continue
        progress(f"{name} (n = {data.n}) ...")
        tables, first = report(name, data, options)
        parts += tables
        if options.picture is not None and not drawn:
            drawn = draw(name, first, options.picture)
            parts.append(f"Picture: {options.picture.name}" if drawn else "No picture: matplotlib is not installed.")
    publish("bonidal2013_figure3", "\n\n".join([*parts, NOTES]), options.write)


if __name__ == "__main__":
    main()
