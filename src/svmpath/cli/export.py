"""``svmpath export``: a saved model as an ONNX graph."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live
from svmpath.cli.outputs import check_file, save
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.options import Given


def export(given: Given) -> Outcome:
    """Write a saved model as an ONNX graph, which many programs run without Python."""
    check_file(given.onnx, (given.model,), "ONNX", "an onnx file")
    with Live(f"Reading {given.model.name}", is_hidden=given.quiet) as live:
        content, facts = live.run(lambda: _graph(given, live))
        facts["written"] = save({given.onnx: lambda path: Path.write_bytes(path, content)}, live)
    inputs = ", ".join(each["name"] for each in facts["inputs"])
    return facts, lambda: print(f"Wrote {given.onnx}; inputs: {inputs}; outputs: {', '.join(facts['outputs'])}.")


def _graph(given: Given, live: Live) -> tuple[bytes, dict[str, Any]]:
    """The graph as bytes, and its inputs and outputs."""
    import numpy as np

    from svmpath.cli.saved_model import read_model
    from svmpath.export import to_onnx

    pipeline = read_model(given.model)
    live.stage("Making the graph")
    dtype = np.float32 if given.single else np.float64
    try:
        steps, types = _convertible(pipeline, dtype)
        graph = to_onnx(steps, dtype=dtype, initial_types=types)
    except ImportError as error:
        raise DataError(str(error)) from error
    except (NotImplementedError, RuntimeError) as error:
        raise DataError(f"{given.model.name}: skl2onnx cannot convert a step of the model ({error})") from error
    kinds = {1: "float32", 8: "string", 11: "float64"}
    inputs = [{"name": each.name, "type": kinds[each.type.tensor_type.elem_type]} for each in graph.graph.input]
    return graph.SerializeToString(), {"inputs": inputs, "outputs": [each.name for each in graph.graph.output]}


def _missing(graph: Any, step: Any, x: str) -> dict[str, str]:
    """1 where a cell of some columns is NaN."""
    return {"columns": graph.columns(graph.cast(graph.node("IsNaN", x), "DOUBLE"), step.features_)}


def _filled(graph: Any, step: Any, x: str) -> dict[str, str]:
    return {"columns": graph.node("Where", graph.node("IsNaN", x), graph.constant(step.statistics), x)}


def _part(name: str, step: Any) -> Any:
    """A step for some columns, without imputers. ONNX has no missing words: give the word that stands for them."""
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import Filled

    if name == "categories":
        return step["encoder"]
    if name == "missing":
        return step
    return Pipeline([("impute", Filled(step["impute"].statistics_.astype(float))), ("scale", step["scale"])])


def _convertible(pipeline: Any, dtype: Any) -> tuple[Any, list[tuple[str, Any]] | None]:
    """The steps after reading, which takes values instead of text, and the inputs: one per column that has a name."""
    import numpy as np
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import Filled, MissingCells, recipes_of
    from svmpath.export.converters import Converter, register

    columns, recipes = pipeline["columns"], recipes_of(pipeline["columns"])
    if isinstance(recipes, int):
        return pipeline, None
    register(MissingCells, Converter(_missing, lambda step: {"columns": [None, len(step.features_)]}))
    register(Filled, Converter(_filled, lambda step: {"columns": [None, len(step.statistics)]}))
    dates = [name for name, recipe in recipes.items() if recipe["kind"] == "date"]
    if dates:
        raise DataError(f"ONNX has no calendar, but the model reads dates ({dates[0]!r}); tune with --drop {dates[0]}")
    encode = copy(columns["encode"])
    encode.transformers_ = [(name, _part(name, step), names) for name, step, names in encode.transformers_]
    number = FloatTensorType if dtype == np.float32 else DoubleTensorType
    kinds = {name: StringTensorType if recipe["kind"] == "category" else number for name, recipe in recipes.items()}
    return Pipeline([("encode", encode), ("model", pipeline["model"])]), [
        (name, kind([None, 1])) for name, kind in kinds.items()
    ]
