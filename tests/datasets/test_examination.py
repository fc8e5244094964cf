"""All that is unusual in a data set, in one call."""

import numpy as np
import pytest

from xmlcore.datasets import examine, make_synthetic
from xmlcore.datasets.statistics.description import all_labels
from xmlcore.datasets.statistics.drift import drift
from xmlcore.datasets.statistics.frequencies import fit_power_law
from xmlcore.datasets.statistics.pairs import label_pairs
from xmlcore.datasets.statistics.rows import duplicates


def test_an_examination_has_what_its_parts_compute():
    data = make_synthetic(n_train=300, n_test=100, n_features=80, n_labels=30)
    found = examine(data)
    assert found.duplicates.equals(duplicates(data).rows)
    assert found.features.equals(drift(data.X_train, data.X_test))
    assert found.pairs.equals(label_pairs(all_labels(data)).pairs)
    assert found.power_law == fit_power_law(np.bincount(data.Y_train.indices, minlength=30))
    assert found.summary["n_features_tested"] == found.features["tested"].sum() > 0
    assert found.summary.keys() >= duplicates(data).summary.keys()


def test_an_examination_can_be_stopped():
    def stop(phase, fraction, detail=""):
        if fraction > 0.5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        examine(make_synthetic(n_train=50, n_test=20), stop)
