"""Write matrices to files: XMLC text, svmlight, ARFF and npz."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmlcore.datasets.writers.arff import write_arff
from xmlcore.datasets.writers.files import atomic, chunks
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import FilePath, Labels, Matrix
from xmlcore.validation import check_features, check_labels, check_names

WRITTEN = ("xmlc", "svmlight", "arff", "npz")  # formats of write_matrix


def write_matrix(
    path: FilePath,
    X: Matrix,
    Y: Labels,
    format: str = "xmlc",
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    xml: FilePath | None = None,
    progress: ProgressLike = silent,
) -> None:
    """Write features and labels to a file, so that :func:`read_matrix` gives the same matrices back.

    Parameters
    ----------
    path : str or path
        The file is compressed if the name ends in .gz, .bz2 or .xz. It is written completely or not at all.
    X : sparse or array_like, shape (N, D)
        Features. In text, values have as few digits as needed to read the same float32 again.
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
        Labels.
    format : {"xmlc", "svmlight", "arff", "npz"}
        ``"svmlight"`` says D and L only by the largest ids: features and labels after the last one used are lost.
        ``"arff"``: sparse rows, as :func:`write_arff` writes them.
    feature_names, label_names : sequence of str, optional
        D and L names, for npz and ARFF; the other formats hold none. In ARFF all names must be different; by default
        they are ``feature0``, ``feature1``, ... and ``label0``, ``label1``, ...
    xml : str or path, optional
        For ARFF: a Mulan XML file of the labels, written as well. By default MEKA's option ``-C`` says what they are.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Raises
    ------
    ValueError, TypeError
        The matrices have different numbers of rows, :mod:`xmlcore.validation` rejects one, the number of names is
        wrong, the format is unknown or has no names, two names of an ARFF file are the same, or the path ends in .zip.
    OSError
        The file cannot be written.

    Notes
    -----
    A row without labels starts with a space. A row without labels and features is a blank line in xmlc, and has the
    feature 0 with the value 0 in svmlight, where blank lines are no rows. About 2 million stored values are written as
    text per second.
    """
    if format not in WRITTEN:
        raise ValueError(f"format {format!r:.200} cannot be written: use one of {', '.join(map(repr, WRITTEN))}")
    if format == "arff":
        write_arff(path, X, Y, feature_names, label_names, xml=xml, progress=progress)
        return
    if xml is not None:
        raise ValueError(f'xml= names the labels of an ARFF file: pass format="arff", not {format!r:.200}')
    path = Path(path)
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    names = {"feature_names": (feature_names, X.shape[1]), "label_names": (label_names, Y.shape[1])}
    names = {field: _checked_names(given, field, count) for field, (given, count) in names.items() if given is not None}
    if names and format != "npz":
        raise ValueError(f"{format} has no place for names: write them to files of their own, one name per line")
    with atomic(path) as stream:
        if format == "npz":
            _write_npz(stream, X, Y, names)
            return
        if format == "xmlc":
            stream.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
        empty = " 0:0" if format == "svmlight" else ""
        for first, stop in chunks(X.indptr.astype(np.int64) + Y.indptr, stream, to_progress(progress)):
            stream.write(_rows_text(X, Y, first, stop, empty))


def _checked_names(names, field, count):
    names = check_names(names, field, count)
    for i, name in enumerate(names):
        if name.endswith("\0") or not name.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"{field}[{i}] is {name!r:.200}: it ends with a NUL, or is not valid Unicode")
    return names


def _write_npz(stream, X, Y, names):
    """Write the arrays that :mod:`xmlcore.datasets.readers.npz` reads. ``Y_data`` is left out: all values are 1."""
    arrays = {
        "X_data": X.data,
        "X_indices": X.indices,
        "X_indptr": X.indptr,
        "X_shape": np.array(X.shape, np.int64),
        "Y_indices": Y.indices,
        "Y_indptr": Y.indptr,
        "Y_shape": np.array(Y.shape, np.int64),
    }
    archive = io.BytesIO()  # a zip archive is not written from its beginning to its end, as compressed files are
    np.savez_compressed(archive, **arrays, **{field: np.array(given, str) for field, given in names.items()})
    stream.write(archive.getbuffer())


def _rows_text(X, Y, first, stop, empty):
    """Return rows ``first`` to ``stop - 1`` as text, in bytes; ``empty`` is a row without labels and features."""
    x = slice(X.indptr[first], X.indptr[stop])
    y = slice(Y.indptr[first], Y.indptr[stop])
    values = X.data[x].astype("U").tolist()  # the shortest digits that give the float32 back
    features = [f"{i}:{value.removesuffix('.0')}" for i, value in zip(X.indices[x].tolist(), values)]
    labels = [str(label) for label in Y.indices[y].tolist()]
    x_ends = (X.indptr[first : stop + 1] - X.indptr[first]).tolist()
    y_ends = (Y.indptr[first : stop + 1] - Y.indptr[first]).tolist()
    lines = []
    for i in range(stop - first):
        row = ",".join(labels[y_ends[i] : y_ends[i + 1]])
        if x_ends[i] < x_ends[i + 1]:
            row += " " + " ".join(features[x_ends[i] : x_ends[i + 1]])
        lines.append(row or empty)
    lines.append("")
    return "\n".join(lines).encode()
