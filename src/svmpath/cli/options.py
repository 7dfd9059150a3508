"""The options of ``svmpath tune``: possible names, how their text is read, and messages in terms of options.

An option ``--some-name`` sets the parameter ``some_name`` of the estimators. Their messages are about parameters
("n_jobs must be None, ..."), but users of the command line know the options, so :func:`in_options` translates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from svmpath.cli.machine_options import FOLDS
from svmpath.exceptions import DataError
from svmpath.names import did_you_mean, unknown_name

_PARAMETERS = (
    "loss", "epsilon", "kernel", "degree", "coef0", "gamma", "C", "criterion", "cv", "search", "rank", "landmarks",
    "psd", "class_weight", "scoring", "threshold", "n_jobs", "time_limit", "memory_limit",
)  # fmt: skip
# The option for each parameter of the estimators; n_splits is what scikit-learn's splitters call the number of folds.
OPTIONS = {name: "--" + name.replace("_", "-") for name in _PARAMETERS} | {"n_splits": "--cv", "random_state": "--seed"}


# ----------------------------------------------------------------------------------------------------
# Names
# ----------------------------------------------------------------------------------------------------


def names_for(option: str) -> tuple[str, ...]:
    """The names that an option accepts: those in the tables of the library that work for a data file."""
    from svmpath.cli.honest import NAMES
    from svmpath.estimators.tuning import SEARCHES
    from svmpath.gram import LANDMARKS, PSD
    from svmpath.kernels import KERNELS
    from svmpath.losses import loss_names
    from svmpath.validation import TASKS

    possible = {
        "--task": TASKS,
        "--loss": tuple(dict.fromkeys(name for task in TASKS for name in loss_names(task, "C"))),
        "--kernel": tuple(name for name in KERNELS if name != "precomputed"),
        "--criterion": ("auto", "loo", "alo", "kfold"),  # one for each way of holding samples out
        "--search": SEARCHES,
        "--landmarks": LANDMARKS,
        "--psd": PSD,
        "--honest": NAMES,
    }
    return possible[option]


def check_name(option: str, text: str) -> str:
    """The text if the option accepts it; otherwise an error that lists the possible names and the nearest one."""
    if option == "--kernel" and text == "precomputed":
        raise DataError("--kernel precomputed needs kernel values; in Python, use PathSVC(kernel='precomputed')")
    possible = names_for(option)
    if text not in possible:
        raise DataError(unknown_name(option, text, possible))
    return text


# ----------------------------------------------------------------------------------------------------
# Numbers
# ----------------------------------------------------------------------------------------------------


def read_number_or_span(option: str, text: str, words: tuple[str, ...]) -> str | float | tuple[float, float]:
    """The value of an option that is one of a few words, a positive number, or a span LOW:HIGH."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(":")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 2 or not all(0 < value < float("inf") for value in values):
        raise DataError(
            f"{option} must be {', '.join(words)}, a positive number or LOW:HIGH, not {text!r}."
            f"{did_you_mean(text, words)}"
        )
    if len(values) == 1:
        return values[0]
    if not values[0] < values[1]:
        raise DataError(f"{option} LOW:HIGH needs LOW smaller than HIGH, not {text!r}")
    return values[0], values[1]


def read_tuned(option: str, text: str | None) -> str | float:
    """The value of an option that is a number, not negative, or "tune"."""
    if text is None or text == "tune":
        return "tune"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise DataError(f"{option} must be tune or a number >= 0, not {text!r}.{did_you_mean(text, ['tune'])}")
    return value


def read_rank(text: str) -> int | float | str | None:
    """A number of landmarks, a target for the residual, None for exact, or "auto"."""
    if text in ("exact", "auto"):
        return None if text == "exact" else text
    try:
        value: int | float = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        value = 0
    if (isinstance(value, int) and value >= 1) or (isinstance(value, float) and 0 < value < 1):
        return value
    raise DataError(
        f"--rank must be exact, auto, a whole number of landmarks or a residual between 0 and 1, not {text!r}."
        f"{did_you_mean(text, ['exact', 'auto'])}"
    )


def read_threshold(text: str | None) -> float | str:
    """A cut of the decision value, or "tune"."""
    if text is None or text == "tune":
        return text or 0.0
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if abs(value) < float("inf"):
        return value
    raise DataError(f"--threshold must be tune or a number, not {text!r}.{did_you_mean(text, ['tune'])}")


def read_scoring(text: str | None) -> str | None:
    """The name of a scorer that scikit-learn knows."""
    if text is None:
        return None
    from svmpath.criteria.scoring import scorer_names

    names = scorer_names()
    if text not in names:
        raise DataError(
            f"--scoring must be the name of a scikit-learn scorer, such as accuracy, f1 or r2, not {text!r}."
            f"{did_you_mean(text, names)}"
        )
    return text


def read_size(option: str, text: str) -> str:
    """A number of bytes as it was written, such as 4GiB, if it can be read."""
    from svmpath.gram.memory import parse_bytes

    try:
        parse_bytes(text)
    except ValueError:
        raise DataError(f"{option} must be a number of bytes, such as 4GiB or 500MB, not {text!r}") from None
    return text


_READERS: dict[str, Callable[[Any], Any]] = {
    "loss": lambda text: None if text is None else check_name("--loss", text),
    "epsilon": partial(read_tuned, "--epsilon"),
    "kernel": partial(check_name, "--kernel"),
    "gamma": lambda text: read_number_or_span("--gamma", text, ("tune", "scale", "auto", "ard")),
    "C": lambda text: read_number_or_span("--C", text, ("tune",)),
    "criterion": partial(check_name, "--criterion"),
    "cv": lambda number: FOLDS if number is None else number,
    "scoring": read_scoring,
    "threshold": read_threshold,
    "search": partial(check_name, "--search"),
    "rank": read_rank,
    "landmarks": lambda text: None if text is None else check_name("--landmarks", text),
    "psd": partial(check_name, "--psd"),
    "memory_limit": lambda text: None if text is None else read_size("--memory-limit", text),
}


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator from what options were given, by the name of the parameter; others are left out.

    Examples
    --------
    >>> from svmpath.cli.options import read_settings
    >>> read_settings({"gamma": "0.1:10", "rank": "exact", "data": "flats.csv"})
    {'gamma': (0.1, 10.0), 'rank': None}
    """
    return {
        name: _READERS.get(name, lambda value: value)(given[name])
        for name in OPTIONS
        if name in given and name != "class_weight"  # which needs the labels
    }


# ----------------------------------------------------------------------------------------------------
# Messages
# ----------------------------------------------------------------------------------------------------

_NAME = "|".join(OPTIONS)
_WORDS = r"'[^']*'(?:(?:,|,?\ or|,?\ and)\ '[^']*')*"
_MENTION = re.compile(
    rf"""
    (?P<call>\b\w+\([^()]*\))                                # RBF(gamma=1.0) is Python and stays
    | \b(?P<set>{_NAME})=(?P<value>{_WORDS}|[\w.+-]*\w)      # loss='hinge' or 'squared_hinge'
    | The\ '(?P<quoted>{_NAME})'\ parameter\ of\ \w+         # "The 'cv' parameter of PathSVC must be": scikit-learn's
    | (?P<before>^|[:;,.]\ |\bvalue\ of\ )                   # "n_jobs must be None", "Each value of C must be"
      (?P<subject>{_NAME})(?=\ (?:must|cannot|is\ an\ empty)\ )(?P<none>\ must\ be\ None)?
    """,
    re.VERBOSE,
)

# Advice that helps in Python only, and what helps on the command line.
_PYTHON_ONLY = re.compile(r"make_scorer\(\.\.\., pos_label=.*?\)")
_INSTEAD = "a score that needs none, such as f1_macro or balanced_accuracy"


def in_options(message: str) -> str:
    """A message about parameters, translated into one about options; the same words in another meaning stay.

    Examples
    --------
    >>> from svmpath.cli.options import in_options
    >>> in_options("n_jobs must be None or a number of threads, got 0.")
    '--n-jobs must be left out or a number of threads, got 0.'
    >>> in_options("loss='hinge' goes with criterion='loo' or 'alo'; the kernel is of no importance.")
    '--loss hinge goes with --criterion loo or alo; the kernel is of no importance.'
    """
    return _PYTHON_ONLY.sub(_INSTEAD, _MENTION.sub(_as_option, message))


def _as_option(found: re.Match[str]) -> str:
    part: dict[str, Any] = found.groupdict()
    if part["call"]:
        return found[0]
    if part["set"]:
        option = OPTIONS[part["set"]]
        return _unset(option) if part["value"] == "None" else f"{option} {part['value'].replace(chr(39), '')}"
    if part["quoted"]:
        return OPTIONS[part["quoted"]]
    option = OPTIONS[part["subject"]]
    none = f" must be {'exact' if option == '--rank' else 'left out'}" if part["none"] else ""
    return f"{part['before']}{option}{none}"


def _unset(option: str) -> str:
    """What the estimators call None."""
    return "--rank exact" if option == "--rank" else f"no {option}"
