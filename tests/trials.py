"""Trials: one kind of data through one task, and the answers checked.

A seed draws the kind of data (``problems.KINDS``) and the task (``TASKS``). Machines are checked by their duality gap
(``certificates``), held-out values against machines that are traced afresh on the other rows, from a start of their
own, and in a share of the trials against LIBSVM. The ``fuzz_`` files have problems of their own, each made for one
engine and compared with its slow twin: they are the kinds of data named after what they are compared with.

``run(seed)`` raises AssertionError where something differs, and lets PathError through where the data are such that
there must be a path.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.svm import SVC, SVR

import svmpath
from svmpath import criteria
from svmpath.exceptions import NoMarginError
from svmpath.kernels import gamma_value
from svmpath.losses import Expectile, Pinball
from tests import (
    certificates,
    fuzz_auto,
    fuzz_elastic,
    fuzz_gradients,
    fuzz_jump,
    fuzz_kernel,
    fuzz_loo,
    fuzz_one_class,
    fuzz_refits,
    problems,
)
from tests.problems import Data

NODES = 30  # breakpoints of a path that are looked at, and as many values between them
HELD = 3  # samples whose held-out value is compared
CLOSE = 1e-6  # held-out values that differ by less, relative, are the same
PROMISED = 1e-4  # what criteria promise wherever they do not doubt
OWN = 0.15  # share of trials with problems made for one engine
NUMBERS = ("epsilon_insensitive", "pinball")  # losses with an elbow of a regression
SPANS = {"least_squares": (1e-3, 1e6), "squared_hinge": (1e-3, 1e4)}


@dataclass(frozen=True)
class Trial:
    """One drawn trial.

    Attributes
    ----------
    seed : int
    kind, task : str
        Names of the data and of what is done with them.
    """

    seed: int
    kind: str
    task: str

    @property
    def name(self) -> str:
        """As it is written after ``--only``."""
        return f"{self.kind}/{self.task}"


@dataclass(frozen=True)
class Task:
    """What is done with a data set.

    Attributes
    ----------
    run : callable
        ``run(data, rng)``.
    targets : tuple of str
        Of ``problems.TARGETS``, those it can have.
    share : float
        How often it is drawn, relative to others.
    takes_kernel : bool
        Whether a precomputed kernel matrix will do.
    """

    run: Callable[[Data, np.random.Generator], None]
    targets: tuple[str, ...] = ("labels",)
    share: float = 1.0
    takes_kernel: bool = True


TASKS: dict[str, Task] = {}
PROGRAMS: dict[str, Callable[[int], object]] = {
    "refits:least_squares": fuzz_refits.run_least_squares,
    "refits:squared_hinge": fuzz_refits.run_squared_hinge,
    "path:elbow": fuzz_jump.run,
    "loo:elbow": fuzz_loo.run,
    "path:kernel": fuzz_kernel.run,
    "path:kernel_wide": partial(fuzz_kernel.run, wide=True),
    "gradients": fuzz_gradients.run,
    "path:elastic": fuzz_elastic.run,
    "path:one_class": fuzz_one_class.run,
}


def draw(seed: int) -> Trial:
    """The trial that a seed stands for."""
    rng = np.random.default_rng([seed, 12])
    if rng.random() < OWN:
        return Trial(seed, "own", str(rng.choice(list(PROGRAMS))))
    kind = str(rng.choice(list(problems.KINDS)))
    names = [name for name, task in TASKS.items() if kind != "precomputed" or task.takes_kernel]
    shares = np.array([TASKS[name].share for name in names])
    return Trial(seed, kind, str(rng.choice(names, p=shares / shares.sum())))


def run(seed: int) -> None:
    """Run the trial of a seed; whatever is wrong with its answers is raised."""
    trial = draw(seed)
    if trial.task in PROGRAMS:
        PROGRAMS[trial.task](seed)
        return
    rng = np.random.default_rng([seed, 13])
    task = TASKS[trial.task]
    data = problems.make(trial.kind, rng, str(rng.choice(task.targets)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few digits, indefinite kernels, ends of a grid: none is an error
        try:
            task.run(data, rng)
        except NoMarginError:
            pass  # classes that overlap too much for the nu machine, with or without some rows
        except svmpath.PathError as error:
            # Rows that are all alike in large columns: a polynomial kernel of 1e11 leaves targets of 0.01 few digits.
            if trial.kind not in problems.UNSCALED and "kernel values are too large" not in str(error):
                raise


def warm_up() -> None:
    """Load or compile what all trials need, so that no trial is charged for it."""
    rng = np.random.default_rng(0)
    data = problems.make("normal", rng, "labels", 12)
    regression = problems.make("normal", rng, "numbers", 12)
    one_hot = replace(data, X=sparse.csr_matrix(np.round(data.X)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for over in ("C", "gamma"):
            check_loo(data, rng, "hinge", over)
            check_loo(regression, rng, "epsilon_insensitive", over)
        check_loo(data, rng, "nu", "nu")
        for rows in (data, one_hot):
            check_loo(rows, rng, "elastic_hinge", "lambda1")
            check_path(rows, rng, "elastic_hinge", "ray")
            check_elastic_fit(rows, rng)


# --- paths -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Arguments of ``trace`` or ``trace_elastic`` for one data set, with which it can be called again on other rows.

    Attributes
    ----------
    data : Data
    options : dict
        Those, with the loss; without the data, the weights and the span.
    span : tuple of two floats or None
    """

    data: Data
    options: dict
    span: tuple[float, float] | None = None
    path: svmpath.Path = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "path", self.trace(self.data, self.span))

    def trace(self, data: Data, span=None, **others) -> svmpath.Path:
        """The path of some data."""
        options = {**self.options, **others}
        if options["loss"] == "elastic_hinge":
            options.pop("loss")
            return svmpath.trace_elastic(data.X, data.y, sample_weight=data.s, span=span, **options)
        y = None if options["loss"] == "one_class" else data.y
        return svmpath.trace(data.X, y, sample_weight=data.s, span=span, **options)

    def machine(self, rows, value: float):
        """The machine of some rows at a value, traced afresh: the path begins there."""
        return self.trace(self.data.take(rows), (value, value / 1.01))(value)

    def held(self, train, test, value: float) -> np.ndarray:
        """Decision values of the test rows by the machine of the train rows."""
        return self.machine(train, value)(self.data.against(test, train))

    def values(self, rng, count: int = 2) -> np.ndarray:
        """Values of the parameter, inside the span."""
        low, high = sorted(self.path.span)
        if self.path.over == "weight":
            return rng.uniform(low, high, count)
        return np.exp(rng.uniform(np.log(max(low, 1e-3 * high)), np.log(high), count))


def kernel_options(data: Data, rng, moving: bool = False) -> dict:
    """A kernel for the data; with a fixed gamma unless that is what moves."""
    if data.is_kernel:
        return {"kernel": "precomputed"}
    name = str(rng.choice(["rbf", "laplacian"] if moving else ["rbf", "rbf", "rbf", "laplacian", "linear", "poly"]))
    gamma = gamma_value("scale", data.X)
    if name == "poly":
        return {"kernel": "poly", "degree": int(rng.integers(2, 4)), "gamma": gamma, "coef0": 1.0}
    if moving or name == "linear":
        return {"kernel": name}
    return {"kernel": name, "gamma": gamma * 4.0 ** float(rng.integers(-4, 5))}


def setting(data: Data, rng, loss: str, over: str, **more) -> Setting:
    """A path of this loss over this parameter."""
    options = {"loss": loss, "over": over, **more}
    if loss == "elastic_hinge":
        return Setting(data, elastic_options(rng, over, len(data.y)) | options, None)
    options |= kernel_options(data, rng, over == "gamma")
    span = None
    if over == "C":
        span = SPANS.get(loss, (1e-3, 1e3))
    elif over != "nu":
        options["C"] = float(10.0 ** rng.uniform(-2, 2.5))
    if loss == "epsilon_insensitive":
        options |= {"task": "regression"}
        if over != "epsilon":
            options["epsilon"] = float(rng.choice([0.0, 0.01, 0.1, 0.5]) * (data.y.std() or 1.0))
    elif loss == "pinball":
        options |= {"loss": Pinball(float(rng.choice([0.05, 0.25, 0.5, 0.8, 0.97]))), "task": "regression"}
    elif loss == "expectile":
        options |= {"loss": Expectile(float(rng.choice([0.05, 0.5, 0.8, 0.97]))), "task": "regression"}
    elif loss == "least_squares":
        options["task"] = "classification" if set(np.unique(data.y)) == {-1.0, 1.0} else "regression"
    if over == "gamma":
        scale = gamma_value("scale", data.X)
        span = tuple((scale * 4.0 ** rng.permutation([float(rng.integers(-4, 0)), float(rng.integers(1, 5))])).tolist())
    elif over == "weight":
        options["sample"], span = weight_rows(data, rng), (1.0, 0.0)
    return Setting(data, options, span)


def elastic_options(rng, over: str, n: int) -> dict:
    """Penalties of the elastic hinge."""
    lam2 = float(rng.choice([0.0, 1e-2, 1.0, n * 10.0 ** rng.uniform(-3, 0)]))
    lam1 = float(rng.choice([1e-2, 10.0 ** rng.uniform(-1, 1)]))
    options = {
        "lambda1": {"lambda2": lam2},
        "lambda2": {"lambda1": lam1},
        "ray": {"l1_ratio": float(rng.choice([0.1, 0.5, 0.9, 1.0]))},
    }[over]
    return options | {"standardize": bool(rng.random() < 0.5)}


def weight_rows(data: Data, rng) -> np.ndarray:
    """One to three rows without which both classes are there."""
    counted = np.flatnonzero(data.weights)
    for _ in range(20):
        rows = rng.choice(counted, size=int(rng.integers(1, 4)), replace=False)
        if is_whole(data, np.setdiff1d(counted, rows)):
            return rows
    return counted[:1]


def is_whole(data: Data, rows) -> bool:
    """Whether these rows have every label of the data with a weight; numbers always do."""
    counted = rows[data.weights[rows] > 0]
    labels = np.unique(data.y)
    return len(counted) > 1 and (len(labels) > 2 or len(np.unique(data.y[counted])) == len(labels))


def check_path(data: Data, rng, loss: str, over: str, **more) -> None:
    """The machines at breakpoints, between them and at values drawn at random."""
    here = setting(data, rng, loss, over, **more)
    path, nodes = here.path, here.path.breakpoints
    between = 0.5 * (nodes[1:] + nodes[:-1])
    values = [nodes, between, here.values(rng, 4)] if over != "weight" else [nodes, between]
    for many in values:
        for value in many if len(many) <= NODES else rng.choice(many, NODES, replace=False):
            certificates.check(path(value), f"{over} = {value:.8g} ({here.options})")


def check_approximate(data: Data, rng) -> None:
    """A path to a tolerance has no larger gap anywhere."""
    tol = float(10.0 ** rng.uniform(-4, -2))
    here = setting(data, rng, "hinge", "C", tol=tol)
    for value in here.values(rng, 5):
        found = certificates.excess(here.path(value))
        assert found <= tol, f"gap {found:.2e} > tol = {tol:.2e} at C = {value:.6g} ({here.options})"


# --- held-out values -------------------------------------------------------------------------------------------------


def compare(here: Setting, found, train, test, value: float, what: str, rng) -> None:
    """Held-out values found by a criterion beside those of a machine of the train rows."""
    if here.options.get("lambda2") == 0.0 or here.options.get("l1_ratio") == 1.0:
        return  # a linear programme can have several answers
    expected = here.held(train, test, value)
    size = 1.0 + np.abs(expected).max()
    off = np.abs(found - expected).max()
    close = CLOSE if here.data.kind not in problems.UNSCALED else PROMISED
    if off > close * size:
        # How far is it known? The same rows in another order are rounded otherwise.
        again = [here.held(rng.permutation(train), test, value) for _ in range(3)]
        known = 10.0 * np.abs(again - expected).max() + here.machine(train, value).rounding
        text = f"{what} at {value:.8g}: {found} is not {expected}, off by {off:.2e} ({here.options})"
        assert off <= known + close * size, text
    if rng.random() < 0.1:
        compare_libsvm(here, expected, train, test, value)


def compare_libsvm(here: Setting, expected, train, test, value: float) -> None:
    """A machine of our own beside LIBSVM's; only where its offset is determined by free samples."""
    loss, over = here.path.loss.name, here.path.over
    if loss not in ("hinge", "epsilon_insensitive") or over == "weight":
        return
    machine = here.machine(train, value)
    K = machine.problem.gram.block(slice(None), slice(None))
    C, data = machine.parameters["C"], here.data.take(train)
    made = SVC if loss == "hinge" else SVR
    more = {} if loss == "hinge" else {"epsilon": machine.parameters["epsilon"]}
    model = made(C=C, kernel="precomputed", tol=1e-10, max_iter=200_000, **more)
    counted = np.flatnonzero(data.weights)
    model.fit(K[np.ix_(counted, counted)], data.y[counted], sample_weight=data.weights[counted])
    limit = C * data.weights[counted][model.support_]
    size = np.abs(model.dual_coef_[0])
    if not np.any((size > 1e-6 * limit) & (size < (1.0 - 1e-6) * limit)):
        return
    alpha = np.zeros(len(train))
    alpha[counted[model.support_]] = model.dual_coef_[0]
    theirs = replace(machine, alpha=alpha, b=float(model.intercept_[0]))
    gaps, height = certificates.gap(theirs) + certificates.gap(machine), float(np.abs(machine.problem.gram.diag).max())
    # The objective is strictly convex in the machine: |w - w'|^2 / 2 is at most the sum of the two gaps.
    allowed = CLOSE * (1.0 + np.abs(expected).max()) + 10.0 * np.sqrt(2.0 * gaps * height)
    off = np.abs(theirs(here.data.against(test, train)) - expected).max()
    assert off <= allowed, f"LIBSVM differs by {off:.2e} > {allowed:.2e} at {value:.8g} ({here.options})"


def held_out_setting(data: Data, rng, loss: str, over: str) -> Setting:
    """A path whose machines can be fitted again without some rows."""
    # Columns are standardised once, by all rows: a machine of fewer rows would scale them otherwise.
    return setting(data, rng, loss, over, **({"standardize": False} if loss == "elastic_hinge" else {}))


def held_samples(data: Data, rng) -> list[int]:
    """Some samples of positive weight without which there is still a machine."""
    n = len(data.y)
    order = [int(i) for i in rng.permutation(n) if data.weights[i] > 0]
    return [i for i in order if is_whole(data, np.delete(np.arange(n), i))][:HELD]


def check_loo(data: Data, rng, loss: str, over: str) -> None:
    """Exact leave-one-out; its errors alone; and its approximation, which is exact where it does not doubt."""
    here = held_out_setting(data, rng, loss, over)
    values = here.values(rng)
    try:
        curve = criteria.loo(here.path, values)
    except ValueError as error:
        if loss == "nu" and "infeasible" in str(error):
            return  # nu is too large without some sample
        raise
    n = len(data.y)
    for k, value in enumerate(curve.values):
        if curve.unreliable[k]:
            continue
        for i in held_samples(data, rng):
            compare(here, curve.decisions[k, [i]], np.delete(np.arange(n), i), [i], value, f"loo of row {i}", rng)
    if loss == "hinge":
        check_counts(here, curve)
    if loss in ("hinge", "epsilon_insensitive", "pinball", "squared_hinge"):
        check_approximation(here, curve)


def check_counts(here: Setting, curve) -> None:
    """``count_only`` finds the same errors."""
    counted = criteria.loo(here.path, curve.values, count_only=True)
    differ = (counted.losses != curve.losses) & (np.abs(curve.decisions) > CLOSE)
    assert not differ.any(), f"count_only differs at {np.argwhere(differ).tolist()} ({here.options})"


def check_approximation(here: Setting, curve) -> None:
    """No more samples are wrong by the approximation than it says."""
    approximate = (criteria.span if here.path.loss.name == "squared_hinge" else criteria.alo)(here.path, curve.values)
    assert np.isfinite(approximate.decisions).all(), f"alo is not finite ({here.options})"
    for k in np.flatnonzero(curve.unreliable == 0):
        counted = here.data.weights > 0
        wrong = np.abs(approximate.decisions[k] - curve.decisions[k])[counted]
        wrong = np.count_nonzero(wrong > 1e-5 * (1.0 + np.abs(curve.decisions[k]).max()))
        unreliable = approximate.unreliable[k]
        assert wrong <= unreliable, (
            f"alo: {wrong} wrong, {unreliable} unreliable at {curve.values[k]:.8g} ({here.options})"
        )


def check_steps(data: Data, rng) -> None:
    """The error as a step function of C has the errors of exact leave-one-out."""
    if len(data.y) > 40:
        if not is_whole(data, np.arange(40)):
            return
        data = data.take(np.arange(40))
    here = setting(data, rng, "hinge", "C")
    steps = criteria.loo(here.path, exact=True)
    values = here.values(rng, 3)
    curve = criteria.loo(here.path, values)
    unsure = np.any((np.abs(curve.decisions) < CLOSE) & (data.weights > 0), axis=1) | (curve.unreliable > 0)
    differ = (np.abs(steps(values) - curve.scores) > 1e-12) & ~unsure
    near = [np.abs(np.log(steps.edges / value)).min() < 1e-6 for value in values]
    wrong = differ & ~np.array(near)
    assert not wrong.any(), f"steps say {steps(values)}, not {curve.scores} at C = {values} ({here.options})"


def check_bounds(data: Data, rng, loss: str) -> None:
    """Bounds are finite, and the radius-margin bound is one."""
    here = setting(replace(data, s=None), rng, loss, "C")
    values = here.values(rng, 3)
    found = [criteria.radius_margin] if loss == "squared_hinge" else [criteria.xi_alpha, criteria.span_bound]
    for criterion in found:
        scores = criterion(here.path, values).scores
        name = criterion.__name__
        assert ((scores >= 0) & np.isfinite(scores)).all(), f"{name} is {scores} ({here.options})"
        if name == "radius_margin":
            exact = criteria.loo(here.path, values)
            wrong = (scores < exact.scores - 1e-9) & (exact.unreliable == 0)
            assert not wrong.any(), f"{name} {scores} < {exact.scores} ({here.options})"


def check_kfold(data: Data, rng, loss: str, over: str) -> None:
    """Held-out values of folds, beside those of machines of the other folds."""
    here, folds = held_out_setting(data, rng, loss, over), draw_folds(data, rng)
    if not folds:
        return
    values = here.values(rng)
    try:
        curve = criteria.kfold(here.path, values, cv=folds)
    except ValueError as error:
        if loss == "nu" and "infeasible" in str(error):
            return
        raise
    start = 0
    for train, test in folds:
        k = int(rng.integers(len(values)))
        if not curve.unreliable[k]:
            compare(here, curve.held[k, start : start + len(test)], train, test, values[k], "kfold", rng)
        start += len(test)


def draw_folds(data: Data, rng) -> list:
    """Two or three folds, those whose training rows have both classes."""
    order = rng.permutation(len(data.y))
    folds = [(np.setdiff1d(order, test), test) for test in np.array_split(order, int(rng.integers(2, 4)))]
    return [fold for fold in folds if is_whole(data, fold[0])]


# --- surfaces, gradients, estimators ---------------------------------------------------------------------------------


def check_surface(data: Data, rng, loss: str) -> None:
    """Machines on a surface, at its gammas and between them; k-fold along it."""
    scale = gamma_value("scale", data.X)
    gammas = scale * 4.0 ** np.sort(rng.uniform(-3, 3, size=3))
    more = {"epsilon": 0.1 * (data.y.std() or 1.0)} if loss in NUMBERS else {}
    more |= {"task": "regression"} if loss in (*NUMBERS, "expectile") else {}
    kernel = str(rng.choice(["rbf", "rbf", "laplacian"]))
    surface = svmpath.surface(
        data.X, data.y, loss=loss, C=(1e-2, 1e2), gamma=gammas.tolist(), kernel=kernel, sample_weight=data.s, **more
    )
    for gamma in [gammas[1], np.sqrt(gammas[0] * gammas[1]), float(rng.uniform(gammas[1], gammas[2]))]:
        C = float(10.0 ** rng.uniform(-2, 2))
        certificates.check(surface(C, gamma), f"C = {C:.8g}, gamma = {gamma:.8g} ({loss}, {kernel})")
    folds = draw_folds(data, rng)
    if not folds:
        return
    values = 10.0 ** rng.uniform(-2, 2, size=2)
    curves = surface.curves(criteria.kfold, values, cv=folds)
    options = {"loss": loss, "over": "C", "kernel": kernel, "gamma": float(gammas[2]), **more}
    here = Setting(data, options, (1e-2, 1e2))
    train, test = folds[0]
    compare(here, curves.curves[2].held[0, : len(test)], train, test, float(values[0]), "kfold on a surface", rng)


def check_fit(data: Data, rng, make: Callable, loss: str) -> None:
    """A fitted estimator: its machine is optimal, and its error that of a path of its own."""
    options: dict = {"loss": loss}
    if data.is_kernel:
        options["kernel"] = "precomputed"
    elif rng.random() < 0.8:  # else the whole default search
        options["gamma"] = (gamma_value("scale", data.X) * 4.0 ** rng.choice(np.arange(-4, 5.0), 2, False)).tolist()
    if loss == "epsilon_insensitive":
        options["epsilon"] = 0.1 * float(data.y.std() or 1.0)
    if loss == "huber_hinge":  # which chooses by folds: any that there are with few samples of a class
        options["cv"] = KFold(2, shuffle=True, random_state=0)
    model = make(**options).fit(data.X, data.y, sample_weight=data.s)
    solution = model.path_(model.C_)
    certificates.check(solution, f"fit {options}, C_ = {model.C_:.6g}, gamma_ = {model.gamma_}")
    decided = model.decision_function(data.X) if hasattr(model, "decision_function") else model.predict(data.X)
    decided = decided if decided.ndim == 1 else decided[:, 0]
    off, size = np.abs(decided - solution.fitted).max(), 1.0 + np.abs(solution.fitted).max()
    assert off <= CLOSE * size, f"fit {options}: decision values off by {off:.2e}"
    if loss in NUMBERS or len(np.unique(data.y)) != 2 or model.error_criterion_ != "loo":
        return
    curve = criteria.loo(svmpath.trace(
        data.X, data.y, loss=loss, kernel=model.kernel_, gamma=None, sample_weight=data.s, task="classification",
        span=(model.C_, 1.01 * model.C_),
    ), model.C_)  # fmt: skip
    unsure = np.any((np.abs(curve.decisions[0]) < CLOSE) & (data.weights > 0)) or curve.unreliable[0]
    same = abs(curve.scores[0] - model.held_out_error()) <= 1e-9
    assert same or unsure, f"fit {options}: held_out_error() = {model.held_out_error()}, not {curve.scores[0]}"


def check_elastic_fit(data: Data, rng) -> None:
    """A fitted elastic net: its machine is optimal."""
    options = {} if rng.random() < 0.3 else {"lambda2": float(10.0 ** rng.uniform(-2, 1))}
    model = svmpath.ElasticNetSVC(**options).fit(data.X, data.y, sample_weight=data.s)
    solution = model.path_(model.lambda1_)
    certificates.check(solution, f"lambda1_ = {model.lambda1_:.6g}, lambda2_ = {model.lambda2_:.6g}")
    decided = model.decision_function(data.X)
    decided = decided if decided.ndim == 1 else decided[:, 0]
    off = np.abs(decided - solution.fitted).max()
    assert off <= CLOSE * (1.0 + np.abs(solution.fitted).max()), f"decision values off by {off:.2e}"


def _register() -> None:
    """All tasks: every loss over every parameter, each with the criteria that it has."""
    overs = {
        "least_squares": ("C", "gamma"),
        "squared_hinge": ("C", "gamma"),
        "hinge": ("C", "weight", "gamma"),
        "huber_hinge": ("C",),
        "expectile": ("C",),
        "epsilon_insensitive": ("C", "epsilon", "gamma"),
        "pinball": ("C", "quantile", "weight", "gamma"),
        "nu": ("nu",),
        "one_class": ("nu",),
        "elastic_hinge": ("lambda1", "lambda2", "ray"),
    }
    for loss, many in overs.items():
        targets = {"least_squares": ("labels", "numbers"), **dict.fromkeys((*NUMBERS, "expectile"), ("numbers",))}.get(
            loss, ("labels",)
        )
        for over in many:
            linear = over != "gamma" and loss != "elastic_hinge"
            for name, check in (("path", check_path), ("loo", check_loo), ("kfold", check_kfold)):
                if over == "weight" and name != "path":
                    continue
                share = 2.0 if name == "path" and loss in ("hinge", "elastic_hinge") else 1.0
                TASKS[f"{name}:{loss}:{over}"] = Task(_bound(check, loss, over), targets, share, linear)
    for over in ("C", "gamma"):
        run = _bound(check_path, "squared_hinge", over, breakpoints="exact")
        TASKS[f"path:squared_hinge_exact:{over}"] = Task(run, ("labels",), 0.5, over == "C")
    TASKS["path:hinge:tol"] = Task(check_approximate)
    TASKS["steps:hinge:C"] = Task(check_steps, share=0.5)
    TASKS["bounds:squared_hinge:C"] = Task(_bound(check_bounds, "squared_hinge"))
    TASKS["bounds:hinge:C"] = Task(_bound(check_bounds, "hinge"))
    for loss in ("least_squares", "squared_hinge", "hinge", "huber_hinge", "expectile", *NUMBERS):
        targets = ("numbers",) if loss in (*NUMBERS, "expectile") else ("labels",)
        TASKS[f"surface:{loss}"] = Task(_bound(check_surface, loss), targets, 0.5, False)
        if loss not in (*NUMBERS, "expectile"):
            TASKS[f"fit:PathSVC:{loss}"] = Task(_bound(check_fit, svmpath.PathSVC, loss), ("labels", "classes"), 0.3)
        if loss in ("least_squares", "expectile", *NUMBERS):
            TASKS[f"fit:PathSVR:{loss}"] = Task(_bound(check_fit, svmpath.PathSVR, loss), ("numbers",), 0.3)
    TASKS["auto:PathSVC"] = Task(fuzz_auto.check, ("labels", "classes"), 2.0)
    TASKS["auto:PathSVR"] = Task(fuzz_auto.check, ("numbers",))
    TASKS["fit:ElasticNetSVC"] = Task(check_elastic_fit, ("labels", "classes"), 0.5, False)


def _bound(check: Callable, *given, **more) -> Callable:
    return lambda data, rng: check(data, rng, *given, **more)


_register()
