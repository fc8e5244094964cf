"""FALS: features selected for each label by the gradients of a small network."""

from xmlcore.selection.fals.estimator import FALS

__all__ = ["FALS"]
