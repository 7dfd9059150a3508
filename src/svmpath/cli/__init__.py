"""The command line: ``svmpath tune``, ``svmpath predict`` and ``svmpath compile``.

One file per command (``tune.py``, ``predict.py``, ``compile.py``); ``program.py`` puts them together. Everything a user
can get wrong ends in one sentence on stderr, exit code 2, and no file written. Modules that take long to import are
imported where they are used, so that ``--help`` is quick.
"""

from svmpath.cli.program import app, main

__all__ = ["app", "main"]
