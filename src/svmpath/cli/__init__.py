"""The command line, ``svmpath``.

One file per command (``tune.py``, ``predict.py``, ...); ``program.py`` puts them together. Everything a user can get
wrong ends in one sentence on stderr, exit code 2, and no file written. Modules that take long to import are imported
where they are used, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["app", "main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; Ctrl-C ends it also while it is being loaded."""
    try:
        from svmpath.cli import program

        program.main(arguments)
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)
    except ModuleNotFoundError as error:  # a newer svmpath may need packages that an older one did not
        package = (error.name or "").partition(".")[0]
        if package in ("", "svmpath"):
            raise
        print(
            f"Error: svmpath needs the package {package!r}, which is not installed; install svmpath once more, with "
            "python -m pip install . in its folder.",
            file=sys.stderr,
        )
        sys.exit(2)


def __getattr__(name: str) -> Any:
    if name == "app":
        from svmpath.cli.program import app

        return app
    raise AttributeError(f"module 'svmpath.cli' has no attribute {name!r}")
