"""Feature selection for each label: methods, decision trees to compare them by, and their similarity.

A selection is an int32 array of feature ids, best first: (L, k) with one row per label, or (1, k) for all labels.
"""

from importlib import import_module

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

__all__ = list(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'xmlcore.selection' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
