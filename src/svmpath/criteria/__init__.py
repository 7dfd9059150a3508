"""Criteria: each turns a path into a curve of held-out scores."""

from svmpath.criteria.alo import alo
from svmpath.criteria.bound import ApproximationBound, approximation_bound
from svmpath.criteria.curve import Curve
from svmpath.criteria.elbow_bounds import span_bound, xi_alpha
from svmpath.criteria.kfold import kfold
from svmpath.criteria.loo import loo
from svmpath.criteria.press import press
from svmpath.criteria.radius_margin import BoundCurve, radius_margin
from svmpath.criteria.span import span
from svmpath.criteria.steps import StepCurve

__all__ = [
    "ApproximationBound",
    "BoundCurve",
    "Curve",
    "StepCurve",
    "alo",
    "approximation_bound",
    "kfold",
    "loo",
    "press",
    "radius_margin",
    "span",
    "span_bound",
    "xi_alpha",
]
