"""Splits of rows into training and test rows: at random, stratified by labels, in folds, or by lists of row numbers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.stratify import distribute
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.readers import formats
from xmlcore.datasets.readers.reading import check_split, split_rows
from xmlcore.datasets.splits.sizes import count_test_rows, move_to_sizes, whole_sizes
from xmlcore.datasets.statistics.description import all_labels
from xmlcore.datasets.statistics.duplicates import seen_in_train
from xmlcore.typing import ArrayLike, Labels
from xmlcore.validation import as_array, check_count, check_dataset, check_labels, csr_parts

METHODS = ("random", "stratified")


def stratified_parts(Y: Labels, shares: Sequence[float], random_state: int = 0) -> np.ndarray:
    """Return the part of each row: each part gets its share of the rows of each label, as far as possible.

    This is the iterative stratification of Sechidis, Tsoumakas and Vlahavas (2011), "On the stratification of multi-
    label data", ECML PKDD. The label with the fewest rows left is next. Each of its rows goes to the part that lacks
    most rows of this label, then to the one that lacks most rows in all; ties are broken at random. So even the rows of
    rare labels are spread, which a random split leaves to chance.

    Parts made in this way have about their share of the rows. In a last step, as few rows as possible move from parts
    that are too large to parts that are too small: those whose labels suffer least (see :func:`move_to_sizes`). Shares
    sum to 1. It takes O(label occurrences x (parts + log label occurrences)) time.
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


def stratified_split(Y: Labels, test_size: float | int = 0.2, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into training and test rows that have each label in about the same share.

    Parameters
    ----------
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
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

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        A part is empty, a number is not that of a row, or a row is listed twice, also if it is in both parts.
    """
    check_dataset(dataset)
    parts = check_split(train_rows, test_rows, dataset.n_train + dataset.n_test)
    X = sp.csr_array(sp.vstack([dataset.X_train, dataset.X_test], format="csr"))
    Y = all_labels(dataset)
    names = {}
    for field in ("row_names", "texts"):
        known = [getattr(dataset, f"{field}_{part}") for part in ("train", "test")]
        every = None if None in known else known[0] + known[1]
        for part, rows in zip(("train", "test"), parts):
            names[f"{field}_{part}"] = None if every is None else [every[i] for i in rows]
    matrices = {f"{M}_{part}": A[rows] for M, A in (("X", X), ("Y", Y)) for part, rows in zip(("train", "test"), parts)}
    notes = (*dataset.notes, note) if note else dataset.notes
    return replace(dataset, name=dataset.name if name is None else name, **matrices, **names, notes=notes)


def split_again(
    dataset: Dataset,
    method: str = "stratified",
    test_size: float | int = 0.2,
    n_folds: int | None = None,
    fold: int = 0,
    random_state: int = 0,
    name: str | None = None,
) -> Dataset:
    """Return a data set whose rows, training and test rows together, are split anew.

    Parameters
    ----------
    dataset : Dataset
    method : {"stratified", "random"}
        See :func:`stratified_parts` and :func:`xmlcore.datasets.split_rows`.
    test_size : float or int
        The share of test rows, or their number; not used with ``n_folds``.
    n_folds : int, optional
        Distribute the rows over so many folds, of which one has the test rows.
    fold : int
        The fold with the test rows, from 0.
    random_state : int
        Seed. The same value gives the same split.
    name : str, optional
        By default that of ``dataset``.

    Returns
    -------
    Dataset
        ``.notes`` say how it was split.
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

    Returns
    -------
    Dataset

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


def warm_up() -> None:
    """Compile the readers and the stratification by running them on a few rows."""
    formats.warm_up()
    stratified_parts([[0], [1], [0, 1], []], (0.5, 0.5))
