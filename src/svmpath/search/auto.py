"""The search that is done by default: screen, narrow, confirm.

1. **Screen.** Least squares on a few landmarks scores gamma over a factor of 65 000 and C over nine decades
   (``search.screen``), then the two values next to the best gamma. If the best is at an end, the range is widened.
2. **Narrow** (more than 700 samples). The best gammas, and twice the best, which a low rank makes look worse than it
   is, are scored on all rows in a low rank; by the squared hinge for two classes, by least squares otherwise.
3. **Confirm.** The loss asked for, on the kernel asked for, decides. For two classes up to 700 samples, and for losses
   with an elbow, it is followed over C around the best value at each of the best gammas. Otherwise a descent goes from
   the best pair to better neighbours, as long as there are any and the work is within its budget.

With many samples the rank is doubled instead, and the full matrix may be the last (``search.rank``). If rows are to be
held out together, they are in all stages.

Where the best value of C is the last one tried, more are tried, and so for gamma. Every pair tried is kept, with its
score and its stage. Budgets are numbers of operations, not seconds: the same data give the same choice on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import make_criterion
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram, Gram, LowRankGram, Nystroem
from svmpath.gram.memory import memory_limit
from svmpath.kernels import Kernel, Linear
from svmpath.lazy import lazy
from svmpath.losses import make_loss
from svmpath.paths import Path
from svmpath.progress import begin, doing, finish
from svmpath.search.axis import Axis, is_among
from svmpath.search.choice import Choice, Scores, Stage, is_lower, lowest
from svmpath.search.deadline import Deadline
from svmpath.search.grid import Search, Starts
from svmpath.search.rank import Grown, double_rank, doubled
from svmpath.search.screen import NO_GAMMA, Screen
from svmpath.search.trials import Trials, best_C, ordered, pair_text, pairs_text

Array = np.ndarray

_SMALL = 700  # samples up to which kernels are confirmed without narrowing
_KEPT = 3  # gammas that are narrowed
_CONFIRMED = 2  # gammas that are confirmed, if there is no descent
_FIRST_RANK = 300  # in which gammas are narrowed, and which is doubled
_MOST_RANK = 1200  # the next one takes four to six times as long, and gained at most a tenth of a point
_NARROW_ROWS = 20_000  # for least squares
_WHOLE = 2000  # samples up to which the full kernel matrix is used
_MOST_WHOLE = 8000  # and up to which it may be, if few samples are on the left of the margin
_BUDGET = 2e10  # operations of a machine on the full kernel matrix
_LAST_WHOLE = 4000  # samples up to which the full kernel matrix may follow the largest rank, if that still gained
_LAST_BUDGET = 1e11  # operations of all its machines at one C
_SINGLE = 2_000_000  # entries of features from which on they are kept in single precision
_DOING = {"screen": "screening", "narrow": "narrowing down", "confirm": "confirming", "compare": "comparing"}
_REASONS = {
    "enough": "the last gains too little to go on",
    "whole": "the kernel matrix has no higher one",
    "rank": "more is not tried",
    "memory": "more does not fit in memory",
    "time": "there is no time for more",
}


@dataclass(frozen=True)
class AutoSearch:
    """Screens, narrows and confirms.

    Attributes
    ----------
    searches : list of Search
        The machines, their criterion and rule, on the kernel matrix that is asked for. With several losses, or values
        of epsilon, the first is searched in full, the others at its gamma only.
    C, gamma : Axis
        The values that may be chosen; ``gamma`` is None for a kernel without gamma, or one that is fixed.
    seed : int
        For landmarks, and the rows that are looked at.
    folds : sequence of (train, test) or None
        The folds of the criterion, where rows must be held out together in all stages: if there are groups, or k-fold
        was asked for by name.
    deadline : Deadline
        After which nothing new is begun.
    is_free : bool
        Whether the search also chooses the rank of the kernel matrix.
    tell : callable
        ``tell(sentence)``, called once per stage.
    """

    searches: Sequence[Search]
    C: Axis
    gamma: Axis | None
    seed: int
    n_jobs: int | None = None
    folds: Folds | None = None
    deadline: Deadline = field(default_factory=Deadline)
    is_free: bool = False
    tell: Callable[[str], None] = lambda sentence: None
    stages: list[Stage] = field(default_factory=list)
    narrowed: list[Curve] = field(default_factory=list)  # of the best gamma, if by the loss and criterion asked for
    starts: dict[float, list[Array | None]] = field(default_factory=dict)  # by gamma: decision values of each machine

    def run(self) -> tuple[Choice, Search, list[Path]]:
        """The choice, the search that it belongs to, and the paths of all its machines."""
        if self.gamma is None and self.C.is_fixed and len(self.searches) == 1:
            return self._given()
        scores = self._candidates()
        gamma = ordered(scores)[0]
        if self._is_whole(gamma):
            best = self._best_of(self._confirmed(scores))
        else:
            best = self._grown(gamma, best_C(scores[gamma]))
        return best.choice(tuple(self.stages)), best.search, best.machines()

    def _given(self) -> tuple[Choice, Search, list[Path]]:
        """The machines at the only pair; their held-out error is computed when it is asked for."""
        C, search = float(self.C.values[0]), self.search
        is_hinge = self._is_binary and search.loss.is_inside_margin and search.problems[0].gram.Z is None
        if is_hinge and _SMALL < self._size <= _MOST_WHOLE:
            low = self._standing_in()
            (quick,) = low.paths(low.problems[0].gram, (C, C))
            self.starts[NO_GAMMA] = [quick.decisions(self.C.values)[0]]
        if not self._is_whole(NO_GAMMA):
            found = self._grown(NO_GAMMA, C)
            return found.choice(tuple(self.stages)), found.search, found.machines()
        paths = list(search.paths(search.problems[0].gram, (C, C)))
        if NO_GAMMA in self.starts:
            paths = [path.start_from(f) for path, f in zip(paths, self.starts[NO_GAMMA], strict=True)]
        curve = search.later(paths, self.C.values)
        return Choice(curve, 0, search.rule, {}, ()), search, paths

    @property
    def search(self) -> Search:
        """The first of the searches."""
        return self.searches[0]

    @property
    def _n(self) -> int:
        return self.search.problems[0].n

    @lazy
    def _size(self) -> int:
        """The number of samples, where copies count once if they are merged."""
        copies = self.search.problems[0].copies
        return self._n if copies is None else int(copies.max()) + 1

    @property
    def _is_single(self) -> bool:
        return len(self.search.problems) == 1

    @property
    def _is_binary(self) -> bool:
        return self._is_single and self.search.problems[0].task == "classification"

    def _trials(self, search: Search) -> Trials:
        return Trials(search, self.C, self.gamma, self.deadline, self.starts)

    def _enter(self, name: str, trials: Trials) -> None:
        """Keep a stage, and tell of it."""
        (gamma, C), tried = trials.best(), trials.tried
        loss, rank, seconds = trials.search.loss.name, trials.rank, time.perf_counter() - trials.start
        own = dict(trials.search.loss.own)
        if name == "narrow":  # a stand-in, between whose machines nothing is chosen in the end
            tried = {each: scores.without_losses() for each, scores in tried.items()}
        self.stages.append(Stage(name, loss, trials.criterion, rank, tried, seconds, own=own))
        number = sum(len(scores.values) for scores in tried.values())
        self.tell(
            f"{name}: {pairs_text(number)} by {trials.criterion} of {loss}, {self._n} rows, rank {rank}: best "
            f"{pair_text(gamma, C)}, score {trials.lowest()[0]:.4g} ({seconds:.2f} s)"
        )
        finish(f"{_DOING[name]} {pairs_text(number)}")

    def _confirmed(self, scores: Mapping[float, Scores]) -> Trials:
        """The loss asked for, at the best gammas or from the best pair on."""
        found, order = self._trials(self.search), ordered(scores)
        begin("confirm")
        if self.search.loss.policy.cost_grows_with_span or (self._is_binary and self._size <= _SMALL):
            found.follow({gamma: best_C(scores[gamma]) for gamma in order}, _CONFIRMED)
        else:
            found.descend(order[0], partial(self._valley, scores), jumps=not self._is_binary)
        self._enter("confirm", found)
        return found

    def _valley(self, scores: Mapping[float, Scores], gamma: float) -> float:
        """About the best C at a gamma: as far as the last scores go, and beyond as on the screen."""
        if gamma in scores or self.gamma is None:
            return best_C(scores[gamma])
        screened = self.stages[0].tried
        order = sorted(screened)
        at = np.log([best_C(screened[each]) for each in order])
        nearest = min(scores, key=lambda each: abs(np.log(each / gamma)))
        shift = np.interp(np.log([gamma, nearest]), np.log(order), at)
        return best_C(scores[nearest]) * float(np.exp(shift[0] - shift[1]))

    def _is_whole(self, gamma: float) -> bool:
        """Whether the kernel matrix is used as it is: its rank is given, or the full matrix is affordable."""
        if not self.is_free or self._is_zero:
            return True
        if 24.0 * self._size**2 > memory_limit():
            return False
        if self._size <= _WHOLE:
            return True
        return self._size <= _MOST_WHOLE and 4.0 * self._left(gamma) ** 3 <= _BUDGET

    def _left(self, gamma: float) -> int:
        """About how many samples are left of the margin, as far as that is known; else all."""
        (f, *_), loss = self.starts.get(gamma) or [None], self.search.loss
        if f is None or not self._is_binary or not loss.is_inside_margin:
            return self._size
        return int(np.count_nonzero(self.search.problems[0].y * f < 1.0))

    @lazy
    def _is_zero(self) -> bool:
        """Whether the kernel is zero on all rows, as the linear one of columns of zeros: it has no landmarks."""
        gram = self.search.problems[0].gram
        return gram.kernel.psd is True and not gram.kernel.pairwise and not gram.kernel.diag(gram.X).any()

    def _grown(self, gamma: float, C: float) -> Trials:
        """The loss asked for in low rank, doubled until that gains nothing."""
        kernel = self.search.problems[0].gram.kernel
        kernel = kernel if self.gamma is None else kernel.at(str(self.search.over), gamma)
        begin("rank")
        search = self.search if len(self.searches) == 1 else self._best_loss(kernel, gamma, C)
        starts = {k: f for k, f in enumerate(self.starts.get(gamma, [])) if f is not None}
        # With rule="one_se" the curve that was kept may be that of another gamma.
        first = next((each for each in self.narrowed if each.path.gram.kernel.parameters == kernel.parameters), None)
        grown = double_rank(
            search,
            partial(self._of_rank, search, kernel, starts),
            C,
            self._ranks(kernel),
            # With several machines a value of C costs as much as all machines of two classes do.
            partial(self.C.around, each_side=int(self._is_single)),
            starts=starts,
            deadline=self.deadline,
            first=first,
        )
        self._enter_ranks(search, gamma, grown)
        gram = grown.curve.path.gram
        found = self._trials(search.with_gram(gram))
        found.adopt(gamma, grown.curve, grown.paths or [grown.curve.path])  # what is narrowed is one machine
        return found

    def _enter_ranks(self, search: Search, gamma: float, grown: Grown) -> None:
        """Keep a stage for each rank, and tell of them."""
        name, criterion, own = search.loss.name, grown.curve.criterion, dict(search.loss.own)
        for step in grown.steps:
            self.stages.append(Stage("rank", name, criterion, step.rank, {gamma: step.scores}, step.seconds, own=own))
        ranks = ", ".join(f"{step.rank}: {step.score:.4g} ({step.seconds:.2f} s)" for step in grown.steps)
        self.tell(f"rank: score of {name} by rank, {self._n} rows: {ranks}; {_REASONS[grown.reason]}")
        finish(f"raising the rank to {grown.steps[-1].rank}")

    def _ranks(self, kernel: Kernel) -> list[int]:
        """The ranks to be tried, the last being the full matrix where there are not too many samples."""
        n, d = self._n, self.search.problems[0].gram.X.shape[1]
        # The linear kernel has no higher rank than the number of columns.
        most = min(max(_MOST_RANK, d), 2 * _MOST_RANK) if isinstance(kernel, Linear) else _MOST_RANK
        if n > _LAST_WHOLE:
            return doubled(self._first_rank, min(most, n))
        ranks = doubled(self._first_rank, min(_MOST_RANK, n))
        return ranks if ranks[-1] == n else [*ranks, n]

    @property
    def _first_rank(self) -> int:
        """The rank to begin with: less than usual where that would not fit into memory."""
        single = memory_limit() / (4.0 * self._n)
        rank = single if self._n * min(single, _FIRST_RANK) > _SINGLE else single / 2.0
        return int(np.clip(rank, 1, _FIRST_RANK))

    def _of_rank(self, search: Search, kernel: Kernel, starts: Starts, rank: int) -> Gram | None:
        """The kernel matrix with so many landmarks; the full one, if that is not too dear, for as many as samples."""
        doing(f"{search.loss.name} in rank {rank}")
        if rank < self._n or rank <= _MOST_RANK:
            return self._low_rank(kernel, rank)
        gram = self.search.problems[0].gram
        fits = 24.0 * self._n**2 <= memory_limit() and _of_full_matrix(search, starts) <= _LAST_BUDGET
        if not fits or not isinstance(gram, DenseGram):
            return None
        return gram if self.gamma is None else gram.at(str(self.search.over), kernel.parameters[str(self.search.over)])

    def _best_loss(self, kernel: Kernel, gamma: float, C: float) -> Search:
        """The search with the loss that is best in the first rank."""
        found = self._in_low_rank(self.searches, kernel, gamma, C)
        return self.searches[lowest(*np.transpose([each.lowest() for each in found]))[0]]

    def _is_promising(self, search: Search, gamma: float, C: float, gram: Gram) -> bool:
        """Whether another loss is worth the full kernel matrix: of many samples, if it gains a lot in low rank."""
        if self._size <= _SMALL or search.loss.policy.cost_grows_with_span or gram.Z is not None:
            return True
        first, other = (each.best_curve() for each in self._in_low_rank([self.search, search], gram.kernel, gamma, C))
        return bool(other.scores[0] < first.scores[0] - first.standard_errors[0])

    def _in_low_rank(self, searches: Sequence[Search], kernel: Kernel, gamma: float, C: float) -> list[Trials]:
        """One pair by several losses in the first rank."""
        gram, found = self._low_rank(kernel, self._first_rank), []
        for search in searches:
            found.append(self._trials(search.with_gram(gram)))
            found[-1].visit(gamma, C)
            self._enter("compare", found[-1])
        return found

    def _low_rank(self, kernel: Kernel, rank: int) -> LowRankGram:
        """A Gram matrix of the same rows in low rank; in single precision if it is large."""
        gram = self.search.problems[0].gram
        approximation = Nystroem(rank, "uniform", single=self._n * rank > _SINGLE)
        return LowRankGram(kernel, gram.X, approximation, self.seed, gram.rows)

    # --- the stages --------------------------------------------------------------------------------------------------

    def _candidates(self) -> Mapping[float, Scores]:
        """The scores of the kernels that are left to be confirmed, or of all that were looked at."""
        if self.gamma is None and self.C.is_fixed:  # there is only a loss to choose
            zero = np.zeros(1)
            return {NO_GAMMA: Scores(self.C.values, zero, zero, zero)}
        screen = self._screen()
        if self._size <= _SMALL or self._is_zero or self.deadline.is_over():
            return screen.tried
        return self._narrow(screen)

    def _screen(self) -> Screen:
        """Least squares on landmarks, at all values of C and many of gamma."""
        over = None if self.gamma is None else self.search.over
        begin("screen", 1 if self.gamma is None else len(self.gamma.values) + 2)  # and the two next to the best
        screen = Screen(self.search.problems, self.C.values, over, self.seed, folds=self.folds)
        screen.look(self.gamma, self.n_jobs, self.deadline)
        self._enter_screen("screen", screen)
        return screen

    def _narrow(self, screen: Screen) -> Mapping[float, Scores]:
        """The best gammas on all rows, in low rank."""
        best = screen.best()
        larger = [] if self.gamma is None else self.gamma.neighbours(best[0])[:1]
        kept = [*best[:_KEPT], *(each for each in larger if not is_among(each, best[:_KEPT]))]
        begin("narrow", len(kept))
        if not self._is_binary:
            return self._screen_again(kept)
        trials = self._trials(self._standing_in())
        trials.follow({gamma: screen.best_C(gamma) for gamma in kept}, len(kept))
        self._enter("narrow", trials)
        self.starts.update(trials.ends)
        is_asked = (
            type(self.search.loss) is type(trials.search.loss) and self.search.criterion is trials.search.criterion
        )
        if is_asked and trials.rank == self._first_rank:
            self.narrowed.append(trials.best_curve())
        return trials.tried

    def _screen_again(self, kept: list[float]) -> Mapping[float, Scores]:
        """The gammas that are left by least squares on more landmarks and rows."""
        over = None if self.gamma is None else self.search.over
        screen = Screen(
            self.search.problems, self.C.values, over, self.seed, _NARROW_ROWS, self._first_rank, self.folds
        )
        axis = None if self.gamma is None else replace(self.gamma, values=np.sort(kept))
        screen.look(axis, self.n_jobs, self.deadline, wide=False)
        self._enter_screen("narrow", screen)
        return screen.tried

    def _enter_screen(self, name: str, screen: Screen) -> None:
        """Keep a stage of least squares, and tell of it."""
        self.stages.append(screen.stage(name))
        self.tell(screen.summary(name))
        finish(f"{_DOING[name]} {pairs_text(len(screen.tried) * len(screen.C))}")

    def _standing_in(self) -> Search:
        """The search by the squared hinge in low rank, with the folds of the criterion or by the span prediction."""
        gram = self.search.problems[0].gram
        if gram.Z is None or gram.rank > 2 * _FIRST_RANK:
            gram = self._low_rank(gram.kernel, min(self._first_rank, self._n // 2))
        search = self.search.with_gram(gram)
        criterion = make_criterion("span") if self.folds is None else self.search.criterion
        return replace(search, loss=make_loss(None, "classification"), criterion=criterion, tol=None)

    def _best_of(self, found: Trials) -> Trials:
        """The best of several losses, the others at the gamma of the first only."""
        (gamma, C), gram = found.best(), found.search.problems[0].gram  # in the rank that was found to be enough
        if len(self.searches) > 1:
            self.starts.update({gamma: [path.known_decisions(C) for path in found.machines()]})
        for search in self.searches[1:]:
            if self.deadline.is_over():
                break
            begin("compare")
            if not self._is_promising(search, gamma, C, found.best_curve().path.gram):
                continue
            other = self._trials(search.with_gram(gram))
            with suppress(PathError):  # there are others
                other.compare(gamma, C, found)
                self._enter("compare", other)
                found = other if is_lower(other.lowest(), found.lowest()) else found
        return found


def _of_full_matrix(search: Search, starts: Starts) -> float:
    """About how many operations the machines at one C take on the full kernel matrix."""
    n = float(search.problems[0].n)
    if search.loss.is_linear:  # one factor for all machines
        return 4.0 * n**3
    left = [np.count_nonzero(each.y * starts[k] < 1.0) if k in starts else n for k, each in enumerate(search.problems)]
    return float(sum(4.0 * size**3 for size in left))
