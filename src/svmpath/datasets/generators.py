"""Generators of the papers' synthetic sets: two classes, labels -1 and +1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["banana", "gaussian_mixture", "ringnorm", "twonorm", "waveform"]

Sample = tuple[NDArray[np.float64], NDArray[np.int64]]
Seed = int | np.random.Generator | None


def _labels(n: int, rng: np.random.Generator, positive: float = 0.5) -> NDArray[np.int64]:
    """Draw `n` labels, +1 with probability `positive`."""
    return np.where(rng.random(n) < positive, 1, -1)


def twonorm(n: int, random_state: Seed = None) -> Sample:
    """Draw Breiman's twonorm: two unit Gaussians in 20 dimensions.

    Class +1 is N((a, ..., a), I) and class -1 is N((-a, ..., -a), I) with a = 2 / sqrt(20); the classes are
    equally likely. The best possible rule, the sign of the sum of the coordinates, errs in 2.3 % of the
    cases.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n, 20)
    y : ndarray of shape (n,)
        Labels -1 and +1.

    See Also
    --------
    svmpath.datasets.ringnorm : One normal class inside another.
    svmpath.datasets.banana : Two crescents.

    References
    ----------
    L. Breiman, "Arcing classifiers", Annals of Statistics 26 (1998).

    Examples
    --------
    >>> from svmpath.datasets import twonorm
    >>> X, y = twonorm(1000, random_state=0)
    >>> X.shape
    (1000, 20)
    >>> bool(np.mean(np.sign(X.sum(axis=1)) != y) < 0.05)
    True
    """
    rng = np.random.default_rng(random_state)
    y = _labels(n, rng)
    X = rng.standard_normal((n, 20)) + y[:, None] * 2 / np.sqrt(20)
    return X, y


def ringnorm(n: int, random_state: Seed = None) -> Sample:
    """Draw Breiman's ringnorm: a wide Gaussian around a narrow one in 20 dimensions.

    Class +1 is N(0, 4 I) and class -1 is N((a, ..., a), I) with a = 2 / sqrt(20), the value used by the sets
    of the Raetsch benchmark; the classes are equally likely.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n, 20)
    y : ndarray of shape (n,)
        Labels -1 and +1.

    See Also
    --------
    svmpath.datasets.twonorm : Two normal classes.
    svmpath.datasets.banana : Two crescents.

    References
    ----------
    L. Breiman, "Arcing classifiers", Annals of Statistics 26 (1998).

    Examples
    --------
    >>> from svmpath.datasets import ringnorm
    >>> X, y = ringnorm(1000, random_state=0)
    >>> float(X[y == 1].std().round(1)), float(X[y == -1].std().round(1))
    (2.0, 1.0)
    """
    rng = np.random.default_rng(random_state)
    y = _labels(n, rng)
    noise = rng.standard_normal((n, 20))
    X = np.where(y[:, None] == 1, 2 * noise, noise + 2 / np.sqrt(20))
    return X, y


def waveform(n: int, random_state: Seed = None) -> Sample:
    """Draw Breiman's waveform in 21 dimensions, the first class against the other two.

    Three triangular waves h1, h2, h3 are mixed in pairs, ``u h + (1 - u) h'`` with u uniform on [0, 1], and
    unit noise is added to each of the 21 coordinates. The pairs (h1, h2), (h1, h3), (h2, h3) are three
    equally likely classes; as in the Raetsch benchmark one of them is set against the others, so that a third
    of the labels is +1.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n, 21)
    y : ndarray of shape (n,)
        Labels -1 and +1.

    See Also
    --------
    svmpath.datasets.twonorm : Two normal classes.
    svmpath.datasets.banana : Two crescents.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees" (1984), section 2.6.2.

    Examples
    --------
    >>> from svmpath.datasets import waveform
    >>> X, y = waveform(3000, random_state=0)
    >>> X.shape, float(np.mean(y == 1).round(1))
    ((3000, 21), 0.3)
    """
    rng = np.random.default_rng(random_state)
    place = np.arange(1, 22)
    waves = np.stack([np.maximum(6 - np.abs(place - centre), 0) for centre in (11, 15, 7)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    kind = rng.integers(3, size=n)
    first, second = pairs[kind].T
    u = rng.random((n, 1))
    X = u * waves[first] + (1 - u) * waves[second] + rng.standard_normal((n, 21))
    return X, np.where(kind == 0, 1, -1)


def banana(n: int, random_state: Seed = None, noise: float = 0.35) -> Sample:
    """Draw two interlocking arcs in the plane, like the set called banana.

    The banana set of the Raetsch benchmark was published as data, without its recipe. This set resembles it
    (two curved, overlapping classes in two dimensions, 45 % of them +1, each coordinate of about unit
    variance) but is not a sample of it: error rates of the two must not be compared.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.
    noise : float
        Standard deviation of the Gaussian noise around the arcs.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Labels -1 and +1.

    See Also
    --------
    svmpath.datasets.ringnorm : One normal class inside another.
    svmpath.datasets.twonorm : Two normal classes.
    svmpath.datasets.waveform : Three kinds of waves.

    Examples
    --------
    >>> from svmpath.datasets import banana
    >>> X, y = banana(200, random_state=0)
    >>> X.shape, np.unique(y).tolist()
    ((200, 2), [-1, 1])
    """
    rng = np.random.default_rng(random_state)
    y = _labels(n, rng, positive=0.45)
    angle = np.pi * rng.random(n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    # The centre of both arcs is (1/2, 1/4); the factor brings the coordinates to about unit variance.
    X = 1.3 * (np.where(y[:, None] == 1, upper, lower) - (0.5, 0.25))
    return X + noise * rng.standard_normal((n, 2)), y


def gaussian_mixture(n: int, random_state: Seed = None, centres: int = 10) -> Sample:
    """Draw two classes in the plane, each a mixture of Gaussians whose centres are drawn too.

    The recipe of Hastie, Tibshirani and Friedman: `centres` centres from N((1, 0), I) for class +1 and as
    many from N((0, 1), I) for class -1; a row is one of its class's centres plus noise of variance 1/5. The
    classes are equally likely. Since the centres are drawn as well, a training and a test set must come from
    one call.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.
    centres : int
        Number of centres of each class.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Labels -1 and +1.

    See Also
    --------
    svmpath.datasets.banana : Two crescents.
    svmpath.datasets.twonorm : Two normal classes.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning" (2009), section 2.3.3.

    Examples
    --------
    >>> from svmpath.datasets import gaussian_mixture
    >>> X, y = gaussian_mixture(100, random_state=0)
    >>> X.shape, np.unique(y).tolist()
    ((100, 2), [-1, 1])
    """
    rng = np.random.default_rng(random_state)
    means = rng.standard_normal((2, centres, 2)) + np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    y = _labels(n, rng)
    X = means[(y + 1) // 2, rng.integers(centres, size=n)] + np.sqrt(0.2) * rng.standard_normal((n, 2))
    return X, y
