"""From low rank to the full kernel, where that is affordable and the low rank is not enough.

In low rank a machine is not only less accurate: a small gamma, whose kernel has a lower rank, looks better than it is.
So from the pair that is best in the first rank, pairs are compared on the full kernel, by k-fold cross-validation.
There all values of C, folds and classes at one gamma are columns of the same products (``solvers.full_kernel``):

1. Is it affordable? Conjugate gradients take about sqrt(kappa) products, kappa = 1 + 2 C l, with l the largest
   eigenvalue of K - Z Z' that the preconditioner leaves. That is estimated on some rows. Where C is large, a higher
   rank is the better way (``search.rank``); a larger gamma, with its smaller C, may still be affordable.
2. Is the low rank enough? Its coefficients are feasible on the full kernel. If their duality gap there, over the primal
   objective, is below one in a hundred, the machine is as good as the one on the full kernel. It stays, unless a gamma
   four times as large has a kernel of which the low rank misses more than a hundredth.
3. Three values of C around the best, at the gamma of low rank; then at the next larger gamma, and on while that gains.
   Smaller gammas, which low rank favours, have been compared there; effort="best" tries them again if no larger one
   is better. Where the best C is the last one tried, more are tried.

The budget is a number of passes over the kernel matrix (``limits``), not of seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import make_criterion
from svmpath.exceptions import PathError
from svmpath.gram import LowRankGram, Nystroem, ProductGram
from svmpath.gram.memory import memory_limit
from svmpath.kernels import Linear
from svmpath.losses import Loss, PiecewiseQuadratic
from svmpath.progress import begin
from svmpath.search import limits
from svmpath.search.choice import Scores, best_value
from svmpath.search.evaluator import Evaluator
from svmpath.search.trials import Trials
from svmpath.search.tuner import Tuner

Array = np.ndarray

EFFORTS = ("quick", "auto", "best")
_STEP = 10**0.5  # factor from one C to the next
_VALUES = 3  # of C at a gamma
_SMALL_GAP = 0.01  # duality gap of low rank on the full kernel
_GAIN = 0.25  # standard errors that a gamma must gain for the next one to be tried
_WIDENINGS = 2  # times that a C beyond the last is tried at the best gamma
_MOST_GAMMAS = 5
_WIDE = 4.0  # factor to a larger gamma, where low rank is exact at the best one
_UNKNOWN = 0.01  # relative residual of low rank, above which it says little about a gamma
_LOOKED_AT = 1000  # rows on which the largest eigenvalue is estimated
# Products over the root of kappa, as seen: for one system, or for the several of the method of Newton.
_PRODUCTS = {True: 2.0, False: 5.0}
_ANEW = 8.0  # times as long as a product takes with a matrix that is held
_COLUMNS_PER_PASS = 60  # with so many columns, a product takes twice as long as with few


class Passes:
    """How many passes over the kernel matrix a search on the full kernel may take, and what systems take about."""

    def __init__(self, tuner: Tuner, loss: Loss) -> None:
        kernel = tuner.gram.kernel
        is_solved = isinstance(loss, PiecewiseQuadratic) and loss.pieces.is_one_square
        is_kernel = kernel.psd is True and not isinstance(kernel, Linear)  # a linear one is of low rank as it is
        can_be = is_solved and is_kernel and tuner.is_rank_free and tuner.draw_folds is not None
        each, values = limits.FULL_KERNEL_PASSES[tuner.effort], limits.FULL_KERNEL_VALUES[tuner.effort]
        self.left = min(each * (2 if loss.is_linear else 1), values / float(tuner.size) ** 2) if can_be else 0.0
        if 4.0 * tuner.size**2 > memory_limit():  # kernel values are computed anew in every product
            self.left /= _ANEW
        problem = tuner.evaluator.problems[0]
        s = problem.s if problem.copies is None else np.bincount(problem.copies, problem.s)
        self._seed, self._weight, self._factor = tuner.seed, float(s.max()), _PRODUCTS[loss.is_linear]
        folds = len(folds_of(tuner)) if self.left > 0.0 else 0
        self._per_product = 1.0 + _VALUES * folds * len(tuner.evaluator.problems) / _COLUMNS_PER_PASS

    def afford(self, low: LowRankGram, C: float) -> bool:
        """Whether a look at a few values around C, and then a machine there, can be afforded."""
        if self.left <= 0.0:
            return False
        rng, n = np.random.default_rng(self._seed), low.n
        some = np.sort(rng.choice(n, min(n, _LOOKED_AT), replace=False))
        rest = low.kernel(low.X[low.places(some)]) - low.block(some, some)
        largest = max(float(np.linalg.eigvalsh(rest)[-1]), 0.0) * n / len(some)
        products = self._factor * np.sqrt(1.0 + 2.0 * _STEP * C * self._weight * largest)
        return bool(products * (1.0 + self._per_product) <= self.left)

    def pay(self, products: int) -> None:
        """Take away what a look has cost."""
        self.left -= products * self._per_product


def folds_of(tuner: Tuner) -> Folds:
    """The folds by which machines on the full kernel are compared."""
    if tuner.folds is not None:
        return tuner.folds
    assert tuner.draw_folds is not None
    return tuner.draw_folds()


def larger_pair(
    tuner: Tuner, evaluator: Evaluator, low: LowRankGram, gamma: float, valley: Callable[[float], float]
) -> tuple[float, float] | None:
    """A larger gamma of which low rank knows little, and about the best C there, if the full kernel is affordable.

    Where a small gamma is best in low rank, its C may be so large that no system on the full kernel is affordable.
    """
    axis, passes = tuner.gamma, Passes(tuner, evaluator.loss)
    for step in (_WIDE, _WIDE**2) if passes.left > 0.0 else ():
        new = None if axis is None else axis.next(gamma, 1, step)
        if new is None or tuner.deadline.is_over():
            break
        at, C = low.at(str(tuner.over), new), tuner.C.nearest(valley(new))
        if at.residual > _UNKNOWN and passes.afford(at, C):
            return new, C
    return None


def on_full_kernel(
    tuner: Tuner, low: Trials, valley: Callable[[float], float], start: tuple[float, float] | None = None
) -> Trials | None:
    """The trials on the full kernel; those in low rank if these are good enough; None if no machine was found.

    ``valley`` is about the best C at a gamma. They begin with the best pair in low rank, or with ``start``.
    """
    axis, (gamma, C), passes = tuner.gamma, start or low.best(), Passes(tuner, low.evaluator.loss)
    begin("full kernel")
    gram = low.best_curve().path.gram
    rank = min(limits.PRECONDITIONER * np.sqrt(tuner.size), limits.MOST_RANK, memory_limit() / (8.0 * tuner.n))
    full = ProductGram(gram.kernel, gram.X, Nystroem(max(int(rank), 1), "uniform"), tuner.seed, gram.rows)
    on_full = low.evaluator.on(full)
    steps: list[float | None] = [None]  # factors from one gamma to the next; the usual one comes last
    if start is None:
        pairs = zip(on_full.paths(full, (C, C)), low.machines(), strict=True)
        if all(path.gap_of(machine(C).alpha, C) < _SMALL_GAP for path, machine in pairs):  # type: ignore[attr-defined]
            # Is a larger gamma as well known in low rank? If not, it may be better than it looked.
            new = None if axis is None else axis.next(gamma, 1, _WIDE)
            if new is None or gram.at(str(tuner.over), new).residual < _UNKNOWN:
                return low
            steps = [_WIDE, None]
    trials = Trials(tuner, replace(on_full, criterion=make_criterion("kfold", folds_of(tuner))))

    def look(gamma: float, values: list[float]) -> Scores | None:
        """Some values of C at a gamma, in one system; None if that is too costly."""
        at, before = tuner.gram_at(full, gamma), full.products
        assert isinstance(at, ProductGram)
        if tuner.deadline.is_over() or not passes.afford(at.low, float(np.median(values))):
            return None
        trials.look(gamma, np.unique([tuner.C.nearest(each) for each in values]))
        passes.pay(full.products - before)
        return trials.tried[gamma]

    def around(C: float) -> list[float]:
        return [C * _STEP**k for k in (-1, 0, 1)]

    with suppress(PathError):  # where a machine is not found, those that were are compared
        here = look(gamma, around(C))
        for direction in (1, -1) if tuner.effort == "best" else (1,):
            place = gamma
            for step in steps if direction == 1 else steps[-1:]:
                while axis is not None and here is not None and len(trials.tried) < _MOST_GAMMAS:
                    new = axis.next(place, direction, step)
                    there = None if new is None else look(new, around(here.best * valley(new) / valley(place)))
                    if new is None or there is None:
                        break
                    gain, least = here.lowest[0] - there.lowest[0], _GAIN * here.standard_error(best_value(here))
                    place, here = (new, there) if gain > 0.0 else (place, here)
                    if gain <= least:
                        break
            if place != gamma:
                break
        for _ in range(_WIDENINGS if trials.tried else 0):
            gamma, C = trials.best()
            values = trials.tried[gamma].values
            beyond = [each for each in tuner.C.neighbours(C, _STEP) if not values.min() <= each <= values.max()]
            if not beyond or look(gamma, beyond) is None:
                break
    if not trials.tried:
        return None
    try:
        for path in trials.machines():
            path(trials.best()[1])  # the machines that are taken; they are kept
    except PathError:
        return None
    trials.enter("full kernel")
    return trials
