"""Double sampling's classes and samples are those of the plain-Python twins."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import ds_sampling


def test_each_example_gets_the_copies_of_the_twin():
    rng = np.random.default_rng(0)
    labels, expected = rng.integers(0, 5, 200).astype(np.int32), np.array([0.0, 0.3, 1.0, 2.5, 7.99])
    copies = np.full(200, -1)
    ds_sampling.draw_copies(labels, expected, 11, 20, 200, copies)
    assert (copies[:20] == -1).all()
    wanted = [naive.ds.copies(expected[labels[i]], 11, i) for i in range(20, 200)]
    assert copies[20:].tolist() == wanted and len(set(wanted)) > 4


@pytest.mark.parametrize("kappa", [1, 2, 5, 17, 28, 29])
def test_each_copy_gets_the_adversaries_of_the_twin(kappa):
    rng = np.random.default_rng(kappa)
    classes = np.sort(rng.choice(40, 30, replace=False)).astype(np.int32)  # those that have rows
    place = np.full(40, -1, np.int32)
    place[classes] = np.arange(30)
    labels = rng.choice(classes, 12).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 12))])
    found = np.full((start[-1], kappa), -1, np.int32)
    ds_sampling.draw_adversaries(labels, start, classes, place, 5, 0, 12, found)
    expected = []
    for i, own in enumerate(labels.tolist()):
        n_copies = start[i + 1] - start[i]
        expected += naive.ds.adversaries(n_copies, own, classes.tolist(), kappa, 5, i)
    assert found.tolist() == expected
