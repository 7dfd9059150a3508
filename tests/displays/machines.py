"""A small path of every loss, and over every kind of parameter."""

from functools import cache

import numpy as np

import svmpath
from svmpath.losses import HuberHinge, Pinball


@cache
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * X[:, 0] + 0.3 * rng.normal(size=40) > 0, "yes", "no")
    return X, y


PATHS = {
    "least_squares": {"loss": "least_squares", "span": (1e-2, 1e2)},
    "least_squares/gamma": {"loss": "least_squares", "over": "gamma", "span": (0.1, 10.0)},
    "squared_hinge": {"loss": "squared_hinge", "span": (1e-2, 1e2)},
    "squared_hinge/gamma": {"loss": "squared_hinge", "over": "gamma", "span": (0.1, 10.0)},
    "squared_hinge/linear": {"loss": "squared_hinge", "kernel": "linear", "span": (1e-2, 1e2)},
    "huber_hinge": {"loss": HuberHinge(h=0.3), "span": (1e-2, 1e2)},
    "hinge": {"loss": "hinge", "span": (1e-1, 1e2)},
    "hinge/down": {"loss": "hinge", "span": (1e2, 1e-1)},
    "hinge/gamma": {"loss": "hinge", "over": "gamma", "span": (0.3, 3.0)},
    "hinge/weight": {"loss": "hinge", "over": "weight", "sample": [0, 1, 2], "C": 2.0},
    "hinge/rank": {"loss": "hinge", "span": (1e-1, 1e2), "rank": 10, "random_state": 0},
    "nu": {"loss": "nu", "over": "nu", "span": (0.6, 0.2)},
    "epsilon_insensitive": {"loss": "epsilon_insensitive", "span": (1e-1, 1e1)},
    "epsilon_insensitive/epsilon": {"loss": "epsilon_insensitive", "over": "epsilon", "span": (0.5, 0.01)},
    "pinball": {"loss": Pinball(0.8), "span": (1e-1, 1e1)},
    "pinball/quantile": {"loss": "pinball", "over": "quantile", "span": (0.1, 0.9)},
    "elastic_hinge": None,
    "elastic_hinge/lambda2": None,
}
REGRESSION = ("epsilon_insensitive", "epsilon_insensitive/epsilon", "pinball", "pinball/quantile")


@cache
def path(name):
    X, y = data()
    if name == "elastic_hinge":
        return svmpath.trace_elastic(X, y, lambda2=1.0)
    if name == "elastic_hinge/lambda2":
        return svmpath.trace_elastic(X, y, over="lambda2", lambda1=1.0, span=(10.0, 0.1))
    target = X[:, 0] ** 2 + 0.1 * X[:, 1] if name in REGRESSION else y
    return svmpath.trace(X, target, **PATHS[name])
