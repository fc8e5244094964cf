"""Rows for people: which rows the model expects to get wrong, and how good the rest is without them."""

import numpy as np

from xmlcore.decisions.calibrating import calibration_of
from xmlcore.decisions.held_out import held_out
from xmlcore.first_use import pd
from xmlcore.metrics.calibration import wilson
from xmlcore.models.rules import CANDIDATES
from xmlcore.typing import DataFrame, Labels, Matrix, Ranker
from xmlcore.validation import check_count

STEPS = 50


def abstention(model: Ranker, X: Matrix, Y: Labels, k: int = 1, *, n_candidates: int = CANDIDATES) -> "DataFrame":
    """Return how precise the first k labels are when the rows that the model is least sure of are left to people.

    Parameters
    ----------
    model : Ranker
        A fitted model, whose scores are in [0, 1].
    X, Y : rows and labels, as the model's ``fit`` takes them
        Rows that the model was not fitted to.
    k : int
    n_candidates : int
        On how many labels of each row scores are calibrated.

    Returns
    -------
    DataFrame
        A line for each share of rows left to people, from 0: ``by hand``; ``expected``, the smallest expected precision
        of a row that is kept, by which later rows are told apart; ``P@k`` of the rows that are kept, with ``low`` and
        ``high``, Wilson's 95 % interval (of k labels of n rows as if of n rows); ``rows``, that are kept.
    """
    k, n_candidates = check_count(k, "k"), check_count(n_candidates, "n_candidates")
    found = held_out(model, X, Y, max(k, n_candidates))
    p = found.probabilities(calibration_of(found)).data
    n, (order, place) = found.Y.shape[0], found.ranked(p)
    first = order[place < k]
    hits, expected = (np.bincount(found.row[first], part[first], minlength=n) / k for part in (found.right, p))
    surest = np.argsort(-expected, kind="stable")
    kept = np.unique(np.maximum(1, np.round(n * (1 - np.arange(STEPS) / STEPS)).astype(int)))[::-1]
    precision = np.cumsum(hits[surest])[kept - 1] / kept
    low, high = wilson(precision, kept)
    columns = {"by hand": 1 - kept / n, "expected": expected[surest][kept - 1], f"P@{k}": precision}
    return pd.DataFrame(columns | {"low": low, "high": high, "rows": kept})
