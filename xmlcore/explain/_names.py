"""Names of features and labels beside their ids in frames."""


def feature_names(dataset, names, n_features):
    """Return the given names of features, or else those of the data set; None if there are none."""
    if names is None and dataset is not None:
        names = dataset.feature_names
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but there are {n_features} features")
    return names


def label_names(dataset, names, n_labels):
    """Return the given names of labels, or else those of the data set; None if there are none."""
    if names is None and dataset is not None:
        names = dataset.label_names
    if names is not None and len(names) != n_labels:
        raise ValueError(f"label_names has {len(names)} names, but there are {n_labels} labels")
    return names


def with_names(frame, names, ids="feature", column="name"):
    """Insert a column of names after the column of ids; the id -1 has an empty name."""
    if names is not None:
        frame.insert(frame.columns.get_loc(ids) + 1, column, [names[i] if i >= 0 else "" for i in frame[ids].tolist()])
    return frame
