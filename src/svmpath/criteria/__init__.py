"""Criteria: each turns a path into a curve of held-out scores."""

from svmpath.criteria import fast  # noqa: F401 - registers what is faster than the general form
from svmpath.criteria.alo import alo, span
from svmpath.criteria.bound import ApproximationBound, approximation_bound
from svmpath.criteria.certificate import ApproximationGap, approximation_gap
from svmpath.criteria.curve import Curve
from svmpath.criteria.elbow_bounds import span_bound, xi_alpha
from svmpath.criteria.gradients import Gradient, gradient
from svmpath.criteria.held_out import HeldOut, leave_folds_out, leave_one_out, predict_left_out
from svmpath.criteria.kfold import kfold
from svmpath.criteria.loo import loo, press
from svmpath.criteria.radius_margin import BoundCurve, radius_margin
from svmpath.criteria.scorers import score
from svmpath.criteria.steps import StepCurve
from svmpath.criteria.table import CRITERIA, Criterion, make_criterion

__all__ = [
    "CRITERIA",
    "ApproximationBound",
    "ApproximationGap",
    "BoundCurve",
    "Criterion",
    "Curve",
    "Gradient",
    "HeldOut",
    "StepCurve",
    "alo",
    "approximation_bound",
    "approximation_gap",
    "gradient",
    "kfold",
    "leave_folds_out",
    "leave_one_out",
    "loo",
    "make_criterion",
    "predict_left_out",
    "press",
    "radius_margin",
    "score",
    "span",
    "span_bound",
    "xi_alpha",
]
