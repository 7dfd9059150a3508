"""A parameter says which values it can have, and whether it is a scale."""

import pytest

from svmpath.parameters import Parameter


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
