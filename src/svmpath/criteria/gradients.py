"""The gradient of a held-out score with respect to log C and the logarithms of the kernel parameters.

Notation of ``solvers.samples``: the samples E that have a coefficient (all of positive weight for least squares, those
left of the margin for the squared hinge), mu = 1 / (2 C), and

    H = K_EE + mu S_E^-1,     B = H^-1 - H^-1 1 1' H^-1 / (1' H^-1 1),     u = B y_E,     b = s_E'(y - K u)_E / sigma

with sigma = sum_E s. Leaving out i in E gives the residual r_i = u_i / B_ii; samples outside E keep f_i = K_iE u + b.
The score is L = sum_i w_i loss(y_i, g_i) with g_i = y_i - r_i on E and g_i = f_i outside, w = s / sum s.

Forward, with the sides kept: dB = -B dH B and du = -B dH u. Backward, with q_i = w_i d loss / d g_i, the samples N
outside E, kappa = sum_N q, T = diag(q_i u_i / B_ii^2) and p_i = q_i / B_ii on E::

    dL = <W_E, dK_EE> + <q_N u', dK_NE> + dmu sum_i (v_i u_i - (B T B)_ii) / s_i,
    W_E = (v - kappa/sigma s_E) u' - B T B,        v = B (p - K_EN q_N + kappa/sigma K_EE s_E)

One inverse and one product of n_E^3, whatever the number of parameters; each parameter then costs n^2
(:meth:`svmpath.gram.DenseGram.pull`). Machines on the same E (all classes of least squares) share B, and their T
are added.

**Smoothing.** When a sample j crosses the margin its u_j is zero, so that u is continuous; but B is that of one sample
more or less, and the r_i jump by about B_ij^2. Chapelle's remedy lets j leave B as u_j goes to zero: B is made with
H + D, D_ii = eta / (u_i^2 + tiny), and r_i = u_i (1 / B_ii - D_ii). Then L is continuous, with kinks, and its gradient
has one more part: with delta_i = -sum_{j != i} B_ij^2 T_jj the coefficient of dD_ii,

    p_i = q_i (1 / B_ii - D_ii) - delta_i dD_ii / du_i
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from svmpath.criteria import curve
from svmpath.criteria.curve import HeldOutLoss, held_out_loss
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram, Gram
from svmpath.losses import LOSSES, Problem
from svmpath.paths import Path
from svmpath.solvers.kernel_newton import Coefficients, KernelNewton
from svmpath.solvers.samples import SampleSystem
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

Derivative = Callable[[Array, Array], Array]

SMOOTHING = 0.1  # Chapelle's eta
_TINY = 1e-12  # added to u^2: a coefficient of 1e-6 counts as none


def _of_step(y: Array, f: Array) -> Array:
    step = expit(-curve.STEEP * y * f)
    return -curve.STEEP * y * step * (1.0 - step)


_SLOPES: dict[Callable[[Array, Array], Array], Derivative] = {
    curve.squared: lambda y, f: 2.0 * (f - y),
    curve.squared_hinge: lambda y, f: np.where((y * f < 1.0) & (y * f > -2.0), -2.0 * y * (1.0 - y * f), 0.0),
    curve.logistic: lambda y, f: -y * expit(-y * f),
    curve.sigmoid: _of_step,
}
SMOOTH = tuple(loss.__name__ for loss in _SLOPES)


@dataclass(frozen=True)
class Gradient:
    """A held-out score and its derivatives.

    Attributes
    ----------
    score : float
    by : dict
        Derivative with respect to the logarithm of each parameter: "C" and the kernel parameters, by name.

    See Also
    --------
    svmpath.criteria.gradient : The gradient of a held-out score.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> found = criteria.gradient(svmpath.trace(X, y, loss="least_squares", gamma=1.0), 1.0)
    >>> found.score > 0, sorted(found.by)
    (True, ['C', 'gamma'])
    """

    score: float
    by: Mapping[str, float]


def gradient(path: Path, value: float, *, loss: HeldOutLoss = None, smoothing: float = 0.0) -> Gradient:
    """The held-out score at one C, and its gradient with respect to log C and the logarithms of the kernel parameters.

    Parameters
    ----------
    path : Path
        A path over C with ``loss="least_squares"``, whose score is that of :func:`svmpath.criteria.press`, or with
        ``loss="squared_hinge"``, whose score is that of :func:`svmpath.criteria.span`. It needs a positive
        semi-definite kernel with its full matrix.
    value : float
        The value of C.
    loss : {"squared", "squared_hinge", "logistic", "sigmoid"}, optional
        Smooth loss per sample; "squared" by default.
    smoothing : float, default=0.0
        For the squared hinge. The span prediction jumps a little where a sample crosses the margin. A positive number,
        such as 0.1, makes the score continuous, but changes it by about as much as these jumps.

    Returns
    -------
    Gradient
        ``score``, and ``by``: a derivative for each parameter.

    See Also
    --------
    svmpath.criteria.press : Leave-one-out of least squares.
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.Gradient : What ``criteria.gradient`` returns.

    Notes
    -----
    The derivatives hold as long as no sample crosses the margin. At a value where a sample does cross it, they are
    one-sided: those of the side on which the machine was found.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="squared_hinge", gamma=0.5)
    >>> found = criteria.gradient(path, 1.0)
    >>> span = criteria.span(path, [1.0], loss="squared")
    >>> sorted(found.by), abs(found.score - span.scores[0]) < 1e-12
    (['C', 'gamma'], np.True_)
    """
    if path.over != "C":
        raise ValueError(f"criteria.gradient needs a path over C, but this path is over {path.over!r}.")
    score = HeldOutScore.of([path.problem], path.loss, loss, smoothing)
    return score(path.problem.gram, path.inside(value))[0]


@dataclass(frozen=True)
class HeldOutScore:
    """The score of machines that share a Gram matrix and weights (one per class), as a function of kernel and C.

    Attributes
    ----------
    problems : sequence of Problem
    is_hinge : bool
        True for the squared hinge, False for least squares.
    loss, slope : callable
        Per-sample loss and its derivative with respect to the held-out decision value.
    smoothing : float
    """

    problems: Sequence[Problem]
    is_hinge: bool
    loss: Callable[[Array, Array], Array]
    slope: Derivative
    smoothing: float = 0.0

    @staticmethod
    def of(problems: Sequence[Problem], machine: Any, loss: HeldOutLoss, smoothing: float = 0.0) -> HeldOutScore:
        """The score of these machines; raises an error if it has no gradient."""
        if not machine.policy.gradients:
            known = [kind.label for kind in LOSSES.values() if kind.policy.gradients]
            raise ValueError(f"Gradients exist for {' and '.join(known)}, not for {machine!r}.")
        if not smoothing >= 0.0:
            raise ValueError(f"smoothing must be a number >= 0, got {smoothing!r}.")
        held_out = smooth_loss(loss, problems[0].task)
        is_hinge = not machine.is_linear
        for problem in problems:
            check_full_matrix(problem.gram)
            if len(problem.active) < 2:
                raise ValueError("Leave-one-out needs at least two samples of positive weight.")
            if is_hinge and len(np.unique(problem.y[problem.active])) < 2:
                raise ValueError("The squared hinge needs samples of positive weight in both classes.")
        return HeldOutScore(problems, is_hinge, held_out, _SLOPES[held_out], smoothing)

    def __call__(
        self, gram: Gram, C: float, starts: Sequence[Coefficients | None] = ()
    ) -> tuple[Gradient, list[Coefficients]]:
        """The gradient on a Gram matrix at C, and the machines, from which another search may start."""
        assert isinstance(gram, DenseGram)
        with blas_threads(gram.entries):
            if self.is_hinge:
                starts = starts or [None] * len(self.problems)
                parts = [self._hinge(gram, each, C, start) for each, start in zip(self.problems, starts, strict=True)]
                sweeps, machines = [part[0] for part in parts], [part[1] for part in parts]
            else:
                sweeps, machines = [self._least_squares(gram, C)], []
            # The mean over the machines, by the logarithms of the parameters.
            k, names = len(self.problems), dict(gram.kernel.parameters)
            by_kernel = np.sum([sweep.by_kernel(gram) for sweep in sweeps], axis=0) / k if names else np.empty(0)
            by = dict(zip(names, (by_kernel * np.array(list(names.values()))).tolist(), strict=True))
            by_C = -sum(sweep.by_mu for sweep in sweeps) * 0.5 / C / k
            return Gradient(float(sum(sweep.score for sweep in sweeps) / k), {"C": float(by_C), **by}), machines

    @property
    def name(self) -> str:
        """The criterion that it is."""
        return "press" if not self.is_hinge else "span" if self.smoothing == 0.0 else "smoothed span"

    def machines(
        self, gram: DenseGram, C: float, starts: Sequence[Coefficients | None] = ()
    ) -> list[tuple[Array, float]]:
        """Coefficients and offset of each machine, without its gradient."""
        K, s, E = gram.K, self.problems[0].s, self.problems[0].active
        if self.is_hinge:
            pairs = zip(self.problems, starts or [None] * len(self.problems), strict=True)
            found = [_machine(K, each.y, s, C, start)[0] for each, start in pairs]
            return [(machine.u, machine.b) for machine in found]
        system = _regular(SampleSystem(_block(K, E), self.problems[0].y[E], s[E], 1.0 / C), C)
        machines = []
        for problem in self.problems:
            u = np.zeros(len(s))
            u[E] = system.solve_for(problem.y[E])
            machines.append((u, float(s @ (problem.y - K @ u) / s.sum())))
        return machines

    def _least_squares(self, gram: DenseGram, C: float) -> _Sweep:
        """All machines at once: they share E, and with it B."""
        E, s = self.problems[0].active, self.problems[0].s
        Y = np.stack([problem.y for problem in self.problems], axis=1)
        system = _regular(SampleSystem(_block(gram.K, E), Y[E, 0], s[E], 1.0 / C), C)
        U = np.stack([system.solve_for(y) for y in Y[E].T], axis=1)
        r = U / np.diagonal(system.B)[:, None]
        w = (s / s.sum())[E, None]
        held = Y[E] - r
        q = w * self.slope(Y[E], held)
        none = np.empty(0, dtype=int)
        found = _Sweep(float(np.sum(w * self.loss(Y[E], held))), E, none, U, q[:0], s)
        diag = np.diagonal(system.B)[:, None]
        return found.back(lambda right: system.B @ right, system.B, q / diag, q * r / diag, gram.K)

    def _hinge(self, gram: DenseGram, problem: Problem, C: float, start: Coefficients | None) -> tuple[Any, Any]:
        """One machine, from one nearby if there is any."""
        K, y, s = gram.K, problem.y, problem.s
        machine, system = _machine(K, y, s, C, start)
        E, w = np.flatnonzero(machine.E), s / s.sum()
        u = machine.u[E]
        D, bend = np.zeros(len(E)), np.zeros(len(E))
        if self.smoothing == 0.0:
            B = system.B
        else:
            D = self.smoothing / (u**2 + _TINY)
            bend = -2.0 * u * D / (u**2 + _TINY)  # dD / du
            B = _regular(system.softened(D), C).B
        span = 1.0 / np.diagonal(B) - D
        held = machine.f.copy()
        held[E] = y[E] - u * span
        q = w * self.slope(y, held)
        t = q[E] * u / np.diagonal(B) ** 2
        p = q[E] * span
        if self.smoothing > 0.0:
            square = B * B
            np.fill_diagonal(square, 0.0)  # the whole product would lose its digits to the diagonal
            p += (square @ t) * bend
        N = np.flatnonzero(~machine.E & (q != 0.0))
        found = _Sweep(float(w @ self.loss(y, held)), E, N, u[:, None], q[N][:, None], s)
        return found.back(lambda right: system.solve_for(right[:, 0])[:, None], B, p[:, None], t[:, None], K), machine


@dataclass(frozen=True)
class _Sweep:
    """A score, and what the backward pass makes of it.

    Attributes
    ----------
    score : float
    E, N : arrays of int
        Samples with a coefficient, and those without whose loss counts.
    U : array of shape (n_E, k)
        Coefficients of k machines.
    q : array of shape (n_N, k)
        Derivative of the score by the decision values of N.
    s : array of shape (n,)
    W : array of shape (n_E, n_E)
        Derivative by K_EE.
    by_mu : float
    """

    score: float
    E: Array
    N: Array
    U: Array
    q: Array
    s: Array
    W: Array | None = None
    by_mu: float = 0.0

    def back(self, solve: Callable[[Array], Array], B: Array, p: Array, t: Array, K: Array) -> _Sweep:
        """The backward pass: a product with the B of the machine, the B of the spans, p and t of shape (n_E, k)."""
        s, right = self.s[self.E], p
        lift = np.zeros((len(s), 1))
        if len(self.N):
            lift = s[:, None] * (self.q.sum(axis=0) / s.sum())
            pushed = np.zeros((len(K), self.q.shape[1]))
            pushed[self.N], pushed[self.E] = self.q, -lift
            right = p - (K @ pushed)[self.E]  # all of K: to pick its rows and columns costs more than the product
        V = solve(right)
        W = (B * -t.sum(axis=1)) @ B
        by_mu = float(np.sum((np.einsum("ic,ic->i", V, self.U) + np.diagonal(W)) / s))
        W += (V - lift) @ self.U.T
        return _Sweep(self.score, self.E, self.N, self.U, self.q, self.s, W, by_mu)

    def by_kernel(self, gram: DenseGram) -> Array:
        """The derivatives by the kernel's parameters."""
        assert self.W is not None
        W = np.concatenate([self.W, self.q @ self.U.T]) if len(self.N) else self.W
        return gram.parameter_gradient(W, np.append(self.E, self.N), self.E)


def _machine(K: Array, y: Array, s: Array, C: float, start: Coefficients | None) -> tuple[Coefficients, SampleSystem]:
    """The machine and its system, from that of another kernel or C, or approached from small C."""
    newton = KernelNewton(K, y, s)
    return newton.at(1.0 / C, newton.approach(C) if start is None else newton.machine(start.u, start.b))


def _block(K: Array, E: Array) -> Array:
    """A copy of K_EE."""
    return K.take(E, axis=0).take(E, axis=1)


def smooth_loss(loss: HeldOutLoss, task: str) -> Callable[[Array, Array], Array]:
    """The held-out loss for a name or None; raises an error if it has no known derivative."""
    found = curve.squared if loss is None else held_out_loss(loss, task)
    if found not in _SLOPES:
        raise ValueError(f"A gradient needs a smooth held-out loss, one of {', '.join(SMOOTH)}; got {loss!r}.")
    return found


def check_full_matrix(gram: Gram) -> None:
    """Raise an error unless there is a full kernel matrix that is known to be positive semi-definite."""
    if not isinstance(gram, DenseGram):
        raise ValueError("Gradients need the full kernel matrix; use rank=None.")
    if gram.kernel.pairwise:
        raise ValueError("Gradients need the data rows, which a precomputed kernel does not have; use another kernel.")
    if gram.kernel.psd is not True:
        raise ValueError(f"Gradients need a kernel that is known to be positive semi-definite; {gram.kernel!r} is not.")


def _regular(system: SampleSystem, C: float) -> SampleSystem:
    if not system.is_regular:
        raise PathError(
            f"At C = {C:.6g} the system is singular in double precision: the kernel values are too large for this C. "
            "Scale the columns (StandardScaler), or use smaller C."
        )
    return system
