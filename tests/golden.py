"""Golden values: what some eighty small problems gave when the file was written, to be compared after a change.

They cover every loss, every kind of path, every criterion, the searches and the estimators, through public calls alone.
They say that nothing changed, not that it is right: that is what the other tests are for. Examples::

    python tests/golden.py --write tests/data/golden.npz
    python tests/golden.py --compare tests/data/golden.npz --tolerance 1e-10
    python tests/golden.py --compare tests/data/golden.npz --only 'hinge_*'
    python tests/golden.py --list

Two versions are compared by writing the file with the one and comparing with the other: set PYTHONPATH to the ``src``
of either. A difference is max |a - b| / (1 + max |b|) over an array; texts must be equal.

Left out is what a problem does not determine: the coefficients of samples where several sets of them give the same
decision values (``with_alpha=False``). The problems are such that events have an order: where several happen at one
value, or a path begins at a machine whose coefficients are not unique, rounding decides which comes first.

On another machine BLAS rounds differently. ``--portable`` leaves out what that decides: the nodes of a path to a gap,
and the order of events where there are ties.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # before numpy is loaded; another number is used where the environment names one
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold

import svmpath
from svmpath import criteria
from svmpath.gram import Nystroem
from svmpath.kernels import ARD, RBF
from svmpath.paths import SPath

Array = np.ndarray
Values = dict[str, Any]


def low_rank(rank: Any = None, **options: Any) -> Values:
    """The options of ``trace`` and the estimators for a low-rank kernel."""
    return {"rank": Nystroem(rank, **options)}


# --- data ------------------------------------------------------------------------------------------------------------


def labels(n: int, d: int = 2, seed: int = 0) -> tuple[Array, Array]:
    """Rows, and two classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.4 * X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1, -1)


def numbers(n: int, d: int = 2, seed: int = 0) -> tuple[Array, Array]:
    """Rows, and amounts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)


def classes(n: int, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Rows, and three classes with names."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.array(["low", "middle", "high"])[np.digitize(score, [0.0, 1.0])]


def wide(n: int, p: int, seed: int = 0) -> tuple[Array, Array]:
    """Many columns, of which three matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1, -1)


def repeated(X: Array, y: Array, times: int = 3) -> tuple[Array, Array]:
    """The first rows again, with their targets."""
    few = len(y) // times
    return np.vstack([X, X[:few], X[: few // 2]]), np.concatenate([y, y[:few], y[: few // 2]])


def weights(n: int, seed: int = 0) -> Array:
    """Weights, one of them zero."""
    s = np.random.default_rng(100 + seed).uniform(0.3, 3.0, size=n)
    s[n // 3] = 0.0
    return s


def fresh(d: int, m: int = 6) -> Array:
    """Rows that no machine has seen."""
    return np.random.default_rng(999).normal(size=(m, d))


# --- what is kept ----------------------------------------------------------------------------------------------------


def thinned(values: Any, most: int) -> Array:
    """So many of the values at most, evenly chosen, with the first and the last."""
    values = np.asarray(values)
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]


def distinct(values: Any) -> Array:
    """The values without those next to the one before: two events at one value may be one breakpoint, or nearly one."""
    values = np.asarray(values)
    return values[np.concatenate([[True], np.abs(np.diff(values)) > 1e-9 * np.abs(values[1:])])]


def places(path: Any, m: int = 5) -> Array:
    """Values along a path, with both ends."""
    first, last = path.span
    values = (np.geomspace if min(first, last) > 0 else np.linspace)(first, last, m)
    values[[0, -1]] = first, last
    return values


def of_path(path: Any, new: Any, *, values: Any = None, with_alpha: bool = True, most: int = 60) -> Values:
    """Breakpoints, events and machines along a path."""
    values = places(path) if values is None else values
    breakpoints, events = distinct(path.breakpoints), list(path.events())
    machines = [path(float(value)) for value in values]
    found: Values = {
        "span": path.span,
        "breakpoints_count": len(breakpoints),
        "breakpoints": thinned(breakpoints, 80),
        "b": [machine.b for machine in machines],
        "new": [machine(new) for machine in machines],
        "fitted": [thinned(machine.fitted, 20) for machine in machines],
        "is_exact": path.is_exact,
        **of_events(events),
    }
    if with_alpha:
        found["alpha"] = [thinned(machine.alpha, most) for machine in machines]
    if hasattr(machines[0], "coef"):
        found["coef"] = [machine.coef for machine in machines]
    for name, value in machines[-1].parameters.items():
        found[f"parameter {name}"] = value
    return found


def of_events(events: Iterable[Any]) -> Values:
    """A sample of the events."""
    events = list(events)
    some = [events[i] for i in thinned(np.arange(len(events)), 40)]
    return {
        "events_count": len(events),
        "events_value": [event.value for event in some],
        "events_sample": [event.sample for event in some],
        "events_text": " ".join(f"{event.source}>{event.target}" for event in some),
        "events_of_features": [hasattr(event, "feature") for event in some],
    }


def of_curve(curve: Any) -> Values:
    """The scores of a curve, and a sample of its held-out decision values."""
    found = {
        "values": curve.values,
        "scores": curve.scores,
        "standard_errors": curve.standard_errors,
        "smooth": curve.smooth,
        "doubtful": curve.unreliable,
        "criterion_text": curve.criterion,
    }
    if hasattr(curve, "held"):
        found["held"] = [thinned(held, 12) for held in curve.held]
        found["rows"] = thinned(curve.rows, 12)
    return found


def of_choice(choice: Any) -> Values:
    """What was chosen.

    Not its position: how many values of C are tried along a valley is a length over a step, rounded up, and often
    whole.
    """
    return {
        "value": choice.value,
        "score": choice.score,
        "at_edge_text": " ".join(choice.at_edge),
        "tried": list(choice.tried),
        "tried_lowest": [scores.scores.min() for scores in choice.tried.values()],
        **{f"parameter {name}": value for name, value in choice.parameters.items()},
    }


def of_model(model: Any, new: Any) -> Values:
    """A fitted estimator."""
    found = {"loo_error": model.held_out_error(), "error_criterion_text": model.error_criterion_}
    for name in ("C_", "gamma_", "epsilon_", "lambda1_", "lambda2_", "dual_coef_", "support_", "coef_", "intercept_"):
        value = getattr(model, name, None)
        if value is not None:
            found[name] = thinned(value.T, 60) if name in ("dual_coef_", "coef_") else value
    if isinstance(getattr(model, "criterion_", None), str):
        found["criterion_text"] = model.criterion_
    decide = model.decision_function if hasattr(model, "classes_") else model.predict
    found["new"], found["predicted_text"] = decide(new), " ".join(map(str, model.predict(new).tolist()))
    if not hasattr(model, "classes_"):
        del found["predicted_text"]
    return {**found, **named("curve", of_curve(model.curve_)), **named("choice", of_choice(model.choice_))}


def of_gradient(gradient: Any) -> Values:
    """A score and its derivatives."""
    return {"score": gradient.score, **{f"by {name}": value for name, value in gradient.by.items()}}


def named(name: str, values: Mapping[str, Any]) -> Values:
    """The values under another name each."""
    return {f"{name}: {key}": value for key, value in values.items()}


def all_of(path: Any, new: Any, curves: Mapping[str, Any], **options: Any) -> Values:
    """A path with its curves."""
    found = of_path(path, new, **options)
    for name, curve in curves.items():
        found |= named(name, of_curve(curve))
    return found


PROBLEMS: dict[str, Callable[[], Values]] = {}
# What rounding decides: the nodes of a path to a relative gap of 1e-2, the order of events where there are ties, and
# where an event lies while no sample is on the elbow, so that the offset is free. On another machine than the one that
# wrote the file only the decision values agree, to these tolerances.
UNSTABLE = {"*_to_a_gap": 1e-2, "tied_*": 1e-5, "surface_of_epsilon_repeated_rows": 1e-8}
STABLE_KEYS = ("new", "fitted")


def problem(function: Callable[[], Values]) -> Callable[[], Values]:
    """Enter a problem under the name of the function."""
    PROBLEMS[function.__name__] = function
    return function


# --- least squares ---------------------------------------------------------------------------------------------------


@problem
def least_squares_over_C() -> Values:
    X, y = labels(40)
    path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e3), sample_weight=weights(40))
    values = np.geomspace(1e-2, 1e3, 6)
    press = criteria.press(path, values)
    curves = {
        "press": press,
        "logistic": criteria.press(path, values, loss="logistic"),
        "loo": criteria.loo(path, values, loss="squared"),
        "kfold": criteria.kfold(path, values, cv=4),
        "groups": criteria.kfold(path, values, cv=GroupKFold(3), groups=np.arange(40) % 7),
    }
    found = all_of(path, fresh(2), curves)
    found |= named("select", of_choice(svmpath.select(press)))
    found |= named("one_se", of_choice(svmpath.select(press, "one_se")))
    return found | named("gradient", of_gradient(criteria.gradient(path, 2.0, loss="logistic")))


@problem
def least_squares_regression() -> Values:
    X, y = numbers(45)
    path = svmpath.trace(X, y, loss="least_squares", span=(1e3, 1e-2), kernel="laplacian", sample_weight=weights(45))
    values = np.geomspace(1e-2, 1e3, 6)
    cv = KFold(5, shuffle=True, random_state=0)
    curves = {"press": criteria.press(path, values), "kfold": criteria.kfold(path, values, cv=cv)}
    found = all_of(path, fresh(2), curves)
    return found | named("gradient", of_gradient(criteria.gradient(path, 2.0)))


@problem
def least_squares_over_gamma() -> Values:
    X, y = labels(36, seed=1)
    path = svmpath.trace(X, y, loss="least_squares", over="gamma", span=(0.01, 5.0), C=3.0)
    values = [0.01, 0.2, 5.0]
    curves = {"press": criteria.press(path, values), "kfold": criteria.kfold(path, values, cv=3)}
    return all_of(path, fresh(2), curves)


@problem
def least_squares_over_coef0() -> Values:
    X, y = numbers(30, seed=2)
    path = svmpath.trace(
        X, y, loss="least_squares", over="coef0", span=(0.0, 3.0), kernel="poly", degree=2, gamma=0.5, C=0.5
    )
    return all_of(path, fresh(2), {"loo": criteria.loo(path, [0.0, 1.0, 3.0])})


@problem
def least_squares_truncated() -> Values:
    X, y = labels(50, seed=3)
    options = low_rank(15, landmarks="uniform", truncate=8)
    path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2), gamma=0.3, random_state=0, **options)
    values = np.geomspace(1e-2, 1e2, 5)
    curves = {"press": criteria.press(path, values), "kfold": criteria.kfold(path, values)}
    found = all_of(path, fresh(2), curves)
    bound = criteria.approximation_bound(path, 1.0)
    names = ("theorem3", "measured", "with_offset", "error_norm", "epsilon", "zeta", "kappa", "columns", "rank")
    found |= named("bound", {name: getattr(bound, name) for name in names})
    found["violated_text"] = "; ".join(bound.violated)
    found["exact_kernel"] = path(1.0)(fresh(2), exact_kernel=True)
    return found | {"residual": path.residual}


@problem
def least_squares_min_eigenvalue() -> Values:
    X, y = numbers(48, seed=4)
    options = low_rank(20, landmarks="kmeans", min_eigenvalue=1e-3)
    path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2), gamma=0.5, random_state=1, **options)
    found = all_of(path, fresh(2), {"press": criteria.press(path, [0.1, 10.0])})
    return found | {"residual": path.residual, "rank": path.gram.rank}


@problem
def least_squares_residual() -> Values:
    X, y = labels(60, seed=5)
    path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2), gamma=0.2, rank=1e-3, random_state=2)
    found = all_of(path, fresh(2), {"kfold": criteria.kfold(path, [0.1, 10.0])})
    few = path(1.0).compress(10, random_state=0)
    found |= {"residual": path.residual, "rank": path.gram.rank}
    return found | {"compressed": few(fresh(2)), "compressed_error": few.error, "compressed_rows": few.support}


@problem
def least_squares_density_landmarks_over_gamma() -> Values:
    X, y = labels(40, seed=6)
    options = low_rank(12, landmarks="density")
    path = svmpath.trace(X, y, loss="least_squares", over="gamma", span=(0.1, 1.0), random_state=0, **options)
    return all_of(path, fresh(2), {"press": criteria.press(path, [0.1, 0.3, 1.0])})


@problem
def least_squares_sparse() -> Values:
    X, y = labels(30, 6, seed=7)
    X = sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
    path = svmpath.trace(X, y, loss="least_squares", kernel="linear", span=(1e-3, 10.0))
    return all_of(path, sparse.csr_matrix(fresh(6)), {"press": criteria.press(path, [1e-3, 0.1, 10.0])})


@problem
def least_squares_repeated_rows() -> Values:
    X, y = repeated(*numbers(24, seed=8))
    path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2), sample_weight=weights(len(y)))
    values = [0.05, 1.0, 20.0]
    curves = {"press": criteria.press(path, values), "kfold": criteria.kfold(path, values)}
    return all_of(path, fresh(2), curves)


@problem
def least_squares_clipped() -> Values:
    X, y = labels(30, seed=9)
    path = svmpath.trace(
        X, y, loss="least_squares", kernel="sigmoid", gamma=0.5, rank=svmpath.gram.Clipped(), span=(1e-2, 1e2)
    )
    return all_of(path, fresh(2), {"loo": criteria.loo(path, [0.1, 1.0, 10.0])})


# --- squared hinge ---------------------------------------------------------------------------------------------------


@problem
def squared_hinge_over_C() -> Values:
    X, y = labels(50, seed=10)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e3), gamma=0.5, sample_weight=weights(50))
    values = np.geomspace(1e-2, 1e3, 6)
    curves = {
        "span": criteria.span(path, values),
        "screened": criteria.span(path, values, screen=True),
        "loo": criteria.loo(path, values),
        "kfold": criteria.kfold(path, values, loss="squared_hinge"),
    }
    found = all_of(path, fresh(2), curves)
    found |= named("select", of_choice(svmpath.select(curves["span"])))
    for smoothing in (0.0, 0.1):
        gradient = criteria.gradient(path, 2.0, loss="sigmoid", smoothing=smoothing)
        found |= named(f"gradient {smoothing}", of_gradient(gradient))
    return found


@problem
def squared_hinge_over_C_exact() -> Values:
    X, y = labels(40, seed=11)
    path = svmpath.trace(X, y, loss="squared_hinge", breakpoints="exact", span=(1e2, 1e-2), class_weight="balanced")
    return all_of(path, fresh(2), {"loo": criteria.loo(path, [0.05, 1.0, 20.0])})


@problem
def squared_hinge_over_gamma() -> Values:
    X, y = labels(36, seed=12)
    path = svmpath.trace(X, y, loss="squared_hinge", over="gamma", span=(0.05, 2.0), C=2.0)
    values = [0.05, 0.4, 2.0]
    curves = {
        "span": criteria.span(path, values),
        "loo": criteria.loo(path, values),
        "kfold": criteria.kfold(path, values, cv=3),
    }
    return all_of(path, fresh(2), curves)


@problem
def squared_hinge_over_gamma_exact() -> Values:
    X, y = labels(24, seed=13)
    path = svmpath.trace(X, y, loss="squared_hinge", over="gamma", span=(0.1, 1.0), breakpoints="exact")
    return of_path(path, fresh(2))


@problem
def squared_hinge_over_coef0() -> Values:
    X, y = labels(24, seed=14)
    path = svmpath.trace(
        X, y, loss="squared_hinge", over="coef0", span=(0.5, 2.0), kernel="poly", degree=2, gamma=0.5, C=0.3
    )
    return of_path(path, fresh(2))


@problem
def squared_hinge_landmarks() -> Values:
    X, y = labels(60, seed=15)
    greedy = low_rank(12, landmarks="greedy")
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2), gamma=0.3, random_state=0, **greedy)
    values = [0.05, 1.0, 20.0]
    curves = {"span": criteria.span(path, values), "loo": criteria.loo(path, values)}
    found = all_of(path, fresh(2), curves) | {"residual": path.residual}
    rows = low_rank(landmarks=np.arange(0, 60, 6))
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2), gamma=0.3, **rows)
    return found | named("rows", of_path(path, fresh(2)) | {"residual": path.residual})


@problem
def squared_hinge_repeated_rows() -> Values:
    X, y = repeated(*labels(24, seed=16))
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2))
    values = [0.05, 1.0, 20.0]
    curves = {
        "span": criteria.span(path, values),
        "loo": criteria.loo(path, values),
        "kfold": criteria.kfold(path, values),
        "radius_margin": criteria.radius_margin(path, values),
    }
    return all_of(path, fresh(2), curves)


@problem
def squared_hinge_ard() -> Values:
    X, y = labels(36, 3, seed=17)
    path = svmpath.trace(X, y, loss="squared_hinge", kernel=ARD([0.5, 0.2, 0.05]), span=(1e-1, 1e2))
    values = [0.1, 1.0, 10.0]
    curves = {"span": criteria.span(path, values), "radius_margin": criteria.radius_margin(path, values)}
    found = all_of(path, fresh(3), curves)
    return found | named("gradient", of_gradient(criteria.gradient(path, 1.0, loss="squared_hinge", smoothing=0.1)))


@problem
def squared_hinge_precomputed() -> Values:
    X, y = labels(30, seed=18)
    kernel = RBF(0.4)
    path = svmpath.trace(kernel(X, X), y, loss="squared_hinge", kernel="precomputed", span=(1e-1, 1e2))
    return all_of(path, kernel(fresh(2), X), {"kfold": criteria.kfold(path, [0.1, 1.0, 10.0])})


# --- hinge -----------------------------------------------------------------------------------------------------------


@problem
def hinge_over_C() -> Values:
    X, y = labels(50, seed=20)
    path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e3), gamma=0.5)
    values = np.geomspace(2e-2, 5e2, 6)
    curves = {
        "loo": criteria.loo(path, values),
        "count_only": criteria.loo(path, values, count_only=True),
        "few_events": criteria.loo(path, values, max_events=2, loss="squared"),
        "alo": criteria.alo(path, values),
        "features": criteria.alo(path, values, form="features"),
        "span": criteria.span(path, values),
        "kfold": criteria.kfold(path, values),
        "xi_alpha": criteria.xi_alpha(path, values),
        "span_bound": criteria.span_bound(path, values),
    }
    found = all_of(path, fresh(2), curves)
    return found | named("select", of_choice(svmpath.select(curves["loo"])))


@problem
def hinge_steps() -> Values:
    X, y = labels(16, seed=21)
    curve = criteria.loo(svmpath.trace(X, y, loss="hinge", span=(1e-1, 1e2)), exact=True)
    found = of_curve(curve) | {"edges": curve.edges, "between": curve([0.3, 3.0, 30.0])}
    return found | named("select", of_choice(svmpath.select(curve)))


@problem
def hinge_weights_from_large_C() -> Values:
    X, y = labels(40, seed=22)
    path = svmpath.trace(
        X, y, loss="hinge", span=(1e2, 1e-2), sample_weight=weights(40), class_weight={-1: 2.0, 1: 0.7}
    )
    values = [0.05, 1.0, 20.0]
    curves = {"loo": criteria.loo(path, values), "xi_alpha": criteria.xi_alpha(path, values)}
    return all_of(path, fresh(2), curves)


@problem
def hinge_over_weight_of_samples() -> Values:
    X, y = labels(36, seed=23)
    path = svmpath.trace(X, y, loss="hinge", over="weight", sample=[1, 5, 8, 20], C=5.0)
    values = [1.0, 0.5, 0.1]
    curves = {"loo": criteria.loo(path, values), "kfold": criteria.kfold(path, values, cv=3)}
    return all_of(path, fresh(2), curves)


@problem
def hinge_over_weight_of_a_class() -> Values:
    X, y = labels(36, seed=24)
    path = svmpath.trace(X, y, loss="hinge", over="weight", sample=y == 1, span=(0.2, 5.0), C=2.0)
    return all_of(path, fresh(2), {"alo": criteria.alo(path, [0.3, 1.0, 4.0])})


@problem
def hinge_over_gamma() -> Values:
    X, y = labels(36, seed=25)
    path = svmpath.trace(X, y, loss="hinge", over="gamma", span=(0.05, 2.0), C=2.0)
    values = [0.06, 0.4, 1.9]
    curves = {
        "loo": criteria.loo(path, values),
        "alo": criteria.alo(path, values),
        "kfold": criteria.kfold(path, values, cv=3),
    }
    return all_of(path, fresh(2), curves)


@problem
def hinge_over_gamma_repeated_rows() -> Values:
    X, y = repeated(*labels(20, seed=26))
    path = svmpath.trace(X, y, loss="hinge", over="gamma", span=(1.0, 0.1), sample_weight=weights(len(y)))
    return all_of(path, fresh(2), {"loo": criteria.loo(path, [0.15, 0.9])})


@problem
def hinge_over_coef0() -> Values:
    X, y = labels(24, seed=27)
    path = svmpath.trace(X, y, loss="hinge", over="coef0", span=(0.5, 2.0), kernel="poly", gamma=0.5, C=0.3)
    return of_path(path, fresh(2))


@problem
def hinge_residual() -> Values:
    X, y = labels(60, seed=128)
    path = svmpath.trace(X, y, loss="hinge", span=(1e-1, 1e2), gamma=0.2, rank=1e-2, random_state=3)
    values = [0.2, 2.0, 20.0]
    curves = {"loo": criteria.loo(path, values), "kfold": criteria.kfold(path, values)}
    return all_of(path, fresh(2), curves, with_alpha=False) | {"rank": path.gram.rank, "residual": path.residual}


@problem
def hinge_to_a_gap() -> Values:
    X, y = labels(2100, seed=29)
    path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1.0), gamma=0.2, rank=12, tol=1e-2, random_state=0)
    values = [0.02, 0.5]
    curves = {"alo": criteria.alo(path, values), "kfold": criteria.kfold(path, values, cv=2)}
    return all_of(path, fresh(2), curves, with_alpha=False)


@problem
def hinge_sparse_linear() -> Values:
    X, y = labels(40, 8, seed=30)
    X = sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
    path = svmpath.trace(X, y, loss="hinge", kernel="linear", span=(1e-2, 1e1))
    return all_of(path, sparse.csr_matrix(fresh(8)), {"loo": criteria.loo(path, [0.02, 0.5, 5.0])}, with_alpha=False)


@problem
def hinge_repeated_rows() -> Values:
    X, y = repeated(*labels(24, seed=31))
    path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2), gamma=0.5)
    values = [0.05, 1.0, 20.0]
    curves = {
        "loo": criteria.loo(path, values),
        "alo": criteria.alo(path, values),
        "kfold": criteria.kfold(path, values),
        "xi_alpha": criteria.xi_alpha(path, values),
        "span_bound": criteria.span_bound(path, values),
    }
    return all_of(path, fresh(2), curves)


@problem
def hinge_from_another_machine() -> Values:
    X, y = labels(40, seed=32)
    start = svmpath.trace(X, y, loss="hinge", span=(1e-1, 1e2), gamma=0.5)(0.1)
    path = svmpath.trace(X, y, loss="hinge", span=(1e-1, 1e2), gamma=0.6, start=start)
    return of_path(path, fresh(2))


@problem
def hinge_few_events() -> Values:
    X, y = labels(40, seed=33)
    path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e3), gamma=0.5, max_events=60)
    return of_path(path, fresh(2))


@problem
def hinge_clipped() -> Values:
    X, y = labels(30, seed=34)
    path = svmpath.trace(
        X, y, loss="hinge", kernel="sigmoid", gamma=0.5, coef0=0.3, rank=svmpath.gram.Clipped(), span=(1e-1, 1e2)
    )
    return of_path(path, fresh(2))


@problem
def hinge_precomputed() -> Values:
    X, y = labels(12, seed=35)
    kernel = RBF(1.0)
    path = svmpath.trace(kernel(X, X), y, loss="hinge", kernel="precomputed", span=(1e-1, 1e3))
    return all_of(path, kernel(fresh(2), X), {"loo": criteria.loo(path, [0.3, 3.0, 300.0])})


# --- epsilon-insensitive and nu --------------------------------------------------------------------------------------


@problem
def epsilon_over_C() -> Values:
    X, y = numbers(40, seed=40)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", span=(1e-2, 1e2), epsilon=0.2, sample_weight=weights(40))
    values = [0.05, 1.0, 20.0]
    curves = {
        "loo": criteria.loo(path, values),
        "alo": criteria.alo(path, values),
        "kfold": criteria.kfold(path, values),
    }
    return all_of(path, fresh(2), curves)


@problem
def epsilon_over_epsilon() -> Values:
    X, y = numbers(36, seed=41)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", over="epsilon", C=2.0)
    values = [0.8, 0.2, 0.05]
    curves = {"loo": criteria.loo(path, values), "kfold": criteria.kfold(path, values, cv=3)}
    return all_of(path, fresh(2), curves)


@problem
def epsilon_over_weight() -> Values:
    X, y = numbers(30, seed=42)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", over="weight", sample=[0, 7, 9], C=2.0, epsilon=0.1)
    return of_path(path, fresh(2))


@problem
def epsilon_over_gamma() -> Values:
    X, y = numbers(30, seed=43)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", over="gamma", span=(0.1, 2.0), C=1.0, epsilon=0.2)
    return all_of(path, fresh(2), {"alo": criteria.alo(path, [0.15, 0.5, 1.5])})


@problem
def epsilon_to_a_gap() -> Values:
    X, y = numbers(2050, seed=44)
    path = svmpath.trace(
        X, y, loss="epsilon_insensitive", span=(1e-2, 1.0), gamma=0.2, rank=10, tol=1e-2, epsilon=0.2, random_state=0
    )
    return all_of(path, fresh(2), {"kfold": criteria.kfold(path, [0.02, 0.5], cv=2)}, with_alpha=False)


@problem
def epsilon_repeated_rows() -> Values:
    X, y = repeated(*numbers(24, seed=45))
    path = svmpath.trace(X, y, loss="epsilon_insensitive", span=(1e-2, 1e2), gamma=0.5)
    values = [0.05, 1.0, 20.0]
    curves = {"loo": criteria.loo(path, values), "kfold": criteria.kfold(path, values)}
    return all_of(path, fresh(2), curves)


@problem
def nu_over_nu() -> Values:
    X, y = labels(40, seed=46)
    path = svmpath.trace(X, y, loss="nu", over="nu", span=(0.7, 0.2), gamma=0.5)
    values = [0.65, 0.5, 0.25]
    curves = {
        "loo": criteria.loo(path, values),
        "alo": criteria.alo(path, values),
        "kfold": criteria.kfold(path, values, cv=4),
    }
    return all_of(path, fresh(2), curves)


@problem
def nu_default_span() -> Values:
    X, y = labels(30, seed=47)
    path = svmpath.trace(X, y, loss="nu", over="nu", gamma=0.3, sample_weight=weights(30))
    return of_path(path, fresh(2))


# --- elastic hinge ---------------------------------------------------------------------------------------------------


@problem
def elastic_over_lambda1() -> Values:
    X, y = wide(40, 12, seed=50)
    path = svmpath.trace_elastic(X, y, over="lambda1", lambda2=0.5)
    values = places(path)[1:-1]
    curves = {
        "loo": criteria.loo(path, values),
        "few_events": criteria.loo(path, values, max_events=2),
        "alo": criteria.alo(path, values),
        "kfold": criteria.kfold(path, values, cv=4),
    }
    found = all_of(path, fresh(12), curves)
    found |= named("select", of_choice(svmpath.select(curves["kfold"])))
    return found | {"first_value": path.first_value}


@problem
def elastic_lasso() -> Values:
    X, y = wide(30, 40, seed=51)
    path = svmpath.trace_elastic(X, y, over="lambda1", lambda2=0.0, sample_weight=weights(30))
    middle = 0.5 * (path.breakpoints[1:] + path.breakpoints[:-1])  # at a breakpoint beta jumps
    return of_path(path, fresh(40), values=thinned(middle, 5), with_alpha=False)


@problem
def elastic_over_lambda2() -> Values:
    X, y = wide(36, 10, seed=52)
    path = svmpath.trace_elastic(X, y, over="lambda2", lambda1=1.0, class_weight="balanced")
    return all_of(path, fresh(10), {"loo": criteria.loo(path, [50.0, 1.0, 0.02])})


@problem
def elastic_ray() -> Values:
    X, y = wide(36, 10, seed=253)
    factor = np.ones(10)
    factor[[3, 4]] = 0.0, 2.0
    path = svmpath.trace_elastic(
        X * np.arange(1, 11), y, over="ray", l1_ratio=0.7, penalty_factor=factor, standardize=True, span=(20.0, 0.2)
    )
    return all_of(path, fresh(10), {"kfold": criteria.kfold(path, [10.0, 1.0], cv=3)})


@problem
def elastic_over_weight() -> Values:
    X, y = wide(30, 8, seed=54)
    path = svmpath.trace_elastic(X, y, over="weight", sample=[2, 3, 11], lambda1=0.8, lambda2=0.6)
    found = of_path(path, fresh(8))
    path = svmpath.trace_elastic(X, y, over="weight", sample=y == -1, span=(1.0, 0.3), lambda1=0.8, lambda2=0.6)
    return found | named("label", of_path(path, fresh(8)))


@problem
def elastic_sparse_few_features() -> Values:
    X, y = wide(40, 25, seed=55)
    X = sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
    path = svmpath.trace_elastic(X, y, over="lambda1", lambda2=0.3, max_features=8)
    return of_path(path, sparse.csr_matrix(fresh(25)))


@problem
def elastic_by_size() -> Values:
    X, y = wide(30, 5, seed=56)
    by_size = SPath(svmpath.trace_elastic(X, y, over="lambda1", lambda2=1e-2))
    machines = [by_size(share * by_size.sizes[-1]) for share in (0.1, 0.5, 0.9, 1.0)]
    jumps = thinned(by_size.jumps(), 10)
    found = {"sizes": thinned(by_size.sizes, 40), "coef": [machine.coef for machine in machines], "jumps": jumps}
    return found | {"b": [machine.b for machine in machines], "new": [machine(fresh(5)) for machine in machines]}


# --- ties and near copies, where paths are walked again with other tolerances or perturbed kernels -------------------


def near_copies(n: int, seed: int) -> tuple[Array, Array]:
    """Rows of which two thirds are copies of others, at distances of 1e-16 to 1e-6; and amounts."""
    X, y = numbers(n, seed=seed)
    rng = np.random.default_rng(200 + seed)
    copies = np.flatnonzero(rng.random(n) < 2 / 3)
    away = 10.0 ** rng.uniform(-16, -6, size=(len(copies), 1)) * rng.choice([-1.0, 1.0], size=(len(copies), 2))
    X[copies] = X[rng.integers(0, n, size=len(copies))] + away
    return X, y


@problem
def tied_circles() -> Values:
    angle = np.arange(30) * 2 * np.pi / 15
    radius = np.where(np.arange(30) < 15, 1.0, 2.0)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    path = svmpath.trace(X, np.where(radius > 1.5, 1, -1), loss="hinge", gamma=0.5, span=(1e-3, 1e3))
    return of_path(path, fresh(2))


@problem
def tied_groups() -> Values:
    rng = np.random.default_rng(90)
    group, few = rng.integers(0, 5, size=20), rng.normal(size=(5, 2))
    K = RBF(1.0)(few, few)[np.ix_(group, group)]
    within = group[:, None] == group[None]
    K[within] = 1.0 - 2e-14 * rng.random(within.sum())
    K = np.tril(K) + np.tril(K, -1).T
    np.fill_diagonal(K, 1.0)
    y = np.where(rng.random(20) < 0.5, 1, -1)
    path = svmpath.trace(K, y, loss="hinge", kernel="precomputed", span=(1e-2, 1e3))
    return all_of(path, K[:4], {"loo": criteria.loo(path, [0.1, 1.0, 100.0])})


@problem
def tied_near_copies() -> Values:
    X, y = near_copies(40, 91)
    path = svmpath.trace(X, np.where(y > 0, 1, -1), loss="hinge", gamma=1.0, span=(1e-2, 1e3))
    values = [0.1, 1.0, 100.0]
    curves = {"loo": criteria.loo(path, values), "alo": criteria.alo(path, values)}
    return all_of(path, fresh(2), curves)


@problem
def tied_near_copies_over_gamma() -> Values:
    X, y = near_copies(36, 92)
    options = {"loss": "epsilon_insensitive", "epsilon": 0.0, "C": 210.0}
    return of_path(svmpath.trace(X, y, over="gamma", span=(7.28, 0.03), **options), fresh(2))


@problem
def tied_grid_squared_hinge() -> Values:
    rng = np.random.default_rng(93)
    X = rng.integers(-1, 2, size=(40, 2)).astype(float)
    y = np.where(rng.random(40) < 0.4, 1, -1)
    path = svmpath.trace(X, y, loss="squared_hinge", breakpoints="exact", kernel="linear", span=(1e-3, 1e3))
    return all_of(path, fresh(2), {"loo": criteria.loo(path, [0.01, 1.0, 100.0])})


@problem
def tied_grid_elastic() -> Values:
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(40, 8)).astype(float)
    y = np.where(rng.random(40) < 0.4, 1, -1)
    path = svmpath.trace_elastic(X, y, over="lambda1", lambda2=1.0)
    found = all_of(path, fresh(8), {"loo": criteria.loo(path, places(path)[1:-1])})
    return found | named("lasso", of_path(svmpath.trace_elastic(X, y, over="lambda1", lambda2=0.0), fresh(8)))


@problem
def tied_nu() -> Values:
    X = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    y = np.where((X[:, 0] + X[:, 1]) % 3 == 0, 1, -1)
    path = svmpath.trace(X, y, loss="nu", over="nu", gamma=0.5)
    return of_path(path, fresh(2))


# --- surfaces --------------------------------------------------------------------------------------------------------


def of_surface(surface: Any, curves: Any, pairs: Iterable[tuple[float, float]], **options: Any) -> Values:
    """Machines on a surface, its curves and the choice."""
    machines = [surface(C, gamma) for C, gamma in pairs]
    return {
        "alpha": [thinned(machine.alpha, 40) for machine in machines],
        "b": [machine.b for machine in machines],
        "new": [machine(fresh(2)) for machine in machines],
        "gammas": surface.gammas,
        "breakpoints_count": [len(distinct(path.breakpoints)) for path in surface.paths],
        "breakpoints": np.concatenate([thinned(distinct(path.breakpoints), 15) for path in surface.paths]),
        "scores": curves.scores,
        "doubtful": [curve.unreliable for curve in curves.curves],
        **named("choice", of_choice(svmpath.select(curves, **options))),
    }


PAIRS = ((0.1, 0.1), (2.0, 0.17), (50.0, 1.0), (100.0, 0.4))


@problem
def surface_of_hinge() -> Values:
    X, y = labels(40, seed=160)
    surface = svmpath.surface(X, y, loss="hinge", C=(0.1, 100.0), gamma=(0.1, 1.0))
    return of_surface(surface, surface.curves(criteria.loo, [0.3, 3.0, 30.0]), PAIRS)


@problem
def surface_of_squared_hinge() -> Values:
    X, y = labels(40, seed=61)
    surface = svmpath.surface(X, y, loss="squared_hinge", C=(0.1, 100.0), gamma=[0.1, 0.3, 1.0])
    return of_surface(surface, surface.curves(criteria.span, loss="squared"), PAIRS, rule="one_se", refine=1)


@problem
def surface_of_epsilon_repeated_rows() -> Values:
    X, y = repeated(*numbers(20, seed=62))
    surface = svmpath.surface(X, y, loss="epsilon_insensitive", C=(0.1, 100.0), gamma=[0.1, 0.4, 1.0], epsilon=0.2)
    return of_surface(surface, surface.curves(criteria.kfold, [0.3, 3.0, 30.0], cv=3), PAIRS, refine=1)


# --- estimators ------------------------------------------------------------------------------------------------------


@problem
def svc_squared_hinge() -> Values:
    X, y = labels(40, seed=70)
    return of_model(
        svmpath.PathSVC(loss="squared_hinge", search="grid", rank=None).fit(X, y, sample_weight=weights(40)), fresh(2)
    )


@problem
def svc_least_squares() -> Values:
    X, y = labels(40, seed=71)
    return of_model(svmpath.PathSVC(loss="least_squares", rule="one_se", search="grid", rank=None).fit(X, y), fresh(2))


@problem
def svc_hinge() -> Values:
    X, y = labels(40, seed=72)
    return of_model(svmpath.PathSVC(loss="hinge", gamma=[0.1, 0.5, 2.0], search="grid", rank=None).fit(X, y), fresh(2))


@problem
def svc_hinge_bounds() -> Values:
    X, y = labels(36, seed=73)
    found = {}
    for name in ("xi_alpha", "span_bound", "alo"):
        model = svmpath.PathSVC(
            loss="hinge", gamma=[0.2, 1.0], C=[0.1, 1.0, 10.0], criterion=name, search="grid", rank=None
        )
        found |= named(name, of_model(model.fit(X, y), fresh(2)))
    return found


@problem
def svc_radius_margin() -> Values:
    X, y = labels(36, seed=74)
    model = svmpath.PathSVC(
        loss="squared_hinge",
        gamma=svmpath.Range(0.1, 2.0),
        C=svmpath.Range(0.1, 100.0),
        criterion="radius_margin",
        search="grid",
        rank=None,
    )
    return of_model(model.fit(X, y), fresh(2))


@problem
def svc_several_classes() -> Values:
    X, y = classes(45, seed=75)
    found = {}
    for loss, criterion in (("squared_hinge", "auto"), ("hinge", "kfold"), ("least_squares", "auto")):
        model = svmpath.PathSVC(
            loss=loss, gamma=[0.1, 0.5], criterion=criterion, cv=3, class_weight="balanced", search="grid", rank=None
        )
        found |= named(loss, of_model(model.fit(X, y), fresh(3)))
    return found


@problem
def svc_continuous() -> Values:
    X, y = labels(36, seed=76)
    options = {"gamma": svmpath.Range(0.1, 2.0), "C": svmpath.Range(1e-3, 1e6), "search": "grid", "scoring": "squared"}
    model = svmpath.PathSVC(loss="least_squares", **options)
    return of_model(model.fit(X, y), fresh(2))


@problem
def svc_gradient() -> Values:
    X, y = labels(36, seed=77)
    model = svmpath.PathSVC(loss="squared_hinge", search="gradient", scoring="logistic", random_state=0)
    return of_model(model.fit(X, y), fresh(2))


@problem
def svc_ard() -> Values:
    X, y = labels(40, 3, seed=78)
    return of_model(svmpath.PathSVC(loss="squared_hinge", gamma="ard", random_state=0).fit(X, y), fresh(3))


@problem
def svc_low_rank() -> Values:
    X, y = labels(60, seed=79)
    options = low_rank(12, landmarks="uniform", truncate=10)
    model = svmpath.PathSVC(loss="squared_hinge", gamma=[0.1, 0.5], random_state=0, **options, search="grid")
    return of_model(model.fit(X, y), fresh(2))


@problem
def svr_least_squares() -> Values:
    X, y = numbers(40, seed=80)
    return of_model(svmpath.PathSVR(loss="least_squares", search="grid", rank=None).fit(X, y), fresh(2))


@problem
def svr_least_squares_gradient() -> Values:
    X, y = numbers(36, seed=81)
    model = svmpath.PathSVR(loss="least_squares", search="gradient", random_state=0)
    return of_model(model.fit(X, y, sample_weight=weights(36)), fresh(2))


@problem
def svr_epsilon() -> Values:
    X, y = repeated(*numbers(24, seed=82))
    model = svmpath.PathSVR(
        loss="epsilon_insensitive", epsilon="tune", gamma=[0.2, 1.0], C=[0.1, 1.0, 10.0], search="grid", rank=None
    )
    return of_model(model.fit(X, y), fresh(2))


@problem
def elastic_net_svc() -> Values:
    X, y = wide(40, 10, seed=83)
    return of_model(svmpath.ElasticNetSVC().fit(X, y), fresh(10))


@problem
def elastic_net_svc_few_features() -> Values:
    X, y = wide(36, 12, seed=84)
    model = svmpath.ElasticNetSVC(lambda2=[0.1, 2.0], max_features=4, rule="one_se", standardize=False)
    return of_model(model.fit(X, y, sample_weight=weights(36)), fresh(12))


@problem
def elastic_net_svc_several_classes() -> Values:
    X, y = classes(30, 4, seed=85)
    # Of balanced classes the machine at the largest lambda1 is zero: rounding decides which class it names.
    lambda1 = np.geomspace(4.0, 0.1, 15)
    model = svmpath.ElasticNetSVC(lambda1=lambda1, lambda2=[0.5, 5.0], criterion="loo", class_weight="balanced")
    return of_model(model.fit(X, y), fresh(4))


@problem
def elastic_net_svc_on_a_dictionary() -> Values:
    X, y = labels(36, seed=86)
    dictionary = svmpath.KernelDictionary(gamma=[0.3, 2.0], max_centres=15, random_state=0)
    columns = dictionary.fit_transform(X)
    model = svmpath.ElasticNetSVC(lambda2=1.0, cv=3).fit(columns, y)
    return of_model(model, dictionary.transform(fresh(2)))


# --- running, writing, comparing -------------------------------------------------------------------------------------


def run(name: str) -> dict[str, Array | str]:
    """The golden values of a problem."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = PROBLEMS[name]()
    return {key: value if isinstance(value, str) else np.array(value, dtype=float) for key, value in values.items()}


def write(file: Path, found: Mapping[str, Mapping[str, Array | str]]) -> None:
    """All values in one array, and an index of whose they are: thousands of small arrays would be a large file."""
    index = {
        name: {key: value if isinstance(value, str) else list(value.shape) for key, value in values.items()}
        for name, values in found.items()
    }
    arrays = [value.ravel() for values in found.values() for value in values.values() if not isinstance(value, str)]
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, index=np.array(json.dumps(index)), numbers=np.concatenate([np.empty(0), *arrays]))


def read(file: Path) -> dict[str, dict[str, Array | str]]:
    """The values of a file, by problem and key."""
    with np.load(file) as stored:
        index, flat = json.loads(str(stored["index"])), stored["numbers"]
    found: dict[str, dict[str, Array | str]] = {}
    done = 0
    for name, entries in index.items():
        found[name] = {}
        for key, shape in entries.items():
            if isinstance(shape, str):
                found[name][key] = shape
                continue
            size = int(np.prod(shape))
            found[name][key] = flat[done : done + size].reshape(shape)
            done += size
    return found


def difference(a: Array | str, b: Array | str) -> float:
    """The largest difference relative to one plus the largest number of b; infinity where they cannot be compared."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if isinstance(a, str) and isinstance(b, str) and a == b else np.inf
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    usual = np.isfinite(b)
    if not np.array_equal(a[~usual], b[~usual], equal_nan=True):
        return np.inf
    size = np.abs(b[usual]).max(initial=0.0)
    return float(np.abs(a[usual] - b[usual]).max(initial=0.0) / (1.0 + size))


def compare(found: Mapping[str, Array | str], stored: Mapping[str, Array | str], tolerance: float) -> dict[str, float]:
    """The keys that differ by more than a tolerance, and by how much; infinity for keys that only one of them has."""
    keys = [*stored, *(key for key in found if key not in stored)]
    gaps = {key: difference(found[key], stored[key]) if key in found and key in stored else np.inf for key in keys}
    return {key: gap for key, gap in gaps.items() if not gap <= tolerance}


def compare_portably(
    name: str, found: Mapping[str, Array | str], stored: Mapping[str, Array | str], tolerance: float
) -> dict[str, float]:
    """The same for values of another machine."""
    for pattern, least in UNSTABLE.items():
        if fnmatch(name, pattern):
            found, stored = ({key: values.get(key, "") for key in STABLE_KEYS} for values in (found, stored))
            return compare(found, stored, max(tolerance, least))
    return compare(found, stored, tolerance)


def run_all(names: Iterable[str], *, verbose: bool = False) -> tuple[dict[str, dict[str, Array | str]], dict[str, str]]:
    """The values of several problems, and the messages of those that raise."""
    found, failed = {}, {}
    for name in names:
        start = time.perf_counter()
        try:
            found[name] = run(name)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
        if verbose:
            print(f"{name}: {time.perf_counter() - start:.2f} s", file=sys.stderr, flush=True)
    return found, failed


def report(
    found: Mapping[str, Any], stored: Mapping[str, Any], names: Iterable[str], tolerance: float, *, portable: bool
) -> int:
    """Print what differs; the number of problems that do."""
    bad = 0
    for name in names:
        if name not in stored:
            print(f"{name}: not in the file")
            bad += 1
        elif name in found:
            pair = found[name], stored[name]
            gaps = compare_portably(name, *pair, tolerance) if portable else compare(*pair, tolerance)
            bad += bool(gaps)
            for key, gap in gaps.items():
                print(f"{name}: {key}: {gap:.1e}{_words(found[name].get(key), stored[name].get(key))}")
    return bad


def _words(a: Any, b: Any) -> str:
    """What makes two values incomparable."""
    if a is None or b is None:
        return " (only in the file)" if a is None else " (not in the file)"
    if isinstance(a, str) or isinstance(b, str):
        return f" ({a!r} instead of {b!r})"
    return f" (shape {a.shape} instead of {b.shape})" if a.shape != b.shape else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="FILE", help="compute the values and store them")
    action.add_argument("--compare", type=Path, metavar="FILE", help="compute the values and compare them with a file")
    action.add_argument("--list", action="store_true", help="print the names of the problems")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="relative difference allowed (default 1e-10)")
    parser.add_argument("--portable", action="store_true", help="the file was written on another machine")
    parser.add_argument("--only", default="*", metavar="NAME", help="only problems of this name, with wildcards")
    parser.add_argument("--verbose", action="store_true", help="print the time each problem takes")
    options = parser.parse_args()
    names = [name for name in PROBLEMS if fnmatch(name, options.only)]
    if not names:
        raise SystemExit(f"No problem is called {options.only!r}; --list prints their names.")
    if options.list:
        print("\n".join(names))
        return
    start = time.perf_counter()
    found, failed = run_all(names, verbose=options.verbose)
    for name, message in failed.items():
        print(f"{name}: raised {message}")
    bad = len(failed)
    if options.write is not None:
        write(options.write, found)
    else:
        stored = read(options.compare)
        bad += report(found, stored, names, options.tolerance, portable=options.portable)
        for name in stored:
            if name not in PROBLEMS and options.only == "*":
                print(f"{name}: in the file, but no longer a problem")
                bad += 1
    print(f"{len(names)} problems, {bad} differ or raise; {time.perf_counter() - start:.0f} s; {svmpath.__file__}")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
