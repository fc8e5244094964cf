"""LdSM: an ensemble of decision trees over rows, a file per step.

``estimator`` has the model's public methods, ``parameters`` describes what can be set, ``growing`` grows a tree,
``trees`` holds fitted trees, ``prediction`` finds leaves and scores labels, ``reranking`` computes the labels' means,
``saving`` writes and checks arrays, ``progress`` reports how far growing is, and ``frames`` shows trees as tables.
"""

from xmlcore.models.ldsm.estimator import LdSM
from xmlcore.models.ldsm.trees import LdSMTree, Leaves

__all__ = ["LdSM", "LdSMTree", "Leaves"]
