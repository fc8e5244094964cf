"""Explanations: what each feature of a row contributes to a label's score, and whether that can be trusted."""

from xmlcore.documented import document
from xmlcore.explain._attribution import (
    NOT_OF_FEATURES,
    Attributions,
    attributions,
    can_explain,
    explains_features,
    kind_of,
)
from xmlcore.explain._contributions import contrast, contributions, magnitude
from xmlcore.explain._importance import LabelImportance, importance, label_importance
from xmlcore.explain._paths import path
from xmlcore.explain._removal import counterfactual, deletion_curve, label_scores, label_values, probability, what_if
from xmlcore.explain._stability import agreement, side_by_side, stability

__all__ = [
    "NOT_OF_FEATURES", "Attributions", "LabelImportance", "agreement", "attributions", "can_explain", "contrast",
    "contributions", "counterfactual", "deletion_curve", "explains_features", "importance", "kind_of",
    "label_importance", "label_scores", "label_values", "magnitude", "path", "probability", "side_by_side", "stability",
    "what_if",
]  # fmt: skip

document(__all__, vars())
