"""Intervals of measures, by drawing the test rows again with replacement; see docs/measures.md."""

from collections.abc import Sequence

import numpy as np

from xmlcore.first_use import pd
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._row_counts import (
    RESAMPLES,
    RowCounts,
    Statistics,
    bootstrap_values,
    check_item,
    check_k,
    check_resampling,
    interval,
    of_several,
)
from xmlcore.metrics.measures import LABELS, MEAN, MEASURES, UNWEIGHTED, USUAL_MEASURES
from xmlcore.typing import ArrayLike, DataFrame, Labels, Predictions
from xmlcore.validation import check_list


def intervals(
    Y_true: Labels,
    ranking: Predictions,
    k: int | Sequence[int] = 5,
    *,
    measures: Sequence[str] | None = None,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    n_resamples: int = RESAMPLES,
    confidence: float = 0.95,
    random_state: int = 0,
    hierarchy: Hierarchy | None = None,
) -> "DataFrame":
    """Return measures with bootstrap intervals over rows.

    {Parameters: Y_true, ranking}
    k : int or sequence of int
        A number stands for 1..k.
    measures : sequence of str, optional
        Names in :data:`xmlcore.metrics.MEASURES`, such as "P@k", "macro F1@k" or "coverage@k". None: "P@k", "R@k" and
        "nDCG@k", and with ``inv_ps`` also "PSP@k" and "PSnDCG@k", as for :func:`xmlcore.metrics.measures`.
    {inv_ps, labels, n_labels, resampling, hierarchy}

    Returns
    -------
    DataFrame
        A line per measure and k: ``measure``, ``k``, ``value``, ``low``, ``high``. ``value`` is what the function of
        the measure returns; all three are nan where it is not defined.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> Y, ranking = [[0], [1], [1], [0]], [[0], [1], [0], [0]]
    >>> metrics.intervals(Y, ranking, 1, measures=["P@k"]).round(2).to_dict("records")
    [{'measure': 'P@k', 'k': 1, 'value': 0.75, 'low': 0.25, 'high': 1.0}]
    """
    settings = (measures, inv_ps, labels, n_labels, n_resamples, confidence, random_state)
    return intervals_of_several(Y_true, [ranking], k, *settings, hierarchy=hierarchy)[0]


def intervals_of_several(
    Y_true: Labels,
    rankings: Sequence[Predictions],
    k: int | Sequence[int] = 5,
    measures: Sequence[str] | None = None,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    n_resamples: int = RESAMPLES,
    confidence: float = 0.95,
    random_state: int = 0,
    best: bool = False,
    hierarchy: Hierarchy | None = None,
) -> "list[DataFrame]":
    """Return the tables of :func:`intervals` for several rankings of the same rows.

    With ``best``, the tables have a column of this name: whether the ranking is significantly better in the measure
    than each other one, which is so if the interval of the difference, over the same resamples, does not reach 0.
    """
    n_resamples, confidence = check_resampling(n_resamples, confidence, random_state)
    if measures is None:
        measures = UNWEIGHTED if inv_ps is None else USUAL_MEASURES
    one = isinstance(k, (int, np.integer)) and not isinstance(k, bool)
    ks = range(1, check_k(k) + 1) if one else check_list(k, "k")
    measures = check_list(measures, "measures", "names")
    items = [check_item(measure, at, inv_ps, labels, hierarchy) for measure in measures for at in ks]
    if not items:
        raise ValueError("there is nothing to measure: give at least one measure and one k of at least 1")
    most = max(item.k for item in items)
    rankings = check_list(rankings, "rankings", "what each model ranks")
    counts = of_several(Y_true, rankings, most, inv_ps, labels, n_labels, hierarchy)
    statistics = [Statistics(of_rows, items) for of_rows in counts]
    resampled = bootstrap_values(statistics, n_resamples, random_state) if statistics else []
    measured = [of_rows.measured() for of_rows in statistics]
    tables = [_table(items, *values, confidence) for values in zip(measured, resampled)]
    if best:
        leads = _leads(items, measured, resampled, confidence)
        tables = [table.assign(best=of_one) for table, of_one in zip(tables, leads)]
    return tables


def _leads(items, measured, resampled, confidence) -> np.ndarray:
    """Return whether each ranking is significantly better than each other: bool, shape (rankings, measures)."""
    signs = np.array([-1 if item.measure.smaller_is_better else 1 for item in items])
    centred = np.array([item.measure.kind == LABELS for item in items])
    leads = np.full((len(measured), len(items)), len(measured) > 1)
    for a, of_one in enumerate(leads):
        for b in set(range(len(measured))) - {a}:
            low, high = interval(measured[a] - measured[b], resampled[a] - resampled[b], confidence, centred)
            of_one &= np.where(signs > 0, low, -high) > 0
    return leads


def _table(items, values, resampled, confidence) -> "DataFrame":
    low, high = interval(values, resampled, confidence, np.array([item.measure.kind == LABELS for item in items]))
    return pd.DataFrame(
        {
            "measure": [item.measure.name for item in items],
            "k": [item.k for item in items],
            "value": values,
            "low": np.clip(low, 0.0, 1.0),
            "high": np.clip(high, 0.0, 1.0),
        }
    )


def per_row(
    Y_true: Labels, ranking: Predictions, measure: str = "P@k", k: int = 5, *, n_labels: int | None = None
) -> np.ndarray:
    """Return the value of a measure for each row; their mean is the measure."""
    known = [name for name, described in MEASURES.items() if described.kind == MEAN]
    if not isinstance(measure, str) or measure not in known:
        raise ValueError(f"measure is {measure!r:.200}: means over rows are {', '.join(known)}")
    return row_values(Y_true, ranking, [(measure, k)], n_labels=n_labels)[0]


def row_values(Y_true, ranking, measures, inv_ps=None, n_labels=None) -> list[np.ndarray]:
    """Return what measures, such as ``("P@k", 5)``, add up over rows; of a quotient, numerators and denominators."""
    items = [check_item(*measure, inv_ps) for measure in measures]
    counts = RowCounts(Y_true, ranking, max(item.k for item in items), inv_ps, n_labels=n_labels)
    return [values for item in items for values in counts.row_values(item)]
