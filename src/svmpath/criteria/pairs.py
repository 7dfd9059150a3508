"""One-vs-one: a machine for each pair of classes, trained on the rows of these two alone, and k numbers of each row.

With f_ab > 0 for class b and f_ab <= 0 for class a < b, each class has votes and a confidence,

    v_c = #{a < c : f_ac > 0} + #{b > c : f_cb <= 0},     t_c = sum_{a < c} f_ac - sum_{b > c} f_cb,
    F_c = v_c + t_c / (3 (|t_c| + 1)),

so that the most votes win, and confidences, which count for less than a third of a vote, decide between equal ones:
the rule of scikit-learn's SVC.

The machine of a pair is that of all rows with weight zero for those of other classes, so that it shares the kernel with
all others. Where it is asked about rows that it has not seen, those of its two classes are held out from it, and the
others are held out as they are: their decision values are plain ones. As many numbers say how far a row of class c is
on the right side of its k - 1 machines; the mean of their losses is its margin loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isqrt
from typing import Any

import numpy as np

from svmpath.criteria.conformal import OfFolds
from svmpath.criteria.curve import Curve, OneVsRest
from svmpath.criteria.sources import Rowwise
from svmpath.paths import Path

Array = np.ndarray


def pairs_of(k: int) -> list[tuple[int, int]]:
    """All pairs of k classes, the smaller first: (0, 1), (0, 2), ..., (k - 2, k - 1)."""
    return list(combinations(range(k), 2))


def class_count(pairs: int) -> int:
    """k from the number of its pairs, k (k - 1) / 2."""
    return (1 + isqrt(1 + 8 * pairs)) // 2


def votes(f: Array) -> Array:
    """F of shape (..., k) from the decision values of all pairs, of shape (..., k (k - 1) / 2)."""
    k = class_count(f.shape[-1])
    number, confidence = np.zeros((*f.shape[:-1], k)), np.zeros((*f.shape[:-1], k))
    for at, (a, b) in enumerate(pairs_of(k)):
        is_second = f[..., at] > 0
        number[..., a] += ~is_second
        number[..., b] += is_second
        confidence[..., a] -= f[..., at]
        confidence[..., b] += f[..., at]
    return number + confidence / (3.0 * (np.abs(confidence) + 1.0))


def one_vs_one(curves: Sequence[Curve], whole: Path) -> Curve:
    """One curve from those of all pairs, in their order, with the same values and rows.

    Its path is ``whole``, that of the first class against the rest, which has the weights of all rows.
    """
    first, rows = curves[0], curves[0].rows
    held = np.stack([curve.held for curve in curves], axis=2)
    margins, number = np.zeros(held.shape[:2]), np.zeros(len(rows))
    for curve in curves:
        of_pair = np.flatnonzero(curve.path.problem.s[rows] > 0)
        margins[:, of_pair] += curve.margin_loss(curve.target[rows[of_pair]], curve.held[:, of_pair])
        number[of_pair] += 1.0
    others = [curve.target for curve in curves[: class_count(len(curves)) - 1]]  # of the first class and each other one
    target = np.stack([-np.max(others, axis=0), *others], axis=1)
    doubts = Rowwise(_sum, [curve.doubts for curve in curves])
    return replace(
        first,
        path=whole,
        loss=OneVsRest(first.loss),
        source=votes(held),
        target=target,
        doubts=doubts,
        screened=None,
        margins=margins / np.maximum(number, 1.0),
    )


def _sum(parts: list[Array]) -> Array:
    return np.sum(parts, axis=0)


@dataclass(frozen=True)
class Voting:
    """The votes of machines that stand together k (k - 1) / 2 at a time, such as those without each fold."""

    decide: Any
    pairs: int

    def __call__(self, X: Any) -> Array:
        """Of new rows, of shape (m, parts * k)."""
        f = self.decide(X)
        return votes(f.reshape(len(f), -1, self.pairs)).reshape(len(f), -1)


def votes_of_folds(left_out: OfFolds) -> OfFolds:
    """The machines of all pairs without each fold, as k decision values of each row."""
    return replace(left_out, held=votes(left_out.held), decide=Voting(left_out.decide, left_out.held.shape[1]))
