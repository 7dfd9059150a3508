"""Every fast way to hold samples out against the general one, through ``path.without`` and ``path.decisions`` alone."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold

import svmpath
from svmpath.criteria import leave_folds_out, leave_one_out, predict_left_out
from svmpath.criteria.fast import COPIES, FAST
from svmpath.paths import NodePath, OverKernel, Path
from tests.speed import first_quick

X, LABELS = make_moons(24, noise=0.3, random_state=0)
AMOUNTS = X[:, 0] + 0.3 * np.random.default_rng(0).normal(size=24)
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0] * 6)
TWICE = np.repeat(X[:12], 2, axis=0)
VALUES = {"C": [0.3, 2.0, 15.0], "gamma": [0.4, 1.3], "epsilon": [0.05, 0.2], "nu": [0.3, 0.5], "quantile": [0.23, 0.7]}
SPANS = {"C": (0.1, 50.0), "gamma": (0.3, 2.0), "epsilon": (0.01, 0.5), "nu": (0.2, 0.6), "quantile": (0.1, 0.9)}
MACHINES = {
    "least squares": {"loss": "least_squares"},
    "least squares over gamma": {"loss": "least_squares", "over": "gamma"},
    "least squares in low rank": {"loss": "least_squares", "rank": 8, "random_state": 0},
    "squared hinge": {"loss": "squared_hinge"},
    "squared hinge over gamma": {"loss": "squared_hinge", "over": "gamma"},
    "hinge": {"loss": "hinge"},
    "hinge over gamma": {"loss": "hinge", "over": "gamma", "C": 2.0},
    "epsilon": {"loss": "epsilon_insensitive", "over": "epsilon"},
    "epsilon over C": {"loss": "epsilon_insensitive"},
    "pinball": {"loss": "pinball", "over": "quantile", "C": 2.0},
    "pinball over C": {"loss": "pinball"},
    "nu": {"loss": "nu", "over": "nu"},
    "elastic": {"over": "lambda1"},
}


def traced(name, X=X, labels=LABELS, amounts=AMOUNTS):
    options = dict(MACHINES[name])
    over = options.get("over", "C")
    if name == "elastic":
        path = svmpath.trace_elastic(X, labels, lambda2=0.5, sample_weight=WEIGHTS, **options)
        return path, path.span[0] * np.array([0.6, 0.1])
    target = amounts if options["loss"] in ("epsilon_insensitive", "pinball") else labels
    weights = None if over == "nu" else WEIGHTS
    gamma = None if over == "gamma" else 1.0
    path = svmpath.trace(X, target, sample_weight=weights, gamma=gamma, span=SPANS[over], **options)
    return path, np.array(VALUES[over])


def slow(function, *args):
    return function.dispatch(Path)(*args)


@pytest.mark.parametrize("name", MACHINES)
def test_leave_one_out_equals_paths_without_each_sample(name):
    path, values = traced(name)
    fast, plain = leave_one_out(path, values), slow(leave_one_out, path, values)
    np.testing.assert_allclose(decisions(fast), decisions(plain), atol=1e-6, rtol=1e-6)
    np.testing.assert_array_equal(fast.rows, plain.rows)


def has_fast_folds(name):
    return leave_folds_out.dispatch(type(traced(name)[0])) is not leave_folds_out.dispatch(Path)


@pytest.mark.parametrize("name", ["least squares", "least squares over gamma", "squared hinge over gamma"])
def test_folds_equal_paths_without_each_fold(name):
    assert has_fast_folds(name)
    path, values = traced(name)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    fast, plain = leave_folds_out(path, values, folds), slow(leave_folds_out, path, values, folds)
    np.testing.assert_allclose(decisions(fast), decisions(plain), atol=1e-6, rtol=1e-6)
    np.testing.assert_array_equal(fast.rows, plain.rows)


@pytest.mark.parametrize("name", ["squared hinge", "hinge", "epsilon over C", "elastic"])
def test_the_general_form_of_folds_equals_paths_of_the_training_rows(name):
    assert not has_fast_folds(name)
    path, values = traced(name)
    train, test = np.arange(6, 24), np.arange(6)
    held = decisions(slow(leave_folds_out, path, values, [(train, test)]))
    options = {key: value for key, value in MACHINES[name].items() if key != "over"}
    if name == "elastic":
        refit = svmpath.trace_elastic(
            X[train], LABELS[train], lambda2=0.5, sample_weight=WEIGHTS[train], span=path.span
        )
    else:
        target = AMOUNTS if path.problem.task == "regression" else LABELS
        weights = WEIGHTS[train]
        refit = svmpath.trace(X[train], target[train], gamma=1.0, span=path.span, sample_weight=weights, **options)
    for k, value in enumerate(values):
        np.testing.assert_allclose(held[k], refit(float(value))(X[test]), atol=1e-6)


@first_quick(5)
@pytest.mark.parametrize("name", [name for name in MACHINES if name != "elastic"])
def test_merged_rows_are_held_out_like_all_rows(name):
    path, values = traced(name, TWICE, np.repeat(LABELS[:12], 2), np.repeat(AMOUNTS[:12], 2))
    assert path.problem.copies is not None
    for function, args in ((leave_one_out, ()), (leave_folds_out, (list(KFold(3).split(TWICE)),))):
        fast, plain = function(path, values, *args), slow(function, path.unmerged, values, *args)
        np.testing.assert_allclose(decisions(fast), decisions(plain), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", ["squared hinge", "hinge", "epsilon over C", "elastic"])
def test_a_prediction_without_doubts_is_leave_one_out(name):
    path, values = traced(name)
    predicted, exact = predict_left_out(path, values), slow(leave_one_out, path, values)
    doubts = predicted.doubts() if callable(predicted.doubts) else predicted.doubts
    differ = ~np.isclose(decisions(predicted), decisions(exact), atol=1e-6)
    assert np.all(differ.sum(axis=1) <= doubts)
    assert np.any(doubts < len(X))


def test_the_tables_hold_every_kind_of_path():
    kinds = set().union(*FAST.values())
    traced_kinds = {type(traced(name)[0]) for name in MACHINES}
    assert all(any(issubclass(kind, known) for known in kinds) for kind in traced_kinds)
    assert {OverKernel, NodePath} <= kinds
    assert FAST.keys() == COPIES.keys()


def test_without_and_decisions_are_all_that_a_path_needs():
    """A path whose kind nobody knows is served by the general forms."""

    class Unknown(svmpath.paths.MarchPath):
        pass

    path, values = traced("squared hinge")
    unknown = Unknown(path.problem, path.loss, path.path_parameter, path.span)
    leave_one_out.register(Unknown, leave_one_out.dispatch(Path))
    np.testing.assert_allclose(
        decisions(leave_one_out(unknown, values)), decisions(leave_one_out(path, values)), atol=1e-6
    )


def decisions(held):
    return held.decisions() if callable(held.decisions) else held.decisions
