"""OneVsRest: one linear classifier per label, trained by scikit-learn's liblinear; the baseline for few labels."""

from xmlcore.models.one_vs_rest.estimator import OneVsRest

__all__ = ["OneVsRest"]
