"""The comparison of tuned models: its sets, its records, and the numbers of its tables, by hand."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
AUTO, GRID, SEARCHED = "PathSVC()", 'PathSVC(search="grid")', "GridSearchCV(SVC)"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Import a module of the benchmarks folder, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module


def record(method, split, error, seconds=1.0, name="heart", **more):
    facts = {"set": name, "method": method, "split": split, "task": "classification", "half": "chosen on", "threads": 1}
    return facts | {"n": 170, "d": 13, "classes": 2, "error": error, "seconds": seconds} | more


# --- sets ------------------------------------------------------------------------------------------------------------


def test_a_file_gives_its_official_splits_first_and_large_sets_their_sizes(script, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(5.0, 3.0, size=(90, 2)), np.repeat([-1, 1], 45)
    parts = [np.sort(rng.permutation(90)[:60]) for _ in range(2)]
    rest = [np.setdiff1d(np.arange(90), part) for part in parts]
    np.savez(tmp_path / "heart.npz", X=X, y=y, train=parts[:1], test=rest[:1], train_gen=parts[1:])
    long = np.arange(4000.0)
    np.savez(tmp_path / "long.npz", X=long[:, None], y=long % 7.0 + 0.5)
    np.savez(tmp_path / "hard_cases.npz", tied_X=X, tied_y=y)
    found = script("_peers_sets").sources(tmp_path)
    assert [found[name].half for name in ("heart", "long-2000", "noise-1000", "wine")] == [
        "chosen on", "reported on", "chosen on", "reported on",
    ]  # fmt: skip
    assert {name for name in found if name.startswith(("long", "hard"))} == {"long-2000", "long-3000"}
    for k in range(2):
        X_train, y_train, X_test, y_test = found["heart"].split(k)
        mean, deviation = X[parts[k]].mean(axis=0), X[parts[k]].std(axis=0)
        np.testing.assert_allclose(X_train, (X[parts[k]] - mean) / deviation)
        np.testing.assert_allclose(X_test, (X[rest[k]] - mean) / deviation)
        np.testing.assert_array_equal(y_train, y[parts[k]])
        np.testing.assert_array_equal(y_test, y[rest[k]])
    X_train, y_train, X_test, _ = found["long-3000"].split(3)
    assert found["long-3000"].task == "regression"
    assert len(np.unique(np.concatenate([X_train, X_test]).round(9))) == 4000  # no row is in both
    assert y_train.mean() == pytest.approx(0.0, abs=1e-12)
    assert y_train.std() == pytest.approx(1.0)


def test_the_mask_of_a_file_names_its_test_rows(script, tmp_path):
    mask = np.zeros((40, 2), dtype=bool)
    mask[:5, 0] = mask[5:12, 1] = True
    np.savez(tmp_path / "housing.npz", X=np.arange(40.0)[:, None], y=np.arange(40.0), test_mask=mask)
    *_, X_test, y_test = script("_peers_sets").sources(tmp_path)["housing"].split(1)
    np.testing.assert_allclose(X_test[:, 0], y_test)
    assert len(y_test) == 7


def test_the_noise_set_has_the_error_of_its_recipe(script):
    X, y = script("_peers_sets").noise(20_000, np.random.default_rng(0))
    best = 0.0228 * 0.85 + 0.15 * (1.0 - 0.0228)  # the best rule for twonorm, with 15 % of the labels flipped
    assert np.mean(np.sign(X.sum(axis=1)) != y) == pytest.approx(best, abs=0.01)


# --- tables ----------------------------------------------------------------------------------------------------------


def test_paired_differences_and_their_standard_error(script):
    module = script("_peers_report")
    mean, error, count = module.paired({0: 0.1, 1: 0.3, 2: 0.2}, {1: 0.1, 2: 0.2, 5: 0.0})
    assert (mean, count) == (pytest.approx(0.1), 2)
    assert error == pytest.approx(0.1)  # of 0.2 and 0.0: deviation sqrt(0.02), over sqrt(2)
    assert np.isnan(module.paired({0: 0.1}, {0: 0.2})[1])
    assert np.isnan(module.paired({0: 0.1}, {1: 0.2})[0])


def test_the_tables_have_the_numbers_of_the_records(script):
    records = [record(AUTO, k, 0.10, seconds) for k, seconds in enumerate((1.0, 2.0, 9.0))]
    records += [record(AUTO, 0, 0.10, 0.5, timing=True, chosen={"search": "grid"})]
    records += [record(GRID, k, error, 4.0) for k, error in enumerate((0.10, 0.12, 0.08))]
    records += [record(SEARCHED, k, error, 8.0, timing=True) for k, error in enumerate((0.14, 0.14, 0.15))]
    records += [record(AUTO, 0, 0.3, 1.0, "wine", half="reported on")]
    records += [record(SEARCHED, 0, 0.2, 4.0, "wine", half="reported on")]
    records += [{**record("torchkm", 0, 0.0), "missing": "ModuleNotFoundError: torch"}]
    text = script("_peers_report").report(records)
    assert f"| heart | 170 | 13 | 2 | chosen on | `{AUTO}` | 3 | 10.00 ± 0.00 | 0.5 t |  |" in text
    assert "search was: grid." in text
    assert f"| `{GRID}` | - |" in text  # its time was not measured as one, and ours was
    assert f"| `{SEARCHED}` | 8 (2) |" in text  # the geometric mean of 16 and 4
    assert "14.33, 10.00 (1) | 20.00, 30.00 (1) |" in text
    assert "| heart | chosen on | +0.00 ± 1.15 (3) | -4.33 ± 0.33 * (3) |" in text
    assert f"better than `{SEARCHED}`: heart." in text
    assert f"worse than `{SEARCHED}`: none." in text
    assert "- `torchkm`: ModuleNotFoundError: torch" in text


def test_what_went_wrong_is_shown_and_a_later_record_counts(script):
    late = [record(AUTO, 0, 0.5), record(AUTO, 0, 0.25)]
    failed = {key: value for key, value in record(SEARCHED, 0, 0.0).items() if key not in ("error", "seconds")}
    text = script("_peers_report").report([*late, {**failed, "note": "over the limit of 9 s", "limit": 9.0}])
    assert f"`{AUTO}` | 1 | 25.00 | 1 |  |" in text
    assert f"`{SEARCHED}` | 0 | - | - | over the limit of 9 s |" in text
    assert f"| `{SEARCHED}` | - | - | - | 1 of 1 | - | - |" in text


# --- runs ------------------------------------------------------------------------------------------------------------


def test_what_is_still_to_be_run(script, tmp_path):
    module = script("peers_tuning")
    source = script("_peers_sets").sources(None)["wine"]
    options = module._options(["--splits", "3", "--limit", "10"])
    done = [record(AUTO, 1, 0.1, name="wine")]
    assert module.open_splits(done, source, AUTO, options) == [0, 2]
    assert module.open_splits(done, source, GRID, options) == [0, 1, 2]
    slow = {"set": "wine", "method": AUTO, "split": 0, "limit": 10.0}
    assert module.open_splits([*done, slow], source, AUTO, options) == []
    options.limit = 20.0  # worth another try
    assert module.open_splits([*done, slow], source, AUTO, options) == [0, 2]
    options.timing = True
    assert module.open_splits(done, source, AUTO, options) == [0, 1, 2]


def test_the_choice_of_a_method_is_its_last(script):
    module = script("peers_tuning")
    records = [record(AUTO, 1, 0.1, chosen={"C_": C}) for C in (1.0, 4.0)] + [record(AUTO, 0, 0.1, chosen={"C_": 2.0})]
    assert module.choice_of(records, "heart", AUTO, 1) == {"C_": 4.0}
    assert module.choice_of(records, "heart", GRID, 1) == {}


def test_every_method_names_what_it_needs_and_suits_a_set(script):
    methods = script("_peers_methods").METHODS
    assert all(method.needs is None or method.needs in methods for method in methods.values())
    assert methods["SVC.fit at our choice"].suits("noise-10000", "classification")
    assert not methods["SVC.fit at our choice"].suits("heart", "classification")
    assert not methods[AUTO].suits("housing", "regression")


@pytest.mark.slow
def test_cpu_seconds_include_those_of_processes_that_still_run(script):
    module = script("peers_tuning")
    before = module.cpu_seconds()
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        spent = module.cpu_seconds() - before
        process.communicate(b"\n")
    assert spent > 0.4  # the 0.5 s of the process, as its clock ticks


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are ended by their group")
@pytest.mark.slow
def test_it_runs_is_resumed_and_ends_what_takes_too_long(script, capsys, tmp_path):
    module, state = script("peers_tuning"), tmp_path / "state.jsonl"
    options = ["--splits", "2", "--state", str(state), "--threads", "1"]
    boosting = "wine/HistGradientBoosting*"
    module.main([*options, "--only", boosting, 'wine/PathSVC(kernel="linear")'])
    first = [json.loads(line) for line in state.read_text().splitlines()]
    assert [(r["method"][:7], r["split"], r["n"], r["classes"]) for r in first] == [
        ("PathSVC", 0, 124, 3), ("PathSVC", 1, 124, 3), ("HistGra", 0, 124, 3), ("HistGra", 1, 124, 3),
    ]  # fmt: skip
    assert all(r["error"] < 0.2 and r["seconds"] > 0.0 and r["cpu"] >= 0.0 for r in first)
    assert first[0]["chosen"]["C_"] > 0.0
    module.main([*options, "--only", boosting, f"wine/{SEARCHED}", "--limit", "0.01"])
    (last,) = [json.loads(line) for line in state.read_text().splitlines()][4:]
    assert (last["method"], last["split"], last["note"]) == (SEARCHED, 0, "over the limit of 0.01 s")
    assert "over the limit of 0.01 s" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are ended by their group")
@pytest.mark.slow
def test_the_plot_of_times(script, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "scale.png"
    options = ["--state", str(tmp_path / "state.jsonl"), "--threads", "1", "--most", "200", "--limit", "60"]
    script("peers_tuning").main([*options, "--scale-plot", str(picture)])
    header, _, row = capsys.readouterr().out.strip().splitlines()
    assert header.startswith(f"| n | `{AUTO}` |")
    assert row.startswith("| 200 | ")
    assert picture.stat().st_size > 1000
