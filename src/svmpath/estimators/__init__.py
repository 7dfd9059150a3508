"""scikit-learn estimators: assembly only."""

from svmpath.estimators.classifier import PathSVC
from svmpath.estimators.regressor import PathSVR

__all__ = ["PathSVC", "PathSVR"]
