"""Groups of test rows in which a model is weak."""

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets import Dataset
from xmlcore.datasets.statistics.drift import FALSE_DISCOVERIES, count_terms
from xmlcore.first_use import pd
from xmlcore.metrics.bootstrap import row_values
from xmlcore.metrics.calibration import wilson
from xmlcore.metrics.measures import share
from xmlcore.typing import DataFrame, Predictions
from xmlcore.validation import check_count, check_dataset

NUMBERS_OF_LABELS = (0, 1, 2, 5)  # the largest of each group but the last


def slices(dataset: Dataset, ranking: Predictions, k: int = 5, *, least: int = 20, most: int = 200) -> DataFrame:
    """Compare P@1 in groups of test rows with all other rows: groups by size, unknown words, labels, and words.

    Parameters
    ----------
    dataset : Dataset
    ranking : Ranking, ndarray, sparse matrix or list of lists of int
        Of the test rows, in the forms of :func:`xmlcore.metrics.as_ranking`.
    k : int
        The place of P@k and PSP@k.
    least : int
        Rows that a group has, and that are not in it, at least.
    most : int
        At most so many labels, and words or features of at most half of the rows: the most frequent ones.

    Returns
    -------
    DataFrame
        A line per group: ``kind``, ``group`` (its name), ``id`` (of a label or feature, else -1), ``members`` (its
        rows), ``rows`` (their number), ``P@1``, ``P@k``, ``PSP@k``, ``difference`` (of P@1) with its 95 % interval from
        ``low`` to ``high``, ``p_value``, ``p_adjusted`` (for all groups) and ``significant``; lowest ``high`` first.

    Notes
    -----
    Intervals are Newcombe's [1]_ method 10, and p-values twice the smaller tail of Fisher's exact test: both hold where
    few rows are all wrong, too. Significant is what Benjamini and Hochberg's procedure finds, with 5 % by chance.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
       Medicine 1998. Groups against all other rows: Y. Chung et al., "Slice Finder", ICDE 2019.
    """
    from scipy import stats

    frame, members = _found(dataset, least, most)
    k, n, inv_ps = check_count(k, "k"), dataset.n_test, dataset.inverse_propensity()
    values = row_values(dataset.Y_test, ranking, [("P@k", 1), ("P@k", k), ("PSP@k", k)], inv_ps)
    values = np.column_stack([np.ones(n), *values])
    rows, right, at_k, gains, best = (members @ values).T
    all_right, others = values[:, 1].sum(), n - rows
    inside, outside = right / rows, (all_right - right) / others
    (low, high), (low_outside, high_outside) = wilson(inside, rows), wilson(outside, others)
    by_chance = stats.hypergeom(n, int(all_right), rows.astype(np.int64))
    p = np.clip(2 * np.minimum(by_chance.cdf(right), by_chance.sf(right - 1)), 0.0, 1.0)
    measured = {"P@1": inside, "P@k": at_k / rows, "PSP@k": share(gains, best, np.nan), "difference": inside - outside}
    frame = frame.assign(rows=rows.astype(np.int64), **measured)
    frame["low"] = frame["difference"] - np.hypot(inside - low, high_outside - outside)
    frame["high"] = frame["difference"] + np.hypot(high - inside, outside - low_outside)
    return _tested(frame, p).sort_values(["high", "difference"], kind="stable", ignore_index=True)


def slices_compared(
    dataset: Dataset, first: Predictions, second: Predictions, *, least: int = 20, most: int = 200
) -> DataFrame:
    """Compare P@1 of two models in the groups of :func:`slices`: which is better where?

    Parameters
    ----------
    dataset, least, most
        As for :func:`slices`.
    first, second : Ranking, ndarray, sparse matrix or list of lists of int
        Of the test rows.

    Returns
    -------
    DataFrame
        As of :func:`slices`, but with ``first`` and ``second``, P@1 of each, and ``difference``, second minus first,
        of the same rows; smallest ``p_value`` first.

    Notes
    -----
    Intervals are Newcombe's [1]_ method 10 for pairs, p-values are of McNemar's exact test.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
       paired data", Statistics in Medicine 1998.
    """
    from scipy import stats

    frame, members = _found(dataset, least, most)
    a, b = (row_values(dataset.Y_test, ranking, [("P@k", 1)])[0] for ranking in (first, second))
    rows, of_a, of_b, both = (members @ np.column_stack([np.ones(a.size), a, b, a * b])).T
    in_a, in_b = of_a / rows, of_b / rows
    below_a, above_a, below_b, above_b = (np.abs(end - p) for p in (in_a, in_b) for end in wilson(p, rows))
    covariance = rows * both - of_a * of_b
    covariance = np.where(covariance > 0, np.maximum(covariance - rows / 2, 0), covariance)
    phi = share(covariance, np.sqrt(of_a * (rows - of_a) * of_b * (rows - of_b)), 0.0)
    frame = frame.assign(rows=rows.astype(np.int64), first=in_a, second=in_b, difference=in_b - in_a)
    for end, sign, one, other in (("low", -1, below_b, above_a), ("high", 1, above_b, below_a)):
        frame[end] = frame["difference"] + sign * np.sqrt(np.maximum(one**2 - 2 * phi * one * other + other**2, 0))
    p = np.minimum(2 * stats.binom.cdf(np.minimum(of_a, of_b) - both, of_a + of_b - 2 * both, 0.5), 1.0)
    return _tested(frame, p).sort_values("p_value", kind="stable", ignore_index=True)


def _found(dataset, least, most):
    """Return a table of the groups, and a matrix with a row for each."""
    check_dataset(dataset)
    least, most = check_count(least, "least"), check_count(most, "most", 0)
    frame = pd.DataFrame(_groups(dataset, least, most), columns=["kind", "group", "id", "members"])
    indptr, indices = np.cumsum([0, *map(len, frame["members"])]), np.concatenate([np.empty(0, int), *frame["members"]])
    return frame, sp.csr_array((np.ones(indices.size), indices, indptr), shape=(len(frame), dataset.n_test))


def _tested(frame, p):
    from scipy import stats

    frame = frame.assign(p_value=p, p_adjusted=stats.false_discovery_control(p) if p.size else p)
    return frame.assign(significant=frame["p_adjusted"] <= FALSE_DISCOVERIES)


def _groups(dataset, least, most):
    """Yield groups of test rows: kind, name, id of a label or feature, and rows."""
    X, Y, n, texts = dataset.X_test, dataset.Y_test, dataset.n_test, dataset.texts_test
    if n < 2 * least:
        return
    terms, unknown = count_terms(dataset, X, texts)
    noun = "word" if texts is not None and dataset.vectorizer is not None else "feature"
    numbers = {
        **{"number of labels": np.diff(Y.indptr), f"number of {noun}s": terms, "number of features": np.diff(X.indptr)},
        f"unknown {noun}s, %": np.round(100 * share(unknown, terms)).astype(np.int64),
    }
    for kind, of_rows in numbers.items():
        quartiles = np.unique(np.quantile(of_rows, (0.25, 0.5, 0.75), method="lower"))
        part = np.searchsorted(NUMBERS_OF_LABELS if kind == "number of labels" else quartiles, of_rows)
        for rows in (np.flatnonzero(part == each) for each in np.unique(part)):
            low, high = of_rows[rows].min(), of_rows[rows].max()
            if least <= rows.size <= n - least:
                yield kind, f"{kind}: {low:,}" + f"–{high:,}" * bool(low < high), -1, rows
    columns = ("label", Y, n - least, dataset.label_names), (noun, X, min(n - least, n // 2), dataset.feature_names)
    for kind, matrix, largest, names in columns:
        order = np.argsort(matrix.indices, kind="stable")  # entries, column by column
        ids, starts, counts = np.unique(matrix.indices[order], return_index=True, return_counts=True)
        usable = np.flatnonzero((counts >= least) & (counts <= largest))
        for j in usable[np.argsort(-counts[usable], kind="stable")][:most]:
            entries = order[starts[j] : starts[j] + counts[j]]
            rows = np.searchsorted(matrix.indptr, entries, side="right") - 1
            name = f"{kind} {ids[j]}" if names is None else f"{kind}: {names[ids[j]]}"
            yield kind, name, int(ids[j]), rows
