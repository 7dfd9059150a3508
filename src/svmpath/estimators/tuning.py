"""From the parameters of an estimator, as they are given, to a tuner: what can be combined, what may be tried, and how
it is scored. What cannot be combined is refused in a sentence before any work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath import criteria
from svmpath.criteria.curve import held_out_loss
from svmpath.criteria.folds import make_folds
from svmpath.criteria.gradients import check_full_matrix, smooth_loss
from svmpath.criteria.table import CRITERIA, is_bound, make_criterion
from svmpath.estimators.cautions import warn_of_time
from svmpath.gram import DenseGram, Gram, make_gram
from svmpath.kernels import RBF, Kernel, gamma_value, make_kernel
from svmpath.losses import LOSSES, Loss, Problem, make_loss, quick_losses
from svmpath.names import unknown_name
from svmpath.paths.copies import find_copies, has_contradictions
from svmpath.paths.trackers import automatic_gap, exact_is_cheaper
from svmpath.search import STRATEGIES, Evaluator, Tuned, Tuner
from svmpath.search.axis import Axis
from svmpath.search.choice import check_rule
from svmpath.search.deadline import Deadline
from svmpath.search.gradient import column_variances
from svmpath.search.log import TrialLog
from svmpath.validation import check_amount, check_positive, draw_seed, relative_weights

if TYPE_CHECKING:
    from svmpath.estimators._base import PathMachine

Array = np.ndarray

SEARCHES = ("auto", "grid", "continuous", "gradient")
_GAMMA_POWERS = np.arange(-4, 5)  # gamma="tune" tries scikit-learn's "scale" times 4 to these powers
_GAMMA_NAMES = ("tune", "scale", "auto", "ard")
_NUMBERS = "a positive number, a list of numbers or a tuple (low, high)"  # what C and gamma may be beside names
_C_NEAR = 30.0  # factor from the C of an earlier fit up to which warm_start begins with values of C
_SCREENED_C = np.geomspace(1e-3, 1e6, 28)  # C="tune" of a search that screens begins with these
_C_STEP = 10 ** (1 / 3)
_GAMMA_STEP = 2.0
_WIDER = 256.0  # gamma="tune" of the default search may go beyond its first values by this factor
_GAMMAS = 9  # values tried in a span of gamma
_EPSILONS = np.array([0.01, 0.03, 0.1, 0.3, 1.0])  # epsilon="tune" tries these times the deviation of y
_STAGES = 3  # of the default search, as far as a progress bar is concerned
_TOO_FEW_FOR_FOLDS = 20  # samples up to which "auto" is leave-one-out, though it may take a path per sample


def tune(model: PathMachine, X: Any, targets: list[Array], s: Array, y: Array) -> Tuned:
    """The choice of C and gamma for machines with these targets (one, or one per class), and the paths of these."""
    strategy = strategy_of(model)
    deadline = Deadline(model.time_limit if strategy not in ("grid", "continuous") else None)
    losses = _losses(model, y, s, len(targets))
    kernel, over, gamma = kernel_and_gammas(model, X)
    problems = _problems(model, X, kernel, losses[0], targets, s, y)
    _check_bound(model, len(targets))

    @cache
    def draw() -> Any:
        """The folds, drawn once, so that every kernel and every epsilon is scored on the same ones."""
        kind: dict[str, Any] = {"is_classification": model._task == "classification", "groups": model._groups}
        seed, pairwise = draw_seed(model.random_state), kernel.pairwise
        return make_folds(model.cv, X, y, **kind, s=problems[0].s, seed=seed, pairwise=pairwise)

    evaluators = [_evaluator(model, loss, problems, draw) for loss in losses]
    if strategy == "auto":  # the one that is followed in full comes first
        evaluators.insert(0, evaluators.pop((len(evaluators) - 1) // 2))
    stages = count(1)

    def write(sentence: str) -> None:
        if strategy == "auto" and callable(model.verbose):  # there may be more stages than expected
            model.verbose(min(next(stages), _STAGES - 1), _STAGES)
        model._tell(sentence)

    first = evaluators[0]
    tuner = Tuner(
        evaluators,
        C_axis(model, first.loss),
        gamma,
        over,
        draw_seed(model.random_state),
        model.n_jobs,
        # Folds that "auto" takes for want of something cheaper may be any: rows are held out one by one before.
        None if model._groups is None and model.criterion == "auto" else first.folds,
        deadline,
        _is_rank_free(model, first.loss),
        TrialLog(write, model._progress if callable(model.verbose) or strategy in ("grid", "continuous") else None),
    )
    tuned = STRATEGIES[strategy](tuner)
    if strategy == "auto" and callable(model.verbose):
        model.verbose(_STAGES, _STAGES)
    if deadline.has_stopped:
        warn_of_time(model.time_limit)
    return tuned


# --- what can be combined --------------------------------------------------------------------------------------------


def is_ard(model: Any) -> bool:
    """Whether each feature gets its gamma."""
    return isinstance(model.gamma, str) and model.gamma == "ard"


def strategy_of(model: PathMachine) -> str:
    """The search: only the gradient finds one gamma per feature."""
    return "ard" if is_ard(model) else str(model.search)


def how_given(model: Any, name: str) -> str:
    """How C or gamma is given: "tune", "span" (a tuple of two), "values" (a list or array) or "fixed"."""
    value = getattr(model, name)
    if value is None or isinstance(value, str):
        return "tune" if value == "tune" else "fixed"
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(
                f"{name} must be a tuple of two numbers (low, high) or a list of values; got a tuple of {len(value)}."
            )
        return "span"
    return "fixed" if np.ndim(value) == 0 else "values"


def seen_weights(model: PathMachine, s: Array) -> Array:
    """The weights that the machines see: as they are beside a C that was given, relative where C is tuned."""
    return s if how_given(model, "C") == "fixed" else relative_weights(s)


def check_options(model: PathMachine) -> None:
    """Refuse what no search can use, before any work."""
    if model.search not in SEARCHES:
        raise ValueError(unknown_name("search", model.search, SEARCHES))
    if model.time_limit is not None:
        check_positive(model.time_limit, "time_limit")
    for name in ("warm_start", "scale"):
        if not isinstance(getattr(model, name), (bool, np.bool_)):
            raise ValueError(f"{name} must be True or False, got {getattr(model, name)!r}.")
    if model.scoring is None:
        return
    if strategy_of(model) in ("gradient", "ard"):
        requested = "gamma='ard'" if is_ard(model) else "search='gradient'"
        raise ValueError(
            f"{requested} follows a gradient, which scoring={model.scoring!r} does not have; leave scoring out and "
            "give criterion_loss, or use another search."
        )
    if is_bound(model.criterion):
        raise ValueError(
            f"criterion={model.criterion!r} has no held-out decision values, which scoring={model.scoring!r} needs; "
            "use criterion='span' or 'loo'."
        )


def _check_bound(model: PathMachine, machines: int) -> None:
    """Refuse what a bound on the number of errors of one machine cannot do."""
    name = getattr(model.criterion, "__name__", model.criterion)
    if not is_bound(name):
        return
    if machines > 1:
        raise ValueError(
            f"criterion={name!r} works for two classes only, but y has {machines}: use criterion='span' or 'loo'."
        )
    if model.search == "continuous":
        raise ValueError(
            f"criterion={name!r} works with search='grid' only; use search='grid', or criterion='span' or 'loo' "
            "with search='continuous'."
        )


def _check_gradient(model: PathMachine, loss: Loss, gram: Gram) -> None:
    """Refuse what has no gradient, before any work."""
    requested = "gamma='ard'" if is_ard(model) else "search='gradient'"
    possible = ("auto", *loss.policy.gradients)
    if len(possible) == 1:
        known = [name for name, kind in LOSSES.items() if kind.policy.gradients]
        raise ValueError(f"{requested} works for the losses {' and '.join(known)}, not for loss={loss.name!r}.")
    if model._groups is not None:
        raise ValueError(
            f"{requested} minimises leave-one-out, which does not hold groups out together; leave groups out, or use "
            "search='auto' with one gamma."
        )
    if is_ard(model) and not isinstance(gram.kernel, RBF):
        raise ValueError(f"gamma='ard' works for the rbf kernel only, not for kernel={model.kernel!r}.")
    if model.search == "continuous":
        raise ValueError("gamma='ard' does not work with search='continuous': use search='gradient' instead.")
    if model.criterion not in possible:
        names = " or ".join(repr(name) for name in possible)
        raise ValueError(
            f"{requested} with loss={loss.name!r} needs criterion={names}, which have a gradient; got "
            f"{model.criterion!r}."
        )
    if model.rule != "min":
        raise ValueError(f"{requested} minimises the score, so rule must be 'min'; got {model.rule!r}.")
    check_full_matrix(gram)
    smooth_loss(model.criterion_loss, model._task)


# --- what may be tried -----------------------------------------------------------------------------------------------


def _candidates(model: Any, name: str, default: Array, size: int) -> Array:
    """The values of C or gamma to try."""
    value, how = getattr(model, name), how_given(model, name)
    if how == "tune":
        return default
    if how == "fixed":
        if not isinstance(value, Real):
            raise ValueError(unknown_name(name, value, ["tune"], _NUMBERS))
        return np.array([check_positive(value, name)])
    values = np.array([check_positive(v, f"Each value of {name}") for v in value])
    if len(values) == 0:
        raise ValueError(f"{name} is an empty list; give at least one value, or 'tune'.")
    return np.unique(values if how == "values" else np.geomspace(values[0], values[1], size))


def C_values(model: PathMachine, loss: Loss) -> Array:
    """The values of C to try where all of them are scored."""
    policy = loss.policy
    span = model.C if how_given(model, "C") == "span" else policy.tuned
    low, high = (check_positive(v, "Each value of C") for v in span)
    size = 1 + round(policy.per_decade * abs(np.log10(high / low)))
    return _candidates(model, "C", np.geomspace(*policy.tuned, size), max(size, 2))


def C_axis(model: PathMachine, loss: Loss) -> Axis:
    """The values of C that a search may take: it begins with a screen of many, or scores all of them."""
    how, values, (low, high) = how_given(model, "C"), C_values(model, loss), loss.policy.tuned
    if how == "tune" and strategy_of(model) not in ("grid", "continuous"):
        before, values = _before(model, "C_"), _SCREENED_C
        if before is not None and values[0] <= before <= values[-1]:
            distance = np.abs(np.log(values / before))
            values = values[distance <= max(np.log(_C_NEAR) * (1 + 1e-9), distance.min())]
        return Axis(values, _C_STEP, (low / 100, min(high * 10, _SCREENED_C[-1])))
    return Axis(values, _C_STEP, (float(values[0]), float(values[-1])) if how == "span" else None)


def kernel_and_gammas(model: PathMachine, X: Any) -> tuple[Kernel, str | None, Axis | None]:
    """The kernel, the full name of its gamma and the values to try; None if it has none, or it is fixed."""
    gamma, how, s = model.gamma, how_given(model, "gamma"), model._given_weight
    if isinstance(gamma, str) and gamma not in _GAMMA_NAMES:
        raise ValueError(unknown_name("gamma", gamma, _GAMMA_NAMES, _NUMBERS))
    is_fixed = how == "fixed" and not is_ard(model)
    start = gamma if is_fixed else ("scale" if isinstance(model.kernel, str) else None)
    kernel = make_kernel(model.kernel, gamma=start, degree=model.degree, coef0=model.coef0, X=X, sample_weight=s)
    if is_fixed or not any(name.split("__")[-1] == "gamma" for name in kernel.parameters):
        return kernel, None, None
    over = kernel.resolve("gamma")
    if is_ard(model):  # columns may differ in scale and offset, which the variance of all entries does not see
        spread = float(column_variances(X, s).sum())
        values = (1.0 / spread if spread > 0 else 1.0) * 4.0**_GAMMA_POWERS
    else:
        values = _candidates(model, "gamma", gamma_value("scale", X, s) * 4.0**_GAMMA_POWERS, _GAMMAS)
    low, high = float(values[0]), float(values[-1])
    limits = (low, high) if how == "span" else None
    if how == "tune" or is_ard(model):
        before = _before(model, "gamma_")
        if before is not None and low / _WIDER <= before <= high * _WIDER:  # else the data are of another scale
            values = before * _GAMMA_STEP ** np.arange(-2.0, 3.0)
        limits = min(low, values[0]) / _WIDER, max(high, values[-1]) * _WIDER
    return kernel, over, Axis(values, _GAMMA_STEP, limits)


def _before(model: PathMachine, name: str) -> float | None:
    """With ``warm_start``: the C or gamma of an earlier fit, which a search that screens begins with."""
    value = vars(model).get(name)
    is_used = model.warm_start and strategy_of(model) not in ("grid", "continuous")
    return value if is_used and isinstance(value, float) and np.isfinite(value) else None


def _losses(model: PathMachine, y: Array, s: Array, machines: int) -> list[Loss]:
    """The losses to choose from: one, or one with several values of epsilon.

    With several classes neither of the two losses that cost little is always the better one.
    """
    loss, epsilon = make_loss(model.loss, model._task, over="C"), vars(model).get("epsilon", 0.0)
    if "epsilon" not in loss.fixed_parameters or loss is model.loss:  # it has no epsilon, or is an object with its own
        is_open = model.loss is None and machines > 1 and strategy_of(model) == "auto" and model.criterion == "auto"
        return [make_loss(name, model._task) for name in quick_losses(model._task)][::-1] if is_open else [loss]
    if isinstance(epsilon, str) and epsilon == "tune":
        mean = np.average(y, weights=s)
        values = (_EPSILONS * float(np.sqrt(np.average((y - mean) ** 2, weights=s)) or 1.0)).tolist()
    elif isinstance(epsilon, Real):
        values = [check_amount(epsilon, "epsilon")]
    else:
        values = [check_amount(value, "Each value of epsilon") for value in np.atleast_1d(epsilon).tolist()]
    if not values:
        raise ValueError("epsilon is an empty list; give at least one value, or 'tune'.")
    return [make_loss(loss.name, model._task, epsilon=each) for each in values]


def _is_rank_free(model: PathMachine, loss: Loss) -> bool:
    """Whether the default search chooses the rank: for losses that gain nothing from following few events."""
    is_auto = isinstance(model.rank, str) and model.rank == "auto" and model.landmarks is None
    return is_auto and strategy_of(model) == "auto" and not loss.policy.cost_grows_with_span


# --- how it is scored ------------------------------------------------------------------------------------------------


def _problems(
    model: PathMachine, X: Any, kernel: Kernel, loss: Loss, targets: list[Array], s: Array, y: Array
) -> list[Problem]:
    """The problems of all machines, which share a Gram matrix."""
    is_free, seed = _is_rank_free(model, loss), draw_seed(model.random_state)
    rank = None if is_free else model.rank
    gram = make_gram(X, kernel, rank=rank, landmarks=model.landmarks, psd=model.psd, seed=seed)
    # With several classes -1 and +1 stand for no labels of their own.
    classes = getattr(model, "classes_", None) if len(targets) == 1 else None
    copies = find_copies(gram, y)
    if isinstance(gram, DenseGram) and not is_free:
        gram.distinct.check_memory()  # before hours of other work
    return [Problem(gram, target, s, model._task, classes, copies=copies) for target in targets]


def _evaluator(model: PathMachine, loss: Loss, problems: list[Problem], draw: Callable[[], Any]) -> Evaluator:
    """The machines of one loss, and how they are scored."""
    held_out, scoring, n, strategy = model.criterion_loss, model._scoring, problems[0].n, strategy_of(model)
    tol = model.tol
    if tol is not None:  # the largest relative duality gap that is accepted
        tol = automatic_gap(type(loss), n) if isinstance(tol, str) and tol == "auto" else check_positive(tol, "tol")
    copies = problems[0].copies
    distinct = n if copies is None else int(copies.max()) + 1
    is_quick = tol is not None and exact_is_cheaper(distinct, problems[0].gram.rank)
    name = _criterion(model, loss, problems, is_rough=tol is not None and not is_quick)
    held_out_loss(held_out, model._task, "criterion_loss")  # refuses an unknown name
    if strategy in ("gradient", "ard"):
        _check_gradient(model, loss, problems[0].gram)
    if held_out is None and scoring is None and strategy in ("continuous", "gradient", "ard"):
        held_out = "squared"  # a continuous search needs a score that moves continuously
    folds = draw() if name == "kfold" else None
    criterion = make_criterion(name, folds)
    counts = held_out is None and scoring is None  # a scorer needs the decision values themselves
    if name == "loo" and loss.falls_when_left_out and counts and len(problems) == 1:
        criterion = partial(criteria.loo, count_only=True)
    if is_quick:
        model._tell(f"exact paths: with {n} samples they take less time than tol={tol:g}")
    rule = check_rule(model.rule)
    return Evaluator(problems, loss, criterion, held_out, rule, tol, scoring, model._row_units, folds)


def _criterion(model: PathMachine, loss: Loss, problems: list[Problem], is_rough: bool) -> Any:
    """The criterion that "auto" stands for: one that costs about as much as a few paths."""
    if callable(model.criterion):
        return model.criterion
    if not isinstance(model.criterion, str) or model.criterion not in ("auto", *CRITERIA):
        raise ValueError(unknown_name("criterion", model.criterion, ("auto", *CRITERIA), "a callable"))
    if model.criterion != "auto":
        return model.criterion
    policy, n = loss.policy, len(problems[0].active)
    # Samples of a group are held out together, and a splitter is given to be used.
    if model._groups is not None or (model._is_split_by_user and strategy_of(model) not in ("gradient", "ard")):
        why = "groups are held out together" if model._groups is not None else "cv says how rows are held out"
        model._tell(f"using k-fold instead of leave-one-out: {why}")
        return "kfold"
    is_few = n <= policy.loo_rows or (policy.otherwise == "kfold" and n <= _TOO_FEW_FOR_FOLDS)
    # Where all rows have both labels, a machine without one of them is hard to find, and there is one per sample.
    is_walked = policy.cost_grows_with_span
    is_tied = is_few and not is_rough and is_walked and any(has_contradictions(p.gram, p.y) for p in problems)
    if is_few and not is_rough and not is_tied:
        return "loo"
    if policy.otherwise == "kfold":
        many = f"{n} samples (more than {policy.loo_rows})"
        why = many if n > policy.loo_rows else "an approximate path, or equal rows of both classes"
        if policy.loo_rows == 0:
            why = f"that takes one path per sample with loss={loss.name!r}"
        model._tell(f"using k-fold instead of exact leave-one-out: {why}")
    return policy.otherwise
