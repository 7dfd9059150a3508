"""Copies of a sample: one row with the sum of their weights, and solutions for all rows.

In ``C sum_i s_i loss(y_i, f(x_i)) + 1/2 ||f - b||^2`` rows with the same x and y have the same loss, whatever f is, so
that only the sum of their weights counts: with one row of weight S = sum_i s_i in their place the objective is the same
function of f and b, term by term. The coefficient A of that row is split in proportion,

    alpha_i = A s_i / S,

which keeps f = sum alpha_i k(., x_i) + b, stays in each row's own box (0 to C s_i where A is in 0 to C S), and is the
only solution if alpha is unique. Rows with the same x but another y are not copies and are not merged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmpath.gram import Gram
from svmpath.kernels.repeated import group
from svmpath.losses import Problem, Solution

Array = np.ndarray

_PAYS = 0.9  # share of distinct samples up to which they are merged


def find_copies(gram: Gram, labels: Array) -> Array | None:
    """Which rows are the same sample, as numbers from 0 on; None if there are too few copies to be worth merging.

    Rows of a clipped kernel are not merged: the clipped part depends on how often each row occurs.
    """
    if getattr(gram, "clip", False) and gram.kernel.psd is not True:
        return None
    rows = gram.repeats
    return None if rows is None else refine(rows.ids, np.unique(labels, return_inverse=True)[1])


def has_contradictions(gram: Gram, labels: Array) -> bool:
    """Whether most rows occur with several of a few labels."""
    rows = gram.repeats
    if rows is None:
        return False
    classes, codes = np.unique(labels, return_inverse=True)
    seen = len(np.unique(rows.ids.astype(np.int64) * len(classes) + codes))
    return len(classes) < len(rows.first) and seen > 1.5 * len(rows.first)


def contradicted(gram: Gram, labels: Array) -> float:
    """The share of rows that have an equal one with another label."""
    rows = gram.repeats
    if rows is None:
        return 0.0
    least, most = np.full(len(rows.first), np.inf), np.full(len(rows.first), -np.inf)
    np.minimum.at(least, rows.ids, labels)
    np.maximum.at(most, rows.ids, labels)
    return float(np.mean((least < most)[rows.ids]))


def refine(copies: Array | None, marks: Array) -> Array | None:
    """The copies that also have equal marks (whole numbers >= 0); None if too few remain to be worth merging."""
    if copies is None:
        return None
    groups = group(copies.astype(np.int64) * (int(marks.max(initial=0)) + 1) + marks)
    return None if groups is None or len(groups.first) > _PAYS * len(copies) else groups.ids


def merge(problem: Problem, gram: Gram | None = None) -> Problem:
    """The problem with one row for all copies of a sample; ``gram`` is its Gram matrix, if that is known."""
    assert problem.copies is not None
    first, s = np.unique(problem.copies, return_index=True)[1], np.bincount(problem.copies, problem.s)
    gram = problem.gram.take(first) if gram is None else gram
    return replace(problem, gram=gram, y=problem.y[first], s=s, copies=None)


def expand(solution: Solution, problem: Problem, s: Array) -> Solution:
    """The solution for all rows of a problem, from one for its merged rows of weights s."""
    copies = problem.copies
    assert copies is not None
    share = np.divide(problem.s, s[copies], out=np.zeros(problem.n), where=s[copies] > 0)
    return replace(solution, problem=problem, alpha=solution.alpha[copies] * share)


def split_off(problem: Problem) -> tuple[Problem, Array, Array] | None:
    """The problem with one copy of each sample apart from the others, and the row to be left out for each sample.

    Also the original row of each of its rows.

    Leaving out one of m copies of weight w is the same for each of them, and the others may stay merged: two rows, one
    of weight w and one of weight (m - 1) w, of which the first is left out and stands for all m. Copies of weight zero
    are not in the machine and need no second row. None if this is not worthwhile.
    """
    assert problem.copies is not None
    weights = np.unique(problem.s, return_inverse=True)[1]
    alike = group(problem.copies.astype(np.int64) * (int(weights.max()) + 1) + weights)
    if alike is None:
        return None
    is_rest = np.ones(problem.n, dtype=bool)
    is_rest[alike.first] = False
    is_rest &= problem.s > 0
    rows = group(2 * alike.ids + is_rest)
    if rows is None or len(rows.first) > _PAYS * problem.n:
        return None
    small = merge(replace(problem, copies=rows.ids))
    counts = np.bincount(alike.ids)[alike.ids[rows.first]] * ~is_rest[rows.first]
    leader = rows.ids[alike.first][alike.ids]
    return replace(small, stands_for=counts), leader, rows.first
