"""Labels that are probably wrong or missing, with corrections; rows to label next; and where a model is weak."""

from xmlcore.review.correcting import DECISIONS, corrected
from xmlcore.review.doubting import by_label, doubts
from xmlcore.review.labelling import to_label
from xmlcore.review.slicing import slices

__all__ = ["DECISIONS", "by_label", "corrected", "doubts", "slices", "to_label"]
