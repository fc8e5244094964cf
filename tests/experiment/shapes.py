"""Data sets of different shapes, and real ones, to compare estimates with."""

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets import Dataset, make_synthetic, read_dataset


def one_label(dataset):
    """The data set with the first label of each row only."""
    parts = {}
    for part in ("train", "test"):
        X, Y = getattr(dataset, f"X_{part}"), getattr(dataset, f"Y_{part}")
        rows = np.flatnonzero(np.diff(Y.indptr))
        first = Y.indices[Y.indptr[rows]]
        parts[f"X_{part}"] = X[rows]
        parts[f"Y_{part}"] = sp.csr_array(
            (np.ones(rows.size, bool), first, np.arange(rows.size + 1)), shape=(rows.size, Y.shape[1])
        )
    return Dataset(dataset.name, **parts)


def shaped(name, real_folder):
    if name == "wide":
        size = {"n_train": 3000, "n_test": 600, "n_features": 4000, "n_labels": 600}
        return make_synthetic(**size, features_per_row=50, labels_per_row=5, name=name)
    if name == "dense":
        size = {"n_train": 1500, "n_test": 500, "n_features": 60, "n_labels": 8}
        return make_synthetic(**size, features_per_row=50, labels_per_row=2, name=name)
    if name == "few":
        size = {"n_train": 6000, "n_test": 1000, "n_features": 1500, "n_labels": 20}
        return make_synthetic(**size, features_per_row=20, labels_per_row=1.5, name=name)
    if name == "long":
        size = {"n_train": 12000, "n_test": 3000, "n_features": 300, "n_labels": 60}
        return make_synthetic(**size, features_per_row=8, labels_per_row=1.5, name=name)
    folder = real_folder / name
    return read_dataset(folder / "train.txt.gz", folder / "test.txt.gz", name=name)
