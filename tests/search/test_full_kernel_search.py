"""From low rank to the full kernel: that it is done where it pays, and what the model is then."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

import svmpath
from svmpath import PathSVC, PathSVR, Range, Report, criteria
from svmpath.gram import LowRankGram, Nystroem, ProductGram
from svmpath.kernels import RBF
from svmpath.losses import SquaredHinge
from svmpath.paths import FullKernelPath
from svmpath.search import STRATEGIES, limits
from svmpath.search.full_kernel import Passes, folds_of, missed


def noisy(n, seed=0):
    """Columns whose kernel has a spectrum that decays slowly, and wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    t = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2
    return X, t + 0.3 * rng.normal(size=n), np.where(rng.random(n) < 0.1, -np.sign(t), np.sign(t))


@pytest.fixture
def few_are_many(monkeypatch):
    """As if 60 rows were too many for the full matrix."""
    monkeypatch.setattr(limits, "FULL_ROWS", 60)
    monkeypatch.setattr(limits, "UNNARROWED_ROWS", 60)
    monkeypatch.setattr(limits, "FULL_OPERATIONS", 1.0)
    monkeypatch.setattr(limits, "LAST_FULL_ROWS", 0)
    monkeypatch.setattr(limits, "FIRST_RANK", 20)
    monkeypatch.setattr(limits, "MOST_RANK", 80)


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
@pytest.mark.parametrize("kind", ["two classes", "three classes", "regression"])
def test_the_full_kernel_follows_low_rank(few_are_many, kind):
    X, t, y = noisy(300)
    target = {"two classes": y, "three classes": np.digitize(t, [-0.5, 0.5]), "regression": t}[kind]
    make = PathSVR if kind == "regression" else PathSVC
    quick, model = (make(effort=effort, random_state=0).fit(X, target) for effort in ("quick", "auto"))
    assert not isinstance(quick.path_, FullKernelPath)
    assert isinstance(model.path_, FullKernelPath)
    assert "full kernel" in [stage.name for stage in model.choice_.stages]
    assert model.rank_ == 300
    assert model.residual_ == 0.0
    assert model.criterion_ == "kfold"
    assert model.tol_ == model.path_.tol
    # The machine of these parameters on the full kernel matrix, found in another way.
    same = make(C=model.C_, gamma=model.gamma_, loss=model.loss_, rank=None, random_state=0).fit(X, target)
    new = noisy(100, 1)[0]
    scale = 1.0 if make is PathSVC else np.std(t)
    difference = (
        model.predict(new) - same.predict(new)
        if make is PathSVR
        else model.decision_function(new) - same.decision_function(new)
    )
    assert np.abs(difference).max() < 0.03 * scale
    # Held-out values are those of folds, of machines that have not seen their rows.
    folds = make(
        C=model.C_, gamma=model.gamma_, loss=model.loss_, rank=None, criterion="kfold", scoring=None, random_state=0
    ).fit(X, target)
    assert model.held_out_error() == pytest.approx(folds.held_out_error(), abs=0.02 * scale**2)
    table = model.search_table_
    assert table[table.stage == "full kernel"].kept.sum() == 1
    again = clone(model).fit(X, target)
    assert (again.C_, again.gamma_) == (model.C_, model.gamma_)


def test_what_a_model_on_the_full_kernel_can_do(few_are_many, tmp_path):
    X, _, y = noisy(200)
    model = PathSVC(random_state=0, gamma=Range(0.01, 1.0), C=Range(0.1, 10.0)).fit(X, y)
    assert isinstance(model.path_, FullKernelPath)
    assert model.predict_proba(X[:5]).shape == (5, 2)
    assert 0.0 < model.held_out_error() < 0.5
    assert len(model.held_out_table()) == 200
    assert model.nested_error("bootstrap").value >= model.held_out_error()
    with pytest.raises(ValueError, match="no leave-one-out error"):
        model.loo_error()
    assert 0 < len(model.support_) <= 200
    assert np.isclose(model.dual_coef_.sum(), 0.0, atol=1e-8)
    assert sum(len(each) for each in model.predict_set(X[:5])) >= 5


def test_low_rank_that_is_enough_stays(few_are_many):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, 1, -1)
    model = PathSVC(gamma=Range(0.01, 0.05), C=Range(0.01, 1.0), random_state=0).fit(X, y)
    assert not isinstance(model.path_, FullKernelPath)


@pytest.mark.parametrize("kind", ["two classes", "regression"])
def test_predictions_from_landmarks_where_that_changes_no_held_out_decision(few_are_many, monkeypatch, kind):
    X, t, y = noisy(240)
    make, target = (PathSVR, t) if kind == "regression" else (PathSVC, y)
    options = {"C": 1.0, "gamma": 0.02, "effort": "best", "random_state": 0}
    monkeypatch.setattr("svmpath.search.full_kernel._SMALL_GAP", 0.0)
    monkeypatch.setattr(limits, "MOST_RANK", 230)
    monkeypatch.setattr(limits, "PRECONDITIONER", 14.0)  # nearly all rows
    small = make(**options).fit(X, target)
    monkeypatch.setattr(limits, "PRECONDITIONER", 1.0)  # too few
    large = make(**options).fit(X, target)
    assert large.compression_error_ == 0.0
    assert 0.0 < small.compression_error_ < 0.02
    new = noisy(50, 1)[0]
    decide = "predict" if make is PathSVR else "decision_function"
    np.testing.assert_allclose(getattr(small, decide)(new), getattr(large, decide)(new), atol=0.05)
    seen = []
    kernel = type(small.kernel_)
    call = kernel.__call__
    monkeypatch.setattr(kernel, "__call__", lambda *a, **k: seen.append(call(*a, **k).shape) or call(*a, **k))
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_allclose(getattr(again, decide)(new), getattr(small, decide)(new))
    seen.clear()
    small.predict(new)
    assert max(shape[1] for shape in seen) < 240


def test_what_changes_a_held_out_label_is_noticed(few_are_many):
    X, t, y = noisy(240)
    options = {"C": 1.0, "gamma": 0.1, "random_state": 0}
    model = PathSVC(**options).fit(X, y)
    f = model._held_out.decisions()
    for row in (0, 17, 239):
        change = np.zeros((240, 1))
        change[row] = -2 * f[row]
        assert not model._held_out.is_unchanged(change)
        assert model._held_out.is_unchanged(-0.4 * change)
    numbers = PathSVR(**options).fit(X, t)
    error = np.sqrt(numbers.held_out_error())
    assert numbers._held_out.is_unchanged(np.full((240, 1), 0.0099 * error))
    assert not numbers._held_out.is_unchanged(np.full((240, 1), 0.0101 * error))
    cut = PathSVC(threshold=0.5, **options).fit(X, y)
    change = np.zeros((240, 1))
    row = np.flatnonzero(cut._held_out.decisions() > 0.5)[0]
    change[row] = 0.25 - cut._held_out.decisions()[row]
    assert not cut._held_out.is_unchanged(change)


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, random_state=0),
        TimeSeriesSplit(3),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        PredefinedSplit(np.arange(240) % 3 - 1),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splits_that_do_not_hold_out_each_row_once(few_are_many, cv):
    X, _, y = noisy(240)
    model = PathSVC(C=[0.3, 1.0, 3.0], gamma=0.1, cv=cv, effort="best", random_state=0).fit(X, y)
    assert isinstance(model.path_, FullKernelPath)
    assert 0.0 < model.held_out_error() < 0.5


def test_the_map_to_features_is_saved_where_predictions_use_it(few_are_many, monkeypatch):
    X, _, y = noisy(240)
    monkeypatch.setattr("svmpath.search.full_kernel._SMALL_GAP", 0.0)
    monkeypatch.setattr(limits, "MOST_RANK", 230)
    monkeypatch.setattr(limits, "PRECONDITIONER", 14.0)
    model = PathSVC(C=1.0, gamma=0.02, effort="best", random_state=0).fit(X, y)
    assert model.compression_error_ > 0.0
    saved = pickle.dumps(model)
    monkeypatch.setattr(Nystroem, "prepare", lambda *args: pytest.fail("features are made anew"))
    np.testing.assert_allclose(pickle.loads(saved).decision_function(X[:9]), model.decision_function(X[:9]))


def test_weights_count_in_what_is_affordable(few_are_many):
    X, _, y = noisy(200, 3)
    model = PathSVC(C=1.0, gamma=0.1, effort="best", random_state=0).fit(X, y, sample_weight=np.full(200, 1e5))
    assert not isinstance(model.path_, FullKernelPath)


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_machines_that_are_not_found_leave_it_to_low_rank(few_are_many, monkeypatch):
    X, t, y = noisy(200, 3)
    monkeypatch.setattr("svmpath.paths.full_kernel_path.FULL_GAP", 1e-40)
    for target in (y, np.digitize(t, [-0.5, 0.5])):
        model = PathSVC(random_state=0, C=[0.3, 1.0], gamma=[0.05, 0.1]).fit(X, target)
        assert not isinstance(model.path_, FullKernelPath)
        assert model.rank_ > 10


def test_one_matrix_is_held_and_freed(few_are_many):
    X, _, y = noisy(120)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)  # copies
    gram = ProductGram(RBF(0.1), X, Nystroem(20))
    parts = [gram.at("gamma", gamma).take(np.arange(120)) for gamma in (0.1, 0.2)]
    V = np.eye(120)[:, :2]
    for part in parts:
        np.testing.assert_allclose(part.fast(V), part.matmul(V), atol=1e-5)
    assert parts[0]._held is parts[1]._held
    model = PathSVC(random_state=0, C=[0.3, 1.0], gamma=[0.05, 0.1]).fit(X, y)
    assert isinstance(model.path_, FullKernelPath)
    model.predict_set(X[:3])
    held = model.path_.gram._held
    assert held.matrix is None
    assert held.part is None or held.part.matrix is None


@pytest.mark.parametrize(
    ("options", "is_full"),
    [
        ({"effort": "best"}, True),
        ({"effort": "quick"}, False),
        ({"criterion": "span"}, False),  # as asked for, which the full kernel does not have
        ({"criterion": "kfold"}, True),
        ({"rank": 50}, False),
        ({"kernel": "linear"}, False),
        ({"C": 1.0, "gamma": 0.1}, True),
        ({"scoring": "roc_auc"}, True),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning", "ignore::svmpath.EdgeWarning")
def test_when(few_are_many, options, is_full):
    X, _, y = noisy(200, 2)
    model = PathSVC(random_state=0, **{"gamma": [0.05, 0.1, 0.2], "C": [0.3, 1.0, 3.0], **options}).fit(X, y)
    assert isinstance(model.path_, FullKernelPath) == is_full


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_a_large_C_is_left_to_higher_ranks(few_are_many, monkeypatch):
    X, _, y = noisy(200, 3)
    monkeypatch.setitem(limits.FULL_KERNEL_PASSES, "auto", 20.0)
    model = PathSVC(C=1e4, gamma=0.1, random_state=0).fit(X, y)
    assert not isinstance(model.path_, FullKernelPath)
    assert model.rank_ > 20


def test_unknown_effort():
    with pytest.raises(ValueError, match="effort must be one of 'quick', 'auto', 'best'; got 'fast'"):
        PathSVC(effort="fast").fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_the_report_says_so(few_are_many, monkeypatch):
    X, _, y = noisy(200)
    options = {"gamma": [0.05, 0.1], "C": [0.3, 1.0], "random_state": 0}
    full, low = (PathSVC(effort=effort, **options).fit(X, y) for effort in ("auto", "quick"))
    notes, others = ([each["text"] for each in Report(model, X, y).facts["overview"]["notes"]] for model in (full, low))
    assert any("compared on the full kernel, by 5-fold" in note for note in notes)
    assert not any("duality gap of" in note and "low rank" in note for note in notes)
    assert any("On the full kernel this machine of low rank has a relative duality gap of" in note for note in others)


def budget(options, X, target, effort="auto"):
    """What a search on the full kernel may do, and a kernel matrix in low rank."""
    seen = []

    def keep(tuner):
        seen.append(tuner)
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STRATEGIES, "auto", keep)
        with pytest.raises(InterruptedError):
            PathSVC(effort=effort, random_state=0, **options).fit(X, target)
    (tuner,) = seen
    return tuner, Passes(tuner, SquaredHinge()), LowRankGram(RBF(0.1), tuner.gram.X, Nystroem(20, "uniform"))


def test_how_many_values_of_C_are_affordable(few_are_many):
    X, _, y = noisy(240)
    _, passes, low = budget({}, X, y)
    most = passes.most_C(low)
    assert 0.0 < most < np.inf
    three = passes.values(low, most / 100.0)
    np.testing.assert_allclose(three, most / 100.0 * np.array([10**-0.5, 1.0, 10**0.5]))
    assert passes.values(low, 0.9 * most) == [0.9 * most]
    smaller = passes.values(low, 2.0 * most)  # too much, so that those around a smaller one are looked at
    assert len(smaller) == 3
    assert max(smaller) < most
    assert passes.values(low, 1e3 * most) == []
    passes.pay(20, 3)
    assert passes.most_C(low) < most
    # All but a few samples are right of the margin: less may be done.
    left = passes.left
    passes.restrict([type("P", (), {"y": y, "n": 240, "task": "classification"})], [2.0 * y])
    assert passes.left == 0.0
    assert left > 0.0


def test_with_many_classes_there_are_fewer_folds(few_are_many):
    X, t, y = noisy(240)
    eight = np.argsort(np.argsort(t)) // 30
    for target, options, number in (
        (y, {}, 5),
        (eight, {}, 1),
        (eight, {"criterion": "kfold"}, 5),
        (eight, {"cv": ShuffleSplit(4, random_state=0)}, 4),
    ):
        tuner, _, _ = budget(options, X, target)
        assert len(folds_of(tuner)) == number
    tuner, _, _ = budget({}, X, eight)
    assert len(folds_of(tuner, every=True)) == 5
    tuner, _, _ = budget({}, X, eight, effort="best")
    assert len(folds_of(tuner)) == 5


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning", "ignore::svmpath.EdgeWarning")
def test_larger_gammas_are_scouted_where_C_is_too_large(few_are_many, monkeypatch):
    X = np.random.default_rng(0).uniform(-1, 1, size=(320, 2))
    classes = np.digitize(np.sin(6 * X[:, 0]) + np.sin(6 * X[:, 1]), [-1.2, -0.6, -0.2, 0.2, 0.6, 1.2])
    monkeypatch.setattr(limits, "FIRST_RANK", 8)  # of a kernel that needs more
    monkeypatch.setattr(limits, "MOST_RANK", 8)
    monkeypatch.setattr("svmpath.search.full_kernel._SCOUTS", (100, 160))
    monkeypatch.setattr("svmpath.search.rank.is_full_affordable", lambda passes, curve: False)
    model = PathSVC(random_state=0, loss="squared_hinge").fit(X, classes)
    assert isinstance(model.path_, FullKernelPath)
    stages = {stage.name: stage for stage in model.choice_.stages}
    assert stages["scout"].rank < 160
    low = stages["rank"]
    (first,) = low.tried
    assert min(stages["scout"].tried) > first
    assert model.gamma_ > first
    table = model.search_table_
    assert table[table.stage == "full kernel"].kept.sum() == 1
    # One of five folds: what is held out is said.
    assert 40 < np.isfinite(model.held_out_table().influence).sum() < 90
    assert 0.0 < model.held_out_error() < 0.9
    notes = [each["text"] for each in Report(model, X, classes).facts["overview"]["notes"]]
    assert any("by 5-fold, of which 1 held out" in note for note in notes)


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_a_look_that_fails_enters_no_rank_twice(few_are_many, monkeypatch):
    X, t, y = noisy(200, 3)
    monkeypatch.setattr("svmpath.paths.full_kernel_path.FULL_GAP", 1e-40)
    for target in (y, np.digitize(t, [-0.5, 0.5])):
        model = PathSVC(random_state=0, loss="squared_hinge", C=[0.3, 1.0], gamma=[0.05, 0.1]).fit(X, target)
        ranks = [stage.rank for stage in model.choice_.stages if stage.name == "rank"]
        assert len(ranks) > 1
        assert ranks == sorted(set(ranks))


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
@pytest.mark.parametrize("kind", ["two classes", "three classes", "regression"])
def test_with_very_many_rows_the_pair_is_that_of_some_of_them(few_are_many, monkeypatch, kind):
    n, seed = (300, 0) if kind == "regression" else (400, 3)
    X, t, y = noisy(n, seed)
    monkeypatch.setattr(limits, "SEARCHED_ROWS", 100)
    monkeypatch.setattr(limits, "SCOUTING_ROWS", 150)
    target = {"two classes": y, "three classes": np.digitize(t, [-0.5, 0.5]), "regression": t}[kind]
    make = PathSVR if kind == "regression" else PathSVC
    model = make(random_state=0).fit(X, target)
    stages = {stage.name: stage for stage in model.choice_.stages}
    assert stages["scout"].rank == 150
    ((gamma, scores),) = stages["full kernel"].tried.items()
    assert gamma in stages["scout"].tried
    assert len(scores.values) == 1
    assert (model.gamma_, model.C_) == (gamma, scores.best)
    assert isinstance(model.path_, FullKernelPath)
    assert model.path_.gram.n == n
    assert n // 6 < np.isfinite(model.held_out_table().influence).sum() < n // 4  # one fold of five
    best = make(random_state=0, effort="best").fit(X, target)  # with all rows
    assert "scout" not in {stage.name for stage in best.choice_.stages}
    assert isinstance(best.path_, FullKernelPath)


@pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning")
def test_very_many_rows_of_which_a_low_rank_knows_all_stay_there(few_are_many, monkeypatch):
    monkeypatch.setattr(limits, "SEARCHED_ROWS", 100)
    X, _, y = noisy(300)
    model = PathSVC(random_state=0, gamma=[1e-4, 2e-4]).fit(X, y)
    assert not isinstance(model.path_, FullKernelPath)
    assert "scout" not in {stage.name for stage in model.choice_.stages}


def test_what_a_low_rank_misses():
    X, _, y = noisy(200)
    low = svmpath.trace(X, y, gamma=0.1, rank=20, random_state=0)(1.0)
    rest = low.problem.gram.kernel(X) - low.problem.gram.Z @ low.problem.gram.Z.T
    primal = float(low.problem.s @ np.maximum(1.0 - y * low.fitted, 0.0) ** 2)
    primal += 0.5 * float(low.alpha @ low.problem.gram.matmul(low.alpha))
    expected = 0.5 * float(low.alpha @ rest @ low.alpha) / primal
    assert missed(low, 0) == pytest.approx(expected, rel=1e-6)
    assert criteria.approximation_gap(low).gap <= expected * (1 + 1e-6)
