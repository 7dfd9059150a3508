"""Which class of path follows which loss over which kind of parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from svmpath.gram import ProductGram
from svmpath.losses import LOSSES, Loss, Problem
from svmpath.names import either
from svmpath.paths import jump
from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.copies import refine
from svmpath.paths.full_kernel_path import FullKernelPath
from svmpath.paths.interior import InteriorPath
from svmpath.paths.jump import JumpPath
from svmpath.paths.kernel_march import KernelPath, NewtonKernelPath
from svmpath.paths.newton_path import NewtonPath
from svmpath.paths.nodes import NodePath
from svmpath.paths.path import Path, Request
from svmpath.paths.sample_path import squared_hinge_path
from svmpath.paths.store import KernelStore
from svmpath.solvers.threads import blas_threads

Array = np.ndarray
Tracker = Callable[[Problem, Request, KernelStore], Path]

# What a path goes over: a parameter of the machine, one of its kernel, or C with a duality gap that is enough.
MACHINE, KERNEL, GAP = "machine", "kernel", "gap"


def squared_hinge(problem: Problem, request: Request, store: KernelStore) -> Path:
    """The path of the squared hinge; without an offset by Newton's method, which serves all such losses."""
    return (squared_hinge_path if problem.offset else NewtonPath.of)(problem, request, store)


def one_class_path(problem: Problem, request: Request, store: KernelStore) -> Path:
    """The exact path, or on many rows in low rank one whose machines are found one by one."""
    distinct = problem.n if problem.copies is None else int(problem.copies.max()) + 1
    with blas_threads(problem.gram.entries):  # Z may be computed here
        is_many = problem.gram.Z is not None and not exact_is_cheaper(distinct, problem.gram.rank)
    return (InteriorPath if is_many else JumpPath).of(problem, request, store)


# The kinds of path, by the names under which losses declare them (``Loss.followed_by``).
TRACKERS: dict[str, Tracker] = {
    "closed form": ClosedFormPath.of,
    "squared hinge": squared_hinge,
    "newton over the kernel": NewtonKernelPath.of,
    "newton": NewtonPath.of,
    "jump": JumpPath.of,
    "jump or interior point": one_class_path,
    "elbow over the kernel": KernelPath.of,
    "nodes": NodePath.of,
}

# An exact path takes 0.04 s at n = 1000, 0.5 s at 2000 and 3 to 7 s at 6000, an approximate one 0.3 s and more per
# hundred features at any n: exact up to so many rows, or rows per feature, as long as the kernel matrix can be held.
_FEW_ROWS, _ROWS_PER_RANK, _MANY_ROWS = 2000, 8, 10_000
_GAP = 1e-3  # the relative duality gap of paths that are approximate by default


def trace_problem(problem: Problem, request: Request, store: KernelStore | None = None) -> Path:
    """The path of a problem that is already in the solver's form.

    ``store`` is that of another path on the same kernel and weights. Raises an error if no tracker follows the
    parameter.
    """
    loss, over = request.loss, request.over
    store = KernelStore() if store is None else store.for_labels()
    if isinstance(problem.gram, ProductGram):
        return FullKernelPath.of(problem, request, store)
    if not loss.followed_by:
        raise ValueError(f"No path follows {loss!r}: declare one of svmpath.paths.TRACKERS in its followed_by.")
    what = MACHINE if over in loss.parameter_names else KERNEL
    if what not in loss.followed_by:
        raise ValueError(
            f"With loss={loss.name!r} a path can be over {' or '.join(loss.parameter_names)}, not over {over!r}."
        )
    if not problem.offset:
        check_offset_free(loss, what, request)
    if request.tol is not None:
        if over != "C" or GAP not in loss.followed_by:
            names = either(name for name, kind in LOSSES.items() if GAP in kind.followed_by)
            raise ValueError(f"tol= works for loss={names} over C, not for {loss!r} over {over!r}; leave it out.")
        n = problem.n if problem.copies is None else int(problem.copies.max()) + 1
        what = MACHINE if exact_is_cheaper(n, problem.gram.rank) else GAP
    if request.rows is not None:  # copies move alike
        copies = refine(problem.copies, np.isin(np.arange(problem.n), request.rows))
        problem = replace(problem, copies=copies)
    return TRACKERS[loss.followed_by[what]](problem, request, store)


def check_offset_free(loss: Loss, what: str, request: Request) -> None:
    """Refuse machines without an offset that no path follows."""
    if not loss.can_lack_offset:
        names = either(name for name, kind in LOSSES.items() if kind.can_lack_offset)
        raise ValueError(f"offset=False works for loss={names}, not for {loss!r}; leave it out.")
    if what != MACHINE or request.tol is not None:
        raise ValueError(
            f"offset=False works for exact paths over {' or '.join(loss.parameter_names)}, not over a parameter of "
            "the kernel or with tol=; leave it out."
        )


def exact_is_cheaper(n: int, rank: int) -> bool:
    """Whether an exact path over C on n distinct rows takes less time than an approximate one to a gap of 1e-3."""
    if n <= _FEW_ROWS or n > _MANY_ROWS:
        return n <= _FEW_ROWS
    return n <= _ROWS_PER_RANK * rank


def automatic_gap(loss: type[Loss], n: int) -> float | None:
    """The relative duality gap that is accepted by default with n rows; None if paths are exact."""
    return _GAP if GAP in loss.followed_by and n > jump.WHOLE_ROWS else None
