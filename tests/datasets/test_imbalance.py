"""IRLbl, SCUMBLE and what is made of them: by hand, by brute force, and published values."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import describe, read_dataset
from xmlcore.datasets.imbalance import imbalance, imbalance_ratios, scumble_of_labels, scumble_of_rows
from xmlcore.validation import check_labels


def of(lists, n_labels):
    return check_labels(lists, n_labels=n_labels)


def test_ratios_and_scumble_of_four_rows_by_hand():
    Y = of([[0, 1], [0], [0, 2], [0, 2], []], 4)  # counts 4, 1, 2, 0: ratios 1, 4, 2
    np.testing.assert_array_equal(imbalance_ratios(Y), [1, 4, 2, np.nan])
    first, third = 1 - 2 / 2.5, 1 - math.sqrt(2) / 1.5
    np.testing.assert_allclose(scumble_of_rows(Y), [first, 0, third, third, 0], atol=1e-15)
    np.testing.assert_allclose(scumble_of_labels(Y), [(first + 2 * third) / 4, first, third, np.nan])
    summary, ratios, labels = imbalance(Y)
    rows = [first, 0, third, third, 0]
    assert summary == pytest.approx(
        {
            "irlbl_mean": 7 / 3,
            "irlbl_max": 4,
            "irlbl_cv": np.std([1, 4, 2], ddof=1) / (7 / 3),
            "scumble": np.mean(rows),
            "scumble_cv": np.std(rows, ddof=1) / np.mean(rows),
        }
    )


def test_scumble_is_the_product_formula_where_the_product_fits_into_a_number():
    rng = np.random.default_rng(0)
    dense = rng.random((60, 9)) < rng.uniform(0.05, 0.9, 9)
    counts = dense.sum(axis=0)
    ratios = counts.max() / counts
    expected = []
    for row in dense:
        mine = ratios[row]
        expected.append(1 - np.prod(mine) ** (1 / mine.size) / mine.mean() if mine.size else 0.0)
    np.testing.assert_allclose(scumble_of_rows(sp.csr_array(dense)), expected, atol=1e-12)


def test_scumble_of_a_row_with_very_many_rare_labels_is_a_number():
    lists = [[0]] * 1000 + [list(range(500))]  # the product of 499 ratios of 1001 is beyond the largest float
    value = scumble_of_rows(of(lists, 500))[-1]
    assert 0 < value < 0.05


def test_labels_that_nobody_has_leave_measures_undefined_and_not_infinite():
    summary, ratios, labels = imbalance(of([[], []], 3))
    assert np.isnan(ratios).all() and np.isnan(labels).all()
    assert math.isnan(summary["irlbl_mean"]) and summary["scumble"] == summary["scumble_cv"] == 0


# Charte et al. (2018), "Tips, guidelines and tools for managing multi-label datasets: The mldr.datasets R package and
# the Cometa data repository", Neurocomputing 289, and the repository's pages of these data sets.
PUBLISHED = {
    "bibtex": (2856, 2199, 471, 2.402, 0.015, 12.498, 0.094, 20.541),
    "yeast": (198, 77, 237, 4.237, 0.303, 7.197, 0.104, 12.562),
    "scene": (15, 3, 405, 1.074, 0.179, 1.254, 0.000, 10.183),
    "corel5k": (3175, 2523, 55, 3.522, 0.009, 189.568, 0.394, 20.200),
    "delicious": (15806, None, 19, None, 0.019, 71.134, 0.532, 22.773),
}
NAMES = ("different", "n_label_sets_once", "label_set_max", "cardinality", "density")


@pytest.mark.real_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values_of_well_known_data_sets(name, real_data):
    folder = real_data / name
    summary = describe(read_dataset(folder / "train.txt.gz", folder / "test.txt.gz")).summary
    summary["different"] = round(summary["diversity"] * (summary["n_train"] + summary["n_test"]))  # with the empty set
    for key, value in zip((*NAMES, "irlbl_mean", "scumble", "tcs"), PUBLISHED[name]):
        assert value is None or summary[key] == pytest.approx(value, abs=0.00051), key
