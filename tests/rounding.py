"""Numbers that were computed twice may differ by rounding, on some processors only.

A library of linear algebra sums in an order that depends on the processor, on the threads and on where an array lies in
memory. So one problem stated in two ways, solved in two threads or read back from a file has the same solution up to
some roundings, which a system with a condition of a million makes a million times as large.
"""

import numpy as np

_SHARE = 1e-9  # of each number: a few roundings, times a condition of 1e6
_OF_LARGEST = 1e-12  # for numbers that cancel, of the largest one


def assert_same(found, expected):
    """Raise an error unless the numbers are the same up to rounding."""
    expected = np.asarray(expected)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=_SHARE, atol=_OF_LARGEST * largest)
