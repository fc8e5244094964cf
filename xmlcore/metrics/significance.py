"""Whether models differ: tests over the rows of one data set, and over several data sets, as in docs/measures.md."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from xmlcore.first_use import pd
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._row_counts import (
    RESAMPLES,
    Statistics,
    bootstrap_values,
    check_item,
    check_resampling,
    interval,
    of_several,
    swapped_differences,
)
from xmlcore.metrics.measures import LABELS
from xmlcore.typing import ArrayLike, DataFrame, Labels, Predictions
from xmlcore.validation import check_is, check_number

SURE = 0.05  # differences with a smaller p-value are called real

ROUNDING = 1e-12  # differences of measures that are closer than this are equal


@dataclass(frozen=True)
class Difference:
    """The difference of two models in one measure."""

    measure: str
    k: int
    value_a: float
    value_b: float
    difference: float  # ``value_a - value_b``; a negative one is in favour of a where smaller is better
    low: float  # ends of the bootstrap interval of the difference
    high: float
    p_value: float  # two-sided; above 0 and at most 1, nan where the measure is not defined
    test: str  # "bootstrap" or "permutation"
    exact: bool  # whether every way to swap rows was taken once, so that the p-value does not depend on the seed
    n_rows: int
    n_resamples: int  # resamples or permutations behind the p-value
    confidence: float


def paired_bootstrap(
    Y_true: Labels,
    ranking_a: Predictions,
    ranking_b: Predictions,
    measure: str | Callable[..., object] = "P@k",
    k: int = 1,
    *,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    n_resamples: int = RESAMPLES,
    confidence: float = 0.95,
    random_state: int = 0,
    hierarchy: Hierarchy | None = None,
) -> Difference:
    """Return the difference of two models in a measure, with its bootstrap interval and p-value.

    {Parameters: Y_true, ranking_a, measure, inv_ps, labels, n_labels, resampling, hierarchy}

    Examples
    --------
    >>> from xmlcore import metrics
    >>> Y = [[0]] * 10
    >>> found = metrics.paired_bootstrap(Y, [[0]] * 8 + [[1]] * 2, [[0]] * 2 + [[1]] * 8)
    >>> round(found.difference, 2), found.p_value < 0.05
    (0.6, True)
    """
    n_resamples, confidence = check_resampling(n_resamples, confidence, random_state)
    item = check_item(measure, k, inv_ps, labels, hierarchy)
    a, b = _both(Y_true, ranking_a, ranking_b, item, inv_ps, labels, n_labels, hierarchy)
    return _with_intervals(a, b, *bootstrap_values([a, b], n_resamples, random_state), confidence)[0]


def paired_permutation(
    Y_true: Labels,
    ranking_a: Predictions,
    ranking_b: Predictions,
    measure: str | Callable[..., object] = "P@k",
    k: int = 1,
    *,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    n_permutations: int = 2000,
    n_resamples: int = RESAMPLES,
    confidence: float = 0.95,
    random_state: int = 0,
    hierarchy: Hierarchy | None = None,
) -> Difference:
    """Return the difference of two models in a measure, with the p-value of a permutation test over rows.

    {Parameters: Y_true, ranking_a, measure, inv_ps, labels, n_labels, n_permutations, resampling, hierarchy}

    Examples
    --------
    >>> from xmlcore import metrics
    >>> found = metrics.paired_permutation([[0]] * 4, [[0]] * 4, [[1]] * 4)
    >>> found.p_value, found.exact  # 2 of the 16 ways have such a difference: as it is, and all rows swapped
    (0.125, True)
    """
    n_permutations, _ = check_resampling(n_permutations, confidence, random_state, "n_permutations")
    n_resamples, confidence = check_resampling(n_resamples, confidence, random_state)
    item = check_item(measure, k, inv_ps, labels, hierarchy)
    a, b = _both(Y_true, ranking_a, ranking_b, item, inv_ps, labels, n_labels, hierarchy)
    found = _with_intervals(a, b, *bootstrap_values([a, b], n_resamples, random_state), confidence)
    return _permuted(a, b, found, n_permutations, random_state)[0]


def compare_rankings(
    Y_true: Labels,
    rankings: dict[str, Any],
    measure: str | Callable[..., object] | list[str] = "P@k",
    k: int = 1,
    *,
    reference: str | None = None,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    n_permutations: int = 2000,
    n_resamples: int = RESAMPLES,
    confidence: float = 0.95,
    random_state: int = 0,
    hierarchy: Hierarchy | None = None,
) -> "DataFrame":
    """Compare several models on the rows of one data set, with Holm's correction for the number of all tests.

    {Parameters: Y_true}
    rankings : dict
        What each model ranks for the same rows, by the name of the model.
    {measure}
        A list as ``measure`` has several, with their places: ``["P@1", "PSP@5"]``.
    reference : str, optional
        Name of a model: compare it with each other one. None compares all pairs.
    {inv_ps, labels, n_labels, n_permutations, resampling, hierarchy}

    Returns
    -------
    DataFrame
        A line per pair and measure: ``a``, ``b`` (names), ``measure``, ``k``, ``value_a``, ``value_b``,
        ``difference``, ``low``, ``high``, ``p_value`` (of the permutation test), ``p_holm`` (corrected by :func:`holm`
        for all lines), ``exact``. Intervals are those of single comparisons.
    """
    check_is(rankings, Mapping, "rankings", "a dict of what each model ranks, by its name,")
    names = list(rankings)
    if len(names) < 2:
        raise ValueError(f"rankings has {len(names)} model(s): a comparison needs at least two")
    if reference is not None and reference not in rankings:
        raise ValueError(f"reference is {reference!r:.200}: it must be one of {', '.join(map(str, names)):.200}")
    n_permutations, _ = check_resampling(n_permutations, confidence, random_state, "n_permutations")
    n_resamples, confidence = check_resampling(n_resamples, confidence, random_state)
    items = _items(measure, k, inv_ps, labels, hierarchy)
    most = max(item.k for item in items)
    counts = of_several(Y_true, rankings.values(), most, inv_ps, labels, n_labels, hierarchy)
    statistics = {name: Statistics(one, items) for name, one in zip(names, counts)}
    values = dict(zip(names, bootstrap_values(list(statistics.values()), n_resamples, random_state)))
    if reference is None:
        pairs = list(combinations(names, 2))
    else:
        pairs = [(reference, name) for name in names if name != reference]
    lines = []
    for one, other in pairs:
        a, b = statistics[one], statistics[other]
        found = _with_intervals(a, b, values[one], values[other], confidence)
        for test in _permuted(a, b, found, n_permutations, random_state):
            lines.append({"a": one, "b": other, **vars(test)})
    frame = pd.DataFrame(lines).assign(p_holm=holm([line["p_value"] for line in lines]))
    head = ["a", "b", "measure", "k", "value_a", "value_b", "difference", "low", "high"]
    return frame[[*head, "p_value", "p_holm", "exact"]]


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return p-values corrected for their number by Holm's method.

    If all comparisons with a corrected p-value below x are called significant, the probability of at least one false
    discovery is at most x.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        In [0, 1]; nan stays nan and is not counted.

    Returns
    -------
    ndarray of float64, shape (m,)
        At least as large as the given ones, and at most 1.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    try:
        p = np.asarray(p_values, dtype=np.float64)
    except (TypeError, ValueError):  # NumPy would say all of it
        p = np.empty((0, 0))
    if p.ndim != 1 or (p < 0).any() or (p > 1).any():
        raise ValueError("p_values must be numbers between 0 and 1, in one dimension")
    corrected = np.full(p.size, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(order.size, 0, -1)), 1.0)
    return corrected


def _items(measure, k, *of_labels) -> list:
    if not isinstance(measure, list):
        return [check_item(measure, k, *of_labels)]
    places = [str(name).rpartition("@") for name in measure]
    if not places or not all(at.isdecimal() for _, _, at in places):
        raise ValueError(f"measure is {measure!r:.200}: a list has a name with its place or more, such as 'P@1'")
    return [check_item(f"{name}@k", int(at), *of_labels) for name, _, at in places]


def _both(Y_true, ranking_a, ranking_b, item, *of_labels):
    counts = of_several(Y_true, (ranking_a, ranking_b), item.k, *of_labels)
    return tuple(Statistics(one, [item]) for one in counts)


def _with_intervals(a, b, values_a, values_b, confidence) -> list[Difference]:
    """Return the differences in each measure, with intervals and p-values from the values of resamples."""
    measured_a, measured_b, resampled = a.measured(), b.measured(), values_a - values_b
    of_labels = np.array([item.measure.kind == LABELS for item in a.items])
    ends = interval(measured_a - measured_b, resampled, confidence, of_labels)
    found = []
    for i, (item, value_a, value_b, low, high) in enumerate(zip(a.items, measured_a, measured_b, *ends)):
        difference, known = float(value_a - value_b), resampled[~np.isnan(resampled[:, i]), i]
        if known.size and of_labels[i]:
            known = known + (difference - known.mean())
        tail = min((known <= ROUNDING).sum(), (known >= -ROUNDING).sum())
        is_known = known.size and difference == difference
        test = Difference(
            measure=item.measure.name,
            k=item.k,
            value_a=float(value_a),
            value_b=float(value_b),
            difference=difference,
            low=float(low),
            high=float(high),
            p_value=min(1.0, 2 * (int(tail) + 1) / (known.size + 1)) if is_known else np.nan,
            test="bootstrap",
            exact=False,
            n_rows=a.n,
            n_resamples=known.size,
            confidence=confidence,
        )
        found.append(test)
    return found


def _permuted(a, b, tests, n_permutations, random_state) -> list[Difference]:
    """Return the differences with p-values from swapped rankings, the same rows for all measures."""
    swapped, exact = swapped_differences(a, b, n_permutations, random_state)
    as_extreme = (np.abs(swapped) >= np.abs([test.difference for test in tests]) - ROUNDING).sum(axis=0)
    p_values = as_extreme / len(swapped) if exact else (as_extreme + 1) / (len(swapped) + 1)
    changed = {"test": "permutation", "exact": exact, "n_resamples": len(swapped)}
    return [
        replace(test, p_value=float(p) if test.difference == test.difference else np.nan, **changed)
        for test, p in zip(tests, p_values)
    ]


# Over several data sets -----------------------------------------------------------------------------------------------


def wilcoxon(frame: "DataFrame | ArrayLike") -> "DataFrame":
    """Return the p-values of Wilcoxon's two-sided signed-rank test over data sets, for each pair of methods.

    The test is SciPy's, which is exact for small samples without ties and leaves out differences of 0.

    {Parameters: by_data_set}

    Returns
    -------
    pandas.DataFrame
        Methods by methods, symmetric. 1 on the diagonal, and where two methods have equal values on all data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.metrics import wilcoxon
    >>> frame = pd.DataFrame({"A": [1.0, 2, 3, 4, 5, 6], "B": [1.5, 3, 4.2, 5.7, 7.1, 9]})
    >>> wilcoxon(frame).loc["A", "B"].item()
    0.03125
    """
    from scipy import stats

    frame = _as_data_frame(frame)
    values = _values(frame)
    p_values = np.ones((values.shape[1], values.shape[1]))
    for i in range(values.shape[1]):
        for j in range(i):
            if (values[:, i] != values[:, j]).any():
                p_values[i, j] = p_values[j, i] = stats.wilcoxon(values[:, i], values[:, j]).pvalue
    return pd.DataFrame(p_values, index=list(frame.columns), columns=list(frame.columns))


class Friedman(NamedTuple):
    """Mean ranks of methods over data sets, and which of them differ."""

    ranks: object  # DataFrame: ``method`` and ``rank``, mean over data sets, best first
    statistic: float  # Friedman's chi-squared
    p_value: float  # of Friedman's test
    critical_difference: float  # least difference of two mean ranks that Nemenyi's test finds, at the level given
    p_values: object  # DataFrame, methods by methods: Nemenyi's test of each pair
    n_data_sets: int


def friedman(frame: "DataFrame | ArrayLike", alpha: float = 0.05, larger_is_better: bool = True) -> Friedman:
    """Rank methods on each data set, and test whether their mean ranks differ: Friedman's test, and Nemenyi's.

    Methods whose mean ranks differ by less than the critical difference (docs/measures.md) are not told apart.

    {Parameters: by_data_set}
    alpha : float
        Level of the critical difference; between 0 and 1.
    larger_is_better : bool
        Whether the largest value has rank 1.

    Returns
    -------
    Friedman
        Equal values share their mean rank. ``p_value`` is that of the chi-squared distribution, which is rough for
        fewer than ten data sets or five methods; of two, :func:`wilcoxon` finds more.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.metrics import friedman
    >>> frame = pd.DataFrame({"A": [1.0, 2, 3, 4], "B": [0.5, 1, 2, 3], "C": [0.1, 0, 1, 2]})
    >>> found = friedman(frame)
    >>> found.ranks["rank"].tolist(), round(found.critical_difference, 3)
    ([1.0, 2.0, 3.0], 1.657)
    """
    from scipy import stats

    frame = _as_data_frame(frame)
    values = _values(frame)
    n, m = values.shape
    if n < 2:
        raise ValueError(f"frame has {n} data set: mean ranks need at least two")
    alpha = check_number(alpha, "alpha", 0.0, 1.0, above=True, below=True)
    ranks = stats.rankdata(-values if larger_is_better else values, axis=1)
    means = ranks.mean(axis=0)
    spread = float(((ranks - (m + 1) / 2) ** 2).sum())  # 0 if all methods are equal everywhere
    statistic = n * n * (m - 1) * float(((means - (m + 1) / 2) ** 2).sum()) / spread if spread else 0.0
    scale = np.sqrt(m * (m + 1) / (6 * n))
    studentized = stats.studentized_range
    order = np.argsort(means, kind="stable")
    names = list(frame.columns)
    apart = np.abs(means[:, None] - means[None, :]) / scale * np.sqrt(2)
    p_values = np.where(apart > 0, studentized.sf(apart, m, np.inf), 1.0)
    return Friedman(
        ranks=pd.DataFrame({"method": [names[i] for i in order], "rank": means[order]}),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, m - 1)),
        critical_difference=float(studentized.ppf(1 - alpha, m, np.inf) / np.sqrt(2) * scale),
        p_values=pd.DataFrame(p_values, index=names, columns=names),
        n_data_sets=n,
    )


def _as_data_frame(frame):
    if isinstance(frame, pd.DataFrame):
        return frame
    try:  # without dtype object, one text among the values would make NumPy convert all numbers to text
        values = np.asarray(frame, None if isinstance(frame, np.ndarray) else object)
    except ValueError as error:
        raise ValueError("frame is no matrix: its rows have different lengths, but must have the same") from error
    if values.ndim != 2:
        raise ValueError(
            f"frame is a {type(frame).__name__} of shape {values.shape}: a DataFrame or rows of equal length are "
            "needed, a row per data set and a column per method"
        )
    return pd.DataFrame(values)


def _values(frame) -> np.ndarray:
    """Return the table as float64; raise ValueError or TypeError unless two or more methods have finite numbers."""
    if frame.shape[1] < 2 or frame.shape[0] == 0:
        raise ValueError(f"frame has shape {frame.shape}: a row per data set and at least two methods are needed")
    _refuse(frame, frame.isna(), "leave the method or the data set out")
    is_number = frame.map(lambda value: isinstance(value, (numbers.Real, np.bool_)))
    _refuse(frame, ~is_number, "real numbers are needed, and names of data sets as index", TypeError)
    values = frame.to_numpy(np.float64)
    _refuse(frame, np.isinf(values), "infinite values have no order: leave the method or the data set out")
    return values


def _refuse(frame, wrong, why, error=ValueError) -> None:
    """Raise an error about the first value of a frame that is wrong, with its method and data set."""
    for row, column in np.argwhere(np.asarray(wrong))[:1]:
        value = frame.iloc[row, column]
        value = value.item() if isinstance(value, np.generic) else value
        raise error(f"frame has {value!r:.200} for {frame.columns[column]} on {frame.index[row]}: {why}")
