"""The first look at many kernels: least squares on a few landmarks, scored by leave-one-out or by folds.

For every gamma the kernel is replaced by features of m landmarks, the same for all gammas, so that distances are
computed once; least squares stands in for the requested loss. Its held-out residuals at every C and for all classes
cost one small eigendecomposition per gamma (``solvers.ridge``). The score of a pair is

    mean_i s_i min(r_i^2, 9) / mean_i s_i         (classification: labels -1 and +1)
    mean_i s_i r_i^2 / mean_i s_i                 (regression)

with held-out residuals r_i: of leave-one-out, or of the requested folds, since among rows that belong
together leave-one-out prefers kernels that recognise the others of a group. The cut keeps single samples from deciding:
it ranks kernels better than the residuals themselves, and better than the number of errors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from svmpath.criteria.held_out import Folds, held_rows
from svmpath.gram import Gram
from svmpath.gram.nystroem import inverse_root
from svmpath.interrupts import checkpoint
from svmpath.losses import Problem
from svmpath.progress import best_so_far, doing, part_done
from svmpath.row_order import random_order
from svmpath.search import limits
from svmpath.search.axis import Axis, is_among
from svmpath.search.choice import Scores, Stage, best_value, ordered, ranks
from svmpath.search.deadline import Deadline
from svmpath.search.log import NO_GAMMA, TrialLog, pair_text, where_text
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.ridge import fold_residuals, press_residuals
from svmpath.solvers.threads import blas_threads, count_jobs

Array = np.ndarray

_CUT = 9.0
_OTHER_VALLEY = 16.0  # factor between two gammas from which on they are far from each other
_MISSED = 0.2  # share of the trace that landmarks miss, from which on more of them are worth a look
_TINY = 1e-300
_LEVEL = 0.05  # standard errors: scores that differ by less are as good as each other
_ROUNDING = 1e-6  # relative, of scores at a large C, where what is left of an eigenvalue is rounding
_ROW_DRAW, _LANDMARK_DRAW = 1, 2  # so that the landmarks are not the first of the rows that are drawn


class Screen:
    """Scores kernels by least squares on landmarks.

    Parameters
    ----------
    problems : list of Problem
        One per class, or one; they share a Gram matrix and weights.
    C : array of shape (m,)
    over : str or None
        The kernel parameter that is varied.
    seed : int
        For the landmarks, and for the rows if some are drawn.
    rows : int
        At most so many rows are looked at.
    landmarks : int, optional
        Their number; if it is not given, 64 up to 700 rows and 100 with more; 128 for
        a regression, and 200 for several classes.
    folds : sequence of (train, test), optional
        Rows that are held out together; leave-one-out if it is not given.
    unit : float, default=1.0
        The unit of C: what is scored at C are least squares with C / unit.

    Attributes
    ----------
    tried : dict
        The scores at each value of the parameter; NaN stands for a kernel without one.
    promised : dict
        What the score of the task is there, at the best C: the share of errors, or the mean square.
    missed : dict
        What share of the trace of the kernel matrix the landmarks miss there.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        C: Array,
        over: str | None,
        seed: int,
        rows: int = limits.SCREENED_ROWS,
        landmarks: int | None = None,
        folds: Folds | None = None,
        unit: float = 1.0,
    ) -> None:
        self._start = time.perf_counter()
        self.C, self.unit, self.over, self.task = C, unit, over, problems[0].task
        self.tried: dict[float, Scores] = {}
        self.promised: dict[float, float] = {}
        self.missed: dict[float, float] = {}
        gram = problems[0].gram
        self.kernel = gram.kernel
        self.rows = drawn_rows(problems, rows, seed)
        if landmarks is None:
            landmarks = next(number for most, number in limits.LANDMARKS if len(self.rows) <= most)
            landmarks = limits.LANDMARKS_OF_TARGETS if self.task == "regression" else landmarks
            landmarks = limits.LANDMARKS_OF_CLASSES if len(problems) > 1 else landmarks
        pairwise = gram.kernel.pairwise
        order = random_order(gram.contents(self.rows), seed=(seed, _LANDMARK_DRAW), pairwise=pairwise)
        self.landmarks = self.rows[np.sort(order[:landmarks])]
        self.Y, self.s = np.column_stack([each.y[self.rows] for each in problems]), problems[0].s[self.rows]
        self.folds = folds_among(self.rows, problems[0].n, folds or ())
        self.held = held_rows(self.folds) if self.folds else slice(None)
        with blas_threads(len(self.rows) * len(self.landmarks)):
            self.S, self.SW = (compared(gram, some, self.landmarks) for some in (self.rows, self.landmarks))

    def look(
        self, gamma: Axis | None, n_jobs: int | None = None, deadline: Deadline | None = None, wide: bool = True
    ) -> None:
        """Score the values of an axis, then values beyond the best if it is an end, and its neighbours.

        ``wide`` means that values beyond are as far apart as those of the axis; else neighbours are not looked at.
        """
        if gamma is None:
            self.score([NO_GAMMA])
            return
        self.score(gamma.values.tolist(), n_jobs)
        for _ in range(limits.SCREEN_WIDENINGS):
            beyond = gamma.beyond(self.best()[0], list(self.tried), wide)
            if beyond is None or (deadline is not None and deadline.is_over()):
                break
            self.score([beyond])
        if wide:
            self.score([each for each in gamma.neighbours(self.best()[0]) if not is_among(each, self.tried)])

    def unknown(self) -> list[float]:
        """Larger gammas than the best, of which few landmarks know little."""
        best = self.best()[0]
        return sorted(each for each in self.tried if each > best and self.missed[each] > _MISSED)

    def look_closer(self, closer: Screen, gammas: Sequence[float]) -> None:
        """Gammas once more, by a screen with more landmarks, for as long as one of them is about the best.

        Few landmarks make a narrow kernel look worse than it is.
        """
        for gamma in gammas:
            closer.score([gamma])
            now, low = closer.tried[gamma], min(each.lowest[0] for each in self.tried.values())
            self.tried[gamma], self.promised[gamma] = now, closer.promised[gamma]
            if now.lowest[0] > low + now.standard_error(best_value(now)):
                break

    def leave_corner(self) -> None:
        """Forget small gammas that are best with the largest C, where a larger gamma is as good.

        The kernel is nearly a polynomial there, and a regression extrapolates like one: a row far from all others gets
        a target far from all others. Where a long valley of gammas has the same score, its other end is safer.
        """
        best = self.best()[0]
        low = self.tried[best]
        if not low.best >= self.C.max():
            return
        bar = low.lowest[0] + _LEVEL * low.standard_error(low.position)
        level = [
            gamma
            for gamma, each in self.tried.items()
            if gamma > best and each.lowest[0] <= bar and each.best < self.C.max()
        ]
        self.tried = {gamma: each for gamma, each in self.tried.items() if gamma >= max(level, default=0.0)}

    def enter(self, name: str, log: TrialLog) -> None:
        """Enter what was tried so far in a log, as a stage of this name."""
        criterion, seconds = "kfold" if self.folds else "press", time.perf_counter() - self._start
        stage = Stage(name, "least_squares", criterion, len(self.landmarks), dict(self.tried), seconds)
        log.add(stage, len(self.rows), pair_text(*self.best_pair()))

    def best_pair(self) -> tuple[float, float]:
        """The best gamma and C."""
        gamma = self.best()[0]
        return gamma, self.tried[gamma].best

    def score(self, gammas: Sequence[float], n_jobs: int | None = None) -> None:
        """Score the kernels at these values that have not been scored yet."""
        new = [float(gamma) for gamma in gammas if float(gamma) not in self.tried]
        self.tried.update(zip(new, side_by_side(self._at, new, count_jobs(n_jobs)), strict=True))
        best_so_far(pair_text(*self.best_pair()))

    def _at(self, gamma: float) -> Scores:
        """The scores at all C."""
        checkpoint()
        doing(f"least squares {where_text(gamma)}")
        kernel = self.kernel if self.over is None else self.kernel.at(self.over, gamma)
        with blas_threads(len(self.rows) * len(self.landmarks)):
            Z = kernel.evaluate(self.S) @ inverse_root(kernel, kernel.evaluate(self.SW))
            own = Z[np.searchsorted(self.rows, self.landmarks)]  # where nothing is missed
            self.missed[gamma] = float(1.0 - np.vdot(Z, Z) / len(Z) / max(np.vdot(own, own) / len(own), _TINY))
            if self.folds:
                residuals = fold_residuals(Z, self.Y, self.s, self.C / self.unit, self.folds)  # of shape (N, m, k)
            else:
                residuals = press_residuals(Z, self.Y, self.s, self.C / self.unit)
            Y = self.Y[self.held][:, None, :]
            is_error = _errors(Y, Y - residuals) if self.task == "classification" else None
            squares = np.square(residuals, out=residuals)
            share = self.s[self.held] / self.s[self.held].sum()
            smooth = share @ _mean(squares)
            if self.task == "classification":
                np.minimum(squares, _CUT, out=squares)
            losses = _mean(squares)
            scores = share @ losses
            errors = np.sqrt((share @ share) * (share @ (losses - scores) ** 2))
            part_done()
            found = Scores(self.C, scores, errors, smooth, rounding=_ROUNDING)
            at = best_value(found)
            self.promised[gamma] = float(scores[at] if is_error is None else share @ is_error[:, at])
            return found

    def best(self) -> list[float]:
        """The values tried, the best first."""
        return ordered(self.tried)

    def far(self, gamma: float) -> float | None:
        """The best of the values that are far from one: another loss may prefer the valley that it is in."""
        away = [
            each
            for each in self.best()
            if each == each and abs(np.log(each / gamma)) > np.log(_OTHER_VALLEY) - _ROUNDING
        ]
        return away[0] if away else None

    def valleys(self) -> list[float]:
        """The values tried that score less than both next to them, within a standard error of the best; it is first."""
        order, lowest = sorted(self.tried), {gamma: float(each.scores.min()) for gamma, each in self.tried.items()}
        best = self.best()[0]
        bar = lowest[best] + float(self.tried[best].standard_errors[int(np.argmin(self.tried[best].scores))])
        height = ranks(np.array([np.inf, *(lowest[gamma] for gamma in order), np.inf]), _ROUNDING)
        around = zip(order, height, height[1:], height[2:], strict=False)
        valleys = [gamma for gamma, below, at, above in around if at < min(below, above) and lowest[gamma] <= bar]
        return [best, *(gamma for gamma in self.best() if gamma in valleys and gamma != best)]

    def best_C(self, gamma: float) -> float:
        """The best C at the value tried that is nearest to this one."""
        nearest = min(self.tried, key=lambda each: abs(np.log(each / gamma)) if each == each else 0.0)
        return self.tried[nearest].best


def _errors(Y: Array, F: Array) -> Array:
    """Whether each of held-out values of shape (N, m, k) is on the wrong side, or another class has a larger one."""
    return (F > 0)[..., 0] != (Y > 0)[..., 0] if Y.shape[-1] == 1 else np.argmax(F, axis=-1) != np.argmax(Y, axis=-1)


def _mean(losses: Array) -> Array:
    """Over the targets, the last axis; NumPy takes long for a mean of one."""
    return losses[..., 0] if losses.shape[-1] == 1 else losses.mean(axis=-1)


def compared(gram: Gram, rows: Array, landmarks: Array) -> Array:
    """What the kernel compares of some rows of a Gram matrix and its landmarks, whatever its parameters."""
    own = np.arange(gram.X.shape[0]) if gram.rows is None else gram.rows
    if gram.kernel.pairwise:
        return gram.kernel.compare(gram.X[own[rows]], None, own[landmarks])
    return gram.kernel.compare(gram.X[own[rows]], gram.X[own[landmarks]])


def folds_among(rows: Array, n: int, folds: Folds) -> list[tuple[Array, Array]]:
    """The folds among some of n rows, as positions there; without those that have nothing to train on or to test."""
    where = np.full(n, -1)
    where[rows] = np.arange(len(rows))
    parts = ([at[at >= 0] for at in (where[train], where[test])] for train, test in folds)
    return [(train, test) for train, test in parts if len(train) and len(test)]


def drawn_rows(problems: Sequence[Problem], most: int, seed: int) -> Array:
    """At most so many of the rows that have weight, in order, with some of every class."""
    rows = problems[0].active
    if len(rows) <= most:
        return rows
    gram, y = problems[0].gram, np.column_stack([each.y[rows] for each in problems])
    pairwise, s = gram.kernel.pairwise, problems[0].s[rows]
    drawn = random_order(gram.contents(rows), y, seed=(seed, _ROW_DRAW), pairwise=pairwise, ties=s)
    order = rows[drawn]
    if problems[0].task == "regression":
        return np.sort(order[:most])
    # A class is the set of rows on which its machine, or the only one, has a positive target; and the rest.
    labels = np.argmax([each.y[order] > 0 for each in problems], axis=0) if len(problems) > 1 else problems[0].y[order]
    first = [order[labels == label][: limits.SCREENED_PER_CLASS] for label in np.unique(labels)]
    kept = np.concatenate([*first, order])
    _, at = np.unique(kept, return_index=True)
    return np.sort(kept[np.sort(at)][:most])
