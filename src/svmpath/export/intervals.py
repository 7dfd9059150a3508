"""Prediction intervals as ONNX nodes: those of ``predict_interval``, by all machines that have not seen some row.

For a new row x, the machines f^(-i) without training row i, and r_i, how far y_i is outside (``criteria.conformal``),

    [-q(r_i - f^(-i)(x)),  q(f^(-i)(x) + r_i)],      q(v) the ceil((1 - alpha) (n + 1))-th smallest of v.

f^(-i)(x) = sum_j a_ji k(x, x_j) + b_i for all i is one product of matrices, n numbers for each machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.conformal import entry_weights, needed, residuals_of
from svmpath.export.graph import Graph
from svmpath.export.nodes import EXPANSIONS
from svmpath.validation import check_coverage

_MOST_NUMBERS = 1 << 27  # a gigabyte; ONNX files end at two


def interval_nodes(graph: Graph, model: Any, x: str, coverage: float) -> str:
    """Lower and upper ends, of shape (m, 2), of rows x as the machine takes them."""
    known, coverage = model._held_out, check_coverage(coverage)
    is_quantile = known.machines.paths[0].loss.level == "quantile"
    left_out = known.between(coverage) if is_quantile else known.left_out()
    weights, beyond = entry_weights(left_out, known.weight), residuals_of(left_out, known.labels)
    count = int(np.ceil(needed(weights, coverage)))
    if not np.all(weights == 1.0):
        raise ValueError(
            "ONNX graphs have no intervals of rows with different weights; use predict_interval in Python."
        )
    if count > len(beyond):
        raise ValueError(f"interval={coverage!r} needs more than {len(beyond)} training rows: the ends are infinite.")
    machines, of_entry = left_out.functions()
    if machines.alpha.size > _MOST_NUMBERS:
        raise ValueError(
            f"interval={coverage!r} takes {machines.alpha.size} coefficients, one for each of {len(machines.b)} "
            f"machines and each row, but there is room for {_MOST_NUMBERS}: use criterion='kfold', or fewer rows."
        )
    form = machines.gram.expansion(machines.alpha, machines.w)
    f = graph.affine(EXPANSIONS[type(form)](graph, form, x), shift=machines.b)
    ends = [graph.columns(f, places) for places in of_entry.T]
    low, high = (ends[0] if len(ends) == 1 else graph.node(op, *ends) for op in ("Min", "Max"))
    sides = [graph.affine(low, np.full(len(beyond), -1.0), beyond), graph.affine(high, shift=beyond)]
    size = graph.constant(np.array([count]))
    smallest = [graph.node("TopK", side, size, others=1, axis=1, largest=0, sorted=1) for side in sides]
    lower, upper = (graph.columns(values, [count - 1]) for values in smallest)
    return graph.node("Concat", graph.affine(lower, np.full(1, -1.0)), upper, axis=1)
