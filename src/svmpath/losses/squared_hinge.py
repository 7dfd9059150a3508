"""The squared hinge machine (l2-SVM), for classification.

The problem, with xi_i = max(0, 1 - y_i f(x_i))::

    minimise   C sum_i s_i xi_i^2 + 1/2 alpha' K alpha,      f = K alpha + b

Setting the derivatives to zero gives alpha_i = 2 C s_i y_i xi_i, so that only the samples of place "left" (E, y f < 1)
have a coefficient, and on them y_i xi_i = y_i - f_i: the machine is the least squares machine of the samples E.
Bonidal, Tindel & Guermeur write lambda for 1 / C and count coefficients as alpha / y.

The dual problem maximises, over a_i = y_i alpha_i >= 0 with sum_i y_i a_i = 0,
``sum_i a_i - 1/2 alpha' K alpha - sum_i a_i^2 / (4 C s_i)``. At any such a and any b the gap is, with
eta_i = max(0, y_i f_i - 1),

    sum_i [ C s_i (xi_i - a_i / (2 C s_i))^2 + a_i eta_i ]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from svmpath.losses.pieces import PiecewiseQuadratic
from svmpath.losses.policies import Policy
from svmpath.solvers.pieces import SQUARED_HINGE, Pieces

Array = np.ndarray


class SquaredHinge(PiecewiseQuadratic):
    """Formulas of the squared hinge machine."""

    name = "squared_hinge"
    tasks = ("classification",)
    label, also_called, equivalent = "squared hinge", "l2-SVM", "SVC on a ridged kernel"
    followed_by: ClassVar[Mapping[str, str]] = {
        "machine": "squared hinge",
        "kernel": "newton over the kernel",
        "chunks": "newton",
    }
    is_inside_margin = True
    rival = "hinge"
    names = ("right", "left")
    # Exact leave-one-out costs several times the path, its prediction no more than the path.
    policy = Policy(
        span=(1e-3, 1e6),
        tuned=(1e-3, 1e4),
        otherwise="span",
        exact_rows=3000,
        shown=("span", "kfold"),
        shown_rows=1000,
        is_quick=True,
        gradients=("span",),
        chunked=("span", "alo"),
    )

    def margin_loss(self, y: Array, f: Array) -> Array:
        """max(0, 1 - y f)^2, cut off at 9."""
        return np.clip(1.0 - y * f, 0.0, 3.0) ** 2

    @property
    def pieces(self) -> Pieces:
        """max(0, u)^2."""
        return SQUARED_HINGE
