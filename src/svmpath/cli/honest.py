"""How ``svmpath tune`` estimates the error of the whole procedure: by rules that count rows, not seconds.

Nested cross-validation repeats the tuning ten times. With ``--honest auto`` that is done where a fit takes a fraction
of a second: up to 500 rows, and up to 150 where fits take longer (other losses than least squares and the squared
hinge, searches other than auto). With more rows the held-out error is corrected by the bootstrap, which costs no fit,
if the search has kept what that needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.estimators.honest import HonestError

NAMES = ("auto", "nested", "bootstrap", "none")
_FEW, _VERY_FEW = 500, 150  # rows up to which the tuning is repeated


def estimate_error(model: Any, wanted: str, settings: Mapping[str, Any]) -> HonestError | None:
    """The estimate; None if it is not wanted, or if "auto" would take long.

    Parameters
    ----------
    model : PathSVC or PathSVR
        The fitted estimator.
    wanted : {"auto", "nested", "bootstrap", "none"}
    settings : mapping
        The parameters of the estimator.
    """
    is_slow = settings["search"] != "auto" or settings["gamma"] == "ard" or not model.path_.loss.policy.is_quick
    is_quick = model.path_.problem.n <= (_VERY_FEW if is_slow else _FEW)  # ten fits take a few seconds at most
    method = wanted if wanted != "auto" else "nested" if is_quick else "bootstrap"
    if method == "none":
        return None
    if method == "bootstrap" and not model.can_be_corrected():
        if wanted == "auto":
            return None
        raise DataError(
            "--honest bootstrap needs the held-out losses of all pairs, which searches by gradient and scores that are "
            "no mean of losses do not have, and which are not kept if they take more than 16 MB for one gamma; use "
            "--honest nested"
        )
    try:
        error: HonestError = model.nested_error(method)
    except ValueError:  # a score that is no mean of losses, or a threshold: there is no correction without fits
        if wanted != "auto":
            raise
        return None
    return error
