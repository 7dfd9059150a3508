"""How the loops of this folder that allocate nothing are compiled.

``entry`` is for what Python calls: it is kept on disk (see ``solvers.keeping``). ``inner`` is for what only compiled
code calls: without a wrapper for Python it compiles faster. Where nothing is allocated, no references have to be
counted (``_nrt``), which takes less time both to compile and to run. ``exact_entry`` and ``exact_inner`` are the same
for loops whose operations keep their order, where results are wanted to the last digits.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from svmpath.solvers.keeping import kept

_EXACT: Any = {"nogil": True, "error_model": "numpy"}
_OPTIONS: Any = {
    **_EXACT, "no_cfunc_wrapper": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "_nrt": False,
}  # fmt: skip
_UNWRAPPED: Any = {"no_cpython_wrapper": True}
_EXACT_UNWRAPPED: Any = {**_EXACT, **_UNWRAPPED, "no_cfunc_wrapper": True}

entry: Any = kept(njit(**_OPTIONS))
inner: Any = njit(**_OPTIONS, **_UNWRAPPED)
exact_entry: Any = kept(njit(**_EXACT))
exact_inner: Any = njit(**_EXACT_UNWRAPPED)
