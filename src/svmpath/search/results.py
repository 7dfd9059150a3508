"""What a search tried: the candidates that it chose among, all pairs as a table, and scikit-learn's ``cv_results_``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria.curve import Curve, OneVsRest, error, own_parameters
from svmpath.search.axis import is_among
from svmpath.search.choice import Choice, Scores, Stage

if TYPE_CHECKING:
    import pandas as pd

Entry = tuple[Mapping[str, Any], Scores]  # what is the same all along a curve, and its scores

# Stages whose scores can be compared with each other; what was screened or narrowed has scores of another kind, and
# those of a descent are smoothed.
_DECIDING = ("confirm", "compare", "pairs", "rank", "full kernel", "grid")
_WORDS = ("loss", "multi_class")  # parameters that are no numbers
_FIRST = ("screen", "narrow", "scout")  # stages after which other stages decide
_NUMBERED = ("penalty", "ard")  # stages whose keys are no gammas, but values of eta, and numbers of points


def only_stage(choice: Choice) -> Stage:
    """A search without stages, as one."""
    path = choice.curve.path
    tried = dict(choice.tried) or {float("nan"): Scores.of(choice.curve)}
    here = [*path.gram.kernel.parameters.values(), float("nan")]
    for gamma in tried:
        # The curve of the choice may have been made finer since.
        if is_among(gamma, here) and len(tried[gamma].values) < len(choice.curve.values):
            tried[gamma] = Scores.of(choice.curve)
    own = own_parameters(choice.curve)
    return Stage("grid", path.loss.name, choice.curve.criterion, path.gram.rank, tried, np.nan, own=own)


def _multi_class(stage: Stage) -> str:
    """Whether the machines of a stage are those of classes against the rest, or of pairs of classes."""
    return "ovo" if stage.name == "pairs" else "ovr"


def deciding_stages(choice: Choice) -> list[Stage]:
    """The stages with the scores that decided, on a kernel matrix of the rank that was chosen; none of a descent."""
    if not choice.stages:
        return [only_stage(choice)]
    rank = choice.curve.path.gram.rank
    return [stage for stage in choice.stages if stage.name in _DECIDING and stage.rank == rank]


def candidates(choice: Choice) -> list[Scores] | None:
    """Their scores, one entry for each kernel; None where they were not kept, or the search went by a gradient."""
    # Those of the loss that was chosen: what decides between two losses is not what decides between pairs of one, and
    # rows that were left out one by one are in another order than rows on folds.
    chosen = choice.curve.criterion, choice.curve.path.loss.name
    stages = [stage for stage in deciding_stages(choice) if (stage.criterion, stage.loss) == chosen]
    stages = [stage for stage in stages if _multi_class(stage) == getattr(choice.curve, "multi_class", "ovr")]
    every = [scores for stage in stages for scores in stage.tried.values()]
    return None if not every or any(scores.losses is None for scores in every) else every


# --- all pairs, as a table -------------------------------------------------------------------------------------------


def search_table(choice: Choice) -> pd.DataFrame:
    """One row per pair of C and gamma that was tried, in the order of the stages.

    Columns: ``stage``, ``loss``, ``criterion``, ``rank``, ``gamma`` (NaN if it was not searched, or if each feature has
    its own), ``C``, ``score``, ``standard_error``, ``kept`` (whether the gamma went on to the next stage; in the last
    ones, whether this is the pair chosen). Then one column for each parameter of the loss, such as ``epsilon``; and
    ``eta``, of the penalty on the spread of the gammas, if there was one. Scores of different stages cannot be compared
    with each other.
    """
    import pandas as pd  # not needed for a fit

    return pd.DataFrame(list(_rows(choice)))


def _rows(choice: Choice) -> Iterator[dict[str, Any]]:
    stages = choice.stages or (only_stage(choice),)
    chosen = _chosen(choice, stages)
    more = [*(name for stage in stages for name in stage.own), *("eta" for stage in stages if stage.name == "penalty")]
    for number, stage in enumerate(stages):
        later = [gamma for after in stages[number + 1 :] if after.name not in _NUMBERED for gamma in after.tried]
        for key, scores in stage.tried.items():
            for place, value in enumerate(scores.values.tolist()):
                is_kept = is_among(key, later) if stage.name in _FIRST else (number, key, place) in chosen
                yield {
                    "stage": stage.name,
                    "loss": stage.loss,
                    "criterion": stage.criterion,
                    "rank": stage.rank,
                    "gamma": np.nan if stage.name in _NUMBERED else key,
                    "C": np.nan if stage.name == "penalty" else value,
                    "score": float(scores.scores[place]),
                    "standard_error": float(scores.standard_errors[place]),
                    "kept": is_kept,
                    **dict.fromkeys(more, np.nan),
                    **stage.own,
                    **({"eta": key} if stage.name == "penalty" else {}),
                }


def _chosen(choice: Choice, stages: Sequence[Stage]) -> set[tuple[int, float, int]]:
    """Where what was chosen stands, as the number of a stage, the key there, and the position.

    The pair, in the first stage with its score; where each feature has its gamma, their point and the penalty.
    """
    points = [(number, _key_of(choice, stage)) for number, stage in enumerate(stages) if stage.name in _NUMBERED]
    if points:
        return {(number, key, 0) for number, key in points if key is not None}
    path = choice.curve.path
    gammas = [*path.gram.kernel.parameters.values(), float("nan")]
    own = dict(own_parameters(choice.curve))
    for number, stage in enumerate(stages):
        if stage.name in _FIRST or stage.loss != path.loss.name or dict(stage.own) != own:
            continue
        if _multi_class(stage) != getattr(choice.curve, "multi_class", "ovr"):
            continue
        for gamma, scores in stage.tried.items():
            is_here = np.isclose(scores.values, choice.value, atol=0.0)
            if stage.name != "gradient":  # which has smoothed scores, and comes to a pair once
                is_here &= np.isclose(scores.scores, choice.score, atol=0.0)
            if is_among(gamma, gammas) and is_here.any():
                return {(number, gamma, int(np.argmax(is_here)))}
    return set()


def _key_of(choice: Choice, stage: Stage) -> float | None:
    """The eta with the lowest loss; or the number of the point with the gammas and the C of the choice."""
    if stage.gammas is None:
        return min(stage.tried, key=lambda eta: float(stage.tried[eta].scores[0]))
    gammas = np.array(list(choice.curve.path.gram.kernel.parameters.values()))
    at = np.array([float(scores.values[0]) for scores in stage.tried.values()])
    is_here = np.isclose(at, choice.value, atol=0.0) & np.isclose(stage.gammas, gammas, atol=0.0).all(axis=1)
    return list(stage.tried)[int(np.argmax(is_here))] if is_here.any() else None


# --- in scikit-learn's form ------------------------------------------------------------------------------------------


def cv_results(curve: Curve, over: str, entries: Iterable[Entry]) -> dict[str, Any]:
    """Parameters, scores, standard errors and ranks, one entry per pair; of equal pairs the last.

    Parameters
    ----------
    curve : Curve
        Of the choice: it says what the scores are.
    over : str
        The parameter along the curves.
    entries : iterable of (parameters, Scores)
    """
    from scipy.stats import rankdata

    pairs = {}
    for fixed, scores in entries:
        for at, value in enumerate(scores.values.tolist()):
            params = {over: value, **fixed}
            key = tuple(f"{name}={v:.9g}" if isinstance(v, float) else f"{name}={v}" for name, v in params.items())
            pairs[key] = params, scores, at  # equal up to rounding
    every, tried, places = zip(*pairs.values(), strict=True)
    # Scores are lower where they are better; scikit-learn's are the other way round, and of error rates the accuracy.
    is_rate = getattr(curve, "scoring", None) is None and getattr(curve, "loss", None) in (error, OneVsRest(error))
    best = 1.0 if is_rate else 0.0
    table = _columns(every)
    table["params"] = [dict(params) for params in every]
    where = list(zip(tried, places, strict=True))
    folds = [scores.splits[at] for scores, at in where if scores.splits is not None]
    if len(folds) == len(where):
        table.update({f"split{k}_test_score": best - column for k, column in enumerate(np.array(folds).T)})
    mean = best - np.array([scores.scores[at] for scores, at in where])
    table["mean_test_score"] = mean
    table["std_test_score"] = np.array([scores.standard_errors[at] for scores, at in where])
    table["rank_test_score"] = np.asarray(rankdata(-mean, method="min"), dtype=np.int32)
    return table


def entries_of(choice: Choice, gamma: Any, names: Iterable[str]) -> Iterator[Entry]:
    """The scores over C that decided: those of the last stages, in the rank of the choice.

    ``gamma`` is the one chosen, and ``names`` are the parameters of losses that are shown.
    """
    stages = deciding_stages(choice)
    if not stages:
        yield _of_gamma(gamma, own_parameters(choice.curve), names), Scores.of(choice.curve)
    losses, ways = {stage.loss for stage in stages}, {_multi_class(stage) for stage in stages}
    for stage in stages:
        for each, scores in stage.tried.items():
            more = {"loss": stage.loss} if len(losses) > 1 else {}
            more |= {"multi_class": _multi_class(stage)} if len(ways) > 1 else {}
            yield {**_of_gamma(each, stage.own, names), **more}, scores


def _of_gamma(gamma: Any, own: Mapping[str, float], names: Iterable[str]) -> dict[str, Any]:
    """The parameters beside C; NaN and None stand for a kernel that stays as it is."""
    is_fixed = gamma is None or (isinstance(gamma, float) and gamma != gamma)
    shown = {name: float(value) for name, value in own.items() if name in names}
    return shown if is_fixed else {"gamma": gamma, **shown}


def _columns(params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One masked array per parameter, as scikit-learn has them."""
    names = dict.fromkeys(name for each in params for name in each)
    columns = {}
    for name in names:
        kind = float if all(np.ndim(each.get(name, 0.0)) == 0 for each in params) and name not in _WORDS else object
        column = np.ma.masked_all(len(params), dtype=kind)
        for at, each in enumerate(params):
            if name in each:
                column[at] = each[name]
        columns[f"param_{name}"] = column
    return columns
