"""NearestRows finds the training rows of largest cosine, and their votes are its scores."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import NearestRows
from xmlcore.models import nearest_rows as module


def problem(n=300, D=60, L=9, seed=0, dense=False):
    rng = np.random.default_rng(seed)
    often = np.linspace(0.5, 0.01, D)  # so that some columns are frequent and others rare
    X = np.where(rng.random((n, D)) < (2 if dense else often), rng.random((n, D)) - 0.3 * dense, 0.0)
    return sp.csr_array(X.astype(np.float32)), rng.random((n, L)) < 0.3


def as_dicts(rows):
    return [dict(zip(row.indices.tolist(), row.data.tolist())) for row in (rows[[i]] for i in range(rows.shape[0]))]


@pytest.mark.parametrize("rare, dense", [(0.0, False), (0.1, False), (1.0, False), (0.1, True)])
def test_neighbours_are_the_twins(monkeypatch, rare, dense):
    monkeypatch.setattr(module, "RARE", rare)
    (X, Y), (new, _) = problem(dense=dense), problem(n=30, seed=1, dense=dense)
    Y[:, 0] = True  # no row is left out
    model = NearestRows(n_neighbors=12).fit(X, Y)
    idf = 1 + np.log((1 + X.shape[0]) / (1 + (X != 0).sum(axis=0)))
    weighted = [sp.csr_array(rows.multiply(idf)) for rows in (X, new)]
    unit = [sp.csr_array(rows / np.sqrt(rows.multiply(rows).sum(axis=1))[:, None]) for rows in weighted]
    rows, new_rows = as_dicts(sp.csr_array(np.rint(unit[0].toarray() * 32767) / 32767)), as_dicts(unit[1])
    found = model.neighbors(new)
    for i, row in enumerate(new_rows):
        expected = naive.nearest_rows.nearest(row, rows, 12)
        np.testing.assert_allclose(found.scores[i][: len(expected)], [-p for p, _ in expected], atol=2e-6)
        assert set(found.labels[i][:10]) <= {number for _, number in expected}  # the last ones can nearly be equal


def test_equal_rows_vote_in_their_order_for_any_workers():
    X = sp.csr_array(np.tile([[1.0, 2.0, 0.0]], (50, 1)))
    Y = [[i % 4] for i in range(50)]
    one, two = (NearestRows(n_neighbors=5, n_jobs=n).fit(X, Y) for n in (1, 2))
    assert one.neighbors(X[:3]).labels.tolist() == [[0, 1, 2, 3, 4]] * 3
    np.testing.assert_array_equal(one.predict_topk(X).scores, two.predict_topk(X).scores)


def test_scores_are_shares_of_votes_weighted_by_squared_cosines():
    model = NearestRows(n_neighbors=3).fit([[1, 0], [1, 1], [0, 1], [0, 0]], [[0], [0, 1], [2], [1]])
    cosines = model.neighbors([[1, 0]]).scores[0]
    ranking = model.predict_topk([[1, 0]], k=3)
    assert ranking.labels.tolist() == [[0, 1, 2]] and cosines[2] == 0  # the third row has nothing in common
    np.testing.assert_allclose(
        ranking.scores[0], [1, cosines[1] ** 2 / (cosines[0] ** 2 + cosines[1] ** 2), 0], rtol=1e-6
    )


def test_a_row_without_known_features_gets_labels_of_score_0():
    model = NearestRows().fit([[1, 0], [2, 0]], [[0], [1]])
    assert model.predict_topk([[0, 1]], k=2).labels.tolist() == [[0, 1]]
    assert model.predict_topk([[0, 1]], k=2).scores.max() == 0 and model.predict_proba([[0, 1]]).nnz == 0
