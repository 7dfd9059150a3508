"""What all machines share: a problem, a solution that measures its own error, a loss.

One scale for all kernel machines::

    minimise over f and b:   C * sum_i s_i * loss(y_i, f(x_i)) + 1/2 ||f - b||^2,
    f(x) = sum_i alpha_i k(x, x_i) + b,    sum_i alpha_i = 0,    alpha signed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from svmpath.gram import Gram
from svmpath.lazy import lazy
from svmpath.losses.compressed import Compressed, check_rows, compress
from svmpath.losses.enclosure import Offsets, best_offsets
from svmpath.losses.policies import Policy
from svmpath.parameters import Parameter

Array = np.ndarray

_SHOWN = 6  # parameters that are written out
_SHARE = 1e-3  # of what the terms of an objective cancel: where it is less than that, gaps are relative to this


@dataclass(frozen=True)
class Problem:
    """The data as a solver sees it.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
        Targets; -1 and +1 for classification.
    s : array of shape (n,)
        Sample weights, >= 0.
    task : {"classification", "regression"}
    classes : array or None
        The two labels that -1 and +1 stand for.
    copies : array of int of shape (n,), optional
        Rows with the same number, from 0 on, are copies: equal rows of X with equal labels or targets. Paths are then
        traced with one row for each sample; see ``paths.copies``.
    stands_for : array of int of shape (n,), optional
        How many samples each row stands for in leave-one-out; zero for a row that is not left out. None means one.
    offset : bool
        Whether decision values have an offset. Without one, b is zero, and the coefficients need not sum to zero.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.gram.make_gram : The kernel matrix of some rows.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> problem = svmpath.trace(X, y, gamma=1.0).problem
    >>> problem.n, problem.task, problem.classes.tolist()
    (60, 'classification', [-1, 1])
    """

    gram: Gram
    y: Array
    s: Array
    task: str
    classes: Array | None = None
    copies: Array | None = field(default=None, kw_only=True)
    stands_for: Array | None = field(default=None, kw_only=True)
    offset: bool = field(default=True, kw_only=True)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    @lazy
    def active(self) -> Array:
        """The samples of positive weight."""
        return np.flatnonzero(self.s > 0)

    def is_counted(self) -> Array:
        """Which rows are left out by leave-one-out."""
        return np.ones(self.n, dtype=bool) if self.stands_for is None else self.stands_for > 0

    def count(self, rows: Array) -> int:
        """How many samples these rows stand for."""
        return len(rows) if self.stands_for is None else int(self.stands_for[rows].sum())

    def imbalance(self, alpha: Array) -> float:
        """How far the sum of the coefficients is from zero, where an offset wants it to be."""
        return abs(float(alpha.sum())) if self.offset else 0.0

    def at(self, name: str, value: float) -> Problem:
        """The same problem with one kernel parameter at another value."""
        return replace(self, gram=self.gram.at(name, value))


@dataclass(frozen=True, repr=False, eq=False)
class Solution:
    """A machine at one value of its hyper-parameters; call it with new rows to get their decision values.

    Attributes
    ----------
    problem : Problem
    loss : Loss
    alpha : array of shape (n,)
        Signed dual coefficients.
    b : float
        Offset.
    parameters : dict
        The hyper-parameters at this point.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.losses.compressed.Compressed : A machine on few rows.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> solution = svmpath.trace(X, y, loss="hinge", gamma=1.0)(0.7)
    >>> solution(X[:3]).shape, len(solution.support) < 60, solution.gap < 1e-9
    ((3,), True, True)
    >>> solution.parameters["C"], solution.parameters["gamma"]
    (0.7, 1.0)
    """

    problem: Problem
    loss: Loss
    alpha: Array
    b: float
    parameters: Mapping[str, float]

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in list(self.parameters.items())[:_SHOWN])
        values += ", ..." if len(self.parameters) > _SHOWN else ""
        return f"<Solution: {self.loss.name} at {values}; {len(self.support)} of {self.problem.n} samples support it>"

    def __call__(self, X: Any, *, exact_kernel: bool = False) -> Array:
        """Decision values of the rows of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n) kernel values for a precomputed kernel
        exact_kernel : bool, default=False
            With a low-rank kernel, use the exact kernel instead of its approximation (computes m * n kernel values).
        """
        gram = self.problem.gram
        X = check_rows(X, gram.X.shape[1])
        return (gram.apply_exact if exact_kernel else gram.apply)(X, self.alpha) + self.b

    def compress(self, size: int, *, random_state: Any = None) -> Compressed:
        """A machine with fewer support vectors and nearly the same decision values, for faster predictions.

        It chooses rows among the support vectors (with a low-rank kernel, among the landmarks) whose kernel functions
        explain the decision values of the training rows best. Their coefficients are fitted by least squares, and the
        offset is kept.

        Parameters
        ----------
        size : int
            The largest number of rows. Fewer are used if there are no more, or if fewer span the same space: then the
            new machine equals this one up to rounding. This is the case for linear and polynomial kernels if ``size``
            is at least the dimension of the feature space, and for low-rank kernels if it is at least the rank and the
            landmarks are training rows. The landmarks of ``landmarks="kmeans"`` are not training rows: with them a
            difference of about 1e-2 remains for any size.
        random_state : int, RandomState or None
            Random seed for choosing the rows; None stands for 0.

        Returns
        -------
        Compressed
            Call it with new rows. Its ``error`` is the largest difference from this solution on the training rows.

        Examples
        --------
        >>> import numpy as np, svmpath
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 3)); y = np.sign(X[:, 0] * X[:, 1] + X[:, 2])
        >>> whole = svmpath.trace(X, y, loss="squared_hinge", kernel="poly", degree=2, coef0=1.0)(1.0)
        >>> few = whole.compress(20, random_state=0)
        >>> len(whole.support) > 20, len(few.support), few.error < 1e-9
        (True, 10, True)
        >>> np.allclose(few(X[:5]), whole(X[:5]))
        True
        """
        return compress(self, size, random_state)

    @property
    def coefficients(self) -> Array:
        """alpha / C, in which machines with an elbow are piecewise linear; alpha times ``loss.unit`` without a C."""
        return self.alpha / self.parameters["C"] if "C" in self.parameters else self.alpha * self.loss.unit(self)

    @property
    def support(self) -> Array:
        """Indices of the support vectors: the samples with alpha != 0."""
        return np.flatnonzero(self.alpha)

    @lazy
    def fitted(self) -> Array:
        """Decision values of the training rows."""
        return self.problem.gram.matmul(self.alpha) + self.b

    @lazy
    def violation(self) -> float:
        """Largest violation of the optimality conditions, in units of the decision value."""
        return self.loss.violation(self)

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of the decision values of the training rows, given the coefficients."""
        root = np.sqrt(np.abs(self.problem.gram.diag))  # |K_ij| <= root_i root_j
        return float(4 * np.finfo(float).eps * (root.max() * (root @ np.abs(self.alpha)) + abs(self.b)))

    @lazy
    def gap(self) -> float:
        """Duality gap relative to the primal objective; see :func:`relative_gap` for objectives near zero."""
        return self.loss.gap(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("problem", "loss", "alpha", "b", "parameters")}


def relative_gap(gap: float, primal: float, cancelled: float) -> float:
    """The duality gap over the primal objective, or over a thousandth of what cancels in its terms if that is larger.

    Each term is a difference (1 - y f, |e| - epsilon). If the objective is almost zero, it consists of the rounding
    errors of these differences, and the gap must be compared with the numbers that were subtracted: ``cancelled`` is
    their sum over the terms that are not zero. A thousandth of it is no more than the objective of other machines.
    """
    return float(max(gap, 0.0) / max(abs(primal), _SHARE * cancelled, np.finfo(float).tiny))


class Loss(ABC):
    """The formulas of one loss, and what it declares about itself.

    Attributes
    ----------
    name : str
    tasks : tuple of str
        The tasks that it can be used for.
    parameters : tuple of Parameter
        Its hyper-parameters that a path can follow; those of the kernel are not among them.
    has_kernel : bool
        Whether its machines have a kernel; otherwise they are linear in the columns of X.
    sums_to_zero : bool
        Whether the coefficients of a machine sum to zero, so that a constant in the kernel changes nothing.
    can_lack_offset : bool
        Whether there are paths of its machines without an offset.
    beyond_largest : str
        Why a parameter has a largest value (``largest``), in words; "" if it has none.
    falls_when_left_out : bool
        Whether y f of a sample can only fall while the sample is removed, as long as the elbow is not empty.
    label, also_called : str
        Its name in prose, and that of its machine in the literature.
    followed_by : dict
        The kind of path (a name in ``svmpath.paths.TRACKERS``) over a parameter of the "machine", of the "kernel", and
        to a duality "gap".
    policy : Policy
        What is done by default.
    is_linear : bool
        Whether its optimality conditions are linear equations, so that one decomposition serves every C.
    is_inside_margin : bool
        Whether the samples with y f < 1 alone make up its equations.
    is_sparse : bool
        Whether some samples have no coefficient.
    rival : str
        The loss that two classes of contradictory rows are also tried with where this one is the default; "" if none.
    kink : {"elbow", "slope", ""}
        Where coefficients are between zero and their limit, if they have one.
    equivalent : {"SVC", "SVR", "KernelRidge", "SVC on a ridged kernel", ""}
        The same machine in scikit-learn.
    level : str
        The name of its parameter between 0 and 1 that says how much residuals above count; "" if it has none.
    own_score : str
        What ``margin_loss`` is called in prose, if held-out values are scored by it unless something else is asked for;
        "" if they are by the loss of the task, the error or the square.
    """

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    label: ClassVar[str] = ""
    also_called: ClassVar[str] = ""
    followed_by: ClassVar[Mapping[str, str]] = {}
    policy: ClassVar[Policy] = Policy()
    is_linear: ClassVar[bool] = False
    is_inside_margin: ClassVar[bool] = False
    is_sparse: ClassVar[bool] = True
    rival: ClassVar[str] = ""
    kink: ClassVar[str] = ""
    equivalent: ClassVar[str] = ""
    level: ClassVar[str] = ""
    own_score: ClassVar[str] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("C"),)
    has_kernel: ClassVar[bool] = True
    falls_when_left_out: ClassVar[bool] = False
    sums_to_zero: ClassVar[bool] = True
    can_lack_offset: ClassVar[bool] = False
    beyond_largest: ClassVar[str] = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def margin_loss(self, y: Array, f: Array) -> Array:
        """What its machines keep small, of targets and held-out decision values."""
        return np.square(y - f)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def fixed_parameters(self) -> Mapping[str, float]:
        """Hyper-parameters of the loss itself other than C, for paths that do not follow them."""
        return {}

    def default_span(self, over: str, y: Array, s: Array) -> tuple[float, float] | None:
        """The default span of a path over one of its parameters; None if the policy of the loss decides."""
        return (1.0, 0.0) if over == "weight" else None

    def largest(self, over: str, y: Array, s: Array) -> float:
        """The largest feasible value of a parameter for these targets and weights."""
        return float("inf")

    def unit_of_C(self, y: Array, s: Array) -> float:
        """What C is measured in: one where a common factor of all targets changes no C, as with squares."""
        return 1.0

    def limits(self, solution: Solution) -> Array:
        """The largest coefficient of each sample, for losses that have one."""
        return np.asarray(solution.parameters["C"] * solution.problem.s)

    # What ``criteria.approximation_gap`` asks. f holds decision values of all rows, rho is the margin of machines that
    # are divided by it (``unit``), whose coefficients and decision values are those before the division.

    def unit(self, solution: Solution) -> float:
        """What coefficients, offset and decision values were divided by."""
        return 1.0

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """The duality gap at feasible coefficients and any decision values, as a sum of terms that are not negative.

        It is ``sum_i [ C s_i loss_i(f_i) + C s_i loss_i*(.) + alpha_i f_i ]``, the gap but for what the norms of the
        coefficients and of the function f leave: ``1/2 ||f - b - sum_i alpha_i k(x_i, .)||^2``.
        """
        raise NotImplementedError(f"loss={self.name!r} does not state its duality gap as a sum over samples.")

    def losses(self, solution: Solution, f: Array, rho: float = 1.0) -> float:
        """What the losses add to the primal objective."""
        raise NotImplementedError(f"loss={self.name!r} does not state the sum of its losses.")

    def slopes(self, solution: Solution, f: Array) -> tuple[Array, Array]:
        """The derivatives of s loss(y, f) with respect to f from the left and from the right."""
        raise NotImplementedError(f"loss={self.name!r} does not state the slopes of its losses.")

    def enclose(self, solution: Solution, low: Array, high: Array) -> Offsets:
        """Where the offset of a machine is whose decision values without offset are between low and high.

        The derivative of the sum of the losses with respect to b rises with b and with each decision value. So the
        least b of all is the lowest one that is best for ``high``, and the largest the highest that is best for
        ``low``. Where all b above or below some value are best, the offset is that value.
        """
        problem = solution.problem
        width = 1.0 + max(float(np.abs(each).max(initial=0.0)) for each in (low, high, problem.y))
        first, instead_of_first = best_offsets(lambda b: self.slopes(solution, high + b), width)
        instead_of_last, last = best_offsets(lambda b: self.slopes(solution, low + b), width)
        return Offsets(
            first if np.isfinite(first) else instead_of_first, last if np.isfinite(last) else instead_of_last
        )

    @abstractmethod
    def violation(self, solution: Solution) -> float:
        """Largest violation of the optimality conditions, in units of the decision value."""

    @abstractmethod
    def gap(self, solution: Solution) -> float:
        """Duality gap relative to the primal objective."""
