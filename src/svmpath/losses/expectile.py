"""The expectile machine, for regression: squares that count more on one side.

The problem, with e_i = y_i - f(x_i) and 0 < tau < 1::

    minimise   C sum_i s_i |tau - 1(e_i < 0)| e_i^2 + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0

Setting the derivatives to zero gives alpha_i = 2 C s_i |tau - 1(e_i < 0)| e_i: residuals "above" (e > 0) weigh tau,
those "below" 1 - tau. For tau = 1/2 this is the least squares machine of C / 2. Without a kernel, b is the
tau-expectile of y (Newey & Powell 1987).

The dual problem maximises ``sum_i [ y_i alpha_i - alpha_i^2 / (4 C s_i tau_i) ] - 1/2 alpha' K alpha`` over alpha of
sum zero, with tau_i = tau where alpha_i > 0 and 1 - tau elsewhere. The rest follows from the pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmpath.losses.pieces import PiecewiseQuadratic
from svmpath.losses.policies import Policy
from svmpath.solvers.pieces import Pieces

Array = np.ndarray


@dataclass(frozen=True)
class Expectile(PiecewiseQuadratic):
    """Formulas of the expectile machine.

    Parameters
    ----------
    tau : float, default=0.9
        The weight of residuals above the machine, between 0 and 1; those below weigh 1 - tau.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.losses.LeastSquares : The same for tau = 1/2, with twice the C.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.losses import Expectile
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + rng.normal(size=60)
    >>> solution = svmpath.trace(X, y, loss=Expectile(tau=0.9), kernel="linear")(1.0)
    >>> solution.gap < 1e-10, bool(np.mean(y < solution.fitted) > 0.7)
    (True, True)
    """

    tau: float = 0.9

    name = "expectile"
    tasks = ("regression",)
    label, also_called = "expectile", "expectile regression"
    level, own_score = "tau", "asymmetric squared error"
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "newton", "chunks": "newton"}
    policy = Policy(shown=("kfold", "alo"), chunked=("alo", "span"))
    is_sparse = False
    names = ("below", "above")

    def __post_init__(self) -> None:
        if not (isinstance(self.tau, (int, float)) and 0.0 < self.tau < 1.0):
            raise ValueError(f"tau must be a number between 0 and 1, got {self.tau!r}.")

    @property
    def fixed_parameters(self) -> Mapping[str, float]:
        """tau."""
        return {"tau": self.tau}

    def margin_loss(self, y: Array, f: Array) -> Array:
        """tau e^2 where e = y - f is positive, (1 - tau) e^2 elsewhere."""
        return self.pieces.value(y - f)

    @property
    def pieces(self) -> Pieces:
        """(1 - tau) u^2 below zero, and tau u^2 above."""
        return Pieces((0.0,), (2.0 * (1.0 - self.tau), 2.0 * self.tau), of_margin=False)
