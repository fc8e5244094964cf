"""Reader of new rows for a model: their features, in the columns of the model's training data."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import placed
from xmlcore.datasets.readers.formats import parse
from xmlcore.datasets.readers.rows import ReadOptions, widened
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import Source
from xmlcore.validation import INT32_MAX, check_count
from xmlcore.wording import listed

_NAMED = 5  # names that a message lists
_SAME = "Rows to predict need the features that the model was trained on, in the same order."


@dataclass(frozen=True)
class NewRows:
    """Rows of a file, in the columns of a model."""

    X: sp.csr_array
    missing: np.ndarray  # features without a column in the file, ascending; their values are 0
    unknown: list[str]  # names of columns that are neither features nor labels
    n_labels: int  # columns of labels in the file, which are not used
    ids: list[str] | None = None  # what the file calls its rows, "" where it does not; None if no column does

    def notes(self, feature_names: list[str] | None = None) -> list[str]:
        """Return sentences on the columns that are missing, unknown or not used."""
        remarks, n_missing, n_unknown = [], self.missing.size, len(self.unknown)
        if n_missing:
            names = [f"feature {j}" if feature_names is None else feature_names[j] for j in self.missing[:_NAMED]]
            lacks = f"The file lacks {n_missing:,} of the model’s {self.X.shape[1]:,} features"
            remarks.append(
                f"{lacks}, which {'counts' if n_missing == 1 else 'count'} as 0: {listed(names, n_missing)}."
            )
        if n_unknown:
            columns = "column that is no feature" if n_unknown == 1 else "columns that are no features"
            remarks.append(f"The file has {n_unknown:,} {columns} of the model, and not used: {listed(self.unknown)}.")
        if self.n_labels:
            remarks.append("The labels in the file are not used.")
        return remarks


def read_new_rows(
    source: Source,
    n_features: int,
    feature_names: list[str] | None = None,
    label_names: list[str] | None = None,
    *,
    first_index: int = 0,
    max_bytes: int | None = None,
    name: str | None = None,
    progress: ProgressLike = silent,
) -> NewRows:
    """Read rows whose labels are to be predicted.

    The formats are those of :func:`xmlcore.datasets.read_matrix`. Labels in the file are not used. Columns are matched
    by the names of features where both have some, else by place. docs/pages/predict.md says how ids of rows are found.

    Parameters
    ----------
    source : path, bytes, or binary file object
        May be compressed.
    n_features : int
        Number of features of the model, D.
    feature_names, label_names : list of str, optional
        Names of the features and labels of the model. Columns named like labels are known to be none of the features.
    first_index : {0, 1}
        The smallest id of a feature in the file, if it is XMLC or svmlight.
    max_bytes : int, optional
        Most bytes of decompressed text, see :func:`xmlcore.datasets.read_matrix`.
    name : str, optional
        Name of the source in errors; by default its file name.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Raises
    ------
    DatasetFormatError
        The file does not have a known format, or its features are not those of the model.

    Warns
    -----
    DatasetWarning
        See :func:`xmlcore.datasets.read_matrix`. Columns of text are left out, but for one of ids.
    """
    progress = to_progress(progress)
    n_features = check_count(n_features, "n_features", most=INT32_MAX)
    first_index = check_count(first_index, "first_index", 0, 1)
    if feature_names is not None and len(feature_names) != n_features:
        raise ValueError(f"feature_names has {len(feature_names)} names, but there are {n_features} features")
    options = ReadOptions(first_index=first_index, leave_out=True, known=frozenset(feature_names or ()))
    rows = parse(NamedSource(source, name, max_bytes), options, progress)
    n_labels = 0 if rows.Y is None or not rows.Y.nnz else rows.Y.shape[1]
    named = None not in (rows.feature_names, feature_names)
    if named and rows.feature_names != feature_names:
        return replace(_by_name(rows, feature_names, label_names or [], n_labels), ids=rows.ids)
    X = rows.X if named else _by_place(rows, n_features, first_index)
    return NewRows(X, np.empty(0, np.int64), [], n_labels, rows.ids)


def read_vectors(source: Source | None, n_texts: int, max_bytes: int | None, progress) -> list[sp.csr_array]:
    """Return the matrix of a file with a row for each text, as a list; an empty one for no file."""
    if source is None:
        return []
    progress = part_of(progress, 0.0, 1.0, phase="Reading the vectors")
    rows = parse(NamedSource(source, None, max_bytes), ReadOptions(leave_out=True, known=frozenset()), progress)
    if rows.X.shape[0] != n_texts:
        found = f"it has {rows.X.shape[0]:,} rows, but the number of texts is {n_texts:,}"
        raise rows.source.error(found, "Give a row for each text, in their order.", argument="vectors")
    return [rows.X]


def _by_place(rows, n_features, first_index):
    """Return the features of rows whose columns are matched by place, not by name; raise if the model has fewer."""
    width = rows.X.shape[1]
    if rows.has_width("feature") and width != n_features:
        says = f"the header states {width:,}" if rows.header_line and rows.format == "xmlc" else f"it has {width:,}"
        columns = "columns of numbers" if rows.format == "csv" else "features"
        found = f"{says} {columns}, but the model has {n_features:,} features"
        raise rows.source.error(found, _SAME)
    if width > n_features:
        found = f"the largest feature id makes {width:,} features, but the model has {n_features:,}"
        if first_index == 0 and rows.least_feature >= 1 and width == n_features + 1:
            raise rows.source.error(found, "Do ids start at 1 in this file?", argument="first_index", value=1)
        raise rows.source.error(found, _SAME)
    return widened(rows.X, n_features)


def _by_name(rows, feature_names, label_names, n_labels) -> NewRows:
    number = {}
    for j, feature in enumerate(feature_names):
        number.setdefault(feature, j)  # of two features with one name, the first
    place = np.array([number.get(column, -1) for column in rows.feature_names], np.int64)
    known = np.flatnonzero(place >= 0)
    labels = set(label_names).difference(number)
    if not known.size:
        found = f"none of its {place.size:,} columns is named like a feature of the model: {listed(rows.feature_names)}"
        raise rows.source.error(found, f"Features of the model are {listed(feature_names)}.")
    found, times = np.unique(place[known], return_counts=True)
    if times.max() > 1:
        twice = feature_names[int(found[times > 1][0])]
        raise rows.source.error(f"two columns have the name {twice!r:.200}", "Rename one of them.")
    missing = np.setdiff1d(np.arange(len(feature_names)), place[known])
    others = [column for column, j in zip(rows.feature_names, place) if j < 0]
    unknown = [column for column in others if column not in labels]
    X = placed(rows.X, place.astype(np.int32), len(feature_names))
    return NewRows(X, missing, unknown, n_labels + len(others) - len(unknown))
