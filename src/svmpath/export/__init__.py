"""Models for use elsewhere: ONNX graphs, which many programs run without Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.estimators import PathSVR
from svmpath.export.converters import register_converters

__all__ = ["register_converters", "to_onnx"]

_OPSET = 18


def to_onnx(
    model: Any,
    X: Any = None,
    *,
    dtype: Any = np.float64,
    initial_types: Sequence[tuple[str, Any]] | None = None,
    interval: float | None = None,
) -> Any:
    """A fitted model, or a Pipeline that ends in one, as an ONNX graph.

    Parameters
    ----------
    model : PathSVC, PathSVR, PathOneClassSVM, ElasticNetSVC or Pipeline
        A Pipeline may have any steps that skl2onnx can convert, such as StandardScaler and ColumnTransformer.
    X : DataFrame, optional
        Some rows, of which names and types of the columns are read: the graph has an input for each column then.
        Without it there is one input, "X", a matrix of numbers.
    dtype : numpy.float32 or numpy.float64, default=numpy.float64
        The type of the numbers that go in and come out. What the machine computes in between is of double precision
        either way: its coefficients are large numbers that cancel.
    initial_types : list of pairs, optional
        Names and types of the inputs as skl2onnx has them, in place of X and dtype.
    interval : float, optional
        The coverage of prediction intervals: a regression has the output ``interval`` then, with the two ends that
        ``predict_interval`` gives. The graph holds the machines without each of the n training rows, n^2 numbers, or
        those without each fold where the choice was made by folds. Not for slim models, and not for weighted rows.

    Returns
    -------
    onnx.ModelProto
        Its outputs have the shapes that the methods in Python return. A classifier has ``label``, ``probabilities``
        and ``decision``, a regression ``prediction`` (a column for each of several quantiles), a one-class machine
        ``label`` (1 or -1) and ``decision``. Save it by ``onnx.save`` or ``model.SerializeToString()``.

    See Also
    --------
    svmpath.export.register_converters : For calls of skl2onnx itself.
    svmpath.PathSVC.for_prediction : A slim model for Python.

    Notes
    -----
    It needs the extra ``onnx``. Refused in a sentence: kernels that are Python functions or objects of scikit-learn,
    and labels that are neither whole numbers nor words. A precomputed kernel works: rows are kernel values, as here.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxruntime import InferenceSession
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> from svmpath.export import to_onnx
    >>> X, y = banana(100, random_state=0)
    >>> model = PathSVC(random_state=0).fit(X, y)
    >>> session = InferenceSession(to_onnx(model).SerializeToString())
    >>> p, = session.run(["probabilities"], {"X": X})
    >>> bool(abs(p - model.predict_proba(X)).max() < 1e-10)
    True
    """
    check_is_fitted(model)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if interval is not None and (not isinstance(last, PathSVR) or "models_" in vars(last)):
        raise ValueError(
            f"interval={interval!r} needs a PathSVR with one choice, not {type(last).__name__}: only it has intervals."
        )
    try:
        from skl2onnx import convert_sklearn
    except ImportError as error:
        raise ImportError(
            "ONNX graphs need the packages onnx and skl2onnx; install them with pip install 'svmpath[onnx]'."
        ) from error
    register_converters()
    types = list(initial_types) if initial_types is not None else input_types(model, X, dtype)
    options = None if interval is None else {id(last): {"interval": interval}}
    opsets = {"": _OPSET, "ai.onnx.ml": 3}
    return convert_sklearn(model, name="svmpath", initial_types=types, target_opset=opsets, options=options)


def input_types(model: Any, X: Any, dtype: Any) -> list[tuple[str, Any]]:
    """The inputs of a graph: one matrix, or a column each."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    kinds = {"float32": FloatTensorType, "float64": DoubleTensorType}
    if np.dtype(dtype).name not in kinds:
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}.")
    number = kinds[np.dtype(dtype).name]
    if not hasattr(X, "columns"):
        return [("X", number([None, int(model.n_features_in_)]))]
    is_number = [getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes]
    pairs = zip(X.columns, is_number, strict=True)
    return [(str(name), (number if is_one else StringTensorType)([None, 1])) for name, is_one in pairs]
