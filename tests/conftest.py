"""What every test finds, whoever started it and whatever ran before: a terminal, Ctrl-C, and random numbers.

The terminal is set up when this file is loaded, before anything reads it; the processes that tests start inherit it.
"""

import gc
import os
import signal
import threading

import numpy as np
import pytest

os.environ.update({"COLUMNS": "80", "LINES": "24"})
# Build services set some of these, and rich and typer then write as if to a terminal.
for name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

# Behind `make test &` in a script SIGINT is ignored, and would be in all processes started from here.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

_states = {}  # of the random generators of test files, as they are after the import


def pytest_collection():
    """Nothing that collecting makes is garbage: do not look for any while it lasts."""
    gc.disable()


def pytest_collection_modifyitems(items):
    """Labels of tests are often noise, and rows few, which fit warns of; examples for users must not need that."""
    shown = ("test_docs.py", "test_gallery.py", "test_weak_models.py")
    for item in items:
        if "tests" in item.path.parts and item.path.name not in shown:
            # before the marks of the test itself, which may ask for the warning
            item.add_marker(pytest.mark.filterwarnings("ignore::svmpath.exceptions.WeakModelWarning"), append=False)


def pytest_collection_finish():
    """Modules and tests stay until the end: do not walk through them whenever a test leaves garbage."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item):
    """Let the random generators of the file begin anew, so that the tests before do not decide what this one draws."""
    file = getattr(item, "module", None)
    for name, value in vars(file).items() if file else ():
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = _states.setdefault((file, name), value.bit_generator.state)
