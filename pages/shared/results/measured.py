"""Measures of a result with intervals, its calibration, and what measures mean."""

from pages.shared import server
from pages.shared.results import results
from xmlcore import metrics

HEADLINE = ("P@k", "nDCG@k", "PSP@k", "macro P@k", "coverage@k", "abandonment@k")
INTERVAL = (
    "If the test rows were drawn anew from rows like these, the measure would lie in such an interval in 95 of 100 "
    "cases. It comes from drawing the test rows with replacement 1,000 times (bootstrap). It does not include what "
    "another seed or other training rows would change."
)
_OF_PAIRS = {
    "P": "share of the predictions that are right",
    "R": "share of the true labels that are predicted",
    "F1": "harmonic mean of precision and recall",
}
_AVERAGES = {
    "micro": "over all pairs of a row and a label",
    "macro": "of each label with a test row, then their mean: a rare label counts as much as a frequent one",
    "weighted": "of each label, then their mean weighted by the test rows that have it",
    "samples": "of each row, then their mean",
}
MEANING = {
    "P@k": "share of the k predicted labels that are right",
    "R@k": "share of a row’s true labels among the k predicted",
    "nDCG@k": "right labels count more the earlier they come; 100\u00a0% is the best possible order",
    "PSP@k": "propensity-scored P@k: rare labels count more; 100\u00a0% is the best possible value",
    "PSR@k": "PSP@k in which a row counts less the more labels it has; 100\u00a0% is the best possible value",
    "PSDCG@k": "PSP@k in which the first places count more",
    "PSnDCG@k": "nDCG@k in which rare labels count more",
    "abandonment@k": "share of the rows without a right label among the k predicted; smaller is better",
    "subset accuracy@k": "share of the rows whose k predicted labels are exactly the true ones",
    "Hamming loss@k": "share of all pairs of a row and a label that are wrong; smaller is better",
    **{f"{average} {of}@k": f"{text}, {over}" for average, over in _AVERAGES.items() for of, text in _OF_PAIRS.items()},
    "macro P@k": "precision of each label, then their mean: a rare label counts as much as a frequent one",
    "coverage@k": "of the labels that occur in test rows, the share that is predicted correctly at least once",
}


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
