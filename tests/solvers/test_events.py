"""The log of a walk: places at any value, logs joined, and a walk that goes down."""

import numpy as np

from svmpath.solvers.events import EventLog

LOG = EventLog.of([(1.0, 3, 0, 2), (2.0, 0, 1, 2), (2.0, 3, 2, 1), (4.0, 1, 2, 0)])


def test_places_are_those_after_the_events_so_far():
    first = np.array([1, 2, 0, 0], dtype=np.int8)
    np.testing.assert_array_equal(LOG.places(first, 0.5), first)
    np.testing.assert_array_equal(LOG.places(first, 1.0), [1, 2, 0, 2])
    np.testing.assert_array_equal(LOG.places(first, 2.0), [2, 2, 0, 1])  # of two events of variable 3 the last
    np.testing.assert_array_equal(LOG.places(first, 9.0), [2, 0, 0, 1])
    np.testing.assert_array_equal(first, [1, 2, 0, 0])  # not changed


def test_logs_are_joined_in_order():
    joined = EventLog.joined([LOG, EventLog.of([(5.0, 2, 0, 1, 0.25)])])
    assert len(joined) == 5
    np.testing.assert_array_equal(joined.t, [1.0, 2.0, 2.0, 4.0, 5.0])
    np.testing.assert_array_equal(joined.extra, [0.0, 0.0, 0.0, 0.0, 0.25])
    assert joined.source.dtype == np.int8


def test_an_empty_log_has_columns_of_the_right_types():
    for log in (EventLog.of(extra=bool), EventLog.joined([], extra=bool)):
        assert len(log) == 0
        assert log.extra.dtype == bool
        assert log.index.dtype == np.int64
        assert log.count_until(np.inf) == 0


def test_a_walk_down_counts_from_its_beginning():
    down = EventLog.of([(4.0, 0, 0, 1), (2.0, 1, 0, 1), (2.0, 2, 0, 1), (1.0, 3, 0, 1)])
    assert [down.count_until(t, falling=True) for t in (5.0, 4.0, 3.0, 2.0, 0.0)] == [0, 1, 1, 3, 4]
    assert [LOG.count_until(t) for t in (0.0, 1.0, 3.0, 4.0)] == [0, 1, 3, 4]
