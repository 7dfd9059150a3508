"""Random Fourier features: K ~ Z Z' from random frequencies.

A kernel that depends only on the difference is the mean of a cosine over a distribution of frequencies w (Bochner)::

    k(x, z) = E cos(w'(x - z)) = E [cos(w'x) cos(w'z) + sin(w'x) sin(w'z)]

With m frequencies w_1..w_m drawn from that distribution, Z has two columns for each::

    phi(x) = m^(-1/2) (cos(w_1'x), .., cos(w_m'x), sin(w_1'x), .., sin(w_m'x))

phi(x)'phi(z) has mean k(x, z), variance (1 + k(2x, 2z) - 2 k(x, z)^2) / (2 m), and is 1 at x = z. The parameters of
the kernel only scale the frequencies: w = scale * g, with g drawn from the seed alone. So paths over gamma are smooth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process import kernels as gp

from svmpath.gram.approximation import Approximation
from svmpath.gram.features import Factor, FeatureMap
from svmpath.kernels import ARD, RBF, GPKernel, Kernel, Laplacian
from svmpath.row_order import random_order
from svmpath.validation import is_whole_number

if TYPE_CHECKING:
    from svmpath.gram.low_rank import LowRankGram

Array = np.ndarray

_SAMPLED_ROWS = 400  # rows between which kernel values are compared for the residual: 80 000 pairs


@dataclass(frozen=True)
class RandomFourier(Approximation):
    """K ~ Z Z' from random Fourier features, which do not depend on the data and are quick to compute.

    They exist for the kernels rbf, laplacian and ARD, and for scikit-learn's RBF and Matern kernels. The error of a
    kernel value falls like ``1 / sqrt(rank)``. A Nystroem approximation of the same rank is nearly always more
    accurate, but takes longer to compute. ``residual`` is not the trace residual, because the diagonal is exact for any
    rank. It is the relative Frobenius error ``||K - Z Z'|| / ||K||``, measured on 400 random rows if there are more.

    Parameters
    ----------
    rank : int
        Number of features. It must be even: there is a cosine and a sine for each of ``rank / 2`` random frequencies.
        The directions of the frequencies are the same for all values of the kernel parameters.

    See Also
    --------
    svmpath.gram.Nystroem : Landmarks.
    svmpath.gram.make_gram : The kernel matrix of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import RandomFourier, make_gram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> gram = make_gram(X, RBF(0.1), rank=RandomFourier(1000))
    >>> gram.rank, gram.residual < 0.1
    (1000, True)
    """

    rank: int

    def __post_init__(self) -> None:
        if not is_whole_number(self.rank, least=2) or self.rank % 2:
            raise ValueError(
                "The rank of RandomFourier must be an even whole number >= 2 (a cosine and a sine for each random "
                f"frequency), got {self.rank!r}."
            )

    def check(self, kernel: Kernel, X: Any) -> None:
        frequencies(kernel, X.shape[1], 1, np.random.default_rng(0))

    def factor(self, kernel: Kernel, X: Any, seed: int) -> Factor:
        W = frequencies(kernel, X.shape[1], int(self.rank) // 2, np.random.default_rng(seed))
        features = FourierFeatures(W)
        return Factor(features(X), features)

    def columns(self, n: int) -> int:
        return int(self.rank)

    def residual(self, gram: LowRankGram) -> float:
        """||K - Z Z'|| / ||K|| in the Frobenius norm, from the pairs of some rows."""
        n, m = gram.n, min(gram.n, _SAMPLED_ROWS)
        rows = np.sort(random_order(gram.own_rows, seed=gram.seed)[:m])
        K, Z = gram.kernel(gram.own_rows[rows]), gram.Z[rows]
        # The diagonals are 1. Off the diagonal, the sampled pairs represent all pairs.
        off = n * (n - 1) / max(m * (m - 1), 1) * (1.0 - np.eye(m))
        return float(np.sqrt((off * (K - Z @ Z.T) ** 2).sum() / (n + (off * K**2).sum())))


@dataclass(frozen=True)
class FourierFeatures(FeatureMap):
    """x -> m^(-1/2) (cos(x'W), sin(x'W)) with one column of W for each of m frequencies."""

    W: Array

    @property
    def rank(self) -> int:
        return 2 * self.W.shape[1]

    def compute(self, X: Any) -> Array:
        phase = np.asarray(X @ self.W)
        return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(self.W.shape[1])


@singledispatch
def frequencies(kernel: Any, d: int, m: int, rng: np.random.Generator) -> Array:
    """The (d, m) array of m frequencies, one per column, drawn from the spectral distribution of the kernel.

    A kernel with such a distribution registers how to draw from it: by scaling numbers that do not depend on its
    parameters.
    """
    raise ValueError(
        f"RandomFourier works for the kernels rbf, laplacian and ARD, and scikit-learn's RBF and Matern, not for "
        f"{kernel!r}; use gram.Nystroem."
    )


@frequencies.register(RBF)
def _(kernel: RBF, d: int, m: int, rng: np.random.Generator) -> Array:
    """exp(-gamma |t|^2): normal with variance 2 gamma."""
    return np.sqrt(2.0 * kernel.gamma) * rng.standard_normal((d, m))


@frequencies.register(ARD)
def _(kernel: ARD, d: int, m: int, rng: np.random.Generator) -> Array:
    """exp(-sum_j gamma_j t_j^2): normal with variance 2 gamma_j in feature j."""
    if len(kernel.gamma) != d:
        raise ValueError(
            f"An ARD kernel needs one gamma per column, but this one has {len(kernel.gamma)} gammas and the data have "
            f"{d} columns."
        )
    return np.sqrt(2.0 * np.array(kernel.gamma))[:, None] * rng.standard_normal((d, m))


@frequencies.register(Laplacian)
def _(kernel: Laplacian, d: int, m: int, rng: np.random.Generator) -> Array:
    """exp(-gamma sum_j |t_j|): independent Cauchy variables of scale gamma."""
    return kernel.gamma * rng.standard_cauchy((d, m))


@frequencies.register(GPKernel)
def _(kernel: GPKernel, d: int, m: int, rng: np.random.Generator) -> Array:
    return frequencies(kernel.kernel, d, m, rng)


@frequencies.register(gp.RBF)
def _(kernel: gp.RBF, d: int, m: int, rng: np.random.Generator) -> Array:
    """exp(-|t / length|^2 / 2): normal with deviation 1 / length."""
    return rng.standard_normal((d, m)) / np.reshape(kernel.length_scale, (-1, 1))


@frequencies.register(gp.Matern)
def _(kernel: gp.Matern, d: int, m: int, rng: np.random.Generator) -> Array:
    """Student's t with 2 nu degrees of freedom: normal frequencies, each divided by one and the same random length."""
    normal = rng.standard_normal((d, m)) / np.reshape(kernel.length_scale, (-1, 1))
    return normal if np.isinf(kernel.nu) else normal * np.sqrt(2.0 * kernel.nu / rng.chisquare(2.0 * kernel.nu, m))
