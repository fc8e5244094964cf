"""Scores that explanations add up to, as probabilities."""

import math


def probability(kind: str, score: float) -> float | None:
    """Return the probability that a score of a kind, as in ``attrs["kind"]``, stands for; None for "score"."""
    if kind == "log_proba":
        return math.exp(score)
    if kind == "margin":
        return 1 / (1 + math.exp(-score)) if score > -700 else 0.0
    return score if kind == "share" else None
