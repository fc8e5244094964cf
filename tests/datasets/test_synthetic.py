"""Made-up data sets: what is promised of them, and the kernels against their twins."""

import naive
import numpy as np
import pytest

from xmlcore import PLT, metrics
from xmlcore.datasets import SYNTHETIC_SHAPES, make_synthetic
from xmlcore.datasets.registry import synthetic

SMALL = dict(n_train=400, n_test=100, n_features=300, n_labels=60, features_per_row=15, labels_per_row=3)


def label_counts(dataset):
    return np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels)


def feature_counts(dataset):
    return np.bincount(dataset.X_train.indices, minlength=dataset.n_features)


def small_problem(sizes, **options):
    defaults = {"feature_exponent": 1.0, "topic_size": 4, "feature_noise": 0.3, "label_noise": 0.2}
    sizes = {"label_exponent": 0.8} | sizes
    return synthetic._problem(sizes, *(defaults | options).values(), 5, 6)


def rows_of(dataset, part):
    X, Y = getattr(dataset, f"X_{part}"), getattr(dataset, f"Y_{part}")
    for i in range(X.shape[0]):
        x, y = slice(*X.indptr[i : i + 2]), slice(*Y.indptr[i : i + 2])
        yield Y.indices[y].tolist(), X.indices[x].tolist(), X.data[x].tolist()


# Kernels against their twins ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes, options", [
    (dict(n_labels=60, n_features=300, labels_per_row=3, features_per_row=15), {}),
    (dict(n_labels=60, n_features=300, labels_per_row=3, features_per_row=15), {"topic_size": 60}),  # one topic
    (dict(n_labels=12, n_features=20, labels_per_row=10, features_per_row=18), {}),  # nearly all, in every row
    (dict(n_labels=12, n_features=20, labels_per_row=12, features_per_row=20), {"label_noise": 1.0}),  # all
    (dict(n_labels=500, n_features=90, labels_per_row=1, features_per_row=1), {"feature_noise": 0.0}),
    (dict(n_labels=2, n_features=1, labels_per_row=1, features_per_row=1), {"topic_size": 2}),
    (
        dict(n_labels=200, n_features=400, labels_per_row=4, features_per_row=60, label_exponent=0.0),
        {"feature_noise": 0.0, "label_noise": 0.0, "feature_exponent": 1.5},  # few words are left to be said
    ),
    (
        dict(n_labels=40, n_features=400, labels_per_row=4, features_per_row=20, label_exponent=2.0),
        {"feature_noise": 1.0, "feature_exponent": 0.0, "label_noise": 1.0},
    ),
])  # fmt: skip
def test_rows_are_those_of_the_twin(sizes, options):
    n = 40
    problem = small_problem(sizes, **options)
    tables = (
        synthetic._size_table(sizes["labels_per_row"], 0.4, sizes["n_labels"]),
        synthetic._size_table(sizes["features_per_row"], 0.7, sizes["n_features"]),
    )
    X, Y, X_test, Y_test = synthetic._make_parts(problem, tables, (n, 1), (7, 8), 1, lambda *_: None)
    for i in range(n):
        labels, features = naive.synthetic.synthetic_row(problem, 7, i, *tables)
        assert Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() == labels
        row = slice(X.indptr[i], X.indptr[i + 1])
        assert X.indices[row].tolist() == list(features)
        np.testing.assert_allclose(X.data[row], list(features.values()), rtol=1e-6)
    labels, features = naive.synthetic.synthetic_row(problem, 8, 0, *tables)
    assert Y_test.indices.tolist() == labels and X_test.indices.tolist() == list(features)


# What is promised -----------------------------------------------------------------------------------------------------


def test_data_depend_neither_on_threads_nor_on_blocks(monkeypatch):
    made = make_synthetic(**SMALL, n_jobs=1)
    assert make_synthetic(**SMALL, n_jobs=3).fingerprint == made.fingerprint
    monkeypatch.setattr(synthetic, "BLOCK", 7)
    assert make_synthetic(**SMALL, n_jobs=2).fingerprint == made.fingerprint
    assert make_synthetic(**SMALL, random_state=1).fingerprint != made.fingerprint


def test_more_rows_begin_with_the_same_rows():
    few, many = make_synthetic(**SMALL), make_synthetic(**SMALL | {"n_train": 500, "n_test": 130})
    for part, n in (("train", 400), ("test", 100)):
        assert list(rows_of(few, part)) == list(rows_of(many, part))[:n]


def test_without_a_seed_calls_differ_and_can_be_repeated():
    made = make_synthetic(**SMALL, random_state=None)
    assert make_synthetic(**SMALL, random_state=None).fingerprint != made.fingerprint
    again = eval(made.notes[0].removeprefix("Made up by ").rstrip("."), {"make_synthetic": make_synthetic})
    assert again.fingerprint == made.fingerprint


def test_rows_have_the_means_asked_for_and_vary_around_them():
    made = make_synthetic(n_train=4000, n_features=3000, n_labels=500, features_per_row=30, labels_per_row=4)
    for matrix, mean in ((made.X_train, 30), (made.Y_train, 4)):
        sizes = np.diff(matrix.indptr)
        assert sizes.min() >= 1
        assert sizes.mean() == pytest.approx(mean, rel=0.04)  # four standard errors
        assert 0.3 * mean < sizes.std() < mean


def test_rows_are_positive_and_of_length_1():
    X = make_synthetic(**SMALL).X_train
    assert X.data.min() > 0
    np.testing.assert_allclose(X.power(2).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("exponent", [0.0, 0.6, 1.0])
def test_label_frequencies_follow_the_law(exponent):
    sizes = dict(n_features=50, features_per_row=1, n_labels=100, labels_per_row=2)
    counts = np.sort(label_counts(make_synthetic(n_train=30_000, label_exponent=exponent, **sizes)))[::-1]
    assert counts[-1] > 0
    middle = slice(5, 95)  # the most frequent labels are rarer: a row has a label once
    slope = np.polyfit(np.log(np.arange(1, 101))[middle], np.log(counts)[middle], 1)[0]
    assert -slope == pytest.approx(exponent, abs=0.08)


def test_labels_of_a_topic_occur_together():
    made = make_synthetic(n_train=3000, n_labels=400, labels_per_row=3, label_noise=0.0)

    def repeats(Y):
        """Over all pairs of labels, the pairs of rows that have both."""
        together = np.triu((Y.T.astype(np.float64) @ Y.astype(np.float64)).toarray(), 1)
        return (together * (together - 1)).sum() / 2

    Y = made.Y_train.copy()
    related = repeats(Y)
    Y.indices = np.random.default_rng(0).permutation(Y.indices)  # the same frequencies, by chance
    Y.has_canonical_format = False
    Y.sum_duplicates()
    assert related > 3 * repeats(Y)


def test_labels_of_a_topic_share_words():
    sizes = dict(n_train=4000, n_labels=100, n_features=20_000, label_exponent=0.0)
    made = make_synthetic(**sizes, labels_per_row=1, feature_noise=0.0, label_noise=0.0)
    together = make_synthetic(**sizes, labels_per_row=3, feature_noise=0.0, label_noise=0.0)
    means = (made.Y_train.T.astype(np.float64) @ made.X_train.astype(np.float64)).toarray()
    means /= np.linalg.norm(means, axis=1)[:, None]
    likeness = means @ means.T
    Y = together.Y_train.astype(np.float64)
    often = np.triu((Y.T @ Y).toarray(), 1) > 20  # of one topic: labels and words have not changed
    never = np.triu((Y.T @ Y).toarray() == 0, 1)
    assert often.sum() > 20 and never.sum() > 20
    assert likeness[often].mean() > likeness[never].mean() + 0.1


def test_ids_tell_nothing():
    made = make_synthetic(n_train=4000, n_labels=400)
    for counts in (label_counts(made), feature_counts(made)):
        by_id = np.corrcoef(np.arange(counts.size), np.argsort(np.argsort(counts)))[0, 1]
        assert abs(by_id) < 4 / np.sqrt(counts.size)


def precision_and_baseline(**options):
    made = make_synthetic(**{"n_train": 3000, "n_labels": 300, "n_features": 2000} | options)
    model = PLT(loss="squared_hinge", C=1, random_state=0, n_jobs=1).fit(made.X_train, made.Y_train)
    found = metrics.precision_at_k(made.Y_test, model.predict_topk(made.X_test, 1), 1)[0]
    most_frequent = int(np.argmax(label_counts(made)))
    return found, made.Y_test[:, [most_frequent]].mean()


def test_noise_makes_it_harder_all_noise_leaves_frequencies():
    quiet, _ = precision_and_baseline(feature_noise=0.0, label_noise=0.0)
    middle, _ = precision_and_baseline(feature_noise=0.6, label_noise=0.3)
    noise, baseline = precision_and_baseline(feature_noise=1.0)
    assert quiet > middle + 0.1 > noise + 0.2
    assert noise < baseline + 0.1


@pytest.mark.parametrize("shape", SYNTHETIC_SHAPES)
def test_shapes_give_their_columns_and_means(shape):
    values = SYNTHETIC_SHAPES[shape]
    made = make_synthetic(shape, n_train=300, n_test=10)
    assert (made.n_features, made.n_labels) == (values["n_features"], values["n_labels"])
    assert np.diff(made.X_train.indptr).mean() == pytest.approx(values["features_per_row"], rel=0.2)
    assert np.diff(made.Y_train.indptr).mean() == pytest.approx(values["labels_per_row"], rel=0.2)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_extreme_laws_stay_finite_and_leave_every_label_possible(exponent):
    sizes = {"n_labels": 700_000, "n_features": 700_000, "features_per_row": 1, "label_exponent": exponent}
    problem = small_problem(sizes, feature_exponent=exponent)
    assert np.isfinite(problem.idf).all() and problem.idf.min() > 0
    assert np.diff(problem.cumulative).min() > 0


def test_progress_goes_from_0_to_1():
    seen = []
    make_synthetic(**SMALL, progress=lambda phase, fraction, detail="": seen.append((phase, fraction)))
    assert seen[0] == ("Making rows", 0.0) and seen[-1] == ("Making rows", 1.0)


@pytest.mark.parametrize("options, error, said", [
    ({"shape": "eurlex"}, ValueError, "no shape 'eurlex': choose one of .*'eurlex-4k'"),
    ({"features_per_row": 301}, ValueError, "features_per_row must be from 1 to n_features, 300, not 301"),
    ({"labels_per_row": 61}, ValueError, "labels_per_row must be from 1 to n_labels, 60, not 61"),
    ({"name": 3}, TypeError, "name must be a string"),
])  # fmt: skip
def test_bad_arguments_are_named(options, error, said):
    with pytest.raises(error, match=said):
        make_synthetic(**SMALL | options)


@pytest.mark.parametrize("shape", SYNTHETIC_SHAPES)
def test_sizes_that_nobody_gave_fit_those_that_are_given(shape):
    made = make_synthetic(shape, n_train=50, n_test=5, n_features=4, n_labels=2)
    assert (made.n_features, made.n_labels) == (4, 2) and made.X_train.nnz < 4 * 50
