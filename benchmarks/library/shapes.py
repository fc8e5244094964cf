"""Data sets of different shapes, to compare estimates with."""

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets import Dataset, make_synthetic


def one_label(dataset):
    """Return the data set with the first label of each row only."""
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


# Rows of training and test, features, labels, features per row, labels per row.
SYNTHETIC = {
    "wide": (3000, 600, 4000, 600, 50, 5),
    "dense": (1500, 500, 60, 8, 50, 2),
    "few": (6000, 1000, 1500, 20, 20, 1.5),
    "long": (12000, 3000, 300, 60, 8, 1.5),
}


def made(name, sizes):
    """Return a data set of sizes in the order of :data:`SYNTHETIC`."""
    n_train, n_test, n_features, n_labels, features_per_row, labels_per_row = sizes
    return make_synthetic(
        n_train=n_train,
        n_test=n_test,
        n_features=n_features,
        n_labels=n_labels,
        features_per_row=features_per_row,
        labels_per_row=labels_per_row,
        name=name,
    )
