"""Folds on the full kernel of many rows: each is a column of the same products, with weight zero for its rows."""

from __future__ import annotations

import numpy as np

from svmpath.criteria.held_out import Folds, HeldOut, held_rows
from svmpath.exceptions import PathError
from svmpath.paths.full_kernel_path import RANKING_GAP, FullKernelPath

Array = np.ndarray


def leave_folds_out_full(path: FullKernelPath, values: Array, folds: Folds) -> HeldOut:
    """All folds at all values in one system; copies of a sample are one row of it, also if folds part them."""
    problem, n = path.problem, path.distinct.n
    of_row = np.arange(n) if problem.copies is None else problem.copies
    weights = np.stack([np.bincount(of_row[train], problem.s[train], n) for train, _ in folds], axis=1)
    tol = max(path.tol, RANKING_GAP)
    machines = path.columns(values, weights, tol)
    if not machines.gap.max() <= tol:
        raise PathError(
            f"For C up to {values.max():.6g} no machines of the folds with a gap below {tol:.1e} were found on the "
            "full kernel: use a smaller C, scale the columns, or use rank=."
        )
    f = machines.f.reshape(n, len(values), len(folds))
    held = np.hstack([f[of_row[test], :, k].T for k, (_, test) in enumerate(folds)])
    return HeldOut(held_rows(folds), held, np.zeros(len(values), dtype=int))
