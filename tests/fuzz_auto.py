"""The default search with random options on any data: it ends, is the same for the same seed, and tells the truth.

``make fuzz`` runs it as the tasks "auto:..." (see ``trials``). Limits on the number of samples are lowered at random:
every stage of the search is reached with few.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import numpy as np
from sklearn.model_selection import KFold

import svmpath
from svmpath import criteria
from svmpath.kernels import gamma_value
from svmpath.search import limits
from tests import certificates
from tests.problems import Data

CLOSE = 1e-6  # held-out values nearer to zero than this may fall to either side
LARGEST = 1e12  # C times a kernel value from which on held-out values may have too few digits to be compared
SAME = 1e-4  # scores that differ by less, relative, are the same
LOSSES = {
    "classification": (None, "squared_hinge", "least_squares", "hinge", "huber_hinge"),
    "regression": (None, "least_squares", "epsilon_insensitive"),
}
FIRST = ("screen", "narrow")


def check(data: Data, rng: np.random.Generator) -> None:
    """Fit twice, and check the machine, its score and the table."""
    task = "classification" if set(np.unique(data.y)) <= set(range(-1, 20)) else "regression"
    options = draw_options(data, rng, task)
    make = svmpath.PathSVC if task == "classification" else svmpath.PathSVR
    with ExitStack() as stack:
        for patch in draw_limits(len(data.y), rng):
            stack.enter_context(patch)
        model, again = (make(**options).fit(data.X, data.y, sample_weight=data.s) for _ in range(2))
    what = f"{make.__name__}({options}), C_ = {model.C_:.6g}, gamma_ = {model.gamma_}"
    assert (model.C_, model.gamma_, model.loss_) == (again.C_, again.gamma_, again.loss_), f"{what}: not the same again"
    assert np.array_equal(model.dual_coef_, again.dual_coef_), f"{what}: other coefficients when fitted again"
    assert_inside(model.C_, options["C"], what)
    check_machine(model, data, what)
    check_score(model, data, what)
    check_table(model, what)


def draw_options(data: Data, rng: np.random.Generator, task: str) -> dict:
    """Options of an estimator, each the default half of the time."""
    loss = LOSSES[task][int(rng.integers(len(LOSSES[task])))] if rng.random() < 0.6 else None
    # Exact machines; those on the full kernel of many rows have a gap, and tests of their own.
    options = {"loss": loss, "random_state": int(rng.integers(100)), "C": "tune", "effort": "quick"}
    if data.is_kernel:
        options["kernel"] = "precomputed"
    else:
        options["kernel"] = str(rng.choice(["rbf", "rbf", "rbf", "laplacian", "linear", "poly"]))
        scale = gamma_value("scale", data.X)
        values = (scale * 4.0 ** np.sort(rng.choice(np.arange(-4, 5.0), 3, False))).tolist()
        options["gamma"] = draw_given(values, rng)
    if rng.random() < 0.5:
        options["C"] = draw_given((10.0 ** np.sort(rng.uniform(-2, 3, 3))).tolist(), rng)
    options["rule"] = str(rng.choice(["min", "min", "one_se"]))
    if rng.random() < 0.3:
        options["scoring"] = "squared"
    if rng.random() < 0.3:
        options |= {"criterion": "kfold", "cv": KFold(3, shuffle=True, random_state=0)}
    if task == "classification" and rng.random() < 0.2:
        options["class_weight"] = "balanced"
    return options


def draw_given(values: list[float], rng: np.random.Generator) -> object:
    """One of the ways to give C or gamma."""
    ways = ["tune", "tune", values, (values[0], values[-1]), values[1]]
    return ways[int(rng.integers(len(ways)))]


def draw_limits(n: int, rng: np.random.Generator) -> list:
    """Patches under which a few samples count as many."""
    patches = []
    if rng.random() < 0.4:
        patches.append(mock.patch.multiple(limits, UNNARROWED_ROWS=n // 2, FIRST_RANK=max(n // 3, 1)))
    if rng.random() < 0.3:
        patches.append(
            mock.patch.multiple(
                limits, FULL_ROWS=n // 2, FULL_OPERATIONS=1.0, FIRST_RANK=n // 8 + 1, MOST_RANK=max(n // 2, 1)
            )
        )
    return patches


def assert_inside(value: float, given: object, what: str) -> None:
    """C is one of those allowed."""
    if isinstance(given, list):
        assert np.isclose(value, given).any(), f"{what}: C is none of {given}"
    elif isinstance(given, tuple):
        assert given[0] * (1 - 1e-9) <= value <= given[1] * (1 + 1e-9), f"{what}: C is not in {given}"
    elif given != "tune":
        assert value == given, f"{what}: C is not {given}"


def check_machine(model, data: Data, what: str) -> None:
    """It is optimal, and decides as its path does."""
    solution = model.path_(model.C_)
    certificates.check(solution, what)
    if getattr(model, "multi_class_", "ovr") == "ovo":
        return  # votes of pairs of classes, and not decision values of path_
    f = model.decision_function(data.X) if hasattr(model, "decision_function") else model.predict(data.X)
    f = f if f.ndim == 1 else f[:, 0]
    assert np.isfinite(f).all(), f"{what}: decision values that are not finite"
    off, size = np.abs(f - solution.fitted).max(), 1.0 + np.abs(solution.fitted).max()
    assert off <= SAME * size + 10.0 * solution.rounding, f"{what}: decision values off by {off:.2e}"
    assert np.isfinite(model.held_out_error()), f"{what}: held_out_error() = {model.held_out_error()}"


def check_score(model, data: Data, what: str) -> None:
    """The score of the pair is that of a path of its own; two classes or numbers, and the full matrix."""
    path = model.path_
    if len(model.intercept_) > 1 or path.gram.Z is not None or model.criterion_ not in ("loo", "span", "kfold"):
        return
    if model.C_ * float(np.abs(path.gram.diag).max()) > LARGEST:
        return  # a kernel far too large for this C: nothing is promised
    own = {"epsilon": model.epsilon_} if model.loss_ == "epsilon_insensitive" else {}
    fresh = svmpath.trace(
        data.X, data.y, loss=model.loss_, kernel=model.kernel_, gamma=None, sample_weight=path.problem.s,
        task=path.problem.task, span=(0.99 * model.C_, 1.01 * model.C_), **own,
    )  # fmt: skip
    more = {"cv": model.cv, "random_state": model.random_state} if model.criterion_ == "kfold" else {}
    curve = getattr(criteria, model.criterion_)(fresh, np.array([model.C_]), loss=model.scoring, **more)
    near_zero = np.any(np.abs(curve.held[0]) < CLOSE * (1.0 + np.abs(curve.held[0]).max()))
    if curve.unreliable[0] and model.criterion_ == "loo":
        return
    if near_zero and path.problem.task == "classification" and model.scoring is None:
        return
    off = abs(curve.scores[0] - model.choice_.score)
    assert off <= SAME * abs(curve.scores[0]) + 1e-9, f"{what}: score {model.choice_.score}, not {curve.scores[0]}"


def check_table(model, what: str) -> None:
    """One pair is the chosen one."""
    table = model.search_table_
    chosen = table[table.kept & ~table.stage.isin(FIRST)]
    assert len(chosen) == 1, f"{what}: {len(chosen)} rows of the table are the pair chosen"
    assert np.isclose(chosen.C.iloc[0], model.C_), f"{what}: C = {chosen.C.iloc[0]} in the table"
