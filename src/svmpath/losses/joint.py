"""The quadratic loss of several classes at once (M-SVM^2): the machine, how far it is from optimal, and its gap.

The problem is that of ``solvers.joint``. With a_ik = 2 s_i C p_ik >= 0, the multipliers of the pairs of a row and a
wrong class, and beta_ik = sum_l a_il / Q - a_ik (a = 0 for the row's own class), whose rows sum to zero::

    h_k = sum_i beta_ik k(x_i, .) + b_k,      sum_i beta_ik = 0 for every k

The dual problem maximises ``sum_ik a_ik / (Q - 1) - 1/2 sum_k beta_k' K beta_k - sum_i C s_i L*(a_i / (C s_i))`` with
``L*(a) = (|a|^2 - (sum_k a_k)^2 / Q) / 4``. At any a >= 0 with these sums, and any b, the gap is a sum over rows of
terms that are not negative,

    C s_i L(v_i) + C s_i L*(a_i / (C s_i)) - a_i'v_i .
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np

from svmpath.lazy import lazy, with_known
from svmpath.losses.base import Loss, Problem, Solution
from svmpath.losses.features import feature_rows
from svmpath.losses.policies import Policy
from svmpath.solvers.feature_newton import AnyRows, Rows
from svmpath.solvers.joint import JointNewton, JointPoint, slopes_of

Array = np.ndarray


class JointSolution(Solution):
    """A machine of all classes; ``alpha`` holds beta, of shape (n, Q), and ``b`` one offset for each class.

    Called with new rows it returns decision values of shape (m, Q), which sum to zero in each row; the largest one is
    that of the class that is predicted.

    See Also
    --------
    svmpath.trace_joint : Follow a machine of all classes over C.

    Examples
    --------
    >>> import svmpath
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> solution = svmpath.trace_joint(X, y, gamma=0.1, span=(0.1, 10.0))(1.0)
    >>> solution(X[:2]).shape, solution.predict(X[:2]).tolist(), solution.gap < 1e-9
    ((2, 3), [0, 0], True)
    """

    alpha: Array
    b: Array  # type: ignore[assignment]

    @property
    def support(self) -> Array:
        """The rows with a coefficient other than zero for some class."""
        return np.flatnonzero(np.any(self.alpha != 0, axis=1))

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of the decision values of the training rows, given the coefficients."""
        root = np.sqrt(np.abs(self.problem.gram.diag))
        size = root.max() * (root @ np.abs(self.alpha).max(axis=1)) + np.abs(self.b).max()
        return float(4 * np.finfo(float).eps * size)

    @property
    def multipliers(self) -> Array:
        """a of shape (n, Q), from beta: zero for the row's own class."""
        own = self.alpha[np.arange(self.problem.n), self.code]
        return np.maximum(own[:, None] - self.alpha, 0.0)

    @property
    def code(self) -> Array:
        """The class of each row, as a number."""
        return np.asarray(np.argmax(self.problem.y, axis=1))

    def predict(self, X: Array) -> Array:
        """The classes of new rows."""
        assert self.problem.classes is not None
        return self.problem.classes[np.argmax(self(X), axis=1)]

    def compress(self, size: int, *, random_state: Any = None) -> NoReturn:
        """Refused: rows are chosen for one function."""
        raise ValueError("compress is for machines of one function, but this one has all classes at once; use rank=.")

    @lazy
    def fitted(self) -> Array:
        """Decision values of the training rows, of shape (n, Q)."""
        return np.asarray(self.problem.gram.matmul(self.alpha)) + self.b


class JointSquaredHinge(Loss):
    """Formulas of the machine of all classes with a quadratic loss; for two classes it is the squared hinge machine."""

    name = "joint_squared_hinge"
    tasks = ("classification",)
    label, also_called = "squared hinge of all classes at once", "M-SVM^2"
    is_inside_margin = True
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "joint"}
    policy = Policy(span=(1e-3, 1e4), tuned=(1e-3, 1e4), otherwise="kfold", exact_rows=300, shown=("span", "kfold"))

    def margin_loss(self, y: Array, f: Array) -> Array:
        """Of one class: max(0, 1 - f)^2 for its own rows, max(0, f)^2 for the others, cut off at 9."""
        return np.clip(np.where(y > 0, 1.0 - f, f), 0.0, 3.0) ** 2

    def rows(self, problem: Problem) -> AnyRows:
        """Features whose inner products are the kernel up to the offset, in double precision."""
        if problem.gram.Z is None:
            return feature_rows(problem)
        return Rows.of(problem.gram.Z.astype(float, copy=False), problem.y, problem.s)

    def solution(self, problem: Problem, newton: JointNewton, point: JointPoint, C: float) -> JointSolution:
        """The machine of a point."""
        a = 2.0 * C * problem.s[:, None] * point.slopes.p
        beta = a.mean(axis=1, keepdims=True) - a
        product = np.asarray(problem.gram.matmul(beta))
        b = problem.s @ (point.H - product) / problem.s.sum()
        found = JointSolution(problem, self, beta, b, {"C": C, **problem.gram.kernel.parameters})
        return with_known(found, fitted=product + b)

    def violation(self, solution: Solution) -> float:
        """The largest of ``|p_ik - a_ik / (2 C s_i)|``, and the sums of beta in the same units."""
        assert isinstance(solution, JointSolution)
        problem, rows = solution.problem, solution.problem.active
        box = 2.0 * solution.parameters["C"] * problem.s[rows]
        p = slopes_of(solution.fitted[rows], solution.code[rows]).p
        mismatch = float(np.abs(p - solution.multipliers[rows] / box[:, None]).max(initial=0.0))
        return max(mismatch, float(np.abs(solution.alpha.sum(axis=0)).max() / box.sum()))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective over the primal."""
        assert isinstance(solution, JointSolution)
        problem, rows, code = solution.problem, solution.problem.active, solution.code
        box = solution.parameters["C"] * problem.s[rows]
        f, a = solution.fitted[rows], solution.multipliers[rows] / box[:, None]
        v = f + 1.0 / (f.shape[1] - 1)
        v[np.arange(len(rows)), code[rows]] = 0.0  # where a is zero
        loss = slopes_of(f, code[rows]).loss
        conjugate = 0.25 * (np.square(a).sum(axis=1) - a.sum(axis=1) ** 2 / f.shape[1])
        gap = float(box @ np.maximum(loss + conjugate - np.einsum("nk,nk->n", a, v), 0.0))
        primal = float(box @ loss + 0.5 * np.sum(solution.alpha * (solution.fitted - solution.b)))
        return gap / max(primal, float(np.finfo(float).eps * box.sum()), float(np.finfo(float).tiny))
