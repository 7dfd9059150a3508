"""``loss=`` takes an object of ``svmpath.losses`` wherever it takes a name."""

import numpy as np
import pytest
from sklearn.base import clone

import svmpath
from svmpath.losses import EpsilonInsensitive, Hinge, LeastSquares, make_loss
from tests.rounding import assert_same

X = np.random.default_rng(0).normal(size=(40, 2))
NUMBERS = X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=40)
LABELS = np.sign(NUMBERS)


def test_an_object_keeps_its_own_parameters():
    by_object = svmpath.trace(X, NUMBERS, loss=EpsilonInsensitive(0.3), span=(0.1, 10.0))
    by_name = svmpath.trace(X, NUMBERS, loss="epsilon_insensitive", epsilon=0.3, span=(0.1, 10.0))
    other = svmpath.trace(X, NUMBERS, loss="epsilon_insensitive", span=(0.1, 10.0))
    assert_same(by_object(1.0).alpha, by_name(1.0).alpha)
    assert np.abs(by_object(1.0).alpha - other(1.0).alpha).max() > 1e-3


def test_estimators_take_objects_and_clone_them():
    model = clone(svmpath.PathSVR(loss=EpsilonInsensitive(0.3), epsilon="tune", gamma=0.5, C=[1.0])).fit(X, NUMBERS)
    assert model.epsilon_ == 0.3
    assert model.loss_ == "epsilon_insensitive"
    by_object = svmpath.PathSVC(loss=LeastSquares(), gamma=0.5, C=[1.0]).fit(X, LABELS)
    by_name = svmpath.PathSVC(loss="least_squares", gamma=0.5, C=[1.0]).fit(X, LABELS)
    assert_same(by_object.dual_coef_, by_name.dual_coef_)


def test_an_object_that_does_not_do_the_task_is_refused_like_its_name():
    with pytest.raises(ValueError, match="'epsilon_insensitive' does regression, not classification"):
        svmpath.trace(X, LABELS, loss=EpsilonInsensitive(0.3))
    with pytest.raises(ValueError, match="loss must be one of 'least_squares'"):
        svmpath.trace(X, LABELS, loss=Hinge)  # the class, not an object of it


def test_refusals_list_the_losses_that_are_possible():
    with pytest.raises(ValueError, match="tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C"):
        svmpath.trace(X, LABELS, loss="squared_hinge", tol=1e-3)
    with pytest.raises(
        ValueError, match=r"start= works for .* \('hinge', 'epsilon_insensitive', 'pinball', 'nu', 'one_class'\), not"
    ):
        svmpath.trace(X, LABELS, loss="squared_hinge", start=np.zeros(40))


def test_losses_that_do_the_task_are_listed_in_a_sentence():
    names = "'least_squares', 'squared_hinge', 'hinge' or 'huber_hinge'"
    with pytest.raises(ValueError, match=f"does regression, not classification; use loss={names}[.]"):
        make_loss("epsilon_insensitive", "classification", over="C")
