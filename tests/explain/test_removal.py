"""Deletion curves and scores of labels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from explain.fitted import NAMES, D, L, data

from xmlcore import explain
from xmlcore.explain import _removal

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


@pytest.mark.parametrize("name", [*NAMES, "pairs"])
def test_scores_of_one_label_are_the_models_probabilities(models, name, monkeypatch):
    model = models[name]
    X, _ = data(14, n=30)
    labels = np.arange(30) % L
    monkeypatch.setattr(_removal, "PROBA_ROWS", 7)
    found = explain.label_scores(model, X, labels)
    expected = model.predict_proba(X).toarray()[np.arange(30), labels]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)
    assert explain.label_scores(model, X[:0], []).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_removal_equals_a_loop_over_rows(models, name, monkeypatch):
    model = models[name]
    X, _ = data(15, n=12)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, D), dtype=np.float32)]))  # and a row without features
    labels = np.arange(13) % L
    methods, counts = ("contributions", "supporting", "magnitude", "random"), (0, 2, 1, 50)
    found = explain.deletion_curve(model, X, labels, methods=methods, counts=counts, seed=3)
    assert list(found.columns) == ["method", "removed", "row", "score"] and len(found) == 4 * 4 * 13
    table = found.set_index(["method", "removed", "row"])["score"].sort_index()
    for i in range(13):
        frame = explain.contributions(model, X[[i]], int(labels[i]))
        supporting = frame.sort_values(["contribution", "feature"], ascending=[False, True])
        orders = {
            "contributions": frame["feature"].tolist(),
            "supporting": supporting["feature"].tolist(),
            "magnitude": [f for f, _ in explain.magnitude(X[[i]], n=D)],
        }
        for method, order in orders.items():
            for count in counts:
                row = X[[i]].toarray()
                row[0, order[:count]] = 0
                expected = explain.label_scores(model, row, labels[[i]])[0]
                assert table[method, count, i] == pytest.approx(expected, rel=1e-5), (method, count, i)
        assert len({table[method, 0, i] for method in methods}) == 1
        assert len({table[method, 50, i] for method in methods}) == 1  # all are removed
    monkeypatch.setattr(_removal, "BLOCK_ENTRIES", 40)
    assert len(_removal.blocks_of(X.indptr, 40, 13)) > 3
    again = explain.deletion_curve(model, X, labels, methods=methods, counts=counts, seed=3)
    pd.testing.assert_frame_equal(found, again, rtol=1e-12)
    other = explain.deletion_curve(model, X, labels, methods=("random",), counts=(2,), seed=4)
    assert (other["score"].to_numpy() != table["random", 2].to_numpy()).any()


def test_rows_of_a_deletion_curve_are_integers_also_without_any(models):
    X, _ = data(n=2)
    found = explain.deletion_curve(models["PLT"], X[:0], [])
    assert found.empty and found["row"].dtype == found["removed"].dtype == np.int64


def test_invalid_arguments_of_removal_are_refused(models):
    X, _ = data(n=2)
    for methods, message in (((), "methods must be"), (("largest",), "methods must be"), (("random",) * 2, "once")):
        with pytest.raises(ValueError, match=message):
            explain.deletion_curve(models["PLT"], X, [0, 1], methods=methods)
    with pytest.raises(ValueError, match="each once"):
        explain.deletion_curve(models["PLT"], X, [0, 1], counts=(1, 1))
    with pytest.raises(ValueError, match="explained by other things than the features of X.*by 'magnitude' or"):
        explain.deletion_curve(models["pairs"], X, [0, 1])
    methods = ("magnitude", "random")
    assert len(explain.deletion_curve(models["pairs"], X, [0, 1], methods=methods, counts=(0, 1))) == 8


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 3])
def test_each_feature_of_a_counterfactual_is_needed(models, name, k):
    model, (X, _), sizes = models[name], data(16, n=20), []

    def stays(row, features):
        x = row.copy()
        x[0, list(features)] = 0
        return label in model.predict_topk(x, k).labels[0]

    for i, label in enumerate(model.predict_topk(X, 1).labels[:, 0].tolist()):
        row, found = X[[i]].toarray(), explain.counterfactual(model, X[[i]], label, k)
        frame = explain.contributions(model, X[[i]], label)
        speaking = frame.query("contribution > 0").sort_values("contribution", ascending=False)["feature"].tolist()
        if found is None:
            assert all(stays(row, speaking[:n]) for n in range(len(speaking) + 1))
            continue
        sizes.append(len(found))
        assert found.dtype == np.int64 and set(found.tolist()) <= set(speaking) and not stays(row, found)
        assert all(stays(row, np.delete(found, place)) for place in range(len(found)))
    assert len(sizes) > 10 and (k == 1 or max(sizes) > 1)


def test_a_counterfactual_tries_at_most_so_many_features(models):
    model, (X, _) = models["PLT"], data(16, n=30)
    first = model.predict_topk(X, 1).labels[:, 0].tolist()
    sets = [explain.counterfactual(model, X[[i]], label, 3) for i, label in enumerate(first)]
    at = next(i for i, found in enumerate(sets) if found is not None and len(found) > 1)
    assert explain.counterfactual(model, X[[at]], first[at], 3, most=1) is None
    with pytest.raises(ValueError, match="is not among the first 1 of the row"):
        explain.counterfactual(model, X[[at]], (first[at] + 1) % L)
    with pytest.raises(ValueError, match="explained by other things than the features of X"):
        explain.counterfactual(models["pairs"], np.abs(X[[0]]), 0)
