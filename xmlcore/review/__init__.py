"""Labels that are probably wrong or missing; data with a reviewer's corrections; and rows where a model is weak."""

from xmlcore.review.correcting import DECISIONS, corrected
from xmlcore.review.doubting import by_label, doubts
from xmlcore.review.slicing import slices

__all__ = ["DECISIONS", "by_label", "corrected", "doubts", "slices"]
