"""The machines along the path, as pictures: decision values on a grid, or of rows in a projection."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.exceptions import PathError
from svmpath.paths import Path
from svmpath.report.facts import CriterionCurve, Walk, rounded
from svmpath.report.fitted import Fitted

Array = np.ndarray

_MOST_POINTS = 500
_MOST_FRAMES = 25
_MOST_MACHINES = 12
_GRID, _LINE = 41, 161  # points per axis, and on a line
_MARGIN = 0.06  # of the range, around the rows
_ROWS_OF_AXES = 2000  # from which principal axes are found


@dataclass(frozen=True)
class _Scene:
    """What stays while the machine changes."""

    kind: str
    titles: list[str]
    points: dict[str, Any]
    shown: Array
    grid: dict[str, list[float]] | None = None
    nodes: Array | None = None  # of the grid, as rows


def walk(fitted: Fitted, values: Array, paths: Sequence[Path], curves: Sequence[CriterionCurve]) -> Walk | None:
    """Pictures and numbers of the machines at several values; None if there is no machine to be had."""
    values = _thinned(values, fitted.choice.value)
    scene = _scene(fitted)
    frames = []
    for value in values.tolist():
        with suppress(PathError):
            frames.append((value, _frame(fitted, scene, paths, value)))
    if not frames:
        return None
    held = dict(zip(curves[0].values, _scores(curves[0]), strict=True))
    numbers = [frame[1] for _, frame in frames]
    machines = min(len(paths), _MOST_MACHINES)
    return Walk(
        scene.kind,
        scene.titles,
        [value for value, _ in frames],
        int(np.argmin([abs(np.log(max(value, 1e-300) / max(fitted.choice.value, 1e-300))) for value, _ in frames])),
        [each["support"] for each in numbers],
        [each["features"] for each in numbers] if fitted.is_elastic else None,
        [held.get(value) for value, _ in frames],
        [each["training"] for each in numbers],
        scene.points,
        scene.grid,
        [[frame[0][machine] for _, frame in frames] for machine in range(machines)],
        fitted.n,
    )


def _scores(curve: CriterionCurve) -> Sequence[float]:
    return curve.measures[0].scores


def _thinned(values: Array, chosen: float) -> Array:
    """At most so many of the values, the chosen one among them."""
    if len(values) <= _MOST_FRAMES:
        return values
    places = np.linspace(0, len(values) - 1, _MOST_FRAMES).round().astype(int)
    places[np.argmin(np.abs(places - int(np.argmin(np.abs(values - chosen)))))] = int(
        np.argmin(np.abs(values - chosen))
    )
    return values[places]


def _frame(fitted: Fitted, scene: _Scene, paths: Sequence[Path], value: float) -> tuple[list[Any], dict[str, Any]]:
    """Decision values of each machine for the picture, and the numbers beside it."""
    solutions = [path(min(max(value, min(path.span)), max(path.span))) for path in paths]
    fits = np.array([solution.fitted for solution in solutions])
    if scene.nodes is None:
        pictures = fits[:, scene.shown]
    else:
        pictures = np.array([solution(scene.nodes) for solution in solutions[:_MOST_MACHINES]])
    alpha = np.array([solution.alpha for solution in solutions])
    numbers: dict[str, Any] = {"support": int(np.any(alpha != 0, axis=0).sum()), "training": _training(fitted, fits)}
    if fitted.is_elastic:
        numbers["features"] = int(np.any([solution.coef != 0 for solution in solutions], axis=0).sum())  # type: ignore[attr-defined]
    return [rounded(picture) for picture in pictures], numbers


def _training(fitted: Fitted, fits: Array) -> float:
    """Weighted error of the rows that the machines were fitted to."""
    s = fitted.path.problem.s
    if fitted.task == "regression":
        return float(np.average((fits[0] - fitted.targets[0]) ** 2, weights=s))
    predicted = (fits[0] > 0).astype(int) if len(fits) == 1 else np.argmax(fits, axis=0)
    return float(np.average(predicted != fitted.code, weights=s))


def _scene(fitted: Fitted) -> _Scene:
    shown = np.arange(fitted.n)
    if fitted.n > _MOST_POINTS:
        shown = np.sort(np.random.default_rng(0).choice(fitted.n, _MOST_POINTS, replace=False))
    rows = fitted.numbers
    if rows is not None and rows.shape[1] == 1:
        return _line(fitted, rows, shown)
    if rows is not None and rows.shape[1] == 2:
        return _plane(fitted, rows, shown)
    if fitted.task == "regression":
        points = {"x": rounded(fitted.targets[0][shown], 6)}
        return _Scene("fit", ["target", "prediction by the machine fitted to all rows"], points, shown)
    place, titles = _projected(fitted, shown)
    points = {"x": rounded(place[:, 0]), "y": rounded(place[:, 1]), "code": fitted.code[shown].tolist()}
    return _Scene("projection", titles, points, shown)


def _axis(column: Array, size: int) -> Array:
    low, high = float(column.min()), float(column.max())
    room = _MARGIN * (high - low) or 1.0
    return np.linspace(low - room, high + room, size)


def _target(fitted: Fitted, shown: Array) -> dict[str, Any]:
    if fitted.task == "classification":
        return {"code": fitted.code[shown].tolist()}
    return {"target": rounded(fitted.targets[0][shown], 6)}


def _line(fitted: Fitted, rows: Array, shown: Array) -> _Scene:
    axis = _axis(rows[:, 0], _LINE)
    points = {"x": rounded(rows[shown, 0], 6), **_target(fitted, shown)}
    name = "decision value" if fitted.task == "classification" else "prediction"
    titles = [fitted.column_names[0], name]
    return _Scene("line", titles, points, shown, {"x": rounded(axis, 6)}, fitted.to_machine(axis[:, None]))


def _plane(fitted: Fitted, rows: Array, shown: Array) -> _Scene:
    x, y = _axis(rows[:, 0], _GRID), _axis(rows[:, 1], _GRID)
    nodes = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    points = {"x": rounded(rows[shown, 0], 6), "y": rounded(rows[shown, 1], 6), **_target(fitted, shown)}
    grid = {"x": rounded(x, 6), "y": rounded(y, 6)}
    return _Scene("plane", fitted.column_names, points, shown, grid, fitted.to_machine(nodes))


def _projected(fitted: Fitted, shown: Array) -> tuple[Array, list[str]]:
    """The rows that are drawn, on the two principal axes of what the machine sees."""
    from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD  # not needed for a fit

    X = fitted.path.gram.X
    if getattr(fitted.model, "kernel", None) == "precomputed":
        K = np.asarray(X[shown][:, shown])
        place = KernelPCA(2, kernel="precomputed").fit_transform(K)
        return _padded(place), ["kernel principal component 1", "kernel principal component 2"]
    some = (
        shown if fitted.n <= _ROWS_OF_AXES else np.random.default_rng(1).choice(fitted.n, _ROWS_OF_AXES, replace=False)
    )
    size = min(2, X.shape[1], len(some))
    if issparse(X):
        axes = TruncatedSVD(min(size, X.shape[1] - 1) or 1, random_state=0).fit(X[some])
    else:
        axes = PCA(size, random_state=0).fit(X[some])
    shares = [*axes.explained_variance_ratio_, 0.0]
    titles = [f"principal component {j + 1} ({100 * shares[j]:.0f} %)" for j in range(2)]
    return _padded(axes.transform(X[shown])), titles


def _padded(place: Array) -> Array:
    """With a second coordinate, zero if there is none."""
    return place if place.shape[1] > 1 else np.column_stack([place, np.zeros(len(place))])
