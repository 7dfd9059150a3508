"""``--help``: quick, in groups, with examples that run."""

import re
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command

from svmpath import cli
from svmpath.cli.compile import _engines
from svmpath.cli.datasets import SETS
from svmpath.cli.examples import EXAMPLES
from svmpath.cli.honest import NAMES
from svmpath.cli.options import TABLE
from svmpath.cli.program import COMMANDS
from svmpath.datasets.sources import FORMATS
from svmpath.estimators.options import SEARCHES
from svmpath.gram import LANDMARKS
from svmpath.kernels import KERNELS
from svmpath.losses import loss_names
from svmpath.validation import TASKS
from tests.speed import first_quick, slow_except

PANELS = ("Data", "Machine", "Search", "Output", "Advanced")


def test_help_loads_no_scikit_learn():
    program = """
import sys
from svmpath.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print(end.code, *sorted({"sklearn", "scipy", "numba", "pandas", "plotly", "skops"} & set(sys.modules)))
"""
    for arguments in ([], ["tune"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments, "--help"], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "0"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_and_says_what_it_does(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    plain = " ".join(out.split())
    assert re.search(r"Examples?", out)
    for example in EXAMPLES[command]:
        assert " ".join(example.split()) in plain
    assert f"Usage: svmpath {command}" in out


@first_quick(3)
@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_flags_have_no_type_and_a_range_takes_little_space(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert not re.search(r"<bool>|4294967295", out)
    usage = next(line for line in out.splitlines() if "Usage:" in line)
    assert not re.search(r"[{}]|\[\[|[a-z]+$", usage.strip())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help_and_a_panel(command):
    for parameter in get_command(cli.app).commands[command].params:
        assert parameter.help, parameter.name
        if parameter.param_type_name == "option" and parameter.name != "help":
            assert parameter.rich_help_panel in PANELS, parameter.name


def test_few_options_come_first():
    options = [row for row in TABLE if "tune" in row.commands.split() and row.flag.startswith("--")]
    assert 12 <= sum(row.panel != "Advanced" for row in options) <= 18


def _losses(over):
    return {name for task in TASKS for name in loss_names(task, over)}


# What the table of options writes out, and what the library knows.
KNOWN = {
    ("--format", "tune"): FORMATS,
    ("--task", "tune"): TASKS,
    ("--loss", "tune"): _losses("C"),
    ("--losses", "compare"): _losses("C"),
    ("--loss", "path"): _losses("C") | _losses("nu"),
    ("--kernel", "tune"): set(KERNELS) - {"precomputed"},
    ("--search", "tune"): SEARCHES,
    ("--landmarks", "tune"): LANDMARKS,
    ("--psd", "tune"): ("warn", "clip"),
    ("--honest", "tune"): NAMES,
    ("NAME", "datasets"): SETS,
    ("ENGINE", "compile"): _engines(),
}


@pytest.mark.parametrize("option", KNOWN, ids=" ".join)
def test_names_that_are_written_out_are_those_of_the_library(option):
    flag, command = option
    row = next(row for row in TABLE if row.flag == flag and command in row.commands.split())
    assert set(row.names) == set(KNOWN[option])


def test_rows_of_the_table_belong_to_commands_and_no_command_has_an_option_twice():
    for row in TABLE:
        assert set(row.commands.split()) <= set(COMMANDS), row.flag
    for command in COMMANDS:
        flags = [row.flag for row in TABLE if command in row.commands.split()]
        assert len(flags) == len(set(flags)), command


def test_a_shell_completes_names():
    loss = next(each for each in get_command(cli.app).commands["tune"].params if each.name == "loss")
    assert [each.value for each in loss.shell_complete(None, "hu")] == ["huber_hinge"]


ALL = [example for command in COMMANDS for example in EXAMPLES[command]]


@pytest.mark.parametrize("example", slow_except(ALL, [each for each in ALL if each.startswith("svmpath datasets")]))
def test_every_example_runs(run, example):
    words = shlex.split(example)
    for name in ("flats", "banana", "twonorm"):
        assert run("datasets", name, "--rows", "150", "-o", f"{name}.csv")[0] == 0
    if "model" in example:
        assert run("tune", "flats.csv", "--target", "sold", "-o", "model", "--no-report", "--C", "1")[0] == 0
    if "banana/model" in example:
        assert run("tune", "banana.csv", "--target", "y", "-o", "banana", "--no-report", "--C", "1")[0] == 0
    if "new.csv" in example:
        assert run("datasets", "flats", "--rows", "20", "--seed", "5", "-o", "new.csv")[0] == 0
    code, out, err = run(*words[1:])
    assert code == 0, err
    assert out
    assert "Traceback" not in err
