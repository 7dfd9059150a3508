"""The machine as a function of two parameters: paths over C for several values of a kernel parameter.

A path over C is exact at any C. A machine with another kernel matrix is found by homotopy from the machine that is
known (``solvers.box_qp.solve_from``), which takes few events if the kernels are similar. So each path is started from
the one at the neighbouring gamma, and a machine between two gammas from the nearest path. All results are exact; the
choice of the gammas affects only the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmpath.lazy import lazy
from svmpath.losses import LOSSES, Loss, Problem, Solution
from svmpath.notebook import Shown
from svmpath.parameters import Parameter
from svmpath.paths.path import Array, Path
from svmpath.paths.trace import trace
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import check_span

_RATIO = 1.28  # of neighbouring gammas, where only a span of them is given
_VALUES_PER_DECADE = 3  # values of C per factor of ten at which a criterion is evaluated, where none are given
_SAME_GAMMA = 1e-12  # relative; a gamma so near to one of the paths is that one


@dataclass(frozen=True, repr=False, eq=False)
class Surface:
    """Machines over C and a kernel parameter; call it with a pair of values to get the solution there.

    Attributes
    ----------
    problem : Problem
    loss : Loss
    over : str
        Name of the kernel parameter.
    span : tuple of two floats
        The span of C.
    gammas : array of shape (k,)
        Values of the kernel parameter, in the order given.
    paths : tuple of Path
        The path over C at each of these values.

    See Also
    --------
    svmpath.surface : Follow a machine over C and gamma together.
    svmpath.paths.Curves : Scores on a surface.
    svmpath.displays.SurfaceDisplay : Scores over C and gamma.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> surface = svmpath.surface(X, y, C=(0.1, 10.0), gamma=[0.5, 1.0, 2.0])
    >>> surface
    <Surface: hinge, C from 0.1 to 10, 3 values of gamma in [0.5, 2]; 60 samples>
    >>> surface(3.0, 0.8).violation < 1e-9
    True
    """

    problem: Problem
    loss: Loss
    over: str
    span: tuple[float, float]
    gammas: Array
    paths: tuple[Path, ...]

    def __repr__(self) -> str:
        low, high = self.gammas.min(), self.gammas.max()
        return (
            f"<Surface: {self.loss.name}, C from {self.span[0]:.6g} to {self.span[1]:.6g}, {len(self.gammas)} values "
            f"of {self.over} in [{low:.6g}, {high:.6g}]; {self.problem.n} samples>"
        )

    def __call__(self, C: float, gamma: float) -> Solution:
        """The solution at any pair in the span of C and the range of gamma, not only at the gammas of the paths."""
        low, high = float(self.gammas.min()), float(self.gammas.max())
        if not low * (1 - _SAME_GAMMA) <= gamma <= high * (1 + _SAME_GAMMA):
            raise ValueError(
                f"{self.over} = {gamma:.6g} lies outside the range [{low:.6g}, {high:.6g}] of this surface; trace a "
                "surface with a wider range of gamma."
            )
        k = int(np.argmin(np.abs(np.log(self.gammas / gamma))))
        path, C = self.paths[k], self.paths[k].inside(C)
        if abs(self.gammas[k] - gamma) <= _SAME_GAMMA * gamma:
            return path(C)
        there = path.with_kernel(self.over, float(min(max(gamma, low), high))).over_span((C, C))
        return there.start_from(path(C))(C)

    def curves(
        self, criterion: Callable[..., Any], values: Any = None, *, n_jobs: int | None = None, **options: Any
    ) -> Curves:
        """Score every path with a criterion.

        Parameters
        ----------
        criterion : callable
            A function of :mod:`svmpath.criteria`: ``criterion(path, values, **options)``.
        values : array of shape (m,), optional
            Values of C; three per factor of ten by default.
        n_jobs : int, optional
            Number of threads.
        **options
            Further arguments of the criterion.

        Returns
        -------
        Curves
            Pass it to :func:`svmpath.select`.
        """
        if values is None:
            low, high = sorted(self.span)
            values = np.geomspace(low, high, 1 + max(1, round(_VALUES_PER_DECADE * np.log10(high / low))))
        values = np.atleast_1d(np.asarray(values, dtype=float))
        scoring = CriterionCall(criterion, options)
        curves = side_by_side(lambda path: scoring(path, values), self.paths, count_jobs(n_jobs))
        return Curves(self, scoring, values, tuple(curves))

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if a path is not optimal."""
        for path in self.paths:
            path.check(tol)


@dataclass(frozen=True)
class CriterionCall:
    """A criterion and its options."""

    criterion: Callable[..., Any]
    options: dict[str, Any]

    def __call__(self, path: Path, values: Array, loss: Any = None) -> Any:
        """The curve of a path; a held-out loss in the options takes precedence over ``loss``."""
        options = self.options if loss is None else {"loss": loss, **self.options}
        return self.criterion(path, values, **options)


@dataclass(frozen=True, repr=False, eq=False)
class Curves(Shown):
    """Curves over C at each gamma of a surface.

    Attributes
    ----------
    surface : Surface
    criterion : CriterionCall
    values : array of shape (m,)
        Values of C.
    curves : tuple of Curve
        One per gamma.

    See Also
    --------
    svmpath.surface : Follow a machine over C and gamma together.
    svmpath.select : Choose a value on a curve.
    svmpath.displays.SurfaceDisplay : Scores over C and gamma.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> surface = svmpath.surface(X, y, C=(0.1, 10.0), gamma=[0.5, 1.0, 2.0])
    >>> curves = surface.curves(criteria.kfold, [0.1, 1.0, 10.0], cv=5)
    >>> curves.scores.shape
    (3, 3)
    """

    surface: Surface
    criterion: CriterionCall
    values: Array
    curves: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"<Curves: {len(self.curves)} values of {self.surface.over}, {len(self.values)} values of C>"

    @lazy
    def scores(self) -> Array:
        """Scores of shape (k, m); lower is better."""
        return np.array([curve.scores for curve in self.curves])


def surface(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "hinge",
    C: tuple[float, float] = (1e-3, 1e3),
    gamma: ArrayLike,
    n_jobs: int | None = None,
    **options: Any,
) -> Surface:
    """Follow a support vector machine over C and gamma.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data.
    y : array of shape (n,)
        Two labels of any kind (classification) or numbers (regression).
    loss : {"hinge", "huber_hinge", "epsilon_insensitive", "pinball", "squared_hinge", ...} or Loss, default="hinge"
        A name, or an object of ``svmpath.losses``.
    C : (float, float), default=(0.001, 1000.0)
        The first and the last value of C.
    gamma : list or array of floats, or (float, float)
        Values of the kernel parameter ``gamma``. A tuple of two is a span, which is filled with values at most 28 %
        apart.
    n_jobs : int, optional
        Number of threads; each takes a range of neighbouring gammas.
    **options
        Further arguments of :func:`svmpath.trace`: kernel, epsilon, sample_weight, ...

    Returns
    -------
    Surface
        ``surface(C, gamma)`` is the exact machine at any pair in these ranges.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.select : Choose a value on a curve.
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.paths.Surface : What ``svmpath.surface`` returns.
    svmpath.displays.SurfaceDisplay : Scores over C and gamma.

    Notes
    -----
    A path over C of a loss with an elbow stores its kernel matrix: a surface needs memory for two matrices per gamma.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=60))
    >>> surface = svmpath.surface(X, y, C=(0.1, 100.0), gamma=[0.1, 0.3, 1.0])
    >>> surface(2.0, 0.17).violation < 1e-9
    True
    >>> curves = surface.curves(criteria.kfold, cv=5)
    >>> curves.scores.shape
    (3, 10)
    >>> choice = svmpath.select(curves)
    >>> 0.1 <= choice.parameters["gamma"] <= 1.0
    True
    """
    kind = LOSSES.get(loss) if isinstance(loss, str) else type(loss)
    has_C = kind is None or "C" in (each.name for each in kind.parameters)
    if not has_C or options.keys() & {"over", "span", "start", "max_events", "time_limit"}:
        raise ValueError(
            "A surface is a function of C and gamma, so it works with losses that have a C and takes no over=, span=, "
            "start=, max_events= or time_limit=; give C=(first, last) and gamma=... instead."
        )
    threads = count_jobs(n_jobs)
    span, gammas = check_span(C, Parameter("C"), "C"), _check_gammas(gamma)
    first = trace(X, y, loss=loss, over="C", span=span, gamma=float(gammas[0]), **options)
    over = first.gram.kernel.resolve("gamma")
    order = np.argsort(gammas, kind="stable")
    stretches = [part for part in np.array_split(order, min(threads, len(order))) if len(part)]

    def follow(part: Array) -> list[Path]:  # neighbours, each from the one before, in one thread
        paths: list[Path] = []
        for gamma in gammas[part].tolist():
            path = first if first.gram.kernel.parameters[over] == gamma else first.with_kernel(over, gamma)
            paths.append((path.start_from(paths[-1]) if paths and path is not first else path).followed())
        return paths

    followed = [path for part in side_by_side(follow, stretches, threads) for path in part]
    paths = dict(zip(np.concatenate(stretches).tolist(), followed, strict=True))
    return Surface(first.problem, first.loss, over, span, gammas, tuple(paths[k] for k in range(len(gammas))))


def _check_gammas(gamma: Any) -> Array:
    """Distinct positive values; a span is filled."""
    if isinstance(gamma, tuple) and len(gamma) == 2:
        low, high = check_span(gamma, Parameter("gamma"), "gamma")
        return np.geomspace(low, high, 1 + int(np.ceil(abs(np.log(high / low)) / np.log(_RATIO) - 1e-9)))
    try:
        gammas = np.atleast_1d(np.asarray(gamma, dtype=float))
    except (TypeError, ValueError):
        gammas = np.array([np.nan])
    if gammas.ndim != 1 or not len(gammas) or not (np.isfinite(gammas) & (gammas > 0)).all():
        raise ValueError(f"gamma must be a list of positive numbers, or a tuple (first, last), got {gamma!r}.")
    if len(np.unique(gammas)) < len(gammas):
        raise ValueError("gamma must hold distinct values, but one of them appears twice; remove the duplicate.")
    return gammas
