"""How optimistic the smallest of several held-out errors is, from the held-out losses of all candidates.

There are m candidates (pairs of C and gamma) and U units: samples, or groups of samples that belong together. Unit u
has weight w_u; candidate j has the weighted loss L_uj there. With S a set of units (repeats count), the error of j on S
is

    e_S(j) = sum_{u in S} L_uj / sum_{u in S} w_u,          j_S = the j with the smallest e_S(j)

and all units A give the choice j_A and its apparent error e_A(j_A). The expectation of a minimum is not above the
minimum of the expectations, so that e_A(j_A) is too small on the average. Two estimates of by how much:

    bootstrap (BBC)       mean over draws B of U units with replacement:  e_{A - B}(j_B)  -  e_A(j_A)
    Tibshirani (TT)       mean over K parts P of the units:               e_P(j_A) - e_P(j_P)

The loss that decides may be another than the one reported (a smooth one and the error rate): then j_S is by the first,
e by the second. See docs/math/optimism.md.

References
----------
I. Tsamardinos, E. Greasidou, G. Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and accurate
cross-validation", Machine Learning 107 (2018). R. J. Tibshirani, R. Tibshirani, "A bias correction for the minimum
error rate in cross-validation", Annals of Applied Statistics 3 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.interrupts import checkpoint

Array = np.ndarray

DRAWS = 1000
PARTS = 10
_SAME_SCORE = 1e-12  # relative; scores closer than this are the same score in another order of addition
_AT_ONCE = 4_000_000  # entries of the counts of units that are held at a time


@dataclass(frozen=True)
class LossTable:
    """Weighted losses of candidates on units; units of weight zero are left out.

    Attributes
    ----------
    losses : array of shape (U, m)
        L_uj, of the loss that is reported.
    deciding : array of shape (U, m)
        The same of the loss that decides between the candidates.
    weights : array of shape (U,)

    See Also
    --------
    svmpath.criteria.optimism.bootstrap_error : The error of a choice, by the bootstrap.
    svmpath.criteria.optimism.parts_optimism : The optimism of a choice, by parts.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.optimism import LossTable
    >>> losses = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])  # three samples, two candidates
    >>> round(LossTable.of(losses, losses, np.ones(3), np.arange(3)).apparent, 3)
    0.333
    """

    losses: Array
    deciding: Array
    weights: Array

    @staticmethod
    def of(losses: Array, deciding: Array, weights: Array, units: Array) -> LossTable:
        """The table from losses of shape (N, m), weights and the unit of each row."""
        is_counted = weights > 0
        names, unit = np.unique(units[is_counted], return_inverse=True)
        w = weights[is_counted]

        def summed(values: Array) -> Array:
            table = np.zeros((len(names), values.shape[1]))
            np.add.at(table, unit, w[:, None] * values[is_counted])
            return table

        sums = summed(losses)
        return LossTable(sums, sums if deciding is losses else summed(deciding), np.bincount(unit, w))

    def errors(self, counts: Array) -> Array:
        """e_S(j) of shape (b, m) for b sets, given by how often each unit is in them."""
        return counts @ self.losses / (counts @ self.weights)[:, None]

    def choices(self, counts: Array) -> Array:
        """j_S of each set; the first of equal ones, whatever the last digits of their sums of weights say."""
        scores = counts @ self.deciding / (counts @ self.weights)[:, None]
        least = scores.min(axis=1, keepdims=True)
        return np.argmax(scores <= least + _SAME_SCORE * np.abs(least), axis=1)

    @property
    def apparent(self) -> float:
        """The error of the choice on all units, e_A(j_A)."""
        every = np.ones((1, len(self.weights)))
        return float(self.errors(every)[0, self.choices(every)[0]])


def bootstrap_error(table: LossTable, *, draws: int = DRAWS, seed: int = 0) -> float:
    """The error of choosing on a bootstrap sample of the units, on the units that are not in it: BBC-CV.

    Parameters
    ----------
    table : LossTable
        Of at least two units.
    draws : int, default=1000
        Number of bootstrap samples.
    seed : int, default=0
        Random seed of the samples.

    Returns
    -------
    float
        The mean error of the choices.

    See Also
    --------
    svmpath.criteria.optimism.parts_optimism : The optimism of a choice, by parts.
    svmpath.estimators.honest.HonestError : An estimate of the error of the whole procedure.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> wrong = (rng.random((200, 50)) < 0.5).astype(float)  # 50 candidates that guess
    >>> table = LossTable.of(wrong, wrong, np.ones(200), np.arange(200))
    >>> round(table.apparent, 2), round(bootstrap_error(table), 2)
    (0.42, 0.5)
    """
    rng, size = np.random.default_rng(seed), len(table.weights)
    step, errors = max(1, _AT_ONCE // size), []
    for first in range(0, draws, step):
        checkpoint()
        number = min(step, draws - first)
        drawn = rng.integers(size, size=(number, size)) + size * np.arange(number)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=number * size).reshape(number, size).astype(float)
        out_of_bag = (counts == 0).astype(float)
        is_scored = out_of_bag.any(axis=1)  # draws that leave out no unit are passed over
        counts, out_of_bag = counts[is_scored], out_of_bag[is_scored]
        errors.append(table.errors(out_of_bag)[np.arange(len(counts)), table.choices(counts)])
    return float(np.mean(np.concatenate(errors)))


def parts_optimism(table: LossTable, *, parts: int = PARTS, seed: int = 0) -> float:
    """By how much the error of the choice exceeds the smallest error, on the average over parts of the units: TT.

    Tibshirani and Tibshirani take the folds as parts. Leave-one-out has folds of one sample, on which the smallest
    error of many candidates is nearly always zero; so the units are divided at random into so many parts.

    Parameters
    ----------
    table : LossTable
        Of at least two units.
    parts : int, default=10
        Number of parts.
    seed : int, default=0
        Random seed of the division.

    Returns
    -------
    float
        To be added to the smallest error.

    See Also
    --------
    svmpath.criteria.optimism.bootstrap_error : The error of a choice, by the bootstrap.
    svmpath.estimators.honest.HonestError : An estimate of the error of the whole procedure.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.optimism import LossTable, parts_optimism
    >>> rng = np.random.default_rng(0)
    >>> wrong = (rng.random((200, 50)) < 0.5).astype(float)  # 50 candidates that guess
    >>> table = LossTable.of(wrong, wrong, np.ones(200), np.arange(200))
    >>> parts_optimism(table) > 0
    True
    """
    size = len(table.weights)
    parts = min(parts, size)
    part = np.random.default_rng(seed).permutation(size) % parts
    counts = (part == np.arange(parts)[:, None]).astype(float)
    chosen, errors = table.choices(np.ones((1, size)))[0], table.errors(counts)
    return float(np.mean(errors[:, chosen] - errors[np.arange(parts), table.choices(counts)]))
