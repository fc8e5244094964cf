"""Rankings of labels that may be predicted are those of all labels without the others."""

import itertools

import numpy as np
import pytest
from contract.estimators import MODELS, N_LABELS, every_model, fitted, problem

from xmlcore import PLT, OneVsRest, Ranking
from xmlcore.datasets import make_synthetic
from xmlcore.models.plt import search

ASKED = [
    ({"labels": [2, 5]}, [2, 5]),
    ({"exclude": [0, 3]}, [1, 2, 4, 5, 6]),
    ({"labels": [6, 2, 1], "exclude": np.arange(N_LABELS) == 2}, [1, 6]),
]


def brute(full, k, said):
    labels, scores = np.full((len(full.labels), k), -1), np.zeros((len(full.labels), k), np.float32)
    for i, row in enumerate(full.labels):
        kept = np.flatnonzero(np.isin(row, said))[:k]
        labels[i, : kept.size], scores[i, : kept.size] = row[kept], full.scores[i, kept]
    return Ranking(labels, scores)


def check(found, expected):
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6)
    assert (found.labels.dtype, found.scores.dtype) == (np.int32, np.float32)


@every_model
def test_a_ranking_is_that_of_all_without_the_others(case):
    X, model = case.problem()[0], fitted(case)
    if case.params.get("beam"):  # nodes without such labels leave the beam to others
        assert set(np.unique(model.predict_topk(X, 3, labels=[2, 5]).labels)) <= {-1, 2, 5}
        return
    for (asked, said), k, rows in itertools.product(ASKED, (1, 3, N_LABELS + 1), (X, X[:0])):
        check(model.predict_topk(rows, k, **asked), brute(model.predict_topk(rows, N_LABELS), k, said))


@pytest.mark.parametrize("n_trees", [1, 3])
@pytest.mark.parametrize("together", [False, True])
def test_a_pruned_tree_is_searched_exactly(n_trees, together, monkeypatch):
    if together:
        monkeypatch.setattr(search, "TOGETHER_ROWS", (2, 64))
        monkeypatch.setattr(search, "TOGETHER_BYTES", 0)
    data = make_synthetic(n_train=300, n_test=60, n_features=60, n_labels=120, random_state=4)
    model = PLT(n_estimators=n_trees, max_leaf_labels=3, arity=3, random_state=1).fit(data.X_train, data.Y_train)
    rng, X = np.random.default_rng(5), data.X_test
    for share, weights in itertools.product((0.02, 0.5, 0.95), (None, rng.random(120) * rng.integers(0, 2, 120))):
        labels = np.flatnonzero(rng.random(120) < share).tolist() or [7]
        full = model.predict_topk(X, 120, weights=weights)
        check(model.predict_topk(X, 6, labels=labels, weights=weights), brute(full, 6, labels))


class Mine(OneVsRest):
    """A user's own ranking, without a word of what may be predicted."""

    def predict_topk(self, X, k=5):
        return super().predict_topk(X, k)


def test_a_model_of_ones_own_needs_no_line_for_it():
    X, Y = problem()
    full = OneVsRest().fit(X, Y).predict_topk(X, N_LABELS)
    check(Mine().fit(X, Y).predict_topk(X, 3, exclude=2), brute(full, 3, [0, 1, 3, 4, 5, 6]))


def test_labels_are_named_as_the_training_labels_were():
    rows = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]
    model = PLT().fit(rows, [["art"], ["art", "law"], ["music"]])
    assert model.predict_topk(rows, 2, labels=["law", 2]).labels.tolist() == [[1, 2], [1, 2], [2, 1]]
    for asked, says in {
        "muzic": "labels has 'muzic', which is no label. Did you mean music?", 3: "the id 3: ids go from 0 to 2",
        True: "labels has True, which is no label",
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=says.replace("?", r"\?")):
            model.predict_topk(rows, labels=[asked])
    with pytest.raises(ValueError, match="leave no label that can be predicted"):
        model.predict_topk(rows, labels="art", exclude=["art"])
    with pytest.raises(ValueError, match="exclude has 'art', which is no label: the labels have no names"):
        fitted(MODELS[0]).predict_topk(MODELS[0].problem()[0], exclude=["art"])
