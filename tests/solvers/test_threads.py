"""BLAS has one thread unless n_jobs asks for more; the limit is set by the first inside and lifted by the last."""

import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import svmpath
from svmpath import PathSVC, criteria
from svmpath.gram.pivoted_cholesky import pivoted_cholesky
from svmpath.losses import LOSSES
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import _LIMIT, blas_threads, count_jobs, jobs

LARGE, SMALL = 10**7, 10**4


class Library:
    """Stands for the BLAS: the environment may hold the real one to a single thread."""

    number = 3

    def limit(self, limits, user_api):
        assert user_api == "blas"
        self.number = limits
        return self

    def restore_original_limits(self):
        self.number = Library.number


@pytest.fixture(autouse=True)
def library(monkeypatch):
    stand_in = Library()
    monkeypatch.setattr(_LIMIT, "_controller", stand_in)
    return stand_in


@pytest.fixture
def threads(library):
    return lambda: library.number


def test_the_real_library_is_limited_and_restored(monkeypatch):
    monkeypatch.setattr(_LIMIT, "_controller", None)

    def most():
        return max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")

    with threadpool_limits(2, user_api="blas"):
        before = most()
        with blas_threads(LARGE), blas_threads(SMALL):
            assert most() == 1
        assert most() == before


@pytest.mark.parametrize("entries", [SMALL, LARGE])
def test_one_thread_where_nobody_asks(threads, entries):
    with blas_threads(entries):
        assert threads() == 1
    assert threads() == 3


def test_jobs_give_large_matrices_their_threads(threads):
    with jobs(2):
        assert threads() == 1
        with blas_threads(LARGE):
            assert threads() == 2
            with blas_threads(SMALL):
                assert threads() == 1
            assert threads() == 2
        with blas_threads(SMALL):
            assert threads() == 1
    assert threads() == 3


def test_the_configuration_of_joblib_is_the_default(threads):
    with joblib.parallel_config(n_jobs=2):
        assert count_jobs(None) == 2
        with blas_threads(LARGE):
            assert threads() == 2
        with jobs(None), blas_threads(LARGE):
            assert threads() == 2
        with jobs(1), blas_threads(LARGE):
            assert threads() == 1


def test_kernels_side_by_side_have_one_thread_each(threads):
    def look(_):
        with blas_threads(LARGE):
            return threads()

    with jobs(2):
        assert side_by_side(look, range(4), 2) == [1] * 4
        assert look(None) == 2


def test_contexts_of_several_threads_may_overlap(threads):
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with blas_threads(SMALL):
            inside.set()
            leave.wait(30)

    other = threading.Thread(target=stay)
    with jobs(2), blas_threads(LARGE):
        other.start()
        inside.wait(30)
        assert threads() == 1  # the least that anybody inside has set
    assert threads() == 1
    leave.set()
    other.join(30)
    assert threads() == 3


def test_an_error_inside_lifts_the_limit(threads):
    with pytest.raises(ZeroDivisionError), jobs(2), blas_threads(LARGE):
        1 / 0  # noqa: B018
    assert threads() == 3


def test_no_jobs_at_all_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="n_jobs must be None"):
        PathSVC(gamma=1.0, n_jobs=0).fit(X, np.sign(X[:, 0]))


def problem(n=310):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    return X, np.sign(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=n))


def test_estimators_and_paths_keep_to_the_rule(threads, monkeypatch):
    monkeypatch.setattr("svmpath.solvers.threads._LARGE", 90_000)
    seen = []
    eigh = np.linalg.eigh

    def spy(K):
        seen.append((len(K), threads()))
        return eigh(K)

    monkeypatch.setattr(np.linalg, "eigh", spy)
    X, y = problem()
    C = np.geomspace(0.1, 10.0, 12).tolist()  # so many that they share a decomposition
    options = {"loss": "least_squares", "kernel": "laplacian"}
    PathSVC(**options, gamma=2.0, C=C, search="grid").fit(X, y)
    criteria.press(svmpath.trace(X, y, **options, gamma=2.0), C)
    assert {number for _, number in seen} == {1}
    seen.clear()
    PathSVC(**options, gamma=2.0, C=C, search="grid", n_jobs=2).fit(X, y)
    with joblib.parallel_config(n_jobs=2):
        criteria.press(svmpath.trace(X, y, **options, gamma=2.0), C)
    assert {number for size, number in seen if size >= 300} == {2}
    seen.clear()
    PathSVC(**options, gamma=[1.0, 2.0], C=C, search="grid", n_jobs=2).fit(X, y)
    assert {number for size, number in seen} == {1}
    assert threads() == 3


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "elastic_hinge"])
def test_landmarks_are_chosen_with_one_thread(threads, monkeypatch, loss):
    seen = []

    def spy(*arguments):
        seen.append(threads())
        return pivoted_cholesky(*arguments)

    monkeypatch.setattr("svmpath.gram.nystroem.pivoted_cholesky", spy)
    X, y = problem(40)
    targets = {"classification": y, "regression": X[:, 0], "novelty": None}
    path = svmpath.trace(X, targets[LOSSES[loss].tasks[0]], loss=loss, gamma=0.1, rank=10)
    path(min(path.span) + 0.5 * abs(path.span[1] - path.span[0]))
    assert set(seen) == {1}


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("svmpath.solvers.threads._LARGE", 90_000)
    monkeypatch.setattr(_LIMIT, "_controller", None)
    X, y = problem()
    for options in ({"gamma": 0.5}, {"gamma": [0.1, 0.5]}):
        one, two = (
            PathSVC(loss="least_squares", C=[0.1, 1.0], n_jobs=n_jobs, **options).fit(X, y) for n_jobs in (None, 2)
        )
        assert (one.C_, one.gamma_) == (two.C_, two.gamma_)
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)


def test_an_interrupt_while_the_limit_is_set_leaves_no_limit_behind(library, monkeypatch):
    def interrupted(limits, user_api):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(library, "limit", interrupted)
        with pytest.raises(KeyboardInterrupt), jobs(1):
            pass
    with jobs(1):
        assert library.number == 1
    assert library.number == Library.number
