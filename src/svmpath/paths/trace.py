"""From data to a path: ``svmpath.trace``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array, check_random_state, compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from svmpath.gram import make_gram
from svmpath.kernels import gamma_value, make_kernel
from svmpath.losses import LeastSquares, Problem, SquaredHinge, make_loss
from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.march import MarchPath
from svmpath.paths.path import Path

Array = np.ndarray

C_SPAN = (1e-3, 1e6)
GAMMA_FACTOR = 256.0  # how far a default span of gamma goes from scikit-learn's "scale", either way


def trace(
    X: Any,
    y: Any,
    *,
    loss: str = "least_squares",
    over: str = "C",
    span: tuple[float, float] | None = None,
    kernel: Any = "rbf",
    gamma: Any = None,
    degree: int = 3,
    coef0: float = 0.0,
    C: float = 1.0,
    task: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    rank: int | float | None = None,
    landmarks: Any = "rpcholesky",
    truncate: int | None = None,
    min_eigenvalue: float | None = None,
    psd: str = "warn",
    breakpoints: str = "auto",
    random_state: Any = None,
) -> Path:
    """Follow the solution of a support vector machine over one hyper-parameter.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; the (n, n) kernel values for ``kernel="precomputed"``.
    y : array of shape (n,)
        Two labels of any kind (classification) or numbers (regression).
    loss : {"least_squares", "squared_hinge"}
    over : str
        The hyper-parameter that moves: "C", or a real parameter of the kernel ("gamma", "coef0", ...).
    span : (float, float), optional
        Its first and last value, in either direction. Default: (1e-3, 1e6) for C, and scikit-learn's "scale" times
        1/256 to 256 for gamma.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        "linear", "rbf", "poly", "laplacian", "sigmoid", "precomputed", a kernel object, or a function
        k(X, Z) -> matrix.
    gamma : float, "scale" or "auto", default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
    C : float, default=1.0
        The weight of the losses, where the path does not go over it.
    task : {"classification", "regression"}, optional
        Decided by scikit-learn's ``type_of_target`` if not given: continuous targets mean regression.
    sample_weight : array of shape (n,), optional
        Multiplies C sample by sample; zero leaves a sample out.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    rank : int or float, optional
        Low-rank kernel: a number of landmarks, or the relative trace residual to reach. None holds the kernel
        matrix whole.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of rows
    truncate : int, optional
        Keep only so many eigenvalues of the landmarks' kernel matrix.
    min_eigenvalue : float, optional
        Drop smaller ones.
    psd : {"warn", "clip"}, default="warn"
        What to do with an indefinite kernel matrix.
    breakpoints : {"auto", "exact"}, default="auto"
        For the squared hinge, "exact" finds every single change of side; "auto" walks through four nodes per factor
        of ten. The solution is exact at every value either way.
    random_state : int, RandomState or None
        For the choice of landmarks.

    Returns
    -------
    Path
        Call it at any value inside the span: ``path(0.7).alpha``, ``path(0.7)(X_new)``.

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
    X = check_data(X, kernel)
    y, classes, task = encode_target(y, task)
    check_consistent_length(X, y)
    machine = make_loss(loss, task)
    s = check_weights(sample_weight, class_weight, X, y, classes)
    spec = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X)
    if over != "C":
        over = spec.resolve(over)
    span = check_span(span, over, X, positive=over != "coef0" and not over.endswith("__coef0"))
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    gram = make_gram(
        X,
        spec,
        rank=rank,
        landmarks=landmarks,
        truncate=truncate,
        min_eigenvalue=min_eigenvalue,
        psd=psd,
        seed=seed,
    )
    if breakpoints not in ("auto", "exact"):
        raise ValueError(f"breakpoints must be 'auto' or 'exact', got {breakpoints!r}.")
    problem, exact = Problem(gram, y, s, task, classes), breakpoints == "exact"
    return trace_problem(problem, machine, over, span, C=check_positive(C, "C"), exact=exact)


def trace_problem(
    problem: Problem,
    loss: Any,
    over: str,
    span: tuple[float, float],
    *,
    C: float = 1.0,
    shared: Any = None,
    exact: bool = False,
) -> Path:
    """The path of a problem that is already in the solver's form.

    ``shared`` hands on what another path on the same kernel and weights has made (:attr:`Path.shared`).
    """
    if isinstance(loss, LeastSquares):
        return ClosedFormPath(problem, loss, over, span, C, shared)
    if isinstance(loss, SquaredHinge) and over == "C":
        return MarchPath(problem, loss, over, span, shared, exact)
    if isinstance(loss, SquaredHinge):
        raise ValueError(f"loss='squared_hinge' is traced over C, not over {over!r}.")
    raise ValueError(f"There is no tracker for {loss!r}.")


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
    kind = type_of_target(y, input_name="y")
    if task is None:
        task = "regression" if kind.startswith("continuous") else "classification"
    if task == "regression":
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")), None, task
    classes = np.unique(y)
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


def check_span(span: Any, over: str, X: Any, positive: bool = True) -> tuple[float, float]:
    """Both ends of the span as floats, and as positive ones where the parameter is a scale."""
    if span is None:
        if over == "C":
            return C_SPAN
        if over == "gamma":
            scale = gamma_value("scale", X)
            return scale / GAMMA_FACTOR, scale * GAMMA_FACTOR
        raise ValueError(f"span=(first, last) is needed for a path over {over!r}.")
    try:
        first, last = (float(value) for value in span)
    except (TypeError, ValueError):
        raise ValueError(f"span must be a pair of numbers (first, last), got {span!r}.") from None
    if first == last or not np.isfinite([first, last]).all() or (positive and min(first, last) <= 0):
        kind = "positive " if positive else ""
        raise ValueError(f"span must hold two different {kind}numbers, got {span!r}.")
    return first, last


def check_positive(value: Any, name: str) -> float:
    """The value as a positive float."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return float(value)
