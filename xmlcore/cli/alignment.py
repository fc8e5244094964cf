"""A data set in the columns of a model: features and labels are found by name where both have names."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp


def aligned(packed, data):
    same_features = data.n_features == packed.n_features and data.feature_names in (None, packed.feature_names)
    same_labels = data.n_labels == packed.n_labels and data.label_names in (None, packed.label_names)
    if same_features and same_labels:
        return data
    of_features, features, n_features = _places(data.feature_names, packed.feature_names, data.n_features,
                                                packed.n_features, "features")  # fmt: skip
    if n_features > packed.n_features:
        unknown = n_features - packed.n_features
        raise ValueError(
            f"{data.name} has {unknown:,} of {data.n_features:,} features that the model does not have, such as "
            f"{(features or [''])[-1]!r:.200}: it was trained on other features"
        )
    of_labels, labels, n_labels = _places(
        data.label_names, packed.label_names, data.n_labels, packed.n_labels, "labels"
    )
    matrices = {}
    for part in ("train", "test"):
        matrices[f"X_{part}"] = _moved(getattr(data, f"X_{part}"), of_features, n_features)
        matrices[f"Y_{part}"] = _moved(getattr(data, f"Y_{part}"), of_labels, n_labels)
    return replace(data, **matrices, feature_names=features, label_names=labels, vectorizer=None)


def _places(names, known, count, n_known, noun):
    """Return the new place of each column, the names of all places, and their number; unknown names come last."""
    if names is None or known is None:
        if count > n_known:
            raise ValueError(f"the data has {count:,} {noun}, but the model has {n_known:,}, and there are no names to "
                             "compare: are they those of its training data, in the same order?")  # fmt: skip
        return np.arange(count), known, n_known
    places, all_names = {name: j for j, name in enumerate(known)}, list(known)
    for name in names:
        if name not in places:
            places[name] = len(all_names)
            all_names.append(name)
    return np.array([places[name] for name in names]), all_names, len(all_names)


def _moved(matrix, places, width):
    parts = matrix.data.copy(), places[matrix.indices], matrix.indptr.copy()  # those of a data set are read-only
    moved = sp.csr_array(parts, shape=(matrix.shape[0], width))
    moved.sum_duplicates()
    return moved
