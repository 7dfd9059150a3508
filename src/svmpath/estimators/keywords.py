"""Parameters that are given by name only, with an error that says so in the words of the class."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

Init = TypeVar("Init", bound=Callable[..., None])

# What to use instead of parameters that svmpath 0.1 had.
SUCCESSORS = {
    "criterion_loss": "use scoring=, which takes the same losses, and scorers",
    "decision_function_shape": "leave it out, and subtract columns of decision_function",
    "landmarks": "use rank=svmpath.gram.Nystroem(300, 'kmeans'), say",
    "memory_limit": "use svmpath.config_context(memory_limit=...) around fit, or svmpath.set_config",
    "psd": "use rank=svmpath.gram.Clipped() instead of psd='clip'",
    "tol": "leave it out: paths are exact up to 20 000 samples; svmpath.trace has it",
    "warm_start": "use fit(X, y, start_from=model)",
}


def by_name(example: str) -> Callable[[Init], Init]:
    """A decorator of ``__init__``: refuses parameters without a name, and says how to write them.

    Parameters that svmpath 0.1 had are refused with what to use instead.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> PathSVC(1.0)
    Traceback (most recent call last):
    ...
    TypeError: PathSVC takes its parameters by name, as in PathSVC(C=1.0); got 1 without a name.
    >>> PathSVC(warm_start=True)
    Traceback (most recent call last):
    ...
    TypeError: PathSVC has no parameter warm_start any more: use fit(X, y, start_from=model).
    """

    def decorate(init: Init) -> Init:
        removed = SUCCESSORS.keys() - signature(init).parameters.keys()

        @wraps(init)
        def checked(self: object, *nameless: Any, **named: Any) -> None:
            if nameless:
                owner = type(self).__name__
                raise TypeError(
                    f"{owner} takes its parameters by name, as in {owner}({example}); "
                    f"got {len(nameless)} without a name."
                )
            for name in sorted(removed & named.keys()):
                raise TypeError(f"{type(self).__name__} has no parameter {name} any more: {SUCCESSORS[name]}.")
            init(self, **named)

        return cast("Init", checked)

    return decorate
