"""The program ``svmpath``: its commands, ``--version``, and the exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from svmpath.cli.compile import compile_engines
from svmpath.cli.console import INTERRUPTED, end_sentence, report_interrupt
from svmpath.cli.predict import predict
from svmpath.cli.tune import tune
from svmpath.interrupts import workers_left

app = typer.Typer(
    name="svmpath",
    help="Tune support vector machines by following the path, not by searching a grid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(tune)
app.command()(predict)
app.command("compile")(compile_engines)


def _print_version(wanted: bool) -> None:
    if wanted:
        from svmpath import __version__

        print(f"svmpath {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code: 0, 2 for errors the user can correct, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show must not end the work
    code = _run(lambda: app(args=arguments, prog_name="svmpath", standalone_mode=False))
    if code == INTERRUPTED and workers_left():
        # They stop at their next checkpoint, which may be seconds away; the program does not wait for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run(command: Callable[[], Any]) -> int:
    """The exit code of a command; an unknown option or command is reported in one sentence, too."""
    try:
        code = command()
    except KeyboardInterrupt:
        report_interrupt()
        return INTERRUPTED
    except Exception as error:
        # The exceptions of click, whichever copy of it typer brings along.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if not message.startswith("Usage:"):  # which is the answer to a bare svmpath
            name = getattr(getattr(error, "ctx", None), "command_path", None) or "svmpath"
            message = f"Error: {end_sentence(' '.join(message.split()), f'; see {name} --help.')}"
        print(message, file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0
