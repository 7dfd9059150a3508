"""What a notebook shows of an object: its facts and, if matplotlib is installed, its picture.

Pictures are made by ``svmpath.displays``, which stands above paths, curves and choices. It is found by its name when a
notebook asks, so that nothing below depends on it.
"""

from __future__ import annotations

from importlib import import_module

_RENDERER = "svmpath.displays.html"


class Shown:
    """Gives paths, curves and choices a ``_repr_html_``."""

    def _repr_html_(self) -> str:
        return str(import_module(_RENDERER).render(self))
