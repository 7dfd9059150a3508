"""The huberised hinge machine, for classification: the hinge with its kink rounded off over a width h.

The problem, with u_i = 1 - y_i f(x_i)::

    minimise   C sum_i s_i H(u_i) + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0
    H(u) = 0 for u <= 0,   u^2 / (2 h) for 0 < u < h,   u - h / 2 for u >= h

Setting the derivatives to zero gives alpha_i = C s_i y_i clip(u_i / h, 0, 1): a sample is "right" (u <= 0, alpha = 0),
on the "slope" (0 < u < h), or "left" (u >= h, alpha = C s y). For h to 0 this is the hinge machine of the same C; for
h above every u it is the squared hinge machine of C / (2 h).

The dual problem maximises, over a_i = y_i alpha_i / (C s_i) in [0, 1] with sum_i alpha_i = 0,
``sum_i C s_i (a_i - h a_i^2 / 2) - 1/2 alpha' K alpha``. At any such a and any b the gap is

    C sum_i s_i [ H(u_i) + h a_i^2 / 2 - a_i u_i ]
        = C sum_i s_i [ (h a_i - v_i)^2 / (2 h) + (1 - a_i) max(0, u_i - h) + a_i max(0, -u_i) ]

with v_i = clip(u_i, 0, h): a sum of terms that are not negative, so that nothing cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmpath.losses.pieces import PiecewiseQuadratic
from svmpath.losses.policies import Policy
from svmpath.parameters import Parameter
from svmpath.solvers.pieces import Pieces

Array = np.ndarray


@dataclass(frozen=True)
class HuberHinge(PiecewiseQuadratic):
    """Formulas of the huberised hinge machine.

    Parameters
    ----------
    h : float, default=0.5
        The width of the slope between samples without a loss and those whose loss is linear.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.newton_path.NewtonPath : The huberised hinge over C.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.losses import HuberHinge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss=HuberHinge(h=0.2), span=(1e-2, 1e2))
    >>> path(1.0).gap < 1e-10
    True
    """

    h: float = 0.5

    name = "huber_hinge"
    tasks = ("classification",)
    label = "huberised hinge"
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "newton", "chunks": "newton"}
    policy = Policy(chunked=("alo", "span"))
    kink = "slope"
    names = ("right", "slope", "left")

    def margin_loss(self, y: Array, f: Array) -> Array:
        """max(0, 1 - y f), cut off at 3."""
        return np.clip(1.0 - y * f, 0.0, 3.0)

    def __post_init__(self) -> None:
        Parameter("h").check(self.h)

    @property
    def fixed_parameters(self) -> Mapping[str, float]:
        """The width of the slope."""
        return {"h": self.h}

    @property
    def pieces(self) -> Pieces:
        """The slope between zero and h."""
        return Pieces((0.0, self.h), (0.0, 1.0 / self.h, 0.0))
