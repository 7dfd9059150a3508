"""The machines along the path, as pictures: decision values on a grid, or of rows in a projection."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy.sparse import issparse

from svmpath.estimators.machines import squeezed
from svmpath.exceptions import PathError
from svmpath.paths import Path
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted, machine_at
from svmpath.report.samples import some_rows
from svmpath.validation import is_pairwise

Array = np.ndarray

_MOST_POINTS = 500
_MOST_FRAMES = 25
_MOST_MACHINES = 12
_GRID, _LINE = 41, 161  # points per axis, and on a line
_MARGIN = 0.06  # of the range, around the rows
_ROWS_OF_AXES = 2000  # from which principal axes are computed
_SMALLEST = 1e-300  # a value of zero has no logarithm


def walk(fitted: Fitted, values: Array, paths: Sequence[Path], curves: Sequence[Facts]) -> Facts | None:
    """Pictures and numbers of the machines at several values; None if there is no machine to be had."""
    if len(values) > _MOST_FRAMES:  # the chosen one stays
        places = np.linspace(0, len(values) - 1, _MOST_FRAMES).round().astype(int)
        chosen = int(np.argmin(np.abs(values - fitted.choice.value)))
        places[np.argmin(np.abs(places - chosen))] = chosen
        values = values[places]
    shown = some_rows(fitted.n, _MOST_POINTS)
    scene, nodes = _scene(fitted, shown)
    held_out = dict(zip(curves[0]["values"], curves[0]["measures"][0]["scores"], strict=True))
    frames = []
    for value in values.tolist():
        with suppress(PathError):
            frames.append(
                {"values": value, "held_out": held_out.get(value), **_frame(fitted, paths, value, shown, nodes)}
            )
    if not frames:
        return None
    columns: Facts = {name: [frame[name] for frame in frames] for name in frames[0]}
    distance = np.abs(np.log(np.maximum(columns["values"], _SMALLEST) / max(fitted.choice.value, _SMALLEST)))
    return {
        **scene,
        **columns,
        "start": int(np.argmin(distance)),
        "training_kind": fitted.held_out.kind,
        "features": columns["features"] if fitted.is_elastic else None,
        "pictures": list(zip(*columns["pictures"], strict=True)),  # by machine first
        "of": fitted.n,
    }


def _frame(fitted: Fitted, paths: Sequence[Path], value: float, shown: Array, nodes: Array | None) -> Facts:
    """Decision values of each machine for the picture, and its numbers."""
    solutions = [machine_at(path, value) for path in paths]
    by_class = fitted.model._machines.by_class
    fits = by_class(np.stack([solution.fitted for solution in solutions], axis=1)).T
    if nodes is None:
        pictures = fits[:_MOST_MACHINES, shown]
    else:
        pictures = by_class(np.stack([solution(nodes) for solution in solutions], axis=1)).T[:_MOST_MACHINES]
    if fitted.task == "regression":
        losses = fitted.held_out.losses_of(fitted.targets[0], squeezed(fits.T))
    else:
        losses = ((fits[0] > 0).astype(int) if len(fits) == 1 else np.argmax(fits, axis=0)) != fitted.code
    return {
        "support": _used([solution.alpha for solution in solutions]),
        "features": _used([solution.coef for solution in solutions]) if fitted.is_elastic else None,
        "training": float(np.average(losses, weights=fitted.path.problem.s)),  # error of the rows fitted to
        "pictures": [rounded(picture) for picture in pictures],
    }


def _used(coefficients: list[Array]) -> int:
    """How many coefficients are not zero in some machine."""
    return int(np.any(np.array(coefficients) != 0, axis=0).sum())


def _scene(fitted: Fitted, shown: Array) -> tuple[Facts, Array | None]:
    """What stays while the machine changes, and the nodes of the grid as rows if there is one."""
    rows, is_class = fitted.numbers, fitted.task == "classification"
    target = {"code": fitted.code[shown]} if is_class else {"target": rounded(fitted.targets[0][shown], 6)}
    if rows is not None:
        names = ("x", "y")[: rows.shape[1]]
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = np.where(high > low, _MARGIN * (high - low), 1.0)
        axes = np.linspace(low - room, high + room, _LINE if len(names) == 1 else _GRID).T
        nodes = np.column_stack([part.ravel() for part in np.meshgrid(*axes)])
        points = {name: rounded(column[shown], 6) for name, column in zip(names, rows.T, strict=True)}
        grid = {name: rounded(axis, 6) for name, axis in zip(names, axes, strict=True)}
        titles = (
            fitted.column_names
            if len(names) == 2
            else [fitted.column_names[0], "decision value" if is_class else "prediction"]
        )
        kind = "line" if len(names) == 1 else "plane"
        return {"kind": kind, "titles": titles, "points": points | target, "grid": grid}, fitted.to_machine(nodes)
    if not is_class:
        titles, points = ["target", "prediction by the machine fitted to all rows"], {"x": target["target"]}
        return {"kind": "fit", "titles": titles, "points": points, "grid": None}, None
    place, titles = _projected(fitted, shown)
    points = {"x": rounded(place[:, 0]), "y": rounded(place[:, 1]), **target}
    return {"kind": "projection", "titles": titles, "points": points, "grid": None}, None


def _projected(fitted: Fitted, shown: Array) -> tuple[Array, list[str]]:
    """The rows that are drawn, on the two principal axes of what the machine sees; zero where there is no second."""
    from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD  # not needed for a fit

    X, n = fitted.path.gram.X, fitted.n
    if is_pairwise(getattr(fitted.model, "kernel", None)):
        place = KernelPCA(2, kernel="precomputed").fit_transform(np.asarray(X[shown][:, shown]))
        titles = [f"kernel principal component {j}" for j in (1, 2)]
    else:
        some = shown if n <= _ROWS_OF_AXES else np.random.default_rng(1).choice(n, _ROWS_OF_AXES, replace=False)
        size = min(2, X.shape[1], len(some))
        if issparse(X):
            axes = TruncatedSVD(min(size, X.shape[1] - 1) or 1, random_state=0).fit(X[some])
        else:
            axes = PCA(size, random_state=0).fit(X[some])
        place, shares = axes.transform(X[shown]), [*axes.explained_variance_ratio_, 0.0]
        titles = [f"principal component {j + 1} ({100 * shares[j]:.0f} %)" for j in range(2)]
    return np.pad(place, ((0, 0), (0, max(2 - place.shape[1], 0)))), titles
