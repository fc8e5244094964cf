"""Scorers for scikit-learn's model selection: P@5 and its kind as ``scoring=``."""

import numpy.typing as npt

from xmlcore.metrics.at_k import values_at_k
from xmlcore.metrics.measures import MEASURES
from xmlcore.validation import check_count


def scorer(measure: str, inv_ps: npt.ArrayLike | None = None) -> "Scorer":
    """Return a scorer of top-k predictions for ``GridSearchCV(..., scoring=)`` and scikit-learn's other tools.

    Without ``scoring`` these tools use the method ``score`` of the models, which is "P@1".

    Parameters
    ----------
    measure : str
        A measure and its k: "P@5", "macro F1@10", and with ``inv_ps`` "PSP@5". It is one of
        :data:`xmlcore.metrics.MEASURES` of which larger values are better.
    {inv_ps}

    Returns
    -------
    Scorer
        A callable ``(estimator, X, Y) -> float``; larger is better. The estimator has ``predict_topk``, or else
        ``predict_proba`` with a column per label; it may be the last step of a ``Pipeline``, or in a fitted search.

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
        known = [name for name, described in MEASURES.items() if not described.smaller_is_better]
        name, _, k = measure.rpartition("@") if isinstance(measure, str) else ("", "", "")
        if f"{name}@k" not in known or not k.isdecimal():
            raise ValueError(f"measure must be one of {', '.join(known)}, such as 'P@5', not {measure!r:.200}")
        self.name, self.k = name, check_count(int(k), "k")
        is_weighted = MEASURES[f"{name}@k"].needs == "inv_ps"
        if is_weighted != (inv_ps is not None):
            raise TypeError(f"{name}@k {'needs' if is_weighted else 'takes no'} inv_ps, the weight of each label")
        self.inv_ps = inv_ps

    def __repr__(self):
        return f"scorer('{self.name}@{self.k}'{', inv_ps' if self.inv_ps is not None else ''})"

    def __call__(self, estimator, X, Y) -> float:
        """Return the measure of the estimator's predictions for the rows X with the true labels Y."""
        predictions, last = _predictions(estimator, X, self.k)
        if hasattr(last, "label_ids"):  # its labels are names
            Y = last.label_ids(Y)
        return float(values_at_k(Y, predictions, self.k, [f"{self.name}@k"], inv_ps=self.inv_ps)[0, -1])


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
