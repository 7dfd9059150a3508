"""What a notebook shows: facts as a small table, and a picture if matplotlib is installed.

It must not take long, so only what is known is shown: nothing is scored, and only small paths are drawn. All text is
escaped, since class labels, column names and kernels come from data.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from svmpath.criteria import BoundCurve
from svmpath.criteria.curve import HeldOutCurve
from svmpath.criteria.sources import is_at_hand
from svmpath.criteria.table import CRITERIA
from svmpath.displays._base import Display, along, unreliable_of
from svmpath.displays.coefficients import PathDisplay
from svmpath.displays.curve import CurveDisplay, describe
from svmpath.displays.surface import SurfaceDisplay
from svmpath.exceptions import PathError
from svmpath.paths import Curves, Path
from svmpath.search.choice import Choice, best_value

Facts = Mapping[str, Any]
_Shown = tuple[Facts, Callable[[Any], Display] | None]

_SMALL = 150  # samples up to which a path is drawn; over a parameter of the kernel, a third of them
_FEW_VALUES = 30  # at which it is drawn
_FEW_LINES = 40  # that are drawn of it
_DPI = 110
_SHOWN_CLASSES = 8  # classes, or parameters, that are written out
_SIZE = (5.0, 3.4)  # inches
_MARGINS = {"left": 0.16, "bottom": 0.16, "right": 0.94, "top": 0.95}  # to find the best ones takes a second drawing


def render(thing: Any) -> str:
    """The facts and the picture of a path, a curve or a choice."""
    facts, picture = _describe(thing)
    return f"<div>{_table(repr(thing), facts)}{_image(picture, repr(thing))}</div>"


def render_estimator(estimator: Any) -> str:
    """The facts and the picture of a fitted estimator, to be opened and closed; nothing if it is not fitted."""
    choice = getattr(estimator, "choice_", None)
    if not isinstance(choice, Choice):
        return ""
    facts, picture = _describe(choice)
    title = f"{type(estimator).__name__}: {_parameters(choice.curve.path, choice.value)}"
    path, classes = estimator.path_, getattr(estimator, "classes_", None)
    known = {"loss": path.loss.name, "samples": path.problem.n, "features": estimator.n_features_in_}
    if classes is not None:
        shown = [
            *(str(label) for label in classes[:_SHOWN_CLASSES]),
            *(["..."] if len(classes) > _SHOWN_CLASSES else []),
        ]
        known["classes"] = f"{len(classes)}: {', '.join(shown)}"
    if hasattr(estimator, "support_"):
        known["support vectors"] = len(estimator.support_)
    inside = f"{_table('', {**known, **facts})}{_image(picture, title)}"
    return f"<details open><summary>{escape(title)}</summary>{inside}</details>"


# --- facts and pictures ----------------------------------------------------------------------------------------------


@singledispatch
def _describe(thing: Any) -> _Shown:
    """The facts by name, and what draws the picture on given axes; None for no picture."""
    raise TypeError(f"A notebook shows paths, curves and choices, not {type(thing).__name__}.")


@_describe.register
def _(path: Path) -> _Shown:
    problem, (first, last) = path.problem, path.span
    facts = {
        "loss": path.loss.name,
        path.over: f"{first:.6g} to {last:.6g}",
        **{name: f"{value:.6g}" for name, value in path.path_parameter.fixed.items()},
        "samples": problem.n,
        **({} if path.is_chunked else {"features": problem.gram.X.shape[1]}),
        **({"kernel": repr(problem.gram.kernel)} if path.loss.has_kernel else {}),
        "machines": "exact" if path.is_exact else "up to a duality gap",
    }
    is_of_kernel = path.over not in path.loss.parameter_names
    if path.is_chunked or problem.y.ndim > 1 or problem.n > (_SMALL // 3 if is_of_kernel else _SMALL):
        return facts, None
    facts["breakpoints"] = len(path.breakpoints)
    return facts, lambda ax: PathDisplay.from_path(path, along(path, _FEW_VALUES), most=_FEW_LINES, ax=ax)


@_describe.register(HeldOutCurve)
@_describe.register(BoundCurve)
def _(curve: Any) -> _Shown:
    values, path = curve.values, curve.path
    facts: dict[str, Any] = {
        "criterion": _words(curve.criterion),
        "values": f"{len(values)} of {path.over} from {values.min():.6g} to {values.max():.6g}",
    }
    if not _is_scored(curve):
        return facts, None
    facts["score"] = describe(curve)
    if np.isfinite(curve.scores).all():
        at, unsure = best_value(curve), int(np.count_nonzero(unreliable_of(curve)))
        facts["lowest"] = f"{_with_error(curve, at)} at {path.over} = {values[at]:.4g}"
        facts |= {"unreliable": f"{unsure} values"} if unsure else {}
    else:
        facts["lowest"] = "not known: some scores are not finite"
    return facts, (lambda ax: CurveDisplay.from_curve(curve, ax=ax)) if len(values) > 1 else None


@_describe.register
def _(curves: Curves) -> _Shown:
    surface, first = curves.surface, curves.curves[0]
    facts: dict[str, Any] = {
        "loss": surface.loss.name,
        "criterion": _words(first.criterion),
        "C": f"{len(curves.values)} values from {curves.values.min():.6g} to {curves.values.max():.6g}",
        surface.over: f"{len(surface.gammas)} values from {surface.gammas.min():.6g} to {surface.gammas.max():.6g}",
    }
    if not all(map(_is_scored, curves.curves)):
        return facts, None
    facts[f"lowest {describe(first)}"] = f"{np.min(curves.scores):.4g}"
    return facts, (lambda ax: SurfaceDisplay.from_curves(curves, ax=ax)) if len(surface.gammas) > 1 else None


@_describe.register
def _(choice: Choice) -> _Shown:
    curve = choice.curve
    facts: dict[str, Any] = {
        "choice": _parameters(curve.path, choice.value),
        "criterion": _words(curve.criterion),
        "rule": choice.rule,
        "at an end of its range": ", ".join(choice.at_edge) or "no parameter",
        **({"stages": ", ".join(stage.name for stage in choice.stages)} if choice.stages else {}),
    }
    if not _is_scored(curve):
        return facts, None
    facts[describe(curve)] = _with_error(curve, choice.index)
    try:
        surface = SurfaceDisplay.of_choice(choice)
    except ValueError:  # no plane
        several = len(curve.values) > 1
        return facts, (lambda ax: CurveDisplay.from_curve(curve, choice=choice, ax=ax)) if several else None
    return facts, lambda ax: surface.plot(ax)


def _parameters(path: Path, value: float) -> str:
    """The hyper-parameters of a machine, without finding it."""
    kernel = path.gram.kernel.parameters if path.loss.has_kernel else {}
    known = {path.over: value, **path.path_parameter.fixed, **kernel}
    if path.over in kernel:
        known[path.over] = value
    shown = [f"{name} = {each:.4g}" for name, each in list(known.items())[:_SHOWN_CLASSES]]
    return ", ".join([*shown, "..."] if len(known) > len(shown) else shown)


def _words(criterion: str) -> str:
    known = CRITERIA.get(criterion)
    return f"{criterion}: {known.words}" if known else criterion


def _with_error(curve: Any, at: int) -> str:
    spread = curve.standard_error(at)
    return f"{curve.scores[at]:.4g}" + (f" (standard error {spread:.2g})" if spread > 0 else "")


def _is_scored(curve: Any) -> bool:
    """Whether the scores can be had without holding samples out."""
    is_known = any(vars(curve).get(name) is not None for name in ("scores", "sums", "known"))
    if is_known or isinstance(curve, BoundCurve) or curve.screened is not None:
        return True
    return not curve.path.is_chunked and is_at_hand(curve.source)


# --- HTML ------------------------------------------------------------------------------------------------------------


def _table(title: str, facts: Facts) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(str(name))}</th>'
        f'<td style="text-align: left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    heading = f"<div>{escape(title)}</div>" if title else ""
    return f"{heading}<table>{rows}</table>"


def _image(draw: Callable[[Any], Display] | None, title: str) -> str:
    """The picture as part of the page; nothing if there is none, or no matplotlib, or no folder it may write to."""
    if draw is None:
        return ""
    try:
        from matplotlib.figure import Figure
    except (ImportError, OSError):
        return ""
    figure = Figure(figsize=_SIZE)  # not by pyplot, which would show it a second time
    figure.subplots_adjust(**_MARGINS)
    try:
        draw(figure.subplots())
    except (ValueError, PathError):  # scores or machines that are not finite: the facts stand
        return ""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="{escape(title)}" width="{96 * _SIZE[0]:.0f}" src="data:image/png;base64,{data}">'
