"""Data as users have them, drawn at random from a seed.

Tables hold few-valued columns that were standardised and stored with few digits, rows that repeat or nearly do, counts
and prices, columns of any scale, one-hot blocks, dates. ``KINDS`` maps a name to what draws the rows; ``make`` adds a
target and weights. Every kind can be asked for two classes, several classes or numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

TARGETS = ("labels", "classes", "numbers")


@dataclass(frozen=True)
class Rows:
    """Rows, and for each the number of the row whose label it has to share (None: labels are free)."""

    X: np.ndarray
    same: np.ndarray | None = None


@dataclass(frozen=True)
class Data:
    """One data set.

    Attributes
    ----------
    kind : str
        The name in ``KINDS``.
    X : array of shape (n, d)
        For the kind "precomputed": the kernel matrix.
    y : array of shape (n,)
        -1 and 1, whole numbers from 0, or amounts.
    s : array of shape (n,) or None
        Weights.
    """

    kind: str
    X: np.ndarray
    y: np.ndarray
    s: np.ndarray | None

    @property
    def is_kernel(self) -> bool:
        """Whether X holds kernel values."""
        return self.kind == "precomputed"

    @property
    def weights(self) -> np.ndarray:
        """Weights, one for each row."""
        return np.ones(len(self.y)) if self.s is None else self.s

    def take(self, rows) -> Data:
        """These rows only."""
        X = self.X[np.ix_(rows, rows)] if self.is_kernel else self.X[rows]
        return replace(self, X=X, y=self.y[rows], s=None if self.s is None else self.s[rows])

    def against(self, rows, others) -> np.ndarray:
        """The rows as the machine of the others is asked about them."""
        return self.X[np.ix_(rows, others)] if self.is_kernel else self.X[rows]


KINDS: dict[str, Callable[[np.random.Generator, int], Rows]] = {}
# A column of 1e6 beside one of 1e-6, a date beside a share, a mean of a thousand deviations: whoever does not scale
# them may be asked to.
UNSCALED = ("scales", "dates", "far_from_zero")


def kind(function):
    KINDS[function.__name__] = function
    return function


def standardised(X):
    """Columns of mean zero and deviation one; constant ones zero."""
    deviation, mean = X.std(axis=0), X.mean(axis=0)
    return (X - mean) / np.where(deviation > 1e-12 * np.abs(mean), deviation, 1.0)


def few_values(rng, n):
    """Columns of 2 to 6 whole numbers, as from a questionnaire."""
    d = int(rng.integers(1, 8))
    return np.column_stack([rng.integers(0, rng.integers(2, 7), size=n) for _ in range(d)]).astype(float)


@kind
def normal(rng, n):
    return Rows(rng.normal(size=(n, int(rng.integers(1, 6)))))


@kind
def few_valued(rng, n):
    return Rows(standardised(few_values(rng, n)))


@kind
def few_valued_float32(rng, n):
    return Rows(standardised(few_values(rng, n)).astype(np.float32).astype(float))


@kind
def few_valued_7_decimals(rng, n):
    return Rows(np.round(standardised(few_values(rng, n)), 7))


@kind
def near_duplicates(rng, n):
    """Some rows again, at any distance from 1e-16 to 1e-6; half of the time with the same label."""
    X, source = repeat(rng, rng.normal(size=(n, int(rng.integers(1, 5)))))
    moved = source != np.arange(n)
    X[moved] += 10.0 ** rng.uniform(-16, -6, size=(moved.sum(), 1)) * rng.choice([-1.0, 1.0], size=X[moved].shape)
    return Rows(X, source if rng.random() < 0.5 else None)


@kind
def repeated(rng, n):
    """Some rows again, with the same label."""
    X = standardised(few_values(rng, n)) if rng.random() < 0.5 else rng.normal(size=(n, int(rng.integers(1, 5))))
    return Rows(*repeat(rng, X))


@kind
def contradictory(rng, n):
    """Some rows again, whatever their label."""
    return Rows(repeat(rng, rng.normal(size=(n, int(rng.integers(1, 5)))))[0])


@kind
def few_distinct(rng, n):
    """Two to eight rows, repeated many times; standardised in any precision, so that gaps between rows are odd."""
    few = rng.normal(size=(int(rng.integers(2, 9)), int(rng.integers(1, 5))))
    few = np.round(few) if rng.random() < 0.5 else few
    X = standardised(few[rng.integers(0, len(few), size=n)])
    return Rows(X.astype(np.float32).astype(float) if rng.random() < 0.5 else X)


@kind
def counts(rng, n):
    """Skewed counts with many zeros, as they are or standardised."""
    d = int(rng.integers(1, 7))
    X = rng.poisson(rng.exponential(size=(n, d)) * 10.0 ** rng.uniform(-1, 2, size=d)).astype(float)
    X *= rng.random(X.shape) < rng.uniform(0.2, 1.0, size=d)
    return Rows(standardised(X) if rng.random() < 0.5 else np.log1p(X) if rng.random() < 0.5 else X)


@kind
def prices(rng, n):
    """Amounts with two decimals, skewed, some zero; standardised or in logarithms."""
    X = np.round(np.exp(rng.normal(3, 1.5, size=(n, int(rng.integers(1, 6))))), 2)
    X *= rng.random(X.shape) < 0.8
    return Rows(standardised(X) if rng.random() < 0.7 else np.log1p(X))


@kind
def scales(rng, n):
    """Columns of scale 1e-6 to 1e6, as they are."""
    d = int(rng.integers(2, 6))
    return Rows(rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, size=d))


@kind
def one_hot(rng, n):
    """Blocks of columns with one 1 each, sometimes with a column of numbers, sometimes standardised, or sparse."""
    blocks = [np.eye(k)[rng.integers(0, k, size=n)] for k in rng.integers(2, 7, size=int(rng.integers(1, 5)))]
    if rng.random() < 0.4:
        blocks.append(rng.normal(size=(n, 1)))
    X = np.hstack(blocks)
    if rng.random() < 0.3:
        return Rows(standardised(X))
    return Rows(sparse.csr_matrix(X) if rng.random() < 0.2 else X)


@kind
def dates(rng, n):
    """A day number, a year and a time stamp beside ordinary columns, as they are."""
    day = rng.integers(730000, 740000, size=n).astype(float)
    columns = [day, np.floor(day / 365.2425), 86400.0 * (day - 719163)][: int(rng.integers(1, 4))]
    return Rows(np.column_stack([*columns, rng.normal(size=(n, int(rng.integers(0, 3))))]))


@kind
def dates_standardised(rng, n):
    return Rows(standardised(dates(rng, n).X))


@kind
def grid(rng, n):
    """Ties on a small grid."""
    return Rows(rng.integers(-2, 3, size=(n, int(rng.integers(1, 5)))).astype(float))


@kind
def wide(rng, n):
    """Many more columns than rows."""
    n = min(n, 20)
    X = rng.normal(size=(n, int(rng.integers(5 * n, 12 * n))))
    return Rows(X if rng.random() < 0.6 else np.sign(X))


@kind
def long(rng, n):
    """Many more rows than columns, rounded as measured."""
    return Rows(np.round(rng.normal(size=(3 * n, int(rng.integers(1, 3)))), int(rng.integers(1, 4))))


@kind
def constant_columns(rng, n):
    X = rng.normal(size=(n, int(rng.integers(2, 6))))
    X[:, rng.random(X.shape[1]) < 0.5] = rng.choice([0.0, 1.0, 7.3, 50.0])
    return Rows(X)


@kind
def far_from_zero(rng, n):
    return Rows(rng.normal(size=(n, int(rng.integers(1, 5)))) + 10.0 ** rng.uniform(1, 3))


@kind
def precomputed(rng, n):
    """Kernel values of five groups of rows; within a group 1 - 2e-14, and the smallest eigenvalue a little below 0."""
    n = int(rng.choice([n, 20]))
    group = rng.integers(0, 5, size=n)
    few = rng.normal(size=(5, 2))
    K = np.exp(-((few[:, None] - few[None]) ** 2).sum(axis=2) * 10.0 ** rng.uniform(-1, 1))[np.ix_(group, group)]
    within = group[:, None] == group[None]
    K[within] = 1.0 - 2e-14 * rng.random() - 2e-14 * rng.random(within.sum())
    K = np.tril(K) + np.tril(K, -1).T
    np.fill_diagonal(K, 1.0)
    return Rows(K, group if rng.random() < 0.3 else None)


def repeat(rng, X):
    """Rows with some replaced by copies of others, and where each row was taken from."""
    n = len(X)
    first = int(rng.integers(max(2, n // 4), n))
    source = np.concatenate([np.arange(first), rng.integers(0, first, size=n - first)])
    return X[source].copy(), source


# --- targets and weights ---------------------------------------------------------------------------------------------


def signal(rng, X):
    """A number for each row that its columns know something about, of deviation one."""
    X = X.toarray() if sparse.issparse(X) else X
    X = standardised(X)
    f = X @ rng.normal(size=X.shape[1])
    if rng.random() < 0.4:
        f = f + np.abs(X[:, 0]) * rng.normal()
    deviation = f.std()
    return f / deviation if deviation > 1e-12 else f


def draw_labels(rng, X):
    """A rule with noise or noise alone, balanced, unbalanced, or with one or two rows of a class."""
    n = X.shape[0]
    noisy = signal(rng, X) + rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n)
    way = rng.choice(["half", "half", "half", "unbalanced", "tiny", "alternating", "separable"])
    if way == "alternating":
        return np.where(np.arange(n) % 2, 1.0, -1.0)
    if way == "separable":
        noisy = signal(rng, X)
    share = {"unbalanced": 0.9, "tiny": 1.0 - 1.5 / n}.get(way, 0.5)
    return np.where(noisy > np.quantile(noisy, share), 1.0, -1.0) * rng.choice([-1.0, 1.0])


def draw_classes(rng, X):
    """Three or four classes, numbered."""
    noisy = signal(rng, X) + 0.5 * rng.normal(size=X.shape[0])
    return np.searchsorted(np.quantile(noisy, np.sort(rng.uniform(0.1, 0.9, size=rng.integers(2, 4)))), noisy)


def draw_numbers(rng, X):
    """Amounts: noisy, whole, on a grid of tenths, skewed with zeros, large or small."""
    f = signal(rng, X) + rng.choice([0.01, 0.3, 1.0]) * rng.normal(size=X.shape[0])
    way = rng.choice(["plain", "plain", "whole", "tenths", "skewed", "large", "small"])
    return {
        "plain": f,
        "whole": np.round(2.0 * f),
        "tenths": np.round(f, 1),
        "skewed": np.maximum(np.round(np.exp(f) - 1.0, 2), 0.0),
        "large": 1e3 * f,
        "small": 1e-2 * f,
    }[str(way)]


def draw_weights(rng, n):
    """None, whole numbers, zeros among ones, or very uneven ones."""
    way = rng.choice(["none", "none", "none", "whole", "zeros", "uneven"])
    if way == "none":
        return None
    if way == "whole":
        return rng.integers(1, 5, size=n).astype(float)
    return (rng.random(n) < 0.7).astype(float) if way == "zeros" else 10.0 ** rng.uniform(-3, 2, size=n)


def draw_size(rng):
    """Mostly 10 to 40 rows, now and then 100."""
    return 100 if rng.random() < 0.03 else int(rng.integers(10, 41))


def make(name: str, rng: np.random.Generator, target: str, n: int | None = None) -> Data:
    """A data set of one of ``KINDS``: each class has two rows of positive weight at least."""
    rows = KINDS[name](rng, draw_size(rng) if n is None else n)
    X, n = rows.X, rows.X.shape[0]
    y = {"labels": draw_labels, "classes": draw_classes, "numbers": draw_numbers}[target](rng, X)
    if rows.same is not None:
        y = y[rows.same]
    s = draw_weights(rng, n)
    if target != "numbers":
        y, s = _with_two_of_each(rng, y, s, {"labels": [-1.0, 1.0], "classes": [0, 1, 2]}[target])
    elif s is not None:
        s[:3] = 1.0
    return Data(name, X, y, s)


def _with_two_of_each(rng, y, s, labels):
    """Labels and weights with two counted rows of every label, at the cost of some rows."""
    y, order = y.copy(), rng.permutation(len(y))
    for label in labels:
        own = np.flatnonzero(y == label)[:2]
        if len(own) < 2:
            free = [i for i in order if np.count_nonzero(y == y[i]) > 2][: 2 - len(own)]
            y[free] = label
            own = np.append(own, np.asarray(free, dtype=int))
        if s is not None:
            s[own] = np.maximum(s[own], 1.0)
    return y, s
