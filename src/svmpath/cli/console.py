"""What the command line says while and after it works: errors, notes and progress."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from svmpath.cli.options import in_options
from svmpath.exceptions import PathError

INTERRUPTED = 130  # the exit code of a program that Ctrl-C has ended
# Warnings in other words; None for what is said elsewhere (EdgeWarning: by the notes below the table).
_OWN_WORDS = {
    # One for each step of the pipeline.
    "InconsistentVersionWarning": "the model was written with another version of scikit-learn; tune again to be safe.",
    # One for each gamma, each with its own numbers.
    "IndefiniteKernelWarning": "the kernel is indefinite on these data: the problem is not convex; --psd clip makes it "
    "convex.",
    "LimitWarning": "--time-limit was reached; the model is the best of what was tried by then.",
    "EdgeWarning": None,
}


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn exceptions into one sentence and an exit code, and warnings into notes."""
    shown = warnings.showwarning
    warnings.showwarning = _notes_once()
    try:
        yield
    except KeyboardInterrupt:
        report_interrupt()
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError as error:
        known = str(error).startswith("The ")  # a matrix that was not made, since it would not have fitted
        few = "there is not enough memory for a table of this size; use --rank, or fewer rows or columns"
        _fail(in_options(first_line(error)) if known else few)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _fail(f"{error.strerror or error}{where}")
    except (ValueError, PathError) as error:  # from reading files, or from the estimators
        _fail(in_options(first_line(error)))
    finally:
        warnings.showwarning = shown


@contextmanager
def ignore_closed_output() -> Iterator[None]:
    """Print the results: the files are written by now, and a closed pipe or a full disk does not undo that."""
    try:
        yield
    except OSError:
        # What is still in the buffer must not fail again when Python ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_interrupt() -> None:
    """Say that Ctrl-C has ended the work."""
    print("Interrupted; nothing was written.", file=sys.stderr)


def note(sentence: str) -> None:
    """Print a remark that is no error."""
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


class ProgressBar:
    """A bar on the terminal for work that lasts longer than `delay` seconds; nothing where stderr is no terminal.

    It is also the function the estimators call: ``progress(done, total)``.
    """

    def __init__(self, description: str, delay: float = 1.0, is_hidden: bool = False) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task(description, total=None)
        self._lock = threading.Lock()
        self._description, self._parts = description, ""
        self._over = is_hidden or not console.is_terminal
        # A timer, because the first report of the estimator may come late.
        self._timer = threading.Timer(delay, self._show)
        self._timer.daemon = True

    def __enter__(self) -> ProgressBar:
        if not self._over:
            self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar.live.is_started:  # stopping a bar that was never shown would print an empty line
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._bar.start()

    def stage(self, description: str, parts: str = "") -> None:
        """Begin another piece of work; `parts` is the word for what it consists of."""
        self._description, self._parts = description, parts
        self._bar.update(self._task, description=description, total=None, completed=0)

    def __call__(self, done: int, total: int) -> None:
        """Report that `done` of `total` parts are done."""
        at = f", {self._parts} {min(done + 1, total)} of {total}" if self._parts else ""
        self._bar.update(self._task, description=self._description + at, completed=done, total=total)
