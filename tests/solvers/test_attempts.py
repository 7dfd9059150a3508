"""One setting after another until the result is good."""

import pytest

from svmpath import PathError
from svmpath.exceptions import NoMarginError
from svmpath.solvers.attempts import first_success, try_in_turn


def fail_below(limit):
    made = []

    def make(setting):
        made.append(setting)
        if setting < limit:
            raise PathError(f"not with {setting}")
        return 10 * setting

    return make, made


def test_the_first_success_ends_the_attempts():
    make, made = fail_below(2)
    assert first_success([0, 1, 2, 3], make) == 20
    assert made == [0, 1, 2]


def test_the_last_reason_is_raised_if_all_fail():
    make, _ = fail_below(9)
    with pytest.raises(PathError, match="not with 3"):
        first_success([0, 1, 3], make, otherwise=PathError("none"))
    with pytest.raises(PathError, match="not with 3"):
        first_success([0, 1, 3], make)
    with pytest.raises(PathError, match="nothing was good"):
        first_success([0, 1], lambda setting: None, otherwise=PathError("nothing was good"))


def test_the_first_and_the_last_reason_are_kept():
    make, _ = fail_below(9)
    found = try_in_turn([0, 1, 3], make)
    assert str(found.first_error) == "not with 0"
    assert str(found.error) == "not with 3"


def test_the_best_of_results_that_are_not_good():
    found = try_in_turn([3, 1, 2], lambda setting: setting, is_good=lambda result: result < 1)
    assert found.good is None
    assert found.poor == [3, 1, 2]
    assert found.best(cost=float) == 1
    assert try_in_turn([3, 0, 2], lambda setting: setting, is_good=lambda result: result < 1).best(cost=float) == 0
    assert try_in_turn([], lambda setting: setting).best(cost=float) is None


def test_without_time_there_is_no_second_result_but_a_first_one():
    make, made = fail_below(1)
    found = try_in_turn([0, 0, 1, 2, 3], make, is_good=lambda result: False, is_over=lambda: True)
    assert made == [0, 0, 1]
    assert found.poor == [10]


def test_a_machine_that_does_not_exist_is_no_matter_of_settings():
    def make(setting):
        made.append(setting)
        raise NoMarginError("no margin")

    made = []
    with pytest.raises(NoMarginError):
        try_in_turn([1, 2, 3], make)
    assert made == [1]
