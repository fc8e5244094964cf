"""Splits of rows into training and test rows: at random, stratified by labels, in folds, or by lists of row numbers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.stratify import distribute
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import InputError
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.datasets.statistics.description import all_labels
from xmlcore.datasets.statistics.rows import seen_in_train
from xmlcore.documented import documented
from xmlcore.typing import ArrayLike, Labels, Source
from xmlcore.validation import as_array, check_count, check_dataset, check_labels, csr_parts

METHODS = ("random", "stratified")
PUBLISHED_SPLIT = "Training and test rows are"  # begins the note on a data set that has a published split of its rows
_OF_ROWS = ("row_names", "texts")  # lists of a data set, for training and test rows
_ROUNDS = 10  # in which rows are moved from one part to another; after each, the labels are counted anew


def count_test_rows(n_rows: int, test_size: float | int) -> int:
    n_rows = check_count(n_rows, "n_rows", 1)
    if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool):
        n_test = check_count(test_size, "test_size", 1)
    else:
        is_number = isinstance(test_size, (float, np.floating))
        if not is_number or not 0 < test_size < 1:
            kind = ValueError if is_number or isinstance(test_size, (bool, str)) else TypeError
            raise kind(f"test_size must be a share between 0 and 1 or a number of rows, not {test_size!r:.200}")
        n_test = round(n_rows * float(test_size))
    if not 0 < n_test < n_rows:
        left = f"leaves {n_rows - n_test:,} of {n_rows:,} rows for training and {n_test:,} for the test"
        found = f"the share or number of test rows, {test_size}, {left}"
        raise InputError(found, "Both need at least one. Choose another, or give more rows.", argument="test_size")
    return n_test


@documented
def split_rows(n_rows: int, test_size: float | int = 0.2, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into training and test rows at random.

    Parameters
    ----------
    n_rows : int
    {split}
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
        if rows.size == 0:
            raise ValueError(f"the split has no {'training' if name == 'train_rows' else 'test'} rows")
        parts.append(rows.astype(np.int64))
    both = np.concatenate(parts)
    wrong = both[(both < 0) | (both >= n_rows)]
    if wrong.size:
        raise ValueError(f"there is no row {wrong[0]}: the {n_rows:,} rows are numbered from 0")
    ids, times = np.unique(both, return_counts=True)
    if times.max() > 1:
        raise ValueError(f"row {ids[times > 1][0]} is in the split more than once")
    return parts[0], parts[1]


def chosen_rows(n_rows: int, noun: str, split, test_size, random_state) -> tuple[tuple, list[str]]:
    """Return the training and test rows of one file, and a note; ``noun`` is such as "rows of a.txt"."""
    if split is not None:
        rows, how = check_split(*split, n_rows), "chosen by a list of row numbers"
    else:
        rows, how = split_rows(n_rows, test_size, random_state), f"drawn at random with seed {random_state}"
    held_out = "The test row is 1" if len(rows[1]) == 1 else f"The test rows are {len(rows[1]):,}"
    return rows, [f"{held_out} of the {n_rows:,} {noun}, {how}."]


def read_row_numbers(
    source: Source, n_rows: int | None = None, column: int = 0, *, first: int = 1, name: str | None = None
) -> np.ndarray:
    """Read the row numbers of a part from a file, as the Extreme Classification Repository's split files have them.

    Parameters
    ----------
    source : path, bytes, or binary file object
        A text with a line of whole numbers for each row of the part, separated by spaces, tabs or commas: the first
        number of each line belongs to the first split, the second to the second, and so on. Such files are called
        ``trSplit.txt`` and ``tstSplit.txt``. May be compressed.
    n_rows : int, optional
        Number of rows of the data; without it, numbers that are too large are not found here.
    column : int
        Which split, from 0.
    first : {1, 0}
        The number of the first row. The repository counts from 1.
    name : str, optional
        Name of the source in errors; by default its file name.

    Returns
    -------
    ndarray of int64
        Row numbers from 0, in the order of the file.

    Raises
    ------
    DatasetFormatError
        A line has another number of columns than the first line, something is not the number of a row, or a row is
        listed twice. The error has the line.
    """
    source = NamedSource(source, name)
    n_rows = None if n_rows is None else check_count(n_rows, "n_rows", 0)
    column, first = check_count(column, "column", 0), check_count(first, "first", 0, 1)
    found, width = {}, None  # the line of each row
    most = "" if n_rows is None else f" to {n_rows - 1 + first:,}"
    for line, content in enumerate(source.text().tobytes().decode("utf-8", "replace").splitlines(), 1):
        parts = content.replace(",", " ").split()
        if not parts:
            continue
        width = len(parts) if width is None else width
        if len(parts) != width:
            said = f"the line has {len(parts)} numbers, but the first line has {width}"
            raise source.error(said, "Each line needs one row number for each split.", line)
        if column >= width:
            said = f"there is no split {column + 1}: the file has {width} column{'s' if width > 1 else ''}"
            raise source.error(said, "Choose a smaller number of the split.", line)
        text = parts[column]
        row = int(text) - first if text.isdecimal() and len(text) < 19 else -1
        if row < 0 or (n_rows is not None and row >= n_rows):
            remedy, argument = f"Row numbers are whole numbers from {first}{most}.", {}
            if text == "0" and first == 1:
                remedy, argument = f"{remedy} Does the first row have the number 0?", {"argument": "first", "value": 0}
            raise source.error(f"{text[:40]!r} is not the number of a row", remedy, line, **argument)
        if found.setdefault(row, line) != line:
            raise source.error(
                f"row {text} is listed twice: line {found[row]:,} has it too", "List each row once.", line
            )
    if not found:
        raise source.error("it lists no rows", "Give a file with one row number per line.")
    return np.array(list(found), np.int64)


def read_split(train, test, n_rows: int) -> tuple[tuple[np.ndarray, np.ndarray], list[str]]:
    """Read the first split of two files of row numbers, without test rows that are training rows too."""
    train_rows, test_rows = read_row_numbers(train, n_rows), read_row_numbers(test, n_rows)
    notes = [f"{PUBLISHED_SPLIT} the first of the published splits."]
    leaks = np.isin(test_rows, train_rows)
    if leaks.all():
        found = "all of its rows are training rows too"
        raise NamedSource(test).error(found, "Replace it by a file with the numbers of other rows.")
    if leaks.any():
        rows_are = "1 test row" if leaks.sum() == 1 else f"{int(leaks.sum()):,} test rows"
        notes.append(f"Left out: {rows_are}, which the split has among the training rows too.")
    return (train_rows, test_rows[~leaks]), notes


def stratified_parts(Y: Labels, shares: Sequence[float], random_state: int = 0) -> np.ndarray:
    """Return the part of each row: each part gets its share of the rows of each label, as far as possible.

    This is the iterative stratification of Sechidis et al. (2011), and a last step to the sizes asked for:
    docs/statistics.md. Shares sum to 1.
    """
    Y = check_labels(Y, name="Y")
    wanted = "two or more numbers above 0 that sum to 1"
    given, shares = shares, as_array(shares, "shares", f"{wanted} are needed")
    fit = shares.ndim == 1 < shares.size and shares.dtype.kind == "f" and (shares > 0).all()
    if not fit or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be {wanted}, not {given!r:.200}")
    shares = shares.astype(np.float64)
    rng = np.random.default_rng(check_count(random_state, "random_state", 0))
    n_rows, n_labels = Y.shape
    rank = rng.permutation(n_labels).astype(np.int32)  # labels in a random order: that of equally frequent ones
    shuffled = rng.permutation(n_rows)
    numbered = sp.csr_array((Y.data, rank[Y.indices], Y.indptr), shape=Y.shape)
    by_label = numbered[shuffled].tocsc()  # within a label, rows in a random order
    rows_of_label = shuffled[by_label.indices].astype(np.int32)
    indptr, indices, _ = csr_parts(numbered)
    ties = rng.integers(0, 2**62, n_rows)
    part = distribute(indptr, indices, by_label.indptr.astype(np.int64), rows_of_label, shares, ties)
    return move_to_sizes(Y, part, whole_sizes(n_rows, shares), rng)


@documented
def stratified_split(Y: Labels, test_size: float | int = 0.2, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into training and test rows that have each label in about the same share.

    Parameters
    ----------
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
    {split}
    """
    Y = check_labels(Y, name="Y")
    n_rows = Y.shape[0]
    n_test = count_test_rows(n_rows, test_size)
    part = stratified_parts(Y, (1 - n_test / n_rows, n_test / n_rows), random_state)
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def check_folds(n_folds, n_rows: int) -> int:
    """Return the number of folds; raise ValueError or TypeError unless so many rows can be distributed over them."""
    n_folds = check_count(n_folds, "n_folds", 2)
    if n_folds > n_rows:
        raise ValueError(f"n_folds is {n_folds:,}, but there are only {n_rows:,} rows: give at most as many folds")
    return n_folds


def folds(Y: Labels, n_folds: int = 5, method: str = "stratified", random_state: int = 0) -> np.ndarray:
    """Distribute rows over folds of about the same size, for cross-validation.

    Parameters
    ----------
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
    n_folds : int
        At least 2.
    method : {"stratified", "random"}
        ``"stratified"``: see :func:`stratified_parts`. Sizes differ by at most 1 with both.
    random_state : int
        Seed. The same value gives the same folds.

    Returns
    -------
    ndarray of int32, shape (N,)
        The fold of each row, from 0. The rows of a fold are the test rows of one split.
    """
    _check_method(method)
    Y = check_labels(Y, name="Y")
    n_folds = check_folds(n_folds, Y.shape[0])
    if method == "random":
        order = np.random.default_rng(check_count(random_state, "random_state", 0)).permutation(Y.shape[0])
        part = np.empty(Y.shape[0], np.int32)
        part[order] = np.arange(Y.shape[0]) % n_folds
        return part
    return stratified_parts(Y, np.full(n_folds, 1 / n_folds), random_state)


def rows_of_file(n_train: int, n_test: int, random_state: int) -> np.ndarray:
    """Return where each row of a file is in the data set that :func:`split_rows` made from it, test rows last."""
    n_train, n_test = check_count(n_train, "n_train", 0), check_count(n_test, "n_test", 0)
    order = np.concatenate(split_rows(n_train + n_test, n_test, random_state))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place


def resplit(
    dataset: Dataset, train_rows: ArrayLike, test_rows: ArrayLike, note: str = "", name: str | None = None
) -> Dataset:
    """Return a data set with other training and test rows.

    Parameters
    ----------
    dataset : Dataset
        Its rows are numbered from 0: first the training rows, then the test rows.
    train_rows, test_rows : array_like of int
        Numbers of the new training and test rows, in this order. Rows in neither are left out.
    note : str
        Added to the notes: how the rows were chosen. Notes on the split before are kept.
    name : str, optional
        By default that of ``dataset``.
    """
    check_dataset(dataset)
    parts = check_split(train_rows, test_rows, dataset.n_train + dataset.n_test)
    X = sp.csr_array(sp.vstack([dataset.X_train, dataset.X_test], format="csr"))
    Y = all_labels(dataset)
    known = {field: [getattr(dataset, f"{field}_{part}") for part in ("train", "test")] for field in _OF_ROWS}
    changed = {"name": dataset.name if name is None else name, "notes": (*dataset.notes, *([note] if note else []))}
    for part, rows in zip(("train", "test"), parts):
        changed |= {f"X_{part}": X[rows], f"Y_{part}": Y[rows]}
        for field, (of_train, of_test) in known.items():
            every = None if None in (of_train, of_test) else of_train + of_test
            changed[f"{field}_{part}"] = None if every is None else [every[i] for i in rows]
    if dataset.columns is not None:
        changed["columns"] = dataset.columns.iloc[np.concatenate(parts)]
    return replace(dataset, **changed)


def split_again(
    dataset: Dataset,
    method: str = "stratified",
    test_size: float | int = 0.2,
    n_folds: int | None = None,
    fold: int = 0,
    random_state: int = 0,
    name: str | None = None,
) -> Dataset:
    """Return a data set whose rows, training and test rows together, are split anew; its notes say how.

    Parameters
    ----------
    dataset : Dataset
    method : {"stratified", "random"}
        See :func:`stratified_parts` and :func:`xmlcore.datasets.split_rows`.
    test_size : float or int
        The share of test rows, or their number; not used with ``n_folds``.
    n_folds : int, optional
        Number of folds over which the rows are distributed; one has the test rows.
    fold : int
        The fold with the test rows, from 0.
    random_state : int
        Seed. The same value gives the same split.
    name : str, optional
        By default that of ``dataset``.
    """
    _check_method(method)
    check_count(fold, "fold", 0)
    Y = all_labels(dataset)
    how = "at random" if method == "random" else "by iterative stratification"
    if n_folds is not None:
        n_folds = check_count(n_folds, "n_folds", 2)
        fold = check_count(fold, "fold", 0, n_folds - 1)
        part = folds(Y, n_folds, method, random_state)
        train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        which = f"fold {fold + 1} of {n_folds}"
    else:
        split = split_rows(Y.shape[0], test_size, random_state) if method == "random" else None
        train, test = split or stratified_split(Y, test_size, random_state)
        which = f"{test.size:,} of all {Y.shape[0]:,} rows"
    note = f"Split anew: the test rows are {which}, chosen {how} with seed {random_state}."
    return resplit(dataset, train, test, note, name)


def without_leaks(dataset: Dataset, name: str | None = None) -> Dataset:
    """Return a data set without the test rows whose features are equal to those of a training row.

    Parameters
    ----------
    dataset : Dataset
    name : str, optional
        By default that of ``dataset``.

    Raises
    ------
    ValueError
        There are no such rows, or all test rows are such rows.
    """
    seen = seen_in_train(dataset)
    if not seen.any():
        raise ValueError("no test row has the features of a training row: there is nothing to leave out")
    if seen.all():
        raise ValueError("every test row has the features of a training row: no test row would be left")
    note = f"Left out: {int(seen.sum()):,} of {seen.size:,} test rows, which have the features of a training row."
    return resplit(dataset, np.arange(dataset.n_train), dataset.n_train + np.flatnonzero(~seen), note, name)


def _check_method(method):
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method {method!r:.200} is unknown: use one of {', '.join(map(repr, METHODS))}")


def whole_sizes(n_rows: int, shares) -> np.ndarray:
    """Return numbers of rows that sum to ``n_rows``, each less than 1 from its share of them."""
    exact = n_rows * np.asarray(shares, np.float64)
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n_rows - sizes.sum()]] += 1  # the largest remainders
    return sizes


def move_to_sizes(Y, part, sizes, rng) -> np.ndarray:
    """Return parts of exactly these sizes, moving as few rows as possible: those whose labels suffer least."""
    part = part.copy()
    excess = np.bincount(part, minlength=sizes.size) - sizes
    if not excess.any():
        return part
    has = sp.csr_array(Y, dtype=np.float32)
    frequency = np.bincount(Y.indices, minlength=Y.shape[1])
    while excess.any():
        larger, smaller = int(np.argmax(excess)), int(np.argmin(excess))
        total = left = int(min(excess[larger], -excess[smaller]))
        for rounds_left in range(_ROUNDS, 0, -1):
            count = -(-left // rounds_left)
            if count == 0:
                break
            rows = np.flatnonzero(part == larger)
            cost = (has @ _costs(Y, part, larger, smaller, sizes, frequency))[rows] + 1e-6 * rng.random(rows.size)
            part[rows[np.argpartition(cost, count - 1)[:count]]] = smaller
            left -= count
        excess[larger] -= total
        excess[smaller] += total
    return part


def _costs(Y, part, larger, smaller, sizes, frequency):
    """Return for each label what it costs to move one of its rows: the change of two deviations, in shares of rows."""
    owner = np.repeat(part, np.diff(Y.indptr))
    cost = np.zeros(frequency.size, np.float32)
    for number, step in ((larger, -1), (smaller, 1)):
        share = sizes[number] / sizes.sum()
        ahead = np.bincount(Y.indices[owner == number], minlength=frequency.size) - frequency * share
        cost += np.abs(ahead + step) - np.abs(ahead)
    return cost / np.maximum(frequency, 1)
