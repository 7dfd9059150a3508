"""The command line on a terminal: progress appears, Ctrl-C is clean, errors are one sentence."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pexpect
import pytest

from tests.cli.tables import GOOD, csv
from tests.speed import first_quick

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\x07]")


@pytest.fixture
def spawn():
    """Start the program on a pseudo-terminal; it is ended with the test."""
    children = []
    # The width is that of the pseudo-terminal, and not the one that the tests have in their environment.
    outside = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}

    def spawn(*arguments, program=("-m", "svmpath"), **environment):
        child = pexpect.spawn(
            sys.executable,
            [*program, *map(str, arguments)],
            env={**outside, "TERM": "xterm", **environment},
            dimensions=(24, 120),
            timeout=120,
            encoding="utf-8",
            codec_errors="replace",  # the terminal echoes ^C in the middle of a character
        )
        children.append(child)
        return child

    yield spawn
    for child in children:
        child.close(force=True)


def ended(child):
    """All that is left to read, without what moves the cursor, and the exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return CONTROL.sub("", child.before), child.exitstatus


def many_rows(n=3000):
    X = np.random.default_rng(0).normal(size=(n, 4))
    np.savez("data.npz", X=X, y=X[:, 0] + X[:, 1] ** 2 > 1)
    return ("tune", "data.npz", "--rank", "exact", "--output", "made")


def interrupted(child):
    """Press Ctrl-C; gives what was said, after checking the exit code."""
    child.sendintr()
    text, code = ended(child)
    assert code == 130
    last = text.strip().splitlines()[-1]
    assert re.search(r"Interrupted (after|while) .* \(\d+ s\); nothing was written\.$", last), text
    assert "Traceback" not in text
    return last


# In short pieces: a signal that another thread receives does not end a sleep of the main thread.
SLOWED = """
import sys, time
def rest():
    for _ in range(600):
        time.sleep(0.1)
{patch}
from svmpath.cli import main
main()
"""


def test_progress_appears_and_ctrl_c_is_clean(spawn):
    child = spawn(*many_rows())
    child.expect("Tuning: ")
    child.expect("best so far: gamma = ")
    sentence = interrupted(child)
    assert "after" in sentence
    assert os.listdir() == ["data.npz"]


@pytest.mark.slow
def test_the_display_has_stage_work_best_and_times_and_goes_away(spawn):
    program = ("-c", SLOWED.format(patch="import svmpath.cli.live as live\nlive._DELAY = 0.0"))
    child = spawn(*many_rows(1500), "--no-report", "--honest", "nested", "--n-jobs", "1", program=program)
    for words in ("Tuning: ", "squared_hinge ", "best so far: gamma = ", r"\d/10", "0:00:"):
        child.expect(words)
    text, code = ended(child)
    assert code == 0
    assert "Wrote made/model.skops, made/summary.json and made/config.toml." in text
    assert sorted(os.listdir("made")) == ["config.toml", "model.skops", "summary.json"]


# Where each stage is made to take long, so that Ctrl-C falls into it.
STAGES = {
    "reading": "import svmpath.datasets as d\nd.read_table = lambda *a, **k: rest()",
    "report": "import svmpath.report.page as p\np.columns = lambda *a, **k: rest()",
    "writing": "import svmpath.cli.saved_model as s\n"
    "def write(pipeline, trained, part):\n    part.write_bytes(b'half')\n    rest()\ns.write_model = write",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "words"),
    [
        pytest.param("reading", "Reading data.csv", marks=pytest.mark.slow),
        pytest.param("report", "Making the report", marks=pytest.mark.slow),
        ("writing", "Saving"),
    ],
)
def test_ctrl_c_in_every_stage(spawn, stage, words):
    arguments = csv(GOOD)
    program = ("-c", SLOWED.format(patch=STAGES[stage]))
    child = spawn("tune", *arguments, "--C", "1", "--gamma", "1", "--output", "made", program=program)
    child.expect(words)  # the display appears after a second
    interrupted(child)
    assert os.listdir() == ["data.csv"]


@pytest.mark.slow
def test_ctrl_c_ends_compiling(spawn):
    # A cache of its own, in which nothing is compiled yet.
    child = spawn("compile", "path", NUMBA_CACHE_DIR=str(Path("cache").resolve()))
    child.expect("Compiling the path engine")  # which takes a quarter of a minute
    child.sendintr()
    text, code = ended(child)
    assert code == 130
    assert re.search(r"Interrupted after loading \(\d+ s\); what is compiled is kept\.", text)


@pytest.mark.slow
def test_ctrl_c_while_an_engine_is_loaded(spawn):
    # An extension module that is interrupted in the middle of its start can raise whatever it likes.
    patch = """
import svmpath.cli.compile as c
def load(name):
    try:
        rest()
    except KeyboardInterrupt:
        raise ImportError("half-loaded") from None
c.import_module = load"""
    child = spawn("compile", "path", program=("-c", SLOWED.format(patch=patch)))
    child.expect("Compiling the path engine")
    child.sendintr()
    text, code = ended(child)
    assert code == 130
    assert "half-loaded" not in text


@pytest.mark.slow
def test_ctrl_c_while_the_program_is_loaded(spawn):
    Path("typer.py").write_text("import time; print('loading', flush=True); time.sleep(60)")
    child = spawn("tune", "data.csv", PYTHONPATH=f"{os.getcwd()}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    child.expect("loading")
    child.sendintr()
    text, code = ended(child)
    assert code == 130
    assert text.replace("^C", "").strip() == "Interrupted; nothing was written."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tune", "none.csv", "--target", "y"), "there is no file 'none.csv'"),
        pytest.param(
            ("tune", "none.csv", "--gama", "1"),
            "there is no option --gama. Did you mean '--gamma'?",
            marks=pytest.mark.slow,
        ),
        pytest.param(("tne",), "No such command 'tne'", marks=pytest.mark.slow),
    ],
)
def test_errors_are_one_sentence_on_a_terminal_too(spawn, arguments, words):
    text, code = ended(spawn(*arguments))
    assert code == 2
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert words in lines[0]
    assert os.listdir() == []


@pytest.mark.slow
def test_quiet_shows_nothing(spawn):
    arguments = csv(GOOD)
    text, code = ended(spawn("tune", *arguments, "--C", "1", "--gamma", "1", "--no-report", "--quiet"))
    assert (text.strip(), code) == ("", 0)
    assert os.path.exists("model.skops")


def completed(words, word):
    """What bash would be offered, by the script that --show-completion prints."""
    return {
        "_SVMPATH_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(word),
    }


@first_quick(1)
@pytest.mark.parametrize(
    ("words", "word", "offered"),
    [
        (["svmpath", "co"], 1, {"compare", "compile"}),
        (["svmpath", "tune", "--los"], 2, {"--loss"}),
        (["svmpath", "tune", "--loss", "hu"], 3, {"huber_hinge"}),
        (["svmpath", "tune", "--kernel", ""], 3, {"linear", "rbf", "poly", "laplacian", "sigmoid"}),
        (["svmpath", "datasets", "wav"], 2, {"waveform"}),
    ],
)
def test_bash_completes_commands_options_and_values(spawn, words, word, offered):
    program = ("-c", "from svmpath.cli import main; main()")
    text, _ = ended(spawn(program=program, **completed(words, word)))
    assert set(text.split()) == offered


@pytest.mark.slow
def test_the_completion_of_bash_can_be_shown(spawn):
    # The shell is named here; else it is found by looking at the processes above, which in a test may be none.
    text, code = ended(spawn("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"))
    assert code == 0
    assert "complete -o default -F _svmpath_completion svmpath" in text
