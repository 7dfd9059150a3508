"""``svmpath.trace`` for Dask collections, and the criteria that its paths know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight

from svmpath.criteria.curve import HeldOutLoss
from svmpath.criteria.held_out import Folds, leave_folds_out, leave_one_out, predict_left_out, refuse_events
from svmpath.distributed.curve import ChunkedCurve, loss_of
from svmpath.distributed.data import Data, make_features, read
from svmpath.distributed.facts import as_keys
from svmpath.distributed.machines import ChunkedClosedForm, ChunkedMarch, make_path
from svmpath.distributed.path import ChunkedPath
from svmpath.kernels import Kernel, make_kernel
from svmpath.losses import LOSSES, Loss, make_loss
from svmpath.names import either, unknown_name
from svmpath.parameters import Parameter
from svmpath.validation import TASKS, check_span, draw_seed, is_pairwise

Array = np.ndarray

# Options of ``trace`` that look at single rows or at a kernel matrix in full, and their defaults.
_IN_MEMORY = {
    "over": "C",
    "sample": None,
    "offset": True,
    "breakpoints": "auto",
    "tol": None,
    "start": None,
    "max_events": None,
    "time_limit": None,
}


def trace(X: Any, y: Any, options: dict[str, Any]) -> ChunkedPath:
    """The path of Dask collections; ``options`` are the other arguments of :func:`svmpath.trace`."""
    for name, default in _IN_MEMORY.items():
        given = options[name]
        if given is not default and not (isinstance(given, str) and given == default):
            raise ValueError(
                f"{name}={given!r} does not work for rows in chunks; leave it out, or trace a sample in memory."
            )
    task = options["task"]
    if task not in (None, *TASKS):
        raise ValueError(unknown_name("task", task, TASKS, "None"))
    refuse_pairwise(options["kernel"])
    data = read(X, y, options["sample_weight"], wants_labels=task != "regression")
    task = task or ("regression" if data.table.are_amounts else "classification")
    loss = check_loss(make_loss(options["loss"], task))
    if task == "classification":
        data = with_classes(data, options["class_weight"])
        _check_two(data)
    elif options["class_weight"] is not None:
        raise ValueError("class_weight works for classification only; use sample_weight for regression.")
    span = loss.policy.span if options["span"] is None else check_span(options["span"], Parameter("C"))
    kernel = kernel_of(data, options["kernel"], options["gamma"], options["degree"], options["coef0"])
    seed = draw_seed(options["random_state"])
    features, centre = make_features(data, kernel, options["rank"], options["landmarks"], seed)
    return make_path(data, kernel, features, centre, loss, span, None)


def check_loss(loss: Loss) -> Loss:
    """The loss; raises an error if there is no path of it on rows in chunks."""
    if not loss.policy.chunked:
        names = either([name for name, kind in LOSSES.items() if kind.policy.chunked])
        raise ValueError(f"Rows in chunks need loss={names}, not loss={loss.name!r}; or use rows in memory.")
    return loss


def refuse_pairwise(kernel: Any) -> None:
    """Raise an error for kernel values in the place of rows."""
    if is_pairwise(kernel):
        raise ValueError("kernel='precomputed' does not work for rows in chunks: give the rows and a kernel.")


def with_classes(data: Data, class_weight: Any) -> Data:
    """The data with their labels found, and the weights of the classes."""
    classes = data.table.check_labels()
    if class_weight is None:
        return replace(data, classes=classes)
    labels = data.table.labels()
    weights = np.array([labels[label][1] for label in as_keys(classes)])
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = weights.sum() / (len(classes) * np.where(weights > 0, weights, np.inf))
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes)
    return replace(data, classes=classes, class_weights=factors)


def _check_two(data: Data) -> None:
    """Refuse more than two classes, with the chunk that has a label of its own if there is one."""
    assert data.classes is not None
    if len(data.classes) == 2:
        return
    by_label = {label: data.table.chunks_with(label) for label in as_keys(data.classes)}
    single = [(label, chunks[0]) for label, chunks in by_label.items() if len(chunks) == 1]
    where = f" ({data.table.name(single[0][1])} is the only one with {single[0][0]!r})" if single else ""
    raise ValueError(
        f"A path needs exactly two classes, but y has {len(data.classes)}{where}: use PathSVC for more classes, or "
        "task='regression' if y holds amounts."
    )


@dataclass(frozen=True)
class _Shape:
    """Stands for X where only the number and the spread of its entries count."""

    shape: tuple[int, int]
    variance: float

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        # Two numbers with the variance of all entries.
        return np.array([-1.0, 1.0]) * np.sqrt(self.variance)


def kernel_of(data: Data, kernel: Any, gamma: Any, degree: int, coef0: float) -> Kernel:
    """The kernel; "scale" looks at the weighted variance of all entries, which is known of chunks."""
    return make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=shape_of(data))


def shape_of(data: Data) -> Any:
    """What a kernel may ask of X before there are rows."""
    return _Shape((data.n, data.table.columns), data.spread.variance_of_all)


def fit_scaler(data: Data) -> StandardScaler:
    """A scaler as ``StandardScaler`` fits it, from the moments of the chunks."""
    spread = data.table.spread(weighted=True)
    scaler = StandardScaler().set_output(transform="default").fit(np.zeros((1, data.table.columns)))
    scaler.mean_, scaler.var_ = spread.mean, spread.variance
    # As in scikit-learn, a column whose values differ by rounding only is constant, too.
    is_constant = data.table.is_constant() | (spread.variance <= (10 * np.finfo(float).eps * np.abs(spread.mean)) ** 2)
    scaler.scale_ = np.where(is_constant, 1.0, np.sqrt(spread.variance))
    scaler.n_samples_seen_ = data.n
    return scaler


# --- criteria --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOutInChunks:
    """Held-out decision values that stay with the rows; ``held_by`` are the machines without each fold."""

    held_by: ChunkedPath | None = None

    def curve(self, path: ChunkedPath, criterion: str, values: Array, loss: HeldOutLoss) -> ChunkedCurve:
        """Their scores along the path."""
        return ChunkedCurve(path, criterion, values, loss_of(loss, path), held_by=self.held_by)


@leave_folds_out.register(ChunkedPath)
def _(path: ChunkedPath, values: Array, folds: Folds) -> HeldOutInChunks:
    return HeldOutInChunks(path.on_folds(folds))


@leave_one_out.register(ChunkedClosedForm)
def _(
    path: ChunkedClosedForm, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOutInChunks:
    refuse_events(path, max_events, count_only)
    return HeldOutInChunks()


@leave_one_out.register(ChunkedMarch)
def _(path: ChunkedMarch, values: Array, *, max_events: int | None = None, count_only: bool = False) -> Any:
    raise ValueError(
        "Exact leave-one-out of this loss does not work for rows in chunks: use its prediction, criteria.span "
        "(criterion='span'), or k-fold."
    )


@predict_left_out.register(ChunkedMarch)
def _(path: ChunkedMarch, values: Array, *, form: str = "direct", screen: bool | None = None) -> HeldOutInChunks:
    if form != "direct" or screen is not None:
        raise ValueError("form= and screen= do not work for rows in chunks; leave them out.")
    return HeldOutInChunks()
