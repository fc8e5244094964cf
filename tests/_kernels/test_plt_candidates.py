"""Labels that several trees offer are scored and ranked as by the plain-Python twins."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import SHAPES, fitted

from xmlcore._kernels import plt_candidates
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts


def test_candidates_are_the_labels_offered_by_any_tree():
    offered = np.array([[3, 1, 7, 1, 3, -1], [-1, -1, -1, -1, -1, -1], [5, 5, 5, 0, 2, 9]], np.int32)
    ptr, labels = plt_candidates.merge_candidates(offered)
    rows = [labels[ptr[i] : ptr[i + 1]].tolist() for i in range(3)]
    assert rows == [sorted(set(row) - {-1}) for row in offered.tolist()] == [[1, 3, 7], [], [0, 2, 5, 9]]
    best, scores = np.full((3, 2), -1, np.int32), np.zeros((3, 2))
    plt_candidates.best_candidates(ptr, labels, np.array([0.5, 0.1, 0.5, 0.2, 0.3, 0.1, 0.4]), best, scores)
    assert best.tolist() == [[1, 7], [-1, -1], [9, 2]]
    assert scores.tolist() == [[0.5, 0.5], [0, 0], [0.4, 0.3]]
    more = np.array([7, 2, 4, 9, 0], np.int32)  # some of them there already, in any order
    plt_candidates.best_candidates(np.array([0, 2, 3, 5]), more, np.array([0.5, 0.6, 0.1, 0.4, 0.35]), best, scores)
    assert best.tolist() == [[2, 1], [4, -1], [9, 0]]
    assert scores.tolist() == [[0.6, 0.5], [0.1, 0], [0.4, 0.35]]


@pytest.mark.parametrize("seed", range(4))
def test_candidates_of_random_offers_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    offered = rng.integers(-1, 8, (20, 6)).astype(np.int32)
    ptr, labels = plt_candidates.merge_candidates(offered)
    expected = naive.plt_candidates.merge_candidates(offered.tolist())
    assert [labels[a:b].tolist() for a, b in zip(ptr[:-1], ptr[1:])] == expected
    for k in (1, 3, 9):
        best, scores, known = np.full((20, k), -1, np.int32), np.zeros((20, k)), [[] for _ in range(20)]
        score_of = rng.integers(0, 4, (20, 8)) / 4  # of each row's labels, with ties
        for part in (expected, [list(rng.permutation(8)[:5]) for _ in range(20)]):
            flat = np.array([label for row in part for label in row], np.int32)
            part_ptr = np.cumsum([0, *map(len, part)])
            given = np.array([score_of[i, label] for i, row in enumerate(part) for label in row])
            plt_candidates.best_candidates(part_ptr, flat, given, best, scores)
            for i, row in enumerate(part):
                more = [(score_of[i, label], int(label)) for label in row]
                known[i] = naive.plt_candidates.best_candidates(known[i], more, k)
                missing = k - len(known[i])
                assert best[i].tolist() == [label for _, label in known[i]] + [-1] * missing
                assert scores[i].tolist() == [score for score, _ in known[i]] + [0.0] * missing


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_chosen_labels_are_their_path_products(shape):
    model, X = fitted(*shape)
    wanted = np.array([[3, 4, 9, 0, 16]] * X.shape[0], np.int32)
    out = np.empty(wanted.size)
    taken = model._search().take(csr_parts(X), (0, X.shape[0]))
    plt_candidates.score_labels(
        model.fitted_[0], LOSS_NUMBERS[shape[0]], model.leaves_[0], taken, np.arange(X.shape[0]),
        np.arange(0, wanted.size + 1, 5), wanted.ravel(), out,
    )  # fmt: skip
    for i, x in enumerate(X.toarray().astype(float)):
        x = naive.plt_rows.in_columns(x, model.feature_of_column_)
        expected = naive.plt_candidates.score_labels(model.fitted_[0], shape[0], x, wanted[i].tolist())
        np.testing.assert_allclose(out[5 * i : 5 * i + 5], expected, rtol=1e-4)
