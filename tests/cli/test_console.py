"""Errors, interrupts and progress: one sentence, and nothing left behind."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import skops.io

import svmpath
from svmpath import PathSVC
from svmpath.cli import main
from svmpath.cli.live import Live, remaining_time
from svmpath.progress import Progress
from tests.cli.tables import FIXED, GOOD, csv
from tests.signals import interrupted
from tests.speed import first_quick

INTERRUPT = r"Interrupted (after|while) [^\n]+ \(\d+ s\); nothing was written\.\n"


def raising(error):
    def fail(*arguments, **options):
        raise error

    return fail


@first_quick(1)
@pytest.mark.parametrize("where", ["fit", "dump"])
def test_ctrl_c_leaves_nothing_behind(run, monkeypatch, where):
    arguments = csv(GOOD.replace(".5", ""))
    owner = PathSVC if where == "fit" else skops.io
    monkeypatch.setattr(owner, where, raising(KeyboardInterrupt()))
    code, out, err = run("tune", *arguments, "--output", "made")
    assert (code, out) == (130, "")
    assert re.fullmatch(INTERRUPT, err)
    assert os.listdir() == ["data.csv"]


@pytest.mark.usefixtures("fitted")
def test_ctrl_c_keeps_what_was_there(run, monkeypatch):
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    replace = os.replace

    def once(source, destination):
        if str(destination).endswith("summary.json"):
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", once)
    assert run("tune", *csv(GOOD), "--C", "2", "--gamma", "0.2")[0] == 130
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@first_quick(1)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("The kernel is odd.\nMore about it."), "Error: The kernel is odd.\n"),
        (MemoryError(), "Error: there is not enough memory"),
        (OSError(28, "No space left on device"), "Error: No space left on device.\n"),
    ],
)
def test_errors_while_saving(run, monkeypatch, error, sentence):
    arguments = csv(GOOD)
    monkeypatch.setattr(skops.io, "dump", raising(error))
    code, _, err = run("tune", *arguments, *FIXED)
    assert code == 2
    assert err.startswith(sentence)
    assert os.listdir() == ["data.csv"]


def shown(capsys, *words):
    """What is on standard error once all these words are there; the display draws itself ten times a second."""
    text = ""
    for _ in range(1200):
        text += capsys.readouterr().err
        if all(word in text for word in words):
            break
        time.sleep(0.05)
    return text


def test_progress_waits_and_stays_off_pipes(monkeypatch, capsys):
    with Live("Working", delay=0.01) as progress:
        time.sleep(0.05)
        progress(Progress("a", done=1, total=2))
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Live("Working", delay=0.01) as progress:
        assert "Working" in shown(capsys, "Working")
        progress(Progress("a", done=1, total=2))
        progress.stage("Resting")
    assert capsys.readouterr().out == ""
    with Live("Working", delay=60) as progress:
        progress(Progress("a", done=1, total=2))
    assert capsys.readouterr() == ("", "")


def test_progress_counts_stages(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Live("Reading", delay=0.0) as live:
        live.stage("Tuning")
        live(Progress("screen", "gamma = 0.1", 2, 11, "gamma = 1, C = 2, score 0.05"))
        words = ("Tuning: screen", "2/11", "gamma = 0.1 · best so far: gamma = 1, C = 2, score 0.05")
        err = shown(capsys, *words)
        assert all(word in err for word in words), err
        live(Progress("confirm", "", 0, None, "gamma = 1, C = 2, score 0.04"))
        assert "Tuning: confirm" in shown(capsys, "Tuning: confirm")
    capsys.readouterr()
    with Live("Working", delay=0.0, is_hidden=True):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("passed", "done", "total", "words"),
    [
        (10.0, 2, 4, "about 10 s left"),
        (300.0, 1, 4, "about 15 min left"),
        (10.0, 0, 4, ""),
        (10.0, 4, 4, ""),
        (10.0, 3, None, ""),
        (1.0, 1, 4, ""),  # too early to say
    ],
)
def test_the_time_left_is_what_the_stage_has_taken_so_far(passed, done, total, words):
    assert remaining_time(passed, done, total) == words


def test_an_interrupt_says_what_was_finished():
    live = Live("Reading data.csv")
    assert re.fullmatch(r"Interrupted while reading data.csv \(0 s\); nothing was written\.", live.interrupted())
    live.stage("Tuning")
    assert "after reading data.csv" in live.interrupted()
    live(Progress("confirm", finished=("screening 308 pairs",)))
    live(Progress("confirm", done=1, finished=("screening 308 pairs",)))
    assert "Interrupted after screening 308 pairs (0 s)" in live.interrupted()
    live(Progress("rank", finished=("screening 308 pairs", "confirming 12 pairs")))
    assert "after confirming 12 pairs" in live.interrupted()


def test_warnings_become_notes(run, monkeypatch):
    import warnings

    def fit(self, *arguments):
        warnings.simplefilter("always")
        warnings.warn("the kernel\nis indefinite", UserWarning, stacklevel=1)
        warnings.warn("the kernel is indefinite", UserWarning, stacklevel=1)
        warnings.warn("an option will go", FutureWarning, stacklevel=1)
        warnings.warn("The best C is the largest", svmpath.EdgeWarning, stacklevel=1)  # said below the table
        warnings.warn("time_limit=2 seconds was reached", svmpath.LimitWarning, stacklevel=1)
        raise ValueError("enough")

    monkeypatch.setattr(PathSVC, "fit", fit)
    code, _, err = run("tune", *csv(GOOD.replace(".5", "")))
    limit = "Note: --time-limit was reached; the model is the best of what was tried by then.\n"
    assert (code, err) == (2, f"Note: the kernel is indefinite\n{limit}Error: enough.\n")


def test_a_matrix_that_does_not_fit_is_named(run, monkeypatch):
    sentence = "The full matrix would need 9 GiB, but may take 0.9 GiB here (memory_limit=1e+09); use rank=1000, say."
    monkeypatch.setattr(PathSVC, "fit", raising(MemoryError(sentence)))
    _, _, err = run("tune", *csv(GOOD.replace(".5", "")))
    assert err.startswith("Error: The full matrix would need 9 GiB, but may take 0.9 GiB here (--memory-limit 1e+09); ")
    assert err.endswith("use --rank 1000, say.\n")


def test_a_closed_pipe_does_not_undo_the_work(tune, monkeypatch):
    def closed(*arguments, **options):
        raise BrokenPipeError

    csv(GOOD)
    monkeypatch.setattr("svmpath.cli.tune.print_results", closed)
    with pytest.raises(SystemExit) as end:
        main(["tune", "data.csv", "--target", "y", *FIXED])
    assert end.value.code == 0
    assert Path("model.skops").exists()


def svmpath_in_shell(redirected):
    program = f"{shlex.quote(sys.executable)} -m svmpath {redirected}"
    return subprocess.run(program, shell=True, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_streams_that_are_closed_or_full():
    assert svmpath_in_shell("datasets banana -o data.csv >&-").stderr == ""
    assert Path("data.csv").exists()
    done = svmpath_in_shell("compare - --target y <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: standard input: there is nothing to read; pipe a table into the command, or name a file.\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("option", ["--json", pytest.param("", marks=pytest.mark.slow)])
def test_results_that_are_lost_are_an_error(option):
    done = svmpath_in_shell(f"datasets {option} > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "Error: the results could not be written to standard output (No space left on device)"
    )


def test_a_path_that_cannot_be_followed_is_one_sentence(run, monkeypatch):
    monkeypatch.setattr(PathSVC, "fit", raising(svmpath.PathError("The path could not be followed.")))
    code, out, err = run("tune", *csv(GOOD.replace(".5", "")), "--loss", "hinge")
    assert (code, out, err) == (2, "", "Error: The path could not be followed.\n")


INTERRUPTED = """
import sys, threading
from svmpath import PathSVC
from svmpath.cli import main

fit = PathSVC._fit
def announce(self, *rest):
    print("fitting", flush=True)
    return fit(self, *rest)
PathSVC._fit = announce
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("least_squares", ["--n-jobs", "2"]),
        pytest.param("least_squares", ["--n-jobs", "1"], marks=pytest.mark.slow),
        pytest.param("squared_hinge", ["--n-jobs", "1"], marks=pytest.mark.slow),
        pytest.param("squared_hinge", ["--n-jobs", "2"], marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_tune_in_one_line_without_files(folder, loss, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    np.savez(folder / "data.npz", X=X, y=X[:, 0] + X[:, 1] ** 2 > 1)
    command = [sys.executable, "-c", INTERRUPTED, "tune", "data.npz", "--loss", loss, "--rank", "exact", *options]
    code, out, err = interrupted(command, "fitting", cwd=folder)
    assert (code, out) == (130, "")
    assert re.fullmatch(INTERRUPT, err)
    assert os.listdir(folder) == ["data.npz"]
