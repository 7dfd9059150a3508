"""The squared hinge and least squares with features in single precision, against the same in double precision."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.gram import Nystroem
from svmpath.losses import SquaredHinge
from svmpath.paths import march
from svmpath.solvers.feature_newton import FeatureNewton, Rows
from svmpath.solvers.pieces import SQUARED_HINGE
from svmpath.solvers.single_rows import SingleRows

C = np.array([0.1, 1.0, 10.0, 1000.0])


def _data(n=1500, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sign(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n))


def _path(single, loss="squared_hinge", gamma=0.1, rank=120, **options):
    X, y = _data()
    span = (1e-2, 1e6)
    return svmpath.trace(
        X,
        y,
        loss=loss,
        span=span,
        gamma=gamma,
        rank=Nystroem(rank, "uniform", single=single),
        random_state=0,
        **options,
    )


@pytest.mark.parametrize("gamma", [1e-3, 0.1])
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_decisions_agree_with_those_in_double_precision(loss, gamma):
    single, double = _path(True, loss, gamma), _path(False, loss, gamma)
    np.testing.assert_allclose(single.decisions(C), double.decisions(C), atol=1e-4)
    new = _data(200, seed=1)[0]
    for value in C:
        machine = single(value)
        assert machine.violation < 1e-6
        assert machine.gap < 1e-6
        np.testing.assert_allclose(machine(new), double(value)(new), atol=1e-4)


def test_weights_are_those_of_double_precision():
    s = np.random.default_rng(3).choice([0.0, 0.5, 2.0], size=1500)
    single, double = _path(True, sample_weight=s), _path(False, sample_weight=s)
    np.testing.assert_allclose(single.decisions(C), double.decisions(C), atol=1e-4)
    assert single(1.0).violation < 1e-6


@pytest.mark.parametrize("screen", [True, False])
def test_held_out_values_agree_with_those_in_double_precision(screen):
    curves = [criteria.span(_path(single), C[:3], screen=screen) for single in (True, False)]
    np.testing.assert_allclose(curves[0].scores, curves[1].scores, atol=1.5 / 1500)
    np.testing.assert_allclose(curves[0].held, curves[1].held, atol=2e-3)


@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_is_held_out_as_in_double_precision(weighted):
    s = np.random.default_rng(3).choice([0.0, 0.5, 2.0], size=1500) if weighted else None
    single, double = (_path(each, "least_squares", sample_weight=s) for each in (True, False))
    np.testing.assert_allclose(criteria.press(single, C).held, criteria.press(double, C).held, atol=2e-4)
    folds = [criteria.kfold(path, C, cv=3).held for path in (single, double)]
    np.testing.assert_allclose(*folds, atol=2e-3)


def test_moments_are_those_of_the_stored_features():
    rng = np.random.default_rng(1)
    Z = (rng.normal(size=(3000, 20)) + 5.0).astype(np.float32)
    y, s = np.sign(rng.normal(size=3000)), rng.random(3000)
    single, which = SingleRows.of(Z, y, s), np.arange(0, 3000, 2)
    exact = Rows(single.A, y, s)
    for rows, tol in ((single, 1e-5), (single.doubled(), 1e-12)):
        for found, wanted in zip(rows.moments(which), exact.moments(which), strict=True):
            np.testing.assert_allclose(found, wanted, atol=tol * np.abs(wanted).max())
    theta, v = rng.normal(size=21), rng.normal(size=3000)
    np.testing.assert_allclose(single.matvec(theta), exact.matvec(theta), atol=1e-11)
    np.testing.assert_allclose(single.rmatvec(v), exact.rmatvec(v), atol=1e-9)
    np.testing.assert_allclose(single.largest, exact.largest, rtol=1e-5)


def test_products_become_double_where_single_ones_are_too_weak():
    rng = np.random.default_rng(2)
    # Features that are nearly the same: their products in single precision do not tell them apart.
    base = rng.normal(size=(2000, 1))
    Z = (base + 1e-4 * rng.normal(size=(2000, 4))).astype(np.float32)
    y = np.sign(Z[:, 0] - Z[:, 1] + 5e-5 * rng.normal(size=2000))
    single = SingleRows.of(Z, y, np.ones(2000))
    lam, exact = 1e-8, Rows(single.A, y, np.ones(2000))
    newton, plain = FeatureNewton.of(SQUARED_HINGE, single), FeatureNewton.of(SQUARED_HINGE, exact)
    found, _ = newton.at(lam, newton.start())
    wanted, _ = plain.at(lam, plain.start())
    assert newton.system._rows.arithmetic is np.float64
    np.testing.assert_allclose(found.f, wanted.f, atol=1e-4 * np.abs(wanted.f).max())


def test_a_machine_that_is_off_is_solved_again_in_double_precision(monkeypatch):
    path, asked = _path(True), []
    monkeypatch.setattr("svmpath.losses.pieces._DOUBLE_FROM", -1.0)
    doubled = SingleRows.doubled
    monkeypatch.setattr(SingleRows, "doubled", lambda rows: asked.append(1) or doubled(rows))
    assert path(1.0).violation < 1e-10
    assert asked


@pytest.mark.parametrize("single", [True, False])
def test_a_warm_start_leads_to_the_same_machine(single):
    cold = _path(single)
    f = cold.decisions(np.array([1.0]))[0]
    np.testing.assert_allclose(cold.known_decisions(1.2), f, atol=1e-8)
    assert _path(single).known_decisions(1.0) is None
    for start_at in (f, np.zeros(1500), np.full(1500, 1e3), -f):
        warm = _path(single).start_from(start_at)
        np.testing.assert_allclose(warm.decisions(C[1:3]), cold.decisions(C[1:3]), atol=1e-5)


@pytest.mark.parametrize("single", [True, False])
def test_many_features_start_from_the_leading_ones(single, monkeypatch):
    wanted = _path(single).decisions(C[:3])
    monkeypatch.setattr(march, "_MANY_ENTRIES", 20_000)
    np.testing.assert_allclose(_path(single).decisions(C[:3]), wanted, atol=1e-5)


def test_the_rows_of_single_features_are_single():
    path = _path(True)
    assert isinstance(SquaredHinge().rows(path.problem), SingleRows)
    assert path.rows.Z is path.gram.Z  # not a copy


def test_the_huberised_hinge_takes_single_features_as_double_ones():
    single, double = _path(True, "huber_hinge"), _path(False, "huber_hinge")
    np.testing.assert_allclose(single.decisions(C[:2]), double.decisions(C[:2]), atol=1e-4)
    assert single(1.0).violation < 1e-6
