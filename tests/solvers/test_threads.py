"""The limit on BLAS threads is set by the first who asks and lifted by the last."""

import numpy as np  # noqa: F401 - loads a BLAS to be limited
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmpath.solvers.threads import one_thread, one_thread_if_small


def threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_nested_and_interleaved_contexts_restore_the_number():
    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert threads() == 1
    first.__exit__(None, None, None)
    assert threads() == 1
    second.__exit__(None, None, None)
    assert threads() == before


def test_large_matrices_keep_their_threads():
    before = threads()
    with one_thread_if_small(10**7):
        assert threads() == before
    with one_thread_if_small(10**4):
        assert threads() == 1


def test_an_error_inside_lifts_the_limit():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert threads() == before
