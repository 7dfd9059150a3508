"""How far a Nystroem least squares machine can be from the exact one: Ding & Liao's model approximation error bound.

For the exact machine f and the machine f' fitted with K~ instead of K and expanded on the true kernel, write
E = K - K~, kappa = max k(x, x), mu = 1 / (2 C), mu0 = mu / n.

Theorem 3 takes the offset of both machines to be the same constant zeta. Then, for y in {-1, +1},

    |f'(x) - f(x)| <= kappa (1 + |zeta|) / (n mu0^2) * ||E||_2                                     (their eq. 24)

and bounds ||E||_2 <= ||E||_F, with probability 1 - delta over c columns drawn uniformly, by

    ||K - K_k||_F + epsilon [ (n/c) sum_{D(c)} K_ii ( sqrt(n sum K_ii^2) + eta max(n K_ii) ) ]^1/2

where c >= 64 k / epsilon^4 and eta = sqrt(log(2/delta) g(c, n-c) / c). An epsilon below one needs c > 64 k; with a
larger one the bound on ||E|| exceeds ||K|| itself where K has a unit diagonal. It is a guarantee of order, not an
estimate.

The offset can be kept, and weights too. With R = diag(sqrt(s)) and P the projector orthogonal to sqrt(s), both machines
solve (P R K R P + mu) a = P R y for a = R^-1 alpha, hence with s_max the largest weight

    ||alpha' - alpha|| <= s_max^3/2 ||E|| ||P R y|| / mu^2,      ||alpha'|| <= s_max^1/2 ||P R y|| / mu
    |f'(x) - f(x)| <= 2 sqrt(n) kappa ||alpha' - alpha|| + (||s|| / sum s) ||E|| ||alpha'||

for any y and any x with k(x, x) <= kappa, with no assumption on b and none on how the columns were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from svmpath.criteria.requires import requires
from svmpath.gram import DenseGram, LowRankGram, Nystroem
from svmpath.losses import LeastSquares, Problem
from svmpath.paths import ClosedFormPath
from svmpath.solvers.parallel import interruptible

Array = np.ndarray

_WHOLE = 3000  # up to here the n x n matrix is formed to get its eigenvalues
_CHUNK = 1 << 22


@dataclass(frozen=True)
class ApproximationBound:
    """Bounds on ``|f'(x) - f(x)|``, f' being the low-rank machine expanded on the true kernel.

    Attributes
    ----------
    theorem3 : float
        Ding & Liao's Theorem 3; holds with probability 1 - delta under ``assumptions``.
    measured : float
        Their eq. 24 with the measured spectral norm of K - K~ in place of its bound; still assumes a constant offset.
    theorem2 : float
        Their Theorem 2 alone, which bounds ``frobenius``; holds with probability 1 - delta for uniform columns.
    with_offset : float
        A bound from the same norm for any offset, targets and weights. It assumes a positive semi-definite kernel and,
        like the others, k(x, x) <= kappa and predictions by ``solution(X, exact_kernel=True)``.
    error_norm : float
        ||K - K~||_2.
    frobenius : float
        ||K - K~||_F.
    epsilon, delta, zeta, kappa : float
        The constants of Theorem 3; epsilon is the smallest that its condition c >= 64 k / epsilon^4 allows.
    columns, rank : int
        c and k.
    assumptions : tuple of str
        The assumptions of Theorem 3.
    violated : tuple of str
        The assumptions that are known not to hold here; if there are any, Theorem 3 does not apply.

    See Also
    --------
    svmpath.criteria.approximation_bound : How far a low-rank machine is from the exact one.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=0.1, rank=20, landmarks="uniform", random_state=0)
    >>> bound = criteria.approximation_bound(path, C=1.0)
    >>> bound.columns, bound.measured <= bound.theorem3
    (20, True)
    """

    theorem3: float
    measured: float
    theorem2: float
    with_offset: float
    error_norm: float
    frobenius: float
    epsilon: float
    delta: float
    zeta: float
    kappa: float
    columns: int
    rank: int
    assumptions: tuple[str, ...]
    violated: tuple[str, ...]


ASSUMPTIONS = (
    "the kernel is positive semi-definite",
    "the columns were drawn uniformly without replacement",
    "the targets are -1 and +1, and all weights are one",
    "the largest eigenvalues of the landmarks' kernel matrix are kept",
    "the exact and the approximate machine have the same offset, zeta",
    "predictions expand the approximate coefficients on the true kernel",
)


@requires(LeastSquares, ClosedFormPath)
def approximation_bound(path: ClosedFormPath, C: float, *, delta: float = 0.05) -> ApproximationBound:
    """Bound the distance of a low-rank least squares machine from the exact one.

    It needs n^2 kernel values (computed in blocks for large n) and the largest eigenvalues of the full kernel matrix,
    so it costs more than the machine itself.

    Parameters
    ----------
    path : Path
        A least squares path over C with a low-rank kernel, preferably with ``landmarks="uniform"``.
    C : float
        The value of C.
    delta : float, default=0.05
        The probability that Theorem 3 fails.

    Returns
    -------
    ApproximationBound
        The bounds, with the constants and assumptions that they rest on.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.criteria.ApproximationBound : What ``criteria.approximation_bound`` returns.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)); y = np.sign(X[:, 0])
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=0.1, rank=30, landmarks="uniform", random_state=0)
    >>> bound = criteria.approximation_bound(path, C=1.0)
    >>> bound.measured <= bound.theorem3, bound.violated
    (True, ())
    """
    gram = path.problem.gram
    if not isinstance(gram, LowRankGram):
        raise ValueError(
            "The bound needs a low-rank kernel, but this path has the full kernel matrix; trace it with rank=."
        )
    if not isinstance(gram.approximation, Nystroem):
        raise ValueError(f"The bound works for landmarks, not for {gram.approximation!r}; use rank=gram.Nystroem(...).")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}.")
    solution = path(C)
    n, mu = gram.n, 0.5 / C
    c, k = gram.features.width, gram.rank
    diag = gram.kernel.diag(gram.X)
    kappa, zeta = float(diag.max()), abs(solution.b)
    best, error_norm, frobenius = _norms(gram, k)
    epsilon = (64 * k / c) ** 0.25
    scale = kappa * (1 + zeta) * n / mu**2  # 1 / (n mu0^2) = n / mu^2
    g = c * (n - c) / (n - 0.5) / (1 - 1 / (2 * max(c, n - c)))
    eta, largest = np.sqrt(np.log(2 / delta) * g / c), np.sort(diag)[::-1][:c].sum()
    bracket = n / c * largest * (np.sqrt(n * (diag @ diag)) + eta * n * kappa)
    theorem2 = best + epsilon * float(np.sqrt(bracket))
    is_plain = path.problem.task == "classification" and bool(np.all(path.problem.s == 1.0))
    is_uniform, keeps_largest = gram.approximation.landmarks == "uniform", gram.approximation.truncate != "girolami"
    holds = (gram.kernel.psd is not False, is_uniform, is_plain, keeps_largest)
    return ApproximationBound(
        theorem3=scale * theorem2,
        measured=scale * error_norm,
        theorem2=theorem2,
        with_offset=_with_offset(path.problem, error_norm, kappa, mu),
        error_norm=error_norm,
        frobenius=frobenius,
        epsilon=epsilon,
        delta=delta,
        zeta=zeta,
        kappa=kappa,
        columns=c,
        rank=k,
        assumptions=ASSUMPTIONS,
        violated=tuple(text for text, does in zip(ASSUMPTIONS, holds, strict=False) if not does),
    )


def _with_offset(problem: Problem, error_norm: float, kappa: float, mu: float) -> float:
    """The bound that keeps the offset and the weights."""
    s, y = problem.s[problem.active], problem.y[problem.active]
    centred = np.sqrt(s) * (y - s @ y / s.sum())  # P R y
    tail = error_norm * float(np.linalg.norm(centred))
    change = s.max() ** 1.5 * tail / mu**2
    offset = np.linalg.norm(s) / s.sum() * np.sqrt(s.max()) * tail / mu
    return float(2 * np.sqrt(len(s)) * kappa * change + offset)


def _norms(gram: LowRankGram, k: int) -> tuple[float, float, float]:
    """||K - K_k||_F of the exact kernel matrix, ||K - K~||_2 and ||K - K~||_F."""
    if gram.n <= _WHOLE:
        K = DenseGram(gram.kernel, gram.X).K
        values = interruptible(np.linalg.eigvalsh, K)
        best = float(np.linalg.norm(values[: max(gram.n - k, 0)]))
        error = interruptible(np.linalg.eigvalsh, K - gram.Z @ gram.Z.T)
        return best, float(np.abs(error[[0, -1]]).max()), float(np.linalg.norm(error))

    def blocks() -> Iterator[Array]:
        """The exact kernel matrix, a block of rows at a time."""
        step = max(1, _CHUNK // gram.n)
        yield from (gram.kernel(gram.X[i : i + step], gram.X) for i in range(0, gram.n, step))

    def product(u: Array) -> Array:
        return np.concatenate([K @ u.ravel() for K in blocks()])

    exact = LinearOperator((gram.n, gram.n), matvec=product, dtype=float)
    error = LinearOperator((gram.n, gram.n), matvec=lambda u: product(u) - gram.matmul(u), dtype=float)
    start = np.ones(gram.n)
    top = eigsh(exact, k=k, v0=start, return_eigenvectors=False)
    squared_norm = squared_error = 0.0
    first = 0
    for K in blocks():
        squared_norm += float(np.vdot(K, K))
        K = K - gram.Z[first : first + len(K)] @ gram.Z.T
        squared_error += float(np.vdot(K, K))
        first += len(K)
    best = float(np.sqrt(max(squared_norm - top @ top, 0.0)))
    largest = float(abs(eigsh(error, k=1, v0=start, return_eigenvectors=False)[0]))
    return best, largest, float(np.sqrt(squared_error))
