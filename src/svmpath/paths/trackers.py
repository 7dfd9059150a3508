"""Which class of path follows which loss over which kind of parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from svmpath.losses import LOSSES, Loss, Problem
from svmpath.paths import jump
from svmpath.paths.closed_form import ClosedFormPath
from svmpath.paths.jump import JumpPath
from svmpath.paths.kernel_march import KernelPath, NewtonKernelPath
from svmpath.paths.made import Made
from svmpath.paths.merged import MergedPath, merge, refine
from svmpath.paths.newton_path import NewtonPath
from svmpath.paths.nodes import NodePath
from svmpath.paths.path import Path, Request
from svmpath.paths.sample_path import squared_hinge_path

Array = np.ndarray
Tracker = Callable[[Problem, Request, Made], Path]

# What a path goes over: a parameter of the machine, one of its kernel, or C with a duality gap that is enough.
MACHINE, KERNEL, GAP = "machine", "kernel", "gap"

# The kinds of path, by the names under which losses declare them (``Loss.followed_by``).
TRACKERS: dict[str, Tracker] = {
    "closed form": ClosedFormPath.of,
    "squared hinge": squared_hinge_path,
    "newton over the kernel": NewtonKernelPath.of,
    "newton": NewtonPath.of,
    "jump": JumpPath.of,
    "elbow over the kernel": KernelPath.of,
    "nodes": NodePath.of,
}

# An exact path takes 0.04 s at n = 1000, 0.5 s at 2000 and 3 to 7 s at 6000, an approximate one 0.3 s and more per
# hundred features at any n: exact up to so many rows, or rows per feature, as long as the kernel matrix can be held.
_FEW_ROWS, _ROWS_PER_RANK, _MANY_ROWS = 2000, 8, 10_000
_GAP = 1e-3  # the relative duality gap of paths that are approximate by default


def trace_problem(problem: Problem, request: Request, made: Made | None = None) -> Path:
    """The path of a problem that is already in the solver's form.

    ``made`` is the store of another path on the same kernel and weights. Where the problem knows of copies, one row for
    each sample is followed.
    """
    made = Made() if made is None else made
    if problem.copies is not None:
        return _trace_merged(problem, request, made)
    return TRACKERS[request.loss.followed_by[_what(problem, request)]](problem, request, made)


def _what(problem: Problem, request: Request) -> str:
    """The kind of parameter that the path follows; raises an error if no tracker does that."""
    loss, over = request.loss, request.over
    if not loss.followed_by:
        raise ValueError(f"No path follows {loss!r}: declare one of svmpath.paths.TRACKERS in its followed_by.")
    what = MACHINE if over in loss.overs else KERNEL
    if what not in loss.followed_by:
        raise ValueError(f"With loss={loss.name!r} a path can be over {' or '.join(loss.overs)}, not over {over!r}.")
    if request.tol is None:
        return what
    if over != "C" or GAP not in loss.followed_by:
        names = " or ".join(repr(name) for name, kind in LOSSES.items() if GAP in kind.followed_by)
        raise ValueError(f"tol= works for loss={names} over C, not for {loss!r} over {over!r}; leave it out.")
    return MACHINE if exact_is_cheaper(problem.gram.n, problem.gram.rank) else GAP


def exact_is_cheaper(n: int, rank: int) -> bool:
    """Whether an exact path over C on n distinct rows takes less time than an approximate one to a gap of 1e-3."""
    if n <= _FEW_ROWS or n > _MANY_ROWS:
        return n <= _FEW_ROWS
    return n <= _ROWS_PER_RANK * rank


def automatic_gap(loss: type[Loss], n: int) -> float | None:
    """The relative duality gap that is accepted by default with n rows; None if paths are exact."""
    return _GAP if GAP in loss.followed_by and n > jump.WHOLE_ROWS else None


@dataclass(frozen=True)
class _Again:
    """Traces another problem as requested, over another span perhaps."""

    request: Request

    def __call__(self, problem: Problem, span: tuple[float, float], made: Made) -> Path:
        return trace_problem(problem, replace(self.request, span=span), made)


def _trace_merged(problem: Problem, request: Request, made: Made) -> Path:
    """The path of the problem with one row for all copies that move alike."""
    rows, moving = request.rows, None
    if rows is not None:
        is_moving = np.isin(np.arange(problem.n), rows)
        problem = replace(problem, copies=refine(problem.copies, is_moving))
        if problem.copies is None:
            return trace_problem(problem, request)
        moving = np.unique(problem.copies[rows])
    made.merged = Made() if made.merged is None else made.merged
    inner = trace_problem(merge(problem), replace(request, rows=moving), made.merged)
    motion = replace(inner.motion, rows=rows)
    again = _Again(replace(request, tol=None) if inner.is_exact else request)  # exact paths stay so, with copies apart
    return MergedPath(problem, inner.loss, motion, inner.span, inner, again, made=made)
