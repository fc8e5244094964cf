"""Feature selection for each label: methods, decision trees to compare them by, and their similarity.

A selection is an int32 array of feature ids, best first: (L, k) with one row per label, or (1, k) for all labels.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what __getattr__ imports on first use, for editors and type checkers
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

_NAMES = {
    "BRDT": "xmlcore.selection.decision_trees",
    "ChiSquaredSelection": "xmlcore.selection.rivals",
    "FALS": "xmlcore.selection.fals",
    "LassoSelection": "xmlcore.selection.rivals",
    "MutualInformationSelection": "xmlcore.selection.rivals",
    "RandomForestSelection": "xmlcore.selection.rivals",
    "jaccard": "xmlcore.selection.similarity",
    "agreement": "xmlcore.selection.similarity",
    "significance_graph": "xmlcore.selection.similarity",
    "spearman": "xmlcore.selection.similarity",
    "wilcoxon": "xmlcore.metrics.data_sets",
}

__all__ = [
    "BRDT",
    "FALS",
    "ChiSquaredSelection",
    "LassoSelection",
    "MutualInformationSelection",
    "RandomForestSelection",
    "agreement",
    "jaccard",
    "significance_graph",
    "spearman",
    "wilcoxon",
]


if not TYPE_CHECKING:  # type checkers report a name that does not exist

    def __getattr__(name):
        if name in _NAMES:
            return getattr(import_module(_NAMES[name]), name)
        raise AttributeError(f"module 'xmlcore.selection' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
