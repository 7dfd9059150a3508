"""What the tests expect of a terminal, whatever they are started from: its width, its colours, and Ctrl-C.

Set when this file is loaded, before anything reads it; the processes that tests start inherit it.
"""

import os
import signal
import threading

os.environ.update({"COLUMNS": "80", "LINES": "24"})
# Build services set some of these, and rich and typer then write as if to a terminal.
for name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

# Behind `make test &` in a script SIGINT is ignored, and would be in all processes started from here.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
