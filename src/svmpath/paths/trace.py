"""From data to a path: ``svmpath.trace``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from svmpath.chunked import distributed, is_chunked
from svmpath.gram import Approximation, make_gram
from svmpath.kernels import Kernel, gamma_value, make_kernel
from svmpath.losses import LOSSES, NOVELTY, ElbowLoss, Loss, Problem, Solution, make_loss
from svmpath.names import unknown_name
from svmpath.parameters import Parameter
from svmpath.paths.copies import find_copies
from svmpath.paths.data_span import data_span
from svmpath.paths.jump import JumpPath
from svmpath.paths.path import Path, Request
from svmpath.paths.trackers import KERNEL, trace_problem
from svmpath.solvers.box_qp import EVERY, Limit
from svmpath.validation import (
    check_amount,
    check_data,
    check_moving,
    check_positive,
    check_span,
    check_weights,
    check_whole,
    draw_seed,
    encode_target,
)

Array = np.ndarray

_GAMMA_FACTOR = 256.0  # how far a default span of gamma goes from scikit-learn's "scale", either way
_ROUNDING = 1e-12  # relative; a value larger than feasible by no more is feasible


def _at_level(loss: Any, quantile: float, *, is_given: bool) -> Loss:
    """The loss at this quantile; one that has none, or its own, is refused."""
    if is_given or not loss.level:
        why = "has its own parameters" if is_given else "has no quantile"
        raise ValueError(
            f"quantile={quantile!r} is for loss='pinball' and loss='expectile', but loss={loss.name!r} {why}: leave "
            "quantile out."
        )
    level: Loss = replace(loss, **{loss.level: quantile})
    return level


def trace(
    X: Any,
    y: Any = None,
    *,
    loss: str | Loss | None = None,
    over: str | None = None,
    span: tuple[float, float] | str | None = None,
    kernel: str | Kernel | Callable[..., Any] = "rbf",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    C: float = 1.0,
    epsilon: float = 0.1,
    quantile: float | None = None,
    sample: int | ArrayLike | None = None,
    task: str | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    offset: bool = True,
    rank: int | float | str | Approximation | None = None,
    landmarks: str | ArrayLike | None = None,
    breakpoints: str = "auto",
    tol: float | None = None,
    start: Solution | ArrayLike | None = None,
    max_events: int | None = None,
    time_limit: float | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Path:
    """Follow the solution of a support vector machine over one hyper-parameter.

    The result is a function: ``path(0.7)`` is the machine at 0.7, without another fit; exact unless you set ``tol``.
    Most calls set ``loss``, ``over``, ``span`` and ``gamma``; the others are for weights, many rows and special cases.

    Parameters
    ----------
    X : array, CSR matrix, or Dask array or data frame, of shape (n, d)
        The data; the (n, n) kernel values for ``kernel="precomputed"``.
    y : array of shape (n,), optional
        Two labels of any kind (classification) or numbers (regression); None for the loss "one_class" only.
    loss : str or Loss, optional
        "least_squares", "squared_hinge", "hinge", "huber_hinge", "epsilon_insensitive", "expectile", "pinball", "nu" or
        "one_class"; or an object of ``svmpath.losses`` with parameters of its own, such as ``Pinball(0.9)``. Default:
        "squared_hinge" for classification, "least_squares" for regression. For the elastic hinge, see
        :func:`svmpath.trace_elastic`.
    over : str, optional
        The hyper-parameter to follow: "C" (the default) for all losses but two; "nu" for "nu" and "one_class", which
        have no C; "epsilon" for "epsilon_insensitive"; "quantile" for "pinball"; "weight" (of some samples) for
        "hinge", "epsilon_insensitive" and "pinball"; a real parameter of the kernel ("gamma", "coef0", ...) for all
        losses but "nu", "one_class", "huber_hinge" and "expectile".
    span : (float, float) or "data", optional
        The first and the last value of the hyper-parameter; the path may go up or down. "data" is for C with least
        squares and the squared hinge: from a C below which no sample is on the margin, to one from which on the ridge
        is a millionth of the kernel. Default: (1e-3, 1e6) for C, (1e-3, 1e3) for losses with an elbow and
        "huber_hinge"; scikit-learn's "scale" times 1/256 to 256 for gamma; half the range of y to a thousandth of it
        for epsilon; (0.01, 0.99) for a quantile; the largest feasible nu to a hundredth of it; (1, 0) for a weight,
        which removes the samples.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        "linear", "rbf", "poly", "laplacian", "sigmoid", "precomputed", a kernel object, or a function
        k(X, Z) -> matrix, which is given CSR matrices if X is sparse.
    gamma : float, "scale" or "auto", optional
        Inverse squared width of the "rbf" kernel, and factor in other kernels; "scale" (the default) and "auto" as in
        scikit-learn, except that the variance that "scale" looks at is weighted by ``sample_weight``. A kernel object
        keeps its own gamma unless you give one. A kernel or function that has no gamma ignores it, as in scikit-learn.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    C : float, default=1.0
        The weight of the losses, unless the path is over C.
    epsilon : float, default=0.1
        Half the width of the tube of "epsilon_insensitive", unless the path is over epsilon.
    quantile : float, optional
        The level of "pinball" and "expectile", unless the path is over it; by default 0.5 and 0.9.
    sample : int, array of int, or mask of shape (n,), optional
        For ``over="weight"``: the rows whose weight is multiplied by the value. Use ``y == label`` for the rows of a
        class.
    task : {"classification", "regression"}, optional
        By default scikit-learn's ``type_of_target`` decides: continuous targets mean regression.
    sample_weight : array of shape (n,), optional
        Multiplies C for each sample. A sample with weight zero takes no part in the fit.
    class_weight : dict or "balanced", optional
        Multiplies C for each class.
    offset : bool, default=True
        Whether decision values have an offset. Without one, b is zero and f = K alpha: for "hinge",
        "epsilon_insensitive", "least_squares", "squared_hinge", "huber_hinge" and "expectile", over the parameters of
        the loss, exactly.
    rank : int, float, "auto" or Approximation, optional
        Low-rank kernel: the number of landmarks, a target for the relative trace residual (between 0 and 1), "auto"
        (500 landmarks for more than 2000 rows, whatever C is: ``criteria.approximation_gap(path(C))`` tells whether
        they are enough), or an approximation such as
        ``svmpath.gram.Nystroem(200, truncate=50)`` or ``svmpath.gram.RandomFourier(300)``. None uses the full kernel
        matrix.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of rows, default="rpcholesky"
        How the landmarks are chosen. Do not combine it with an approximation object.
    breakpoints : {"auto", "exact"}, default="auto"
        Losses with an elbow always record every event. For the squared hinge, "exact" finds every event; "auto"
        computes four nodes per factor of ten. The solution is exact at every value in both cases.
    tol : float, optional
        For a loss with an elbow over C: the largest relative duality gap that you accept. With many samples the path
        is then approximate, with nodes so close to each other that no machine between them has a larger gap; with
        ``rank=`` you can use tens of thousands of samples. With few samples (up to 2000, or up to 10 000 if the kernel
        matrix is full or has a feature for every eight of them) an exact path takes less time, so you get an exact one;
        see ``path.is_exact``.
    start : Solution or array of shape (n,), optional
        For a loss with an elbow: the solution of a similar problem (other kernel, weights, labels or rows) to start
        from, or an array ``alpha / C`` with one number per row and zero for new rows. The more similar the problems
        are, the less time the first machine of the path takes.
    max_events : int, optional
        For an exact path of a loss with an elbow over C, epsilon, nu or a weight: end the path after about this many
        events. A :class:`svmpath.LimitWarning` says where it ended, and ``path.span`` is shortened accordingly.
    time_limit : float, optional
        The same after this many seconds.
    random_state : int, RandomState or None
        Random seed for choosing the landmarks or random features; None stands for 0.

    Returns
    -------
    Path
        Call it with any value in the span: ``path(0.7).alpha``, ``path(0.7)(X_new)``.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.surface : Follow a machine over C and gamma together.
    svmpath.trace_elastic : Follow the elastic-net hinge machine.
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.select : Choose a value on a curve.
    svmpath.paths.Path : What all paths have in common.

    Notes
    -----
    The paths of losses with an elbow run in compiled code. The first such path after installation takes some ten
    seconds longer, because the code is compiled; it is then kept on disk. ``svmpath compile`` compiles it in advance.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="least_squares", over="C", span=(1e-3, 1e3))
    >>> solution = path(0.7)
    >>> solution.violation < 1e-10, np.mean(np.sign(solution(X)) == y) > 0.9
    (True, np.True_)
    """
    if is_chunked(X, y, sample_weight):
        if y is None:
            raise ValueError("Without y there is a path of rows in memory only: give X as an array (X.compute()).")
        options = {name: value for name, value in locals().items() if name not in ("X", "y")}
        return distributed().trace(X, y, {**options, "over": "C" if over is None else over})
    X = check_data(X, kernel)
    y, classes, task = encode_target(y, task) if y is not None else (np.ones(X.shape[0]), None, NOVELTY)
    check_consistent_length(X, y)
    machine = make_loss(loss, task, epsilon=check_amount(epsilon, "epsilon"))
    if quantile is not None:
        machine = _at_level(machine, quantile, is_given=machine is loss)
    s = check_weights(sample_weight, X, class_weight, classes, None if classes is None else (y > 0).astype(int))
    given = None if sample_weight is None else check_weights(sample_weight, X)  # without those of the classes
    spec = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X, sample_weight=given)
    over = machine.parameter_names[0] if over is None else check_over(over, machine, spec)
    rows = check_moving(sample, over, s)
    is_default = span is None
    is_from_data = isinstance(span, str) and span == "data"
    if is_from_data and (over != "C" or not (machine.is_linear or machine.is_inside_margin)):
        raise ValueError(
            f"span='data' works for least squares and the squared hinge over C, not for loss={machine.name!r} over "
            f"{over!r}; give span=(first, last)."
        )
    given_span = None if is_from_data else span
    span = span_of(given_span, over, machine, spec, y, s, partial(gamma_value, "scale", X, given))
    seed = draw_seed(random_state)
    gram = make_gram(X, spec, rank=rank, landmarks=landmarks, seed=seed)
    if not isinstance(offset, (bool, np.bool_)):
        raise ValueError(f"offset must be True or False, got {offset!r}.")
    if breakpoints not in ("auto", "exact"):
        raise ValueError(f"breakpoints must be 'auto' or 'exact', got {breakpoints!r}.")
    problem = Problem(gram, y, s, task, classes, copies=find_copies(gram, y), offset=bool(offset))
    if is_from_data:
        span = data_span(problem) or span
    tol = None if tol is None else check_positive(tol, "tol")
    if start is not None and tol is not None:
        raise ValueError("start= works with exact paths only; leave out start= or tol=.")
    request = Request(machine, over, span, check_positive(C, "C"), breakpoints == "exact", rows, tol)
    path = trace_problem(problem, request)
    if start is not None:
        path = path.start_from(check_start(start, problem, machine))
    if max_events is not None or time_limit is not None:
        path = check_limited(path, max_events, time_limit)
    return path.followed(shorten=over == "nu" and is_default)


def check_over(over: Any, loss: Loss, kernel: Kernel) -> str:
    """The full name of the hyper-parameter that the path follows."""
    if over in loss.parameter_names:
        return str(over)
    has_kernel = KERNEL in loss.followed_by
    names = (*loss.parameter_names, *(kernel.parameters if has_kernel else ()))
    ends = {name.split("__")[-1] for name in names}
    if not isinstance(over, str) or (over not in names and over not in ends):
        raise ValueError(unknown_name(f"With loss={loss.name!r} over", over, names))
    return kernel.resolve(over)


def parameter_of(over: str, loss: Loss, kernel: Kernel) -> Parameter:
    """The declaration of the hyper-parameter that the path follows."""
    own = {each.name: each for each in loss.parameters}
    return own[over] if over in own else kernel.parameter(over)


def span_of(
    span: Any, over: str, loss: Loss, kernel: Kernel, y: Array, s: Array, find_scale: Callable[[], float]
) -> tuple[float, float]:
    """Both ends of the span as floats, in the range that the parameter can have; gamma's is around its scale."""
    largest = loss.largest(over, y, s)
    if not largest > 0.0:
        raise ValueError(f"loss={loss.name!r} needs samples of positive weight in both classes.")
    if span is None:
        span = loss.default_span(over, y, s)
        if span is None and over == "C":
            span = loss.policy.span
        elif span is None and over == "gamma":
            scale = find_scale()
            span = scale / _GAMMA_FACTOR, scale * _GAMMA_FACTOR
        elif span is None:
            raise ValueError(f"There is no default span for a path over {over!r}; give span=(first, last).")
        first, last = span
    else:
        first, last = check_span(span, parameter_of(over, loss, kernel))
    if max(first, last) > largest * (1 + _ROUNDING):
        raise ValueError(
            f"{over} = {max(first, last):.6g} is infeasible: with these samples and weights it is at most "
            f"{largest:.6g} ({loss.beyond_largest})."
        )
    return min(first, largest), min(last, largest)


def check_limited(path: Path, max_events: Any, time_limit: Any) -> JumpPath:
    """The path, its walk to end before its span does."""
    if not path.is_exact:
        raise ValueError("max_events and time_limit need an exact path: leave tol out.")
    if not isinstance(path, JumpPath):
        raise ValueError(
            "max_events and time_limit work for exact paths of losses with an elbow over C, epsilon, nu or a "
            f"weight, not for loss={path.loss.name!r} over {path.over!r}; leave them out."
        )
    events = EVERY if max_events is None else check_whole(max_events, "max_events", words=" or None")
    seconds = np.inf if time_limit is None else check_positive(time_limit, "time_limit")
    return replace(path, limit=Limit(events, monotonic() + seconds))


def check_start(start: Any, problem: Problem, loss: Loss) -> Solution:
    """The machine to start from, with the coefficients alpha / C that were given, one number per row."""
    if not isinstance(loss, ElbowLoss):
        names = ", ".join(repr(name) for name, kind in LOSSES.items() if issubclass(kind, ElbowLoss))
        raise ValueError(f"start= works for losses with an elbow ({names}), not for loss={loss.name!r}; leave it out.")
    n = problem.n
    theta = np.asarray(start.coefficients if isinstance(start, Solution) else start, dtype=float)
    if not np.isfinite(theta).all():
        raise ValueError("start must hold finite numbers, but it contains NaN or infinity.")
    if theta.shape != (n,):
        raise ValueError(
            f"start must be a Solution or hold one finite number per row, of shape ({n},); got {theta.shape}."
        )
    return Solution(problem, loss, theta, 0.0, {"C": 1.0})
