"""The cost model says what was measured, and grows as it should."""

import pytest

from svmpath.scale import FIGURES, estimate


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_come_out(figure):
    memory = None if figure.is_held else 1.0
    found = estimate(figure.n, 20, figure.rank, 1, values=figure.values, memory=memory)
    assert found.storage == ("double precision" if figure.is_held else "made anew")
    assert found.processor_seconds / figure.n * 1e6 == pytest.approx(figure.microseconds, rel=1 / 3)


def test_costs_grow_with_rows_and_shrink_with_workers():
    small, large = estimate(10**6, 20, 300, 4), estimate(10**7, 20, 300, 4)
    assert large.processor_seconds == pytest.approx(10 * small.processor_seconds)
    assert large.bytes == small.bytes  # sums are as large, however many rows there are
    assert estimate(10**7, 20, 300, 50).seconds < large.seconds
    assert estimate(10**7, 20, 300, 1).bytes == 0
    assert estimate(10**9, 20, 300, 4).client_memory == estimate(10**8, 20, 300, 4).client_memory


def test_memory_decides_how_features_are_kept():
    need = 10**6 * 300 * 8
    kept = [estimate(10**6, 20, 300, 1, memory=memory).storage for memory in (2 * need, need, need / 2.1)]
    assert kept == ["double precision", "single precision", "made anew"]


def test_what_is_no_size_is_refused():
    with pytest.raises(ValueError, match="rank must be a number >= 1, got 0"):
        estimate(1000, 20, 0, 1)
    with pytest.raises(ValueError, match="folds must be a number >= 1, got 0"):
        estimate(1000, 20, 10, 1, folds=0)
    with pytest.raises(ValueError, match="n must be a number >= 1, got '1e6'"):
        estimate("1e6", 20, 10, 1)
    with pytest.raises(ValueError, match="bandwidth must be a number of bytes above 0, got 0"):
        estimate(1000, 20, 10, 1, bandwidth=0)
    with pytest.raises(ValueError, match="memory must be a number of bytes above 0, got '4GiB'"):
        estimate(1000, 20, 10, 1, memory="4GiB")
