"""The benchmark scripts run, on settings far too small to measure anything."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import svmpath

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
TINY = ["--gammas", "3", "--Cs", "3"]


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Import a script of the benchmarks folder, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module


@pytest.mark.slow
def test_table2_runs_on_generated_data(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script("ding2012_table2").main([*TINY, "--splits", "2", "--size", "60", "--write", str(page)])
    out = capsys.readouterr().out
    for name in ("ringnorm", "twonorm", "waveform"):
        assert sum(line.startswith(name) for line in out.splitlines()) == 2  # its times, its errors
    assert "Not here, neither as file nor as generator: thyroid, heart" in out
    assert out.strip() in page.read_text()


def test_table2_runs_on_files(script, capsys, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.repeat([-1, 1], 45)
    train = np.array([rng.permutation(90)[:60] for _ in range(2)])
    np.savez(tmp_path / "heart.npz", X=X, y=y, train_gen=train)
    np.savez(tmp_path / "diabetis.npz", X=100.0 + 30.0 * X, y=y, train_gen=train)
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    script("ding2012_table2").main([*TINY, "--splits", "1", "--sets", "heart", "diabetes"])
    out = capsys.readouterr().out
    rows = [line.split()[:7] for line in out.splitlines()]
    assert ["heart", "file", "60", "2", "0", "+", "1"] in rows
    assert ["diabetes", "file*", "60", "2", "0", "+", "1"] in rows  # raw units, standardised by the script
    assert "Wilcoxon" in out


def test_official_realizations_come_first(script, monkeypatch, tmp_path):
    module, rows = script("_raetsch"), np.arange(10)
    np.savez(
        tmp_path / "heart.npz",
        X=rows[:, None],
        y=np.repeat([-1, 1], 5),
        train=rows[None, ::2],
        test=rows[None, 1:5:2],
        train_gen=rows[None, :7],
    )
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    found = module.source("heart", "heart", 5, 5)
    assert found.official == 1
    assert found.count(2) == "1 + 1"
    X, _, X_test, _ = found.split(0)
    assert X.ravel().tolist() == [0, 2, 4, 6, 8]
    assert X_test.ravel().tolist() == [1, 3]  # its own test rows, not all others
    assert found.split(1)[2].ravel().tolist() == [7, 8, 9]


def test_a_long_run_goes_on_where_it_was_stopped(script, tmp_path):
    module, calls = script("_common"), []

    def compute():
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [0.1, float("nan")]

    pieces = module.Pieces(tmp_path / "out" / "run.pieces")
    assert pieces(("heart", 0), compute)[0] == 0.1
    with pytest.raises(KeyboardInterrupt):
        pieces(("heart", 1), compute)
    again = module.Pieces(tmp_path / "out" / "run.pieces")
    assert again(("heart", 0), compute)[0] == 0.1
    assert len(calls) == 2  # what was done is not done again
    again(("heart", 1), compute)
    assert len(calls) == 3
    module.Pieces(None)(("heart", 0), compute)
    assert len(calls) == 4


def test_table2_z_statistic_is_the_papers(script):
    module = script("ding2012_table2")
    splice = module.PAPER["splice"]
    z = module.z_statistic((*splice.exact[1:], 20), (*splice.approximate[1:], 20))
    assert z == pytest.approx((11.326 - 13.862) / np.sqrt((0.547**2 + 1.304**2) / 20))
    assert np.isnan(module.z_statistic((1.0, np.nan, 1), (2.0, np.nan, 1)))


@pytest.mark.slow
def test_peers_run(script, capsys, monkeypatch, tmp_path):
    module = script("peers_least_squares")
    monkeypatch.setattr(module, "N_TEST", 200)
    monkeypatch.setattr(module, "LARGE", 70)  # the second size takes the large sets, with capped iterations
    monkeypatch.setattr(module, "MAX_ITER", 5)
    page = tmp_path / "RESULTS.md"
    page.write_text("# Results\n\n<!-- peers_least_squares -->\nstale\n<!-- /peers_least_squares -->\nend\n")
    module.main([*TINY, "--sizes", "60", "80", "--repeats", "1", "--jobs", "1", "--write", str(page)])
    out = capsys.readouterr().out
    assert "rank 100 uniform, n = 60" in out
    assert "rank 100 rpcholesky, n = 80" in out
    assert "of the 45 fits of SVC were stopped" in out
    assert "there is no banana (file)" in out
    text = page.read_text()
    assert out.strip() in text
    assert "stale" not in text
    assert text.endswith("end\n")


@pytest.mark.slow
def test_kernel_path_peers_run(script, capsys):
    script("peers_kernel_path").main(["--quick"])
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines() if line.startswith(("moons, 100", "gaussians, 100"))]
    assert [line[4] for line in lines] == ["yes", "yes"]  # the events of the decay scheme
    assert all(float(line[5]) <= 5.0 for line in lines)  # solves per event


@pytest.mark.slow
def test_wang_figures_run(script, capsys, tmp_path):
    module = script("wang2007_figures")
    module.main(["--sets", "moons", "--draws", "2"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("moons")]
    assert len(lines) == 9
    events = [[int(x) for x in line[3::3]] for line in lines if line[2] == "events"]
    assert all(np.all(np.diff(each) >= 0) and each[0] == 0 for each in events)
    module.draw_all(["gaussians"], range(2), tmp_path, 2)
    assert len(list(tmp_path.glob("*gaussians*"))) == 3
    assert (tmp_path / "wang2007_figure1.png").exists()


def test_wang_iterations_are_the_papers(script):
    """With theta = 0.95 and epsilon = 1e-6 the formula says less than 20, and halving 0.05 down to 1e-6 takes 15.6."""
    module = script("wang2007_figures")
    assert module.iterations(0.95, 0.95) == pytest.approx(1 + np.log2(np.log(0.95) / np.log(1 - 1e-6)))
    assert 16 < module.iterations(0.95, 0.95) < module.iterations(0.95, 0.85) < 20


@pytest.mark.slow
def test_peers_of_leave_one_out_run(script, capsys, monkeypatch, tmp_path):
    module = script("peers_loo")
    page = tmp_path / "RESULTS.md"
    monkeypatch.setattr(module, "C_VALUES", (1.0, 30.0))
    module.main(["--sizes", "50", "--steps", "25", "--repeats", "1", "--Cs", "3", "--write", str(page)])
    rows = [re.split(r"\s{2,}", line) for line in capsys.readouterr().out.splitlines()]
    for name in ("moons", "normal", "overlap"):
        mine = [row for row in rows if row[0] == f"{name}, 50"]
        assert [row[1] for row in mine] == ["1", "30", "3"]  # two values of C, and a curve of three
        for row in mine[:2]:
            assert row[module.HEAD.index("timed")] == "all"
            assert len(set(row[module.HEAD.index("errors")].split(", "))) == 1  # SVC finds the same number
            assert row[module.HEAD.index("count equal")] == "yes"
            assert float(row[-1]) < 0.05  # decision values, to the tolerance of SVC
        assert [row[-1] for row in rows if row[0] == f"{name}, 25"] == ["yes"]  # the step function
    assert "<!-- peers_loo -->" in page.read_text()


def test_refits_that_would_take_long_are_sampled(script, monkeypatch):
    module = script("peers_loo")
    monkeypatch.setattr(module, "BUDGET", 0.0)
    monkeypatch.setattr(module, "SAMPLED", 3)
    X, y, gamma = module.moons(40)
    found = module.refits(X, y, gamma, 1.0)
    assert found.timed == "3"
    for i, held in zip(found.rows, found.held, strict=True):
        rest = np.arange(40) != i
        machine = SVC(gamma=gamma, C=1.0).fit(X[rest], y[rest])
        assert held == pytest.approx(machine.decision_function(X[[i]])[0], abs=1e-12)


@pytest.mark.slow
def test_figures_of_leave_one_out_run(script, capsys, monkeypatch, tmp_path):
    module = script("xu2019_figures")
    monkeypatch.setattr(module, "PICTURES", tmp_path / "pictures")
    page = tmp_path / "RESULTS.md"
    options = ["--n", "40", "--features", "6", "--Cs", "3", "--repeats", "1", "--draws", "2"]
    overview = tmp_path / "pages" / "overview.png"
    module.main([*options, "--sets", "poly5", "sigmoid", "--write", str(page), "--overview", str(overview)])
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    for figure in (["7", "poly5"], ["8", "poly5"], ["9", "sigmoid"], ["10", "sigmoid"]):
        assert figure in [line[:2] for line in lines]
    assert "IndefiniteKernelWarning: The matrix of Sigmoid" in out
    assert "40:40" in out  # two draws of equal classes
    for kind in ("sparse", "equal", "shifted"):
        assert f"{kind}, direct form, 2 draws" in out
    nu = out.split("The nu machine")[1].split("\n\n")[1]
    assert sum(line.startswith("poly5") for line in nu.splitlines()) == len(module.NU)
    if "Pictures:" in out:  # matplotlib is there
        assert len(list((tmp_path / "pictures").glob("*.png"))) == 4
        assert overview.exists()
    assert out.strip() in page.read_text()


@pytest.mark.slow
def test_the_notes_grid_and_formula(script):
    module = script("xu2019_figures")
    np.testing.assert_allclose(np.log(module.grid()), -2.0 + np.arange(25) / 3.0)
    X, y = module.simulate(50, 6, 0)
    path = svmpath.trace(X, y, loss="hinge", gamma=0.3, span=(0.01, 10.0))
    K, rows = path.problem.gram.K, np.arange(50)
    for C in (0.5, 1.0, 8.0):
        machine = path(C)
        share = np.abs(machine.alpha) / C
        elbow = np.flatnonzero((share > 1e-9) & (share < 1 - 1e-9))
        assert len(elbow)
        expected = machine.fitted.copy()  # f_i - alpha_i s_i, s_i the distance to the span of the others on the elbow
        for i in rows[share > 0]:
            V = elbow[elbow != i]
            expected[i] -= machine.alpha[i] * (K[i, i] - K[i, V] @ np.linalg.solve(K[np.ix_(V, V)], K[V, i]))
        for form in ("direct", "features"):
            np.testing.assert_allclose(module.note_curve(path, np.array([C]), form)[0], expected, atol=1e-7)


def test_unknown_set_is_refused(script):
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script("ding2012_table2").main(["--sets", "nonsense"])


def test_default_grid_is_the_papers(script):
    common = script("_common")
    gammas, C = np.array(common.gamma_grid()), np.array(common.C_grid())
    assert len(gammas) == 13
    assert len(C) == 11
    np.testing.assert_allclose(gammas, 2.0 ** np.arange(-15, 10, 2))
    np.testing.assert_allclose(0.5 / C, 2.0 ** np.arange(-15, 6, 2))


def test_section_is_added_then_replaced(script):
    add = script("_common").with_section
    page = add(add("# Title\n", "one", "first"), "two", "second")
    assert page.count("<!-- one -->") == page.count("<!-- /two -->") == 1
    page = add(page, "one", "again")
    assert "first" not in page
    assert page.index("again") < page.index("second")


def test_table_is_aligned(script):
    assert script("_common").table(["a", "b"], [["xyz", "1"], ["u", "22"]]).splitlines() == [
        "a     b",
        "---  --",
        "xyz   1",
        "u    22",
    ]


@pytest.mark.slow
def test_which_criterion_runs(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script("which_criterion").main(["--n", "40", "--repeats", "1", "--write", str(page)])
    out = capsys.readouterr().out
    moons = [line.split() for line in out.splitlines() if line.startswith("moons")]
    assert [line[3] for line in moons[:6]] == ["0.01", "0.1", "1", "10", "100", "1000"]
    assert len(moons) == 7
    assert out.strip() in page.read_text()


@pytest.mark.slow
def test_repeated_rows_runs(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    options = ["--sets", "categorical 90", "--models", "PathSVC()", "PathSVR()", "--repeats", "1"]
    script("repeated_rows").main([*options, "--write", str(page)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("categorical 90")]
    assert len(lines) == 2
    assert all(line.endswith("yes") for line in lines)  # the same choice with all rows
    assert "Rows that repeat" in page.read_text()


@pytest.mark.slow
def test_full_kernel_runs(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script("full_kernel").main(["--problems", "2", "--rows", "700", "--write", str(page)])
    out = capsys.readouterr().out
    assert out.count("4 of 4") == 7  # of each loss, all bounds hold
    assert out.count("refined") == 4
    assert "Bounds of approximation_gap" in page.read_text()


@pytest.mark.slow
def test_full_kernel_tuning_runs(script, capsys):
    script("full_kernel_tuning").main(["--sets", "noisy:2100", "--efforts", "auto"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("noisy ")]
    assert len(lines) == 2
    assert "rank 2100" in lines[1]
    assert abs(float(lines[0].split()[7]) - float(lines[1].split()[3])) < 3.0  # points of error


@pytest.mark.slow
def test_full_kernel_growth_runs(script, capsys):
    script("full_kernel_growth").main(["--rows", "2100", "--pair", "2100"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("2100 ")]
    assert [" ".join(line[1:3]) for line in lines[-3:]] == ["full kernel", "all of", "one pair,"]
    assert int(lines[-1][5]) < int(lines[-3][5])  # products of one machine, and of the search
    assert abs(float(lines[-1][-2]) - float(lines[-2][-2])) < 4.0  # points of error


@pytest.mark.slow
def test_waiting(script, capsys):
    script("waiting").main(["--only", "a path", "ten folds"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines if line.startswith(("in a", "after"))] == [
        ["in", "a", "notebook"],
        ["after", "Ctrl-C", "ten"],
    ]


def test_times_before_and_after_are_compared_on_the_sets_that_both_have(script):
    seconds = {("a", "before"): 1.0, ("a", "after"): 2.0, ("a", "grid"): 8.0, ("b", "after"): 1.0}
    facts = {"n": 10, "d": 2, "classes": 2, "error": 0.25}
    entries = [{"set": name, "method": method, "seconds": each, **facts} for (name, method), each in seconds.items()]
    text = script("tuning_times").report([*entries, {"set": "a", "method": "optuna", "limit": 10}])
    assert "after / before: 2.00 (geometric mean of 1 sets)" in text
    assert "grid / after: 4.0 (1 sets; over the limit on 0 more)" in text
    assert sum(line.startswith(("a ", "b ")) for line in text.splitlines()) == 1
