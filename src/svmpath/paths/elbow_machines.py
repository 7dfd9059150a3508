"""Machines with an elbow at one value of a parameter, from the places of their variables: solved and measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.losses import PathParameter, Problem, Solution
from svmpath.losses.elbow import ElbowLoss
from svmpath.solvers.box_program import Centred, Program, at_places, offset_shift
from svmpath.solvers.box_qp import FREE, LOW, UP, Walker, solve_from
from svmpath.solvers.loops.box_tolerances import DEPENDENT_BELOW, WALK_ACCEPTED, WALK_TRUSTED

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ElbowMachines:
    """The machines of one problem while one parameter moves; t stands for its value (``PathParameter.t``).

    Attributes
    ----------
    problem : Problem
        Without copies.
    loss : ElbowLoss
    path_parameter : PathParameter
    matrix : Centred
        The full kernel matrix.
    """

    problem: Problem
    loss: ElbowLoss
    path_parameter: PathParameter
    matrix: Centred

    @lazy
    def program(self) -> Program:
        """The quadratic program that the machines solve."""
        program = self.loss.program(self.problem, self.path_parameter, self.matrix.K)
        return program if self.problem.offset else program.anchored()

    def _own(self, values: Array) -> tuple[Array, Array]:
        """The values of the variables of samples, and that of the anchor, if there is one."""
        return np.split(values, [len(values) if self.problem.offset else -1])  # type: ignore[return-value]

    def guess(self, program: Program, t: float) -> tuple[Array, Array]:
        """theta and statuses to start from; without an offset, those of f = 0."""
        if self.problem.offset:
            return self.loss.guess(self.problem, program, t)
        status = np.where(program.c0 + t * program.c1 >= 0.0, LOW, UP)
        theta = np.where(status == UP, program.up(t), program.low(t))
        theta[-1], status[-1] = -theta[:-1].sum(), FREE
        return theta, status

    def perturbed(self, jitter: float) -> Program:
        """The program with tiny numbers on the diagonal of its kernel matrix."""
        program = self.program
        if jitter:
            noise = 1.0 + np.random.default_rng(0).random(len(program.K))  # uneven: it breaks ties, too
            noise[self.problem.n :] = 0.0  # of the anchor
            program = replace(program, K=program.K + np.diag(jitter * program.kmax * noise))
        return program

    @property
    def trusted(self) -> float:
        """The violation up to which a walk is trusted."""
        return WALK_TRUSTED * self.loss.scale(self.problem)

    @property
    def accepted(self) -> float:
        """The violation up to which a walk or a machine is accepted where no attempt could be trusted."""
        return WALK_ACCEPTED * self.loss.scale(self.problem)

    def excess(self, solution: Solution | None) -> float:
        """The violation beyond what rounding explains; rounding is assumed to explain only a small part."""
        return np.inf if solution is None else max(solution.violation - min(solution.rounding, self.accepted), 0.0)

    def solved(self, program: Program, t: float, status: Array) -> Solution | None:
        """The machine with these places; a free variable that rounding puts beyond a bound is on that bound."""
        own, anchor = self._own(status)
        status = np.append(self.loss.tidy(own), anchor)
        point = at_places(program, t, status)
        if point is None:
            return None
        theta, low, up = point[0], program.low(t), program.up(t)
        beyond = (status == FREE) & ((theta < low) | (theta > up))
        rest = np.bincount(program.group[(status == FREE) & ~beyond], minlength=len(program.b0))
        if beyond.any() and rest.all():
            point = at_places(program, t, np.where(beyond, np.where(theta < low, LOW, UP), status)) or point
        return self.read(program, t, *point)

    def polished(self, program: Program, t: float, status: Array) -> Solution | None:
        """The optimum that is found from these places."""
        point = at_places(program, t, status)
        theta = np.where(status == UP, program.up(t), program.low(t)) if point is None else point[0]
        try:
            return self.at_walker(solve_from(program, t, theta, status))
        except PathError:
            return None

    def at_walker(self, walker: Walker) -> Solution:
        """The machine at the point of a walker."""
        return self.read(walker.program, walker.t, walker.theta, walker.nu, walker.g)

    def read(self, program: Program, t: float, theta: Array, nu: Array, g: Array) -> Solution:
        """The machine of a solution of the program, with the weights that it has at t."""
        problem = self.problem
        if self.path_parameter.rows is not None:
            s0, s1 = self.path_parameter.weights_along(problem.s)
            problem = replace(problem, s=s0 + t * s1)
        theta = np.clip(theta, program.low(t), program.up(t))
        if not problem.offset:
            return self.loss.read(problem, self.path_parameter, t, self._own(theta)[0], np.zeros_like(nu))
        nu = nu + offset_shift(program, t, theta, g) - self.matrix.h[program.rows] @ theta
        return self.loss.read(problem, self.path_parameter, t, theta, nu)

    def decided(self, walker: Walker) -> Array:
        """Decision values of all rows, from the gradient at the point of a walker."""
        program, t, g = self.program, walker.t, walker.g
        product = g - program.c0 - t * program.c1 - walker.nu[program.group]
        nu = walker.nu + offset_shift(program, t, walker.theta, g)
        values, total = self.path_parameter.at_t(t), float(self.problem.s.sum())
        return self.loss.decision_values(product[: self.problem.n], nu, values, total)

    def solve_from(self, coefficients: Array, program: Program, t: float, tol: float = DEPENDENT_BELOW) -> Walker:
        """The optimum at t, from the coefficients alpha / C of a similar machine."""
        theta, low, up = self.loss.split(coefficients), program.low(t), program.up(t)
        if not self.problem.offset:
            theta = np.append(theta, -theta.sum())
        return solve_from(program, t, theta, np.where(theta <= low, LOW, np.where(theta >= up, UP, FREE)), tol=tol)

    @property
    def is_convex(self) -> bool:
        """Whether the kernel matrix is known to be positive semi-definite."""
        gram = self.problem.gram
        return gram.kernel.psd is True or bool(getattr(gram, "clip", False))

    @property
    def advice(self) -> str:
        """What to do where there is no path."""
        if not self.is_convex:
            return "If the kernel is indefinite, rank=gram.Clipped() makes it positive semi-definite."
        return "Scale the columns, or end the span earlier."
