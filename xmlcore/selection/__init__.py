"""Feature selection for each label: methods, decision trees to compare them by, and their similarity.

A selection is an int32 array of feature ids, best first: (L, k) with one row per label, or (1, k) for all labels.
"""

from xmlcore.documented import document
from xmlcore.metrics.significance import wilcoxon
from xmlcore.selection.decision_trees import BRDT
from xmlcore.selection.fals import FALS
from xmlcore.selection.gradenfs import GradEnFSSelection
from xmlcore.selection.lift import LIFT
from xmlcore.selection.rivals import (
    ChiSquaredSelection,
    LassoSelection,
    MutualInformationSelection,
    RandomForestSelection,
)
from xmlcore.selection.similarity import agreement, jaccard, significance_graph, spearman

__all__ = [
    "BRDT", "FALS", "LIFT", "ChiSquaredSelection", "GradEnFSSelection", "LassoSelection", "MutualInformationSelection",
    "RandomForestSelection", "agreement", "jaccard", "significance_graph", "spearman", "wilcoxon",
]  # fmt: skip

document(__all__, vars())
