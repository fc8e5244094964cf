"""LdSM: an ensemble of decision trees over rows, a file per step."""

from xmlcore.models.ldsm.estimator import LdSM
from xmlcore.models.ldsm.trees import LdSMTree, Leaves

__all__ = ["LdSM", "LdSMTree", "Leaves"]
