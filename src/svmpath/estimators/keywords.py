"""Parameters that are given by name only, with an error that says so in the words of the class."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Init = TypeVar("Init", bound=Callable[..., None])


def by_name(example: str) -> Callable[[Init], Init]:
    """A decorator of ``__init__``: refuses parameters without a name, and says how to write them.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> PathSVC(1.0)
    Traceback (most recent call last):
    ...
    TypeError: PathSVC takes its parameters by name, as in PathSVC(C=1.0); got 1 without a name.
    """

    def decorate(init: Init) -> Init:
        @wraps(init)
        def checked(self: object, *nameless: Any, **named: Any) -> None:
            if nameless:
                owner = type(self).__name__
                raise TypeError(
                    f"{owner} takes its parameters by name, as in {owner}({example}); "
                    f"got {len(nameless)} without a name."
                )
            init(self, **named)

        return cast("Init", checked)

    return decorate
