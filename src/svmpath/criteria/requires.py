"""Criteria that have a formula for some losses only, and for one kind of path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from svmpath.losses import Loss
from svmpath.paths import Path

Criterion = TypeVar("Criterion", bound=Callable[..., Any])


def requires(loss: type[Loss], kind: type[Path]) -> Callable[[Criterion], Criterion]:
    """A criterion that is refused in one sentence for paths of another loss or kind.

    Where repeated rows are merged, the criterion is asked about the path of the rows as they were given.
    """

    def with_checks(criterion: Criterion) -> Criterion:
        @wraps(criterion)
        def on_any_path(path: Path, *args: Any, **options: Any) -> Any:
            name = f"criteria.{criterion.__name__}"
            if type(path.loss) is not loss:
                raise ValueError(f"{name} is made for loss={loss.name!r}; this path has loss={path.loss.name!r}.")
            if not path.is_exact:
                raise ValueError(f"{name} needs an exact path: leave tol out, or use criteria.kfold.")
            given = path.unmerged
            if not isinstance(given, kind):
                raise ValueError(f"{name} needs a path over C; this one goes over {path.over!r}.")
            found = criterion(given, *args, **options)
            return replace(found, path=path) if hasattr(found, "path") else found

        return cast(Criterion, on_any_path)

    return with_checks
