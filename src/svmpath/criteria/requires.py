"""Criteria that work for one loss and one kind of path only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from svmpath.losses import Loss
from svmpath.paths import Path

Criterion = TypeVar("Criterion", bound=Callable[..., Any])


def requires(loss: type[Loss], kind: type[Path], said: str = "") -> Callable[[Criterion], Criterion]:
    """A criterion that raises an error for paths of another loss or kind.

    If repeated rows were merged, the criterion gets the path of the original rows.
    """

    def with_checks(criterion: Criterion) -> Criterion:
        @wraps(criterion)
        def on_any_path(path: Path, *args: Any, **options: Any) -> Any:
            name = f"criteria.{said or criterion.__name__}"
            if type(path.loss) is not loss:
                raise ValueError(
                    f"{name} works for loss={loss.name!r} only, but this path has loss={path.loss.name!r}."
                )
            if not path.problem.offset:
                raise ValueError(f"{name} is for machines with an offset, but this path has offset=False.")
            if not path.is_exact:
                raise ValueError(f"{name} needs an exact path: leave tol out, or use criteria.kfold.")
            given = path.unmerged
            if path.over != "C" or not isinstance(given, kind):
                raise ValueError(f"{name} needs a path over C, but this path is over {path.over!r}.")
            curve = criterion(given, *args, **options)
            return replace(curve, path=path) if hasattr(curve, "path") else curve

        return cast(Criterion, on_any_path)

    return with_checks
