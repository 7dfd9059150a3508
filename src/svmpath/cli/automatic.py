"""What ``svmpath tune`` sets by the number of rows: the loss, ``--rank auto``, and the gap of approximate paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svmpath.cli.console import note
from svmpath.cli.options import losses_with_an_elbow
from svmpath.exceptions import DataError

MANY_ROWS = 2000  # from here on a decomposition per kernel takes seconds, and --rank auto approximates
LANDMARKS = 500
_EXACT_PATH_ROWS = 20_000  # up to which the paths of losses with an elbow are exact
_GAP = 1e-3  # the relative duality gap of their paths beyond
_LOSS = {"classification": "squared_hinge", "regression": "least_squares"}  # where --loss is not given


def set_by_rows(settings: Mapping[str, Any], task: str, rows: int) -> dict[str, Any]:
    """The settings of the estimator with the loss, the rank and the gap filled in; what is approximated is noted."""
    filled = {**settings, "loss": settings["loss"] or _LOSS[task]}
    filled["rank"] = _rank(filled, rows)
    filled["tol"] = _gap(filled, rows)
    return filled


def _rank(settings: Mapping[str, Any], rows: int) -> int | float | None:
    """The rank that "auto" stands for."""
    rank: int | float | str | None = settings["rank"]
    if not isinstance(rank, str):
        return rank
    if rows <= MANY_ROWS:
        return None
    if settings["search"] == "gradient" or settings["gamma"] == "ard":
        option = "--gamma ard" if settings["gamma"] == "ard" else "--search gradient"
        raise DataError(
            f"{option} needs the whole kernel matrix, which for {rows} rows takes long; --rank exact allows it"
        )
    note(f"{rows} rows: the kernel is approximated with {LANDMARKS} landmarks; --rank exact does without.")
    return LANDMARKS


def _gap(settings: Mapping[str, Any], rows: int) -> float | None:
    """The duality gap to which paths with an elbow are followed; None where they are exact."""
    loss = settings["loss"]
    if loss not in losses_with_an_elbow() or rows <= _EXACT_PATH_ROWS:
        return None
    if settings["rank"] is None:
        raise DataError(f"--rank exact with --loss {loss} is for at most {_EXACT_PATH_ROWS} rows, not {rows}")
    if settings["criterion"] == "loo":
        raise DataError(
            f"--criterion loo with --loss {loss} is for at most {_EXACT_PATH_ROWS} rows, not {rows}; use alo or kfold"
        )
    note(f"{rows} rows: paths of {loss} are followed to a relative duality gap of {_GAP:g}.")
    return _GAP
