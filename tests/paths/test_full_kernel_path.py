"""Machines on the full kernel of many rows: against exact paths on the kernel matrix, which is small here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.criteria.folds import make_folds
from svmpath.datasets import banana
from svmpath.exceptions import PathError
from svmpath.gram import Nystroem, ProductGram, make_gram
from svmpath.kernels import RBF
from svmpath.losses import HuberHinge, LeastSquares, Problem, SquaredHinge
from svmpath.paths import FullKernelPath, KernelStore, Request, trace_problem
from svmpath.paths.copies import find_copies

TIGHT = 1e-14  # a relative gap: its root is the distance


def problems(seed=0, classes=1, copies=False, task="classification"):
    """Problems of some classes against the rest, or a regression, on the products of a kernel matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    t = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=120)
    label = np.digitize(t, np.linspace(-0.8, 0.8, max(classes, 1)))
    if copies:
        rows = rng.integers(0, 70, size=120)
        X, t, label = X[rows], t[rows], label[rows]
    s = rng.choice([0.5, 1.0, 2.0], size=120)
    s[:3] = 0.0
    gram = ProductGram(RBF(0.4), X, Nystroem(25))
    targets = [t] if task == "regression" else [np.where(label > c, 1.0, -1.0) for c in range(classes)]
    merged = find_copies(gram, t if task == "regression" else label)
    assert (merged is not None) == copies
    return [Problem(gram, y, s, task, copies=merged) for y in targets]


def follow(loss, some, tol=TIGHT):
    """Their paths, which share a store, and exact ones of the same problems."""
    store, request = KernelStore(), Request(loss, "C", (0.1, 30.0))
    full = [replace(trace_problem(each, request, store), tol=tol) for each in some]
    gram = make_gram(some[0].gram.X, some[0].gram.kernel)
    return full, [trace_problem(replace(each, gram=gram), request) for each in some]


@pytest.mark.parametrize("copies", [False, True], ids=["distinct", "copies"])
@pytest.mark.parametrize(
    ("loss", "task"),
    [(SquaredHinge(), "classification"), (LeastSquares(), "classification"), (LeastSquares(), "regression")],
    ids=["squared hinge", "least squares", "regression"],
)
def test_against_exact_paths(loss, task, copies):
    full, exact = follow(loss, problems(classes=3 if task == "classification" else 1, copies=copies, task=task))
    new = np.random.default_rng(1).normal(size=(20, 3))
    for one, other in zip(full, exact, strict=True):
        assert isinstance(one, FullKernelPath)
        assert not one.is_exact
        for C in (0.3, 5.0):
            machine, truth = one(C), other(C)
            np.testing.assert_allclose(machine.fitted, truth.fitted, atol=1e-5)
            np.testing.assert_allclose(machine(new), truth(new), atol=1e-5)
            np.testing.assert_allclose(machine.fitted, machine.problem.gram.matmul(machine.alpha) + machine.b)
            assert machine.gap <= 1.01 * TIGHT
        values = np.array([1.0, 0.2])
        np.testing.assert_allclose(one.decisions(values), other.decisions(values), atol=1e-5)


@pytest.mark.parametrize("copies", [False, True], ids=["distinct", "copies"])
@pytest.mark.parametrize("loss", [SquaredHinge(), LeastSquares()], ids=["squared hinge", "least squares"])
def test_folds(loss, copies, monkeypatch):
    tight = 1e-9  # what products in single precision allow
    monkeypatch.setattr("svmpath.criteria.of_full_kernel.RANKING_GAP", tight)
    some = problems(2, classes=3, copies=copies)
    full, exact = follow(loss, some, tight)
    folds = make_folds(4, some[0].gram.X, some[1].y, is_classification=True, s=some[0].s)
    values = np.array([0.3, 3.0, 1.0])
    for one, other in zip(full, exact, strict=True):
        held, truth = (criteria.kfold(path, values, cv=folds) for path in (one, other))
        np.testing.assert_array_equal(held.rows, truth.rows)
        np.testing.assert_allclose(held.decisions, truth.decisions, atol=1e-3)


def test_classes_are_columns_of_the_same_products(monkeypatch):
    some = problems(classes=3)
    counts = []
    fast = ProductGram.fast
    monkeypatch.setattr(ProductGram, "fast", lambda gram, V: counts.append(V.shape[1]) or fast(gram, V))
    full, _ = follow(SquaredHinge(), some, tol=1e-6)
    full[1](1.0)
    first = len(counts)
    assert max(counts) == 3
    for path in full:
        path(1.0)
    assert len(counts) == first
    alone = full[0].without(np.arange(5))  # other weights, so that it is solved alone
    truth = trace_problem(
        replace(alone.problem, gram=make_gram(some[0].gram.X, RBF(0.4))), Request(SquaredHinge(), "C", (0.1, 30))
    )
    np.testing.assert_allclose(alone(1.0).fitted, truth(1.0).fitted, atol=1e-2)
    assert max(counts[first:]) == 1


def test_what_paths_have(tmp_path):
    (path,), (exact,) = follow(SquaredHinge(), problems(), tol=1e-6)
    assert "gaps up to 1e-06" in repr(path)
    assert path.breakpoints.tolist() == [0.1, 30.0]
    path.check()
    moved = {event.sample for event in path.events()}
    before, after = (exact.problem.y * exact(C).fitted < 1.0 for C in (0.1, 30.0))
    assert len(moved ^ set(np.flatnonzero(before != after).tolist())) <= 2  # up to the gap
    with pytest.raises(PathError, match="no machine with a gap below"):
        replace(path, tol=1e-40, store=KernelStore())(1.0)
    with pytest.raises(ValueError, match="squared hinge or of least squares over C"):
        trace_problem(path.problem, Request(HuberHinge(), "C", (0.1, 1.0)))
    with pytest.raises(ValueError, match="over 'gamma'"):
        trace_problem(path.problem, Request(SquaredHinge(), "gamma", (0.1, 1.0)))


def test_nothing_stale_is_answered():
    (problem,) = problems()
    store = KernelStore()
    machines = []
    for loss in (SquaredHinge(), LeastSquares()):
        path = trace_problem(problem, Request(loss, "C", (0.1, 30.0)), store)
        machines.append(path(1.0).fitted)
    assert np.abs(machines[0] - machines[1]).max() > 0.05
    loose = replace(path, tol=1e-2, store=KernelStore())
    loose(1.0)
    assert replace(loose, tol=1e-10)(1.0).gap <= 1e-10


def test_folds_that_are_not_solved_are_refused():
    (path,), _ = follow(SquaredHinge(), problems())
    folds = make_folds(3, path.problem.gram.X, path.problem.y, is_classification=True)
    with pytest.raises(PathError, match="no machines of the folds"):
        criteria.kfold(replace(path, tol=1e-3, span=(1e12, 1e12)), [1e12], cv=folds)


def test_certificate_of_low_rank_says_how_far():
    """The machine of low rank is as far from the full one as its certificate allows."""
    X, y = banana(150, random_state=0)
    low = svmpath.trace(X, y, gamma=1.0, rank=20, random_state=0)(1.0)
    gram = ProductGram(RBF(1.0), X, Nystroem(20))
    full = replace(trace_problem(replace(low.problem, gram=gram), Request(SquaredHinge(), "C", (1.0, 1.0))), tol=TIGHT)
    assert np.abs(full(1.0)(X) - low(X)).max() <= criteria.approximation_gap(low).bound
    assert criteria.approximation_gap(full(1.0)).gap < 1e-12


@pytest.mark.parametrize("copies", [False, True], ids=["distinct", "copies"])
def test_machines_without_parts_are_columns_and_equal_to_those_one_by_one(copies, monkeypatch):
    full, exact = follow(SquaredHinge(), problems(3, classes=3, copies=copies))
    parts = [np.arange(k, 120, 4) for k in range(4)]
    counts, fast = [], ProductGram.fast
    monkeypatch.setattr(ProductGram, "fast", lambda gram, V: counts.append(V.shape[1]) or fast(gram, V))
    for one, other in zip(full, exact, strict=True):
        for rows, machine in zip(parts, one.without_each(parts, 2.0), strict=True):
            truth = other.without(rows)(2.0)
            np.testing.assert_allclose(machine.fitted, truth.fitted, atol=1e-5)
            np.testing.assert_allclose(machine.problem.s, truth.problem.s)
            assert not machine.alpha[rows].any()
            np.testing.assert_allclose(
                machine.problem.gram.matmul(machine.alpha) + machine.b, machine.fitted, atol=1e-6
            )
    assert max(counts) == 12  # three classes without each of four parts
    with pytest.raises(PathError, match="no machine with a gap below"):
        replace(full[0], tol=1e-40, store=KernelStore()).without_each(parts, 2.0)


@pytest.mark.parametrize("folds", [1, 2, 4])
def test_folds_are_a_start_for_the_machine_of_all_rows(folds, monkeypatch):
    monkeypatch.setattr("svmpath.criteria.of_full_kernel.RANKING_GAP", 1e-9)
    some, found = problems(5, classes=2), []
    parts = make_folds(4, some[0].gram.X, some[1].y, is_classification=True, s=some[0].s)[:folds]
    for is_known in (True, False):
        (path, other), _ = follow(SquaredHinge(), some, tol=1e-6)
        if is_known:
            for each in (path, other):
                criteria.kfold(each, np.array([0.5, 3.0]), cv=parts)
        before = path.gram.products
        found.append((path(3.0).fitted, path.gram.products - before))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-2)
    if folds > 1:
        assert found[0][1] < found[1][1]
