"""``svmpath datasets``: generated data to try things on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import show_facts, user_errors
from svmpath.cli.live import Live
from svmpath.cli.machine_options import SeedOption
from svmpath.cli.outputs import check_file, write_table
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption
from svmpath.exceptions import DataError
from svmpath.names import unknown_name

if TYPE_CHECKING:
    import pandas as pd

# Name: columns, target, what it is, and the function of svmpath.datasets.
SETS = {
    "banana": ("2 numbers", "y", "two classes that bend around each other", "banana"),
    "mixture": ("2 numbers", "y", "two classes, each a mixture of ten Gaussians", "gaussian_mixture"),
    "ringnorm": ("20 numbers", "y", "two Gaussians, one around the other", "ringnorm"),
    "twonorm": ("20 numbers", "y", "two Gaussians beside each other", "twonorm"),
    "waveform": ("21 numbers", "y", "two classes of noisy waves", "waveform"),
    "flats": ("mixed", "price or sold", "numbers, words, dates, an identifier and missing values", "flats"),
}
ROWS = 400


def _complete(incomplete: str) -> list[str]:
    return [name for name in SETS if name.startswith(incomplete)]


def datasets(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="banana, mixture, ringnorm, twonorm, waveform or flats; without it, they are listed.",
            autocompletion=_complete,
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", min=2, metavar="N", help="Number of rows.", rich_help_panel="Data")
    ] = ROWS,
    random_state: SeedOption = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="csv file to write; NAME.csv if not given.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the data sets that svmpath can generate, or write one of them to try things on."""
    with user_errors(quiet):
        if name is None:
            _refuse_without_name(context)
            listed = {"sets": [_described(each) for each in SETS]}
            show_facts(listed, _print_list, as_json=as_json, quiet=quiet)
            return
        if name not in SETS:
            raise DataError(unknown_name("NAME", name, SETS))
        path = output or Path(f"{name}.csv")
        check_file(path, ())
        with Live(f"Generating {name}", is_hidden=quiet) as live:
            frame = live.run(lambda: _generate(name, rows, random_state))
            live.stage("Saving")
            write_table(frame, path)
    facts = {**_described(name), "rows": rows, "seed": random_state, "written": [str(path)]}
    target = SETS[name][1]
    show_facts(
        facts, lambda: print(f"Wrote {rows} rows to {path}; the target is {target}."), as_json=as_json, quiet=quiet
    )


def _refuse_without_name(context: typer.Context) -> None:
    """Refuse options that a list has no use for: who gives one wants a file."""
    wanted = {"output": "--output", "rows": "--rows", "random_state": "--seed"}
    source: Callable[[str], Any] = context.get_parameter_source
    given = [option for name, option in wanted.items() if source(name).name != "DEFAULT"]
    if given:
        raise DataError(f"{given[0]} needs the name of the data set to write: {', '.join(SETS)}")


def _described(name: str) -> dict[str, Any]:
    columns, target, what, _ = SETS[name]
    return {"name": name, "columns": columns, "target": target, "description": what}


def _print_list() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "columns", "target", "description", title="Generated data sets", title_justify="left")
    for name, (columns, target, what, _) in SETS.items():
        table.add_row(name, columns, target, what)
    Console(markup=False, highlight=False).print(table)
    print("svmpath datasets NAME -o FILE writes one of them.")


def _generate(name: str, rows: int, seed: int) -> pd.DataFrame:
    """A set as a table."""
    import pandas as pd

    import svmpath.datasets

    make: Callable[..., Any] = getattr(svmpath.datasets, SETS[name][3])
    made = make(rows, random_state=seed)
    if isinstance(made, pd.DataFrame):
        return made
    X, y = made
    return pd.DataFrame(X, columns=[f"x{k + 1}" for k in range(X.shape[1])]).assign(y=y)
