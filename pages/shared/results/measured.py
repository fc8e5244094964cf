"""Measures of a result with intervals, and its calibration."""

from pages.shared import server
from pages.shared.results import results
from xmlcore import metrics

SHOWN_MEASURES = ("P@k", "nDCG@k", "PSP@k")  # in lists of results and in figures
HEADLINE = (*SHOWN_MEASURES, "macro F1@k", "macro P@k", "coverage@k", "abandonment@k")
INTERVAL = (
    "If the test rows were drawn anew from rows like these, the measure would lie in such an interval in 95 of 100 "
    "cases. It comes from drawing the test rows with replacement 1,000 times (bootstrap). It does not include what "
    "another seed or other training rows would change."
)


@server.shared(max_entries=500)
def headline(key: str):
    """Return the first measures of a run at the usual k, with 95 % intervals: ``measure, k, value, low, high``."""
    run = server.run(key)
    data = server.dataset(run.fingerprint)
    inv_ps = metrics.inverse_propensity(data.Y_train)
    return metrics.intervals(data.Y_test, run.ranking, results.KS, measures=HEADLINE, inv_ps=inv_ps)


@server.shared(max_entries=100)
def reliability(key: str, k: int, bins: str):
    """Return what :func:`xmlcore.metrics.reliability` does for a run whose scores are probabilities."""
    run = server.run(key)
    return metrics.reliability(server.dataset(run.fingerprint).Y_test, run.ranking, k, bins=bins)


@server.shared(max_entries=500)
def brier(key: str, k: int) -> float:
    """Return the Brier score of the first k labels of a run whose scores are probabilities."""
    run = server.run(key)
    return float(metrics.brier_score_at_k(server.dataset(run.fingerprint).Y_test, run.ranking, k)[-1])
