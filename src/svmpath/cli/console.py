"""What the command line says beside its results: errors, notes, and how Ctrl-C ended."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NoReturn

import typer

from svmpath.cli.messages import in_options
from svmpath.exceptions import PathError

INTERRUPTED = 130  # the exit code of a program that Ctrl-C has ended
# Warnings in other words; None for what is said elsewhere (by the notes below the table).
_OWN_WORDS = {
    # One for each step of the pipeline.
    "InconsistentVersionWarning": "the model was written with another version of scikit-learn; tune again to be safe.",
    # One for each gamma, each with its own numbers.
    "IndefiniteKernelWarning": "the kernel is indefinite on these data: the problem is not convex; --psd clip makes it "
    "convex.",
    "LimitWarning": "--time-limit was reached; the model is the best of what was tried by then.",
    "EdgeWarning": None,
    "WeakModelWarning": None,
}
# What a command has to say: the facts, which --json prints, and a function that prints them in words.
Outcome = tuple[Mapping[str, Any], Callable[[], None]]
_is_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a sentence that says what was finished by then."""


@contextmanager
def user_errors(quiet: bool = False) -> Iterator[None]:
    """Turn exceptions into one sentence and an exit code, and warnings into notes; no notes if it is to be quiet."""
    shown, token = warnings.showwarning, _is_quiet.set(quiet)
    warnings.showwarning = _notes_once()
    try:
        yield
    except KeyboardInterrupt as interrupt:
        report_interrupt(interrupt)
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError as error:
        # A matrix that was not made, since it would not have fitted, is named.
        known = str(error).startswith(("The ", "A worker "))
        few = "there is not enough memory for a table of this size; use --rank, or fewer rows or columns"
        _fail(in_options(first_line(error)) if known else few)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _fail(f"{error.strerror or error}{where}")
    except (ValueError, PathError) as error:  # from reading files, or from the estimators
        _fail(in_options(first_line(error)))
    finally:
        warnings.showwarning = shown
        _is_quiet.reset(token)


def show_facts(facts: Mapping[str, Any], words: Callable[[], None], *, as_json: bool, quiet: bool) -> None:
    """Print the results: as JSON if that is asked for, also if it is to be quiet; else in words, by ``words``.

    Whoever closes the pipe does not want them; where they cannot be written, that is an error.
    """
    from svmpath.report.render import to_json

    try:
        if as_json:
            print(to_json(facts), end="", flush=True)
        elif not quiet:
            words()
            print(end="", flush=True)  # also where there is no standard output
    except OSError as error:
        # What is still in the buffer must not fail again when Python ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            _fail(f"the results could not be written to standard output ({error.strerror or error}); run it again")


def report_interrupt(interrupt: BaseException) -> None:
    """Say that Ctrl-C has ended the work, and what was finished."""
    print(str(interrupt) or "Interrupted; nothing was written.", file=sys.stderr)


def note(sentence: str) -> None:
    """Print a remark that is no error."""
    if not _is_quiet.get():
        print(f"Note: {sentence}", file=sys.stderr)


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, or else its name."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def end_sentence(sentence: str, end: str = ".") -> str:
    """The sentence with one full stop; a question keeps its mark.

    Examples
    --------
    >>> from svmpath.cli.console import end_sentence
    >>> end_sentence("No such file"), end_sentence("Did you mean 'hinge'?")
    ('No such file.', "Did you mean 'hinge'?")
    """
    return sentence if sentence.endswith("?") else sentence.rstrip(".") + end


def _fail(sentence: str) -> NoReturn:
    print(f"Error: {end_sentence(sentence)}", file=sys.stderr)
    raise typer.Exit(2) from None


def _notes_once() -> Callable[..., None]:
    """A ``showwarning`` that prints warnings meant for users as notes, each once, and drops the others."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        sentence = _OWN_WORDS.get(category.__name__, in_options(" ".join(str(message).split())))
        if sentence is not None and issubclass(category, UserWarning) and sentence not in printed:
            printed.add(sentence)
            note(sentence)

    return show
