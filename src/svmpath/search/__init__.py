"""Search: from paths and criteria to a choice of hyper-parameters."""

from collections.abc import Callable

from svmpath.search.choice import RULES, Choice, Scores, Stage, best_pair, best_value
from svmpath.search.elastic import ElasticSearch
from svmpath.search.evaluator import Evaluator
from svmpath.search.gradient import follow_gradient, follow_gradients_of_features
from svmpath.search.grid import continuously, over_grid, select
from svmpath.search.stages import screen_narrow_confirm
from svmpath.search.tuner import Tuned, Tuner

STRATEGIES: dict[str, Callable[[Tuner], Tuned]] = {
    "auto": screen_narrow_confirm,
    "grid": over_grid,
    "continuous": continuously,
    "gradient": follow_gradient,
    "ard": follow_gradients_of_features,
}

__all__ = [
    "RULES",
    "STRATEGIES",
    "Choice",
    "ElasticSearch",
    "Evaluator",
    "Scores",
    "Stage",
    "Tuned",
    "Tuner",
    "best_pair",
    "best_value",
    "select",
]
