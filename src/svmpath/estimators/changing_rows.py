"""Rows that come and go after a fit: the machines of the changed rows at the hyper-parameters that were chosen.

The hyper-parameters (C, the kernel, the loss, landmarks, one-vs-rest or one-vs-one) stay; all else is what ``fit``
would make of the changed rows: weights in units of their mean, balanced classes, the scale of the columns. The machines
are found from the old ones:

- squares on a full kernel matrix (least squares, squared hinge): by an inverse that is kept (``solvers.kept_inverse``),
  a few products with n x n matrices for a row;
- losses with an elbow: by a walk from the old coefficients, those of new rows being zero (``paths.jump``);
- whatever else: by its path, which begins with the old decision values where it can.

What is kept between calls is in :class:`Kept`. It is not saved, and can be made again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from svmpath.criteria.curve import Curve
from svmpath.criteria.held_out import Folds
from svmpath.criteria.pairs import pairs_of
from svmpath.estimators.machines import Machines, PairMachines
from svmpath.gram import DenseGram, Gram, LowRankGram
from svmpath.gram.dense import Distinct
from svmpath.gram.features import Factor
from svmpath.gram.memory import memory_limit
from svmpath.lazy import with_known
from svmpath.losses import Loss, Problem, Solution
from svmpath.paths import Path, Request, trace_problem
from svmpath.paths.copies import find_copies
from svmpath.paths.store import KernelStore
from svmpath.search.evaluator import Evaluator
from svmpath.search.pairs import PairEvaluator
from svmpath.solvers.kept_inverse import KeptInverse, least_squares, squared_hinge
from svmpath.solvers.threads import blas_threads
from svmpath.validation import one_vs_rest_targets

Array = np.ndarray

_SPARE = 64  # slots beyond those in use
_CERTIFIED = 1e-10  # violation, of the targets, that a machine by an inverse may have
_MEMORY_SHARE = 0.25  # of what a matrix may take up: that of all that is kept


@dataclass(frozen=True)
class Rows:
    """What ``fit`` was given: rows in the units of the user, numbers of classes or targets, weights and groups."""

    X: Any
    y: Array
    weight: Array | None
    groups: Array | None

    def take(self, rows: Array) -> Rows:
        """Some of the rows."""
        weight, groups = (None if each is None else each[rows] for each in (self.weight, self.groups))
        return Rows(self.X[rows], self.y[rows], weight, groups)

    def and_rows(self, new: Rows) -> Rows:
        """These and others after them; where only one part has weights, those of the other are one."""
        weight = None
        if self.weight is not None or new.weight is not None:
            parts = (np.ones(len(each.y)) if each.weight is None else each.weight for each in (self, new))
            weight = np.concatenate(list(parts))
        groups = None if self.groups is None else np.concatenate([self.groups, new.groups])
        X = vstack([self.X, new.X], format="csr") if issparse(self.X) else np.concatenate([self.X, new.X])
        return Rows(X, np.concatenate([self.y, new.y]), weight, groups)


@dataclass(frozen=True)
class Change:
    """Which of the old rows stay, and how many new ones come after them."""

    stay: Array
    added: int

    def carried(self, values: Array, new: Array | float = 0.0) -> Array:
        """Numbers of the old rows for the new ones, with others for those that were added."""
        return np.concatenate([values[self.stay], np.broadcast_to(new, (self.added, *values.shape[1:]))])


@dataclass(eq=False)
class Kept:
    """The kernel matrix and the inverses of the machines; rows have slots, and their order is another matter.

    Attributes
    ----------
    K : array of shape (m, m)
        Kernel values of the rows in use; others mean nothing.
    order : array of int of shape (n,)
        The slot of each row.
    inverses : list of KeptInverse
        One per machine; one for all of least squares.
    """

    K: Array
    order: Array
    inverses: list[KeptInverse] = field(default_factory=list)

    @classmethod
    def of(cls, gram: DenseGram) -> Kept:
        """The matrix of these rows, with room for more."""
        n = gram.n
        K = np.zeros((n + _SPARE, n + _SPARE))
        with blas_threads(n**2):
            K[:n, :n] = gram.block(slice(None), slice(None))
        return cls(K, np.arange(n))

    def change(self, gram: DenseGram, change: Change) -> None:
        """Free the slots of rows that go, and fill some with the kernel values of new ones."""
        self.order = self.order[change.stay]
        if change.added == 0:
            return
        n = len(self.order) + change.added
        if n > len(self.K):
            size, old = n + max(_SPARE, n // 8), len(self.K)
            K = np.zeros((size, size))
            K[:old, :old], self.K = self.K, K
            for inverse in self.inverses:
                inverse.grow(size)
        free = np.setdiff1d(np.arange(len(self.K)), self.order)[: change.added]
        order = np.concatenate([self.order, free])
        with blas_threads(change.added * n):
            values = gram.kernel(gram.X[n - change.added :], gram.X)
        self.K[free[:, None], order] = values
        self.K[order[:, None], free] = values.T
        new = values[:, n - change.added :]
        self.K[np.ix_(free, free)] = 0.5 * (new + new.T)
        for inverse in self.inverses:  # rows that have gone are not among those whose slots are used again
            for j in free[inverse.E[free]].tolist():
                inverse.leave(j)
        self.order = order

    def matrix(self) -> Array:
        """The kernel matrix in the order of the rows."""
        n = len(self.order)
        if np.array_equal(self.order, np.arange(n)):  # a plain copy takes a fraction of the time
            return self.K[:n, :n].copy()
        return self.K.take(self.order, axis=0).take(self.order, axis=1)

    def slots(self, values: Array) -> Array:
        """Numbers of the rows in their slots, zero in others."""
        result = np.zeros(len(self.K), dtype=values.dtype)
        result[self.order] = values
        return result


def changed_gram(old: Gram, X: Any, change: Change) -> Gram:
    """The kernel matrix of the changed rows; one of low rank keeps its landmarks."""
    if not isinstance(old, LowRankGram):
        return DenseGram(old.kernel, X, clip=getattr(old, "clip", False))
    new = old.features(X[len(change.stay) :], old.approximation.dtype) if change.added else old.Z[:0]
    factor = Factor(np.concatenate([old.Z[change.stay], new.astype(old.Z.dtype)]), old.features)
    return LowRankGram(old.kernel, X, old.approximation, old.seed, None, None, factor)


def changed_problems(machines: Machines, gram: Gram, labels: Array, s: Array) -> list[Problem]:
    """The problems of the machines on the changed rows, with labels (numbers of classes) or targets."""
    copies, paths = find_copies(gram, labels), machines.paths
    if paths[0].problem.task != "classification":
        targets = [(labels, s)] * len(paths)
    elif machines.multi_class == "ovo":
        pairs = pairs_of(int(labels.max()) + 1)
        targets = [
            (np.where(labels == b, 1.0, -1.0), np.where((labels == a) | (labels == b), s, 0.0)) for a, b in pairs
        ]
    else:
        targets = [(y, s) for y in one_vs_rest_targets(labels, max(len(paths), 2))]
    return [
        replace(path.problem, gram=gram, y=y, s=weights, copies=copies)
        for path, (y, weights) in zip(paths, targets, strict=True)
    ]


def is_kept(gram: Gram, loss: Any, machines: int) -> bool:
    """Whether something is kept: of squares and losses with an elbow on a full kernel matrix, if there is room."""
    is_plain = isinstance(gram, DenseGram) and gram.kernel.psd is True
    held = 8.0 * (gram.n + _SPARE) ** 2 * (1 + (1 if loss.is_linear else machines))
    return (has_inverse(loss) or loss.kink == "elbow") and is_plain and held <= _MEMORY_SHARE * memory_limit()


def has_inverse(loss: Loss) -> bool:
    """Whether the machines of a loss solve a linear system, of all samples or of those inside the margin."""
    return loss.is_linear or loss.is_inside_margin


def by_inverse(kept: Kept, problem: Problem, C: float, start: Solution, k: int) -> Solution | None:
    """The machine of number k, from coefficients near it; None if the inverse has too few digits."""
    active, s = problem.s > 0, np.where(problem.s > 0, problem.s, 1.0)
    while len(kept.inverses) <= k:
        kept.inverses.append(KeptInverse(len(kept.K)))
        kept.inverses[-1].E = kept.slots(start.alpha != 0)
    D = kept.slots(0.5 / (C * s))
    with blas_threads(problem.n**2):
        solve = least_squares if start.loss.is_linear else squared_hinge
        found = solve(kept.inverses[k], kept.K, D, kept.slots(problem.y), kept.slots(active))
    if found is None:
        return None
    alpha, f = np.where(active, found.u[kept.order], 0.0), found.f[kept.order]
    solution = with_known(replace(start, alpha=alpha, b=found.b), fitted=f)
    return solution if solution.violation <= _CERTIFIED * max(float(np.abs(problem.y).max()), 1.0) else None


def changed_solutions(
    machines: Machines, problems: list[Problem], change: Change, kept: Kept | None
) -> tuple[list[Path], list[Solution]]:
    """The paths of the changed rows, from C to C, and their machines; ``kept`` is changed already."""
    new_paths, solutions, store = list[Path](), list[Solution](), KernelStore()
    C = machines.values[0]
    for k, (path, problem) in enumerate(zip(machines.paths, problems, strict=True)):
        loss: Any = path.loss
        parameters = {**path.path_parameter.fixed, "C": C, **path.gram.kernel.parameters}
        start = Solution(problem, loss, change.carried(machines.alpha[:, k]), 0.0, parameters)
        request = Request(loss, "C", (C, C), tol=getattr(path, "tol", None))
        is_same = np.array_equal(problem.s, problems[0].s)
        new = trace_problem(problem, request, store if is_same else store.for_weights())
        found = None
        if kept is not None and has_inverse(loss):
            found = by_inverse(kept, problem, C, start, 0 if loss.is_linear else k)
        if found is not None:
            new = new.start_from(found.fitted)
        else:
            new = new.start_from(start if new.has_statuses else _decisions(machines, problem.gram, change)[:, k])
            found = new(C)
        new_paths.append(new)
        solutions.append(found)
    return new_paths, solutions


def _decisions(machines: Machines, gram: Gram, change: Change) -> Array:
    """What the old machines say of the changed rows, in columns."""
    f = change.carried(machines.gram.matmul(machines.alpha) + machines.b)
    if change.added:
        f[-change.added :] = machines.gram.apply(gram.X[len(change.stay) :], machines.alpha, machines.w) + machines.b
    return f


def with_matrix(gram: DenseGram, kept: Kept) -> DenseGram:
    """The Gram matrix, which is given the kernel values that are known."""
    own = Distinct.of(gram.kernel, gram.X)
    K = kept.matrix()
    if own.ids is not None:
        first = np.unique(own.ids, return_index=True)[1]
        K = K[np.ix_(first, first)]
    with_known(own, K=K)
    return DenseGram(gram.kernel, gram.X, distinct=own)


@dataclass(frozen=True)
class ChangedMachines:
    """The machines of the changed rows, their problems, and what is kept for the next change.

    Attributes
    ----------
    machines : Machines
    problems : list of Problem
    whole : Problem
        The one that has the weights of all rows: of the first class against the rest for machines of pairs.
    kept : Kept or None
    """

    machines: Machines
    problems: list[Problem]
    whole: Problem
    kept: Kept | None

    @classmethod
    def of(
        cls, old: Machines, X: Any, labels: Array, s: Array, change: Change, kept: Kept | None, is_scaled: bool
    ) -> ChangedMachines:
        """The machines of the changed rows X; with ``is_scaled`` all of them are others than before."""
        gram, loss = changed_gram(old.gram, X, change), old.paths[0].loss
        if is_kept(gram, loss, len(old.paths)):
            kept = _kept(kept, old.gram, gram, change, is_scaled)
            if not has_inverse(loss) and isinstance(gram, DenseGram):
                gram = with_matrix(gram, kept)
        else:
            kept = None
        problems = changed_problems(old, gram, labels, s)
        paths, solutions = changed_solutions(old, problems, change, kept)
        alpha = np.stack([each.alpha for each in solutions], axis=1)
        b, violation = np.array([each.b for each in solutions]), max(each.violation for each in solutions)
        values = [old.values[0]] * len(paths)
        parts = (paths, values, alpha, gram.contract(alpha), b, violation if paths[0].is_exact else 0.0)
        if not isinstance(old, PairMachines):
            return cls(Machines(*parts), problems, problems[0], kept)
        whole = replace(problems[0], y=np.where(labels == 0, 1.0, -1.0), s=s)
        rest = trace_problem(whole, Request(loss, "C", paths[0].span, tol=getattr(paths[0], "tol", None)))
        return cls(PairMachines(*parts, rest=rest), problems, whole, kept)

    def curve(self, evaluator: Evaluator, folds: Folds | None) -> Curve:
        """Held-out values at the chosen C, computed when they are first asked for; of pairs of classes at once."""
        C = np.array([self.machines.values[0]])
        if self.machines.multi_class == "ovr":
            return evaluator.later(list(self.machines.paths), C, folds)
        own = {each.name: getattr(evaluator, each.name) for each in fields(evaluator)}
        pairs = PairEvaluator(**own, whole=self.whole)
        return pairs.curve(self.machines.paths, C)


def _kept(kept: Kept | None, before: Gram, now: Gram, change: Change, is_scaled: bool) -> Kept:
    """What is kept, for the changed rows."""
    assert isinstance(before, DenseGram)
    assert isinstance(now, DenseGram)
    if is_scaled:
        return Kept.of(now)
    kept = Kept.of(before) if kept is None else kept
    kept.change(now, change)
    return kept


# --- what is refused -------------------------------------------------------------------------------------------------


def check_changeable(model: Any) -> None:
    """Raise an error if rows of a fitted model cannot be changed."""
    why = ""
    if hasattr(model, "models_"):
        raise ValueError(
            "With one_choice=False each quantile has a model of its own: change the rows of each in models_."
        )
    gram = model._machines.gram
    if not isinstance(gram, DenseGram | LowRankGram):
        why = "it was fitted on rows in chunks, or on the full kernel of many rows"
    elif gram.kernel.pairwise:
        why = "its kernel is precomputed, so that predictions need the values of all training rows"
    elif isinstance(gram, LowRankGram) and model.scale:
        why = "its landmarks would change with the scale of the columns (scale=True)"
    elif model._is_split_by_user and not hasattr(model.cv, "split"):
        why = "cv holds row numbers"
    if why:
        raise ValueError(f"Rows of this model cannot be added or forgotten, as {why}: fit again.")


def known_codes(y: Array, classes: Array | None) -> Array:
    """The position of each label among those that the model knows, or the targets of a regression."""
    if classes is None:
        return np.asarray(y, dtype=float)
    unknown = np.unique(y[~np.isin(y, classes)])
    if len(unknown):
        raise ValueError(
            f"The new rows have the label {unknown.tolist()[0]!r}, which the model does not know; fit again with all "
            "rows."
        )
    return np.searchsorted(classes, y)


def check_new_weights(sample_weight: Any, n: int) -> Array:
    """One weight >= 0 per new row; all of them may be zero, as the old rows have others."""
    weight = np.asarray(sample_weight, dtype=float)
    if weight.shape != (n,) or not np.all(np.isfinite(weight) & (weight >= 0)):
        raise ValueError(
            f"sample_weight must be {n} finite numbers >= 0, one per new row, got {sample_weight!r}; leave it out for "
            "weights of one."
        )
    return weight


def like(X: Any, other: Any) -> Any:
    """The rows as an array or a CSR matrix, as others are."""
    if issparse(X) and not issparse(other):
        return X.toarray()
    return csr_matrix(X) if issparse(other) and not issparse(X) else X


def remaining(rows: Any, labels: Array, classes: Array | None) -> Array:
    """The positions that stay if some are forgotten."""
    n = len(labels)
    try:
        gone = np.unique(np.arange(n)[np.atleast_1d(np.asarray(rows))])
    except IndexError:
        raise ValueError(
            f"rows must be positions from 0 to {n - 1} or {n} truth values, got {rows!r}; positions are those among "
            "the training rows as they are now."
        ) from None
    stay = np.setdiff1d(np.arange(n), gone)
    if classes is not None:
        empty = np.setdiff1d(np.arange(len(classes)), labels[stay])
        if len(empty):
            raise ValueError(
                f"No row of class {classes[empty[0]]!r} would remain; forget fewer rows, or fit again without it."
            )
    if len(stay) < 2:
        raise ValueError(f"At least two rows must remain, but there would be {len(stay)}; forget fewer.")
    return stay


def check_landmarks(gram: Gram, stay: Array) -> None:
    """Refuse to forget a row that the features of a low-rank kernel are made of."""
    points = getattr(getattr(gram, "features", None), "points", None)
    if points is None:
        return
    dense = (each.toarray() if issparse(each) else np.asarray(each) for each in (points, gram.X))
    known, X = dense
    landmarks = {row.tobytes() for row in np.ascontiguousarray(known, dtype=float)}
    gone = np.setdiff1d(np.arange(gram.n), stay)
    for row in gone.tolist():
        if np.ascontiguousarray(X[row], dtype=float).tobytes() in landmarks:
            raise ValueError(
                f"Row {row} is a landmark of the low-rank kernel, of which all features are made; fit again without it."
            )
