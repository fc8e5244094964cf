"""Statistics of data sets, imbalance among them: by hand, by brute force, and published values."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import Dataset, describe, examine, label_sets, make_synthetic, read_dataset
from xmlcore.datasets.statistics.description import all_labels, imbalance, scumble_of_rows
from xmlcore.datasets.statistics.drift import drift
from xmlcore.datasets.statistics.pairs import label_pairs
from xmlcore.datasets.statistics.rows import duplicates
from xmlcore.metrics import inverse_propensity
from xmlcore.validation import check_labels


@pytest.fixture
def dataset():
    return Dataset(
        "d",
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]),
        [[0, 1], [0], [], [0, 2], [1, 0, 2, 4]],
        np.array([[0, 0, 1, 0], [1, 0, 0, 0]]),
        [[0, 3], []],
    )


def test_labels_are_counted_ranked_and_put_in_buckets(dataset):
    labels = describe(dataset).labels
    columns = ["label", "name", "n_train", "n_test", "rank", "inverse_propensity", "bucket", "irlbl", "scumble"]
    assert labels.columns.tolist() == columns
    assert labels["irlbl"].tolist() == [1, 2.5, 2.5, 5, 5]  # of all rows: 5, 2, 2, 1, 1
    assert labels["n_train"].tolist() == [4, 2, 2, 0, 1]
    assert labels["n_test"].tolist() == [1, 0, 0, 1, 0]
    assert labels["rank"].tolist() == [1, 2, 3, 5, 4]
    # 9 occurrences: label 0 makes 4, nearest to half of them, labels 1 and 2 up to 8, nearest to 80 %
    assert labels["bucket"].tolist() == ["head", "torso", "torso", "unseen", "tail"]
    assert labels["name"].tolist()[3] == "label 3"
    np.testing.assert_allclose(labels["inverse_propensity"], inverse_propensity(dataset.Y_train))


def test_the_summary_is_right_and_plain(dataset):
    summary = describe(dataset).summary
    memory = summary.pop("memory_bytes")
    matrices = (dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test)
    several = ([1, 2.5], [1, 2.5], [1, 2.5, 2.5, 5], [1, 5])  # ratios of the rows with more than one label
    scumbles = [1 - np.prod(ratios) ** (1 / len(ratios)) / np.mean(ratios) for ratios in several] + [0, 0, 0]
    missing = sum(dataset.Y_train.sum(axis=0) * (inverse_propensity(dataset.Y_train) - 1))
    index_size = [M.indices.itemsize for M in matrices]
    assert memory == sum(size * entries for size, entries in zip(index_size, (6 + 6, 6 + 9, 3 + 2, 3 + 2))) + 43
    sizes = {"n_train": 5, "n_test": 2, "n_features": 4, "n_labels": 5}
    of_rows = {"nonzeros_per_row_mean": 6 / 5, "nonzeros_per_row_max": 2, "labels_per_row_mean": 9 / 5}
    of_rows |= {"labels_per_row_max": 4, "cardinality": 11 / 7, "density": 11 / 35}
    of_rows |= {"n_rows_without_labels_train": 1, "n_rows_without_labels_test": 1}
    of_rows |= {"n_rows_without_features_train": 1, "n_rows_without_features_test": 0}
    of_labels = {"label_frequency_mean": 9 / 5, "label_frequency_median": 2.0, "label_frequency_max": 4}
    of_labels |= {"n_labels_never_in_train": 1, "n_labels_never_in_test": 3, "n_labels_only_in_test": 1}
    of_labels |= {"n_labels_never_used": 0, "share_labels_rare": 1.0}
    buckets = {"n_labels_head": 1, "n_labels_torso": 2, "n_labels_tail": 1, "share_occurrences_head": 4 / 9}
    buckets |= {"share_occurrences_torso": 4 / 9, "share_occurrences_tail": 1 / 9}
    of_features = {"n_features_never_used": 1, "n_features_never_in_train": 2, "n_features_only_in_test": 1}
    of_sets = {"n_label_sets": 5, "n_label_sets_once": 5, "label_set_max": 1, "tcs": math.log(4 * 5 * 6)}
    of_sets |= {"diversity": 6 / 7}  # with the empty one
    imbalance = {"irlbl_mean": 16 / 5, "irlbl_max": 5, "irlbl_cv": np.std([1, 2.5, 2.5, 5, 5], ddof=1) / 3.2}
    imbalance |= {"scumble": np.mean(scumbles), "scumble_cv": np.std(scumbles, ddof=1) / np.mean(scumbles)}
    estimate = {"n_missing_estimate": missing, "share_missing_estimate": missing / (missing + 9)}
    expected = sizes | of_rows | of_labels | buckets | of_features | of_sets | imbalance | estimate
    assert json.loads(json.dumps(summary)) == pytest.approx(expected)


def test_the_spread_has_means_and_quantiles_of_both_parts(dataset):
    spread = describe(dataset).spread.set_index(["quantity", "part"])
    assert spread.loc[("labels per row", "training")].tolist() == pytest.approx([9 / 5, 0, 0.2, 1, 2, 2, 3.6, 4])
    assert spread.loc[("rows per label", "test")].tolist() == [2 / 5, 0, 0, 0, 0, 1, 1, 1]
    assert spread.loc[("features per row", "training"), "mean"] == 6 / 5
    assert len(spread) == 6


def buckets(counts):
    Y = np.arange(max(counts))[:, None] < np.array(counts)
    X = np.ones((len(Y), 1))
    return describe(Dataset("d", X, Y, X, Y)).labels["bucket"].tolist()


def test_a_boundary_of_buckets_never_cuts_equal_counts():
    assert buckets([5, 3, 1, 1]) == ["head", "torso", "tail", "tail"]
    assert buckets([4, 2, 2, 1, 1]) == ["head", "torso", "torso", "tail", "tail"]
    assert buckets([6, 2, 1, 1, 1, 1]) == ["head", "torso"] + ["tail"] * 4  # 67 % are nearer to 80 % than all are
    assert buckets([2, 2, 2]) == ["head"] * 3


def test_data_without_any_label_can_be_described():
    empty = np.zeros((2, 3))
    summary = describe(Dataset("d", empty, empty, empty, empty)).summary
    assert summary["share_occurrences_head"] == summary["n_labels_head"] == summary["n_label_sets"] == 0
    assert summary["n_labels_tail"] == 0 and summary["n_labels_never_in_train"] == 3


def test_an_examination_has_what_its_parts_compute():
    data = make_synthetic(n_train=300, n_test=100, n_features=80, n_labels=30)
    found = examine(data)
    assert found.duplicates.equals(duplicates(data)[1])
    assert found.features.equals(drift(data.X_train, data.X_test))
    assert found.pairs.equals(label_pairs(all_labels(data)).pairs)
    assert found.summary["n_features_tested"] == found.features["tested"].sum() > 0
    assert found.summary.keys() >= duplicates(data)[0].keys()


def test_an_examination_can_be_stopped():
    def stop(phase, fraction, detail=""):
        if fraction > 0.5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        examine(make_synthetic(n_train=50, n_test=20), stop)


def of(lists, n_labels):
    return check_labels(lists, n_labels=n_labels)


def test_scumble_is_the_product_formula():
    rng = np.random.default_rng(0)
    dense = rng.random((60, 9)) < rng.uniform(0.05, 0.9, 9)
    counts = dense.sum(axis=0)
    ratios = counts.max() / counts
    expected = []
    for row in dense:
        mine = ratios[row]
        expected.append(1 - np.prod(mine) ** (1 / mine.size) / mine.mean() if mine.size else 0.0)
    np.testing.assert_allclose(scumble_of_rows(sp.csr_array(dense), ratios), expected, atol=1e-12)


def test_scumble_of_a_row_with_very_many_rare_labels_is_a_number():
    lists = [[0]] * 1000 + [list(range(500))]  # the product of 499 ratios of 1001 is beyond the largest float
    Y = of(lists, 500)
    value = scumble_of_rows(Y, imbalance(Y)[1])[-1]
    assert 0 < value < 0.05


def test_labels_that_nobody_has_leave_measures_undefined():
    summary, ratios, labels = imbalance(of([[], []], 3))
    assert np.isnan(ratios).all() and np.isnan(labels).all()
    assert math.isnan(summary["irlbl_mean"]) and summary["scumble"] == summary["scumble_cv"] == 0


# What mldr, version 0.4, finds in the data sets of mldr.datasets (Charte et al. 2018, "Tips, guidelines and tools for
# managing multi-label datasets: The mldr.datasets R package and the Cometa data repository", Neurocomputing 289), as
# github.com/cissagatto/CrossValidationMultiLabel lists it (datasets-original.csv). The label sets of delicious count
# the empty one. tmc2007-500 has the labels of tmc2007, whose values these are; it has another TCS, as fewer features.
PUBLISHED = {
    "bibtex": (2856, 2199, 471, 2.4019, 0.0151, 12.4983, 0.0938, 20.5414),
    "yeast": (198, 77, 237, 4.2371, 0.3026, 7.1968, 0.1044, 12.5621),
    "scene": (15, 3, 405, 1.0740, 0.1790, 1.2538, 0.0003, 10.1834),
    "corel5k": (3175, 2523, 55, 3.5220, 0.0094, 189.5676, 0.3941, 20.1999),
    "delicious": (15806, 15642, 19, 19.0200, 0.0193, 71.1338, 0.5320, 22.7734),
    "ohsumed": (1147, 578, 1175, 1.6631, 0.0723, 7.8692, 0.0688, 17.0902),
    "tmc2007-500": (1341, 662, 2486, 2.1579, 0.0981, 15.1567, 0.1747, None),
}
NAMES = ("different", "n_label_sets_once", "label_set_max", "cardinality", "density", "irlbl_mean", "scumble", "tcs")


@pytest.mark.real_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values_of_well_known_data_sets(name, real_data):
    folder = real_data / name
    summary = describe(read_dataset(folder / "train.txt.gz", folder / "test.txt.gz")).summary
    summary["different"] = round(summary["diversity"] * (summary["n_train"] + summary["n_test"]))  # with the empty set
    for key, value in zip(NAMES, PUBLISHED[name]):
        assert value is None or summary[key] == pytest.approx(value, abs=0.000051), key


@pytest.mark.real_data
def test_label_sets_of_tmc2007_500_are_those_of_training(real_data):
    """The union that mldr.datasets has lacks the test rows' own sets: it counts 1,172 where all rows have 1,341."""
    folder = real_data / "tmc2007-500"
    data = read_dataset(folder / "train.txt.gz", folder / "test.txt.gz")
    assert (label_sets(data).n_train > 0).sum() == 1172 and len(label_sets(data)) == 1341


def test_imbalance_ratios_are_those_that_mldr_prints_of_emotions():
    counts, n_rows = (173, 166, 264, 148, 168, 189), 593
    lists = [[j for j, count in enumerate(counts) if i < count] for i in range(n_rows)]
    summary, ratios, _ = imbalance(of(lists, 6))
    assert ratios == pytest.approx((1.526012, 1.590361, 1.000000, 1.783784, 1.571429, 1.396825), abs=1e-6)
    assert summary["irlbl_mean"] == pytest.approx(1.478068, abs=1e-6)
