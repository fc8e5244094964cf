"""A row's labels on the scale of its explanations, as probabilities, and what changes when the row does."""

import math

import numpy as np
import scipy.sparse as sp

from xmlcore.explain._attribution import kind_of, unwrapped
from xmlcore.first_use import pd
from xmlcore.typing import ArrayLike, DataFrame, Matrix, Ranker
from xmlcore.validation import (
    check_count,
    check_features,
    check_is,
    check_label_ids,
    check_model,
    check_number,
    check_row,
)


def label_values(model: Ranker, x: Matrix, labels: ArrayLike) -> np.ndarray:
    """Return the scores of some labels of one row, all on the scale that explanations of the model have."""
    kind = kind_of(model)
    model = unwrapped(model)
    x = check_features(check_row(x), model.n_features_in_)
    labels = check_label_ids(labels, None, model.n_labels_)
    if kind == "score":
        return np.asarray(model.pair_features(x, labels[None, :]), np.float64)[0] @ np.asarray(model.weights_)
    if labels.size and hasattr(model, "label_probabilities"):
        return model.label_probabilities(sp.vstack([x] * labels.size, format="csr"), labels)
    return sp.csr_array(model.predict_proba(x))[:, labels].toarray()[0].astype(np.float64)


def what_if(model: Ranker, before: Matrix, after: Matrix, k: int = 5) -> "DataFrame":
    """Return the labels that a model predicts for a row before and after it was changed.

    Parameters
    ----------
    model : fitted estimator
        As in :func:`label_values`.
    before, after : sparse or dense, shape (D,) or (1, D)
        The row as it was, and changed.
    k : int
        Labels predicted for each.

    Returns
    -------
    DataFrame
        A row per label that is among the first k of at least one of the two: ``label``, ``rank_before`` and
        ``rank_after`` (from 1; ``<NA>`` beyond k), ``before`` and ``after`` (see :func:`label_values`). First those
        predicted after, by rank, then the others by their rank before.
    """
    check_model(model)
    k = check_count(k, "k")
    ranks = []
    for row in (before, after):
        best = np.asarray(model.predict_topk(sp.csr_array(check_row(row)), k).labels)[0]
        ranks.append({int(j): place for place, j in enumerate(best[best >= 0], 1)})
    first, then = ranks
    labels = np.array([*then, *(j for j in first if j not in then)], np.int64)
    return pd.DataFrame(
        {
            "label": labels,
            "rank_before": pd.array([first.get(j, pd.NA) for j in labels.tolist()], dtype="Int64"),
            "rank_after": pd.array([then.get(j, pd.NA) for j in labels.tolist()], dtype="Int64"),
            "before": label_values(model, before, labels),
            "after": label_values(model, after, labels),
        }
    )


def probability(kind: str, score: float) -> float | None:
    """Return the probability, or the score of ``predict_proba``, that a sum of contributions stands for.

    Parameters
    ----------
    kind : str
        ``attrs["kind"]`` of what :func:`xmlcore.explain.contributions` returns.
    score : float
        The sum.

    Returns
    -------
    float or None
        None for the kind "score".
    """
    check_is(kind, str, "kind", "a kind of explanation, such as 'log_proba',")
    score = score if score in (math.inf, -math.inf) else check_number(score, "score", -math.inf)
    if kind in ("log_proba", "log_score"):
        return math.exp(score)
    if kind in ("margin", "margin_score"):
        return 1 / (1 + math.exp(-score)) if score > -700 else 0.0
    return score if kind == "share" else None
