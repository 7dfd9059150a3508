"""Some hundreds of the random problems of ``make fuzz``."""

import pytest

from tests import fuzz, fuzz_elastic, fuzz_gradients, fuzz_jump, fuzz_loo


@pytest.mark.parametrize("block", range(10))
def test_random_problems_agree_with_refits(block):
    for seed in range(30 * block, 30 * (block + 1)):
        try:
            fuzz.run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("block", range(10))
def test_random_paths_are_optimal_at_every_breakpoint(block):
    for seed in range(40 * block, 40 * (block + 1)):
        try:
            fuzz_jump.run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("block", range(10))
def test_random_samples_left_out_are_those_of_refits(block):
    for seed in range(15 * block, 15 * (block + 1)):
        try:
            fuzz_loo.run(seed, values=1)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("block", range(4))
def test_random_gradients_agree_with_differences(block):
    compared = 0
    for seed in range(15 * block, 15 * (block + 1)):
        try:
            compared += fuzz_gradients.run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert compared > 60


@pytest.mark.parametrize("block", range(8))
def test_random_elastic_paths_are_optimal_at_every_breakpoint(block):
    for seed in range(44 * block, 44 * (block + 1)):
        try:
            fuzz_elastic.run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
