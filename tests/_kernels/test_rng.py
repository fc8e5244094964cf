"""Random numbers are those of the documented generator."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import rng


@pytest.mark.parametrize("seed, number", [(0, 0), (1, 7), (2**32 - 1, 123456)])
def test_random_streams_are_the_documented_generator(seed, number):
    assert int(rng.stream(seed, number)) == naive.rng.stream(seed, number)
    assert rng.permutation(50, seed, number).tolist() == naive.rng.permutation(50, seed, number)


def test_streams_of_one_seed_differ():
    orders = {tuple(rng.permutation(20, 3, number).tolist()) for number in range(50)}
    assert len(orders) == 50


def test_shuffle_favours_no_order():
    counts = np.zeros((4, 4))
    for number in range(4000):
        for place, value in enumerate(rng.permutation(4, 0, number)):
            counts[place, value] += 1
    assert np.abs(counts / 4000 - 0.25).max() < 0.03  # five standard errors
