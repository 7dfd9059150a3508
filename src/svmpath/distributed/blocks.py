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
from svmpath.row_order import row_keys
from svmpath.solvers.pieces import Pieces
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
    largest : array of shape (d,)
        The largest absolute value of each column, which the keys of rows are made with.
    scaler : StandardScaler or None
    """

    features: FeatureMap
    centre: Array
    dtype: type
    positives: Array | None
    largest: Array
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
    keys : array of shape (n,)
        What a random order of the rows is made of (``svmpath.row_order``).
    positives : array of int or None
    diag : float
        Sum of k(x, x) over the rows.
    trace : float
        Sum of |phi(x)|^2, the same of the low-rank kernel.
    """

    Z: Array
    target: Array
    s: Array
    keys: Array
    positives: Array | None
    diag: float
    trace: float

    @property
    def Y(self) -> Array:
        """The targets of all machines, of shape (n, k); -1 and +1 for classification."""
        if self.positives is None:
            return self.target[:, None]
        return np.where(self.target[:, None] == self.positives, 1.0, -1.0)

    def columns(self, machines: Sequence[int]) -> tuple[Array, Array]:
        """The targets and the weights of some machines, each of shape (n, number of machines)."""
        Y = self.Y[:, machines]
        return Y, np.broadcast_to(self.s[:, None], Y.shape)

    def parts(self, which: Array | None = None) -> Iterator[tuple[Any, Array]]:
        """Some rows of Z in double precision, a part at a time, and which they are."""
        for start in range(0, len(self.Z) if which is None else len(which), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            rows = part if which is None else which[part]
            yield rows, self.Z[rows].astype(float, copy=False)

    def matvec(self, Theta: Array) -> Array:
        """A theta for each row of Theta; of shape (n, number of thetas)."""
        F = np.empty((len(self.Z), len(Theta)))
        for rows, Z in self.parts():
            F[rows] = Z @ Theta[:, :-1].T
        return F + Theta[:, -1]

    def rmatvec(self, V: Array) -> Array:
        """A' V."""
        total = np.zeros((self.Z.shape[1] + 1, V.shape[1]))
        for rows, Z in self.parts():
            total[:-1] += Z.T @ V[rows]
        total[-1] = V.sum(axis=0)
        return total

    def moments(self, which: Array, weights: Array) -> Array:
        """A' W A of some of the rows."""
        r, done = self.Z.shape[1], 0
        G = np.zeros((r + 1, r + 1))
        for _, part in self.parts(which):
            w, done = weights[done : done + len(part)], done + len(part)
            G[-1, :-1] += w @ part
            B: Array = part * np.sqrt(w)[:, None] if np.any(w != 1.0) else part
            G[:-1, :-1] += B.T @ B
        G[:-1, -1] = G[-1, :-1]
        G[-1, -1] = weights.sum()
        return G

    def norms(self, which: Array, factor: Array) -> Array:
        """|A factor|^2 of some rows; with weights leverages, if ``factor`` is U^-1 of M = U'U, or estimates of them."""
        images = [part @ factor[:-1] + factor[-1] for _, part in self.parts(which)]
        return np.concatenate([np.zeros(0), *(np.einsum("ij,ij->i", V, V) for V in images)])


def make_block(X: Any, target: Array, s: Array, recipe: Recipe) -> Block:
    """The block of one chunk: rows are compared with the landmarks some at a time."""
    Z: Array = np.empty((len(target), recipe.width - 1), dtype=recipe.dtype)
    keys, diag, trace = np.empty(len(target), dtype=np.uint64), 0.0, 0.0
    kernel = getattr(recipe.features, "kernel", None)
    with blas_threads(0):
        for start in range(0, len(target), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            part = X[rows] if recipe.scaler is None else recipe.scaler.transform(X[rows])
            keys[rows] = row_keys(part, recipe.largest)
            phi = recipe.features.compute(part)
            trace += float(np.einsum("ij,ij->", phi, phi))
            diag += float(kernel.diag(part).sum()) if kernel is not None else float(len(part))
            Z[rows] = phi - recipe.centre
    return Block(Z, target, s, keys, recipe.positives, diag, trace)


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

    def without(self, other: Moments) -> Moments:
        """Of the other rows."""
        names = self.__dataclass_fields__
        return Moments(**{name: getattr(self, name) - getattr(other, name) for name in names})

    @property
    def usual_weight(self) -> float:
        """The mean of the weights, weighted by themselves: rows without weight do not count."""
        return float(self.weights / self.G[-1, -1])


def moments_of(block: Block, rows: Array) -> Moments:
    """The moments of some rows of a chunk, which have a weight."""
    s = np.zeros(len(block.s))
    s[rows] = block.s[rows]
    Y = block.Y
    SY = s[:, None] * Y
    squares = np.einsum("ij,ij->j", SY, Y)
    return Moments(block.moments(rows, s[rows]), block.rmatvec(SY), squares, float(s @ s), block.diag, block.trace)


def sum_moments(block: Block) -> list[Moments]:
    """The moments of all rows of a chunk."""
    with blas_threads(0):
        return [moments_of(block, np.flatnonzero(block.s > 0))]


@dataclass(frozen=True)
class Evaluate(Sized):
    """A question about one machine: what is it like at theta, and what has changed since base, or in all?"""

    loss: Pieces
    machine: int
    theta: Array
    base: Array | None

    @property
    def thetas(self) -> Array:
        """Where decision values are needed."""
        return np.array([self.theta if self.base is None else self.base, self.theta])

    def on(self, block: Block, y: Array, s: Array, F: Array, gradient: Array) -> Evaluation:
        """The answer of a chunk, from its decision values there and A' S z L'(u) / c*."""
        loss, u = self.loss, [self.loss.u(y, f) for f in F.T]
        before, now = (loss.region(each) for each in u)
        moved = np.flatnonzero(((before != now) | (self.base is None)) & (s > 0))
        rise = loss.of_regions(loss.shares, now[moved])
        if self.base is not None:
            rise = rise - loss.of_regions(loss.shares, before[moved])
        rise = s[moved] * rise
        G = None
        if len(moved):
            came, went = rise > 0, rise < 0
            G = block.moments(moved[came], rise[came]) - block.moments(moved[went], -rise[went])
        # How far each has come from the piece that it was on.
        k = before[moved].astype(np.int8)
        far = np.maximum(loss.low[k] - u[1][moved], u[1][moved] - loss.high[k]).max(initial=0.0)
        top = np.abs(F[moved, 1]).max(initial=0.0)
        return Evaluation(float(s @ loss.value(u[1])), gradient, len(moved), float(far), float(top), G)


@dataclass(frozen=True)
class Evaluation(Sized):
    """J without its penalty, A' S z L'(u) / c*, and what differs from the pieces at base.

    Attributes
    ----------
    loss : float
    gradient : array of shape (r + 1,)
    moved : int
        Rows that are on another piece than at base.
    far, top : float
        How far they are from their piece at base, and the largest |f| among them.
    G : array of shape (r + 1, r + 1) or None
        A' W A minus the same at base; None if no row has moved.
    """

    loss: float
    gradient: Array
    moved: int
    far: float
    top: float
    G: Array | None

    def __add__(self, other: Evaluation) -> Evaluation:
        G = other.G if self.G is None else self.G if other.G is None else self.G + other.G
        far, top = max(self.far, other.far), max(self.top, other.top)
        sums = self.loss + other.loss, self.gradient + other.gradient, self.moved + other.moved
        return Evaluation(*sums, far, top, G)


@dataclass(frozen=True)
class LossesAlong(Sized):
    """A question about one machine: J without its penalty at some steps from one theta to another."""

    loss: Pieces
    machine: int
    start: Array
    end: Array
    steps: Array

    @property
    def thetas(self) -> Array:
        """Where decision values are needed."""
        return np.array([self.start, self.end])

    def on(self, block: Block, y: Array, s: Array, F: Array, gradient: Array) -> Array:
        """The answer of a chunk; the gradient is not asked for."""
        start, end = (self.loss.u(y, f) for f in F.T)
        return np.array([s @ self.loss.value(start + t * (end - start)) for t in self.steps])


Question = Evaluate | LossesAlong


def answer(block: Block, questions: list[Question]) -> list[Any]:
    """The answers of one chunk to all questions: its features are read once for all of them."""
    with blas_threads(0):
        loss, Theta = questions[0].loss, np.vstack([question.thetas for question in questions])
        Y, S = block.columns([question.machine for question in questions])
        F, gradients = np.empty((len(Y), len(Theta))), np.zeros((Theta.shape[1], len(questions)))
        for rows, Z in block.parts():
            F[rows] = Z @ Theta[:, :-1].T + Theta[:, -1]
            slopes = loss.derivative(loss.u(Y[rows], F[rows, 1::2]).ravel()).reshape(Y[rows].shape)
            pushed = loss.signed(Y[rows], S[rows] * slopes) / loss.largest
            gradients[:-1] += Z.T @ pushed
            gradients[-1] += pushed.sum(axis=0)
        parts = zip(questions, Y.T, S.T, np.split(F, len(questions), axis=1), gradients.T, strict=True)
        return [question.on(block, *part) for question, *part in parts]
