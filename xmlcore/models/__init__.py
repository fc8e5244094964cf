"""The estimators, and how a saved one is read back."""

from xmlcore.models.base import ModelFormatError, NotFittedError, load_model
from xmlcore.models.plt import PLT

__all__ = ["PLT", "ModelFormatError", "NotFittedError", "load_model"]
