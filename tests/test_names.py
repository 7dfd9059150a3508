"""A wrong name is answered with the names there are, and with the nearest of them."""

import pytest

from svmpath.names import did_you_mean, either, nearest_name, unknown_name

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


def test_names_in_a_sentence():
    assert either(["a"]) == "'a'"
    assert either(["a", "b"]) == "'a' or 'b'"
    assert either(["a", "b", "c"]) == "'a', 'b' or 'c'"


def test_a_question_is_put_only_where_a_name_is_near():
    assert did_you_mean("atuo", ["exact", "auto"]) == " Did you mean 'auto'?"
    assert did_you_mean("full", ["exact", "auto"]) == did_you_mean(0, ["auto"]) == ""
