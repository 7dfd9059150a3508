"""``svmpath datasets``: generated data to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live
from svmpath.cli.outputs import check_file, save_table
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

    from svmpath.cli.options import Given

# Name: columns, target, what it is, and the function of svmpath.datasets.
SETS = {
    "banana": ("2 numbers", "y", "two classes that bend around each other", "banana"),
    "mixture": ("2 numbers", "y", "two classes, each a mixture of ten Gaussians", "gaussian_mixture"),
    "ringnorm": ("20 numbers", "y", "two Gaussians, one around the other", "ringnorm"),
    "twonorm": ("20 numbers", "y", "two Gaussians beside each other", "twonorm"),
    "waveform": ("21 numbers", "y", "two classes of noisy waves", "waveform"),
    "flats": ("mixed", "price or sold", "numbers, words, dates, an identifier and missing values", "flats"),
}


def datasets(given: Given) -> Outcome:
    """List the data sets that svmpath can generate, or write one of them to try things on."""
    if given.name is None:
        for name, option in {"output": "--output", "rows": "--rows", "seed": "--seed"}.items():
            if given.context.get_parameter_source(name).name != "DEFAULT":  # whoever gives one wants a file
                raise DataError(f"{option} needs the name of the data set to write: {', '.join(SETS)}")
        return {"sets": [_described(each) for each in SETS]}, _print_list
    path = given.output or Path(f"{given.name}.csv")
    check_file(path, ())
    with Live(f"Generating {given.name}", is_hidden=given.quiet) as live:
        frame = live.run(lambda: _generate(given.name, given.rows, given.seed))
        written = save_table(frame, path, live)
    facts = {**_described(given.name), "rows": given.rows, "seed": given.seed, "written": written}
    return facts, lambda: print(f"Wrote {given.rows} rows to {path}; the target is {facts['target']}.")


def _described(name: str) -> dict[str, Any]:
    return {"name": name, **dict(zip(("columns", "target", "description"), SETS[name], strict=False))}


def _print_list() -> None:
    from svmpath.cli.results import print_table

    heads = ("name", "columns", "target", "description")
    how = "svmpath datasets NAME -o FILE writes one of them."
    print_table("Generated data sets", [list(_described(name).values()) for name in SETS], how, heads=heads)


def _generate(name: str, rows: int, seed: int) -> pd.DataFrame:
    """A set as a table."""
    import pandas as pd

    import svmpath.datasets

    drawn = getattr(svmpath.datasets, SETS[name][3])(rows, random_state=seed)
    if isinstance(drawn, pd.DataFrame):
        return drawn
    X, y = drawn
    return pd.DataFrame(X, columns=[f"x{k + 1}" for k in range(X.shape[1])]).assign(y=y)
