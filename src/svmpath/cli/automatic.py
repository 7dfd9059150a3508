"""What the estimators approximate with many rows, said beforehand in the words of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svmpath.cli.console import note
from svmpath.exceptions import DataError


def note_approximations(settings: Mapping[str, Any], task: str, rows: int) -> None:
    """Note what ``--rank auto`` and paths of many rows approximate; refuse what does not go with that."""
    from svmpath.gram import automatic_rank
    from svmpath.losses import make_loss
    from svmpath.paths.trackers import automatic_gap

    loss = make_loss(settings["loss"], task, over="C")
    rank = automatic_rank(rows) if settings["rank"] == "auto" else None
    if rank is not None:
        for option, is_given in {
            "--search gradient": settings["search"] == "gradient",
            "--gamma ard": settings["gamma"] == "ard",
        }.items():
            if is_given:
                raise DataError(
                    f"{option} needs the full kernel matrix, which takes long for {rows} rows; use --rank exact to "
                    "allow it"
                )
        is_free = (
            settings["search"] == "auto" and settings["landmarks"] is None and not loss.policy.cost_grows_with_span
        )
        how = f"is approximated with {rank} landmarks"
        if is_free:
            how = "may be approximated; its rank is chosen by held-out error"
        note(f"with {rows} rows, the kernel {how}; use --rank exact to avoid this.")
    gap = automatic_gap(type(loss), rows)
    if gap is None:
        return
    if settings["rank"] is None:
        raise DataError(
            f"--rank exact with --loss {loss.name} needs the full kernel matrix, which is too large for {rows} rows; "
            "use --rank auto"
        )
    if settings["criterion"] == "loo":
        raise DataError(
            f"--criterion loo with --loss {loss.name} needs exact paths, which are not available for {rows} rows; use "
            "alo or kfold"
        )
    note(f"with {rows} rows, the paths of {loss.name} are approximated to a relative duality gap of {gap:g}.")
