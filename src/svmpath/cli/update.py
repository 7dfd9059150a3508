"""``svmpath update`` and ``svmpath forget``: a saved model with more training rows, or with fewer.

Hyper-parameters and the preparation of the columns stay as they were tuned; see ``PathSVC.add`` and ``PathSVC.forget``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live
from svmpath.cli.outputs import check_file, save
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.options import Given


def update(given: Given) -> Outcome:
    """Add the rows of a file to those that a saved model was fitted to; C, gamma and the columns stay."""
    if str(given.data) == "-":
        raise DataError("DATA is read twice, and cannot be standard input; give the name of a file")
    return _changed(given, lambda pipeline: _add(pipeline, given.data, given.format), (given.data,))


def forget(given: Given) -> Outcome:
    """Take rows out of those that a saved model was fitted to, as if its machine had never seen them."""
    rows = read_rows_to_forget(given.rows)
    return _changed(given, lambda pipeline: pipeline["model"].forget(rows), ())


def read_rows_to_forget(text: str) -> list[int]:
    """Positions counted from 0 of rows counted from 1, such as 3,17-20.

    Examples
    --------
    >>> from svmpath.cli.update import read_rows_to_forget
    >>> read_rows_to_forget("3,17-20")
    [2, 16, 17, 18, 19]
    """
    found = list[int]()
    for part in text.split(","):
        first, dash, last = (each.strip() for each in part.partition("-"))
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            raise DataError(f"--rows must be numbers from 1 on, or ranges, such as 3,17-20, not {part.strip()!r}")
        found.extend(range(int(first) - 1, int(last)))
    return found


def _changed(given: Given, change: Callable[[Any], Any], inputs: tuple[Path, ...]) -> Outcome:
    """Read the model, change it and write it, to its own file unless another is given."""
    from svmpath.cli.saved_model import read_model, training_data, write_model

    output = given.model if given.output is None else given.output
    check_file(output, inputs, kind="a skops file")

    def work() -> tuple[Any, dict[str, Any]]:
        pipeline = read_model(given.model)
        model = pipeline["model"]
        if not hasattr(model, "forget"):
            raise DataError(f"{given.model.name}: a {type(model).__name__} keeps its rows; tune again")
        before = model.path_.problem.n
        live.stage("Changing the machine")
        try:
            change(pipeline)
        except ValueError as error:
            raise DataError(f"{given.model.name}: {error}") from error
        now = {"rows_before": before, "rows": model.path_.problem.n, "violation": model._machines.violation}
        return pipeline, now | {"held_out_error": model.held_out_error()}

    with Live(f"Reading {given.model.name}", is_hidden=given.quiet) as live:
        pipeline, facts = live.run(work)
        facts["written"] = save({output: partial(write_model, pipeline, training_data(pipeline))}, live)
    return facts, lambda: print(
        f"Wrote {output}: {facts['rows']} rows, before {facts['rows_before']}; held-out error "
        f"{facts['held_out_error']:.6g}. The summary and the report of the old rows stay as they were."
    )


def _add(pipeline: Any, data: Path, data_format: str | None) -> None:
    """Add the rows of a file, with the columns as the model prepares them."""
    import numpy as np

    from svmpath.cli.new_rows import read_rows
    from svmpath.cli.saved_model import training_data
    from svmpath.datasets import read_table

    trained, model = training_data(pipeline), pipeline["model"]
    how = trained.get("options") or {}
    weight, group = how.get("weight_column"), how.get("group_column")
    table = read_table(data, trained["target"], format=data_format, task=trained["task"], weight=weight, group=group)
    X = read_rows(pipeline, data, data_format).X
    X = X.iloc[table.rows] if hasattr(X, "iloc") else X[table.rows]
    y = table.y
    if trained["task"] == "classification":
        y = np.array([_known(each, model.classes_.tolist(), data.name) for each in y.tolist()])
    model.add(pipeline[:-1].transform(X), y, table.weights, table.groups)


def _known(label: Any, classes: list[Any], name: str) -> Any:
    """The class that a cell stands for; of a few rows, words can look like numbers, and so on."""
    for each in classes:
        if each == label or str(each) == str(label) or (isinstance(label, float) and str(each) == f"{label:g}"):
            return each
    raise DataError(f"{name}: the model does not know the label {label!r}; tune again with all rows")
