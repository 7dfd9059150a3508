"""The elastic-net hinge machine as a function of one parameter: what moves, where a walk begins, one machine alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.lazy import lazy, with_known
from svmpath.losses import PathParameter
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, ElasticSolution
from svmpath.paths.path import Array
from svmpath.solvers.elastic.design import Design, Line, Snapshot
from svmpath.solvers.elastic.first_point import leave_constant, put_at_zero, start, walk_to
from svmpath.solvers.elastic.interior_point import solve_directly
from svmpath.solvers.elastic.walk import ElasticWalker, corner

GAP_OF_WALKS = 1e-9  # a relative gap up to which a machine need not be solved for directly


@dataclass(frozen=True, eq=False)
class ElasticFamily:
    """The machines of one problem at all values of the parameter that moves.

    Attributes
    ----------
    problem : ElasticProblem
    path_parameter : PathParameter
        Over lambda1, lambda2, a ray of both, or the weight of some samples.
    """

    problem: ElasticProblem
    path_parameter: PathParameter

    def penalties(self, value: float) -> dict[str, float]:
        """All hyper-parameters; on a ray lambda1 = value * l1_ratio and lambda2 = value * (1 - l1_ratio)."""
        if self.path_parameter.over != "ray":
            return self.path_parameter.at(value)
        ratio = self.path_parameter.fixed["l1_ratio"]
        return {"lambda1": value * ratio, "lambda2": value * (1.0 - ratio), "l1_ratio": ratio}

    def at(self, value: float) -> tuple[Array, float, float]:
        """The weights of the samples, lambda1 and lambda2 at a value."""
        here = self.penalties(value)
        return self.path_parameter.weights(self.problem.s, value), here["lambda1"], here["lambda2"]

    @property
    def line(self) -> Line:
        """The line of all values."""
        (_, lam1, lam2), (_, unit1, unit2) = self.at(0.0), self.at(1.0)
        return Line(lam1, lam2, lam1 - unit1, lam2 - unit2, *self.path_parameter.weights_along(self.problem.s))

    @property
    def is_plain(self) -> bool:
        """Whether lambda1 costs nothing all along."""
        fixed = "l1_ratio" if self.path_parameter.over == "ray" else "lambda1"
        return self.path_parameter.fixed.get(fixed) == 0.0

    @property
    def has_top(self) -> bool:
        """Whether the machine is constant above some value: where no penalised feature is used."""
        if self.path_parameter.over == "ray":
            return not self.is_plain and bool(np.all(self.design.om > 0.0))
        return self.path_parameter.over == "lambda1"

    @lazy
    def design(self) -> Design:
        """The rows, with the penalty factors that hold for this parameter."""
        design = self.problem.design
        return design.with_om(np.zeros_like(design.om)) if self.is_plain else design

    def start_at(self, value: float) -> ElasticWalker:
        """A walker at a value, from the machine of a large lambda1."""
        w, lam1, lam2 = self.at(value)
        walker = start(self.design, w, lam2)
        walk_to(walker, lam1)
        walker.begin_line(value, lam1, lam2)
        return walker

    def begin(self, value: float) -> ElasticWalker:
        """A walker at a value; where the machine is constant, at the value where it ceases to be so."""
        if not self.has_top:
            return self.start_at(value)
        walker = self._known_top() or self._walked_top()
        if value < walker.value:
            walker.to(self.line, value, record=False)
        walker.begin_line(walker.value, *self.at(walker.value)[1:])
        return walker

    def _walked_top(self) -> ElasticWalker:
        """A walker where the machine ceases to be constant, by a walk from a larger value."""
        walker = start(self.design, self.problem.s, self.path_parameter.fixed.get("lambda2", 0.0))
        top = walker.lam1 / self.penalties(1.0)["lambda1"]
        walker.begin_line(top, *self.at(top)[1:])
        return leave_constant(walker, self.line)

    def _known_top(self) -> ElasticWalker | None:
        """The same from what the problem knows of it, whatever lambda2 is; None where that does not serve."""
        if self.path_parameter.over != "lambda1" or not (self.design.om > 0.0).all():
            return None
        try:
            point = self.problem.last_constant
        except PathError:
            return None
        b = point.b
        x = np.array([point.value, point.value, self.path_parameter.fixed.get("lambda2", 0.0), b])
        walker = ElasticWalker(self.design, replace(point, x=x))
        if not walker.solve_places(1):
            return None
        put_at_zero(walker, b)
        return walker if walker.gap <= GAP_OF_WALKS else None

    def machine(self, value: float, point: ElasticWalker | Snapshot) -> ElasticSolution:
        """The machine of a point at the value, or at the one where the machine ceases to be constant."""
        beta = np.where(self.design.om > 0.0, 0.0, point.beta) if value > point.value else point.beta
        return self.read(value, point.alpha, beta, point.b)

    def read(self, value: float, alpha: Array, beta: Array, b: float) -> ElasticSolution:
        """The machine with these coefficients."""
        problem = self.problem
        if self.path_parameter.rows is not None or self.is_plain:
            # Nothing of the rows is computed again.
            changed = replace(problem, s=self.at(value)[0], om=self.design.om)
            problem = with_known(changed, design=self.design)
        return ElasticHinge().read(problem, self.penalties(value), alpha, beta, b)

    def solve_alone(self, value: float) -> ElasticSolution:
        """The machine without any walk: as a corner where there is one, else from inside the set of solutions."""
        w, lam1, lam2 = self.at(value)
        point = corner(self.design, w, value, lam1, lam2)
        if point is not None:
            solution = self.machine(value, point)
            if solution.gap <= GAP_OF_WALKS:
                return solution
        inner = solve_directly(self.design, w, lam1, lam2)
        sparse = self.read(value, inner.alpha, np.where(inner.is_used, inner.beta, 0.0), inner.b)
        full = self.read(value, inner.alpha, inner.beta, inner.b)
        return sparse if sparse.gap <= max(GAP_OF_WALKS, full.gap) else full
