"""The elastic-net hinge machine (doubly regularised SVM), for classification in few features.

The problem, on its own scale and with an offset that costs nothing::

    minimise   sum_i s_i max(0, 1 - y_i (b + x_i'beta)) + lambda2/2 ||beta||^2 + lambda1 sum_j om_j |beta_j|

The dual problem maximises over 0 <= a_i <= s_i with sum_i y_i a_i = 0, with c_j = sum_i a_i y_i x_ij,

    sum_i a_i - 1/(2 lambda2) sum_j max(0, |c_j| - lambda1 om_j)^2         (lambda2 = 0: |c_j| <= lambda1 om_j instead)

The gap between the two is a sum of terms that are never negative, one per sample and one per feature: with
xi_i = max(0, 1 - y_i f_i), eta_i = max(0, y_i f_i - 1) and what |c_j| has beyond its threshold, k_j,

    (s_i - a_i) xi_i + a_i eta_i
    lambda1 om_j (|beta_j| - sgn(c_j) beta_j) + (lambda2 beta_j - sgn(c_j) k_j)^2 / (2 lambda2)

(lambda1 om_j |beta_j| - c_j beta_j + lambda2/2 beta_j^2 where |c_j| is below it), so that nothing cancels in it.

The columns are those of ``standardize``: x_j minus a centre (zero as a rule) over a scale (one as a rule). ``beta`` and
the penalties belong to these; ``coef`` and ``b`` belong to the columns as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from svmpath.lazy import lazy
from svmpath.losses.base import Loss, Problem, Solution
from svmpath.losses.compressed import check_rows
from svmpath.losses.elbow import NEAR, WEIGHT
from svmpath.parameters import Parameter
from svmpath.solvers.elastic.design import Design, Line, Snapshot
from svmpath.solvers.elastic.first_point import leave_constant, start
from svmpath.solvers.elastic.measure import offset_shift, relative_gap

Array = np.ndarray

_CENTRED_FROM = 10.0  # deviations of a dense column's mean from zero: then it is centred, the offset makes up for it
_CONSTANT = 1e-13  # a column whose variance is less, relative to its squared mean, is constant
_NO_MOVE = 1e-13  # a coefficient that moves margins by less, relative to what they are made of, is zero


@dataclass(frozen=True)
class ElasticProblem(Problem):
    """The data with a penalty factor, a scale and a centre per feature.

    Attributes
    ----------
    om : array of shape (p,)
        Penalty factors of lambda1.
    scale, centre : arrays of shape (p,)
        The columns are (x - centre) / scale.
    """

    om: Array = field(kw_only=True)
    scale: Array = field(kw_only=True)
    centre: Array = field(kw_only=True)

    @property
    def p(self) -> int:
        """Number of features."""
        return len(self.om)

    @lazy
    def design(self) -> Design:
        """The rows as the walk reads them."""
        X = self.gram.X
        X = X.multiply(1.0 / self.scale).tocsr() if sparse.issparse(X) else (X - self.centre) / self.scale
        return Design.of(X, self.y, self.om)

    @lazy
    def last_constant(self) -> Snapshot:
        """The point where the machine ceases to be constant while lambda1 falls, if all features are penalised.

        Up to there beta = 0, so that it is the same for every lambda2; any that is as large as the losses finds it.
        """
        design, lam2 = self.design, float(self.s.sum()) * self.design.tau
        return leave_constant(start(design, self.s, lam2), Line.lambda1(lam2, self.s)).snapshot()

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def deviations(X: Any, s: Array) -> Array:
    """The weighted standard deviation of each column; one where it is constant."""
    share = s / s.sum()
    mean = np.asarray(X.T @ share).ravel()
    if sparse.issparse(X):
        variance = np.asarray(X.multiply(X).T @ share).ravel() - mean**2
    else:
        variance = share @ (X - mean) ** 2
    return np.sqrt(np.where(variance > _CONSTANT * mean**2, variance, 1.0))


def centres(X: Any) -> Array:
    """Zero, or for a dense column that is constant or far from zero one of its own numbers, so that ties stay ties."""
    none = np.zeros(X.shape[1])
    if sparse.issparse(X):
        return none
    deviation = X.std(axis=0)
    far = (np.abs(X.mean(axis=0)) > _CENTRED_FROM * deviation) | (np.ptp(X, axis=0) == 0)
    return np.where(far, X[0], none)


@dataclass(frozen=True, repr=False, eq=False)
class ElasticSolution(Solution):
    """A linear machine at one value of its hyper-parameters; call it with new rows to get their decision values.

    Attributes
    ----------
    coef : array of shape (p,)
        Coefficients of the original features; exactly zero for features that are not used.
    alpha : array of shape (n,)
        Signed dual coefficients, which prove optimality.

    See Also
    --------
    svmpath.trace_elastic : Follow the elastic-net hinge machine.
    svmpath.losses.Solution : The machine at one value.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> solution = svmpath.trace_elastic(X, y, lambda2=1.0)(5.0)
    >>> np.array_equal(solution.features, np.flatnonzero(solution.coef))
    True
    >>> np.allclose(solution(X), X @ solution.coef + solution.b)
    True
    """

    problem: ElasticProblem
    coef: Array = field(kw_only=True)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items())
        return f"<Solution: {self.loss.name} at {values}; {len(self.features)} of {self.problem.p} features are used>"

    def __call__(self, X: Any, *, exact_kernel: bool = False) -> Array:
        """Decision values of the rows of X."""
        X = check_rows(X, self.problem.p)
        return np.asarray(X @ self.coef) + self.b

    def compress(self, size: int, *, random_state: Any = None) -> Any:
        """Raises ValueError: a linear machine has one coefficient per feature and needs no compression."""
        raise ValueError(
            "An elastic-net machine has one coefficient per feature and cannot be compressed; use it as it is."
        )

    @property
    def features(self) -> Array:
        """Indices of the features with coef != 0."""
        return np.flatnonzero(self.coef)

    @property
    def norm1(self) -> float:
        """The sum of om_j times the size of beta_j, by which Wang's s-path is indexed."""
        return float(self.problem.om @ np.abs(self.coef * self.problem.scale))

    @lazy
    def fitted(self) -> Array:
        """Decision values of the training rows."""
        return np.asarray(self.problem.gram.X @ self.coef) + self.b

    @property
    def rounding(self) -> float:
        """How far rounding may have moved the decision values of the training rows."""
        beta = np.abs(self.coef * self.problem.scale)
        size = beta @ self.problem.design.zmax + abs(self.coef @ self.problem.centre) + abs(self.b)
        return float(8 * np.finfo(float).eps * size)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "coef": self.coef}


class ElasticHinge(Loss):
    """Formulas of the elastic-net hinge machine."""

    name = "elastic_hinge"
    tasks = ("classification",)
    has_kernel = False
    label, also_called, kink = "hinge", "with elastic-net penalty", "elbow"
    parameters = (Parameter("lambda1", lowest="not negative"), Parameter("lambda2"), Parameter("ray"), WEIGHT)
    names = ("right", "elbow", "left")

    def limits(self, solution: Solution) -> Array:
        """The weights."""
        return solution.problem.s

    def read(
        self, problem: ElasticProblem, parameters: dict[str, float], a: Array, beta: Array, b: float
    ) -> ElasticSolution:
        """The machine, from coefficients of the scaled columns; its offset is the middle where it is not unique."""
        a, size = np.clip(a, 0.0, problem.s), np.abs(beta) * problem.design.zmax
        beta = np.where(size > _NO_MOVE * (size.sum() + abs(b)), beta, 0.0)  # at an event: zero but for rounding
        f = problem.y * np.asarray(problem.design.Z @ beta) + b
        b += offset_shift(problem.y, problem.s, a, f)
        coef = beta / problem.scale
        return ElasticSolution(problem, self, problem.y * a, float(b - coef @ problem.centre), parameters, coef=coef)

    def violation(self, solution: Solution) -> float:
        """The largest margin on the wrong side of 1, or gradient in units of the weights on its column."""
        assert isinstance(solution, ElasticSolution)
        problem = solution.problem
        Z, a, beta = problem.design.Z, problem.y * solution.alpha, solution.coef * problem.scale
        margin = np.asarray(Z @ beta) + problem.y * (solution.b + solution.coef @ problem.centre)
        lam1, lam2 = solution.parameters["lambda1"], solution.parameters["lambda2"]
        rows, s = problem.active, problem.s
        slack = 1.0 - margin
        worst = np.where(a <= NEAR * s, slack, np.where(a >= (1.0 - NEAR) * s, -slack, np.abs(slack)))[rows]
        unit = np.asarray(abs(Z).T @ s)
        unit = np.where(unit > 0.0, unit, 1.0)
        gradient = np.asarray(Z.T @ a) - lam2 * beta
        wall, is_zero = lam1 * problem.om, np.abs(beta) * problem.design.zmax <= NEAR
        off = np.where(is_zero, np.abs(gradient) - wall, np.abs(gradient - wall * np.sign(beta)))
        sums = abs(problem.y @ a) / s.sum()
        return float(max(worst.max(initial=0.0), (off / unit).max(initial=0.0), sums))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective over the primal, or over a millionth of the weights where that is more."""
        assert isinstance(solution, ElasticSolution)
        problem, parameters = solution.problem, solution.parameters
        lam1, lam2, alpha = parameters["lambda1"], parameters["lambda2"], problem.y * solution.alpha
        beta, b = solution.coef * problem.scale, float(solution.b + solution.coef @ problem.centre)
        return relative_gap(problem.design, problem.s, lam1, lam2, alpha, beta, b)
