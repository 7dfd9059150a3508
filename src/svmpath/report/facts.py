"""The facts about a tuned model: plain frozen dataclasses, the same for the command line and for the report.

``plain`` turns them into what JSON knows. Fields that are ``ABSENT`` are left out; None is written as null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Final, Literal

import numpy as np

Array = np.ndarray


class Missing(Enum):
    """The type of ``ABSENT``."""

    ABSENT = "absent"


ABSENT: Final = Missing.ABSENT
Absent = Literal[Missing.ABSENT]


def plain(value: Any) -> Any:
    """`value` in types that JSON knows; what is not finite becomes None, which JSON writes as null.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.report.facts import Cell, plain
    >>> plain(Cell("C", np.float64(2.0)))
    {'name': 'C', 'value': 2.0, 'more': ''}
    >>> plain({"a": np.array([1.0, np.inf])})
    {'a': [1.0, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name: plain(item) for name, item in pairs if item is not ABSENT}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)


def rounded(values: Any, digits: int = 4) -> list[Any]:
    """Nested lists of numbers with so many digits of the largest: a third of the text, and the same picture.

    Examples
    --------
    >>> from svmpath.report.facts import rounded
    >>> rounded([123.456789, 0.00123])
    [123.5, 0.0]
    """
    values = np.asarray(values, dtype=float)
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    decimals = digits - 1 - (math.floor(math.log10(largest)) if largest > 0 else 0)
    found: list[Any] = plain(np.round(values, decimals) + 0.0)  # no minus zero
    return found


# --- what summary.json holds ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataFacts:
    """Where the rows came from, and what they are."""

    file: str
    rows: int
    columns: Mapping[str, int]
    target: str
    task: str
    names: Mapping[str, Sequence[str]] | Absent = ABSENT
    classes: Sequence[Mapping[str, Any]] | Absent = ABSENT


@dataclass(frozen=True)
class ChoiceFacts:
    """What was chosen; ``at_edge`` names the parameters whose value is the first or last that was allowed."""

    loss: str
    losses: Sequence[str]
    kernel: str | Absent
    C: Any
    gamma: Any
    at_edge: Sequence[str]
    rank: int | None
    residual: float
    tol: float | None
    epsilon: float | Absent = ABSENT
    lambda1: float | Absent = ABSENT
    lambda2: float | Absent = ABSENT


@dataclass(frozen=True)
class HeldOutFacts:
    """The held-out error of the choice, and that of a constant prediction."""

    criterion: str
    folds: Any
    folds_are: str | None
    kind: str
    value: float
    interval: Sequence[float]
    baseline: float
    root_mean_squared_error: float | Absent = ABSENT


@dataclass(frozen=True)
class HonestFacts:
    """The error of the whole procedure, choice included."""

    method: str
    fits: int
    value: float
    interval: Sequence[float]
    root_mean_squared_error: float | Absent = ABSENT


@dataclass(frozen=True)
class CurveFacts:
    """The scores along the path at the chosen kernel, as the search computed them."""

    over: str
    criterion: str
    switched: str | None
    kind: str
    values: Array
    scores: Array


@dataclass(frozen=True)
class Summary:
    """What ``summary.json`` holds."""

    versions: Mapping[str, str]
    data: DataFacts
    choice: ChoiceFacts
    held_out: HeldOutFacts
    honest: HonestFacts | None
    curve: CurveFacts
    support_vectors: int
    seconds: float | None


# --- what the report has beside that ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One fact for people: its name, its value in words, and what else to say of it."""

    name: str
    value: Any
    more: str = ""


@dataclass(frozen=True)
class Note:
    """A remark; ``level`` is "warning" or "info"."""

    level: str
    text: str


@dataclass(frozen=True)
class Overview:
    """What was chosen, why, and how sure that is."""

    chosen: Sequence[Cell]
    sure: Sequence[Cell]
    why: str
    notes: Sequence[Note]


@dataclass(frozen=True)
class Measure:
    """Scores under one loss per sample."""

    name: str
    words: str
    is_rate: bool
    scores: Sequence[float]
    errors: Sequence[float]  # standard errors


@dataclass(frozen=True)
class CriterionCurve:
    """One criterion along the path at the chosen kernel."""

    criterion: str
    words: str
    values: Sequence[float]
    measures: Sequence[Measure]


@dataclass(frozen=True)
class Tried:
    """The pairs that one stage of the search tried; ``y`` is null for a kernel that stays as it is."""

    stage: str
    title: str
    is_rate: bool
    x: Sequence[float]
    y: Sequence[float]
    score: Sequence[float]
    error: Sequence[float]
    kept: Sequence[bool]


@dataclass(frozen=True)
class Walk:
    """The machines along the path: pictures of each, and their numbers.

    ``kind`` is "line" (one column), "plane" (two), "projection" (more) or "fit" (a regression with more). ``points``
    has the coordinates and targets of the rows that are drawn; ``pictures[machine][frame]`` the decision values at them
    ("projection", "fit") or on the grid ("line", "plane").
    """

    kind: str
    titles: Sequence[str]
    values: Sequence[float]
    start: int
    support: Sequence[int]
    features: Sequence[int] | None
    held_out: Sequence[float | None]
    training: Sequence[float]
    points: Mapping[str, Sequence[Any]]
    grid: Mapping[str, Sequence[float]] | None
    pictures: Sequence[Sequence[Any]]
    of: int


@dataclass(frozen=True)
class Samples:
    """A table of samples; each of ``rows`` has one entry per column."""

    columns: Sequence[Mapping[str, str]]
    rows: Sequence[Sequence[Any]]
    wrong: int
    doubtful: int
    of: int
    first: int  # the number of the first row of X


@dataclass(frozen=True)
class Roc:
    """The ROC curve of one machine."""

    machine: str
    fpr: Sequence[float]
    tpr: Sequence[float]
    area: float


@dataclass(frozen=True)
class Calibration:
    """How often what was given a probability came true."""

    words: str
    predicted: Sequence[float]
    fraction: Sequence[float]
    counts: Sequence[float]


@dataclass(frozen=True)
class Classified:
    """Held-out decisions of a classifier."""

    labels: Sequence[str]
    confusion: Sequence[Sequence[int]]
    roc: Sequence[Roc]
    calibration: Calibration | None


@dataclass(frozen=True)
class Residuals:
    """Held-out residuals of a regression, and how often intervals of their quantiles contain the target."""

    predicted: Sequence[float]
    residual: Sequence[float]
    edges: Sequence[float]
    counts: Sequence[int]
    nominal: Sequence[float]
    covered: Sequence[float]
    width: float | None
    of: int


@dataclass(frozen=True)
class FeaturePaths:
    """Coefficients along the path of each elastic-net machine; the features that matter most."""

    names: Sequence[str]
    values: Sequence[float]
    coefs: Sequence[Sequence[Sequence[float]]]  # machine, feature, value
    used: int
    of: int


@dataclass(frozen=True)
class Relevance:
    """One gamma per feature, the largest first."""

    names: Sequence[str]
    gammas: Sequence[float]
    of: int


@dataclass(frozen=True)
class Column:
    """One column of the data; of categories ``top`` is the most frequent one."""

    name: str
    kind: str
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None
    distinct: int | None
    missing: int
    top: str | None


@dataclass(frozen=True)
class Columns:
    """The columns of the data, or the first of them."""

    shown: Sequence[Column]
    of: int


@dataclass(frozen=True)
class Stage:
    """How long a part of the work took."""

    name: str
    words: str
    seconds: float | None


@dataclass(frozen=True)
class Snippet:
    """The same model with scikit-learn's own classes, if there is one, and what to know about it."""

    code: str | None
    words: str


@dataclass(frozen=True)
class Facts:
    """All facts of a report.

    See Also
    --------
    svmpath.Report : A page about a fitted model.
    """

    title: str
    task: str
    over: str
    other: str | None
    machines: Sequence[str]
    classes: Sequence[str] | None
    chosen: Mapping[str, float | None]
    summary: Summary
    overview: Overview
    curves: Sequence[CriterionCurve]
    tried: Sequence[Tried]
    walk: Walk | None
    samples: Samples
    classified: Classified | None
    residuals: Residuals | None
    feature_paths: FeaturePaths | None
    relevance: Relevance | None
    columns: Columns
    stages: Sequence[Stage]
    snippet: Snippet
