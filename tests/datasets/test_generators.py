"""Generated data."""

import numpy as np
import pytest

from svmpath import datasets

GENERATORS = {"twonorm": 20, "ringnorm": 20, "waveform": 21, "banana": 2, "gaussian_mixture": 2}


@pytest.mark.parametrize(("name", "d"), GENERATORS.items())
def test_generators_give_two_classes_and_repeat(name, d):
    generate = getattr(datasets, name)
    X, y = generate(300, random_state=3)
    assert X.shape == (300, d)
    assert X.dtype == np.float64
    assert set(y.tolist()) == {-1, 1}
    again, _ = generate(300, random_state=3)
    other, _ = generate(300, random_state=4)
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, other)


def test_generators_take_a_generator():
    X, _ = datasets.twonorm(5, np.random.default_rng(7))
    np.testing.assert_array_equal(X, datasets.twonorm(5, 7)[0])


def test_twonorm_bayes_error_is_that_of_the_paper():
    X, y = datasets.twonorm(40000, 0)
    assert np.mean(np.sign(X.sum(axis=1)) != y) == pytest.approx(0.023, abs=0.003)


def test_ringnorm_moments():
    X, y = datasets.ringnorm(20000, 0)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 0, atol=0.1)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), 2 / np.sqrt(20), atol=0.05)
    np.testing.assert_allclose(X[y == 1].var(axis=0), 4, rtol=0.1)
    np.testing.assert_allclose(X[y == -1].var(axis=0), 1, rtol=0.1)


def test_waveform_means_follow_the_waves():
    X, y = datasets.waveform(60000, 0)
    place = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - abs(place - centre), 0) for centre in (11, 15, 7))
    np.testing.assert_allclose(X[y == 1].mean(axis=0), (h1 + h2) / 2, atol=0.1)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), (h1 + h2 + 2 * h3) / 4, atol=0.1)
    assert np.mean(y == 1) == pytest.approx(1 / 3, abs=0.01)


def test_gaussian_mixture_rows_lie_near_few_centres():
    X, _ = datasets.gaussian_mixture(2000, 0, centres=1)
    assert X.std() < 2.5
