"""Messages in terms of options.

An option ``--some-name`` sets the parameter ``some_name`` of the estimators. Their messages are about parameters
("n_jobs must be None, ..."), but users of the command line know the options, so :func:`in_options` translates.
"""

from __future__ import annotations

import re
from typing import Any

from svmpath.cli.options import OPTIONS

_NAME = "|".join(OPTIONS)
_WORDS = r"'[^']*'(?:(?:,|,?\ or|,?\ and)\ '[^']*')*"
_MENTION = re.compile(
    rf"""
    (?P<call>\b\w+\([^()]*\))                                # RBF(gamma=1.0) is Python and stays
    | \b(?P<set>{_NAME})=(?P<value>{_WORDS}|[\w.+-]*\w(?:\(\))?)  # loss='hinge' or 'squared_hinge'
    | The\ '(?P<quoted>{_NAME})'\ parameter\ of\ \w+         # "The 'cv' parameter of PathSVC must be": scikit-learn's
    | (?P<before>^|[:;,.]\ |\bvalue\ of\ )                   # "n_jobs must be None", "Each value of C must be"
      (?P<subject>{_NAME})(?=\ (?:must|cannot|is\ an\ empty)\ )(?P<none>\ must\ be\ None)?
    """,
    re.VERBOSE,
)


def in_options(message: str) -> str:
    """A message about parameters, translated into one about options; the same words in another meaning stay.

    Examples
    --------
    >>> from svmpath.cli.messages import in_options
    >>> in_options("n_jobs must be None or a number of threads, got 0.")
    '--n-jobs must be left out or a number of threads, got 0.'
    >>> in_options("loss='hinge' goes with criterion='loo' or 'alo'; the kernel is of no importance.")
    '--loss hinge goes with --criterion loo or alo; the kernel is of no importance.'
    """
    return _MENTION.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    part: dict[str, Any] = found.groupdict()
    if part["call"]:
        return found[0]
    if part["set"]:
        option = OPTIONS[part["set"]]
        if part["value"] == "None":  # what the estimators call None
            return "--rank exact" if option == "--rank" else f"no {option}"
        if part["value"].startswith("gram.Clipped"):
            return "--rank exact with --psd clip"
        if part["value"] == "True":
            return option
        return f"{option} {part['value'].replace(chr(39), '')}"
    if part["quoted"]:
        return OPTIONS[part["quoted"]]
    option = OPTIONS[part["subject"]]
    none = f" must be {'exact' if option == '--rank' else 'left out'}" if part["none"] else ""
    return f"{part['before']}{option}{none}"
