"""Scorers for scikit-learn's model selection: P@5 and its kind as ``scoring=``."""

import re

import numpy.typing as npt

from xmlcore.metrics import ranking
from xmlcore.validation import check_count

PLAIN = {"P": ranking.precision_at_k, "R": ranking.recall_at_k, "nDCG": ranking.ndcg_at_k}
WEIGHTED = {
    "PSP": ranking.psprecision_at_k,
    "PSR": ranking.psrecall_at_k,
    "PSDCG": ranking.psdcg_at_k,
    "PSnDCG": ranking.psndcg_at_k,
}


def scorer(measure: str, inv_ps: npt.ArrayLike | None = None) -> "Scorer":
    """Return a scorer of top-k predictions for ``GridSearchCV(..., scoring=)`` and scikit-learn's other tools.

    Without ``scoring`` these tools use the method ``score`` of the models, which is "P@1".

    Parameters
    ----------
    measure : str
        A measure and its k: "P@5", "R@10", "nDCG@3", and with ``inv_ps`` "PSP@5", "PSR@5", "PSDCG@5" and "PSnDCG@5".
        They are the last values of :func:`precision_at_k`, :func:`recall_at_k` and so on.
    inv_ps : array_like of float, shape (L,), optional
        Weight of each label, for the propensity-scored measures: :func:`inverse_propensity` of the training labels.

    Returns
    -------
    Scorer
        A callable ``(estimator, X, Y) -> float``; larger is better. The estimator has ``predict_topk``, or else
        ``predict_proba`` with a column per label; it may be the last step of a ``Pipeline``, or in a fitted search.

    Raises
    ------
    ValueError
        The measure is unknown.
    TypeError
        ``inv_ps`` is missing, or given for a measure that takes none.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from xmlcore import PLT, metrics
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 4, [[0], [1, 2]] * 4
    >>> search = GridSearchCV(PLT(), {"C": [0.1, 10]}, scoring=metrics.scorer("P@1"), cv=KFold(2)).fit(X, Y)
    >>> float(search.best_score_)
    1.0
    """
    return Scorer(measure, inv_ps)


class Scorer:
    """A scorer made by :func:`scorer`; a class so that it can be sent to other processes."""

    def __init__(self, measure, inv_ps=None):
        known = [f"{name}@k" for name in (*PLAIN, *WEIGHTED)]
        parts = re.fullmatch(r"(\w+)@(\d+)", measure) if isinstance(measure, str) else None
        if parts is None or parts[1] not in PLAIN | WEIGHTED:
            raise ValueError(f"measure must be one of {', '.join(known)}, such as 'P@5', not {measure!r}")
        self.name, self.k = parts[1], check_count(int(parts[2]), "k")
        if (self.name in WEIGHTED) != (inv_ps is not None):
            needed = "needs" if self.name in WEIGHTED else "takes no"
            raise TypeError(f"{self.name}@k {needed} inv_ps, the weight of each label")
        self.inv_ps = inv_ps

    def __repr__(self):
        return f"scorer('{self.name}@{self.k}'{', inv_ps' if self.inv_ps is not None else ''})"

    def __call__(self, estimator, X, Y) -> float:
        """Return the measure of the estimator's predictions for the rows X with the true labels Y."""
        predictions, last = _predictions(estimator, X, self.k)
        if hasattr(last, "label_ids"):  # its labels are names
            Y = last.label_ids(Y)
        if self.inv_ps is None:
            return float(PLAIN[self.name](Y, predictions, self.k)[-1])
        return float(WEIGHTED[self.name](Y, predictions, self.inv_ps, self.k)[-1])


def _predictions(estimator, X, k):
    """Return a ranking of k labels, or scores of all labels, by the last step of a nested estimator, and this step."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            for _, step in estimator.steps[:-1]:
                if step not in (None, "passthrough"):
                    X = step.transform(X)
            estimator = estimator.steps[-1][1]
        else:
            break
    if hasattr(estimator, "predict_topk"):
        return estimator.predict_topk(X, k), estimator
    return estimator.predict_proba(X), estimator
