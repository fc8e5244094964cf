"""Probabilistic label trees: a step of training, prediction or saving per file."""

from xmlcore.models.plt.estimator import PLT
from xmlcore.models.plt.extended import ExtendedPLT
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.linear_nodes import LOSS_NUMBERS, LinearNodes

__all__ = ["LOSS_NUMBERS", "PLT", "ExtendedPLT", "LabelTree", "LinearNodes"]
