"""The leave-one-out error as a step function of C: how many steps and minima, how long, and what grids miss.

    python benchmarks/step_functions.py --write

Two moons with noise, RBF, C from 1e-3 to 1e4. A grid finds the smallest error if one of its values lies in one of the
intervals with the smallest error: exactly known, so that nothing is fitted for that.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from statistics import median
from time import process_time

import numpy as np
from _common import arguments, machine, publish, table
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria

SPAN = (1e-3, 1e4)
WAYS = {"least squares": ("least_squares", criteria.loo), "span": ("squared_hinge", criteria.span)}
WAYS["squared hinge, exact"] = ("squared_hinge", criteria.loo)
GRIDS = (3, 10, 30)  # values per factor of ten


def one(way: str, n: int, seed: int) -> dict[str, float]:
    """One draw."""
    loss, criterion = WAYS[way]
    X, y = make_moons(n, noise=0.35, random_state=seed)
    path = svmpath.trace(X, y, loss=loss, gamma=1.0, span=SPAN)
    begin = process_time()
    steps = criterion(path, exact=True)
    seconds = process_time() - begin
    begin = process_time()
    criterion(svmpath.trace(X, y, loss=loss, gamma=1.0, span=SPAN), np.geomspace(*SPAN, 71)).scores  # noqa: B018
    found = {"steps": len(steps.values), "local": len(steps.local_minima), "global": len(steps.minima)}
    found |= {"seconds": seconds, "grid": process_time() - begin}
    for per in GRIDS:
        values = np.geomspace(*SPAN, 7 * per + 1)
        found[f"missed {per}"] = float(steps(values).min() > steps.scores.min() + 1e-12)
    return found


def main() -> None:
    args = arguments(__doc__, gammas=None).parse_args()
    heads = ["way", "n", "draws", "steps", "minima", "lowest", "CPU s", "71 values", "missed by 3", "by 10", "by 30"]
    lines = []
    for way in WAYS:
        for n, draws in ((50, 30), (100, 30), (300, 1)) if "exact" in way else ((50, 30), (100, 30), (300, 10)):
            each = [one(way, n, seed) for seed in range(draws)]
            middle = {key: median(one[key] for one in each) for key in each[0]}
            missed = [f"{sum(one[f'missed {per}'] for one in each):.0f}" for per in GRIDS]
            row = [f"{middle[key]:g}" for key in ("steps", "local", "global")]
            lines.append([way, str(n), str(draws), *row, f"{middle['seconds']:.3g}", f"{middle['grid']:.3g}", *missed])
    publish("step_functions", f"{machine()}\n\n{table(heads, lines)}", args.write)


if __name__ == "__main__":
    main()
