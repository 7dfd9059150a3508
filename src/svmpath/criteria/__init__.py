"""Criteria: each turns a path into a curve of held-out scores."""

from svmpath.criteria.bound import ApproximationBound, approximation_bound
from svmpath.criteria.curve import Curve
from svmpath.criteria.gradients import Gradient, gradient
from svmpath.criteria.kfold import kfold
from svmpath.criteria.loo import loo
from svmpath.criteria.press import press
from svmpath.criteria.radius_margin import BoundCurve, radius_margin
from svmpath.criteria.span import span

__all__ = [
    "ApproximationBound",
    "BoundCurve",
    "Curve",
    "Gradient",
    "approximation_bound",
    "gradient",
    "kfold",
    "loo",
    "press",
    "radius_margin",
    "span",
]
