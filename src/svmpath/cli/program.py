"""The program ``svmpath``: its commands, ``--version``, and the exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from svmpath.cli.compare import compare
from svmpath.cli.compile import compile_engines
from svmpath.cli.console import INTERRUPTED, Outcome, end_sentence, report_interrupt, show_facts, user_errors
from svmpath.cli.datasets import datasets
from svmpath.cli.examples import EXAMPLES
from svmpath.cli.export import export
from svmpath.cli.help import Command, Group
from svmpath.cli.messages import in_options
from svmpath.cli.novelty import novelty
from svmpath.cli.options import Given, read_options, signature_of
from svmpath.cli.outputs import check_inputs
from svmpath.cli.path import path
from svmpath.cli.predict import predict
from svmpath.cli.report import report
from svmpath.cli.select import select
from svmpath.cli.tune import tune
from svmpath.cli.update import forget, update
from svmpath.exceptions import DataError
from svmpath.interrupts import workers_left
from svmpath.names import did_you_mean

app = typer.Typer(
    name="svmpath",
    cls=Group,
    help="Tune support vector machines by following the path, not by searching a grid.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)
# In the order in which --help lists them.
COMMANDS: dict[str, Callable[[Given], Outcome]] = {
    "tune": tune,
    "predict": predict,
    "update": update,
    "forget": forget,
    "compare": compare,
    "select": select,
    "novelty": novelty,
    "path": path,
    "report": report,
    "export": export,
    "datasets": datasets,
    "compile": compile_engines,
}


def _with_options(name: str, command: Callable[[Given], Outcome]) -> Callable[..., None]:
    """A command as typer takes it: its parameters are its options; it reads them, works, and shows the outcome."""

    def run(context: typer.Context, **texts: Any) -> None:
        with user_errors(texts["quiet"]):
            given = read_options(name, context, texts)
            check_inputs(given)
            facts, words = command(given)
        show_facts(facts, words, as_json=texts["json"], quiet=texts["quiet"])

    run.__doc__ = command.__doc__
    vars(run)["__signature__"] = signature_of(name)
    return run


def _epilog(examples: tuple[str, ...]) -> str:
    """The examples below a --help, one on each line; an empty line ends a line there."""
    title = "[bold]Example[/bold]" if len(examples) == 1 else "[bold]Examples[/bold]"
    return "\n\n".join([title, *examples])


for _name, _command in COMMANDS.items():
    app.command(_name, cls=Command, epilog=_epilog(EXAMPLES[_name]))(_with_options(_name, _command))


def _print_version(wanted: bool) -> None:
    if wanted:
        from svmpath import __version__

        print(f"svmpath {__version__}")
        raise typer.Exit()


@app.callback(epilog=_epilog(("svmpath datasets flats -o flats.csv", "svmpath tune flats.csv --target price")))
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
    if code == INTERRUPTED and (workers_left() or arguments is None):
        # Workers stop at their next checkpoint, which may be seconds away, and a program takes a while to unload what
        # it has loaded; whoever has pressed Ctrl-C need not wait for that. Nothing is half-written by now.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run(command: Callable[[], Any]) -> int:
    """The exit code of a command; an unknown option or command is reported in one sentence, too."""
    try:
        code = command()
    except KeyboardInterrupt as interrupt:
        report_interrupt(interrupt)
        return INTERRUPTED
    except DataError as error:  # from a configuration file, which is read before the command begins
        print(f"Error: {end_sentence(in_options(str(error)))}", file=sys.stderr)
        return 2
    except Exception as error:
        # The exceptions of click, whichever copy of it typer brings along.
        if not hasattr(error, "format_message"):
            raise
        print(_usage_error(error), file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0


def _usage_error(error: Any) -> str:
    """An error of the command line itself, in one sentence."""
    message = error.format_message()
    if message.lstrip().startswith("Usage:") or not message.strip():  # the answer to a bare svmpath
        return str(message)
    context = getattr(error, "ctx", None)
    name = getattr(context, "command_path", None) or "svmpath"
    wrong = getattr(error, "option_name", None)
    if wrong and context is not None and hasattr(error, "possibilities"):
        known = [each for option in context.command.params for each in (*option.opts, *option.secondary_opts)]
        message = f"there is no option {wrong}.{did_you_mean(wrong, (each for each in known if each.startswith('-')))}"
    return f"Error: {end_sentence(' '.join(message.split()), f'; see {name} --help.')}"
