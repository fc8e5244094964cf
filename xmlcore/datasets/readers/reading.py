"""Read matrices and data sets from files."""

import itertools
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import InputError, warn
from xmlcore.datasets.readers import archived, xmlc
from xmlcore.datasets.readers.formats import check_options, read_rows
from xmlcore.datasets.readers.names import ONE_PER_LINE, read_label_table, read_names, remark
from xmlcore.datasets.readers.rows import ReadOptions, Rows, canonical_csr, widened
from xmlcore.datasets.readers.sources import NamedSource, file_name, stem, telling_name
from xmlcore.datasets.splits import chosen_rows, read_split, stratified_parts
from xmlcore.mapped import finished, folder_for_rows
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import ArrayLike, Source
from xmlcore.validation import INT32_MAX

_USUAL = ReadOptions()
_READ_OPTIONS = {"format", "labels", "first_index", "max_bytes", "counts", "leave_out", "max_columns"}
_SAME = "Both files need the same {}s in the same order: are they from the same data set?"


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
    to: str | Path | None = None,
) -> tuple[sp.csr_array, sp.csr_array, list[str] | None, list[str] | None]:
    r"""Read features and labels from a file, or from two.

    Parameters
    ----------
    source : path, bytes, or binary file object
        May be compressed (gzip, bzip2, xz, or a zip of one file, or of an ARFF file and Mulan's XML). A file object
        with ``getvalue`` is read whole, any other from its current position.
    format : {"auto", "xmlc", "svmlight", "npz", "arff", "csv"}
        docs/formats.md describes them. ``"xmlc"``: a header ``N D L`` (rows, features, labels), then one row per line,
        ``l1,l2 f:v f:v``; with ``labels``, features alone: ``N D``, then ``f:v f:v``; this header may be absent.
        ``"svmlight"``: the rows without the header. ``"npz"``: arrays of NumPy, or a matrix that
        ``scipy.sparse.save_npz`` wrote. ``"arff"``: ``labels`` says which attributes are labels, unless the relation
        has MEKA's option ``-C``. ``"csv"``: a table, and ``labels`` to say which columns are labels. ``"auto"``: as the
        content says; text is xmlc if the first line has three whole numbers, and svmlight if it has no other format.
    labels : path, bytes, or binary file object; or int, str, or list of str; optional
        The file with the labels, if ``source`` has none. For an ARFF file the attributes that are labels, as a list of
        names or in a Mulan XML file, which give the order of Y's columns; or a number, n for the first n and -n for the
        last n. For a CSV file also the columns that are labels, as a list or a number, or the name of a column that
        lists the labels of a row.
    first_index : {0, 1}
        The smallest id in the file, of features and of labels. Ids in the matrices always start at 0.
    max_bytes : int, optional
        Most bytes of decompressed text. By default 16 GiB from a path, 4 GiB otherwise.
    counts : {"header", "data"}
        Source of the numbers of rows, features and labels of an xmlc file. ``"header"``: it is an error if the data
        have other numbers. ``"data"``: wrong counts in the header are ignored, with a warning.
    leave_out : bool
        Whether attributes of type string and date in an ARFF file, and columns of text in a table, are left out, with a
        warning; otherwise they are an error.
    max_columns : int, optional
        Most features, and most labels. By default 2**24, or 1,000 for each feature or label that a row of the file has.
    name : str, optional
        Name of the source in errors; by default its file name.
    to : path, optional
        A folder for X, which is then mapped from files and takes no memory: see :func:`xmlcore.mapped.write_rows`. XMLC
        and svmlight with labels are written while they are read; other formats are in memory once before.

    Returns
    -------
    X : scipy.sparse.csr_array of float32, shape (N, D)
        A :class:`xmlcore.mapped.MappedRows` with ``to``.
    Y : scipy.sparse.csr_array of bool, shape (N, L)
        Both in canonical form: sorted indices, no duplicates, no stored zeros. Values are as ``numpy.float32("0.1")``.
    feature_names, label_names : list of str, or None
        The names in the file; None if the format has no names.

    Raises
    ------
    DatasetFormatError
        The file does not have the format. The error has the ``line``, the ``column`` (byte within the line), both from
        1, and a remedy.

    Warns
    -----
    DatasetWarning
        The file can be read, but may not be what it seems: see docs/formats.md.
    """
    options = check_options(ReadOptions(format, labels, first_index, counts, leave_out, max_columns))
    file = NamedSource(source, name, max_bytes)
    with nullcontext() if to is None else folder_for_rows(to) as folder:
        rows = _matrix(file, options._replace(to=folder), name, max_bytes)
        X = rows.X if folder is None else finished(rows.X, folder)
    return X, rows.Y, rows.feature_names, rows.label_names


def _matrix(file, options, name, max_bytes) -> Rows:
    inside = archived.opened(file)
    if inside and not set(inside) - {"train", "labels"}:
        file = NamedSource(inside["train"], name, max_bytes)
        options = options._replace(labels=inside.get("labels") if options.labels is None else options.labels)
    rows = read_rows(file, options)
    _warn_of_ids_from_one([rows], options.first_index)
    for noun in ("feature", "label"):
        if rows.matrix(noun).shape[1] == 0:
            raise _nothing(rows, noun)
    remark([rows], rows.feature_names, rows.label_names)
    return rows


def _nothing(rows, noun) -> InputError:
    if rows.format == "csv":  # a column that lists labels
        return rows.source.error("no row has a label", "Does another column list the labels?", argument="labels")
    found = f"no row has a {noun}, and there is no header to say how many {noun}s there are"
    remedy = f"Add a header line: rows, features, labels. A row with a {noun} looks like 0,3 1:0.5 7:2."
    return rows.source.error(found, remedy)


def _warn_of_ids_from_one(parts, first_index):
    """Warn if the ids of all files together seem to start at 1."""
    least_feature = min(part.least_feature for part in parts)
    least_label = min(part.least_label for part in parts)
    has_no_ids = INT32_MAX < max(least_feature, least_label)  # the files have no features or no labels
    if first_index or has_no_ids or any(part.header_line is not None for part in parts):
        return
    sources = " and ".join(part.source.name for part in parts)
    if least_feature == 1 and least_label == 0:  # as tools for svmlight number them
        warn(f"{sources}: the smallest feature id is 1, so no row has feature 0. New rows keep the ids of the file.")
    elif least_feature >= 1 and least_label >= 1:
        smallest = f"the smallest feature id is {least_feature} and the smallest label id is {least_label}"
        remark = f"{smallest}, so feature 0 and label 0 stay unused. Do ids start at 1?"
        warn(f"{sources}: {remark}", argument="first_index", value=1)


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
        names tell what each has: docs/formats.md.
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

    Raises
    ------
    DatasetFormatError
        A file does not have the format, the headers of the two files differ, or the number of names is wrong.
    """
    progress = to_progress(progress)
    unknown = sorted(set(read_options) - _READ_OPTIONS)
    if unknown:
        raise TypeError(f"read_dataset has no argument {unknown[0]!r:.200}")
    max_bytes, labels = read_options.pop("max_bytes", None), read_options.pop("labels", None)
    options = check_options(ReadOptions(**read_options))
    if hasattr(labels, "read") and not hasattr(labels, "getvalue"):
        labels = labels.read()  # for both files: a file object is at its end after the first
    given = {"test": test, "labels": labels, "test_labels": test_labels}
    given |= {"feature_names": feature_names, "label_names": label_names}
    files = _files(NamedSource(train, max_bytes=max_bytes), given, split)
    rows = {"split": split, "test_size": test_size, "random_state": random_state}
    return assembled(files, name_of(train) if name is None else name, options, max_bytes, progress, **rows)


def assembled(
    files, name, options=_USUAL, max_bytes=None, progress=silent, split=None, test_size=0.2, random_state=0
) -> Dataset:
    """Return the data set of files by their roles, which are arguments of :func:`read_dataset` or files of a split."""
    sources = named_parts(files["train"], files.get("test"), split, max_bytes)
    parts = _read_parts(sources, files, options, progress)
    progress("Putting the data set together", 0.0)
    names = _join(parts, files, options.first_index, max_bytes)
    for part in parts:
        if part.X.shape[0] == 0:
            raise part.source.error("it holds no rows", "Give a file with at least one row.")
    rows, notes = _split(parts, files, split, test_size, random_state)
    remark(parts, **names)
    notes = dict.fromkeys([*notes, *(note for part in parts for note in part.notes)])
    return Dataset(name, *rows, **names, notes=list(notes))


def _files(train: NamedSource, given: dict, split) -> dict:
    """Return the files of a data set by their roles: those in one archive, and those that are given."""
    given = {role: file for role, file in given.items() if file is not None}
    inside = archived.opened(train)
    if {"test", "train_rows"} & set(inside) and (split is not None or "test" in given):
        remedy = "Give neither row numbers nor a test file."
        raise train.error("it is an archive that says which rows are the test rows", remedy)
    files = {"train": train.given} | inside | given
    if "test_labels" in files and "test" not in files:
        raise InputError("there are labels of test rows, but no test file", "Give both.", argument="test")
    return files


def named_parts(train, test, split, max_bytes=None) -> list[NamedSource]:
    """Return the sources of the training rows, and of the test rows if there are some, by different names."""
    if split is not None and test is not None:
        found = "row numbers choose the test rows, and there is a test file"
        raise InputError(found, "Leave one out.", argument="split")
    sources = [NamedSource(given, max_bytes=max_bytes) for given in (train, test) if given is not None]
    if len({source.name for source in sources}) < len(sources):
        for source, part in zip(sources, ("training", "test")):
            source.name += f" ({part})"
    return sources


def _read_parts(sources, files, options, progress) -> list:
    """Return the rows of the training file, and of the test file if there is one."""
    options = options._replace(labels=files.get("labels"))
    parts = [read_rows(sources[0], options, part_of(progress, 0.0, 1.0, phase="Reading the training rows"))]
    if len(sources) == 2:
        first, labels = parts[0], files.get("test_labels", options.labels)
        if first.label_source is not None and "test_labels" not in files:
            found = f"{first.label_source} has the labels of the training rows only"
            raise InputError(found, "Give the file with those of the test rows too.", argument="test_labels")
        options = options._replace(labels=labels, classes=first.classes, lists=first.lists)
        parts.append(read_rows(sources[1], options, part_of(progress, 0.0, 1.0, phase="Reading the test rows")))
    return parts


def _join(parts, files, first_index, max_bytes) -> dict:
    """Give all parts the same features and labels, and return their names."""
    _warn_of_ids_from_one(parts, first_index)
    _join_listed_labels(parts)
    names = {}
    for noun in ("feature", "label"):
        field = f"{noun}_names"
        listed = read_names(files[field], field, max_bytes) if field in files else _names_inside(parts, field)
        width = _width(parts, noun, listed)
        for part in parts:
            setattr(part, "X" if noun == "feature" else "Y", widened(part.matrix(noun), width))
        names[field] = None if listed is None else listed[0]
    return names


def _split(parts, files, split, test_size, random_state):
    """Return the features and labels of the training and of the test rows, and notes on how these were chosen."""
    X, Y, n_rows = parts[0].X, parts[0].Y, parts[0].X.shape[0]
    if len(parts) == 2:
        return (X, Y, parts[1].X, parts[1].Y), []
    if "train_rows" in files:
        (train, test), notes = read_split(files["train_rows"], files["test_rows"], n_rows)
    else:
        (train, test), notes = chosen_rows(n_rows, f"rows of {parts[0].source}", split, test_size, random_state)
    return (X[train], Y[train], X[test], Y[test]), notes


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
    """Return the names of features or labels that the files hold, and such a file; or None."""
    noun = field.removesuffix("_names")
    named = [part for part in parts if getattr(part, field) is not None]
    for part in named[1:]:
        for i, (first, other) in enumerate(zip_longest(getattr(named[0], field), getattr(part, field))):
            if first != other:
                here, there = ("nothing" if name is None else repr(name) for name in (other, first))
                found = f"its {noun} {i + 1:,} is {here}, but that of {named[0].source} is {there}"
                raise part.source.error(found, _SAME.format(noun))
    return (getattr(named[0], field), named[0].source) if named else None


def name_of(given) -> str:
    """Return a name for the data of a file: from its own name, or that of its folder, if one of them says anything."""
    file = file_name(given) or "data"
    folder = Path(given).resolve().parent.name if isinstance(given, (str, os.PathLike)) else ""
    return telling_name(file) or telling_name(folder) or stem(file)


def _width(parts, noun, names) -> int:
    """Return how many features or labels there are; DatasetFormatError if files, or names, disagree."""
    widths = [part.matrix(noun).shape[1] for part in parts]
    fixed = next((i for i, part in enumerate(parts) if part.has_width(noun)), None)
    width = max([*widths, *([] if names is None else [len(names[0])])]) if fixed is None else widths[fixed]
    for part, own in zip(parts, widths):
        other = parts[0 if fixed is None else fixed]
        if own > width or own < width and part.has_width(noun):
            says = "the header states" if part.header_line else "it has" if part.has_width(noun) else "its ids make"
            found = f"{says} {own} {noun}s, but {other.source} has {width}"
            raise part.source.error(found, _SAME.format(noun), part.header_line or None)
    if width == 0:
        raise _nothing(parts[0], noun)
    if names is not None and len(names[0]) != width:
        found = f"{len(names[0])} {noun} names, but there are {width} {noun}s"
        if names[1] is None:
            raise InputError(found, argument=f"{noun}_names")
        raise names[1].error(f"it holds {found}", ONE_PER_LINE.format(noun))
    return width


def warm_up() -> None:
    """Compile the readers and the stratification by running them on a few rows."""
    xmlc.warm_up()
    stratified_parts([[0], [1], [0, 1], []], (0.5, 0.5))


def with_label_table(data: Dataset, source: Source) -> Dataset:
    """Return a data set that knows what is above its labels, and further names of them.

    Parameters
    ----------
    data : Dataset
        Its labels have names.
    source : path, bytes, or binary file object
        A CSV table with the columns ``label``, and ``parent`` or ``aliases`` or both, or lines of a name, a tab, and
        the name of what it is in (docs/formats.md). Labels and aliases that the data set lacks are left out; labels
        that are aliases become those that they stand for.

    Raises
    ------
    DatasetFormatError, ValueError
        The file has another form, or none of the labels.
    """
    parents, aliases = read_label_table(source)
    names = data.label_names
    if names is None:
        raise ValueError("the labels of the data set have no names, by which parents and aliases are found")
    kept = list(dict.fromkeys(aliases.get(name, name) for name in names))
    aliases = {alias: label for alias, label in aliases.items() if label in {*kept}}
    if not aliases and parents.keys().isdisjoint(names):
        raise ValueError(f"the table has none of the {len(names):,} labels, such as {names[0]!r:.60}")
    changed = {"label_parents": parents or None, "label_aliases": aliases or None}
    if kept != names:
        for of in ("Y_train", "Y_test"):
            Y = getattr(data, of)
            changed[of] = [[names[j] for j in Y.indices[a:b]] for a, b in itertools.pairwise(Y.indptr)]
        changed["label_names"] = kept
    return replace(data, **changed)
