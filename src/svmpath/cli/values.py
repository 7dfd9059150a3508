"""How the text of an option is read: each function takes the option, its text and the names that it accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svmpath.exceptions import DataError
from svmpath.names import did_you_mean, unknown_name

if TYPE_CHECKING:
    from svmpath.ranges import Range

FOLDS = 5  # where --cv is not given
_INFINITY = float("inf")
_AMOUNT = "a number >= 0"


def check_name(option: str, text: str | None, names: Sequence[str]) -> str | None:
    """The text if the option accepts it; otherwise an error that lists the possible names and the nearest one."""
    if option.startswith("--kernel") and text == "precomputed":
        raise DataError(f"{option} precomputed needs kernel values; in Python, use PathSVC(kernel='precomputed')")
    if text is not None and text not in names:
        raise DataError(unknown_name(option, text, names))
    return text


def read_names(option: str, text: str | Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """The names in a list with commas, or in several arguments, each once.

    Examples
    --------
    >>> from svmpath.cli.values import read_names
    >>> read_names("--kernels", "rbf, linear,rbf", ("rbf", "linear")), read_names("--kernels", None, ())
    (['rbf', 'linear'], [])
    """
    parts = text.split(",") if isinstance(text, str) else text or ()
    given = list(dict.fromkeys(name.strip() for name in parts if name.strip()))
    for name in given:
        check_name(option, name, names)
    return given


def to_number(text: str) -> float:
    """The number; NaN, which is in no range, if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def read_tried(
    option: str, text: str, words: Sequence[str], least: str = "a positive number"
) -> str | float | Range | list[float]:
    """What is tried: one of a few words, a positive number, a range LOW:HIGH, or candidates with commas between them.

    Examples
    --------
    >>> from svmpath.cli.values import read_tried
    >>> [read_tried("--C", text, ("tune",)) for text in ("tune", "2", "0.1:10", "0.1,1,10")]
    ['tune', 2.0, Range(0.1, 10), [0.1, 1.0, 10.0]]
    """
    if text in words:
        return text
    is_list = "," in text
    values = [to_number(part) for part in text.split("," if is_list else ":")]
    is_range = len(values) > 1 and not is_list  # in the logarithm, which zero has none of
    may_be_zero = least == _AMOUNT and not is_range
    is_allowed = all((value > 0 or (value == 0 and may_be_zero)) and value < _INFINITY for value in values)
    if not is_allowed or (is_range and len(values) > 2):
        raise DataError(
            f"{option} must be {', '.join(words)}, {least}, a list such as 0.1,1,10 or LOW:HIGH, not "
            f"{text!r}.{did_you_mean(text, words)}"
        )
    if not is_range:
        return values if is_list else values[0]
    if not values[0] < values[1]:
        raise DataError(f"{option} LOW:HIGH needs LOW smaller than HIGH, not {text!r}")
    from svmpath.ranges import Range

    return Range(values[0], values[1])


def read_level(option: str, text: str | None, words: Sequence[str] = ()) -> float | list[float] | None:
    """The value of an option that is a number between 0 and 1, or several of them; None if it is not given.

    Examples
    --------
    >>> from svmpath.cli.values import read_level
    >>> [read_level("--quantile", text) for text in ("0.9", "0.05,0.5,0.95", None)]
    [0.9, [0.05, 0.5, 0.95], None]
    """
    if text is None:
        return None
    values = [to_number(part) for part in text.split(",")]
    if not all(0.0 < value < 1.0 for value in values) or len(set(values)) < len(values):
        raise DataError(
            f"{option} must be a number between 0 and 1, such as 0.9, or different ones, such as 0.05,0.5,0.95, not "
            f"{text!r}"
        )
    return values if len(values) > 1 else values[0]


def read_tuned(option: str, text: str | None, words: Sequence[str] = ("tune",)) -> str | float | Range | list[float]:
    """The same of a parameter that may be zero; "tune" if it is not given.

    Examples
    --------
    >>> from svmpath.cli.values import read_tuned
    >>> [read_tuned("--epsilon", text) for text in (None, "0", "0,0.1", "0.01:1")]
    ['tune', 0.0, [0.0, 0.1], Range(0.01, 1)]
    """
    return "tune" if text is None else read_tried(option, text, words, _AMOUNT)


def read_fixed(option: str, text: str, words: Sequence[str]) -> str | float:
    """One of a few words, or a positive number."""
    value = text if text in words else to_number(text)
    if isinstance(value, float) and not 0 < value < _INFINITY:
        raise DataError(
            f"{option} must be {', '.join(words)} or a positive number, not {text!r}.{did_you_mean(text, words)}"
        )
    return value


def read_rank(option: str, text: str, words: Sequence[str]) -> int | float | str | None:
    """A number of landmarks, a target for the residual, None for exact, or "auto"."""
    if text in words:
        return None if text == "exact" else text
    value = int(text) if text.strip().isdecimal() else to_number(text)
    if value >= 1 if isinstance(value, int) else 0 < value < 1:
        return value
    raise DataError(
        f"{option} must be exact, auto, a whole number of landmarks or a residual between 0 and 1, not {text!r}."
        f"{did_you_mean(text, words)}"
    )


def read_threshold(option: str, text: str | None, words: Sequence[str]) -> float | str:
    """A cut of the decision value, or "tune"."""
    if text is None or text in words:
        return text or 0.0
    value = to_number(text)
    if not abs(value) < _INFINITY:
        raise DataError(f"{option} must be tune or a number, not {text!r}.{did_you_mean(text, words)}")
    return value


def read_scoring(option: str, text: str | None, words: Sequence[str]) -> str | None:
    """The name of a scorer that scikit-learn knows."""
    if text is None:
        return None
    from svmpath.criteria.scoring import scorer_names

    names = scorer_names()
    if text not in names:
        raise DataError(
            f"{option} must be the name of a scikit-learn scorer, such as accuracy, f1 or r2, not {text!r}."
            f"{did_you_mean(text, names)}"
        )
    return text


def read_folds(option: str, number: int | None, words: Sequence[str]) -> int:
    """The number of folds."""
    return FOLDS if number is None else number


def read_size(option: str, text: str | None, words: Sequence[str]) -> str | None:
    """A number of bytes as it was written, such as 4GiB, if it can be read."""
    if text is None:
        return None
    from svmpath.gram.memory import parse_bytes

    try:
        parse_bytes(text)
    except ValueError:
        raise DataError(f"{option} must be a number of bytes, such as 4GiB or 500MB, not {text!r}") from None
    return text


def read_span(option: str, text: str | None, words: Sequence[str]) -> tuple[float, float] | None:
    """The first and the last value of a path."""
    if text is None:
        return None
    try:
        first, last = (float(part) for part in text.split(":"))
    except ValueError:
        raise DataError(f"{option} must be FROM:TO, such as 0.01:100, not {text!r}") from None
    return first, last


def read_values(option: str, text: str, words: Sequence[str]) -> int | str | list[float]:
    """A number of values, "breakpoints", or the values."""
    if text in words:
        return text
    if text.strip().isdecimal() and int(text) >= 1:
        return int(text)
    values: list[Any] = [to_number(part) for part in text.split(",") if part.strip()]
    if any(sign in text for sign in ",.e") and all(value == value for value in values):
        return values
    raise DataError(
        f"{option} must be a number of values, breakpoints, or a list such as 0.1,1,10, not {text!r}."
        f"{did_you_mean(text, words)}"
    )
