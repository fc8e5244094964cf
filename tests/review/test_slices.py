"""Groups of rows in which a model is weak are found, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from xmlcore import metrics, review
from xmlcore.datasets import Dataset

N, K = 600, 3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X, Y = rng.random((2 * N, 40)) < rng.uniform(0.02, 0.6, 40), rng.random((2 * N, 30)) < 0.1
    Y[:, 0] |= ~Y.any(axis=1)
    return Dataset("words", sp.csr_array(X[:N]), Y[:N], X[N:], Y[N:], label_names=[f"topic {j}" for j in range(30)])


def predicted(data, rng, share):
    """Labels in random order, of which a share of the rows has a true one first."""
    labels, Y = np.argsort(rng.random((N, data.n_labels)), axis=1), data.Y_test.toarray()
    chosen = rng.random(N) < share
    first = np.array([rng.choice(np.flatnonzero(of_row == is_right)) for of_row, is_right in zip(Y, chosen)])
    return [[i, *(j for j in row if j != i)][:K] for i, row in zip(first.tolist(), labels.tolist())]


def test_rows_of_a_word_with_wrong_labels_are_the_weakest(data):
    has = data.X_test.toarray()[:, 7] > 0
    found = review.slices(data, predicted(data, np.random.default_rng(1), np.where(has, 0.1, 0.8)), K)
    weakest = found.iloc[0]
    assert (weakest["kind"], weakest["group"], weakest["id"]) == ("feature", "feature 7", 7)
    assert weakest["significant"] and weakest["high"] < -0.5
    assert weakest["members"].tolist() == np.flatnonzero(has).tolist()


def test_few_groups_differ_where_mistakes_are_random(data):
    draws = [review.slices(data, predicted(data, np.random.default_rng(i), 0.5), K) for i in range(10)]
    assert np.mean([found["significant"].mean() for found in draws]) <= 0.05
    covers = np.concatenate([(found["low"] <= 0) & (found["high"] >= 0) for found in draws])
    assert 0.92 < covers.mean() < 0.99


def test_values_are_those_of_the_rows_alone(data):
    ranking = predicted(data, np.random.default_rng(2), 0.5)
    found, inv_ps = review.slices(data, ranking, K).set_index("group"), data.inverse_propensity()
    right = metrics.precision_at_k(data.Y_test, ranking, 1)[0]
    n_labels = data.Y_test.toarray().sum(axis=1)
    rows_of = {"label: topic 4": data.Y_test.toarray()[:, 4] > 0, "feature 12": data.X_test.toarray()[:, 12] > 0}
    for name, inside in (rows_of | {"number of labels: 3–5": (n_labels >= 3) & (n_labels <= 5)}).items():
        group, rows = found.loc[name], np.flatnonzero(inside)
        own, first = [ranking[i] for i in rows], np.array([data.Y_test[[i], [ranking[i][0]]][0] for i in range(N)])
        assert group["P@k"] == pytest.approx(metrics.precision_at_k(data.Y_test[rows], own, K)[-1])
        assert group["PSP@k"] == pytest.approx(metrics.psprecision_at_k(data.Y_test[rows], own, K, inv_ps=inv_ps)[-1])
        assert group["difference"] == pytest.approx(first[inside].mean() - first[~inside].mean())
        table = [[(first[part] == is_right).sum() for is_right in (1, 0)] for part in (inside, ~inside)]
        tails = [stats.fisher_exact(table, side).pvalue for side in ("less", "greater")]
        assert group["p_value"] == pytest.approx(min(1, 2 * min(tails))) and right == pytest.approx(first.mean())
    kept = found["rows"].between(20, N - 20) & (found["members"].map(len) == found["rows"])
    assert kept.all() and (found.loc[found["kind"] == "feature", "rows"] <= N / 2).all()
    assert review.slices(data, ranking, K, least=301).empty


def test_two_models_are_compared_in_the_rows_of_a_group(data):
    has, rng = data.X_test.toarray()[:, 7] > 0, np.random.default_rng(3)
    first, second = predicted(data, rng, 0.5), predicted(data, rng, np.where(has, 0.9, 0.5))
    found = review.slices(data, second, K, against=first)
    best, a, b = found.iloc[0], *(
        np.array([data.Y_test[[i], [row[0]]][0] for i, row in enumerate(each)])[has].astype(int)
        for each in (first, second)
    )  # fmt: skip
    assert best["group"] == "feature 7" and best["significant"] and best["low"] > 0.2
    assert best["difference"] == pytest.approx((b - a).mean()) and best["P@1_other"] == pytest.approx(a.mean())
    n_second, n_first = (b > a).sum(), (a > b).sum()
    assert best["p_value"] == pytest.approx(stats.binomtest(n_second, n_second + n_first).pvalue)


def test_two_models_that_are_equally_good_hardly_differ(data):
    draws = []
    for i in range(8):
        one, other = (predicted(data, np.random.default_rng([i, j]), 0.6) for j in (0, 1))
        mixed = [a if k % 2 else b for k, (a, b) in enumerate(zip(one, other))]  # half of the rows are the same
        draws.append(review.slices(data, mixed, K, against=one))
    assert np.mean([found["significant"].mean() for found in draws]) <= 0.05
    covers = np.concatenate([(found["low"] <= 0) & (found["high"] >= 0) for found in draws])
    assert 0.92 < covers.mean() < 1
