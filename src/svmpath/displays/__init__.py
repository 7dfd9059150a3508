"""Pictures of paths, curves, surfaces and machines, in scikit-learn's Display form; they need matplotlib.

Install it with ``python -m pip install 'svmpath[plot]'``. This module can be imported without it.
"""

from svmpath.displays.boundary import BoundaryDisplay
from svmpath.displays.coefficients import PathDisplay
from svmpath.displays.curve import CurveDisplay
from svmpath.displays.elbow import ElbowDisplay
from svmpath.displays.margin import MarginDisplay
from svmpath.displays.quantiles import QuantileDisplay
from svmpath.displays.surface import SurfaceDisplay

__all__ = [
    "BoundaryDisplay",
    "CurveDisplay",
    "ElbowDisplay",
    "MarginDisplay",
    "PathDisplay",
    "QuantileDisplay",
    "SurfaceDisplay",
]
