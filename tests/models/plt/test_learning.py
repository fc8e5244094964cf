"""A label tree learns further rows, corrections, new labels and new features from where it is."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, load_model
from xmlcore.metrics import precision_at_k
from xmlcore.models.plt import learning
from xmlcore.models.saving import ModelFormatError


def topics(n_rows, n_labels=40, seed=0):
    """Rows with the words of their one or two labels, and of none."""
    rng = np.random.default_rng(seed)
    labels = [np.unique(rng.integers(0, n_labels, rng.integers(1, 3))) for _ in range(n_rows)]
    X = rng.random((n_rows, n_labels + 10)) * (rng.random((n_rows, n_labels + 10)) < 0.1)
    for row, own in zip(X, labels):
        row[own] += 1.0
    Y = np.zeros((n_rows, n_labels), bool)
    for row, own in zip(Y, labels):
        row[own] = True
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def learner(X, Y, **params):
    settings = {"C": 1.0, "loss": "logistic", "max_leaf_labels": 5, "arity": 3, "normalize": "l2"} | params
    return PLT(learnable=True, random_state=0, **settings).fit(X, Y)


def precision(model, X, Y):
    return precision_at_k(Y, model.predict_topk(X, 1), 1)[0]


def arrays_of(model):
    return [np.asarray(part) for tree in model.fitted_ for part in tree]


@pytest.mark.parametrize(
    "params",
    [
        {}, {"loss": "squared_hinge"}, {"n_estimators": 2, "normalize": "l2+idf"}, {"normalize": None},
        {"max_leaf_labels": 100},
    ],
    ids=str,
)  # fmt: skip
def test_rows_in_batches_are_learnt_as_well_as_at_once(params):
    X, Y = topics(700)
    model = learner(X[:450], Y[:450], **params)
    for start in range(450, 500, 5):
        model.partial_fit(X[start : start + 5], Y[start : start + 5])
    whole = learner(X[:500], Y[:500], **params)
    assert model.rows_.first == (450, 40) and model.n_rows_seen_ == 500
    assert abs(precision(model, X[500:], Y[500:]) - precision(whole, X[500:], Y[500:])) <= 0.04
    assert (model.rows_.X != X[:500]).nnz == 0 and (model.rows_.Y != Y[:500]).nnz == 0


def test_rows_that_say_nothing_new_change_nothing():
    X, Y = topics(300)
    model = learner(X, Y, weight_threshold=0.0)
    before = arrays_of(model)
    model.correct([3, 7], X[[3, 7]], Y[[3, 7]])
    for old, new in zip(before, arrays_of(model)):
        np.testing.assert_allclose(old, new, atol=0.05)


def test_a_correction_is_learnt_in_its_place_and_can_be_taken_back():
    X, Y = topics(300)
    model = learner(X, Y)
    before = model.label_probabilities(X[[5]], [0])[0]
    corrected = Y[[5]].toarray()
    corrected[0, 0] = True
    model.correct([5], X[[5]], corrected)
    learnt = model.label_probabilities(X[[5]], [0])[0]
    assert learnt > 2 * before and model.n_rows_seen_ == 300 and model.label_counts_[0] == Y[:, [0]].sum() + 1
    model.correct([5], X[[5]], Y[[5]])
    assert model.label_probabilities(X[[5]], [0])[0] < (before + learnt) / 2
    assert (model.rows_.Y != Y).nnz == 0


def test_a_new_label_with_a_new_word_is_found():
    X, Y = topics(400)
    model = learner(X, Y)
    words = sp.hstack([X[:12], np.ones((12, 1), np.float32)], format="csr")
    model.partial_fit(words, [[40]] * 12)
    assert (model.n_labels_, model.n_features_in_) == (41, X.shape[1] + 1)
    found = model.predict_topk(sp.hstack([X[20:40], np.full((20, 1), 3.0)], format="csr"), 3).labels
    assert (found == 40).any(axis=1).all()
    old = sp.hstack([X[200:], np.zeros((200, 1))], format="csr")
    assert precision(model, old, sp.hstack([Y[200:], np.zeros((200, 1), bool)])) > 0.9
    assert sorted(model.trees_[0].label[model.trees_[0].label >= 0]) == list(range(41))


def test_labels_that_lose_all_rows_are_not_predicted_and_come_back():
    X, Y = topics(300)
    rows = np.flatnonzero(Y[:, [7]].toarray().ravel())
    without = Y[rows].toarray()
    without[:, 7] = False
    model = learner(X, Y).correct(rows, X[rows], without)
    assert model.label_counts_[7] == 0
    assert not (model.predict_topk(X, 40).scores[model.predict_topk(X, 40).labels == 7] > 0).any()
    model.correct(rows, X[rows], Y[rows])
    assert (model.predict_topk(X[rows], 3).labels == 7).any(axis=1).mean() > 0.9


def test_many_rows_are_fitted_anew():
    X, Y = topics(400)
    model = learner(X[:300], Y[:300]).partial_fit(X[300:], Y[300:])
    whole = learner(X, Y)
    assert model.rows_.first == (400, 40)
    for one, other in zip(arrays_of(model), arrays_of(whole)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_estimators", [1, 2])
def test_a_saved_model_learns_on(n_estimators, tmp_path):
    X, Y = topics(330)
    model = learner(X[:300], Y[:300], n_estimators=n_estimators, normalize="idf+l2").partial_fit(X[300:301], Y[300:301])
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.size()["rows_bytes"] > 0
    for learnt in (model, loaded):
        learnt.partial_fit(X[301:], Y[301:])
    for one, other in zip(arrays_of(model), arrays_of(loaded)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "at, text",
    [([400], r"at\[0\] is 400, but the model keeps 300 rows"), ([-1], "numbered from 0"), ([1.5], "row numbers"),
     ([1, 2], "must be 1 row numbers")],
)  # fmt: skip
def test_places_that_there_are_not_are_refused(at, text):
    X, Y = topics(300)
    with pytest.raises(ValueError, match=text):
        learner(X, Y).correct(at, X[:1], Y[:1])


def test_models_without_rows_say_how_to_keep_them():
    X, Y = topics(300)
    with pytest.raises(ValueError, match="fit it with learnable=True"):
        learner(X, Y).compact().partial_fit(X[:1], Y[:1])
    for model in (PLT(random_state=0).fit(X, Y), learner(X, Y).set_params(learnable=False)):
        with pytest.raises(AttributeError, match="PLT learns on with learnable=True alone"):
            model.partial_fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="takes no weights"):
        PLT(learnable=True).fit(X, Y, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="columns"):
        learner([X[:, :20], X[:, 20:]], Y).partial_fit(sp.hstack([X[:1], [[1.0]]], format="csr"), Y[:1])
    with pytest.raises(ValueError, match="the tree has 40 labels, but Y has 41"):
        learner(X, Y, tree=learner(X, Y).trees_[0]).partial_fit(X[:1], [[40]])


def test_nothing_is_learnt_from_no_rows():
    X, Y = topics(300)
    model = learner(X, Y)
    before = arrays_of(model)
    model.partial_fit(X[:0], Y[:0]).correct([], X[:0], Y[:0])
    assert all(map(np.array_equal, before, arrays_of(model))) and model.n_rows_seen_ == 300


def test_features_without_deviation_count_from_the_next_fit():
    X, Y = topics(300)
    wide = sp.hstack([X[:1], [[1.0]]], format="csr")
    assert learner(X, Y, normalize="standardize").partial_fit(wide, Y[:1]).n_features_in_ == X.shape[1] + 1


def test_the_rows_of_a_model_are_its_own():
    X, Y = topics(300)
    model = learner(X, Y)
    labels = Y.copy()
    Y.indices[:] = 0
    assert (model.rows_.Y != labels).nnz == 0


def test_corrections_taken_back_leave_a_model_as_good_as_a_fit():
    X, Y = topics(700)
    rng, model = np.random.default_rng(0), learner(X[:300], Y[:300], loss="squared_hinge", normalize="idf", C=0.4)
    whole, rows = precision(model, X[300:], Y[300:]), rng.choice(300, 40, replace=False)
    for row in rows:
        model.correct([row], X[[row]], [[rng.integers(40)]])
    for row in rows:
        model.correct([row], X[[row]], Y[[row]])
    assert abs(precision(model, X[300:], Y[300:]) - whole) <= 0.01


@pytest.mark.parametrize("name, value", [("duals0", -1.0), ("factor0", np.nan), ("centre0", np.inf)])
def test_damaged_rows_are_not_loaded(name, value):
    X, Y = topics(300)
    model = learner(X, Y, normalize="idf")
    values, arrays = learning.saved_rows(model.rows_)
    arrays[name] = np.full_like(arrays[name], value)
    with pytest.raises(ModelFormatError, match="cannot be used"):
        learning.restored_rows(values, arrays, model)


def test_a_corrected_label_trains_only_the_nodes_whose_rows_change(monkeypatch):
    X, Y = topics(400)
    model, trained, train = learner(X, Y), [], learning.trained
    monkeypatch.setattr(learning, "trained", lambda *args: trained.append(args[5]) or train(*args))
    tree, row = model.trees_[0], int(np.flatnonzero(np.diff(Y.indptr) == 2)[0])
    mine = Y[[row]].indices
    near = np.flatnonzero(tree.parent[tree.leaf_of_label] == tree.parent[tree.leaf_of_label[mine[0]]])
    other = next(j for j in near if j not in mine)
    model.correct([row], X[[row]], [[other, mine[1]]])  # a sibling of the label: the row goes the same way
    assert {int(tree.parent[first]) for first in trained} == {int(tree.parent[tree.leaf_of_label[other]])}
    trained.clear()
    model.correct([row], X[[row]] * 2, [[other, mine[1]]])  # with other features all of the way
    assert 0 in {int(tree.parent[first]) for first in trained} and len(trained) > 1
