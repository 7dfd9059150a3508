"""Search: from paths and criteria to a choice of hyper-parameters."""

from svmpath.search.auto import AutoSearch
from svmpath.search.choice import RULES, Choice, Scores, Stage, best_pair, best_value
from svmpath.search.elastic import ElasticSearch
from svmpath.search.gradient import GradientSearch
from svmpath.search.grid import Search, select

__all__ = [
    "RULES",
    "AutoSearch",
    "Choice",
    "ElasticSearch",
    "GradientSearch",
    "Scores",
    "Search",
    "Stage",
    "best_pair",
    "best_value",
    "select",
]
