"""OneVsRest: one linear classifier per label, each trained on all rows; the baseline for few labels."""

from xmlcore.models.one_vs_rest.estimator import OneVsRest

__all__ = ["OneVsRest"]
