"""Repeated rows are merged before a path is followed; results are those of the rows as they were given."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, LeaveOneGroupOut, ShuffleSplit, StratifiedKFold

import svmpath
from svmpath import PathSVC, PathSVR, Range, criteria
from svmpath.estimators import _base
from svmpath.gram import Clipped
from svmpath.losses import Problem
from svmpath.paths import JumpPath, MarchPath
from svmpath.paths.copies import find_copies, merge, split_off
from tests import reference_qp
from tests.rounding import assert_same
from tests.speed import each_once, first_quick

N, DISTINCT = 120, 9


def rows(seed=0):
    """Rows that repeat, labels and targets that now and then contradict each other, weights that differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(DISTINCT, 3))[rng.integers(DISTINCT, size=N)]
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=N) > 0, 1.0, -1.0)
    amounts = np.round(X[:, 1] + 0.4 * rng.normal(size=N))
    return X, y, amounts, rng.choice([0.0, 0.5, 1.0, 1.0, 1.0, 2.0], size=N)


X, LABELS, AMOUNTS, WEIGHTS = rows()
NEW = np.random.default_rng(7).normal(size=(20, 3))
GROUPS = np.random.default_rng(8).integers(4, size=N)
C_SPAN, GAMMA_SPAN = (1e-2, 1e2), (0.1, 2.0)
# The machine, its targets, and values of its parameter.
MACHINES = {
    "least squares": ({"loss": "least_squares", "span": C_SPAN}, LABELS, [0.013, 0.7, 55.0]),
    "least squares, regression": ({"loss": "least_squares", "span": C_SPAN}, AMOUNTS, [0.013, 0.7, 55.0]),
    "squared hinge": ({"loss": "squared_hinge", "span": C_SPAN}, LABELS, [0.013, 0.7, 55.0]),
    "squared hinge, exact": (
        {"loss": "squared_hinge", "span": C_SPAN, "breakpoints": "exact"}, LABELS, [0.013, 0.7, 55.0],
    ),
    "hinge": ({"loss": "hinge", "span": C_SPAN}, LABELS, [0.013, 0.7, 55.0]),
    "epsilon over C": ({"loss": "epsilon_insensitive", "span": C_SPAN}, AMOUNTS, [0.013, 0.7, 55.0]),
    "epsilon over epsilon": (
        {"loss": "epsilon_insensitive", "over": "epsilon", "C": 2.0, "span": (1.0, 0.05)}, AMOUNTS, [0.9, 0.31, 0.06],
    ),
    "pinball over C": ({"loss": "pinball", "span": C_SPAN}, AMOUNTS, [0.013, 0.7, 55.0]),
    "pinball over the quantile": (
        {"loss": "pinball", "over": "quantile", "C": 2.0, "span": (0.9, 0.1)}, AMOUNTS, [0.83, 0.41, 0.17],
    ),
    "nu": ({"loss": "nu", "over": "nu", "span": (0.9, 0.6)}, LABELS, [0.89, 0.75, 0.61]),
    "weight": (
        {"loss": "hinge", "over": "weight", "sample": np.arange(40), "C": 2.0}, LABELS, [0.95, 0.4, 0.0],
    ),
    "hinge over gamma": ({"loss": "hinge", "over": "gamma", "C": 2.0, "span": GAMMA_SPAN}, LABELS, [0.11, 0.5, 1.9]),
    "epsilon over gamma": (
        {"loss": "epsilon_insensitive", "over": "gamma", "C": 2.0, "span": GAMMA_SPAN}, AMOUNTS, [0.11, 0.5, 1.9],
    ),
    "squared hinge over gamma": (
        {"loss": "squared_hinge", "over": "gamma", "C": 2.0, "span": GAMMA_SPAN}, LABELS, [0.11, 0.5, 1.9],
    ),
    "least squares over gamma": (
        {"loss": "least_squares", "over": "gamma", "C": 2.0, "span": GAMMA_SPAN}, LABELS, [0.11, 0.5, 1.9],
    ),
}  # fmt: skip
SMOOTH = [name for name in MACHINES if "squares" in name or "squared" in name]
ELBOW = [name for name in MACHINES if name not in SMOOTH]


def traced(name, form=np.asarray, **more):
    options, target, values = MACHINES[name]
    gamma = None if options.get("over") == "gamma" else 0.7
    task = "regression" if target is AMOUNTS else None
    path = svmpath.trace(form(X), target, sample_weight=WEIGHTS, gamma=gamma, task=task, **{**options, **more})
    assert path.problem.copies is not None
    assert path.distinct.n < 0.4 * N
    return path, np.array(values)


def sums(alpha):
    """Sums of the coefficients over equal rows, contradictory ones included: what the machine depends on."""
    return np.bincount(np.unique(X, axis=0, return_inverse=True)[1].ravel(), alpha)


@first_quick(5)
@pytest.mark.parametrize("name", MACHINES)
def test_the_machine_is_that_of_the_unmerged_problem(name):
    path, values = traced(name)
    plain = path.unmerged
    for value in values:
        one, other = path(value), plain(value)
        assert one.alpha.shape == (N,)
        assert np.allclose(one.problem.s, other.problem.s, atol=1e-15)
        assert np.allclose(one.fitted, other.fitted, rtol=0, atol=1e-9)
        assert np.allclose(one(NEW), other(NEW), rtol=0, atol=1e-9)
        assert abs(one.b - other.b) <= 1e-9
        assert np.allclose(sums(one.alpha), sums(other.alpha), rtol=1e-9, atol=1e-9)
        assert one.violation <= 1e-9
        assert one.gap <= 1e-9
        if name in SMOOTH:  # whose coefficients are unique
            assert np.allclose(one.alpha, other.alpha, rtol=1e-9, atol=1e-9 * np.abs(other.alpha).max())


@first_quick(6)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("form", [csr_matrix, np.asfortranarray], ids=["sparse", "fortran"])
def test_sparse_and_fortran_rows_are_merged_alike(name, form):
    value = MACHINES[name][2][1]
    assert np.allclose(traced(name, form)[0](value).fitted, traced(name)[0](value).fitted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["least squares", "squared hinge", "hinge", "epsilon over C", "nu"])
def test_low_rank(name):
    path, values = traced(name, rank=6, random_state=0)
    plain = path.unmerged
    for value in values:
        assert np.allclose(path(value).fitted, plain(value).fitted, rtol=0, atol=1e-9)
        assert np.allclose(path(value)(NEW), plain(value)(NEW), rtol=0, atol=1e-9)


def test_the_hinge_machine_is_that_of_an_interior_point_method():
    path, values = traced("hinge")
    for value in values:
        f, _ = reference_qp.hinge(path.gram.block(slice(None), slice(None)), LABELS, WEIGHTS, value)
        assert np.allclose(path(value).fitted, f, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"breakpoints": "exact"}, {"over": "gamma"}, {"over": "gamma", "breakpoints": "exact"}], ids=str
)
def test_events_and_breakpoints_are_those_of_the_unmerged_problem(options):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))[rng.integers(30, size=N)]
    y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2, 1.0, -1.0)
    span = GAMMA_SPAN if "over" in options else C_SPAN
    path = svmpath.trace(X, y, loss="squared_hinge", span=span, sample_weight=WEIGHTS, **options)
    assert path.problem.copies is not None
    plain = path.unmerged
    # Along gamma the copies are found one by one, at values that agree to some ten digits.
    theirs = plain.breakpoints[np.concatenate([[True], np.diff(plain.breakpoints) > 1e-9])]
    assert np.allclose(path.breakpoints, theirs, rtol=1e-9)
    ours, theirs = (sorted(each.events(), key=lambda e: (round(e.value, 8), e.sample)) for each in (path, plain))
    assert len(ours) > 10
    assert [event[1:] for event in ours] == [event[1:] for event in theirs]
    assert np.allclose([event.value for event in ours], [event.value for event in theirs], rtol=1e-9)


@pytest.mark.parametrize("name", ["hinge", "epsilon over C", "epsilon over epsilon", "weight", "hinge over gamma"])
def test_every_copy_that_has_a_weight_has_the_events_of_its_sample(name):
    path, _ = traced(name)
    events = list(path.events())
    assert events
    copies = {
        k: np.flatnonzero((path.problem.copies == k) & (WEIGHTS > 0)).tolist() for k in np.unique(path.problem.copies)
    }
    seen = {i: [event._replace(sample=-1) for event in events if event.sample == i] for i in range(N)}
    assert not any(seen[i] for i in np.flatnonzero(WEIGHTS == 0))
    for members in copies.values():
        assert all(seen[i] == seen[members[0]] for i in members)
    inner = list(path._events())
    assert len(events) == sum(len(copies[event.sample]) for event in inner)


def test_between_merged_breakpoints_the_unmerged_hinge_machine_is_linear():
    path, _ = traced("hinge")
    t = -1.0 / path.breakpoints
    plain = path.unmerged
    for a, b in pairwise(t):
        inside = [a + (b - a) * share for share in (0.05, 0.5, 0.95)]
        f = [-s * plain(-1.0 / s).fitted for s in inside]
        assert np.allclose(f[1], (f[0] + f[2]) / 2, rtol=0, atol=1e-9)


LEAVE_ONE_OUT = [
    *[(name, criteria.loo) for name in MACHINES if name != "nu"],
    *[(name, criteria.press) for name in MACHINES if name.startswith("least")],
    *[(name, criteria.span) for name in MACHINES if name.startswith("squared")],
]


@first_quick(6)
@pytest.mark.parametrize(("name", "criterion"), LEAVE_ONE_OUT, ids=lambda each: getattr(each, "__name__", each))
def test_leave_one_out_is_that_of_the_unmerged_problem(name, criterion):
    path, values = traced(name)
    ours, theirs = criterion(path, values), criterion(path.unmerged, values)
    assert ours.path is path
    assert ours.held.shape == (len(values), N)
    assert np.allclose(ours.held, theirs.held, rtol=0, atol=1e-9)
    assert np.allclose(ours.scores, theirs.scores, rtol=0, atol=1e-12)
    assert np.allclose(ours.standard_errors, theirs.standard_errors, rtol=0, atol=1e-12)
    assert np.array_equal(ours.unreliable, theirs.unreliable)
    assert svmpath.select(ours).value == svmpath.select(theirs).value


def test_leave_one_out_asks_about_fewer_rows():
    path, values = traced("hinge")
    problem, leader, first = split_off(path.problem)
    np.testing.assert_array_equal(problem.y, path.problem.y[first])
    assert problem.n < 0.6 * N
    assert problem.s.sum() == pytest.approx(WEIGHTS.sum(), rel=1e-15)
    assert problem.stands_for.sum() == N
    assert np.array_equal(problem.s[leader], WEIGHTS)
    assert np.array_equal(problem.gram.X[problem.gram.rows][leader], X)
    assert path.store.of_weights.split is None
    criteria.loo(path, values)
    assert len(path.store.split.of_kernel.matrix.K) == problem.n


@pytest.mark.parametrize("name", ["least squares", "squared hinge", "hinge", "epsilon over C"])
def test_leave_one_out_is_that_of_a_machine_without_the_row(name):
    options, target, values = MACHINES[name]
    path, _ = traced(name)
    curve = criteria.loo(path, values)
    for i in range(0, N, 17):
        others = np.delete(np.arange(N), i)
        refit = svmpath.trace(
            X[others], target[others], sample_weight=WEIGHTS[others], gamma=0.7,
            task="regression" if target is AMOUNTS else None, **options,
        )  # fmt: skip
        for k, value in enumerate(values):
            assert abs(refit(value)(X[[i]])[0] - curve.held[k, i]) <= 1e-8


def test_leave_one_out_of_nu():
    path, values = traced("nu")
    ours, theirs = criteria.loo(path, values), criteria.loo(path.unmerged, values)
    assert np.allclose(ours.held, theirs.held, rtol=0, atol=1e-9)


def test_errors_alone_and_the_step_function():
    path, values = traced("hinge", span=(0.05, 5.0))
    plain = path.unmerged
    values = np.array([0.06, 0.7, 4.0])
    ours, theirs = (criteria.loo(each, values, count_only=True) for each in (path, plain))
    assert np.array_equal(ours.losses, theirs.losses)
    assert np.allclose(ours.held, theirs.held, rtol=0, atol=1e-9)
    ours, theirs = (criteria.loo(each, exact=True) for each in (path, plain))
    inside = np.geomspace(0.051, 4.9, 40)
    assert np.allclose(ours(inside), theirs(inside), rtol=0, atol=1e-12)
    assert np.allclose(ours.edges, theirs.edges, rtol=1e-9)


@pytest.mark.parametrize("criterion", [criteria.alo, criteria.span, criteria.xi_alpha, criteria.span_bound])
def test_criteria_that_look_at_all_rows(criterion):
    path, values = traced("hinge")
    path = replace(path, problem=replace(path.problem, s=np.ones(N)))
    path = path.on(path.problem)
    curve = criterion(path, values)
    assert curve.path is path
    assert np.allclose(curve.scores, criterion(path.unmerged, values).scores, rtol=0, atol=1e-9)


def test_the_radius_margin_bound_looks_at_all_rows():
    path, values = svmpath.trace(X, LABELS, loss="squared_hinge", gamma=0.7), np.array([0.1, 10.0])
    assert path.problem.copies is not None
    plain = criteria.radius_margin(path.unmerged, values)
    assert np.allclose(criteria.radius_margin(path, values).scores, plain.scores, rtol=1e-9)


SPLITTERS = {
    "stratified": {"cv": StratifiedKFold(4, shuffle=True, random_state=0)},
    "shuffled": {"cv": ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=0)},
    "groups": {"cv": LeaveOneGroupOut(), "groups": GROUPS},
    "in order": {"cv": KFold(5)},
}


@first_quick(5)
@pytest.mark.parametrize("splits", SPLITTERS)
@pytest.mark.parametrize("name", [name for name in MACHINES if name != "nu"])
def test_kfold_is_that_of_the_unmerged_problem(name, splits):
    if splits == "stratified" and MACHINES[name][1] is AMOUNTS:
        pytest.skip("stratified folds need labels")
    path, values = traced(name)
    ours, theirs = (criteria.kfold(each, values, **SPLITTERS[splits]) for each in (path, path.unmerged))
    assert np.array_equal(ours.rows, theirs.rows)
    assert np.allclose(ours.held, theirs.held, rtol=0, atol=1e-9)
    assert np.allclose(ours.scores, theirs.scores, rtol=0, atol=1e-12)
    assert np.array_equal(ours.unreliable, theirs.unreliable)


def test_approximate_paths_keep_their_gap():
    path = svmpath.trace(X, LABELS, loss="hinge", gamma=0.7, sample_weight=WEIGHTS, tol=1e-3, span=C_SPAN)
    assert path.problem.copies is not None
    path.check()
    for value in (0.02, 1.0, 80.0):
        assert path(value).gap <= 1e-3
    assert criteria.kfold(path, [1.0]).held.shape == (1, N)


def test_contradictory_rows_stay_apart():
    path, _ = traced("hinge")
    merged = path.distinct
    kept = {(*row, label) for row, label in zip(merged.gram.X[merged.gram.rows], merged.y, strict=True)}
    assert len(kept) == merged.n > DISTINCT
    assert merged.s.sum() == pytest.approx(WEIGHTS.sum(), rel=1e-15)


def test_few_copies_are_left_alone():
    distinct = np.random.default_rng(1).normal(size=(50, 2))
    y = np.where(distinct[:, 0] > 0, 1.0, -1.0)
    few = np.vstack([distinct, distinct[:3]])
    assert isinstance(svmpath.trace(few, np.append(y, y[:3]), loss="hinge"), JumpPath)
    assert isinstance(svmpath.trace(few, np.append(y, y[:3]), loss="squared_hinge"), MarchPath)


def test_precomputed_and_clipped_kernels_are_left_alone():
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    path = svmpath.trace(K, LABELS, kernel="precomputed", loss="hinge", span=C_SPAN)
    assert isinstance(path, JumpPath)
    assert np.allclose(path(1.0).fitted, svmpath.trace(X, LABELS, gamma=1.0, loss="hinge")(1.0).fitted, atol=1e-8)
    clipped = svmpath.trace(X, LABELS, kernel="sigmoid", coef0=-2.0, rank=Clipped(), loss="squared_hinge")
    assert isinstance(clipped, MarchPath)


def test_all_copies_of_a_sample_without_weight():
    s = WEIGHTS.copy()
    s[(X[0] == X).all(axis=1)] = 0.0
    path = svmpath.trace(X, LABELS, loss="hinge", gamma=0.7, sample_weight=s, span=C_SPAN)
    assert path.problem.copies is not None
    assert np.allclose(path(1.0).fitted, path.unmerged(1.0).fitted, rtol=0, atol=1e-9)
    ours, theirs = criteria.loo(path, [1.0]), criteria.loo(path.unmerged, [1.0])
    assert np.allclose(ours.held, theirs.held, rtol=0, atol=1e-9)


def test_rows_can_be_left_out_whatever_their_copies():
    path, values = traced("hinge")
    out = np.arange(0, N, 3)
    s = WEIGHTS.copy()
    s[out] = 0.0
    fresh = svmpath.trace(X, LABELS, loss="hinge", gamma=0.7, sample_weight=s, span=C_SPAN)
    assert np.allclose(path.without(out).decisions(values), fresh.decisions(values), rtol=0, atol=1e-9)


def test_a_start_is_summed_over_copies():
    other = svmpath.trace(X, LABELS, loss="hinge", gamma=1.0, span=C_SPAN)(1.0)
    path = svmpath.trace(X, LABELS, loss="hinge", gamma=0.7, span=(1.0, 10.0), start=other)
    assert np.allclose(path(5.0).fitted, svmpath.trace(X, LABELS, loss="hinge", gamma=0.7)(5.0).fitted, atol=1e-9)
    with pytest.raises(ValueError, match="start= works for losses with an elbow"):
        svmpath.trace(X, LABELS, loss="squared_hinge", start=other)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "least_squares"])
def test_a_surface_of_repeated_rows(loss):
    surface = svmpath.surface(X, LABELS, loss=loss, C=(0.1, 10.0), gamma=[0.3, 0.5, 0.9], sample_weight=WEIGHTS)
    for C, gamma in ((0.7, 0.3), (3.0, 0.62)):
        machine = svmpath.trace(X, LABELS, loss=loss, gamma=gamma, sample_weight=WEIGHTS, span=(0.1, 10.0)).unmerged(C)
        assert np.allclose(surface(C, gamma).fitted, machine.fitted, rtol=0, atol=1e-9)
        assert surface(C, gamma).problem.gram.kernel.gamma == gamma
    curves = surface.curves(criteria.loo, [0.2, 2.0])
    assert curves.scores.shape == (3, 2)
    for gamma, curve in zip(surface.gammas.tolist(), curves.curves, strict=True):
        path = svmpath.trace(X, LABELS, loss=loss, gamma=gamma, sample_weight=WEIGHTS, span=(0.1, 10.0))
        held = criteria.loo(path.unmerged, [0.2, 2.0]).held
        assert np.allclose(curve.held, held, rtol=0, atol=1e-7)  # each with its own kernel


def test_folds_say_which_nu_they_can_have():
    path = svmpath.trace(X, LABELS, loss="nu", over="nu", gamma=0.7, span=(0.9, 0.6))
    folds = [(np.flatnonzero(LABELS > 0).tolist() + np.flatnonzero(LABELS < 0)[:5].tolist(), [0])]
    with pytest.raises(ValueError, match=r"nu = 0\.9 is infeasible for the training part of a fold"):
        criteria.kfold(path, [0.9], cv=folds)


def test_a_saved_path_gives_the_same_machine():
    path, values = traced("hinge")
    again = pickle.loads(pickle.dumps(path))
    assert_same(again(values[1]).alpha, path(values[1]).alpha)


def test_copies_are_found_once_and_by_label():
    gram = svmpath.trace(X, LABELS, loss="least_squares", gamma=0.7).gram
    copies = find_copies(gram, np.array(["cat", "dog"])[(LABELS > 0).astype(int)])
    assert np.array_equal(copies, find_copies(gram, LABELS))
    merged = merge(Problem(gram, LABELS, WEIGHTS, "classification", copies=copies))
    assert np.array_equal(merged.y[copies], LABELS)
    assert merged.gram.distinct is gram.distinct


def iris():
    """Three classes by name, on rows that mostly repeat."""
    data = load_iris()
    return np.round(data.data), data.target_names[data.target]


def fitted_both_ways(monkeypatch, model, X, y, **fit):
    ours = model.fit(X, y, **fit)
    ours = pickle.loads(pickle.dumps(ours))
    assert ours.path_.problem.copies is not None
    monkeypatch.setattr(_base, "find_copies", lambda gram, labels: None)
    theirs = type(model)(**model.get_params()).fit(X, y, **fit)
    assert theirs.path_.problem.copies is None
    return ours, theirs


def expect_the_same(ours, theirs, X):
    assert ours.C_ == theirs.C_
    assert ours.gamma_ == theirs.gamma_
    assert ours.criterion_ == theirs.criterion_
    assert ours.loo_error() == pytest.approx(theirs.loo_error(), rel=1e-9)
    assert ours.choice_.score == pytest.approx(theirs.choice_.score, rel=1e-9)
    decide = "decision_function" if hasattr(ours, "decision_function") else "predict"
    assert np.allclose(getattr(ours, decide)(X), getattr(theirs, decide)(X), rtol=0, atol=1e-8)


SOME = {"random_state": 0, "search": "grid", "gamma": [0.1, 0.5], "C": np.geomspace(0.05, 20.0, 7)}


@each_once
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "least_squares"])
@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_pathsvc_of_several_named_classes(monkeypatch, loss, criterion):
    X, y = iris()
    ours, theirs = fitted_both_ways(monkeypatch, PathSVC(loss=loss, criterion=criterion, **SOME), X, y)
    expect_the_same(ours, theirs, X)
    assert list(ours.predict(X)) == list(theirs.predict(X))


@each_once
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"search": "grid", "C": Range(0.01, 100.0), "scoring": "squared"}, marks=pytest.mark.slow),
        {"rank": 5},
        {"rule": "one_se"},
    ],
)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "least_squares"])
def test_pathsvc_with_weights(monkeypatch, loss, options):
    ours, theirs = fitted_both_ways(
        monkeypatch, PathSVC(loss=loss, **{**SOME, **options}), X, LABELS, sample_weight=WEIGHTS
    )
    if "scoring" in options:  # a minimum that is found to three digits
        assert ours.choice_.score == pytest.approx(theirs.choice_.score, rel=1e-3)
        return
    expect_the_same(ours, theirs, X)


@first_quick(1)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "least_squares"])
def test_pathsvr_with_weights(monkeypatch, loss):
    ours, theirs = fitted_both_ways(monkeypatch, PathSVR(loss=loss, **SOME), X, AMOUNTS, sample_weight=WEIGHTS)
    expect_the_same(ours, theirs, X)


def test_a_gradient_search_takes_the_rows_as_they_are(monkeypatch):
    model = PathSVC(search="gradient", random_state=0)
    ours, theirs = fitted_both_ways(monkeypatch, model, X, LABELS)
    assert ours.choice_.score == pytest.approx(theirs.choice_.score, rel=1e-6)


def test_a_saved_model_holds_nothing_that_is_not_known(tmp_path):
    import skops.io

    from svmpath.cli.saved_model import is_known

    model = PathSVC(loss="hinge", **SOME).fit(X, LABELS)
    assert model.path_.problem.copies is not None
    skops.io.dump(model, tmp_path / "model.skops")
    types = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(is_known(name) for name in types), types
    again = skops.io.load(tmp_path / "model.skops", trusted=types)
    assert np.array_equal(again.predict(X), model.predict(X))
