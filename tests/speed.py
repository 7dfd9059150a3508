"""Which parameters of a test run in ``make test``; the others carry the mark ``slow`` and run in ``make slow``."""

import pytest


def slow_except(values, quick):
    """Parameters for ``pytest.mark.parametrize``: the quick ones as they are, the others marked slow."""
    quick = list(quick)
    assert all(value in values for value in quick)  # a name that has changed would silently slow nothing down
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]
