"""Names of features and labels beside their ids in frames."""


def names_of(what, dataset, names, count):
    """Return the given names of features or labels, or else those of the data set; None if there are none."""
    if names is None and dataset is not None:
        names = getattr(dataset, f"{what}_names")
    if names is not None and len(names) != count:
        raise ValueError(f"{what}_names has {len(names)} names, but there are {count} {what}s")
    return names


def with_names(frame, names, ids="feature", column="name"):
    """Insert a column of names after the column of ids; the id -1 has an empty name."""
    if names is not None:
        frame.insert(frame.columns.get_loc(ids) + 1, column, [names[i] if i >= 0 else "" for i in frame[ids].tolist()])
    return frame
