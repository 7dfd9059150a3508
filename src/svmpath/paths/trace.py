"""From data to a path: ``svmpath.trace``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import assert_all_finite, check_array, check_random_state, compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from svmpath.gram import Approximation, Gram, make_gram
from svmpath.kernels import gamma_value, make_kernel
from svmpath.losses import ElbowLoss, LeastSquares, Motion, Nu, Problem, Solution, SquaredHinge, make_loss
from svmpath.losses.elastic_hinge import ElasticHinge
from svmpath.parameters import Parameter
from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.elastic import ElasticPath
from svmpath.paths.elastic import Motion as ElasticMotion
from svmpath.paths.jump import JumpPath
from svmpath.paths.kernel_march import KernelPath, NewtonKernelPath
from svmpath.paths.march import MarchPath
from svmpath.paths.merged import Made, MergedPath, find_copies, merge, refine
from svmpath.paths.nodes import NodePath
from svmpath.paths.path import Path
from svmpath.paths.trace_elastic import elastic_path, elastic_problem
from svmpath.solvers.box_qp import EVERY, Limit

Array = np.ndarray

C_SPAN = (1e-3, 1e6)
ELBOW_SPAN = (1e-3, 1e3)  # of C, where every event is told
MACHINE = ("C", "epsilon", "nu", "weight")  # parameters of a machine, not of its kernel
MACHINE_PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("C"),
        Parameter("epsilon", lowest="not negative"),
        Parameter("nu"),
        Parameter("weight", lowest="not negative", log=False),
        Parameter("lambda1", lowest="not negative"),
        Parameter("lambda2"),
        Parameter("ray"),
    )
}
# An exact path takes 0.04 s at n = 1000, 0.5 s at 2000 and 3 to 7 s at 6000, an approximate one 0.3 s and more per
# hundred features at any n: exact up to so many rows, or rows per feature, as long as the kernel matrix can be held.
_FEW_ROWS, _ROWS_PER_RANK, _WHOLE_ROWS = 2000, 8, 10_000
GAMMA_FACTOR = 256.0  # how far a default span of gamma goes from scikit-learn's "scale", either way


def trace(
    X: Any,
    y: Any,
    *,
    loss: str = "least_squares",
    over: str = "C",
    span: tuple[float, float] | None = None,
    kernel: Any = None,
    gamma: Any = None,
    degree: int = 3,
    coef0: float = 0.0,
    C: float = 1.0,
    epsilon: float = 0.1,
    lambda1: float | None = None,
    lambda2: float | None = None,
    l1_ratio: float | None = None,
    penalty_factor: Any = None,
    standardize: bool = False,
    max_features: int | None = None,
    sample: Any = None,
    label: Any = None,
    task: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    rank: int | float | str | Approximation | None = None,
    landmarks: Any = None,
    psd: str = "warn",
    breakpoints: str = "auto",
    tol: float | None = None,
    start: Any = None,
    max_events: int | None = None,
    time_limit: float | None = None,
    random_state: Any = None,
) -> Path:
    """Follow the solution of a support vector machine over one hyper-parameter.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; the (n, n) kernel values for ``kernel="precomputed"``.
    y : array of shape (n,)
        Two labels of any kind (classification) or numbers (regression).
    loss : {"least_squares", "squared_hinge", "hinge", "epsilon_insensitive", "nu", "elastic_hinge"}
    over : str
        The hyper-parameter that moves. "C" for all but "nu" and "elastic_hinge"; "epsilon" for "epsilon_insensitive";
        "nu" for "nu"; "lambda1" (the default there), "lambda2" or "ray" for "elastic_hinge"; "weight" (of some samples)
        for "hinge", "epsilon_insensitive" and "elastic_hinge"; a real parameter of the kernel ("gamma", "coef0", ...)
        for all but "nu" and "elastic_hinge".
    span : (float, float), optional
        Its first and last value, in either direction. Default: (1e-3, 1e6) for C, (1e-3, 1e3) where every event is
        told; scikit-learn's "scale" times 1/256 to 256 for gamma; half the range of y to a thousandth of it for
        epsilon; the largest feasible nu to a hundredth of it; (1, 0) for a weight, which removes the samples; for
        lambda1 and a ray the value below which features are used to a hundredth of it, (100, 0.01) for lambda2.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        A name of ``svmpath.kernels.KERNELS`` ("linear", "poly", "laplacian", ...), a kernel object, or a function
        k(X, Z) -> matrix. The elastic hinge is linear in the columns of X.
    gamma : float, "scale" or "auto", default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
    C : float, default=1.0
        The weight of the losses, where the path does not go over it.
    epsilon : float, default=0.1
        Half the width of the tube of "epsilon_insensitive", where the path does not go over it.
    lambda1, lambda2 : float, optional
        For "elastic_hinge": weights of the l1 and of half the squared l2 norm, where the path does not go over them.
        lambda2 is 1 if not given, and 0 gives the l1-norm machine exactly.
    l1_ratio : float in [0, 1], optional
        For ``over="ray"``: lambda1 = value * l1_ratio and lambda2 = value * (1 - l1_ratio). Default: 0.5.
    penalty_factor : array of shape (d,), optional
        For "elastic_hinge": multiplies lambda1 feature by feature; 0 for a feature that is always used.
    standardize : bool, default=False
        For "elastic_hinge": penalise the coefficients of columns of unit deviation; ``coef`` is told for X as given.
    max_features : int, optional
        For "elastic_hinge": end the path where one more feature would be used.
    sample : int or array of int, optional
        For ``over="weight"``: the rows whose weight is multiplied by the value.
    label : optional
        For ``over="weight"``: the class whose weights are.
    task : {"classification", "regression"}, optional
        Decided by scikit-learn's ``type_of_target`` if not given: continuous targets mean regression.
    sample_weight : array of shape (n,), optional
        Multiplies C sample by sample; zero leaves a sample out.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    rank : int, float, "auto" or Approximation, optional
        Low-rank kernel: a number of landmarks, the relative trace residual to reach (between 0 and 1), "auto" (500
        landmarks from 2000 rows on), or an approximation such as ``svmpath.gram.Nystroem(200, truncate=50)`` or
        ``svmpath.gram.RandomFourier(300)``. None holds the kernel matrix whole.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of rows, default="rpcholesky"
        How the landmarks are chosen; not beside an approximation object.
    psd : {"warn", "clip"}, default="warn"
        What to do with an indefinite kernel matrix.
    breakpoints : {"auto", "exact"}, default="auto"
        Losses with an elbow always tell every event. For the squared hinge, "exact" finds every single change of
        side; "auto" walks through four nodes per factor of ten. The solution is exact at every value either way.
    tol : float, optional
        For a loss with an elbow over C: a relative duality gap that is enough. With many samples the path is then
        approximate, of nodes so close to each other that no machine in between has a larger gap; with ``rank=`` it
        serves tens of thousands of samples. With few samples (2000, or eight per feature of a low-rank kernel) an exact
        path takes less time, and is what you get: ``path.is_exact`` tells.
    start : Solution or array of shape (n,), optional
        For a loss with an elbow: a machine of a similar problem (other kernel, weights, labels or rows), or its
        ``alpha / C``, one number per row and zero for new ones. The first machine of the path is reached from it by
        following the change, in fewer events the more alike they are.
    max_events : int, optional
        For an exact path of a loss with an elbow over C, epsilon, nu or a weight: after about so many events the path
        ends where it is, with a :class:`svmpath.LimitWarning` that says how far that is; ``path.span`` is what was
        walked.
    time_limit : float, optional
        Likewise after so many seconds.
    random_state : int, RandomState or None
        For the choice of landmarks.

    Returns
    -------
    Path
        Call it at any value inside the span: ``path(0.7).alpha``, ``path(0.7)(X_new)``.

    Notes
    -----
    Losses with an elbow are followed by compiled code. The first such path after installation is compiled, which takes
    some ten seconds; the result is kept on disk, and ``svmpath compile`` does it beforehand.

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
    if loss == "elastic_hinge":
        elastic = Elastic(lambda1, lambda2, l1_ratio, penalty_factor, standardize, max_features)
        if not (kernel is None or kernel == "linear") or any(option is not None for option in (rank, tol, start)):
            raise ValueError(
                "loss='elastic_hinge' is linear in the columns of X: it takes no kernel=, rank=, tol= or start=."
            )
        if max_events is not None or time_limit is not None:
            raise ValueError("max_events and time_limit are not for loss='elastic_hinge': give max_features= or span=.")
        return _trace_elastic(X, y, over, span, elastic, sample, label, task, sample_weight, class_weight)
    theirs = (lambda1, lambda2, l1_ratio, penalty_factor, max_features)
    if standardize or any(option is not None for option in theirs):
        raise ValueError(
            "lambda1, lambda2, l1_ratio, penalty_factor, standardize and max_features belong to loss='elastic_hinge', "
            f"not to {loss!r}."
        )
    kernel = "rbf" if kernel is None else kernel
    X = check_data(X, kernel)
    y, classes, task = encode_target(y, task)
    check_consistent_length(X, y)
    machine = make_loss(loss, task, epsilon=check_amount(epsilon, "epsilon"))
    s = check_weights(sample_weight, class_weight, X, y, classes)
    spec = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X)
    if over not in MACHINE:
        over = spec.resolve(over)
    rows = check_moving(sample, label, over, y, classes)
    if rows is not None and not np.delete(s, rows).any():
        raise ValueError("over='weight' moves every sample that has a weight; some must stay.")
    is_default = span is None
    parameter = MACHINE_PARAMETERS[over] if over in MACHINE else spec.parameter(over)
    span = check_span(span, parameter, X, machine, y, s)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    gram = make_gram(
        X,
        spec,
        rank=rank,
        landmarks=landmarks,
        psd=psd,
        seed=seed,
    )
    if breakpoints not in ("auto", "exact"):
        raise ValueError(f"breakpoints must be 'auto' or 'exact', got {breakpoints!r}.")
    problem = Problem(gram, y, s, task, classes, copies=find_copies(gram, y))
    exact = breakpoints == "exact"
    tol = None if tol is None else check_positive(tol, "tol")
    path = trace_problem(problem, machine, over, span, C=check_positive(C, "C"), exact=exact, rows=rows, tol=tol)
    start = None if start is None else check_start(start, len(y))
    if start is not None and tol is not None:
        raise ValueError("start= is for exact paths; it does not go with tol=.")
    limit = check_limit(max_events, time_limit)
    if isinstance(path, MergedPath):
        start = None if start is None else np.bincount(path.copies, start)
        return path.around(_begin(path.inner, start, limit, exact, over == "nu" and is_default))
    return _begin(path, start, limit, exact, over == "nu" and is_default)


def _begin(path: Path, start: Array | None, limit: Limit | None, exact: bool, shorten: bool) -> Path:
    """The path from a start, if one is given, and walked as far as a limit where its events are to be known."""
    if start is not None:
        if not isinstance(path, (JumpPath, KernelPath)):
            raise ValueError(f"start= is for losses with an elbow, not for loss={path.loss.name!r}.")
        path = replace(path, start=start)
    if limit is not None:
        if not isinstance(path, JumpPath):
            raise ValueError(
                "max_events and time_limit are for exact paths of losses with an elbow over C, epsilon, nu or a "
                f"weight, not for loss={path.loss.name!r} over {path.over!r}."
            )
        path = replace(path, limit=limit)
    if isinstance(path, (JumpPath, KernelPath)) or (isinstance(path, NewtonKernelPath) and exact):
        if isinstance(path, JumpPath) and shorten:
            path = path.within_reach()
        path.record  # noqa: B018 - a path that cannot be followed is refused here, not when it is first used
    return path.as_far_as_walked() if isinstance(path, JumpPath) else path


class Elastic(NamedTuple):
    """The options of trace that belong to the elastic hinge."""

    lambda1: float | None
    lambda2: float | None
    l1_ratio: float | None
    penalty_factor: Any
    standardize: bool
    max_features: int | None


def _trace_elastic(
    X: Any,
    y: Any,
    over: str,
    span: Any,
    options: Elastic,
    sample: Any,
    label: Any,
    task: Any,
    weights: Any,
    classw: Any,
) -> ElasticPath:
    """The path of the elastic hinge, from data as they were given."""
    over = "lambda1" if over == "C" else over  # C is trace's default and no parameter of this machine
    if over not in ElasticHinge.overs:
        raise ValueError(f"loss='elastic_hinge' is traced over {' or '.join(ElasticHinge.overs)}, not over {over!r}.")
    X = check_data(X, "linear")
    y, classes, task = encode_target(y, "classification" if task is None else task)
    if task != "classification":
        raise ValueError("loss='elastic_hinge' does classification, not regression.")
    check_consistent_length(X, y)
    s = check_weights(weights, classw, X, y, classes)
    rows = check_moving(sample, label, over, y, classes)
    if rows is not None and not np.delete(s, rows).any():
        raise ValueError("over='weight' moves every sample that has a weight; some must stay.")
    problem = elastic_problem(
        X, y, s, classes, penalty_factor=options.penalty_factor, standardize=bool(options.standardize)
    )
    motion = check_motion(over, options, rows)
    span = None if span is None else check_pair(span, MACHINE_PARAMETERS[over])
    return elastic_path(problem, motion, span, options.max_features)


def check_motion(over: str, options: Elastic, rows: Array | None) -> ElasticMotion:
    """What moves and what stays, refused where something is told twice or missing."""
    moving = {"lambda1": ("lambda1",), "lambda2": ("lambda2",), "ray": ("lambda1", "lambda2")}.get(over, ())
    for name in moving:
        if getattr(options, name) is not None:
            raise ValueError(f"The path over {over} moves {name} itself; leave {name}= out.")
    if options.l1_ratio is not None and over != "ray":
        raise ValueError(f"l1_ratio belongs to over='ray', this path goes over {over!r}.")
    if over in ("lambda2", "weight") and options.lambda1 is None:
        raise ValueError(f"A path of the elastic hinge over {over} needs lambda1=.")
    ratio = 0.5 if options.l1_ratio is None else check_amount(options.l1_ratio, "l1_ratio")
    if ratio > 1:
        raise ValueError(f"l1_ratio must be a number from 0 to 1, got {ratio!r}.")
    lam1 = check_amount(0.0 if options.lambda1 is None else options.lambda1, "lambda1")
    lam2 = check_amount(1.0 if options.lambda2 is None else options.lambda2, "lambda2")
    if over == "weight" and lam1 == lam2 == 0.0:
        raise ValueError(
            "Without lambda1 and lambda2 the machine is not determined; give one of them a positive value."
        )
    return ElasticMotion(over, lam1, 0.0 if over == "ray" else lam2, ratio, rows)


def trace_problem(
    problem: Problem,
    loss: Any,
    over: str,
    span: tuple[float, float],
    *,
    C: float = 1.0,
    shared: Any = None,
    exact: bool = False,
    rows: Array | None = None,
    tol: float | None = None,
) -> Path:
    """The path of a problem that is already in the solver's form.

    ``shared`` hands on what another path on the same kernel and weights has made (:attr:`Path.shared`); ``rows`` are
    those whose weight moves. Where the problem knows of copies, one row for each sample is followed.
    """
    if problem.copies is not None:
        return _trace_merged(problem, Tracing(loss, over, span, C, exact, rows, tol), shared)
    if isinstance(loss, ElbowLoss) and over in loss.overs:
        fixed = {"C": C, **loss.own} if not isinstance(loss, Nu) else {}
        fixed.pop(over, None)
        if tol is not None and over == "C" and not exact_is_cheaper(problem.gram):
            return NodePath(problem, loss, over, span, Motion(over, fixed), tol, shared)
        if over != "C":
            check_exact(tol, loss, over)
        return JumpPath(problem, loss, over, span, Motion(over, fixed, rows), shared)
    check_exact(tol, loss, over)
    if isinstance(loss, ElbowLoss) and over not in MACHINE and not isinstance(loss, Nu):
        return KernelPath(problem, loss, over, span, Motion(over, {"C": C, **loss.own}))
    if isinstance(loss, LeastSquares) and (over == "C" or over not in MACHINE):
        return ClosedFormPath(problem, loss, over, span, C, shared)
    if isinstance(loss, SquaredHinge) and over == "C":
        return MarchPath(problem, loss, over, span, shared, exact)
    if isinstance(loss, SquaredHinge) and over not in MACHINE:
        return NewtonKernelPath(problem, loss, over, span, C, exact)
    kernel = () if isinstance(loss, Nu) else ("a kernel parameter",)
    overs = " or ".join((*getattr(loss, "overs", ("C",)), *kernel))
    raise ValueError(f"loss={loss.name!r} is traced over {overs}, not over {over!r}.")


def exact_is_cheaper(gram: Gram) -> bool:
    """Whether every event of a path over C takes less time than an approximate path to a gap of 1e-3."""
    if gram.n <= _FEW_ROWS or gram.n > _WHOLE_ROWS:
        return gram.n <= _FEW_ROWS
    return gram.n <= _ROWS_PER_RANK * gram.rank


@dataclass(frozen=True)
class Tracing:
    """The arguments of :func:`trace_problem`: call it with another problem for its path."""

    loss: Any
    over: str
    span: tuple[float, float]
    C: float
    exact: bool
    rows: Array | None
    tol: float | None

    def __call__(self, problem: Problem, *, span: tuple[float, float] | None = None, shared: Any = None) -> Path:
        """The path of a problem, over another span if one is given."""
        return trace_problem(
            problem,
            self.loss,
            self.over,
            self.span if span is None else span,
            C=self.C,
            shared=shared,
            exact=self.exact,
            rows=self.rows,
            tol=self.tol,
        )


def _trace_merged(problem: Problem, again: Tracing, shared: Any) -> Path:
    """The path of the problem with one row for all copies that move alike."""
    rows, moving = again.rows, None
    if rows is not None:
        is_moving = np.isin(np.arange(problem.n), rows)
        problem = replace(problem, copies=refine(problem.copies, is_moving))
        if problem.copies is None:
            return again(problem)
        moving = np.unique(problem.copies[rows])
    made = Made() if shared is None else shared
    known = None if made.merged is None else made.merged.shared
    inner = replace(again, rows=moving)(merge(problem), shared=known)
    return MergedPath(problem, inner.loss, inner.over, inner.span, inner, again, Made(inner, made.split))


def check_exact(tol: float | None, loss: Any, over: str) -> None:
    """Refuse tol where every path is exact."""
    if tol is not None:
        raise ValueError(
            f"tol= is for approximate paths of losses with an elbow over C, not for {loss!r} over {over!r}."
        )


def check_data(X: Any, kernel: Any) -> Any:
    """X as an array of floats or a CSR matrix; square and symmetric if it holds kernel values."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator="svmpath")
    if kernel == "precomputed" if isinstance(kernel, str) else getattr(kernel, "pairwise", False):
        check_symmetric_values(X)
    return X


def check_symmetric_values(X: Any) -> None:
    """Refuse a precomputed kernel matrix that is not square or not symmetric."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed kernel must be a square matrix of shape (n, n), got shape {X.shape}.")
    uneven = abs(X - X.T).max()
    if uneven > 1e-8 * abs(X).max():
        raise ValueError(
            f"A precomputed kernel must be symmetric; it differs from its transpose by up to {uneven:.3g}."
        )


def encode_target(y: Any, task: str | None) -> tuple[Array, Array | None, str]:
    """The target as floats, the labels that -1 and +1 stand for, and the task."""
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be 'classification', 'regression' or None, got {task!r}.")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    classes = np.unique(y) if y.dtype.kind in "biuf" else None
    # Two whole numbers are labels; scikit-learn, which takes longer to say so, is asked about the rest.
    if classes is None or len(classes) != 2 or np.any(classes != np.round(classes)):
        kind = type_of_target(y, input_name="y")
    else:
        kind = "binary"
    if task is None:
        task = "regression" if kind.startswith("continuous") else "classification"
    if task == "regression":
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")), None, task
    classes = np.unique(y) if classes is None else classes
    if len(classes) == 1:
        raise ValueError(f"Classification needs two classes, y has only one class: {classes.tolist()[0]!r}.")
    if len(classes) > 2:
        raise ValueError(
            f"A path is traced for two classes and y has {len(classes)}: use PathSVC for several classes, or "
            "task='regression' if y holds amounts."
        )
    return np.where(y == classes[1], 1.0, -1.0), classes, task


def check_weights(sample_weight: Any, class_weight: Any, X: Any, y: Array, classes: Array | None) -> Array:
    """One weight >= 0 per sample, the class weights multiplied in."""
    s = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True)
    if class_weight is not None:
        if classes is None:
            raise ValueError("class_weight belongs to classification; use sample_weight for regression.")
        labels = classes[(y > 0).astype(int)]
        s *= compute_class_weight(class_weight, classes=classes, y=labels)[(y > 0).astype(int)]
    if not s.any():
        raise ValueError("Every sample has weight zero; at least one weight must be positive.")
    return s


def check_moving(sample: Any, label: Any, over: str, y: Array, classes: Array | None) -> Array | None:
    """The rows whose weight moves, for ``over="weight"``."""
    if over != "weight":
        if sample is not None or label is not None:
            raise ValueError(f"sample and label belong to over='weight', this path goes over {over!r}.")
        return None
    if (sample is None) == (label is None):
        raise ValueError("over='weight' needs sample= (a row or an array of rows) or label= (a class), one of them.")
    if label is not None:
        if classes is None or label not in classes.tolist():
            known = "there are none in regression" if classes is None else f"there are {classes.tolist()}"
            raise ValueError(f"label must be one of the classes ({known}), got {label!r}.")
        return np.flatnonzero((y > 0) == (label == classes[1]))
    rows = np.unique(np.atleast_1d(sample))
    if rows.dtype.kind not in "iu" or len(rows) == 0 or rows[0] < 0 or rows[-1] >= len(y):
        raise ValueError(f"sample must hold rows from 0 to {len(y) - 1}, got {sample!r}.")
    return rows


def default_span(over: str, X: Any, loss: Any, y: Array, s: Array) -> tuple[float, float]:
    """Where a path goes if nothing is said."""
    if over == "C":
        return ELBOW_SPAN if isinstance(loss, ElbowLoss) else C_SPAN
    if over == "nu":
        largest = Nu.largest(y, s)
        return largest, 0.01 * largest  # refused by check_nu if a class has no weight
    if over == "epsilon":
        half = 0.5 * float(np.ptp(y)) or 1.0
        return half, 1e-3 * half
    if over == "weight":
        return 1.0, 0.0
    if over == "gamma":
        scale = gamma_value("scale", X)
        return scale / GAMMA_FACTOR, scale * GAMMA_FACTOR
    raise ValueError(f"span=(first, last) is needed for a path over {over!r}.")


def check_nu(span: tuple[float, float], y: Array, s: Array) -> tuple[float, float]:
    """The span, no larger than feasible in spite of rounding; refused where there is no machine."""
    largest = Nu.largest(y, s)
    if not largest > 0.0:
        raise ValueError("loss='nu' needs samples of positive weight in both classes.")
    if max(span) > largest * (1 + 1e-12):
        raise ValueError(
            f"nu = {max(span):.6g} is infeasible: with these classes and weights it is at most {largest:.6g} "
            "(twice the share of the smaller class)."
        )
    return min(span[0], largest), min(span[1], largest)


def check_span(span: Any, parameter: Parameter, X: Any, loss: Any, y: Array, s: Array) -> tuple[float, float]:
    """Both ends of the span as floats, in the range that the parameter can have."""
    over = parameter.name
    span = default_span(over, X, loss, y, s) if span is None else check_pair(span, parameter)
    return check_nu(span, y, s) if over == "nu" else span


def check_pair(span: Any, parameter: Parameter) -> tuple[float, float]:
    """Two different numbers that the parameter can be."""
    try:
        first, last = (float(value) for value in span)
    except (TypeError, ValueError):
        raise ValueError(f"span must be a pair of numbers (first, last), got {span!r}.") from None
    if first == last or not (parameter.allows(first) and parameter.allows(last)):
        raise ValueError(f"span must hold two different {parameter.numbers}, got {span!r}.")
    return first, last


def check_positive(value: Any, name: str) -> float:
    """The value as a positive float."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return float(value)


def check_amount(value: Any, name: str) -> float:
    """The value as a float >= 0."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number >= 0, got {value!r}.")
    return float(value)


def check_limit(max_events: Any, time_limit: Any) -> Limit | None:
    """Where a walk ends before its span does; None if nothing was said."""
    if max_events is None and time_limit is None:
        return None
    if max_events is not None and (not isinstance(max_events, (int, np.integer)) or max_events < 1):
        raise ValueError(f"max_events must be a whole number >= 1 or None, got {max_events!r}.")
    seconds = np.inf if time_limit is None else check_positive(time_limit, "time_limit")
    return Limit(EVERY if max_events is None else int(max_events), monotonic() + seconds)


def check_start(start: Any, n: int) -> Array:
    """Alpha / C of the machine to start from, one number per row."""
    if isinstance(start, Solution):
        scale = start.parameters["C"] if "C" in start.parameters else 1.0 / getattr(start, "rho", 1.0)
        start = start.alpha / scale
    theta = np.asarray(start, dtype=float)
    if not np.isfinite(theta).all():
        raise ValueError("start holds numbers that are not finite.")
    if theta.shape != (n,):
        raise ValueError(
            f"start must be a Solution or hold one finite number per row, of shape ({n},); got {theta.shape}."
        )
    return theta
