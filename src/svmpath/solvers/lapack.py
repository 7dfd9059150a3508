"""LAPACK routines that let other threads run while they work.

The functions of ``scipy.linalg.lapack`` hold Python's lock: nothing else runs meanwhile, not even the main thread that
gets Ctrl-C. SciPy also offers the routines themselves, to Cython; ctypes calls them without the lock.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

from svmpath.interrupts import interruptible

Array = np.ndarray

_api = ctypes.pythonapi
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def pivoted_cholesky(K: Array, tol: float) -> tuple[Array, Array, int]:
    """L, pivots and rank r of the Cholesky factorisation with full pivoting that stops at residuals below tol.

    ``K[pivots][:, pivots] = L[:, :r] L[:, :r]'`` up to the residual; above its diagonal L holds what K held.
    """
    if len(K) == 0:  # which LAPACK takes for a mistake
        return np.zeros((0, 0)), np.zeros(0, dtype=np.int64), 0
    if _dpstrf is None:
        L, pivots, r, _ = lapack.dpstrf(K, tol=tol, lower=1)
        return L, pivots - 1, int(r)
    L = np.array(K, dtype=np.float64, order="F")
    pivots, work = np.zeros(len(L), dtype=np.intc), np.empty(2 * len(L))
    n, r, info = ctypes.c_int(len(L)), ctypes.c_int(0), ctypes.c_int(0)
    limit = ctypes.c_double(tol)

    def work_on(L: Array) -> None:  # holds all that the routine writes to, even if its results are no longer needed
        first = (b"L", ctypes.byref(n), L.ctypes.data, ctypes.byref(n), pivots.ctypes.data)
        _dpstrf(*first, ctypes.byref(r), ctypes.byref(limit), work.ctypes.data, ctypes.byref(info))

    interruptible(work_on, L)
    return L, pivots.astype(np.int64) - 1, r.value


# A routine all of whose arguments are pointers; None where its integers are not C's.
_capsule = cython_lapack.__pyx_capi__["dpstrf"]
_signature = _api.PyCapsule_GetName(_capsule)
_dpstrf: Any = None
if b"int *" in _signature:
    _dpstrf = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)(_api.PyCapsule_GetPointer(_capsule, _signature))
