"""Attributes that are computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
Owner = TypeVar("Owner")


class lazy(Generic[T]):
    """Like ``functools.cached_property``, without its lock.

    Before Python 3.12 that one holds a lock per class while it computes, so that threads that work on different
    objects wait for each other. Here two threads that ask one object at the same time may both compute.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | lazy[T]:
        if instance is None:
            return self
        # No __set__: from now on the instance's own dictionary answers, without coming here.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


def with_known(instance: Owner, **values: Any) -> Owner:
    """The instance, with lazy attributes whose values are known already; it may be frozen, and must be new."""
    instance.__dict__.update(values)
    return instance
