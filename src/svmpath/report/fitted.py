"""What the sections of a report ask of a fitted estimator, alone or at the end of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.folds import make_folds
from svmpath.criteria.table import CRITERIA
from svmpath.estimators import ElasticNetSVC, PathSVC, PathSVR
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.scaling import scaled
from svmpath.lazy import lazy
from svmpath.paths import Path
from svmpath.search.choice import Choice
from svmpath.validation import is_pairwise

Array = np.ndarray

_MOST_COUNTED = 3000  # rows up to which unreliable samples are counted, which takes the time of several fits
_ESTIMATORS = (PathSVC, PathSVR, ElasticNetSVC)


def optional(model: Any, name: str) -> Any:
    """What a method says that not every fitted model has; None if it has not, or cannot say."""
    try:
        return getattr(model, name)() if hasattr(model, name) else None
    except ValueError:  # such as probabilities of a choice by a bound
        return None


def machine_at(path: Path, value: float) -> Any:
    """The machine at a value, or at the end of the span that is nearest to it."""
    return path(min(max(value, min(path.span)), max(path.span)))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator with the rows that it was fitted to.

    Attributes
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC
    columns : Pipeline or None
        The steps before it in a pipeline.
    X : array, DataFrame or CSR matrix
        The rows as the user knows them.
    choice : Choice
    paths : sequence of Path
        Those of all machines.
    held_out : HeldOut
        What is known of rows that were held out.
    """

    model: Any
    columns: Any
    X: Any
    choice: Choice
    paths: Sequence[Path]
    held_out: HeldOut

    @staticmethod
    def of(model: Any, X: Any, y: Any) -> Fitted:
        """Of an estimator or a pipeline that ends with one; anything else is refused."""
        is_pipeline = isinstance(model, Pipeline)
        last = model[-1] if is_pipeline else model
        if not isinstance(last, _ESTIMATORS):
            names = ", ".join(kind.__name__ for kind in _ESTIMATORS)
            raise TypeError(
                f"A report needs one of {names}, or a pipeline that ends with one, not {type(last).__name__}."
            )
        check_is_fitted(last)
        if hasattr(last, "models_"):
            raise ValueError(
                "A report shows one choice, but with one_choice=False each quantile has its own: report on the models "
                "in models_, or fit with one_choice=True."
            )
        if last.path_.is_chunked:
            raise ValueError(
                "A report shows single rows, so it does not work for a model that was fitted on rows in chunks; fit a "
                "sample in memory, and report on that."
            )
        X = X if hasattr(X, "shape") and len(X.shape) == 2 else np.atleast_2d(np.asarray(X))
        n = last.path_.problem.n
        for name, rows in (("X", X.shape[0]), ("y", np.shape(y)[0] if np.ndim(y) else 0)):
            if rows != n:
                raise ValueError(
                    f"The report needs the {n} rows that the model was fitted to, but {name} has {rows}; pass the same "
                    "X and y as to fit."
                )
        steps = model[:-1] if is_pipeline and len(model) > 1 else None
        return Fitted(last, steps, X, last.choice_, last._machines.paths, last._held_out)

    @property
    def path(self) -> Path:
        """The path of the first machine; where pairs of classes vote, of the first class against the rest."""
        return self.model._machines.whole

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.path.problem.n

    @property
    def counts_unreliable(self) -> bool:
        """Whether unreliable samples are counted."""
        return self.n <= _MOST_COUNTED

    @property
    def is_elastic(self) -> bool:
        """Whether the machine is linear and selects features."""
        return isinstance(self.model, ElasticNetSVC)

    @property
    def task(self) -> str:
        """Classification or regression."""
        return self.path.problem.task

    @property
    def other(self) -> str | None:
        """The parameter that was searched beside the one that the path follows."""
        if self.is_elastic:
            return "lambda2"
        stages = [stage.tried for stage in self.choice.stages] or [self.choice.tried]
        return "gamma" if any(np.isfinite(gamma) for tried in stages for gamma in tried) else None

    @property
    def labels(self) -> list[str]:
        """The classes in words."""
        return [str(label) for label in self.model.classes_]

    @property
    def targets(self) -> list[Array]:
        """The targets of each machine."""
        return [path.problem.y for path in self.paths]

    @property
    def code(self) -> Array:
        """The class of each row, as a number."""
        return self.held_out.labels

    @property
    def levels(self) -> Array | None:
        """The levels that are predicted, if there are several."""
        return self.model.quantile_ if np.size(getattr(self.model, "quantile_", 0.0)) > 1 else None

    @property
    def level_kind(self) -> str:
        """What a level is a level of."""
        return "quantile" if self.path.loss.level == "quantile" else self.path.loss.name

    @property
    def machines(self) -> list[str]:
        """What each machine decides."""
        if self.levels is not None:
            return [f"{self.level_kind} {level:g}" for level in self.levels.tolist()]
        if len(self.paths) == 1:
            return [f"{self.labels[1]} or {self.labels[0]}"] if self.task == "classification" else ["prediction"]
        return [f"{label} or not" for label in self.labels]

    @lazy
    def decisions(self) -> Array:
        """Held-out decision values, of shape (n,) or (n, k)."""
        return np.asarray(self.held_out.decisions())

    @lazy
    def seen(self) -> Array:
        """The rows that were held out at least once and have a weight."""
        finite = np.isfinite(self.decisions.reshape(self.n, -1)).all(axis=1)
        return np.flatnonzero(finite & (self.path.problem.s > 0))

    @lazy
    def column_names(self) -> list[str]:
        """The columns of X."""
        names = getattr(self.X, "columns", None)
        if names is None and self.columns is None:
            names = getattr(self.model, "feature_names_in_", None)
        count = self.X.shape[1]
        return [f"x{j + 1}" for j in range(count)] if names is None else [str(name) for name in names]

    @lazy
    def feature_names(self) -> list[str]:
        """The columns that the machine sees."""
        if self.columns is None:
            return self.column_names
        count = self.path.gram.X.shape[1]
        try:
            names = [str(name).split("__", 1)[-1] for name in self.columns.get_feature_names_out()]
        except (AttributeError, ValueError):  # a step that cannot say
            names = []
        return names if len(names) == count else [f"x{j + 1}" for j in range(count)]

    def to_machine(self, rows: Any) -> Array:
        """Rows in the user's columns, as the machine takes them."""
        if hasattr(self.X, "columns"):
            import pandas as pd  # as X came

            rows = pd.DataFrame(rows, columns=self.X.columns)
        rows = np.asarray(rows if self.columns is None else self.columns.transform(rows), dtype=float)
        scaler = getattr(self.model, "scaler_", None)
        return rows if scaler is None else scaled(rows, scaler)

    @lazy
    def numbers(self) -> Array | None:
        """X as numbers if it has one or two columns of them, else None."""
        if issparse(self.X) or self.X.shape[1] > 2 or is_pairwise(getattr(self.model, "kernel", None)):
            return None
        try:
            rows = np.asarray(self.X, dtype=float)
        except (TypeError, ValueError):
            return None
        return rows if np.isfinite(rows).all() else None

    def criterion(self, name: str) -> Any:
        """A criterion by name, with the folds of the search."""
        function = CRITERIA[name].function
        if not CRITERIA[name].takes_folds:
            return function
        folds = self.held_out.folds
        if folds is None:
            problem, is_class = self.path.problem, self.task == "classification"
            y = self.code if is_class else problem.y
            kind: dict[str, Any] = {"is_classification": is_class, "groups": self.held_out.groups, "s": problem.s}
            kind |= {"seed": self.held_out.seed, "pairwise": problem.gram.kernel.pairwise}
            folds = make_folds(self.model.cv, problem.gram.X, y, **kind)
        return partial(function, cv=folds)
