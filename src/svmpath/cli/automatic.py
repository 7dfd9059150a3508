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

    rank = automatic_rank(rows) if settings["rank"] == "auto" else None
    if rank is not None:
        _check_whole(settings, rows)
        note(f"{rows} rows: the kernel is approximated with {rank} landmarks; --rank exact does without.")
    loss = make_loss(settings["loss"], task)
    gap = automatic_gap(type(loss), rows)
    if gap is not None:
        _check_gap(settings, loss.name, rows)
        note(f"{rows} rows: paths of {loss.name} are followed to a relative duality gap of {gap:g}.")


def _check_whole(settings: Mapping[str, Any], rows: int) -> None:
    """Refuse what needs the whole kernel matrix."""
    asked = {"--search gradient": settings["search"] == "gradient", "--gamma ard": settings["gamma"] == "ard"}
    for option, is_given in asked.items():
        if is_given:
            raise DataError(
                f"{option} needs the whole kernel matrix, which for {rows} rows takes long; --rank exact allows it"
            )


def _check_gap(settings: Mapping[str, Any], loss: str, rows: int) -> None:
    """Refuse what approximate paths cannot do."""
    if settings["rank"] is None:
        raise DataError(
            f"--rank exact with --loss {loss} holds the whole kernel matrix, which {rows} rows do not allow"
        )
    if settings["criterion"] == "loo":
        raise DataError(
            f"--criterion loo with --loss {loss} needs exact paths, which {rows} rows do not allow; use alo or kfold"
        )
