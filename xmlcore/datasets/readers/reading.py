"""Read matrices and data sets from files."""

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers import archived
from xmlcore.datasets.readers.formats import read_rows
from xmlcore.datasets.readers.recognise import EMPTY
from xmlcore.datasets.readers.remarks import remark
from xmlcore.datasets.readers.sources import read_text, source_name, stem, telling_name
from xmlcore.datasets.readers.xmlc import canonical_csr
from xmlcore.datasets.splits.files import read_split
from xmlcore.datasets.splits.sizes import count_test_rows
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import ArrayLike, Source
from xmlcore.validation import INT32_MAX, as_array, check_count, check_names

_READ_OPTIONS = {"format", "labels", "first_index", "max_bytes", "counts", "leave_out", "max_columns"}


def read_matrix(
    source: Source,
    format: str = "auto",
    labels: Source | int | Sequence[str] | None = None,
    *,
    first_index: int = 0,
    max_bytes: int | None = None,
    counts: str = "header",
    leave_out: bool = False,
    max_columns: int | None = None,
    name: str | None = None,
) -> tuple[sp.csr_array, sp.csr_array, list[str] | None, list[str] | None]:
    r"""Read features and labels from a file, or from two.

    Parameters
    ----------
    source : path, bytes, or binary file object
        May be compressed (gzip, bzip2, xz, or a zip of one file, or of an ARFF file and Mulan's XML); this is detected
        from the content, not from the name.
        A file object with ``getvalue`` is read whole, any other from its current position.
    format : {"auto", "xmlc", "svmlight", "npz", "arff", "csv"}
        ``"xmlc"``: a header ``N D L`` (rows, features, labels), then one row per line, ``l1,l2 f:v f:v``. With
        ``labels``, features alone: ``N D``, then ``f:v f:v``; this header may be absent.
        ``"svmlight"``: the rows without the header; D and L are the largest ids plus 1.
        ``"npz"``: a NumPy archive: a matrix that ``scipy.sparse.save_npz`` wrote, or the arrays ``X`` and ``Y``, or
        ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape`` and the same for Y, with ``feature_names`` and
        ``label_names`` if there are names. A list Y of class numbers or names is one label for each row. An npy file is
        a dense matrix of features, or of labels.
        ``"arff"``: dense or sparse rows, and ``labels`` to say which attributes are labels, unless the relation has
        MEKA's option ``-C``. A nominal feature with two values becomes 0 and 1, one with more values a column for each,
        ``name=value``; in a sparse row, a nominal value that is left out is the first one. ``?`` is read as 0, with a
        warning.
        ``"csv"``: a table with commas, semicolons, tabs or vertical bars between cells, names of the columns in the
        first line (or none, if that is a row of numbers), and ``labels`` to say which columns are labels. Missing cells
        are read as 0, with a warning. Except with commas between cells, decimals may follow a comma.
        ``"auto"``: as the content says. Text is xmlc if the first line has three whole numbers, and svmlight if it has
        no other format. A first line like ``2,2,3`` is read as a row with three labels; it is an error if the rest of
        the file fits it as a header.
    labels : path, bytes, or binary file object; or int, str, or list of str; optional
        The file with the labels, if ``source`` has none: an npz or npy file, a CSV file with a column of 0 and 1
        for each label, or text with a header ``N L``, which may be absent, and a line ``l:1 l:1`` or ``l,l`` for each
        row.
        For an ARFF file the names of the attributes that are labels, as a list or in a Mulan XML file, which give the
        order of Y's columns; or a number, n for the first n attributes and -n for the last n.
        For a CSV file also the columns that are labels, which hold 0 and 1, true and false, or yes and no: the first n,
        the last n as -n, or those of a list of names. A string is the name of a column that lists the labels of a row,
        separated by ``;``, ``|`` or ``,``, whichever of these occurs first in this order; if no column has this name,
        it is a path.
    first_index : {0, 1}
        The smallest id in the file, of features and of labels. Ids in the matrices always start at 0.
    max_bytes : int, optional
        Most bytes of decompressed text, as a protection against compression bombs. By default 16 GiB from a path, 4 GiB
        otherwise.
    counts : {"header", "data"}
        What says how many rows, features and labels an xmlc file has. ``"header"``: it is an error if the header
        promises other numbers. ``"data"``: the numbers of the data are then taken, with a warning.
    leave_out : bool
        Whether attributes of type string and date in an ARFF file, and columns of text in a table, are left out, with a
        warning; otherwise they are an error.
    max_columns : int, optional
        Most features, and most labels: a protection against a mistaken id or header, as most of what is done with data
        takes memory for each of them. By default 2**24, or 1,000 for each feature or label that a row of the file has.
    name : str, optional
        Name of the source in errors; by default its file name.

    Returns
    -------
    X : scipy.sparse.csr_array of float32, shape (N, D)
    Y : scipy.sparse.csr_array of bool, shape (N, L)
        Both in canonical form: sorted indices, no duplicates, no stored zeros.
    feature_names, label_names : list of str, or None
        The names in the file; None if the format has no names.

    Raises
    ------
    DatasetFormatError
        The file does not have the format. The error has the ``line``, the ``column`` (byte within the line), both from
        1, and a remedy.
    ValueError
        The format is unknown, or an argument is out of range.
    TypeError
        The source or an argument has the wrong type.
    OSError
        The file cannot be opened.

    Warns
    -----
    DatasetWarning
        A row names a feature more than once (its values are summed) or a label more than once (it counts once). Or
        there is no header, no feature 0 and no label 0, so that ids seem to start at 1. Or the header promises other
        numbers than the data have, and ``counts`` is "data". Or values of a table or an ARFF file are missing. Or a
        label is named like a feature, two labels or features have one name, or all rows have a label.

    Notes
    -----
    A row has no labels if it starts with a space or tab, or if its first token has a colon. There may be blanks around
    the commas between labels. In xmlc a blank line is a row without labels and features, as long as the header promises
    more rows; in svmlight it is no row, as in other readers of that format. ``#`` starts a comment, and a line with
    nothing else is no row. Lines end with ``\n`` or ``\r\n``. Values are decimal numbers, rounded to float64 and then
    to float32, like ``numpy.float32("0.1")``. Zeros in the file are not stored.

    Time: two compiled passes over the text, at hundreds of MB per second on one core. Memory: at most 8 bytes for each
    feature and 4 bytes for each label, regardless of what the header promises, and the decompressed text; of XMLC,
    svmlight and ARFF files of more than 4 MB only a block of it.
    """
    inside = archived.opened(source, max_bytes)
    if inside and not set(inside) - {"train", "labels"}:
        name = inside["train"].name if name is None else name
        source, labels = inside["train"], inside.get("labels") if labels is None else labels
    rows = read_rows(source, format, labels, first_index, max_bytes, counts, leave_out, max_columns, name)
    _warn_of_ids_from_one([rows], first_index)
    for matrix, noun in ((rows.X, "feature"), (rows.Y, "label")):
        if matrix.shape[1] == 0:
            raise _nothing(rows, noun)
    remark([rows], rows.feature_names, rows.label_names)
    return rows.X, rows.Y, rows.feature_names, rows.label_names


def _nothing(rows, noun) -> DatasetFormatError:
    if rows.format == "csv":  # a column that lists labels
        return DatasetFormatError(rows.source, "no row has a label", "Does another column list the labels?")
    return DatasetFormatError(
        rows.source,
        f"no row has a {noun}, and there is no header to say how many {noun}s there are",
        f"Add a header line: rows, features, labels. A row with a {noun} looks like 0,3 1:0.5 7:2.",
    )


def _warn_of_ids_from_one(parts, first_index):
    """Warn if the ids of all files together seem to start at 1."""
    least_feature = min(part.least_feature for part in parts)
    least_label = min(part.least_label for part in parts)
    has_no_ids = INT32_MAX < max(least_feature, least_label)  # the files have no features or no labels
    if first_index or has_no_ids or any(part.header_line is not None for part in parts):
        return
    sources = " and ".join(part.source for part in parts)
    if least_feature == 1 and least_label == 0:  # as tools for svmlight number them
        warn(f"{sources}: the smallest feature id is 1, so no row has feature 0. New rows keep the ids of the file.")
    elif least_feature >= 1 and least_label >= 1:
        warn(
            f"{sources}: the smallest feature id is {least_feature} and the smallest label id is {least_label}, so "
            "feature 0 and label 0 stay unused. If ids start at 1, pass first_index=1."
        )


def split_rows(n_rows: int, test_size: float | int = 0.2, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into training and test rows at random.

    Parameters
    ----------
    n_rows : int
    test_size : float or int
        The share of test rows, between 0 and 1, or their number.
    random_state : int
        Seed. The same value gives the same split.

    Returns
    -------
    train : ndarray of int64
        Numbers of the training rows, ascending.
    test : ndarray of int64
        Numbers of the test rows, ascending: all other rows.

    Raises
    ------
    ValueError
        There would be no training rows or no test rows, or an argument is out of range.
    """
    n_test = count_test_rows(n_rows, test_size)
    order = np.random.default_rng(check_count(random_state, "random_state", 0)).permutation(n_rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def check_split(train_rows, test_rows, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    parts = []
    for name, rows in (("train_rows", train_rows), ("test_rows", test_rows)):
        rows = as_array(rows, name, "row numbers are needed")
        if rows.ndim != 1:
            raise ValueError(f"{name} has {rows.ndim} dimension(s): row numbers are needed")
        if rows.dtype == bool:
            raise ValueError("the split has true and false for each row: give row numbers, as np.flatnonzero does")
        if rows.size and not (np.issubdtype(rows.dtype, np.number) and (rows == np.rint(rows)).all()):
            raise ValueError("the split has numbers of rows that are not whole")
        parts.append(rows.astype(np.int64))
    for part, rows in zip(("training", "test"), parts):
        if rows.size == 0:
            raise ValueError(f"the split has no {part} rows")
    both = np.concatenate(parts)
    wrong = both[(both < 0) | (both >= n_rows)]
    if wrong.size:
        raise ValueError(f"there is no row {wrong[0]}: the {n_rows:,} rows are numbered from 0")
    ids, times = np.unique(both, return_counts=True)
    if times.max() > 1:
        raise ValueError(f"row {ids[times > 1][0]} is in the split more than once")
    return parts[0], parts[1]


def read_dataset(
    train: Source,
    test: Source | None = None,
    name: str | None = None,
    test_size: float = 0.2,
    random_state: int = 0,
    *,
    test_labels: Source | None = None,
    feature_names: Sequence[str] | Source | None = None,
    label_names: Sequence[str] | Source | None = None,
    split: tuple[ArrayLike, ArrayLike] | None = None,
    progress: ProgressLike = silent,
    **read_options: object,
) -> Dataset:
    """Read a data set from one or two files, and the names of features and labels from others.

    Parameters
    ----------
    train, test : path, bytes, or binary file object
        See :func:`read_matrix`. Without ``test``, some rows of ``train`` become the test rows, drawn at random by
        :func:`split_rows`; the data set's ``notes`` say so. ``train`` may also be a zip archive of several files, whose
        names tell which one has the training rows (train), the test rows (test), and for ARFF the labels (.xml); or,
        as in the Extreme Classification Repository, all rows and the numbers of the rows of each part (trSplit,
        tstSplit), or the features and the labels of each part (trn_X_Xf, trn_X_Y, tst_X_Xf, tst_X_Y).
    name : str, optional
        By default that of the training file, without its endings and "train"; if nothing is left, that of its folder.
    test_size : float or int
        The share of test rows, or their number, if there is no test file.
    random_state : int
        Seed of the split, if there is no test file.
    test_labels : path, bytes, or binary file object, optional
        The file with the labels of the test rows, if ``labels`` is that of the training rows.
    feature_names, label_names : list of str, or path, bytes, or binary file object, optional
        A file has one name per line, in UTF-8. These replace names that the data files hold.
    split : pair of array_like of int, optional
        Numbers of the training rows and of the test rows of ``train``, from 0, in place of a random split. For files of
        row numbers see :func:`xmlcore.datasets.read_row_numbers`.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    **read_options
        The arguments ``format``, ``labels``, ``first_index``, ``max_bytes``, ``counts``, ``leave_out`` and
        ``max_columns`` of :func:`read_matrix`, for both files.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetFormatError
        A file does not have the format, the headers of the two files differ, or the number of names is wrong.
    ValueError, TypeError, OSError
        See :func:`read_matrix` and :func:`split_rows`.

    Notes
    -----
    The ids in a file without a header give only a lower bound on the number of features and labels. Its matrices are
    widened to those of the other file, and to the number of names.
    """
    progress = to_progress(progress)
    if split is not None and test is not None:
        raise ValueError("split= chooses the test rows from the training file: give either split= or a test file")
    unknown = sorted(set(read_options) - _READ_OPTIONS)
    if unknown:
        raise TypeError(f"read_dataset has no argument {unknown[0]!r:.200}")
    options = {"format": "auto", "labels": None, "first_index": 0, "max_bytes": None, "counts": "header"}
    options |= read_options
    if hasattr(options["labels"], "read") and not hasattr(options["labels"], "getvalue"):
        options["labels"] = options["labels"].read()  # for both files: a file object is at its end after the first
    inside, files_of_split = archived.opened(train, options["max_bytes"]), (None, None)
    if inside and (test is None and split is None or "test" not in inside):
        name = name_of(train) if name is None else name
        train, test = inside["train"], inside.get("test", test)
        options["labels"] = inside.get("labels") if options["labels"] is None else options["labels"]
        test_labels = inside.get("test_labels") if test_labels is None else test_labels
        if "train_rows" in inside and (test is not None or split is not None):
            raise ValueError("the archive has the rows of its split: give neither split= nor a test file")
        feature_names = inside.get("feature_names") if feature_names is None else feature_names
        label_names = inside.get("label_names") if label_names is None else label_names
        files_of_split = inside.get("train_rows"), inside.get("test_rows")
    train_label, test_label = source_name(train), source_name(test) if test is not None else None
    if train_label == test_label:
        train_label, test_label = f"{train_label} (training)", f"{test_label} (test)"
    of_train = part_of(progress, 0.0, 1.0, phase="Reading the training rows")
    parts = [read_rows(train, **options, name=train_label, progress=of_train)]
    if test is not None:
        if parts[0].label_source is not None and test_labels is None:
            raise ValueError(
                "labels= is the file with the labels of the training rows: give test_labels= too, that of the test rows"
            )
        own = options if test_labels is None else options | {"labels": test_labels}
        of_test = part_of(progress, 0.0, 1.0, phase="Reading the test rows")
        known = {"classes": parts[0].classes, "like": parts[0].lists}
        parts.append(read_rows(test, **own, name=test_label, progress=of_test, **known))
    elif test_labels is not None:
        raise ValueError("test_labels= is given, but there is no test file")
    progress("Putting the data set together", 0.0)
    _warn_of_ids_from_one(parts, options["first_index"])
    _join_listed_labels(parts)
    names = {}
    for field, given in (("feature_names", feature_names), ("label_names", label_names)):
        inside = _names_inside(parts, field)
        names[field] = inside if given is None else _read_names(given, field, options["max_bytes"])
    for part, X, Y in zip(parts, _pad(parts, "feature", names), _pad(parts, "label", names)):
        part.X, part.Y = X, Y
    if name is None:
        name = name_of(train)
    notes = ()
    if test is not None:
        matrices = parts[0].X, parts[0].Y, parts[1].X, parts[1].Y
    else:
        matrices, notes = _split(parts[0], split, files_of_split, test_size, random_state)
    for part in parts:
        if part.X.shape[0] == 0:
            raise DatasetFormatError(part.source, "it holds no rows", "Give a file with at least one row.")
    plain = {field: None if given is None else given[0] for field, given in names.items()}
    remark(parts, **plain)
    notes = dict.fromkeys([*notes, *(note for part in parts for note in part.notes)])
    return Dataset(name, *matrices, **plain, notes=list(notes))


def _split(part, split, files_of_split, test_size, random_state):
    X, Y = part.X, part.Y
    if files_of_split[0] is not None:
        (train_rows, test_rows), notes = read_split(*files_of_split, X.shape[0])
        return (X[train_rows], Y[train_rows], X[test_rows], Y[test_rows]), tuple(notes)
    if split is not None:
        train_rows, test_rows = check_split(*split, X.shape[0])
        how = "chosen by a list of row numbers"
    else:
        train_rows, test_rows = split_rows(X.shape[0], test_size, random_state) if X.shape[0] else ([], [])
        how = f"drawn at random with seed {random_state}"
    held_out = "The test row is 1" if len(test_rows) == 1 else f"The test rows are {len(test_rows):,}"
    notes = (f"{held_out} of the {X.shape[0]:,} rows of {part.source}, {how}.",)
    return (X[train_rows], Y[train_rows], X[test_rows], Y[test_rows]), notes


def _join_listed_labels(parts):
    """Give all files the same labels, if each has named those that its rows list, which are not all that there are."""
    if not all(part.label_names is not None and part.has_label_width is False for part in parts):
        return
    names = sorted(set().union(*(part.label_names for part in parts)))
    number = {name: j for j, name in enumerate(names)}
    for part in parts:
        columns = np.array([number[name] for name in part.label_names], np.int32)  # ascending, as all names are sorted
        part.Y = canonical_csr(part.Y.indptr, columns[part.Y.indices], part.Y.data, len(names))
        part.label_names = names


def _names_inside(parts, field):
    """Return the names of features or labels that the files hold, and the name of such a file; or None."""
    noun = field.removesuffix("_names")
    named = [part for part in parts if getattr(part, field) is not None]
    for part in named[1:]:
        for i, (first, other) in enumerate(zip_longest(getattr(named[0], field), getattr(part, field))):
            if first == other:
                continue
            here, there = ("nothing" if name is None else repr(name) for name in (other, first))
            raise DatasetFormatError(
                part.source,
                f"its {noun} {i + 1:,} is {here}, but that of {named[0].source} is {there}",
                f"Both files need the same {noun}s in the same order: are they from the same data set?",
            )
    return (getattr(named[0], field), named[0].source) if named else None


def name_of(source) -> str:
    """Return a name for the data of a file: from its own name, or that of its folder, if one of them says anything."""
    file = source_name(source)
    folder = Path(source).resolve().parent.name if isinstance(source, (str, os.PathLike)) else ""
    return telling_name(file) or telling_name(folder) or stem(file)


def _pad(parts, noun, names):
    """Return the X or the Y of every part, all with the same number of columns."""
    matrices = [part.X if noun == "feature" else part.Y for part in parts]
    fixed = [i for i, part in enumerate(parts) if part.has_width(noun)]
    given = names[f"{noun}_names"]
    if fixed:
        width = matrices[fixed[0]].shape[1]
        for i, (part, matrix) in enumerate(zip(parts, matrices)):
            if i in fixed and matrix.shape[1] != width:
                raise DatasetFormatError(
                    part.source,
                    f"the header promises {matrix.shape[1]} {noun}s, but that of {parts[0].source} promises {width}"
                    if part.header_line
                    else f"it has {matrix.shape[1]} {noun}s, but {parts[0].source} has {width}",
                    f"Both files need the same {noun}s in the same order: are they from the same data set?",
                    part.header_line or None,
                )
            if matrix.shape[1] > width:
                raise DatasetFormatError(
                    part.source,
                    f"the largest {noun} id makes {matrix.shape[1]} {noun}s, but the header of "
                    f"{parts[fixed[0]].source} promises {width}",
                    f"Both files need the same {noun}s in the same order.",
                )
    else:
        width = max(matrix.shape[1] for matrix in matrices)
        if given is not None:
            width = max(width, len(given[0]))
    if width == 0:
        raise _nothing(parts[0], noun)
    if given is not None and len(given[0]) != width:
        listed, source = given
        found = f"{len(listed)} {noun} names, but there are {width} {noun}s"
        if source is None:
            raise ValueError(f"{noun}_names holds {found}")
        raise DatasetFormatError(
            source, f"it holds {found}", f"Give one name per line, in the order of the {noun} ids."
        )
    return [
        matrix if matrix.shape[1] == width else canonical_csr(matrix.indptr, matrix.indices, matrix.data, width)
        for matrix in matrices
    ]


def _read_names(given, field, max_bytes):
    """Return the names of features or labels as a list, and the name of their file, if they are from one."""
    if not (isinstance(given, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(given, "read")):
        return check_names(given, field), None
    source = source_name(given)
    if source == "data":
        source = field
    try:
        content = read_text(given, max_bytes=max_bytes, name=source).tobytes()
    except DatasetFormatError as error:
        if error.found != EMPTY:
            raise
        remedy = f"Give one name per line, in the order of the {field.removesuffix('_names')} ids."
        raise DatasetFormatError(source, EMPTY, remedy) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line_start = content.rfind(b"\n", 0, error.start) + 1
        raise DatasetFormatError(
            source,
            f"the byte 0x{content[error.start]:02x} is not UTF-8",
            "Save the file as UTF-8.",
            content.count(b"\n", 0, error.start) + 1,
            error.start - line_start + 1,
        ) from error
    names = text.removesuffix("\n").split("\n")
    return [name.strip() for name in names], source
