"""Scorers for scikit-learn's model selection: P@5 and its kind as ``scoring=``."""

from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._row_counts import check_k
from xmlcore.metrics.at_k import values_at_k
from xmlcore.metrics.measures import MEASURES, SCORE_MEASURES, Measure
from xmlcore.typing import ArrayLike, Labels, Predictions
from xmlcore.validation import check_labels
from xmlcore.wording import meant


def scorer(measure: str, inv_ps: ArrayLike | None = None, hierarchy: Hierarchy | None = None) -> "Scorer":
    """Return a scorer of top-k predictions for ``GridSearchCV(..., scoring=)`` and scikit-learn's other tools.

    Without ``scoring`` these tools use the method ``score`` of the models, which is "P@1".

    Parameters
    ----------
    measure : str
        A measure of :data:`xmlcore.metrics.MEASURES` and its k, such as "P@5", "macro F1@10", or with ``inv_ps``
        "PSP@5"; or one of :data:`xmlcore.metrics.SCORE_MEASURES`, such as "ranking loss".
    {inv_ps, hierarchy}

    Returns
    -------
    Scorer
        A callable ``(estimator, X, Y) -> float``; larger is better: of a measure of which smaller values are better,
        it is the negative, as in scikit-learn. The estimator has ``predict_topk``, or else ``predict_proba`` with a
        column per label, which measures of scores need; it may be the last step of a ``Pipeline``, or in a fitted
        search. "Hamming loss" measures the labels that ``predict`` decides for.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from xmlcore import PLT, metrics
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 4, [[0], [1, 2]] * 4
    >>> search = GridSearchCV(PLT(), {"C": [0.1, 10]}, scoring=metrics.scorer("P@1"), cv=KFold(2)).fit(X, Y)
    >>> float(search.best_score_)
    1.0
    """
    return Scorer(measure, inv_ps, hierarchy)


def value(
    Y_true: Labels,
    ranking: Predictions,
    measure: str,
    *,
    inv_ps: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    hierarchy: Hierarchy | None = None,
) -> float:
    """Return one measure as one number, where ``precision_at_k`` and its like return the values at 1..k.

    {Parameters: Y_true, ranking}
    measure : str
        A measure and its k, such as "P@3", as for :func:`scorer`.
    {inv_ps, labels, n_labels, hierarchy}

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.value([[0, 1], [2]], [[1, 0], [0, 1]], "P@2")
    0.5
    """
    described, k = _measure_at(measure, inv_ps)
    if k is None:
        if labels is not None:
            raise ValueError(f"{measure} is no measure of some labels: leave out labels")
        if n_labels is not None:
            Y_true = check_labels(Y_true, n_labels=n_labels, name="Y_true")
        return float(described.compute(Y_true, ranking))
    return float(values_at_k(Y_true, ranking, k, [described.name], labels, n_labels, inv_ps, hierarchy)[0, -1])


class Scorer:
    """A scorer made by :func:`scorer`; a class so that it can be sent to other processes."""

    def __init__(self, measure, inv_ps=None, hierarchy=None):
        described, self.k = _measure_at(measure, inv_ps)
        self.measure, self.inv_ps, self.sign = measure, inv_ps, -1 if described.smaller_is_better else 1
        self.hierarchy = hierarchy
        self.of_decisions = described.needs == "decisions"

    def __repr__(self):
        return f"scorer('{self.measure}'{', inv_ps' if self.inv_ps is not None else ''})"

    def __call__(self, estimator, X, Y) -> float:
        """Return the measure of the estimator's predictions for the rows X with the true labels Y, or its negative."""
        predictions, last = _predictions(estimator, X, self.k, self.of_decisions)
        if hasattr(last, "label_ids"):  # its labels are names
            Y = last.label_ids(Y)
        of = {"inv_ps": self.inv_ps, "n_labels": getattr(last, "n_labels_", None), "hierarchy": self.hierarchy}
        return self.sign * value(Y, predictions, self.measure, **of)


def _measure_at(measure, inv_ps) -> tuple[Measure, int | None]:
    """Return the measure with a name such as "P@3", and its k; None for one of scores, which has no k."""
    name, _, k = measure.rpartition("@") if isinstance(measure, str) else ("", "", "")
    described = MEASURES.get(f"{name}@k") if k.isdecimal() else SCORE_MEASURES.get(k) if not name else None
    if described is None:
        known = ", ".join([*MEASURES, *SCORE_MEASURES])
        at = k[:9] if k.isdecimal() else "5"
        question = meant([measure], [*(one.replace("@k", f"@{at}") for one in MEASURES), *SCORE_MEASURES])
        raise ValueError(
            f"measure must be one of {known}, with a number for k, such as 'P@5', not {measure!r:.200}{question}"
        )
    is_weighted = described.needs == "inv_ps"
    if is_weighted != (inv_ps is not None):
        raise TypeError(f"{described.name} {'needs' if is_weighted else 'takes no'} inv_ps, the weight of each label")
    return described, check_k(int(k)) if name else None


def _last_step(estimator, X):
    """Return the last step of a nested estimator, and X as the steps before it transform it."""
    while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            continue
        for _, step in estimator.steps[:-1]:
            if step not in (None, "passthrough"):
                X = step.transform(X)
        estimator = estimator.steps[-1][1]
    return estimator, X


def _predictions(estimator, X, k, of_decisions):
    """Return a ranking, decisions or scores of all labels by the last step of a nested estimator, and this step."""
    estimator, X = _last_step(estimator, X)
    if k is not None and hasattr(estimator, "predict_topk"):
        return estimator.predict_topk(X, k), estimator
    if of_decisions:
        decided = estimator.predict(X)
        if getattr(decided, "ndim", 0) != 2 and hasattr(estimator, "label_ids"):  # names, or one class for each row
            decided = check_labels(estimator.label_ids(decided), n_labels=estimator.n_labels_)
        if getattr(decided, "ndim", 0) == 2:
            return decided, estimator
    return estimator.predict_proba(X), estimator
