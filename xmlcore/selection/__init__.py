"""Feature selection for each label: methods, decision trees to compare them by, and their similarity.

A selection is an int32 array of feature ids, best first: (L, k) with one row per label, or (1, k) for all labels.
"""

from typing import TYPE_CHECKING

from xmlcore.first_use import on_first_use

if TYPE_CHECKING:  # what is imported on first use, for editors and type checkers
    from xmlcore.metrics.data_sets import wilcoxon
    from xmlcore.selection.decision_trees import BRDT
    from xmlcore.selection.fals import FALS
    from xmlcore.selection.rivals import (
        ChiSquaredSelection,
        LassoSelection,
        MutualInformationSelection,
        RandomForestSelection,
    )
    from xmlcore.selection.similarity import agreement, jaccard, significance_graph, spearman

__all__ = [
    "BRDT", "FALS", "ChiSquaredSelection", "LassoSelection", "MutualInformationSelection", "RandomForestSelection",
    "agreement", "jaccard", "significance_graph", "spearman", "wilcoxon",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers report a name that does not exist
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "xmlcore.metrics.data_sets": ("wilcoxon",),
            "xmlcore.selection.decision_trees": ("BRDT",),
            "xmlcore.selection.fals": ("FALS",),
            "xmlcore.selection.rivals": tuple(name for name in __all__ if name.endswith("Selection")),
            "xmlcore.selection.similarity": ("agreement", "jaccard", "significance_graph", "spearman"),
        },
    )
