"""Names that are not known, and the nearest one that is."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.6  # similarity, from 0 to 1, from which on a name is proposed: a letter or two are wrong


def unknown_name(what: str, given: object, possible: Iterable[str], other: str = "") -> str:
    """One sentence that says which names are possible, and a question where one of them is probably meant.

    Parameters
    ----------
    what : str
        The option as the user wrote it: ``"kernel"``, ``"--loss"``.
    given : object
        What came.
    possible : iterable of str
    other : str, optional
        What is possible beside the names, ``"a kernel object or function"`` say.

    Examples
    --------
    >>> from svmpath.names import unknown_name
    >>> print(unknown_name("over", "c", ["C", "gamma"]))
    over must be one of 'C', 'gamma'; got 'c'. Did you mean 'C'?
    """
    names = list(possible)
    listed = ", ".join(map(repr, names))
    head = f"{what} must be " + (f"one of {listed}" if len(names) > 1 else listed)
    choices = f"{head}, or {other}" if other else head
    return f"{choices}; got {given!r}.{did_you_mean(given, names)}"


def did_you_mean(given: object, possible: Iterable[str]) -> str:
    """A question to be put after a sentence, where one of the names is probably meant; else nothing."""
    nearest = nearest_name(given, possible)
    return "" if nearest is None else f" Did you mean {nearest!r}?"


def either(names: Iterable[str]) -> str:
    """The names in a sentence.

    Examples
    --------
    >>> from svmpath.names import either
    >>> print(either(["hinge", "nu", "squared_hinge"]))
    'hinge', 'nu' or 'squared_hinge'
    """
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


def no_file(path: object) -> str:
    """Says that a file does not exist."""
    return f"there is no file {str(path)!r}; check its name and folder"


def nearest_name(given: object, possible: Iterable[str]) -> str | None:
    """The name that is probably meant: the same but for its case or its dashes, or else one that is spelt alike."""
    if not isinstance(given, str):
        return None
    plain = {_plain(name): name for name in reversed(list(possible))}  # of two alike, the first one
    if _plain(given) in plain:
        return plain[_plain(given)]
    alike = get_close_matches(_plain(given), plain, n=1, cutoff=_ALIKE)
    return plain[alike[0]] if alike else None


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
