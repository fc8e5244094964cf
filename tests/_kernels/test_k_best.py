"""The k best labels and the heap of nodes are those of Python's sort."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import k_best


def pairs_with_ties(n, seed):
    """(score, id) pairs in random order: few different scores, each id once."""
    rng = np.random.default_rng(seed)
    return list(zip((rng.integers(0, 4, n) / 4).tolist(), rng.permutation(n).tolist()))


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("seed", range(5))
def test_labels_that_are_offered_one_by_one_are_kept_as_the_k_best(k, seed):
    pairs = pairs_with_ties(30, seed)
    scores, labels, count = np.full((3, k), -7.0), np.full((3, k), -7, np.int32), 0
    for n, (score, label) in enumerate(pairs, 1):
        count = k_best.offer(scores, labels, 1, count, k, score, np.int32(label))
        expected = naive.k_best.k_best(pairs[:n], k)
        assert count == len(expected)
        assert list(zip(scores[1, :count].tolist(), labels[1, :count].tolist())) == expected
    assert (scores[[0, 2]] == -7).all() and (labels[[0, 2]] == -7).all(), "other rows were changed"


@pytest.mark.parametrize("seed", range(5))
def test_a_heap_gives_its_nodes_in_order_whenever_they_are_pushed(seed):
    rng = np.random.default_rng(100 + seed)
    scores, nodes, size = np.empty(50), np.empty(50, np.int32), 0
    inside, waiting = [], pairs_with_ties(50, seed)
    while inside or waiting:
        if waiting and (not inside or rng.random() < 0.6):
            score, node = waiting.pop()
            size = k_best.heap_push(scores, nodes, size, score, np.int32(node))
            inside.append((score, node))
        else:
            top = naive.k_best.in_order(inside)[0]
            assert (scores[0], nodes[0]) == top
            size = k_best.heap_pop(scores, nodes, size)
            inside.remove(top)
        assert size == len(inside)


def test_equal_scores_are_in_the_order_of_labels():
    assert k_best.better(0.5, 3, 0.5, 4) and not k_best.better(0.5, 4, 0.5, 3)
    assert k_best.better(0.6, 4, 0.5, 3) and not k_best.better(0.5, 3, 0.5, 3)
