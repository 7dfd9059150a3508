"""Nothing changes unseen: the golden values of ``tests/golden.py``, and how they are compared.

If a change is meant, ``python tests/golden.py --write tests/data/golden.npz`` writes them anew; say why in the commit.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests import golden

FILE = Path(__file__).parent / "data" / "golden.npz"
TOLERANCE = 1e-7  # another BLAS, another order of addition: up to 1e-8 was seen
OF_DESCENTS = 1e-5  # a quasi-Newton method ends where steps are small, which rounding moves: up to 3e-7 was seen


@cache
def stored():
    return golden.read(FILE)


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.PROBLEMS)
def test_golden_values(name):
    tolerance = OF_DESCENTS if name.endswith(("_ard", "_gradient")) else TOLERANCE
    gaps = golden.compare_portably(name, golden.run(name), stored()[name], tolerance)
    assert not gaps, "\n".join(f"{key}: {gap:.1e}" for key, gap in gaps.items())


def test_the_file_holds_the_problems_and_nothing_else():
    assert list(stored()) == list(golden.PROBLEMS)


def test_values_survive_the_file(tmp_path):
    found = {"one": {"x": np.array([[1.0, np.nan], [np.inf, 0.1]]), "text": "left>elbow"}, "two": {"n": np.array(3.0)}}
    golden.write(tmp_path / "golden.npz", found)
    again = golden.read(tmp_path / "golden.npz")
    assert list(again) == ["one", "two"]
    assert all(not golden.compare(again[name], found[name], 0.0) for name in found)


@pytest.mark.parametrize(
    "changed",
    [
        {"x": np.array([1.0, 2.0 + 1e-6]), "text": "a"},
        {"x": np.array([1.0, np.nan]), "text": "a"},
        {"x": np.array([1.0]), "text": "a"},
        {"x": np.array([1.0, 2.0]), "text": "b"},
        {"x": np.array([1.0, 2.0])},
        {"x": np.array([1.0, 2.0]), "text": "a", "more": np.array(1.0)},
    ],
    ids=["number", "nan", "shape", "text", "missing", "unknown"],
)
def test_a_change_is_seen(changed):
    kept = {"x": np.array([1.0, 2.0]), "text": "a"}
    assert golden.compare(kept, kept, 0.0) == {}
    assert len(golden.compare(changed, kept, 1e-7)) == 1


def test_differences_are_relative_to_one_plus_the_largest_number():
    assert golden.difference(np.array([3.0, 4e-3]), np.array([3.0, 0.0])) == pytest.approx(1e-3)


def test_a_problem_that_raises_is_reported_by_its_name(monkeypatch):
    def broken():
        raise ValueError("no")

    monkeypatch.setitem(golden.PROBLEMS, "broken", broken)
    found, failed = golden.run_all(["broken", "least_squares_sparse"])
    assert failed == {"broken": "ValueError: no"}
    assert list(found) == ["least_squares_sparse"]


def test_where_rounding_decides_only_decision_values_are_compared_elsewhere():
    kept = {"events_count": np.array(3.0), "new": np.array([1.0]), "fitted": np.array([2.0])}
    other = kept | {"events_count": np.array(5.0), "new": np.array([1.0 + 1e-4])}
    assert golden.compare_portably("hinge_to_a_gap", other, kept, 1e-7) == {}
    assert set(golden.compare_portably("tied_nu", other, kept, 1e-7)) == {"new"}
    assert set(golden.compare_portably("hinge_over_C", other, kept, 1e-7)) == {"events_count", "new"}
    assert all(set(golden.STABLE_KEYS) <= set(stored()[name]) for name in stored() if name.startswith("tied_"))
