"""Labels that are probably wrong, and labels that are probably missing; and data with the corrections of a reviewer."""

from xmlcore.review.correcting import DECISIONS, corrected
from xmlcore.review.doubting import by_label, doubts

__all__ = ["DECISIONS", "by_label", "corrected", "doubts"]
