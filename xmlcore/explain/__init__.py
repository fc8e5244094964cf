"""Why this label for this row: what each feature of a row adds to a label's score, and whether that can be trusted.

One row: :func:`contributions`, :func:`path`, :func:`magnitude`. Two explanations: :func:`agreement`,
:func:`side_by_side`. An explanation under noise: :func:`stability`. Whether removing the features that it names takes
the label away: :func:`deletion_curve`. Many rows: :func:`importance`; all rows of a label: :func:`label_importance`.
"""

from xmlcore.explain._attribution import Attributions, attributions, can_explain, explains_features
from xmlcore.explain._many_rows import deletion_curve, importance, label_scores
from xmlcore.explain._one_label import LabelImportance, label_importance
from xmlcore.explain._one_row import agreement, contributions, magnitude, path, stability
from xmlcore.explain._scores import probability
from xmlcore.explain._side_by_side import side_by_side

__all__ = [
    "Attributions",
    "LabelImportance",
    "agreement",
    "attributions",
    "can_explain",
    "contributions",
    "deletion_curve",
    "explains_features",
    "importance",
    "label_importance",
    "label_scores",
    "magnitude",
    "path",
    "probability",
    "side_by_side",
    "stability",
]
