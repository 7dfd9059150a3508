"""One way to try the same thing with one setting after another: other tolerances, other random numbers, a jitter.

An attempt fails with a :class:`svmpath.PathError`, or by returning None. That the machine does not exist at all
(:class:`svmpath.NoMarginError`) is not a matter of settings, and is raised at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from svmpath.exceptions import NoMarginError, PathError

Setting = TypeVar("Setting")
Result = TypeVar("Result")


@dataclass
class Attempts(Generic[Result]):
    """What became of some attempts.

    Attributes
    ----------
    good : object or None
        The first result that was good.
    poor : list
        The results before it, which were not.
    first_error, error : PathError or None
        Why the first and the last of the attempts without a result had none. Where later attempts change the problem,
        the first says more about the one that was given.
    """

    good: Result | None = None
    poor: list[Result] = field(default_factory=list)
    first_error: PathError | None = None
    error: PathError | None = None

    def best(self, cost: Callable[[Result], float]) -> Result | None:
        """The good result, or the one of least cost among the others."""
        return min(self.poor, key=cost, default=None) if self.good is None else self.good


def try_in_turn(
    settings: Iterable[Setting],
    make: Callable[[Setting], Result | None],
    *,
    is_good: Callable[[Result], bool] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Attempts[Result]:
    """Make one attempt per setting until the result is good.

    Parameters
    ----------
    settings : iterable
        What is changed from one attempt to the next.
    make : callable
        Makes the attempt with a setting.
    is_good : callable, optional
        Whether a result is good; every one is, if not given.
    is_over : callable, optional
        Whether the time is over: then there are no more attempts if one has had a result.
    """
    attempts: Attempts[Result] = Attempts()
    for setting in settings:
        if attempts.poor and is_over is not None and is_over():
            break
        try:
            result = make(setting)
        except NoMarginError:
            raise
        except PathError as error:
            attempts.first_error, attempts.error = attempts.first_error or error, error
            continue
        if result is None:
            continue
        if is_good is None or is_good(result):
            attempts.good = result
            return attempts
        attempts.poor.append(result)
    return attempts


def first_success(
    settings: Iterable[Setting],
    make: Callable[[Setting], Result | None],
    *,
    is_good: Callable[[Result], bool] | None = None,
    otherwise: PathError | None = None,
) -> Result:
    """The first good result; where there is none, the error of the last attempt that failed, or ``otherwise``.

    ``otherwise`` is needed only where an attempt may fail without an error: by a result of None or a poor one.
    """
    attempts = try_in_turn(settings, make, is_good=is_good)
    if attempts.good is not None:
        return attempts.good
    error = attempts.error or otherwise
    assert error is not None
    raise error
