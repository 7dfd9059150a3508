"""Checks of user input: data, targets, weights, spans, numbers. The only copy of these checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_array, check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from svmpath.names import unknown_name
from svmpath.parameters import Parameter

Array = np.ndarray

TASKS = ("classification", "regression")
_LARGEST = 1e150  # of numbers that have squares, and sums of many squares
_UNEVEN = 1e-8  # relative difference from its transpose up to which a kernel matrix is symmetric


# --- data ------------------------------------------------------------------------------------------------------------


def check_data(X: Any, kernel: Any) -> Any:
    """X as an array of floats or a CSR matrix; square and symmetric if it holds kernel values."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator="svmpath")
    if is_pairwise(kernel):
        check_symmetric_values(X)
    return X


def is_pairwise(kernel: Any) -> bool:
    """Whether X holds kernel values, for a kernel as it was given."""
    return bool(kernel == "precomputed" if isinstance(kernel, str) else getattr(kernel, "pairwise", False))


def check_squares(X: Any) -> None:
    """Raise an error for numbers whose squares, which kernels and variances are made of, overflow."""
    numbers = X.data if issparse(X) else X
    largest = max(float(numbers.max(initial=0.0)), -float(numbers.min(initial=0.0)))
    if largest > _LARGEST:
        raise ValueError(
            f"X has numbers as large as {largest:.1g}, whose squares are beyond double precision; divide X by a "
            f"constant, so that none is above {_LARGEST:.0e}."
        )


def check_symmetric_values(X: Any) -> None:
    """Raise an error for a precomputed kernel matrix that is not square or not symmetric."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed kernel must be a square matrix of shape (n, n), got shape {X.shape}.")
    uneven = abs(X - X.T).max()
    if uneven > _UNEVEN * abs(X).max():
        raise ValueError(
            f"A precomputed kernel must be symmetric; it differs from its transpose by up to {uneven:.3g}."
        )


# --- targets ---------------------------------------------------------------------------------------------------------


def plain_target(y: Any) -> Any:
    """The target; a column of a type that only pandas has as an array of the type that it stands for.

    scikit-learn makes floats of whole numbers and truth values of such types (Int64, boolean), because some may be
    missing. Missing values are refused here, also among objects, which would be compared with them before.
    """
    if hasattr(y, "iloc") and getattr(y, "shape", ())[1:] == (1,):  # scikit-learn takes a single column, and warns
        return np.asarray(plain_target(y.iloc[:, 0]))[:, None]
    dtype = getattr(y, "dtype", None)
    is_plain = isinstance(dtype, np.dtype) or dtype is None
    if is_plain and not isinstance(y, (list, tuple)) and getattr(dtype, "kind", "_") not in "OmM":
        return y
    values = np.atleast_1d(np.asarray(y, dtype=object))
    missing = [row for row, value in enumerate(values) if _is_missing(value)]
    if missing:
        raise ValueError(
            f"y has missing values (NaN, None or NA) in {len(missing)} of {len(values)} rows, the first of them row "
            f"{missing[0]}; leave these rows out, or fill the values in."
        )
    if is_plain:
        return y
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    return np.asarray(y, dtype=getattr(dtype, "numpy_dtype", None))


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or what pandas puts in their place."""
    kinds = (float, np.floating, np.datetime64, np.timedelta64)
    is_named = value is None or type(value).__name__ in ("NAType", "NaTType")
    return is_named or (isinstance(value, kinds) and bool(value != value))


def encode_target(y: Any, task: str | None) -> tuple[Array, Array | None, str]:
    """The target as floats, the labels that -1 and +1 stand for, and the task."""
    if task not in (None, *TASKS):
        raise ValueError(unknown_name("task", task, TASKS, "None"))
    y = column_or_1d(plain_target(y), warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    classes = np.unique(y) if y.dtype.kind in "biuf" else None
    # Two whole numbers are labels. Everything else is left to scikit-learn, which takes longer.
    if classes is None or len(classes) != 2 or np.any(classes != np.round(classes)):
        kind = type_of_target(y, input_name="y")
    else:
        kind = "binary"
    if task is None:
        task = "regression" if kind.startswith("continuous") else "classification"
    if task == "regression":
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")), None, task
    classes = np.unique(y) if classes is None else classes
    check_two_classes(classes)
    if len(classes) > 2:
        raise ValueError(
            f"A path needs exactly two classes, but y has {len(classes)}: use PathSVC for more classes, or "
            "task='regression' if y holds amounts."
        )
    return np.where(y == classes[1], 1.0, -1.0), classes, task


def encode_classes(y: Any) -> tuple[Array, Array]:
    """The labels, two or more, and the position of each sample's among them."""
    check_classification_targets(y)
    classes, code = np.unique(y, return_inverse=True)
    check_two_classes(classes)
    return classes, code


def check_two_classes(classes: Array) -> None:
    """Refuse a single class."""
    if len(classes) < 2:
        raise ValueError(f"Classification needs two classes, but y has only one class: {classes.tolist()[0]!r}.")


def one_vs_rest_targets(code: Array, k: int) -> list[Array]:
    """Targets -1 and +1: one for two classes, else one for each class against the rest."""
    return [np.where(code == c, 1.0, -1.0) for c in ([1] if k == 2 else range(k))]


# --- weights ---------------------------------------------------------------------------------------------------------


def check_groups(groups: Any, X: Any) -> Array:
    """Groups as an array, one for each row."""
    groups = column_or_1d(groups)
    if len(groups) != X.shape[0]:
        raise ValueError(f"groups must have one entry per row: {X.shape[0]} rows, {len(groups)} groups.")
    return groups


def check_weights(
    sample_weight: Any, X: Any, class_weight: Any = None, classes: Array | None = None, code: Array | None = None
) -> Array:
    """One weight >= 0 per sample, the weight of its class multiplied in; ``code`` says which class that is."""
    s = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True)
    if class_weight is not None:
        if classes is None or code is None:
            raise ValueError("class_weight works for classification only; use sample_weight for regression.")
        if isinstance(class_weight, str) and class_weight == "balanced":  # all classes with the same sum of weights
            total = np.bincount(code, s, minlength=len(classes))
            weights = s.sum() / (len(classes) * np.where(total > 0, total, np.inf))
        else:
            weights = compute_class_weight(class_weight, classes=classes, y=classes[code])
        s *= weights[code]
    if not s.any():
        raise ValueError("Every sample has weight zero; at least one weight must be positive.")
    return s


def relative_weights(s: Array) -> Array:
    """Weights in units of their mean over the rows of positive weight, so that a common factor changes nothing.

    They are divided by the largest first: equal weights become 1 to the last digit, and no sum of weights overflows.
    """
    s = s / s.max()
    return s / s[s > 0].mean()


def check_moving(sample: Any, over: str, s: Array) -> Array | None:
    """The rows whose weight changes, for ``over="weight"``."""
    if over != "weight":
        if sample is not None:
            raise ValueError(f"sample= works with over='weight' only, but over={over!r}; leave it out.")
        return None
    if sample is None:
        raise ValueError("over='weight' needs sample=: a row, an array of rows, or a mask such as y == label.")
    rows = np.atleast_1d(np.asarray(sample))
    if rows.dtype.kind == "b" and rows.shape == s.shape:
        rows = np.flatnonzero(rows)
    rows = np.unique(rows)
    if rows.dtype.kind not in "iu" or len(rows) == 0 or rows[0] < 0 or rows[-1] >= len(s):
        raise ValueError(
            f"sample must hold row numbers from 0 to {len(s) - 1}, or be a mask of {len(s)} rows with at least one "
            f"True; got {sample!r}."
        )
    if not np.delete(s, rows).any():
        raise ValueError(
            "sample= must leave at least one sample of positive weight whose weight does not change; give fewer rows."
        )
    return rows


# --- random numbers --------------------------------------------------------------------------------------------------


def draw_seed(random_state: Any) -> int:
    """A seed from ``random_state``; None stands for 0, so that the same data always give the same model."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31 - 1))


# --- spans and numbers -----------------------------------------------------------------------------------------------


def check_span(span: Any, parameter: Parameter, name: str = "span") -> tuple[float, float]:
    """Two different values of a parameter as floats, in any order."""
    try:
        first, last = (float(value) for value in (() if isinstance(span, str) else span))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair of numbers (first, last), got {span!r}.") from None
    if first == last or not (parameter.allows(first) and parameter.allows(last)):
        raise ValueError(f"{name} must hold two different {parameter.numbers}, got {span!r}.")
    return first, last


def check_positive(value: Any, name: str) -> float:
    """The value as a positive float."""
    return Parameter(name).check(value)


def check_amount(value: Any, name: str) -> float:
    """The value as a float >= 0."""
    return Parameter(name, lowest="not negative").check(value)


def check_levels(quantile: Any, name: str = "quantile") -> Array:
    """One number between 0 and 1, or several different ones, as an array."""
    given = np.atleast_1d(np.asarray(quantile, dtype=object))
    if given.ndim > 1 or len(given) == 0:
        raise ValueError(f"{name} must be a number between 0 and 1 or a list of such numbers, got {quantile!r}.")
    level = Parameter(name, lowest="fraction", log=False)
    levels = np.array([level.check(each, " or a list of such numbers") for each in given])
    if len(np.unique(levels)) < len(levels):
        raise ValueError(f"{name} must hold different numbers, got {quantile!r}.")
    return levels


def check_coverage(value: Any) -> float:
    """The value as a float between 0 and 1."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 < value < 1:
        raise ValueError(f"coverage must be a number between 0 and 1, such as 0.9 for 90 %; got {value!r}.")
    return float(value)


def check_whole(value: Any, name: str, least: int = 1, words: str = "") -> int:
    """The value as an int that is not smaller than ``least``."""
    if not is_whole_number(value, least):
        raise ValueError(f"{name} must be a whole number >= {least}{words}, got {value!r}.")
    return int(value)


def is_whole_number(value: Any, least: int = 1) -> bool:
    """Whether it is an integer, and not a bool, that is not smaller than ``least``."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)
