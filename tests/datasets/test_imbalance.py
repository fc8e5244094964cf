"""IRLbl, SCUMBLE and what is made of them: by hand, by brute force, and published values."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import describe, label_sets, read_dataset
from xmlcore.datasets.statistics.description import imbalance, scumble_of_rows
from xmlcore.validation import check_labels


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
