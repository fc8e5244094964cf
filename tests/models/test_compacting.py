"""Compact models predict as their rounded weights do, are saved in few bytes, and say what that costs."""

import json

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from compiled import compiled

from xmlcore import PLT, LdSM, Mixture, TextClassifier, load_model
from xmlcore._kernels.plt_index import BLOCKS, EVERY, LOW
from xmlcore.models import ModelFormatError, NearestRows

PARAMS = {"C": 1.0, "normalize": "l2", "n_jobs": 1, "random_state": 0}


def problem(n_features, per_row, n=200, n_labels=60):
    rng = np.random.default_rng(0)
    X = np.zeros((n, n_features), np.float32)
    for row in X:
        row[np.minimum(rng.geometric(3 / n_features, per_row), n_features - 1)] = rng.random(per_row) + 0.1
    X[:20] = rng.random((20, n_features))  # dense rows
    best, Y = X[:, :n_labels].argsort(axis=1)[:, -3:], np.zeros((n, n_labels), bool)
    np.put_along_axis(Y, np.where(rng.random(best.shape) < 0.3, rng.integers(0, n_labels, best.shape), best), True, 1)
    return sp.csr_array(X), Y


def few_of_many():
    """Rows of ten features that hardly another row has, each with a label of its own."""
    rng, n = np.random.default_rng(0), 300
    at = np.repeat(np.arange(n), 10), rng.integers(0, 60_000, 10 * n)
    return sp.csr_array((rng.random(10 * n, np.float32) + 0.1, at), shape=(n, 60_000)), np.eye(n, dtype=bool)


@pytest.mark.parametrize(
    ("data", "rows", "shifts"),
    [
        (lambda: problem(90, 80), slice(None), {EVERY}), (lambda: problem(700, 25), slice(20, None), {BLOCKS}),
        (lambda: problem(90_000, 15), slice(20, 100), {BLOCKS}), (few_of_many, slice(None), {LOW, BLOCKS}),
    ],
    ids=["all features", "many", "few", "few of very many"],
)  # fmt: skip
@pytest.mark.parametrize("bits", [8, 5])
def test_searches_read_compact_trees_as_their_twin(data, rows, shifts, bits):
    X, Y = data()
    model = PLT(**PARAMS, max_leaf_labels=2 if LOW in shifts else 20, arity=2).fit(X[rows], Y[rows]).compact(bits)
    tree = model.fitted_[0]
    assert shifts <= set(tree.index_shift.tolist())
    asked = sp.csr_array(X[[0, 1, 30, 31, 32]])
    together = model.predict_topk(X[:40], 4)
    every, alone = model.predict_proba(asked).toarray(), model.predict_topk(asked, 4)
    np.testing.assert_array_equal(alone.scores, together.scores[[0, 1, 30, 31, 32]])
    for i, x in enumerate(asked.toarray().astype(float)):
        expected = naive.plt_search.search_best_first(
            tree, model.loss_, naive.plt_search.in_columns(x, model.feature_of_column_), 60
        )
        np.testing.assert_allclose(every[i, [label for label, _ in expected]], np.exp([s for _, s in expected]), 1e-4)
        np.testing.assert_allclose(alone.scores[i], np.exp([s for _, s in expected[:4]]), rtol=1e-4)
    assert model.linear_nodes(0).weights.nnz == model.n_weights_


MODELS = [
    PLT(**PARAMS, max_leaf_labels=20), PLT(**PARAMS, n_estimators=3, max_leaf_labels=10),
    Mixture([NearestRows(), PLT(**PARAMS, max_leaf_labels=20)]),
]  # fmt: skip


@pytest.fixture(scope="module", params=range(len(MODELS)), ids=["tree", "trees", "mixture"])
def fitted(request):
    X, Y = problem(700, 25)
    return MODELS[request.param].fit(X, Y), X, Y


def test_compact_models_are_saved_small_and_say_what_it_costs(fitted, tmp_path):
    model, X, Y = fitted
    small = model.compact(8, X, Y)
    report = small.compact_
    assert report["bits"] == 8 and (isinstance(model, Mixture) or report["bytes_after"] < 0.5 * report["bytes_before"])
    assert abs(report["before"]["P@1"] - report["after"]["P@1"]) < 0.01 and not hasattr(model, "compact_")
    small.save(tmp_path / "m")
    expected, before = small.predict_topk(X, 5), compiled()
    np.testing.assert_allclose(expected.scores, model.predict_topk(X, 5).scores, atol=0.1)
    for mmap in (True, False):
        again = load_model(tmp_path / "m", mmap=mmap)
        np.testing.assert_array_equal(again.predict_topk(X, 5).scores, expected.scores)
        assert isinstance(model, Mixture) or again.compact_ == report
    assert compiled() == before
    labels = expected.labels[:, 0]
    if not isinstance(model, Mixture):
        np.testing.assert_allclose(again.label_probabilities(X, labels), expected.scores[:, 0], rtol=1e-4)
        np.testing.assert_allclose(np.exp(again.log_proba_gradient(X, labels)[0]), expected.scores[:, 0], rtol=1e-3)
        assert not hasattr(again.fit(X, Y), "compact_")


@pytest.mark.parametrize("name", ["index", "entry_ptr", "entry_at", "low_ptr", "bits_ptr", "index_shift", "column_ptr"])
def test_damaged_pointers_of_a_compact_tree_are_refused(name, tmp_path):
    X, Y = problem(60_000, 40)
    model = PLT(**PARAMS, max_leaf_labels=20).fit(X[20:100], Y[20:100])
    file = model.compact().save(tmp_path / "m") / "arrays.npz"
    arrays = dict(np.load(file))
    array = arrays[f"tree0.{name}"]
    array[array.size // 2] = 1 << 14
    np.savez(file, **arrays)
    with pytest.raises(ModelFormatError):
        load_model(tmp_path / "m")


def test_any_bytes_of_a_mapped_compact_tree_can_be_read(tmp_path):
    X, Y = problem(60_000, 40)
    file = PLT(**PARAMS, max_leaf_labels=20).fit(X, Y).compact().save(tmp_path / "m") / "arrays.npz"
    places = {
        name: array.tobytes() for name, array in np.load(file).items() if name.endswith(".any") and array.size > 9000
    }
    content = bytearray(file.read_bytes())
    assert places
    for old in places.values():
        at = content.index(old)
        content[at : at + len(old)] = np.random.default_rng(0).bytes(len(old))
    file.write_bytes(content)
    with pytest.raises(ModelFormatError, match="Bad CRC-32"):
        load_model(tmp_path / "m")
    assert load_model(tmp_path / "m", mmap=True).predict_topk(X, 5).scores.shape == (200, 5)


def test_texts_are_labelled_by_a_compact_model(tmp_path):
    texts = ["red apple", "green apple", "red car", "fast car"] * 10
    model = TextClassifier(PLT(**PARAMS)).fit(texts, [["fruit"], ["fruit"], ["car"], ["car"]] * 10)
    small = model.compact(8, texts, [["fruit"], ["fruit"], ["car"], ["car"]] * 10)
    assert small.compact_["after"]["P@1"] == 1.0 and small.suggest(["apple"], 1)[0][0][0] == "fruit"
    small.save(tmp_path / "m")
    assert load_model(tmp_path / "m").model_.compact_["bits"] == 8
    assert json.loads((tmp_path / "m" / "params.json").read_text())["class"] == "TextClassifier"


@pytest.mark.parametrize("model", [NearestRows(), LdSM(n_estimators=1, max_nodes=9, random_state=0)])
def test_models_without_linear_classifiers_say_so(model):
    X, Y = problem(90, 20)
    with pytest.raises(TypeError, match=f"a {type(model).__name__} cannot be made compact"):
        model.fit(X, Y).compact()
