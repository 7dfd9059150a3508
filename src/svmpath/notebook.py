"""What a notebook shows of an object: its facts and, if matplotlib is installed, its picture.

Pictures are made by ``svmpath.displays``, which stands above paths, curves and choices and beside the estimators. It is
found by its name when a notebook asks, so that nothing below depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cached_property
from importlib import import_module
from typing import Any

from svmpath.lazy import lazy

_RENDERER = "svmpath.displays.html"
_WAITING = (property, cached_property, lazy)  # what computes an attribute when it is asked for
_is_listing: ContextVar[bool] = ContextVar("_is_listing", default=False)  # scikit-learn lists fitted attributes


class Shown:
    """Gives paths, curves and choices a ``_repr_html_``."""

    def _repr_html_(self) -> str:
        return str(import_module(_RENDERER).render(self))


class ShownWithDiagram:
    """Puts the facts of a fitted estimator before scikit-learn's diagram of it; stands before ``BaseEstimator``.

    ``sklearn.set_config(display="text")`` turns both off, as it does for every estimator.

    Some fitted attributes take long, and are computed when they are first asked for. scikit-learn's own ``__dir__`` and
    its diagram, also that of a pipeline, would ask for all of them: here completion names them, and the diagram leaves
    them out.
    """

    def __dir__(self) -> Iterable[str]:
        names = object.__dir__(self)
        if "choice_" not in vars(self):  # not fitted, so that nothing takes long
            return [name for name in names if hasattr(self, name)]
        waiting = {
            name for kind in type(self).__mro__ for name, each in vars(kind).items() if isinstance(each, _WAITING)
        }
        if _is_listing.get():
            return [name for name in names if name not in waiting and hasattr(self, name)]
        return [name for name in names if name in waiting or hasattr(self, name)]

    def _get_fitted_attr_html(self, *arguments: Any, **options: Any) -> Any:
        """What scikit-learn calls from 1.9 on, to list fitted attributes with their values."""
        token = _is_listing.set(True)
        try:
            return super()._get_fitted_attr_html(*arguments, **options)  # type: ignore[misc]
        finally:
            _is_listing.reset(token)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_  # type: ignore[misc]  # no attribute with display="text"
        return lambda: self._facts_html() + diagram()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._facts_html() + bundle["text/html"]
        return bundle

    def _facts_html(self) -> str:
        return str(import_module(_RENDERER).render_estimator(self))
