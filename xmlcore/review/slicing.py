"""Groups of test rows in which a model is weak."""

from collections.abc import Iterator

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
VALUES = 20  # of a column at most, the most frequent ones


def slices(
    dataset: Dataset, ranking: Predictions, k: int = 5, *, against: Predictions | None = None, least: int = 20,
    most: int = 200,
) -> DataFrame:  # fmt: skip
    """Compare P@1 in groups of test rows with all other rows: by size, unknown words, columns, labels, and words.

    Parameters
    ----------
    dataset : Dataset
    ranking : Ranking, ndarray, sparse matrix or list of lists of int
        Of the test rows, in the forms of :func:`xmlcore.metrics.as_ranking`.
    k : int
        The place of P@k and PSP@k.
    against : as ``ranking``, optional
        Predictions of another model: then a group is compared with what this model reaches in its rows, ``P@1_other``,
        and not with all other rows; smallest p-value first.
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
    few rows are all wrong, too. For two models, they are of his method 10 for pairs [2]_ and of McNemar's exact test.
    Significant is what Benjamini and Hochberg's procedure finds, with 5 % by chance.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
       Medicine 1998. Groups against all other rows: Y. Chung et al., "Slice Finder", ICDE 2019.
    .. [2] The same, "Improved confidence intervals for the difference between binomial proportions based on paired
       data", Statistics in Medicine 1998.
    """
    from scipy import stats

    check_dataset(dataset)
    k, least, most = check_count(k, "k"), check_count(least, "least"), check_count(most, "most", 0)
    n, inv_ps = dataset.n_test, dataset.inverse_propensity()
    frame = pd.DataFrame(_groups(dataset, least, most), columns=["kind", "group", "id", "members"])
    indptr, indices = np.cumsum([0, *map(len, frame["members"])]), np.concatenate([np.empty(0, int), *frame["members"]])
    members = sp.csr_array((np.ones(indices.size), indices, indptr), shape=(len(frame), n))
    values = row_values(dataset.Y_test, ranking, [("P@k", 1), ("P@k", k), ("PSP@k", k)], inv_ps)
    values = np.column_stack([np.ones(n), *values])
    rows, right, at_k, gains, best = (members @ values).T
    all_right, others = values[:, 1].sum(), n - rows
    frame = frame.assign(**{"rows": rows.astype(np.int64), "P@1": right / rows, "P@k": at_k / rows})
    frame["PSP@k"] = share(gains, best, np.nan)
    if against is not None:
        other = row_values(dataset.Y_test, against, [("P@k", 1)])[0]
        frame, p = _paired(frame, rows, right, members @ other, members @ (values[:, 1] * other))
        return _tested(frame, p).sort_values("p_value", kind="stable", ignore_index=True)
    inside, outside = right / rows, (all_right - right) / others
    (low, high), (low_outside, high_outside) = wilson(inside, rows), wilson(outside, others)
    by_chance = stats.hypergeom(n, int(all_right), rows.astype(np.int64))
    p = np.clip(2 * np.minimum(by_chance.cdf(right), by_chance.sf(right - 1)), 0.0, 1.0)
    frame["difference"] = inside - outside
    frame["low"] = frame["difference"] - np.hypot(inside - low, high_outside - outside)
    frame["high"] = frame["difference"] + np.hypot(high - inside, outside - low_outside)
    return _tested(frame, p).sort_values(["high", "difference"], kind="stable", ignore_index=True)


def _paired(frame, rows, right, other, both):
    """Return groups with the difference of two models, and p-values, by how often they and both of them are right."""
    from scipy import stats

    one, two = right / rows, other / rows
    (below_one, above_one), (below_two, above_two) = (np.abs(wilson(p, rows) - p) for p in (one, two))
    covariance = rows * both - right * other
    covariance = np.where(covariance > 0, np.maximum(covariance - rows / 2, 0), covariance)
    phi = share(covariance, np.sqrt(right * (rows - right) * other * (rows - other)), 0.0)
    frame = frame.assign(**{"P@1_other": two, "difference": one - two})
    for end, sign, a, b in (("low", -1, below_one, above_two), ("high", 1, above_one, below_two)):
        frame[end] = frame["difference"] + sign * np.sqrt(np.maximum(a**2 - 2 * phi * a * b + b**2, 0))
    p = 2 * stats.binom.cdf(np.minimum(right, other) - both, right + other - 2 * both, 0.5)
    return frame, np.minimum(p, 1.0)


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
        for low, high, rows in _parts(of_rows, NUMBERS_OF_LABELS if kind == "number of labels" else None):
            if least <= rows.size <= n - least:
                yield kind, f"{kind}: {low:,}" + f"–{high:,}" * bool(low < high), -1, rows
    for column in () if dataset.columns is None else dataset.columns:
        for name, rows in groups_of_column(dataset.columns[column].iloc[dataset.n_train :]):
            if least <= rows.size <= n - least:
                yield "column", name, -1, rows
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


def groups_of_column(values) -> Iterator[tuple[str, np.ndarray]]:
    """Yield groups of rows by a column: its most frequent values or four parts of numbers; then rows without one."""
    if isinstance(values.dtype, pd.CategoricalDtype) or values.nunique() <= VALUES:
        for value in values.value_counts().index[:VALUES]:
            name = value if isinstance(value, str) else f"{value:.10g}"
            yield f"{values.name} = {name}", np.flatnonzero(values == value)
    else:
        known = np.flatnonzero(values.notna())
        for low, high, rows in _parts(values.to_numpy()[known]):
            yield f"{values.name} = {low:.10g}" + f"–{high:.10g}" * bool(low < high), known[rows]
    yield f"{values.name} without a value", np.flatnonzero(values.isna())


def _parts(numbers, ends=None):
    """Yield parts of numbers, by default between quartiles: the smallest and largest number of each, and its rows."""
    ends = np.unique(np.quantile(numbers, (0.25, 0.5, 0.75), method="lower")) if ends is None else ends
    part = np.searchsorted(ends, numbers)
    for rows in (np.flatnonzero(part == each) for each in np.unique(part)):
        yield numbers[rows].min(), numbers[rows].max(), rows
