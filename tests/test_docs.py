"""What README.md and the guide show is run: Python blocks page by page, and the commands in console blocks."""

import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import svmpath
from svmpath import cli, criteria, datasets, displays, exceptions, kernels, report
from svmpath.cli.program import COMMANDS
from svmpath.estimators.scaling import UNEVEN
from svmpath.losses import EpsilonInsensitive, Hinge, SquaredHinge
from tests.speed import slow_except

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs", "docs/guide", "docs/papers")
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md")))]
QUICK = ("kernels", "threads")  # the others in make slow
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Language, number of lines before it, and text of each fenced block."""
    text = page.read_text(encoding="utf-8")
    return [(found[1], text.count("\n", 0, found.start(2)), found[2]) for found in FENCE.finditer(text)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The files of ``make demo``."""
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([sys.executable, ROOT / "examples/demo_data.py", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def desk(page, request, tmp_path, monkeypatch):
    """A fresh folder, with the files of ``make demo`` if the page uses them, and no way out to the network."""

    def refuse(*_):
        raise OSError("documentation must not use the network")

    if "demo/" in page.read_text(encoding="utf-8"):
        shutil.copytree(request.getfixturevalue("demo"), tmp_path / "demo")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "page",
    slow_except(PAGES, [page for page in PAGES if page.stem in QUICK]),
    ids=lambda page: page.stem,
)
def test_page_runs(page, desk, capsys):
    namespace = {"__name__": page.stem}
    for language, line, text in blocks(page):
        if language == "python":
            # As many empty lines as stand before the block, so that a traceback names the line of the page.
            exec(compile("\n" * line + text, str(page), "exec"), namespace)
        elif language == "console":
            run_commands(text, capsys)


def run_commands(text, capsys):
    """Run each ``$ svmpath ...``; what the page shows as an error must be the error."""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("$ svmpath "):
            continue
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main(shlex.split(line)[2:])
        errors = capsys.readouterr().err
        shown = following.removesuffix("...") if following.startswith("Error: ") else ""
        assert end.value.code == (2 if shown else 0), errors
        assert errors.startswith(shown)


@pytest.mark.parametrize("command", COMMANDS)
def test_reference_lists_every_option(command):
    page = (ROOT / "docs/api/command_line.md").read_text(encoding="utf-8")
    section = page.split(f"## `svmpath {command}")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(-{1,2}[A-Za-z0-9-]+)", section))
    params = get_command(cli.app).commands[command].params
    options = {name for option in params for name in (*option.opts, *option.secondary_opts)}
    assert {name for name in options if name.startswith("-")} <= listed <= options


def test_reference_lists_every_public_name():
    page = (ROOT / "docs/api/index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (svmpath\.[\w.]+)$", page, re.MULTILINE))
    public = {
        f"{module.__name__}.{name}"
        for module in (svmpath, criteria, datasets, displays, kernels, report)
        for name in module.__all__
        if callable(getattr(module, name))  # neither modules nor the version
        # What the package itself offers is listed once, under that name: Sphinx refuses a second description.
        and (module is svmpath or getattr(svmpath, name, None) is not getattr(module, name))
    }
    assert public <= listed


def test_trust_page_names_every_warning_and_error():
    page = (ROOT / "docs/guide/trust.md").read_text(encoding="utf-8")
    raised = [name for name, kind in vars(exceptions).items() if isinstance(kind, type) and name != "DataError"]
    assert [name for name in raised if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("guide/which_machine", f"leave-one-out up to {Hinge.policy.loo_rows} rows, then 5-fold"),
        ("guide/which_machine", f"leave-one-out up to {EpsilonInsensitive.policy.loo_rows} rows, then 5-fold"),
        ("guide/trust", f"up to {SquaredHinge.policy.exact_rows} rows ({Hinge.policy.exact_rows} for the hinge)"),
        ("guide/trust", f"by more than a factor of {UNEVEN:g}"),
        ("faq", f"version = {{{svmpath.__version__}}}"),
    ],
)
def test_pages_have_the_figures_of_the_code(page, words):
    assert words in " ".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8").split())
