"""Work in threads: in order, errors at once, and no wait for the workers of a call that was interrupted."""

import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

from svmpath.interrupts import Cancelled
from svmpath.solvers.lapack import pivoted_cholesky
from svmpath.solvers.parallel import checkpoint, interruptible, side_by_side

LONG = 300.0  # seconds after which something that should have happened did not


def linger():
    """Work that comes back to Python often, as the engines do, and has no end."""
    while True:
        checkpoint()
        time.sleep(0.01)


@pytest.mark.parametrize("n_jobs", [1, 2, 5, 50])
def test_results_come_in_order(n_jobs):
    def square(i):
        time.sleep(0.02 * (i % 3 == 0))
        return i * i

    assert side_by_side(square, range(7), n_jobs) == [i * i for i in range(7)]


def test_no_items_and_one_job_need_no_thread():
    names = side_by_side(lambda _: threading.current_thread().name, [0, 1], 1)
    assert names == [threading.main_thread().name] * 2
    assert side_by_side(abs, [], 4) == []


def test_no_more_threads_than_asked_for():
    lock, inside, most, three = threading.Lock(), [0], [0], threading.Barrier(3)

    def enter(_):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        three.wait(LONG)  # for three to be here at once
        with lock:
            inside[0] -= 1

    side_by_side(enter, range(12), 3)
    assert most[0] == 3


def test_an_error_is_raised_at_once_and_ends_the_others():
    ended = threading.Event()

    def work(item):
        if item == "wrong":
            raise ZeroDivisionError("one of them")
        try:
            linger()
        except Cancelled:
            ended.set()
            raise

    with pytest.raises(ZeroDivisionError, match="one of them"):
        side_by_side(work, ["long", "wrong"], 2)
    assert ended.wait(LONG)


def interrupted(work, workers=1):
    """The same work; Ctrl-C is pressed once, when so many workers have begun."""
    begun = threading.Semaphore(0)

    def press():
        if all(begun.acquire(timeout=LONG) for _ in range(workers)):
            signal.raise_signal(signal.SIGINT)

    def announced(*arguments):
        begun.release()
        return work(*arguments)

    threading.Thread(target=press, daemon=True).start()
    return announced


@pytest.fixture
def stubborn():
    """Work that never looks at the flag, and says whether it was waited for."""
    release, waited = threading.Event(), []

    def work(_=None):
        waited.append(not release.wait(LONG))

    yield work
    release.set()
    for thread in threading.enumerate():
        if thread.name == "svmpath worker":
            thread.join(LONG)
    assert not any(waited)


def test_an_interrupt_does_not_wait_for_the_workers(stubborn):
    with pytest.raises(KeyboardInterrupt):
        side_by_side(interrupted(stubborn), range(3), 2)


def test_an_interrupt_of_one_long_call_does_not_wait_for_it(stubborn):
    with pytest.raises(KeyboardInterrupt):
        interruptible(interrupted(stubborn))


def test_workers_leave_at_a_checkpoint_and_a_later_call_is_not_affected():
    ended = threading.Semaphore(0)

    def work(_):
        try:
            linger()
        except Cancelled:
            ended.release()
            raise

    with pytest.raises(KeyboardInterrupt):
        side_by_side(interrupted(work, workers=2), range(4), 2)
    assert side_by_side(lambda _: checkpoint(), range(4), 2) == [None] * 4
    checkpoint()  # nor is the main thread
    assert all(ended.acquire(timeout=LONG) for _ in range(2))


def test_a_call_inside_a_worker_ends_with_it():
    ended = threading.Event()

    def inner(_):
        try:
            linger()
        except Cancelled:
            ended.set()
            raise

    pressed = interrupted(inner)
    with pytest.raises(KeyboardInterrupt):
        side_by_side(lambda _: side_by_side(pressed, range(2), 2), range(2), 2)
    assert ended.wait(LONG)


def test_one_long_call_returns_and_raises_what_the_function_does():
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(interruptible(np.linalg.eigvalsh, A, UPLO="U"), [1.0, 3.0])
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(np.linalg.cholesky, -A)


def test_workers_see_the_floating_point_settings_of_the_caller():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(np.divide, np.ones(1), np.zeros(1))
    with np.errstate(divide="ignore"):
        assert np.isinf(side_by_side(lambda x: np.ones(1) / x, [np.zeros(1)] * 2, 2)).all()


def turns_during(work, n):
    """How often the main thread has its turn while another one decomposes a matrix of n rows."""
    A = np.random.default_rng(0).normal(size=(n, n))
    thread, turns = threading.Thread(target=work, args=(A @ A.T,)), 0
    thread.start()
    while thread.is_alive():
        thread.join(0.001)
        turns += 1
    return turns


def test_the_decompositions_in_use_let_the_main_thread_run():
    # In scipy.linalg they would hold the GIL, and the main thread would hear of Ctrl-C only afterwards. A processor
    # that is fast, or busy, gets larger matrices: with the GIL held there are no more turns for these.
    for work in (np.linalg.eigh, np.linalg.svd, partial(pivoted_cholesky, tol=1e-10)):
        assert any(turns_during(work, n) > 3 for n in (500, 1000, 2000, 4000)), work
