"""The features of one chunk, and the sums over its rows that machines are found from.

In features Z (K ~ Z Z') minus a centre, A = [Z, 1], theta = (w, b) and f = A theta, as in ``solvers.feature_newton``.
All machines of a fit share Z and the weights s; each has its own targets y. Everything here works on the rows of one
chunk and returns numbers that add up over chunks, of size r^2 at most: nothing here knows of Dask.

Rows are looked at some thousands at a time, in double precision whatever Z is stored in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from svmpath.gram.features import FeatureMap
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_ROWS_AT_ONCE = 2048  # rows whose features are held in double precision at a time


class Sized:
    """Knows how large its arrays are. Schedulers ask for it: what is small is moved to where there is time for it."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(size_of(value) for value in vars(self).values())


def size_of(value: Any) -> int:
    """Bytes of an array, of the entries of a list, or of an object."""
    if isinstance(value, list):
        return sum(size_of(each) for each in value)
    return int(value.nbytes) if isinstance(value, np.ndarray) else sys.getsizeof(value)


@dataclass(frozen=True)
class Recipe(Sized):
    """How rows of X become rows of a block.

    Attributes
    ----------
    features : FeatureMap
    centre : array of shape (r,)
        Subtracted from the features: the offset takes up what that changes, and a far-away origin costs no digits.
    dtype : type
        In which features are held.
    positives : array of int of shape (k,) or None
        The class that is +1 for each machine; None for regression.
    scaler : StandardScaler or None
    """

    features: FeatureMap
    centre: Array
    dtype: type
    positives: Array | None
    scaler: Any = None

    @property
    def width(self) -> int:
        """Number of entries of theta."""
        return len(self.centre) + 1


@dataclass(frozen=True)
class Block(Sized):
    """The rows of one chunk.

    Attributes
    ----------
    Z : array of shape (n, r)
        Features minus the centre.
    target : array of shape (n,)
        The number of each row's class, or the targets of a regression.
    s : array of shape (n,)
        Weights.
    positives : array of int or None
    diag : float
        Sum of k(x, x) over the rows.
    trace : float
        Sum of |phi(x)|^2, the same of the low-rank kernel.
    """

    Z: Array
    target: Array
    s: Array
    positives: Array | None
    diag: float
    trace: float

    def y(self, machine: int) -> Array:
        """The targets of a machine; -1 and +1 for classification."""
        if self.positives is None:
            return self.target
        return np.where(self.target == self.positives[machine], 1.0, -1.0)

    def parts(self, which: Array | None = None) -> Iterator[tuple[Any, Array]]:
        """Some rows of Z in double precision, a part at a time, and which they are."""
        n = len(self.Z) if which is None else len(which)
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = (
                slice(start, min(start + _ROWS_AT_ONCE, n)) if which is None else which[start : start + _ROWS_AT_ONCE]
            )
            yield rows, self.Z[rows].astype(float, copy=False)

    def decide(self, Theta: Array) -> Array:
        """A theta for each row of Theta; of shape (n, number of thetas)."""
        F = np.empty((len(self.Z), len(Theta)))
        for rows, Z in self.parts():
            F[rows] = Z @ Theta[:, :-1].T
        return F + Theta[:, -1]

    def pull(self, V: Array) -> Array:
        """A' V."""
        total = np.zeros((self.Z.shape[1] + 1, V.shape[1]))
        for rows, Z in self.parts():
            total[:-1] += Z.T @ V[rows]
        total[-1] = V.sum(axis=0)
        return total

    def moments(self, which: Array) -> Array:
        """A' S A of some of the rows."""
        r = self.Z.shape[1]
        G = np.zeros((r + 1, r + 1))
        for rows, part in self.parts(which):
            s = self.s[rows]
            G[-1, :-1] += s @ part
            B: Array = part * np.sqrt(s)[:, None] if np.any(s != 1.0) else part
            G[:-1, :-1] += B.T @ B
        G[:-1, -1] = G[-1, :-1]
        G[-1, -1] = self.s[which].sum()
        return G


def make_block(X: Any, target: Array, s: Array, recipe: Recipe) -> Block:
    """The block of one chunk: rows are compared with the landmarks some at a time."""
    Z: Array = np.empty((len(target), recipe.width - 1), dtype=recipe.dtype)
    diag = trace = 0.0
    kernel = getattr(recipe.features, "kernel", None)
    with blas_threads(0):
        for start in range(0, len(target), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            part = X[rows] if recipe.scaler is None else recipe.scaler.transform(X[rows])
            phi = recipe.features.compute(part)
            trace += float(np.einsum("ij,ij->", phi, phi))
            diag += float(kernel.diag(part).sum()) if kernel is not None else float(len(part))
            Z[rows] = phi - recipe.centre
    return Block(Z, target, s, recipe.positives, diag, trace)


# --- sums that add up over chunks ------------------------------------------------------------------------------------


def total(parts: Sequence[list[Any]]) -> list[Any]:
    """The sum of what several chunks answered, entry by entry."""
    return [reduce(add, each) for each in zip(*parts, strict=True)]


@dataclass(frozen=True)
class Moments(Sized):
    """Over all rows: A' S A; A' S y and the sum of s y^2 of each machine; that of s^2; the traces of both kernels."""

    G: Array
    c: Array
    squares: Array
    weights: float
    diag: float
    trace: float

    def __add__(self, other: Moments) -> Moments:
        names = self.__dataclass_fields__
        return Moments(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def usual_weight(self) -> float:
        """The mean of the weights, weighted by themselves: rows without weight do not count."""
        return float(self.weights / self.G[-1, -1])


def sum_moments(block: Block) -> list[Moments]:
    """The moments of all rows of a chunk."""
    with blas_threads(0):
        machines = 1 if block.positives is None else len(block.positives)
        Y = np.column_stack([block.y(machine) for machine in range(machines)])
        SY = block.s[:, None] * Y
        G = block.moments(np.flatnonzero(block.s > 0))
        return [
            Moments(G, block.pull(SY), np.einsum("ij,ij->j", SY, Y), float(block.s @ block.s), block.diag, block.trace)
        ]


@dataclass(frozen=True)
class Evaluate(Sized):
    """A question about one machine of the squared hinge: what is it like at theta, and what has changed since base?

    With E = {y f < 1} at theta, and E' at base, the answer is an :class:`Evaluation`.
    """

    machine: int
    theta: Array
    base: Array

    @property
    def thetas(self) -> Array:
        """Where decision values are needed."""
        return np.array([self.base, self.theta])

    def on(self, block: Block, F: Array, pull: Array) -> Evaluation:
        """The answer of a chunk, from its decision values there and A_E' S (y - f)."""
        y, s, f = block.y(self.machine), block.s, F[:, 1]
        before, E = ((y * each < 1.0) & (s > 0) for each in F.T)
        slack = np.where(E, 1.0 - y * f, 0.0)
        moved = np.flatnonzero(before != E)
        G = None
        if len(moved):
            came, went = moved[E[moved]], moved[~E[moved]]
            G = block.moments(came) - block.moments(went)
        far, top = np.abs(slack_of(y, f, moved)), np.abs(f[moved])
        return Evaluation(
            float(s @ slack**2),
            pull,
            len(moved),
            float(far.max(initial=0.0)),
            float(top.max(initial=0.0)),
            G,
        )


def slack_of(y: Array, f: Array, which: Array) -> Array:
    """1 - y f of some rows."""
    return 1.0 - y[which] * f[which]


@dataclass(frozen=True)
class Evaluation(Sized):
    """J without its penalty, A_E' S (y - f), and what differs between E and E'.

    Attributes
    ----------
    loss : float
    pull : array of shape (r + 1,)
    moved : int
        Rows that are in one of E and E' only.
    far, top : float
        The largest |1 - y f| and the largest |f| among them.
    G : array of shape (r + 1, r + 1) or None
        A_E' S A_E minus the same of E'; None if no row has moved.
    """

    loss: float
    pull: Array
    moved: int
    far: float
    top: float
    G: Array | None

    def __add__(self, other: Evaluation) -> Evaluation:
        G = other.G if self.G is None else self.G if other.G is None else self.G + other.G
        return Evaluation(
            self.loss + other.loss,
            self.pull + other.pull,
            self.moved + other.moved,
            max(self.far, other.far),
            max(self.top, other.top),
            G,
        )


@dataclass(frozen=True)
class LossesAlong(Sized):
    """A question about one machine: J without its penalty at some steps from one theta to another."""

    machine: int
    start: Array
    end: Array
    steps: Array

    @property
    def thetas(self) -> Array:
        """Where decision values are needed."""
        return np.array([self.start, self.end])

    def on(self, block: Block, F: Array, pull: Array) -> Array:
        """The answer of a chunk; the gradient is not asked for."""
        y, s = block.y(self.machine), block.s
        slack, rate = 1.0 - y * F[:, 0], -y * (F[:, 1] - F[:, 0])
        return np.array([s @ np.maximum(slack + t * rate, 0.0) ** 2 for t in self.steps])


Question = Evaluate | LossesAlong


def answer(block: Block, questions: list[Question]) -> list[Any]:
    """The answers of one chunk to all questions: its features are read once for all of them."""
    with blas_threads(0):
        Theta = np.vstack([question.thetas for question in questions])
        Y = np.column_stack([block.y(question.machine) for question in questions])
        F, pulls = np.empty((len(Y), len(Theta))), np.zeros((Theta.shape[1], len(questions)))
        for rows, Z in block.parts():
            F[rows] = Z @ Theta[:, :-1].T + Theta[:, -1]
            left = _left(Y[rows], F[rows, 1::2], block.s[rows, None])
            pulls[:-1] += Z.T @ left
            pulls[-1] += left.sum(axis=0)
        return [question.on(block, F[:, 2 * at : 2 * at + 2], pulls[:, at]) for at, question in enumerate(questions)]


def _left(Y: Array, F: Array, s: Array) -> Array:
    """s (y - f) of rows inside the margin, else zero."""
    return np.where((Y * F < 1.0) & (s > 0), s * (Y - F), 0.0)
