"""Search: from paths and criteria to a choice of hyper-parameters."""

from svmpath.search.choice import RULES, Choice, Scores, best_pair, best_value
from svmpath.search.elastic import ElasticSearch
from svmpath.search.gradient import GradientSearch
from svmpath.search.grid import Search, select

__all__ = [
    "RULES",
    "Choice",
    "ElasticSearch",
    "GradientSearch",
    "Scores",
    "Search",
    "best_pair",
    "best_value",
    "select",
]
