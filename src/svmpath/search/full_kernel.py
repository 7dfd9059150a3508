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
   is better. Where the best C is the last one tried, more are tried. Where three are too costly, one is.

If C is too large at the best gamma of low rank, larger gammas with an affordable C are compared on the full kernel of
some of the rows (``scout``). There a product costs little, and what is best there is nearly so with all rows.

With very many rows a search with all of them is not affordable, but a machine may be. So the search is done with some
of the rows (``scout_by_search``), and with all of them only one pair is looked at, by one fold: the machine on its rows
is a start for that of all rows. Whether the low rank is enough is asked of some of the rows, too.

The budget is a number of passes over the kernel matrix (``limits``), not of seconds. It is in proportion to a fit of
SVC, which takes less where few samples are left of the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import make_criterion
from svmpath.exceptions import PathError
from svmpath.gram import LowRankGram, Nystroem, ProductGram
from svmpath.gram.exact import HALF_BYTES, exact_product
from svmpath.gram.memory import memory_limit
from svmpath.kernels import Linear
from svmpath.losses import Loss, PiecewiseQuadratic, Problem
from svmpath.progress import begin
from svmpath.search import limits
from svmpath.search.choice import Scores, best_value
from svmpath.search.trials import Trials, on_left_side
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
_SCOUTED = 4  # such steps to larger gammas, where C is too large at the best one
_SCOUTS = (1500, 4000)  # rows on which these are compared
_SMALLER = 10.0  # times as small a C as was meant, down to which others are looked at
_FAR_C = 30.0  # factor from the best C in low rank to one that is affordable, up to which it may be a good one
_NARROWER = 2.0  # times as small a C with all rows, at the next larger gamma, as with some of them
_LEAST_PASSES = 100.0  # below which nothing is to be had at a larger gamma
_PASSES_OF_ONE = 60.0  # of very many rows, below which there is none: a machine with 58 000 rows takes a minute
_LEFT_SIDE = 0.3  # share of samples left of the margin, below which a fit of SVC takes less
_UNKNOWN = 0.01  # relative residual of low rank, above which it says little about a gamma
_LOOKED_AT = 1000  # rows on which the largest eigenvalue is estimated
# Products over the root of kappa, as seen: for one system, for the several of the method of Newton, and for those of
# several classes, of which the slowest counts.
_PRODUCTS = {"one system": 2.0, "one machine": 5.0, "several": 10.0}
_ANEW = 12.0  # times as long as a product takes with a matrix that is held
_ASKED = 1000  # rows on which what low rank misses is estimated
_COLUMNS_PER_PASS = 60  # with so many columns, a product takes twice as long as with few


class Passes:
    """How many passes over the kernel matrix a search on the full kernel may take, and what systems take about.

    With ``rows`` it is a search by all folds with so many rows.
    """

    def __init__(self, tuner: Tuner, loss: Loss, rows: int | None = None) -> None:
        kernel = tuner.gram.kernel
        is_solved = isinstance(loss, PiecewiseQuadratic) and loss.pieces.is_one_square
        is_kernel = kernel.psd is True and not isinstance(kernel, Linear)  # a linear one is of low rank as it is
        can_be = is_solved and is_kernel and tuner.is_rank_free and tuner.draw_folds is not None
        n = rows or tuner.size
        each, values = limits.FULL_KERNEL_PASSES[tuner.effort], limits.FULL_KERNEL_VALUES[tuner.effort]
        self.left = min(each, values / float(n) ** 2) if can_be else 0.0
        if HALF_BYTES * n**2 > memory_limit() and tuner.effort != "best":
            self.left /= _ANEW  # kernel values are computed anew in every product
        self.share = 1.0
        problems = tuner.evaluator.problems
        s = problems[0].s if problems[0].copies is None else np.bincount(problems[0].copies, problems[0].s)
        kind = "one system" if loss.is_linear else "one machine" if tuner.is_single else "several"
        self._seed, self._weight, self._factor = tuner.seed, float(s.max()), _PRODUCTS[kind]
        self._columns = len(folds_of(tuner, every=rows is not None)) * len(problems) if self.left > 0.0 else 0

    def restrict(self, problems: Sequence[Problem], decisions: Sequence[Array | None]) -> None:
        """Less where few samples are left of the margin, so that a fit of SVC would take less, too."""
        both = zip(problems, decisions, strict=True)
        shares = [on_left_side(each.y, f) / each.n for each, f in both if f is not None and each.y.min() < 0]
        if shares and problems[0].task == "classification":
            self.share = min(1.0, max(shares) / _LEFT_SIDE)
            self.left *= self.share

    def most_C(self, low: LowRankGram) -> float:
        """The largest C at which a look at one value, and then a machine, can be afforded."""
        if self.left <= 0.0:
            return 0.0
        rng, n = np.random.default_rng(self._seed), low.n
        some = np.sort(rng.choice(n, min(n, _LOOKED_AT), replace=False))
        rest = low.kernel(low.X[low.places(some)]) - low.block(some, some)
        largest = max(float(np.linalg.eigvalsh(rest)[-1]), np.finfo(float).tiny) * n / len(some)
        root = self.left / (self._factor * (1.0 + self._per_product(1)))
        return float(max(root**2 - 1.0, 0.0) / (2.0 * self._weight * largest))

    def values(self, low: LowRankGram, C: float, most_values: int = _VALUES) -> list[float]:
        """The values of C around one that can be looked at together, with a machine afterwards: three, one or none.

        Where these are too costly, those around a smaller one are taken, unless that is far from it.
        """
        if most_values == 1:
            smaller = min(C, self.most_C(low))
            return [smaller] if smaller >= C / _SMALLER else []
        most, three = self.most_C(low), (1.0 + self._per_product(_VALUES)) / (1.0 + self._per_product(1))
        middle = most / (_STEP * three**2)
        if middle >= C or C > most >= middle >= C / _SMALLER:
            return [min(C, middle) * _STEP**k for k in (-1, 0, 1)]
        return [C] if most >= C else []

    def pay(self, products: int, values: int) -> None:
        """Take away what a look has cost."""
        self.left -= products * self._per_product(values)

    def _per_product(self, values: int) -> float:
        return 1.0 + values * self._columns / _COLUMNS_PER_PASS


def folds_of(tuner: Tuner, *, every: bool = False) -> Folds:
    """The folds by which machines on the full kernel are compared; with many classes some of them, unless all must."""
    if tuner.folds is not None:
        return tuner.folds
    assert tuner.draw_folds is not None
    most = max(1, limits.FULL_KERNEL_COLUMNS // len(tuner.evaluator.problems))
    if is_scouted_by_search(tuner):
        most = 1  # a fifth of so many rows says enough
    return tuner.draw_folds(None if every or tuner.effort == "best" else most)


def is_scouted_by_search(tuner: Tuner) -> bool:
    """Whether a search with all rows would take too long, but a machine may not."""
    return tuner.size > limits.SEARCHED_ROWS and tuner.effort != "best"


def scout(tuner: Tuner, low: Trials, passes: Passes, valley: Callable[[float], float]) -> tuple[float, float] | None:
    """A larger gamma of which low rank knows little, and a C there, if the full kernel is affordable.

    Where a small gamma is best in low rank, its C may be so large that no system on the full kernel is affordable.
    ``valley`` is about the best C at a gamma. Pairs are compared on some of the rows, by all folds.
    """
    axis, gram = tuner.gamma, low.best_curve().path.gram
    if axis is None or passes.left < _LEAST_PASSES or not isinstance(gram, LowRankGram):
        return None
    candidates, new = dict[float, float](), axis.next(low.best()[0], 1, _WIDE)
    for _ in range(_SCOUTED):
        if new is None or tuner.deadline.is_over():
            break
        at, wanted = gram.at(str(tuner.over), new), valley(new)
        C = min(wanted, passes.most_C(at)) if at.residual > _UNKNOWN else 0.0
        if wanted / _FAR_C <= C:
            candidates[new] = C
        new = axis.next(new, 1, _WIDE)
    if len(candidates) <= 1:
        return next(iter(candidates.items()), None)
    begin("full kernel")
    trials = _trials_on_some(tuner, low, int(np.clip(tuner.n / 3, _SCOUTS[0], _SCOUTS[1])))
    for gamma, C in candidates.items():
        with suppress(PathError):
            if not (trials.tried and tuner.deadline.is_over()):
                trials.look(gamma, np.array([tuner.C.nearest(C)]))
    if not trials.tried:
        return None
    trials.enter("scout")
    gamma, C = trials.best()  # of few rows; with more of them a narrower kernel pays
    return axis.next(gamma, 1) or gamma, tuner.C.nearest(C / _NARROWER)


def scout_by_search(
    tuner: Tuner, low: Trials, passes: Passes, valley: Callable[[float], float]
) -> tuple[float, float] | None:
    """The best pair on the full kernel of some of the rows, if the low rank is not enough; None if it is."""
    gram = low.best_curve().path.gram
    is_little = passes.left <= 0.0 or passes.left < _PASSES_OF_ONE * passes.share
    if is_little or not isinstance(gram, LowRankGram) or tuner.deadline.is_over():
        return None
    if all(missed(path(low.best()[1]), tuner.seed) < _SMALL_GAP for path in low.machines()):
        return None
    begin("full kernel")
    trials = _trials_on_some(tuner, low, limits.SCOUTING_ROWS)
    fewer = Passes(tuner, low.evaluator.loss, limits.SCOUTING_ROWS)
    fewer.left *= passes.share
    with suppress(PathError):
        _climb(tuner, trials, fewer, valley, low.best(), [None])
    if not trials.tried:
        return None
    trials.enter("scout")
    return trials.best()


def missed(solution: Any, seed: int) -> float:
    """About the relative gap on the full kernel of a machine in low rank: what its kernel misses, by some rows."""
    gram, alpha = solution.problem.gram, solution.alpha
    n = len(alpha)
    rows = np.random.default_rng(seed).choice(n, min(n, _ASKED), replace=False)
    rest = exact_product(gram, alpha, rows, watch=False) - gram.matmul(alpha)[rows]
    loss = solution.loss
    primal = loss.losses(solution, solution.fitted, loss.unit(solution)) + 0.5 * float(alpha @ gram.matmul(alpha))
    return 0.5 * max(float(alpha[rows] @ rest), 0.0) * n / len(rows) / max(primal, np.finfo(float).tiny)


def _trials_on_some(tuner: Tuner, low: Trials, n: int) -> Trials:
    """Trials on the full kernel of some of the rows, by all folds."""
    gram, rng = low.best_curve().path.gram, np.random.default_rng(tuner.seed)
    rows = np.sort(rng.choice(tuner.n, min(n, tuner.n), replace=False))
    part = ProductGram(gram.kernel, gram.X, Nystroem(_rank(tuner, len(rows)), "uniform"), tuner.seed, gram.places(rows))
    problems = [
        replace(each, gram=part, y=each.y[rows], s=each.s[rows], copies=None) for each in low.evaluator.problems
    ]
    folds = [
        (np.flatnonzero(np.isin(rows, a)), np.flatnonzero(np.isin(rows, b))) for a, b in folds_of(tuner, every=True)
    ]
    criterion = make_criterion("kfold", folds)
    units = None if low.evaluator.units is None else low.evaluator.units[rows]
    return Trials(tuner, replace(low.evaluator, problems=problems, criterion=criterion, units=units))


def _rank(tuner: Tuner, n: int) -> int:
    """Of the preconditioner for n rows."""
    return max(int(min(limits.PRECONDITIONER * np.sqrt(n), limits.MOST_RANK, memory_limit() / (8.0 * tuner.n))), 1)


def on_full_kernel(
    tuner: Tuner,
    low: Trials,
    passes: Passes,
    valley: Callable[[float], float],
    start: tuple[float, float] | None = None,
) -> Trials | None:
    """The trials on the full kernel; those in low rank if these are good enough; None if no machine was found.

    ``valley`` is about the best C at a gamma. They begin with the best pair in low rank, or with ``start``.
    """
    begin("full kernel")
    gram = low.best_curve().path.gram
    full = ProductGram(gram.kernel, gram.X, Nystroem(_rank(tuner, tuner.size), "uniform"), tuner.seed, gram.rows)
    on_full = low.evaluator.on(full)
    steps: list[float | None] = [None]  # factors from one gamma to the next; the usual one comes last
    if start is None:
        gamma, C = start = low.best()
        pairs: Any = zip(on_full.paths(full, (C, C)), low.machines(), strict=True)
        is_enough = all(path.gap_of(machine(C).alpha, C) < _SMALL_GAP for path, machine in pairs)
        passes.pay(full.products, 0)
        if is_enough:
            # Is a larger gamma as well known in low rank? If not, it may be better than it looked.
            new = None if tuner.gamma is None else tuner.gamma.next(gamma, 1, _WIDE)
            if new is None or gram.at(str(tuner.over), new).residual < _UNKNOWN:
                return low
            steps = [_WIDE, None]
    trials = Trials(tuner, replace(on_full, criterion=make_criterion("kfold", folds_of(tuner))))
    with suppress(PathError):  # where a machine is not found, those that were are compared
        _climb(tuner, trials, passes, valley, start, steps, 1 if is_scouted_by_search(tuner) else _MOST_GAMMAS)
    if not trials.tried:
        return None
    try:
        for path in trials.machines():
            path(trials.best()[1])  # the machines that are taken; they are kept
    except PathError:
        return None
    trials.enter("full kernel")
    return trials


def _climb(
    tuner: Tuner,
    trials: Trials,
    passes: Passes,
    valley: Callable[[float], float],
    start: tuple[float, float],
    steps: list[float | None],
    most: int = _MOST_GAMMAS,
) -> None:
    """From a pair to larger gammas while that gains, by each of some steps; then to other C at the best gamma.

    With ``most`` = 1, one pair is looked at: that one, or one with a smaller C.
    """
    axis, full, (gamma, C) = tuner.gamma, trials.evaluator.gram, start

    def look(gamma: float, C: float, *, beyond: bool = False) -> Scores | None:
        """Some values of C around one, or that one if it is beyond them, in one system; None if that is too costly."""
        at = tuner.gram_at(full, gamma)
        assert isinstance(at, ProductGram)
        values, before = passes.values(at.low, C, 1 if most == 1 else _VALUES), at.products
        if tuner.deadline.is_over() or not values:
            return None
        values = np.unique([tuner.C.nearest(each) for each in ([C] if beyond else values)]).tolist()
        trials.look(gamma, np.array(values))
        passes.pay(at.products - before, len(values))
        return trials.tried[gamma]

    here = look(gamma, C)
    for direction in (1, -1) if tuner.effort == "best" else (1,):
        place = gamma
        for step in steps if direction == 1 else steps[-1:]:
            while axis is not None and here is not None and len(trials.tried) < most:
                new = axis.next(place, direction, step)
                there = None if new is None else look(new, here.best * valley(new) / valley(place))
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
        if len(values) == 1 or all(look(gamma, each, beyond=True) is None for each in beyond):
            break
