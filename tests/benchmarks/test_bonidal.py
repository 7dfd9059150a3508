"""The scripts for Bonidal, Tindel & Guermeur (2013) run, on settings far too small to measure anything."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Import a script of the benchmarks folder, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module


def cells(out, name):
    """The rows of all tables whose first cell is a name."""
    return [line.split() for line in out.splitlines() if line.startswith(f"{name} ")]


@pytest.mark.slow
def test_table2_runs_on_generated_data(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    tiny = ["--size", "60", "--kernels", "2", "--Cs", "5", "--every", "2", "--max-iter", "20000"]
    script("bonidal2013_table2").main([*tiny, "--write", str(page)])
    out = capsys.readouterr().out
    assert len(cells(out, "banana")) == len(cells(out, "twonorm")) == 2
    assert "look-alike" in out
    assert "Not here, neither as file nor as generator: image" in out
    assert out.strip() in page.read_text()


def test_table2_path_and_libsvm_have_the_same_objective(script):
    module = script("bonidal2013_table2")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([-1.0, 1.0], 20)
    data = ("twonorm", "generated", X + y[:, None], y)
    row = module.measure(data, module.Paper(1.0, 0, 0, 0, 0, 0), np.geomspace(1e-7, 10, 9), 100_000, 2)
    assert row.stopped == 0
    assert row.tried == len(row.ratios) == 5
    np.testing.assert_allclose(row.dense, 1.0, atol=1e-7)
    np.testing.assert_allclose(row.ratios, 1.0, atol=0.1)
    assert row.gap < 1e-9
    assert 0 < row.sets <= 8
    assert row.moved >= row.sets


@pytest.mark.slow
def test_table3_4_runs_on_generated_data(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    tiny = ["--splits", "2", "--size", "50", "--Cs", "5", "--gammas", "2", "--surface-Cs", "3"]
    script("bonidal2013_table3_4").main([*tiny, "--write", str(page)])
    out = capsys.readouterr().out
    for name in ("ringnorm", "twonorm", "waveform"):
        assert len(cells(out, name)) == 3  # its errors, how far they are from the paper's, its times
    assert "Not here, neither as file nor as generator: banana, breast" in out
    assert "2 gammas x 3 values of C by exact leave-one-out" in out
    assert out.strip() in page.read_text()


@pytest.mark.slow
def test_table3_4_runs_on_files(script, capsys, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 45)
    X = 100.0 + 30.0 * (rng.normal(size=(90, 2)) + y[:, None])
    train = np.array([rng.permutation(90)[:60] for _ in range(2)])
    np.savez(tmp_path / "heart.npz", X=X, y=y, train_gen=train)
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    tiny = ["--splits", "1", "--sets", "heart", "--Cs", "5", "--gammas", "2", "--surface-Cs", "3"]
    script("bonidal2013_table3_4").main(tiny)
    errors, differences, times = cells(capsys.readouterr().out, "heart")
    assert errors[1:4] == ["0", "+", "1"]
    assert max(float(cell) for cell in errors[-5:]) < 30.0  # five methods
    assert set(differences[1:]) <= {"-", "+0.0"}  # they need two splits
    assert times[1:4] == ["file", "60", "2"]


def test_table5_runs_on_a_stand_in(script, capsys):
    tiny = ["--splits", "1", "--size", "150", "--test", "50", "--rank", "20", "--Cs", "4"]
    script("bonidal2013_table5").main(tiny)
    out = capsys.readouterr().out
    assert "GENERATED stand-in for Spam, 100 + 50 rows, 57 columns" in out
    assert len(cells(out, "default")) == len(cells(out, "rank=600")) == len(cells(out, "rpcholesky")) == 3
    assert len(cells(out, "gradient")) == 1


def test_table5_reads_spam(script, capsys, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    np.savez(tmp_path / "spambase.npz", X=rng.normal(size=(80, 3)) + 2 * y[:, None], y=y)
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    tiny = ["--splits", "1", "--test", "30", "--rank", "20", "--Cs", "4", "--sets", "rpcholesky"]
    script("bonidal2013_table5").main(tiny)
    out = capsys.readouterr().out
    assert "Table 5: Spam, 50 + 30 rows, 3 columns" in out
    assert "GENERATED" not in out


def test_table6_runs(script, capsys):
    tiny = ["--splits", "2", "--sizes", "60", "80", "--test", "200", "--Cs", "4", "--gammas", "2", "--rank", "20"]
    script("bonidal2013_table6").main([*tiny, "--surface-Cs", "3"])
    out = capsys.readouterr().out
    assert len(cells(out, "60")) == len(cells(out, "80")) == 1


def test_table6_draws_the_densities_of_the_paper(script):
    module = script("bonidal2013_table6")
    X, y = module.mixture(200_000, np.random.default_rng(0))
    plus, minus = X[y > 0], X[y < 0]
    assert abs(np.mean(y)) < 0.01
    np.testing.assert_allclose(plus.mean(axis=0), [1, 1], atol=0.05)
    np.testing.assert_allclose(np.cov(plus.T), [[8, -6], [-6, 8]], atol=0.15)
    np.testing.assert_allclose(minus.mean(axis=0), [2.5, -1], atol=0.05)
    near = minus[minus[:, 0] < 1.5]
    np.testing.assert_allclose(near.mean(axis=0), [0, 0], atol=0.05)
    assert module.bayes_error(X, y) == pytest.approx(13.67, abs=0.3)


def test_table8_runs_on_generated_data(script, capsys):
    script("bonidal2013_table8").main(["--size", "300", "--landmarks", "40", "--Cs", "5", "--libsvm", "600"])
    out = capsys.readouterr().out
    errors, times, testing = cells(out, "waveform")
    assert errors[1:4] == ["generated", "300", "300"]
    assert float(times[-3]) > 0
    assert float(testing[4]) == pytest.approx(
        float(testing[8]), abs=2.0
    )  # the compressed machine errs as the whole one
    assert float(testing[-1]) < 30.0
    assert "there is no ijcnn1, a9a" in out


def test_table8_runs_on_files(script, capsys, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 60).astype(np.int8)
    X = (0.2 * (rng.normal(size=(120, 4)) + y[:, None])).astype(np.float32)
    np.savez(tmp_path / "ijcnn1.npz", X=X, y=y, X_test=X, y_test=y)
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    script("bonidal2013_table8").main(["--sets", "ijcnn1", "--Cs", "5"])
    errors, _, testing = cells(capsys.readouterr().out, "ijcnn1")
    assert testing[-1] == "-"  # libsvm was not asked for
    assert "2.5" in errors


def test_table8_machine_is_that_of_linear_svc(script):
    """Without an offset worth penalising, LinearSVC on the features has the decision values of the path."""
    module = script("bonidal2013_table8")
    common = script("_bonidal")
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.repeat([-1.0, 1.0], 40)
    path = common.trace(X + y[:, None], y, kernel="poly", gamma=1.0, coef0=1.0, degree=2, rank=20, random_state=0)
    model = LinearSVC(loss="squared_hinge", dual=False, tol=1e-10, C=0.5, intercept_scaling=1e4)
    f = model.fit(path.gram.Z, y).decision_function(path.gram.Z)
    np.testing.assert_allclose(path(0.5)(X + y[:, None]), f, atol=1e-3)
    assert module.error_rate(np.array([1.0, -1.0, 2.0, 3.0]), np.array([1, -1, -1, 1])) == 25.0


@pytest.mark.slow
def test_floor_runs(script, capsys, monkeypatch, tmp_path):
    module = script("squared_hinge_floor")
    monkeypatch.setattr(module, "PICTURE", tmp_path / "out" / "floor.png")
    sizes = ["--n", "400", "--rank", "20", "--sizes", "100", "200", "300", "--max-n", "200", "--linear-rank", "10"]
    module.main([*sizes, "--Cs", "4", "--repeats", "1"])
    out = capsys.readouterr().out
    assert "n = 400, r = 20" in out
    assert len(cells(out, "path")) == 1
    assert len(cells(out, "100")) == len(cells(out, "200")) == 1
    assert not cells(out, "300")
    assert module.PICTURE.exists() == ("No picture" not in out)


def test_floor_verdicts(script):
    module = script("squared_hinge_floor")
    assert [module._against("path", seconds, 1.0, 15, 8)[-1] for seconds in (7, 14, 16)] == [
        "ambition",
        "reached",
        "MISSED",
    ]


@pytest.mark.slow
def test_figure3_runs_on_a_look_alike(script, capsys, tmp_path):
    picture = tmp_path / "new" / "figure3.png"
    script("bonidal2013_figure3").main(["--splits", "1", "--size", "40", "--Cs", "4", "--picture", str(picture)])
    out = capsys.readouterr().out
    assert "banana (look-alike), n = 40, gamma = 4/ms, first of 1 splits" in out
    assert len(cells(out, "prediction")) == len(cells(out, "bound")) == 2  # the minima at two widths
    assert picture.exists() == ("No picture" not in out)


def test_figure3_curves_are_those_of_refits(script):
    """Test errors are those of scikit-learn's machine, and no error rate is above the bound."""
    module = script("bonidal2013_figure3")
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([-1.0, 1.0], 30)
    X[:, 0] += y
    order = np.random.default_rng(1).permutation(60)
    train, test = order[:40], order[40:]
    values = np.array([0.05, 0.5, 5.0])
    found = module.measure((X[train], y[train], X[test], y[test]), values, 0, "1/(2ms)")
    np.testing.assert_allclose(found.lam, 1 / values)
    assert np.all(found.exact <= found.bound)
    gamma = module.WIDTHS["1/(2ms)"](X[train])
    K = rbf_kernel(X[train], gamma=gamma)
    for k, C in enumerate(values):  # a hard margin on K + lambda/2 I
        hard = SVC(C=1e9, kernel="precomputed", tol=1e-8).fit(K + np.eye(40) / (2 * C), y[train])
        f = hard.decision_function(rbf_kernel(X[test], X[train], gamma=gamma))
        assert found.test[k] == pytest.approx(np.mean((f > 0) != (y[test] > 0)), abs=0.051)  # one row: low rank
        assert abs(found.left[k] - len(hard.support_)) <= 1
    lowest = found.at_minimum("test")
    assert lowest[1] == pytest.approx(100 * found.test.min())


def test_unknown_set_is_refused(script):
    for name in ("table2", "table3_4", "table5", "table6", "table8", "figure3"):
        with pytest.raises(SystemExit, match="There is no set nonsense"):
            script(f"bonidal2013_{name}").main(["--sets", "nonsense"])


def test_values_are_the_papers(script):
    module = script("_bonidal")
    values = module.C_values()
    assert len(values) == 53
    np.testing.assert_allclose(1 / values[[0, -1]], [1e7, 1e-6])
    np.testing.assert_allclose(values[1:] / values[:-1], 10**0.25)
    np.testing.assert_allclose(module.gamma_factors(9), 2.0 ** np.arange(-4, 5))


def test_differences_are_told_in_standard_errors(script):
    module = script("_bonidal")
    ours = module.Sample(np.array([1.0, 2.0, 3.0]))  # mean 2, standard error 1 / sqrt(3)
    assert module.in_standard_errors(ours, 1.0, 2.0, 4) == pytest.approx(1.0 / np.sqrt(1 / 3 + 1))


def test_resampled_t_is_dietterichs(script):
    t = script("_bonidal").resampled_t
    p = np.array([1.0, 2.0, 3.0, 6.0])
    assert t(p, np.zeros(4)) == pytest.approx(3.0 * 2.0 / np.sqrt(14 / 3))
    assert t(p, p) == 0.0
    assert np.isnan(t(p[:1], np.zeros(1)))
