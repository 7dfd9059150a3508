"""One-vs-one instead of one-vs-rest, where that is clearly better.

One class against the rest can need a crooked boundary where each two classes are parted by a simple one: of concentric
shells, all but the innermost and the outermost lie between others. So where the machines of classes against the rest
err, those of all pairs of classes (``criteria.pairs``) are tried: at the pair of C and gamma that was chosen, and at
smoother ones, since two classes alone need a narrow kernel less than one class against all others; then from the best
of these to better neighbours. They are chosen if their errors are fewer by more than a standard error of the difference
(``search.rival``), or a scorer says that they are better by a standard error.

Rows are left out exactly where a pair has few of them. The span prediction, as if no other row changed sides, is far
too high for these small machines with a large C: 17 % for vowel, where leave-one-out and new rows have 2 %.

A machine of two classes of n / k rows each takes (2 n / k)^3 operations, all of them less than k machines of n rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace

import numpy as np

from svmpath.criteria.curve import Curve, held_out_loss
from svmpath.criteria.pairs import one_vs_one, pairs_of
from svmpath.criteria.table import make_criterion, row_of
from svmpath.exceptions import PathError
from svmpath.gram import Gram
from svmpath.kernels import Linear
from svmpath.losses import Problem
from svmpath.paths import KernelStore, Path, Request, trace_problem
from svmpath.progress import begin
from svmpath.search import limits
from svmpath.search.evaluator import Evaluator, Starts
from svmpath.search.rival import is_clearly_better, is_worth_it
from svmpath.search.trials import Trials
from svmpath.search.tuner import Tuner

Array = np.ndarray

_FIRST_PAIRS = ((4.0, 1.0), (16.0, 10.0))  # times as small a gamma, and as large a C, as one class against the rest has
_OVERHEAD = 2e6  # operations in the time that a machine takes beside them
_BEHIND = 0.5  # standard errors behind one-vs-rest, up to which pairs of classes are followed


@dataclass(frozen=True)
class PairEvaluator(Evaluator):
    """The machines of all pairs of classes.

    Attributes
    ----------
    whole : Problem
        That of the first class against the rest, which has the weights of all rows.
    """

    multi_class = "ovo"
    whole: Problem = field(kw_only=True)

    @classmethod
    def of(cls, rest: Evaluator) -> PairEvaluator:
        """The machines of pairs instead of those of each class against the rest."""
        k, whole = len(rest.problems), rest.problems[0]
        code = np.argmax([problem.y for problem in rest.problems], axis=0)
        problems = [
            replace(whole, y=np.where(code == b, 1.0, -1.0), s=np.where((code == a) | (code == b), whole.s, 0.0))
            for a, b in pairs_of(k)
        ]
        own = {each.name: getattr(rest, each.name) for each in fields(rest)} | {"problems": problems}
        is_small = max(len(problem.active) for problem in problems) <= limits.PAIR_LOO_ROWS
        if is_small and _is_by_rows(rest.criterion):
            own["criterion"] = make_criterion("loo")
        return cls(**own, whole=whole)

    def on(self, gram: Gram) -> PairEvaluator:
        """The same machines on another kernel matrix of the rows."""
        problems = [replace(problem, gram=gram) for problem in self.problems]
        return replace(self, problems=problems, whole=replace(self.whole, gram=gram))

    def paths(
        self, gram: Gram, span: tuple[float, float], store: KernelStore | None = None, starts: Starts | None = None
    ) -> list[Path]:
        """The paths of all machines on one kernel matrix; they share what is computed of it."""
        store, request = KernelStore() if store is None else store, Request(self.loss, "C", span, tol=self.tol)
        problems = [replace(problem, gram=gram) for problem in self.problems]
        paths = [trace_problem(problem, request, store.for_weights()) for problem in problems]
        if starts is None:
            return paths
        return [path.start_from(f) for path, f in zip(paths, starts, strict=True)]

    def operations(self) -> float:
        """About how many operations the machines at one pair of C and gamma take, at most."""
        n, sizes = self.whole.n, np.array([len(problem.active) for problem in self.problems], dtype=float)
        return float(np.sum(20.0 * sizes**3 + 60.0 * n * sizes + _OVERHEAD))

    def scored(self, path: Path, values: Array) -> Curve:
        """The curve of one machine: its rows are left out from a machine of these alone, the others it never saw."""
        rows = path.problem.active
        if not _is_by_rows(self.criterion) or len(rows) < 2:
            return super().scored(path, values)
        problem, gram = path.problem, path.gram.take(rows)
        copies = None if problem.copies is None else np.unique(problem.copies[rows], return_inverse=True)[1]
        alone = replace(problem, gram=gram, y=problem.y[rows], s=problem.s[rows], copies=copies)
        held = path.decisions(values)
        few = trace_problem(alone, Request(self.loss, "C", path.span, tol=self.tol)).start_from(held[0, rows])
        curve = self.criterion(few, values, loss=None)
        held[:, rows] = curve.held
        every, loss = np.arange(problem.n), held_out_loss(self.held_out, problem.task)
        return replace(
            curve,
            path=path,
            loss=loss,
            rows=every,
            source=held,
            target=problem.y,
            screened=None,
        )

    def combined(self, curves: list[Curve]) -> Curve:
        """One curve of those of all machines."""
        path = curves[0].path
        request = Request(self.loss, "C", path.span, tol=self.tol)
        whole = trace_problem(replace(self.whole, gram=path.gram), request, path.store.for_weights())
        return one_vs_one(curves, whole)


def _is_by_rows(criterion: Callable[..., Curve]) -> bool:
    """Whether a criterion leaves out rows one by one."""
    row = row_of(criterion)
    return row is not None and row.one_row_each


def pairs_or_rest(tuner: Tuner, best: Trials, C_at: Callable[[float], float]) -> Trials:
    """The trials of classes against the rest, or those of pairs of classes if these are clearly better.

    ``C_at`` is about the best C at a gamma, for a descent.
    """
    evaluator = next((each for each in tuner.evaluators if each.loss.is_inside_margin), None)
    is_good = best.score() < limits.GOOD if best.evaluator.scoring is None else False
    is_other = best.evaluator.held_out not in (None, "error")  # a loss of numbers that votes are not
    is_linear = isinstance(tuner.gram.kernel, Linear)  # whose weights of columns are to be those of the classes
    if evaluator is None or is_good or is_other or is_linear or tuner.deadline.is_over():
        return best
    (gamma, C), first = best.best(), best.best_curve()
    first = first.taken(np.array([np.argmin(np.abs(np.log(first.values / C)))]))
    pairs = PairEvaluator.of(evaluator.on(best.evaluator.gram))
    if pairs.operations() > limits.PAIR_OPERATIONS:
        return best
    trials = Trials(tuner, pairs)

    def is_behind(errors: float) -> bool:
        return bool(trials.score() > first.scores[0] + errors * first.standard_error(0))

    begin("pairs")
    starts = [(gamma, C)]
    if tuner.gamma is not None:
        starts = [(tuner.gamma.nearest(gamma / smoother), times * C) for smoother, times in _FIRST_PAIRS]
    for each, value in starts:
        with suppress(PathError):  # there are others
            if not (tuner.deadline.is_over() or (trials.tried and is_behind(1.0))):
                trials.visit(each, tuner.C.nearest(value))
    if not trials.tried:
        return best
    is_done = evaluator.scoring is None and trials.score() < limits.GOOD
    if not is_done and not is_behind(_BEHIND):
        each, value = trials.best()
        most = int(np.clip(limits.PAIR_MACHINES / len(pairs.problems), 1, limits.PAIR_DESCENT))
        with suppress(PathError):
            trials.descend(each, C_at, jumps=False, C=value, most=most)
    trials.enter("pairs")
    is_better = is_clearly_better if evaluator.scoring is None else is_worth_it
    return trials if is_better(trials.best_curve(), first) else best
