"""What a fitted model warns of: a search cut short, an edge, digits that are lost, a loose bound, a class it misses.

Most are called by ``PathMachine._fit``, or one call further down, so that a warning names the line that called ``fit``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from svmpath.criteria.table import is_exact
from svmpath.estimators.held_out import HeldOut
from svmpath.exceptions import EdgeWarning, LimitWarning, PrecisionWarning, WeakModelWarning
from svmpath.search.choice import Choice, Scores, gain_at_end, lowest_over_gamma
from svmpath.validation import is_whole_number

Array = np.ndarray

_TOO_FEW_DIGITS = 1e-4  # largest violation, in units of decision values, of a machine that is not lost to rounding
_DEFAULT_FOLDS = 5  # the default of cv
_NOISY = 0.02  # fraction of training errors above which the radius-margin bound chooses badly
_FALLS = 0.25  # standard errors by which a score falls at the end of a range that was given
_FALLS_CLEARLY = 1.0  # the same at the end of what "tune" tries
_MATTERS = 0.01  # of the score of a constant machine: what is worth a warning
_SHARE_OFF, _SHARE_ERRORS = 0.05, 3.0  # a share below a quantile is off by more than this, and so many standard errors
_FLAT = 0.01  # deviation of the decision values, in units of that of the targets, of a machine that is nearly constant


def warn_of_time(limit: float) -> None:
    """The search was cut short."""
    warnings.warn(
        f"time_limit={limit:g} seconds cut the search short: the best of what was tried by then is returned (see "
        "search_table_).",
        LimitWarning,
        stacklevel=4,
    )


def warn_of_idle_folds(cv: Any, stacklevel: int = 4) -> None:
    """Folds that were asked for are not made: rows are left out one by one. The default cannot be told from a 5."""
    if cv is not None and not (is_whole_number(cv) and cv == _DEFAULT_FOLDS):
        warnings.warn(
            f"cv={cv!r} has no effect, as rows are left out one by one; use criterion='kfold' for folds.",
            UserWarning,
            stacklevel,
        )


def warn_of_edges(choice: Choice, given: Callable[[str], str], fitted: Array) -> None:
    """Warn if the score still falls where the values that were offered, or the limits of the search, end.

    Parameters
    ----------
    choice : Choice
    given : callable
        How a parameter is given: "range", "tune", or otherwise: a list was meant to end there.
    fitted : array of shape (n,) or (n, k)
        Decision values of the training rows.
    """
    is_searched = bool(choice.stages) and choice.stages[0].name != "grid"  # a grid was the user's, end and all
    flat = _FLAT * np.std(choice.curve.path.problem.y) if is_searched and len(fitted) else 0.0
    for name in choice.at_edge if is_searched else ():
        scores = Scores.of(choice.curve) if name == "C" else lowest_over_gamma(choice.tried)
        value = choice.value if name == "C" else float(choice.curve.path.gram.kernel.parameters[name])
        how = given("C" if name == "C" else "gamma")
        if how not in ("range", "tune") or len(scores.values) < 2:
            continue
        end = "largest" if value >= scores.values.max() * (1 - 1e-9) else "smallest"
        gain, deviation = gain_at_end(scores, "scores")
        if how == "range":
            falls = gain > _FALLS * deviation
        else:
            # A smaller gamma makes up for a C that is limited: on the way to a linear machine both go on for ever.
            is_free = name == "C" and bool(choice.tried)
            clear = max(_FALLS_CLEARLY * deviation, _MATTERS * _score_of_a_constant(choice))
            falls = gain > clear and not is_free
        if falls:
            _warn_of_edge(name, value, end, how, "the held-out score still falls there")
        elif how == "tune" and (name, end) == ("C", "largest") and np.std(fitted, axis=0).max() < flat:
            _warn_of_edge(name, value, end, how, "the decision values are nearly constant even there")


def _warn_of_edge(name: str, value: float, end: str, how: str, what: str) -> None:
    allowed = "allowed" if how == "range" else "that 'tune' tries"
    other = "larger" if end == "largest" else "smaller"
    remedy = f"allow {other} values of {name}, or scale the columns"
    if how == "tune":
        remedy = f"scale the columns (scale=True), or give a Range with {other} values of {name}"
    warnings.warn(
        f"The best {name} = {value:.3g} is the {end} value {allowed}, and {what}: {remedy}.", EdgeWarning, stacklevel=5
    )


def _score_of_a_constant(choice: Choice) -> float:
    """About the score of a constant machine, in classification one; zero if the scores are no means of losses."""
    problem = choice.curve.path.problem
    if getattr(choice.curve, "scoring", None) is not None:
        return 0.0
    if problem.task == "classification":
        return 1.0
    mean = np.average(problem.y, weights=problem.s)
    return float(np.average((problem.y - mean) ** 2, weights=problem.s))


def caution_of_shares(held_out: HeldOut, levels: Array) -> str | None:
    """Quantiles that held-out targets are below too rarely, or too often; None if there are none."""
    shares, n = held_out.shares_below(), held_out.effective
    off = np.abs(shares - levels)
    wrong = np.flatnonzero((off > _SHARE_OFF) & (off > _SHARE_ERRORS * np.sqrt(levels * (1.0 - levels) / n)))
    if not len(wrong):
        return None
    worst = wrong[np.argmax(off[wrong])]
    return (
        f"{100 * shares[worst]:.0f} % of held-out targets are below the quantile {levels[worst]:g}: the machine comes "
        "too near to its training rows for it. calibrate=True moves the quantiles to the held-out rows."
    )


def warn_of_shares(held_out: HeldOut, levels: Array) -> None:
    """Warn of such quantiles."""
    sentence = caution_of_shares(held_out, levels)
    if sentence is not None:
        warnings.warn(sentence, WeakModelWarning, stacklevel=4)


def warn_of_rounding(choice: Choice, violation: float) -> None:
    """Warn if held-out values of the choice, or its machine, are lost to rounding."""
    lost = int(choice.curve.unreliable[choice.index]) if is_exact(choice.curve.criterion) else 0
    if not lost and violation <= _TOO_FEW_DIGITS:
        return
    what = f"{lost} held-out values are lost to rounding"
    if not lost:
        what = f"the machine violates the optimality conditions by {violation:.1g}, in units of decision values"
    chosen = ", ".join(f"{name} = {value:.3g}" for name, value in list(choice.parameters.items())[:6])
    warnings.warn(
        f"At the choice ({chosen}) {what}: the kernel values are too large for this C. Scale the columns "
        "(StandardScaler), or search smaller C.",
        PrecisionWarning,
        stacklevel=5,
    )


def warn_of_a_loose_bound(choice: Choice) -> None:
    """Warn if the radius-margin bound has chosen a machine for noisy data."""
    curve: Any = choice.curve
    wrong, m = int(curve.unreliable[choice.index]) if curve.criterion == "radius_margin" else 0, curve.path.problem.n
    if wrong > _NOISY * m:
        warnings.warn(
            f"The machine chosen by criterion='radius_margin' misclassifies {wrong} of {m} training samples. On "
            "noisy data the bound is loose, and the C at its minimum is too small: use criterion='span' or 'loo'.",
            UserWarning,
            stacklevel=5,
        )


def warn_of_a_weak_model(held_out: HeldOut, stacklevel: int = 3) -> None:
    """Warn if a class is mostly missed, or the model is hardly better than a constant; called by ``fit`` itself."""
    sentence = held_out.caution()
    if sentence is not None:
        warnings.warn(f"{sentence} See held_out_recall().", WeakModelWarning, stacklevel)
