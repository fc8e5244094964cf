"""The estimators, and how a saved one is read back."""

from xmlcore.models.base import ModelFormatError, NotFittedError, load_model
from xmlcore.models.label_tree import LabelTree
from xmlcore.models.plt import PLT

__all__ = ["PLT", "LabelTree", "ModelFormatError", "NotFittedError", "load_model"]
