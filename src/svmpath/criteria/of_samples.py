"""Predicted held-out values of the squared hinge on a full kernel matrix, from the systems of its samples.

With H = K_EE + lam/2 S_E^-1, B from ``solvers.samples`` and the coefficients u of the machine, leaving out i in E while
the others keep their sides leaves

    y_i - f^(-i)(x_i) = (y_i - f_i) / (1 - h_i),        1 - h_i = lam / (2 s_i) B_ii

as in ``criteria.of_march``, without features.
"""

from __future__ import annotations

import numpy as np

from svmpath.criteria.curve import Screened, error
from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.of_march import count_unreliable, predict_left_out_march, refuse_form
from svmpath.criteria.sources import AtValues
from svmpath.exceptions import PathError
from svmpath.paths import SamplePath
from svmpath.paths.sample_path import SampleStop
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def predict_left_out_samples(
    path: SamplePath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their sides."""
    refuse_form(path, form)
    held = np.empty((len(values), path.problem.n))
    try:
        for stop in path.walk_samples(values):
            with blas_threads(path.problem.gram.entries):
                held[stop.position] = _predict(path, stop)
    except PathError:  # what the coefficients cannot resolve
        return predict_left_out_march(path, values, screen=screen)
    # All leverages come with the factor: there is nothing to save by a screen.
    screened = Screened(error(path.problem.y, held) > 0, held) if screen else None
    return HeldOut(np.arange(path.problem.n), held, AtValues(count_unreliable, path, values), screened)


def _predict(path: SamplePath, stop: SampleStop) -> Array:
    """Held-out decision values at one value."""
    y, s, machine = path.problem.y, path.problem.s, stop.machine
    E = np.flatnonzero(machine.E)
    held = machine.f.copy()
    residual = machine.u[E] / (2.0 * stop.C * s[E])  # y - f, without what cancels in that
    held[E] = y[E] - residual / stop.system.slack_diag
    return held
