"""How the loops of this folder that allocate nothing are compiled.

``entry`` is for what Python calls: it is kept on disk (see ``solvers.loops.stamp``). ``inner`` is for what only
compiled code calls: without a wrapper for Python it compiles faster. Where nothing is allocated, no references have to
be counted (``_nrt``), which takes less time both to compile and to run.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: Any = {
    "no_cfunc_wrapper": True, "nogil": True, "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "_nrt": False,
}  # fmt: skip
_UNWRAPPED: Any = {"no_cpython_wrapper": True}

entry: Any = njit(cache=True, **_OPTIONS)
inner: Any = njit(**_OPTIONS, **_UNWRAPPED)
