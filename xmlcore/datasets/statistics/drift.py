"""How far rows differ: features or labels of test rows from those of training rows, new rows from test rows."""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.dataset import Dataset
from xmlcore.first_use import pd
from xmlcore.metrics import as_ranking
from xmlcore.typing import DataFrame, Matrix, Predictions
from xmlcore.validation import check_count, check_dataset, check_features, check_frame

LEAST_EXPECTED = 5.0  # rows with a value that a tested column needs in the smaller part, if the parts were alike
FALSE_DISCOVERIES = 0.05  # expected share of columns that do not differ among those that are reported to differ


def drift(train: sp.csr_array, test: sp.csr_array) -> "DataFrame":
    """Compare each column of two matrices: features, or labels, of training and of test rows (docs/statistics.md)."""
    # Nothing is proportional to D, which a file's header may state to be huge.
    from scipy.special import ndtr

    columns = used_columns(train, test)
    (rows_1, mean_1, variance_1), (rows_2, mean_2, variance_2) = (_moments(matrix, columns) for matrix in (train, test))
    n_1, n_2 = train.shape[0], test.shape[0]
    gap, n = mean_2 - mean_1, n_1 + n_2
    spread = np.sqrt((variance_1 + variance_2) / 2)
    of_all = ((n_1 - 1) * variance_1 + (n_2 - 1) * variance_2 + n_1 * n_2 / n * gap**2) / (n - 1)
    error = np.sqrt(of_all * (1 / n_1 + 1 / n_2))
    without_spread = np.where(gap == 0, 0.0, np.copysign(np.inf, gap))
    difference = np.divide(gap, spread, out=without_spread, where=spread > 0)
    z = np.divide(gap, error, out=np.zeros(gap.size), where=error > 0)
    tested = (rows_1 + rows_2) * min(n_1, n_2) >= LEAST_EXPECTED * n
    p = np.where(tested, 2 * ndtr(-np.abs(z)), np.nan)
    known = np.sort(p[~np.isnan(p)])  # Benjamini and Hochberg's procedure accepts the smallest ones
    below = np.flatnonzero(known <= FALSE_DISCOVERIES * np.arange(1, known.size + 1) / max(known.size, 1))
    frame = pd.DataFrame(
        {
            "column": columns.astype(np.int64),
            "rows_train": rows_1,
            "rows_test": rows_2,
            "mean_train": mean_1,
            "mean_test": mean_2,
            "difference": difference,
            "tested": tested,
            "p": p,
            "differs": p <= known[below[-1]] if below.size else np.zeros(p.size, bool),
        }
    )
    size = frame["difference"].abs()
    order = np.lexsort((frame["column"], -size, ~frame["differs"]))
    return frame.iloc[order].reset_index(drop=True)


def used_columns(*matrices: sp.csr_array) -> np.ndarray:
    """Return the columns in which any of the matrices has a stored value, ascending."""
    return np.unique(np.concatenate([pd.unique(matrix.indices) for matrix in matrices])).astype(np.int64)


def _moments(matrix, columns):
    """Return, for some columns: rows with a nonzero value, the mean, and the variance that divides by rows - 1."""
    n, at = matrix.shape[0], pd.Index(columns).get_indexer(matrix.indices)
    values = matrix.data.astype(np.float64)
    rows = np.bincount(at, minlength=columns.size)
    mean = np.bincount(at, weights=values, minlength=columns.size) / n
    away = values - mean[at]  # sums of squares about the mean: those about zero lose digits
    squares = np.bincount(at, weights=away * away, minlength=columns.size) + (n - rows) * mean**2
    variance = squares / max(n - 1, 1)
    return rows, mean, np.where(variance > 1e-12 * mean**2, variance, 0.0)  # what is left of rounding is no variance


MOST = 2000  # rows that are compared; of more, so many are drawn at random
DRAWS = 999  # random divisions
LEAST_DIVISIONS = 100  # with fewer possible ones, nothing can be said
TOLERANCE = 1e-12  # sums that differ by less are equal


def facts_of_rows(dataset: Dataset, X: Matrix, ranking: Predictions, texts: Sequence[str] | None = None) -> "DataFrame":
    """Return the numbers of each row that :func:`unlike_test_rows` compares; of at most 2,000 rows.

    The columns are ``terms`` (words of the text, or features), ``unknown`` (those that are no features, or that no
    training row has), ``empty`` (whether the row has no features), ``label`` (the first one predicted; -1 for none) and
    ``score`` (its score, or 0). Words are counted where the rows have ``texts``.
    """
    check_dataset(dataset)
    X, ranking = check_features(X, dataset.n_features), as_ranking(ranking, 1)
    if X.shape[0] != len(ranking.labels):
        raise ValueError(f"X has {X.shape[0]} rows, but the ranking has {len(ranking.labels)}")
    n = X.shape[0]
    rows = np.arange(n) if n <= MOST else np.sort(np.random.default_rng(0).choice(n, MOST, replace=False))
    X, label = X[rows], ranking.labels[rows, 0]
    terms, unknown = count_terms(dataset, X, None if texts is None else [texts[i] for i in rows.tolist()])
    score = np.where(label >= 0, ranking.scores[rows, 0], 0.0).astype(np.float64)
    columns = {"terms": terms, "unknown": unknown, "empty": np.diff(X.indptr) == 0, "label": label.astype(np.int64)}
    return pd.DataFrame(columns | {"score": score})


def count_terms(dataset: Dataset, X: Matrix, texts: Sequence[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of words of each row, or of features without texts, and how many of them are unknown."""
    if texts is not None and dataset.vectorizer is not None:
        return dataset.vectorizer.count_unknown(texts)
    known = used_columns(dataset.X_train)
    before = np.concatenate([[0], np.cumsum(~np.isin(X.indices, known))])
    return np.diff(X.indptr), np.diff(before[X.indptr])


def unlike_test_rows(rows: "DataFrame", test: "DataFrame", seed: int = 0) -> "DataFrame":
    """Return how new rows differ significantly from test rows.

    New and test rows together are divided at random 999 times, into other parts of the same sizes. New rows differ
    where their value is further off than in all of these divisions: docs/statistics.md.

    Parameters
    ----------
    rows, test : DataFrame
        From :func:`facts_of_rows`.
    seed : int

    Returns
    -------
    DataFrame
        Four lines, with the index ``unknown`` (share of the words, or features, that are unknown), ``empty`` (share of
        rows without features), ``score`` (mean score of the first label) and ``labels`` (total variation distance
        between the first labels of both: the share of rows that would need another one). Columns: ``new`` and
        ``test`` (their values; of ``labels``, the distance and 0), ``bound`` (the furthest value of the divisions) and
        ``differs``. For ``score``, lower values are further off, else larger ones.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.datasets import unlike_test_rows
    >>> test = pd.DataFrame({"terms": 9, "unknown": 1, "empty": False, "label": [0, 1] * 50, "score": 0.5})
    >>> unlike_test_rows(test.head(50).assign(label=1), test)["differs"].to_dict()
    {'unknown': False, 'empty': False, 'score': False, 'labels': True}
    """
    for name, frame in (("rows", rows), ("test", test)):
        check_frame(frame, ("terms", "unknown", "empty", "label", "score"), "facts_of_rows", name)
    if not len(rows) or not len(test):
        raise ValueError(f"there are {len(rows):,} new and {len(test):,} test rows: give at least one of each")
    random = np.random.default_rng(check_count(seed, "seed", 0))
    both, n = pd.concat([rows, test], ignore_index=True), len(rows)
    label = np.unique(both["label"], return_inverse=True)[1]
    columns = both[["unknown", "terms", "empty", "score"]].to_numpy(np.float64)
    whole = np.bincount(label), len(both)
    new = _values(columns[:n], label[:n], *whole)
    drawn = np.empty((DRAWS, 4))
    for i in range(DRAWS):
        chosen = random.permutation(len(both))[:n]
        while chosen.max() < n:  # these are the new rows
            chosen = random.permutation(len(both))[:n]
        drawn[i] = _values(columns[chosen], label[chosen], *whole)
    sign, enough = np.array([1, 1, -1, 1]), math.comb(len(both), min(n, 3, len(both) - n)) > LEAST_DIVISIONS
    furthest = (sign * drawn).max(axis=0)
    found = {"new": new, "test": [*_shares(columns[n:].sum(axis=0), len(test)), 0.0], "bound": sign * furthest}
    index = ["unknown", "empty", "score", "labels"]
    return pd.DataFrame(found | {"differs": enough & (sign * new > furthest + TOLERANCE)}, index=index)


def _values(columns, label, counts, n_all):
    """Return the four values of a part of the rows."""
    n, own = len(label), np.bincount(label, minlength=counts.size)
    distance = np.abs(own / n - (counts - own) / (n_all - n)).sum() / 2
    return np.array([*_shares(columns.sum(axis=0), n), distance])


def _shares(sums, n) -> list[float]:
    unknown, terms, empty, score = sums
    return [unknown / terms if terms else 0.0, empty / n, score / n]
