"""Double sampling does what the paper says: features, sampling, pairs, candidates; and keeps the house's promises."""

import json
import pickle
import tracemalloc
import warnings
from collections import Counter

import joblib
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from xmlcore import DoubleSampling, load_model, metrics
from xmlcore._kernels import double_sampling as kernels
from xmlcore.models import ModelFormatError, double_sampling, tree_candidates
from xmlcore.models.base import warm_up
from xmlcore.progress import Cancelled
from xmlcore.validation import check_labels, csr_parts

SPACES = [(d, w) for d in ("cosine", "euclidean") for w in ("tfidf", "counts")]


def problem(n=40, n_terms=15, n_classes=7, most=1, seed=0, real=False, skip=()):
    """Counts (or amounts), rows as dicts, and a list of classes per row; classes in ``skip`` have no rows."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.5, (n, n_terms)).astype(np.float32)
    if real:
        X *= random.random(X.shape).astype(np.float32)
    pool = [k for k in range(n_classes) if k not in skip]
    labels = [sorted(random.choice(pool, random.integers(1, most + 1), replace=False).tolist()) for _ in range(n)]
    for k, row in zip(pool, labels):  # every class has a row
        row[:] = sorted({k, *row[1:]})
    for row, own in zip(X, labels):
        row[own[0] % n_terms] += 2
    return X, as_dicts(X), labels


def as_dicts(X):
    return [{t: float(v) for t, v in enumerate(row) if v} for row in X]


def binary(labels, n_classes=7):
    return check_labels(labels, n_labels=n_classes)


# Features -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance, weighting", SPACES)
@pytest.mark.parametrize("most, real", [(1, False), (3, True)])
def test_the_ten_features_are_those_of_table_1(distance, weighting, most, real):
    X, rows, labels = problem(most=most, real=real)
    model = DoubleSampling(distance=distance, weighting=weighting).fit(X, binary(labels))
    new, new_rows = (problem(6, seed=1)[i] for i in (0, 1))
    classes = np.random.default_rng(2).permuted(np.tile(np.arange(7), (6, 1)), axis=1)[:, :5]
    found = model.pair_features(new, classes)
    expected = [
        [naive.double_sampling.ds_features(row, k, rows, labels, distance=distance, weighting=weighting) for k in own]
        for row, own in zip(new_rows, classes.tolist())
    ]
    assert found.shape == (6, 5, 10) and found.dtype == np.float64 and len(model.feature_names_) == 10
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("weighting", ["tfidf", "counts"])
@pytest.mark.parametrize("most, real", [(1, False), (3, True)])
def test_the_features_beside_the_papers_are_what_their_formulas_say(weighting, most, real):
    X, rows, labels = problem(most=most, real=real)
    model = DoubleSampling(features="extended", weighting=weighting).fit(X, binary(labels))
    new, new_rows = (problem(6, seed=1)[i] for i in (0, 1))
    new[0], new_rows[0] = 0.0, {}
    classes = np.random.default_rng(2).permuted(np.tile(np.arange(7), (6, 1)), axis=1)[:, :5]
    found = model.pair_features(new, classes)
    assert found.shape == (6, 5, 16) and model.feature_names_ == list(double_sampling.MEANINGS)[:16]
    assert model.weights_.shape == model.feature_scale_.shape == (16,)
    plain = DoubleSampling(weighting=weighting).fit(X, binary(labels))
    assert np.array_equal(found[:, :, :10], plain.pair_features(new, classes))
    expected = [
        [naive.double_sampling.ds_more_features(row, k, rows, labels, weighting=weighting) for k in own]
        for row, own in zip(new_rows, classes.tolist())
    ]
    np.testing.assert_allclose(found[:, :, 10:], expected, rtol=1e-5, atol=1e-5)


def test_every_feature_has_a_meaning_in_one_sentence():
    assert all(
        text.endswith(".") and ". " not in text and "\n" not in text for text in double_sampling.MEANINGS.values()
    )
    names = double_sampling.FEATURES + double_sampling.MORE_FEATURES + (double_sampling.TREE_FEATURE,)
    assert tuple(double_sampling.MEANINGS) == names and len(names) == 17


def test_features_of_no_class_are_nan_and_those_of_a_class_without_rows_are_of_an_empty_one():
    X, rows, labels = problem(skip=(2,))
    model = DoubleSampling().fit(X, binary(labels))
    found = model.pair_features(X[:2], [[-1, 2, 2], [2, -1, 0]])
    assert np.isnan(found[0, 0]).all() and np.isnan(found[1, 1]).all()
    assert np.array_equal(found[0, 1], [0.0] * 8 + [1.0, 0.0]) and np.array_equal(found[0, 1], found[0, 2])
    np.testing.assert_allclose(found[1, 2], naive.double_sampling.ds_features(rows[1], 0, rows, labels), atol=1e-5)


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_left_out_examples_are_not_in_their_class(distance, weighting):
    X, rows, labels = problem(n=25, most=2)
    model = DoubleSampling(distance=distance, weighting=weighting, features="extended").fit(X, binary(labels))
    index, (ptr, terms, values) = model._index_, model._rows(X)
    size, space = model.class_size_, {"distance": distance, "weighting": weighting}
    out, found, everyone, checked = np.empty((7, 16)), np.empty((7, 15)), np.arange(7, dtype=np.int32), 0
    for i, own in enumerate(labels):
        for k in own:
            a, b = ptr[i], ptr[i + 1]
            kernels.sums_by_term(terms[a:b], everyone, index, found)
            kernels.row_features(terms[a:b], values[a:b], everyone, found, k, size, index, out)
            kernels.more_features(terms[a:b], values[a:b], everyone, found, k, index, model._more, out)
            other = (k + 1) % 7
            for c, without in ((k, i), (other, None)):
                if c == k and size[k] == 1:
                    continue
                expected = naive.double_sampling.ds_features(rows[i], c, rows, labels, without, **space)
                expected += naive.double_sampling.ds_more_features(
                    rows[i], c, rows, labels, without, weighting=weighting
                )
                np.testing.assert_allclose(out[c], expected, atol=2e-5)
                checked += c == k
    assert checked > 20


EXTENSIONS = [
    {"features": "extended"},
    {"candidates_from": "plt"},
    {"features": "extended", "candidates_from": "plt"},
    {"adversaries": "candidates", "balanced": False},
    {"features": "extended", "candidates_from": "plt", "adversaries": "candidates"},
]


@pytest.mark.parametrize("params", [{}, *EXTENSIONS], ids=str)
def test_f_is_the_product_of_weights_and_features_and_orders_the_ranking(params):
    X, _, labels = problem(most=2)
    model = DoubleSampling(n_candidates=4, **params).fit(X, binary(labels))
    ranking = model.predict_topk(X, k=4)
    f = model.pair_features(X, ranking.labels) @ model.weights_
    assert (np.diff(f, axis=1) <= 1e-9).all()
    shares = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranking.scores, shares, rtol=1e-5)


# Candidates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_candidates_are_the_nearest_centroids(distance, weighting):
    X, rows, labels = problem(n=60, n_terms=40, n_classes=20, skip=(3, 11))
    model = DoubleSampling(distance=distance, weighting=weighting).fit(X, binary(labels, 20))
    new = problem(10, 40, 20, seed=1)[0]
    new[0] = 0.0
    new[1] *= np.arange(40) == 7
    for q in (1, 4, 18):
        expected = [naive.double_sampling.ds_nearest(row, rows, labels, q, distance=distance, weighting=weighting)
                    for row in as_dicts(new)]  # fmt: skip
        assert model.candidates(new, q).tolist() == expected
    assert model.candidates(new, 50).shape == (10, 18)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_few_postings_among_many_classes_give_the_same_candidates_as_a_pass_over_all(distance):
    """Rows of one or two rare terms leave most classes untouched: those come by their own length and id."""
    random = np.random.default_rng(0)
    n_classes = 300
    X = sp.csr_array((random.integers(1, 4, 600).astype(np.float32),
                      (np.repeat(np.arange(300), 2), random.integers(0, 150, 600))), shape=(300, 150))  # fmt: skip
    labels = [[i] for i in random.permutation(n_classes).tolist()]
    model = DoubleSampling(distance=distance).fit(X, binary(labels, n_classes))
    rows = as_dicts(X.toarray())
    for i in range(0, 40, 5):
        assert model.candidates(X[[i]], 12).tolist() == [
            naive.double_sampling.ds_nearest(rows[i], rows, labels, 12, distance=distance)
        ]


def many_classes(distance, weighting):
    """A model of 3,000 classes, some of them equal and some without rows, and rows of rare and of frequent terms."""
    random = np.random.default_rng(0)
    rare = random.integers(6, 2000, (3000, 3))
    rare[1000:1400] = rare[:400]
    frequent = np.where(np.arange(3000) < 1400, 1, random.integers(0, 4, (6, 3000))).T
    X = sp.lil_array((3000, 2000), dtype=np.float32)
    X[:, :6] = frequent
    X = X.tocsr() + sp.csr_array((np.ones(9000, np.float32), rare.ravel(), np.arange(0, 9001, 3)), (3000, 2000))
    ids = random.permutation(3100)[:3000]
    model = DoubleSampling(n_adversarial=1, distance=distance, weighting=weighting).fit(
        X, binary(ids[:, None].tolist(), 3100)
    )
    return model, X, ids


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_leaving_frequent_terms_for_later_finds_the_same_candidates(distance, weighting):
    model, X, ids = many_classes(distance, weighting)
    index, new = model._index_, sp.csr_array(X[::100])
    x = model._rows(new)
    room, q = kernels.scratch(3100), 9
    scores, found, pruned = np.empty(q), np.empty(q, np.int32), 0
    # All distances, from the definition: the space's weights, then directions or means of one row each.
    idf = np.ones(2000)
    idf[model.feature_of_column_] = index.weight
    rows, centres = (A.toarray().astype(np.float64) * idf for A in (new, X))
    if distance == "cosine":
        rows, centres = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (rows, centres))
    for i, row in enumerate(rows):
        order = np.lexsort((ids, np.round(((centres - row) ** 2).sum(axis=1), 9)))[:q]
        expected = ids[order].tolist()
        assert model.candidates(new[[i]], q).tolist() == [expected]
        part = tuple(a[x[0][i] : x[0][i + 1]] for a in x[1:])
        twice = 2 / np.sqrt(kernels.row_square(*part, index.weight)) if index.unit else 2.0
        for most in (q - 1 + 40, 10**6):
            kernels._add_products(*part, index, index.head, index.ptr.size - 1, room.product)
            if kernels._nearest_of_survivors(*part, index, twice, most, room, scores, found):
                kernels._sort_best_first(scores, found, q)
                assert found.tolist() == expected
                pruned += most < 100
            room.product[:] = 0
    # Few classes may be looked up where the weights of frequent terms are small, else none is ruled out.
    assert 0 < index.head < 10 and (pruned > 10) == (weighting == "tfidf")


def test_no_class_has_more_of_the_frequent_terms_than_its_reach():
    model, X, ids = many_classes("euclidean", "tfidf")
    index = model._index_
    columns = model.feature_of_column_[: index.head]
    parts = X[:, columns].toarray().astype(np.float64) * index.weight[: index.head]
    np.testing.assert_allclose(index.reach[ids], np.linalg.norm(parts, axis=1), rtol=1e-6)
    assert index.far.tolist() == [index.reach[g : g + kernels.GROUP].max() for g in range(0, 3100, kernels.GROUP)]
    work = model.document_counts_ * np.diff(index.ptr)
    assert work[: index.head].sum() >= kernels.HEAD * work.sum() > work[: index.head - 1].sum()


def test_equal_distances_go_to_the_smaller_class():
    X = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]]
    labels = [5, 4, 3, 2, 1, 0, 6, 7]  # classes 5 and 1 are the same, and so on
    model = DoubleSampling().fit(X, labels)
    assert model.candidates([[1, 0, 0, 0], [0, 0, 0, 0]], 4).tolist() == [[1, 5, 0, 2], [0, 1, 2, 3]]
    assert model.predict_topk([[0, 1, 0, 0]], k=3).labels.tolist() == [[0, 4, 1]]


def test_another_number_of_candidates_needs_no_training():
    X, _, labels = problem(n=60, n_classes=12)
    model = DoubleSampling(n_candidates=3).fit(X, binary(labels, 12))
    other = DoubleSampling(n_candidates=9).fit(X, binary(labels, 12))
    found, expected = model.predict_topk(X, k=9, n_candidates=9), other.predict_topk(X, k=9)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    few = model.predict_topk(X, k=5)
    assert (few.labels[:, 3:] == -1).all() and (few.scores[:, 3:] == 0).all() and (few.labels[:, :3] >= 0).all()


# Sampling and pairs ---------------------------------------------------------------------------------------------------


def sampled(labels, n_classes, **params):
    Y = binary(labels, n_classes)
    size = np.bincount(Y.indices, minlength=n_classes).astype(np.int64)
    return DoubleSampling(**params)._sample(csr_parts(Y)[:2], size, lambda *_: None)


@pytest.mark.parametrize("per_class", [0.5, 1, 2, 3.7])
def test_every_class_gives_the_same_expected_number_of_examples(per_class):
    labels = [[k] for k, n in enumerate([1, 2, 3, 10, 50]) for _ in range(n)]
    counts = np.zeros(5)
    for seed in range(400):
        try:
            counts += np.bincount(
                sampled(labels, 5, examples_per_class=per_class, random_state=seed).classes, minlength=5
            )
        except ValueError:
            assert per_class == 0.5  # nothing drawn
    # A class's number is a sum of Bernoulli variables on top of a constant: variance at most per_class.
    assert np.abs(counts / 400 - per_class).max() < 4 * np.sqrt(per_class / 400)


def test_each_copy_of_a_row_is_an_example_of_one_of_its_classes():
    _, _, labels = problem(most=3)
    sample = sampled(labels, 7, examples_per_class=4)
    assert all(k in labels[i] for i, k in zip(sample.rows.tolist(), sample.classes.tolist()))
    whole = sampled([[0, 1, 2]] * 3, 3, examples_per_class=6, n_adversarial=1)
    assert Counter(zip(whole.rows.tolist(), whole.classes.tolist())) == {(i, k): 2 for i in range(3) for k in range(3)}


def test_adversaries_are_drawn_uniformly_without_replacement_from_the_other_classes_that_have_rows():
    labels, n = [[k] for k in (0, 1, 3, 4, 5, 6, 7)] * 2, 9  # classes 2 and 8 have no rows
    sample = sampled(labels, n, examples_per_class=2000, n_adversarial=3)
    for k in (0, 4, 7):
        sets = sample.adversaries[sample.classes == k]
        assert (np.diff(sets, axis=1) > 0).all()
        others = sorted({0, 1, 3, 4, 5, 6, 7} - {k})
        drawn = Counter(map(tuple, sets.tolist()))
        assert len(drawn) == 20 and set(sets.ravel().tolist()) == set(others)  # 6 choose 3
        chi = sum((c - 100) ** 2 / 100 for c in drawn.values())
        assert chi < 43.8  # 0.1 % of a chi-squared variable of 19 degrees of freedom


@pytest.mark.parametrize("kappa", [1, 2, 3, 7, 50, 98, 99, 200])
def test_any_number_of_adversaries_is_a_set_of_others(kappa):
    sample = sampled([[k] for k in range(100)], 100, examples_per_class=1, n_adversarial=kappa)
    assert sample.adversaries.shape == (100, min(kappa, 99))
    assert (np.diff(sample.adversaries, axis=1) > 0).all()
    assert (sample.adversaries != sample.classes[:, None]).all()
    assert sample.adversaries.min() >= 0 and sample.adversaries.max() < 100


def test_copies_of_an_example_have_adversaries_of_their_own():
    sample = sampled([[k] for k in range(30)], 30, examples_per_class=2, n_adversarial=5)
    pairs = sample.adversaries.reshape(30, 2, 5)
    assert (pairs[:, 0] != pairs[:, 1]).any(axis=1).all()


def test_with_all_classes_the_pairs_are_the_full_transformation():
    X, rows, labels = problem(n=14, n_classes=5)
    size = Counter(k for own in labels for k in own)
    model = DoubleSampling(n_adversarial=100).fit(X, binary(labels, 5))
    index, x = model._index_, model._rows(X)
    sample = double_sampling.Sample(
        np.arange(14), np.array([own[0] for own in labels], np.int32),
        np.array([[k for k in range(5) if k != own[0]] for own in labels], np.int32),
    )  # fmt: skip
    everyone = sampled(labels, 5, n_adversarial=100, examples_per_class=max(size.values()) * 1.0)
    assert all(np.array_equal(a, sample.adversaries[i]) for i, a in zip(everyone.rows, everyone.adversaries))
    pairs, signs = model._pairs(x, sample, model.class_size_, index, lambda *_: None)

    expected = []  # equation (4), pair by pair
    for row, (y,) in zip(rows, labels):
        phi = [np.array(naive.double_sampling.ds_features(row, k, rows, labels)) for k in range(5)]
        for k in range(5):
            if k < y:
                expected.append((phi[k] - phi[y], -1))
            elif k > y:
                expected.append((phi[y] - phi[k], 1))
    assert len(expected) == 14 * 4 and signs.tolist() == [sign for _, sign in expected]
    np.testing.assert_allclose(pairs, [z for z, _ in expected], atol=1e-5)


def test_the_copies_that_were_trained_on_are_counted_by_class(tmp_path):
    X, _, labels = problem(n=60, most=2, skip=(2,))
    for params in ({}, {"leave_one_out": True}, {"balanced": False, "examples_per_class": 3}):
        model = DoubleSampling(**params).fit(X, binary(labels))
        sample = sampled(labels, 7, **params)
        others = [
            [k for k in drawn if k not in labels[i]] for i, drawn in zip(sample.rows, sample.adversaries.tolist())
        ]
        drawn = np.bincount([k for k, left in zip(sample.classes, others) if left], minlength=7)
        assert model.sampled_size_.dtype == np.int64 and np.array_equal(model.sampled_size_, drawn)
        assert model.n_pairs_ == sum(map(len, others)) < sample.adversaries.size and model.sampled_size_[2] == 0
    assert np.array_equal(load_model(model.save(tmp_path / "model")).sampled_size_, model.sampled_size_)


@pytest.mark.parametrize("adversaries", ["random", "candidates"])
def test_classes_of_one_row_are_not_compared_with_each_other(adversaries, monkeypatch):
    X, _, labels = problem(n=50, n_terms=30, n_classes=12, most=3)
    made, learnt, learn = [], [], DoubleSampling._learn
    pairs = DoubleSampling._pairs
    monkeypatch.setattr(
        DoubleSampling,
        "_pairs",
        lambda self, x, sample, *rest: made.append((sample, pairs(self, x, sample, *rest))) or made[0][1],
    )
    monkeypatch.setattr(
        DoubleSampling, "_learn", lambda self, *given: learnt.append([g.copy() for g in given]) or learn(self, *given)
    )
    DoubleSampling(adversaries=adversaries, n_adversarial=6, examples_per_class=5).fit(X, binary(labels, 12))
    (sample, (differences, signs)), (learnt_pairs, learnt_signs) = made[0], learnt[0]
    apart = [k not in labels[i] for i, own in zip(sample.rows, sample.adversaries.tolist()) for k in own]
    assert 0 < len(learnt_signs) < len(signs) and np.array_equal(learnt_signs, signs[apart])
    np.testing.assert_array_equal(learnt_pairs, differences[apart])


def test_classes_that_all_rows_share_leave_nothing_to_learn():
    with pytest.raises(ValueError, match="another class of the same row"):
        DoubleSampling().fit([[1.0, 2.0], [2.0, 1.0]], [[0, 1], [0, 1]])


def test_unbalanced_sampling_takes_all_examples_equally_often():
    labels = [[k] for k, n in enumerate([1, 2, 3, 10, 50]) for _ in range(n)] + [[1, 3]] * 4
    size, counts = np.array([1, 6, 3, 14, 50]), np.zeros(5)
    for seed in range(400):
        counts += np.bincount(
            sampled(labels, 5, examples_per_class=3, balanced=False, random_state=seed).classes, minlength=5
        )
    share = 3 * 5 / 74  # of a copy per example
    deviation = np.sqrt(size * share * (1 - share) / 400)
    assert (np.abs(counts / 400 - size * share) < 4 * deviation).all()


# Adversaries that are candidates --------------------------------------------------------------------------------------


def recorded(monkeypatch, X, Y, **params):
    """A fitted model, and the examples that its pairs were made of."""
    seen, pairs = [], DoubleSampling._pairs
    monkeypatch.setattr(
        DoubleSampling, "_pairs", lambda self, x, sample, *rest: seen.append(sample) or pairs(self, x, sample, *rest)
    )
    return DoubleSampling(**params).fit(X, Y), seen[0]


@pytest.mark.parametrize("distance, weighting", SPACES)
@pytest.mark.parametrize("q", [2, 4, 30])
def test_adversaries_are_the_other_candidates_and_the_own_class_is_one_without_the_example(
    q, distance, weighting, monkeypatch
):
    space = {"distance": distance, "weighting": weighting}
    X, rows, labels = problem(n=50, n_terms=30, n_classes=12, most=2)
    params = {"adversaries": "candidates", "n_candidates": q, "examples_per_class": 30, "n_adversarial": 50} | space
    model, sample = recorded(monkeypatch, X, binary(labels, 12), **params)
    found = {
        (i, k): own for i, k, own in zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist())
    }
    expected = {}
    for i, own in enumerate(labels):
        for k in own:
            others, is_near = naive.double_sampling.ds_other_candidates(i, k, rows, labels, q, **space)
            if is_near and model.class_size_[k] > 1:
                expected[i, k] = sorted(others)
    assert found == expected and len(found) > 5 and (q == 30 or len(found) < sum(map(len, labels)))
    left = [sum(k not in labels[i] for k in own) for i, own in zip(sample.rows, sample.adversaries.tolist())]
    assert np.array_equal(model.sampled_size_, np.bincount(sample.classes, np.array(left) > 0, minlength=12))
    assert model.n_pairs_ == sum(left)


def test_fewer_adversaries_than_candidates_are_drawn_from_them(monkeypatch):
    X, rows, labels = problem(n=50, n_terms=30, n_classes=12)
    params = {"adversaries": "candidates", "n_candidates": 6, "examples_per_class": 40, "n_adversarial": 2}
    _, sample = recorded(monkeypatch, X, binary(labels, 12), **params)
    drawn = {}
    for i, k, own in zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist()):
        assert own[0] < own[1] and set(own) <= set(naive.double_sampling.ds_other_candidates(i, k, rows, labels, 6)[0])
        drawn.setdefault((i, k), []).extend(own)
    assert np.mean([len(set(own)) for own in drawn.values()]) > 4  # of 5, over some ten copies each


def test_pairs_of_candidates_leave_the_example_out_of_its_class(monkeypatch):
    X, rows, labels = problem(n=40, n_terms=20)
    params = {"adversaries": "candidates", "n_candidates": 4, "features": "extended"}
    model, sample = recorded(monkeypatch, X, binary(labels), **params)
    naive_f = {}

    def f(i, k):
        if (i, k) not in naive_f:
            out = i if k in labels[i] else None
            phi = naive.double_sampling.ds_features(
                rows[i], k, rows, labels, out
            ) + naive.double_sampling.ds_more_features(rows[i], k, rows, labels, out)
            naive_f[i, k] = np.dot(model.weights_, phi)
        return naive_f[i, k]

    examples = list(zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist()))
    assert model.empirical_risk_ == pytest.approx(naive.double_sampling.ds_risk(examples, f), abs=1e-9)


def test_no_example_among_candidates_and_too_few_candidates_are_said():
    with pytest.raises(ValueError, match="n_candidates of at least 2"):
        DoubleSampling(adversaries="candidates", n_candidates=1).fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="raise n_candidates or examples_per_class"):
        # Each row is as far from the rest of its class as can be.
        X = [[9, 0, 1, 0], [0, 9, 0, 1], [9, 0, 0, 1], [0, 9, 1, 0], [9, 0, 0, 0], [0, 9, 0, 0]]
        DoubleSampling(adversaries="candidates", n_candidates=2).fit(X, [0, 0, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="adversaries='candidates', which needs classes of two rows"):
        DoubleSampling(adversaries="candidates").fit(np.eye(3), [0, 1, 2])


# Candidates from a label tree -----------------------------------------------------------------------------------------


def tree_problem(n=90):
    return problem(n=n, n_classes=20, n_terms=40, most=2, skip=(3, 11))


def test_candidates_from_a_label_tree_are_its_best_classes_that_have_rows():
    X, _, labels = tree_problem()
    model = DoubleSampling(candidates_from="plt", features="extended").fit(X, binary(labels, 20))
    tree, vectors = model._tree, tree_candidates.as_vectors(model._rows(X), model._index_.weight)
    present = np.flatnonzero(model.class_size_)
    for q in (1, 5, 50):
        found = model.candidates(X, q)
        expected = tree.plt.predict_topk(vectors, min(q, 18))
        assert np.array_equal(found, present[expected.labels])
    ranking = model.predict_topk(X, 10)
    assert np.array_equal(np.sort(ranking.labels), np.sort(model.candidates(X, 10)))
    proba = tree.plt.predict_proba(vectors).toarray()
    features = model.pair_features(X, np.tile([-1, 3, *present], (len(X), 1)))
    assert features.shape == (90, 20, 17) and model.feature_names_[-1] == "tree log probability"
    assert np.isnan(features[:, 0]).all() and (features[:, 1, -1] == tree_candidates.LEAST).all()
    np.testing.assert_allclose(features[:, 2:, -1], np.log(np.maximum(proba, np.exp(-20))), rtol=1e-4, atol=1e-5)


def test_the_tree_sees_rows_as_the_centroids_do():
    X, _, labels = tree_problem()
    for weighting in ("tfidf", "counts"):
        model = DoubleSampling(candidates_from="plt", weighting=weighting).fit(X, binary(labels, 20))
        x = model._rows(X)
        found = tree_candidates.as_vectors(x, model._index_.weight).toarray()
        dense = sp.csr_array((x[2] * model._index_.weight[x[1]], x[1], x[0])).toarray()
        np.testing.assert_allclose(found, dense / dense.max(axis=1, keepdims=True), rtol=1e-6)


def test_cross_fitted_trees_judge_rows_they_were_not_trained_on(monkeypatch):
    X, _, labels = tree_problem()
    seen = []
    monkeypatch.setattr(tree_candidates, "_trained", lambda X, Y, *rest: seen.append((X, Y)) or object())
    vectors = sp.csr_array(np.arange(90.0)[:, None] + 1)
    cross = tree_candidates.CrossFitted.fit(vectors, binary(labels, 20), 0, 1)
    assert np.bincount(cross.fold).tolist() == [30, 30, 30]
    for f, (part, Y) in enumerate(seen):
        rows = part.toarray().ravel().astype(int) - 1
        assert not set(rows) & set(np.flatnonzero(cross.fold == f)) and rows.size == 60 and Y.shape == (60, 18)
        assert (Y != binary(labels, 20)[rows][:, np.delete(np.arange(20), [3, 11])]).nnz == 0


def test_pairs_have_the_log_probability_of_the_tree_without_the_row(monkeypatch):
    X, _, labels = tree_problem()
    params = {"candidates_from": "plt", "features": "extended", "n_adversarial": 4}
    logs, pairs = [], DoubleSampling._pairs

    def noted(self, x, sample, size, index, progress, more, found):
        logs.extend((x, index, sample, found))
        return pairs(self, x, sample, size, index, progress, more, found)

    monkeypatch.setattr(DoubleSampling, "_pairs", noted)
    model = DoubleSampling(**params).fit(X, binary(labels, 20))
    x, index, sample, found = logs
    vectors = tree_candidates.as_vectors(x, index.weight)
    cross = tree_candidates.CrossFitted.fit(
        vectors, binary(labels, 20), double_sampling._seed(0, double_sampling.CROSS), 1
    )
    for m in range(0, sample.rows.size, 5):
        i, asked = int(sample.rows[m]), [int(sample.classes[m]), *sample.adversaries[m].tolist()]
        tree = cross.trees[cross.fold[i]]
        proba = tree.plt.predict_proba(vectors[[i]]).toarray()[0]
        expected = [np.log(max(proba[np.flatnonzero(tree.classes == k)[0]], np.exp(-20))) for k in asked]
        np.testing.assert_allclose(found[m], expected, rtol=1e-4, atol=1e-5)
    pairs_made, signs = pairs(model, x, sample, model.class_size_, index, lambda *_: None, model._more, found)
    difference = (found[:, :1] - found[:, 1:]).ravel()
    np.testing.assert_allclose(pairs_made[:, -1] * signs, difference)


def test_label_trees_need_two_rows_to_judge_one_without_itself():
    Y = [[0, 1]]
    with pytest.raises(ValueError, match="two training rows at least"):
        DoubleSampling(candidates_from="plt", features="extended").fit([[1.0, 2.0]], Y)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_the_empirical_risk_is_that_of_equation_7(leave_one_out):
    X, rows, labels = problem(n=50, seed=3)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0, X)  # hard enough to be wrong at times
    rows = as_dicts(X)
    model = DoubleSampling(n_adversarial=3, examples_per_class=4, leave_one_out=leave_one_out).fit(X, binary(labels))
    sample = sampled(labels, 7, n_adversarial=3, examples_per_class=4, leave_one_out=leave_one_out)
    known = {}

    def f(i, k):
        if (i, k) not in known:
            out = i if leave_one_out and k in labels[i] else None
            known[i, k] = np.dot(model.weights_, naive.double_sampling.ds_features(rows[i], k, rows, labels, out))
        return known[i, k]

    examples = list(zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist()))
    risk = naive.double_sampling.ds_risk(examples, f)
    assert model.n_pairs_ == 3 * len(examples) and 0 < risk < 0.5
    assert model.empirical_risk_ == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize(
    "loss, oracle",
    [
        ("logistic", LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=10_000)),
        ("squared_hinge", LinearSVC(C=0.7, fit_intercept=False, dual=False, tol=1e-10, max_iter=10_000)),
    ],
)
def test_f_is_the_linear_classifier_of_the_scaled_differences(loss, oracle):
    X, rows, labels = problem(n=30, n_classes=5)
    model = DoubleSampling(n_adversarial=2, C=0.7, loss=loss).fit(X, binary(labels, 5))
    sample = sampled(labels, 5, n_adversarial=2)
    examples = list(zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist()))
    pairs = naive.double_sampling.ds_pairs(
        examples, lambda i, k: np.array(naive.double_sampling.ds_features(rows[i], k, rows, labels))
    )
    Z, signs = np.array([a - b for a, b, _ in pairs]), [sign for *_, sign in pairs]
    scale = np.sqrt((Z**2).mean(axis=0))
    oracle.fit(Z / scale, signs)
    np.testing.assert_allclose(model.feature_scale_, scale, rtol=1e-4)
    np.testing.assert_allclose(model.weights_ * scale, oracle.coef_[0], atol=2e-3)


def test_training_keeps_the_pairs_once():
    """κM·10 numbers: neither their making nor the learner copies them."""
    X, _, labels = problem(n=1200, n_terms=60, n_classes=400)
    Y = binary(labels, 400)
    model = DoubleSampling(n_adversarial=200)
    warm_up(model)
    tracemalloc.start()
    try:
        model.fit(X, Y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.n_pairs_ > 150_000
    assert peak < 1.7 * 80 * model.n_pairs_  # a number per pair is a tenth; a copy would make it more than 2


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_pairs_of_one_sign_are_learnt_from_too(loss):
    X = [[3, 0], [0, 3]]
    for seed in range(5):  # one example, of class 0 or of class 1
        model = DoubleSampling(examples_per_class=0.5, n_adversarial=1, loss=loss, random_state=seed)
        try:
            model.fit(X, [0, 1])
        except ValueError as error:
            assert "no example was drawn" in str(error)  # noqa: PT017
            continue
        assert model.predict_topk(X, k=1).labels.ravel().tolist() == [0, 1]


# What is handed in ----------------------------------------------------------------------------------------------------


def test_classes_may_be_ids_lists_or_a_matrix():
    X, _, labels = problem()
    ids = [own[0] for own in labels]
    expected = DoubleSampling().fit(X, binary(labels)).predict_topk(X)
    for Y in (ids, np.array(ids), np.array(ids, np.uint8), labels, binary(labels).toarray()):
        found = DoubleSampling().fit(sp.coo_array(X), Y).predict_topk(X)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)


@pytest.mark.parametrize(
    "Y, message",
    [
        ([0, 1], "2 class ids, but the features have 3 rows"),
        ([0, -1, 1], "row 1 has the class id -1"),
        ([0, 2**40, 1], "row 1 has the class id 1099511627776"),
        ([2, 2, 2], "at least two classes"),
        (np.zeros((3, 4)), "no row of Y has a label"),
        ([0.5, 1.0, 2.0], "binary matrix"),
        ([True, False, True], "binary matrix"),
    ],
)
def test_bad_classes_are_refused_with_what_to_do(Y, message):
    with pytest.raises(ValueError, match=message):
        DoubleSampling().fit(np.eye(3), Y)


@pytest.mark.parametrize("params", [{}, {"candidates_from": "plt", "features": "extended"}])
def test_many_rows_and_candidates_are_ranked_in_parts(params, monkeypatch):
    X, _, labels = problem(n=60, n_terms=30, n_classes=12)
    model = DoubleSampling(**params).fit(X, binary(labels, 12))
    whole, reports = model.predict_topk(X, 4), []
    monkeypatch.setattr(double_sampling, "BLOCK", 16)
    monkeypatch.setattr(double_sampling, "MOST_RANKED", 100)
    parts = model.predict_topk(X, 4, lambda phase, fraction, *rest: reports.append(fraction))
    assert np.array_equal(parts.labels, whole.labels) and np.array_equal(parts.scores, whole.scores)
    assert reports == sorted(reports) and reports[-1] == 1.0 and len(reports) >= 4


def test_a_model_of_multi_class_data_predicts_one_class_and_others_those_of_half_the_share():
    X, _, labels = problem()
    model = DoubleSampling().fit(X, binary(labels))
    assert model.multiclass_ and np.array_equal(model.predict(X).indices, model.predict_topk(X, 1).labels.ravel())
    assert np.array_equal(np.diff(model.predict(X).indptr), np.ones(40))
    X, _, labels = problem(most=3)
    model = DoubleSampling().fit(X, binary(labels))
    assert not model.multiclass_
    assert (model.predict(X) != (model.predict_proba(X) >= 0.5)).nnz == 0


def test_probabilities_are_shares_of_the_candidates():
    X, _, labels = problem(n_classes=12)
    model = DoubleSampling(n_candidates=4).fit(X, binary(labels, 12))
    proba, ranking = model.predict_proba(X), model.predict_topk(X, 12)
    assert proba.shape == (40, 12) and proba.dtype == np.float32 and proba.has_canonical_format
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
    for row, own, scores in zip(proba.toarray(), ranking.labels, ranking.scores):
        assert np.array_equal(row[own[:4]], scores[:4]) and np.count_nonzero(row) <= 4
    high = model.predict_proba(X, 0.3)
    assert np.array_equal(high.toarray(), np.where(proba.toarray() >= 0.3, proba.toarray(), 0))
    with pytest.raises(ValueError, match="threshold"):
        model.predict_proba(X, 1.5)


def test_negative_values_are_refused_in_training_unless_told_otherwise_and_nothing_when_predicting():
    X, _, labels = problem()
    noisy = X.copy()
    noisy[3, 4], noisy[5, 6] = -1.5, -2.0
    with pytest.raises(ValueError, match=r"2 negative value\(s\), the first -1.5 at row 3, column 4.*negative='zero'"):
        DoubleSampling().fit(noisy, binary(labels))
    with pytest.warns(UserWarning, match="2 negative"):
        model = DoubleSampling(negative="zero").fit(noisy, binary(labels))
    clean = np.maximum(noisy, 0)
    same = DoubleSampling().fit(clean, binary(labels))
    assert np.array_equal(model.weights_, same.weights_) and noisy[3, 4] == -1.5
    found, expected = same.predict_topk(noisy), same.predict_topk(clean)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)


def test_rows_without_labels_are_left_out_with_a_note():
    X, _, labels = problem()
    more = np.vstack([X[:10], np.ones((3, 15)), X[10:]])
    with pytest.warns(UserWarning, match="3 of 43 training rows have no label"):
        model = DoubleSampling().fit(more, binary([*labels[:10], [], [], [], *labels[10:]]))
    assert np.array_equal(model.weights_, DoubleSampling().fit(X, binary(labels)).weights_)
    assert model.n_unlabelled_ == 3 and model.multiclass_


def test_features_that_no_training_row_had_and_rows_without_any_do_not_matter():
    X, _, labels = problem()
    wide = np.hstack([X[:, :7], np.zeros((40, 1)), X[:, 7:]])
    model = DoubleSampling().fit(wide, binary(labels))
    other = wide.copy()
    other[:, 7] = 9
    found, expected = model.predict_topk(other), DoubleSampling().fit(X, binary(labels)).predict_topk(X)
    assert np.array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-4)
    empty = model.predict_topk(np.zeros((2, 16)), k=3)
    assert empty.labels.tolist() == [[0, 1, 2]] * 2
    assert model.predict_topk(np.zeros((0, 16)), k=3).labels.shape == (0, 3)
    assert model.predict_proba(np.zeros((0, 16))).shape == (0, 7) == model.predict(np.zeros((0, 16))).shape


def test_data_without_any_feature_can_be_trained_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DoubleSampling().fit(np.zeros((4, 3)), [0, 1, 2, 2])
    assert model.predict_topk(np.ones((1, 3)), k=2).labels.tolist() == [[0, 1]] and model.empirical_risk_ == 1.0


@pytest.mark.parametrize("scale", [1e-38, 1e30])
def test_values_at_the_ends_of_float32_stay_finite(scale):
    X, _, labels = problem()
    for distance in ("cosine", "euclidean"):
        model = DoubleSampling(distance=distance).fit(X * scale, binary(labels))
        assert np.isfinite(model.weights_).all() and np.isfinite(model.predict_topk(X * scale).scores).all()
    with pytest.raises(ValueError, match="beyond float32: scale X"):
        DoubleSampling().fit(np.full((4, 2), 3e38), [0, 0, 1, 1])


def test_pair_features_say_what_is_wrong_with_classes():
    X, _, labels = problem()
    model = DoubleSampling().fit(X, binary(labels))
    for classes, error, message in (
        ([[0]], ValueError, "a row of class ids for each of the 40 rows"),
        (np.zeros((40, 2)), TypeError, "whole numbers"),
        (np.full((40, 1), 7), ValueError, "from 0 to 6"),
        (np.full((40, 1), -2), ValueError, "-2"),
    ):
        with pytest.raises(error, match=message):
            model.pair_features(X, classes)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"examples_per_class": 0}, "examples_per_class must be from 1e-06"),
        ({"examples_per_class": "2"}, "examples_per_class must be a number"),
        ({"n_adversarial": 0}, "n_adversarial must be"),
        ({"n_candidates": 1.5}, "n_candidates must be a whole number"),
        ({"random_state": -1}, "random_state"),
        ({"loss": "hinge"}, "loss must be one of logistic, squared_hinge, not 'hinge'"),
        ({"C": 0}, "C must be from"),
        ({"distance": "l1"}, "distance must be one of cosine, euclidean"),
        ({"weighting": None}, "weighting must be one of tfidf, counts"),
        ({"leave_one_out": 1}, "leave_one_out must be True or False"),
        ({"features": "all"}, "features must be one of paper, extended"),
        ({"candidates_from": "tree"}, "candidates_from must be one of centroids, plt"),
        ({"adversaries": 3}, "adversaries must be one of random, candidates"),
        ({"balanced": None}, "balanced must be True or False"),
        ({"negative": "drop"}, "negative must be one of refuse, zero"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, _, labels = problem()
    with pytest.raises((ValueError, TypeError), match=message):
        DoubleSampling(**params).fit(X, binary(labels))


def test_classes_of_one_row_only_cannot_be_left_out():
    with pytest.raises(ValueError, match="leave_one_out, which needs classes of two rows"):
        DoubleSampling(leave_one_out=True).fit(np.eye(3), [0, 1, 2])


# The house's promises -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, EXTENSIONS[3], EXTENSIONS[4]], ids=str)
def test_same_seed_same_model_for_1_2_and_4_workers_and_any_block_of_rows(params, monkeypatch):
    X, _, labels = problem(n=90, n_classes=30, n_terms=40, most=2)
    models = [DoubleSampling(n_jobs=n, **params).fit(X, binary(labels, 30)) for n in (1, 2, 4)]
    monkeypatch.setattr(double_sampling, "BLOCK", 7)
    monkeypatch.setattr(tree_candidates, "BLOCK", 5)
    models += [DoubleSampling(n_jobs=n, **params).fit(X, binary(labels, 30)) for n in (1, 3)]
    expected = models[0].predict_topk(X, 10)
    for model in models[1:]:
        assert np.array_equal(model.weights_, models[0].weights_)
        found = model.predict_topk(X, 10)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    other = DoubleSampling(random_state=1, **params).fit(X, binary(labels, 30))
    assert not np.array_equal(other.weights_, models[0].weights_)
    single = np.concatenate([models[0].predict_topk(X[[i]], 10).labels for i in range(90)])
    assert np.array_equal(single, expected.labels)


@pytest.mark.parametrize(
    "params", [{}, {"distance": "euclidean", "weighting": "counts", "loss": "squared_hinge"}, *EXTENSIONS], ids=str
)
def test_a_saved_model_is_the_same_when_it_is_read(params, tmp_path):
    X, _, labels = problem(skip=(2,), most=2)
    model = DoubleSampling(**params).fit(X, binary(labels))
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.get_params() == model.get_params() and loaded.size() == model.size()
    for name in ("n_pairs_", "empirical_risk_", "multiclass_", "n_unlabelled_", "feature_names_"):
        assert getattr(loaded, name) == getattr(model, name)
    for name in ("weights_", "feature_scale_", "class_size_", "sampled_size_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    found, expected = loaded.predict_topk(X), model.predict_topk(X)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    assert np.array_equal(loaded.candidates(X, 6), model.candidates(X, 6))
    assert np.array_equal(loaded.pair_features(X, found.labels), model.pair_features(X, found.labels), equal_nan=True)


@pytest.mark.parametrize(
    "harm",
    [
        lambda a: a.pop("sums"),
        lambda a: a.update(sums=-a["sums"]),
        lambda a: a.update(sums=a["sums"] * np.float32(np.nan)),
        lambda a: a.update(sums=a["sums"].astype(np.float64)),
        lambda a: a.update(classes=a["classes"] + np.int32(7)),
        lambda a: a.update(classes=a["classes"][::-1].copy()),
        lambda a: a.update(classes=a["classes"] - np.int32(1)),
        lambda a: a.update(classes=a["classes"][:-1]),
        lambda a: a.update(ptr=a["ptr"][:-1]),
        lambda a: a.update(ptr=a["ptr"][::-1].copy()),
        lambda a: a.update(ptr=a["ptr"] * 2),
        lambda a: a.update(class_size=a["class_size"] * 0),
        lambda a: a.update(class_size=a["class_size"] - 1),
        lambda a: a.update(class_size=a["class_size"][:-1]),
        lambda a: a.update(document_counts=a["document_counts"] - 100),
        lambda a: a.update(document_counts=a["document_counts"] + 10**6),
        lambda a: a.update(weights=a["weights"][:9]),
        lambda a: a.update(weights=a["weights"] * np.inf),
        lambda a: a.update(scale=a["scale"][None]),
        lambda a: a.pop("sampled_size"),
        lambda a: a.update(sampled_size=a["sampled_size"][1:]),
        lambda a: a.update(sampled_size=-a["sampled_size"]),
        lambda a: a.update({"plt.classes": a["plt.classes"] + np.int32(1)}),
        lambda a: a.update({"plt.classes": a["plt.classes"][1:]}),
        lambda a: a.pop("plt.tree0.columns"),
        lambda a: a.update(feature_of_column=a["feature_of_column"] * 0),
        lambda a: a.update(feature_of_column=a["feature_of_column"][:-1]),
    ],
)
def test_a_damaged_model_is_refused(harm, tmp_path):
    X, _, labels = problem()
    folder = DoubleSampling(candidates_from="plt").fit(X, binary(labels)).save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = dict(stored)
    harm(arrays)
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError):
        load_model(folder)


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_features", 3), ("n_features", "x"), ("n_labels", 6), ("n_labels", 8), ("n_rows", 0), ("n_pairs", -1),
        ("distance", "l1"), ("weighting", 3), ("empirical_risk", 2.0), ("empirical_risk", None), ("n_unlabelled", None),
        ("features", "all"), ("features", "extended"), ("tree", {}), ("tree", 3),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused(name, value, tmp_path):
    X, _, labels = problem()
    folder = DoubleSampling().fit(X, binary(labels)).save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    description["values"][name] = value
    (folder / "params.json").write_text(json.dumps(description))
    with pytest.raises(ModelFormatError):
        load_model(folder)


def test_changing_parameters_after_fit_does_not_change_what_was_fitted(tmp_path):
    X, _, labels = problem()
    model = DoubleSampling().fit(X, binary(labels))
    expected = model.predict_topk(X)
    model.set_params(distance="euclidean", weighting="counts")
    loaded = load_model(model.save(tmp_path / "model"))
    for other in (model, loaded):
        assert np.array_equal(other.predict_topk(X).scores, expected.scores)


@pytest.mark.parametrize("phase", ["Adding up classes", "Drawing pairs", "Features of pairs", "Learning f"])
def test_stopping_keeps_the_old_model(phase):
    X, _, labels = problem()
    model = DoubleSampling().fit(X, binary(labels))
    before = model.weights_

    def stop(now, *_):
        if now == phase:
            raise Cancelled

    with pytest.raises(Cancelled):
        model.set_params(random_state=5).fit(X[:30], binary(labels[:30]), progress=stop)
    assert model.weights_ is before


def test_progress_rises_to_the_end_of_each_phase():
    X, _, labels = problem()
    seen = {}
    model = DoubleSampling().fit(X, binary(labels), progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    model.predict_topk(X, progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    assert list(seen) == ["Adding up classes", "Drawing pairs", "Features of pairs", "Learning f", "Predicting"]
    assert all(fractions == sorted(fractions) and fractions[-1] == 1.0 for fractions in seen.values())


def test_scikit_learn_clones_searches_and_copies_it(tmp_path):
    X, _, labels = problem()
    Y = binary(labels).toarray()
    model = DoubleSampling(n_candidates=4).fit(X, Y)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "weights_")
    search = GridSearchCV(make_pipeline(MaxAbsScaler(), DoubleSampling()), {"doublesampling__n_candidates": [1, 5]},
                          scoring="f1_micro", cv=2, error_score="raise")  # fmt: skip
    assert search.fit(X, Y).predict(X).shape == Y.shape
    joblib.dump(model, tmp_path / "model.joblib")
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(other.predict_topk(X).scores, model.predict_topk(X).scores)
    with pytest.raises(NotFittedError, match="This DoubleSampling is not fitted yet"):
        DoubleSampling().predict(X)


@pytest.mark.parametrize("params", EXTENSIONS, ids=str)
def test_extensions_warm_up_report_and_stop(params):
    X, _, labels = problem(n=60)
    warm_up(DoubleSampling(**params))
    seen = {}
    model = DoubleSampling(**params)
    model.fit(X, binary(labels), progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    assert all(fractions == sorted(fractions) and fractions[-1] == 1.0 for fractions in seen.values()), seen
    assert ("Training label trees" in seen) == ("candidates_from" in params)
    before = model.weights_
    for phase in seen:

        def stop(now, *_, phase=phase):
            if now == phase:
                raise Cancelled

        with pytest.raises(Cancelled):
            model.set_params(random_state=5).fit(X[:40], binary(labels[:40]), progress=stop)
        assert model.weights_ is before


@pytest.mark.parametrize("params", EXTENSIONS, ids=str)
def test_extensions_predict_rows_without_features_and_no_rows_and_values_at_the_ends_of_float32(params):
    X, _, labels = problem(n=60)
    model = DoubleSampling(**params).fit(X * 1e30, binary(labels))
    assert np.isfinite(model.weights_).all() and np.isfinite(model.predict_topk(X * 1e30).scores).all()
    assert np.isfinite(DoubleSampling(**params).fit(X * 1e-38, binary(labels)).weights_).all()
    empty = model.predict_topk(np.zeros((2, 15)), k=3)
    assert (empty.labels[0] == empty.labels[1]).all() and np.isfinite(empty.scores).all()
    assert model.predict_topk(np.zeros((0, 15)), k=3).labels.shape == (0, 3)
    assert model.candidates(np.zeros((0, 15)), 3).shape == (0, 3)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X * 1e30, binary(labels))):
        assert np.array_equal(other.predict_topk(X).scores, model.predict_topk(X).scores)


def test_warming_up_runs_and_leaves_the_model_alone():
    model = DoubleSampling(leave_one_out=True, distance="euclidean")
    warm_up(model)
    assert not hasattr(model, "weights_")


# Figures --------------------------------------------------------------------------------------------------------------


@pytest.mark.real_data
def test_accuracy_on_wordnet_is_what_it_was(real_data):
    from xmlcore.datasets import read_matrix

    X, Y, *_ = read_matrix(real_data / "wordnet-class" / "train.txt.gz")
    X_test, Y_test, *_ = read_matrix(real_data / "wordnet-class" / "test.txt.gz")
    ranking = DoubleSampling().fit(X, Y).predict_topk(X_test, k=10)
    assert metrics.accuracy(Y_test, ranking) == pytest.approx(0.414, abs=0.01)
    assert metrics.macro_f1(Y_test, ranking) == pytest.approx(0.318, abs=0.01)
    assert metrics.recall_at_k(Y_test, ranking, 10)[-1] == pytest.approx(0.756, abs=0.005)
