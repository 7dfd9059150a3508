"""``--help``: quick, in groups, with examples that run."""

import re
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command

from svmpath import cli
from svmpath.cli.examples import EXAMPLES
from svmpath.cli.machine_options import COMPLETIONS
from svmpath.cli.options import names_for
from svmpath.cli.program import COMMANDS
from tests.speed import first_quick, slow_except

PANELS = ("Data", "Machine", "Search", "Output")


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


def test_what_a_shell_completes_is_what_the_library_knows():
    named = [option for option in COMPLETIONS if option not in ("--gamma", "--C", "--rank", "--threshold")]
    assert {option: set(COMPLETIONS[option]) for option in named} == {
        option: set(names_for(option)) for option in named
    }


ALL = [example for command in COMMANDS for example in EXAMPLES[command]]


@pytest.mark.parametrize("example", slow_except(ALL, [each for each in ALL if each.startswith("svmpath datasets")]))
def test_every_example_runs(run, example):
    words = shlex.split(example)
    for name in ("flats", "banana", "twonorm"):
        assert run("datasets", name, "--rows", "150", "-o", f"{name}.csv")[0] == 0
    if "model" in example:
        assert run("tune", "flats.csv", "--target", "sold", "-o", "model", "--no-report", "--C", "1")[0] == 0
        assert run("datasets", "flats", "--rows", "20", "--seed", "5", "-o", "new.csv")[0] == 0
    code, out, err = run(*words[1:])
    assert code == 0, err
    assert out
    assert "Traceback" not in err
