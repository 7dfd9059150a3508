"""A wrong name is answered with the names there are, and with the nearest of them."""

import pytest

from svmpath.names import nearest_name, unknown_name
from svmpath.parameters import Parameter

LOSSES = ["hinge", "squared_hinge", "least_squares", "epsilon_insensitive", "nu"]


def test_the_sentence_lists_the_names_and_proposes_one():
    assert unknown_name("kernel", "rbg", ["linear", "rbf"], "a kernel object or function") == (
        "kernel must be one of 'linear', 'rbf', or a kernel object or function; got 'rbg'. Did you mean 'rbf'?"
    )


def test_the_sentence_proposes_nothing_where_nothing_is_near():
    assert unknown_name("over", "temperature", ["C", "nu"]) == "over must be one of 'C', 'nu'; got 'temperature'."


def test_one_name_alone_is_not_a_list():
    assert unknown_name("over", "C", ["nu"]) == "over must be 'nu'; got 'C'."


@pytest.mark.parametrize(
    ("given", "possible", "nearest"),
    [
        ("c", ["nu", "C"], "C"),
        ("Hinge", LOSSES, "hinge"),
        ("hinge ", LOSSES, "hinge"),
        ("squared-hinge", LOSSES, "squared_hinge"),
        ("least squares", LOSSES, "least_squares"),
        ("squred_hinge", LOSSES, "squared_hinge"),
        ("gama", ["C", "gamma"], "gamma"),
        ("zzz", LOSSES, None),
        (3, LOSSES, None),
        (None, LOSSES, None),
    ],
)
def test_the_nearest_name(given, possible, nearest):
    assert nearest_name(given, possible) == nearest


def test_what_is_the_same_but_for_its_case_comes_before_what_is_spelt_alike():
    assert nearest_name("NU", ["mu", "nu"]) == "nu"


@pytest.mark.parametrize(
    ("lowest", "log", "allowed", "refused"),
    [
        ("positive", True, [1e-300, 2.0], [0.0, -1.0, float("inf"), float("nan")]),
        ("not negative", True, [0.0, 2.0], [-1e-300, float("inf"), float("nan")]),
        ("any", False, [0.0, -2.0], [float("-inf"), float("nan")]),
    ],
)
def test_a_parameter_knows_its_values(lowest, log, allowed, refused):
    parameter = Parameter("p", lowest, log)
    assert [parameter.check(value) for value in allowed] == allowed
    for value in [*refused, "much", None]:
        with pytest.raises(ValueError, match=f"p must be .*, got {value!r}"):
            parameter.check(value)


def test_a_parameter_of_either_sign_has_no_logarithm():
    with pytest.raises(ValueError, match="log=False"):
        Parameter("coef0", lowest="any")


def test_a_bound_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="lowest must be one of"):
        Parameter("p", lowest="big")
