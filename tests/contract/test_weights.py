"""Weights of labels in rankings, and of rows and labels in training."""

import inspect
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from contract.estimators import N_LABELS, dense, every_model, fitted
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from xmlcore import PLT, DoubleSampling, ExtendedPLT, LdSM, OneVsRest
from xmlcore.models.plt import trials


@every_model
def test_the_ranking_is_that_of_all_products(case):
    for k, weights in itertools.product([1, 3, N_LABELS + 2], [np.arange(N_LABELS), 10.0 ** -np.arange(N_LABELS)]):
        check_products(case, k, weights)


def check_products(case, k, weights):
    X, model = case.problem()[0], fitted(case)
    products = dense(model.predict_proba(X)) * weights
    found = model.predict_topk(X, k, weights=weights)
    width = min(k, N_LABELS)
    expected = -np.sort(-products, axis=1)[:, :width]
    rows, scores, labels = np.arange(len(X))[:, None], found.scores[:, :width], found.labels[:, :width]
    np.testing.assert_allclose(scores, np.where(labels >= 0, products[rows, labels], 0), rtol=1e-5, atol=1e-7)
    if case.params.get("beam"):  # it may miss labels
        assert (scores <= expected + 1e-6).all() and (scores[:, 0] > 0).any()
        return
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)
    assert all(len({*row}) == width for row in found.labels[:, :width].tolist()) and (found.labels[:, width:] < 0).all()


@every_model
def test_equal_weights_change_nothing_but_the_scores(case):
    X, model = case.problem()[0], fitted(case)
    plain, found = model.predict_topk(X, 3), model.predict_topk(X, 3, weights=np.full(N_LABELS, 2.0))
    if case.cls in (LdSM, DoubleSampling):  # which rank by something else than their probabilities without weights
        plain = model.predict_topk(X, 3, weights=np.ones(N_LABELS))
    np.testing.assert_array_equal(found.labels, plain.labels)
    np.testing.assert_allclose(found.scores, 2 * plain.scores, rtol=1e-5)


REFUSED = {
    "weights has 1 numbers, but there are 7 labels": [1.0],
    "weights of label 1 is -1.0: weights are from 0 to 3.4e": [1.0, -1.0, 1, 1, 1, 1, 1],
    "weights of label 1 is 1e\\+39": [1.0, 1e39, 1, 1, 1, 1, 1],
    "weights is zero for all labels": [0.0] * 7,
}


@every_model
def test_weights_that_are_none_are_refused(case):
    for says, weights in REFUSED.items():
        with pytest.raises(ValueError, match=says):
            fitted(case).predict_topk(case.problem()[0], weights=weights)


@every_model
def test_options_that_weights_would_ignore_are_refused(case):
    for option in {"n_candidates", "n_trees", "max_nodes"} & {*inspect.signature(case.cls.predict_topk).parameters}:
        with pytest.raises(ValueError, match=f"{option} and weights are given"):
            fitted(case).predict_topk(case.problem()[0], weights=np.ones(N_LABELS), **{option: 2})


def test_rare_labels_of_large_weight_are_found(mixed_rows):
    """The heaviest labels are far down: more of them are read until no other one can be better."""
    X, Y = mixed_rows
    weights = 1000.0 ** np.random.default_rng(1).random(Y.shape[1])
    for n_estimators in (1, 3):
        model = PLT(n_estimators=n_estimators, max_leaf_labels=4, C=1.0, loss="logistic").fit(X, Y)
        products = model.predict_proba(X).toarray().astype(float) * weights
        found = model.predict_topk(X, 4, weights=weights)
        np.testing.assert_allclose(found.scores, -np.sort(-products, axis=1)[:, :4], rtol=1e-5)


@pytest.fixture
def mixed_rows():
    rng = np.random.default_rng(0)
    Y = rng.random((150, 60)) < 0.05
    Y[:, 0] |= ~Y.any(axis=1)
    return np.hstack([Y[:, ::2] + rng.random((150, 30)), rng.random((150, 20)) < 0.2]), Y


pytestmark = pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
EXACT = {"C": 2.0, "tol": 1e-5, "max_iter": 5000, "weight_threshold": 0.0}
LINEAR = [
    PLT(max_leaf_labels=2, loss="logistic", **EXACT),
    PLT(loss="squared_hinge", **EXACT),
    PLT(tree="huffman", loss="squared_hinge", normalize="standardize", **EXACT),
    PLT(n_estimators=2, arity=3, max_leaf_labels=3, loss="logistic", normalize=None, **EXACT),
    ExtendedPLT(max_leaf_labels=3, loss="squared_hinge", **EXACT),
    OneVsRest(loss="logistic", **EXACT),
    OneVsRest(loss="squared_hinge", normalize="standardize", **EXACT),
]
REPEATING = [LdSM(n_estimators=2, max_nodes=15), DoubleSampling(n_candidates=5)]
of_linear = pytest.mark.parametrize("model", LINEAR, ids=lambda model: repr(model)[:40])


def problem(n=150, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, 7)) < 0.2
    Y[:, 0] |= ~Y.any(axis=1)
    X = rng.random((n, 20)) + np.pad(Y, ((0, 0), (0, 13)))
    return X.astype(np.float32), Y, rng.integers(0, 4, n)


def proba(model, X):
    return model.predict_proba(X).toarray()


@of_linear
@pytest.mark.parametrize("sparse", [False, True])
def test_whole_weights_are_repeated_rows(model, sparse):
    """The optimum is the same; the order in which rows are visited is not."""
    X, Y, weights = problem()
    X = sp.csr_array(np.where(X > 0.7, X, 0)) if sparse else X
    weighed = clone(model).fit(X, Y, sample_weight=weights)
    rows = np.repeat(np.arange(150), weights)
    repeated, plain = clone(model).fit(X[rows], Y[rows]), clone(model).fit(X, Y)
    np.testing.assert_allclose(proba(weighed, X), proba(repeated, X), atol=1e-4)
    assert np.abs(proba(weighed, X) - proba(plain, X)).max() > 0.05
    if isinstance(model, PLT) and model.tree != "huffman":  # k-means may break a tie otherwise; here it does not
        assert [tree for tree in weighed.trees_] == [tree for tree in repeated.trees_]


@of_linear
def test_weights_of_1_change_no_bit_and_of_0_leave_out(model):
    X, Y, _ = problem()
    plain = proba(clone(model).fit(X, Y), X)
    ones = clone(model).fit(X, Y, sample_weight=np.ones(150), label_weight=[1] * 7)
    np.testing.assert_array_equal(proba(ones, X), plain)
    kept = np.arange(150) % 5 > 0
    without = clone(model).fit(X, Y, sample_weight=kept.astype(int))
    np.testing.assert_array_equal(proba(without, X), proba(clone(model).fit(X[kept], Y[kept]), X))
    assert without.n_rows_seen_ == 150  # rows are counted, whatever their weights


@pytest.mark.parametrize("cls", [PLT, OneVsRest])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_labels_weight_is_that_of_its_rows(cls, loss):
    X, Y, _ = problem()
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 10.0])
    model = cls(loss=loss, **EXACT)
    found, plain = proba(clone(model).fit(X, Y, label_weight=weights), X), proba(clone(model).fit(X, Y), X)
    for label, weight in enumerate(weights):
        if weight:  # the tree has one level, so all rows are those of the root
            rows = np.where(Y[:, label], weight, 1.0)
            expected = proba(clone(model).fit(X, Y, sample_weight=rows), X)[:, label]
            np.testing.assert_allclose(found[:, label], expected, atol=2e-4)
        else:
            assert found[Y[:, label], label].mean() < plain[Y[:, label], label].mean() - 0.1


def test_trials_are_trained_and_measured_with_weights():
    X, Y, weights = problem(900)
    weights = weights.astype(float)
    model = PLT(random_state=0).fit(X, Y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    order = np.random.default_rng([0, trials.STREAM]).permutation(kept.size)
    size, n_measured = trials.sizes_of_trials(kept.size)
    sample, others = (kept[np.sort(part)] for part in (order[:size], order[size : size + n_measured]))
    for line in model.chosen_.to_dict("records"):
        settings = {name: line[name] for name in trials.NAMES}
        trial = PLT(**settings).fit(X[sample], Y[sample], sample_weight=weights[sample])
        hits = Y[others][np.arange(others.size), trial.predict_topk(X[others], 1).labels[:, 0]]
        assert line["P@1"] == pytest.approx(np.average(hits, weights=weights[others]))
    assert model.choose(X, Y, sample_weight=weights).settings == model.settings_
    assert model.chosen_["P@1"].tolist() != PLT(random_state=0).fit(X, Y).chosen_["P@1"].tolist()


@pytest.mark.parametrize("model", REPEATING, ids=lambda model: type(model).__name__)
def test_models_that_count_rows_repeat_them_bit_for_bit(model):
    X, Y, weights = problem()
    rows = np.repeat(np.arange(150), weights)
    weighed, repeated = clone(model).fit(X, Y, sample_weight=weights), clone(model).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(proba(weighed, X), proba(repeated, X))
    assert weighed.n_rows_ == rows.size and weighed.n_rows_seen_ == 150
    np.testing.assert_array_equal(
        proba(clone(model).fit(X, Y, sample_weight=np.ones(150)), X), proba(model.fit(X, Y), X)
    )
    for seed in (0, 1):
        rounded = [clone(model).set_params(random_state=seed).fit(X, Y, sample_weight=weights + 0.5) for _ in range(2)]
        assert rounded[0].n_rows_ == rounded[1].n_rows_ and abs(rounded[0].n_rows_ - rows.size - 75) < 30
    with pytest.raises(ValueError, match="no sample_weight reaches 1.*the largest is 0.00667"):
        model.fit(X, Y, sample_weight=np.full(150, 1 / 150))
    with pytest.raises(MemoryError, match="sample_weight makes 150,000,000,000 rows of 150"):
        model.fit(X, Y, sample_weight=np.full(150, 1e9))
    with pytest.raises(ValueError, match="label_weight is for PLT and OneVsRest"):
        model.fit(X, Y, label_weight=np.ones(7))
    with pytest.raises(TypeError, match="takes sample_weight, not"):
        model.set_fit_request(label_weight=True)


def test_noisy_copies_have_the_weights_of_their_rows():
    X, Y, weights = problem()
    kept = weights > 0
    model = ExtendedPLT(sigma=1e-6, max_leaf_labels=3, loss="logistic", **EXACT)
    weighed = clone(model).fit_for_adversarial_examples(X, Y, sample_weight=weights)
    doubled = clone(model).fit(X[kept], Y[kept], sample_weight=2 * weights[kept])
    np.testing.assert_allclose(proba(weighed, X), proba(doubled, X), atol=1e-3)


@pytest.mark.parametrize("model", [PLT(), OneVsRest()], ids=repr)
@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"sample_weight": np.ones(149)}, "sample_weight has 149 numbers, but there are 150 rows"),
        ({"sample_weight": np.where(np.arange(150) == 3, -1, 1)}, "sample_weight of row 3 is -1.0"),
        ({"sample_weight": np.where(np.arange(150) == 3, np.nan, 1)}, "sample_weight of row 3 is nan"),
        ({"sample_weight": np.zeros(150)}, "sample_weight is zero for all rows"),
        ({"sample_weight": np.ones((150, 1))}, "sample_weight has 2 dimension"),
        ({"label_weight": np.ones(8)}, "label_weight has 8 numbers, but there are 7 labels"),
        ({"label_weight": [1, 1, -2, 1, 1, 1, 1]}, "label_weight of label 2 is -2.0"),
    ],
)
def test_bad_weights_are_refused_and_the_model_stays(model, weights, says):
    X, Y, _ = problem()
    model = clone(model).fit(X[:30], Y[:30])
    before = proba(model, X)
    with pytest.raises(ValueError, match=says):
        model.fit(X, Y, **weights)
    np.testing.assert_array_equal(proba(model, X), before)
    with pytest.raises(TypeError, match="holds <U1 values"):
        model.fit(X, Y, sample_weight=["a"] * 150)


def test_weights_pass_through_a_pipeline_and_a_grid_search():
    X, Y, weights = problem()
    inner = {"loss": "logistic", "C": 1.0}
    expected = PLT(**inner).fit(MaxAbsScaler().fit_transform(X), Y, sample_weight=weights)
    pipeline = Pipeline([("scale", MaxAbsScaler()), ("plt", PLT(**inner))])
    found = clone(pipeline).fit(X, Y, plt__sample_weight=weights)
    np.testing.assert_array_equal(proba(found, X), proba(expected, found[0].transform(X)))
    search = GridSearchCV(PLT(**inner), {"C": [0.1, 1.0]}, cv=2).fit(X, Y, sample_weight=weights)
    best = PLT(**inner | search.best_params_).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(proba(search, X), proba(best, X))


def test_metadata_routing_passes_weights_that_were_asked_for():
    X, Y, weights = problem()
    inner = {"loss": "logistic", "C": 1.0}
    expected = PLT(**inner).fit(X, Y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = PLT(**inner).set_fit_request(sample_weight=True)
        pipeline = clone(Pipeline([("plt", asked)])).fit(X, Y, sample_weight=weights)
        np.testing.assert_array_equal(proba(pipeline, X), proba(expected, X))
        renamed = clone(PLT(**inner).set_fit_request(sample_weight="importance", label_weight=False))
        search = GridSearchCV(renamed, {"C": [1.0]}, cv=2).fit(X, Y, importance=weights)
        np.testing.assert_array_equal(proba(search, X), proba(expected, X))
        with pytest.raises(ValueError, match="sample_weight"):
            Pipeline([("plt", PLT())]).fit(X, Y, sample_weight=weights)
    with pytest.raises(TypeError, match="takes sample_weight and label_weight, not \\['weight'\\]"):
        PLT().set_fit_request(weight=True)
