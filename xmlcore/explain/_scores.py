"""Scores that explanations add up to, as probabilities."""

import math


def probability(kind: str, score: float) -> float | None:
    """Return the probability that a score stands for.

    Parameters
    ----------
    kind : {"log_proba", "margin", "share", "score"}
        As in ``attrs["kind"]`` of :func:`xmlcore.explain.contributions`.
    score : float
        A baseline or a total.

    Returns
    -------
    float or None
        In [0, 1]; None for "score", which is no probability.
    """
    if kind == "log_proba":
        return math.exp(score)
    if kind == "margin":
        return 1 / (1 + math.exp(-score)) if score > -700 else 0.0
    return score if kind == "share" else None
