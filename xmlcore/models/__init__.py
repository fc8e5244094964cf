"""The models, and the functions that load saved and packed models."""

from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.packed import PackedModel, load_model, looks_packed, read_packed
from xmlcore.models.plt import PLT, ExtendedPLT, LabelTree
from xmlcore.models.saving import ModelFormatError
from xmlcore.models.text_classifier import TextClassifier

__all__ = [
    "DoubleSampling",
    "ExtendedPLT",
    "PLT",
    "LabelTree",
    "LdSM",
    "ModelFormatError",
    "NotFittedError",
    "OneVsRest",
    "PackedModel",
    "TextClassifier",
    "load_model",
    "looks_packed",
    "read_packed",
]


def __getattr__(name):
    """Import scikit-learn's NotFittedError on first use, because importing scikit-learn is slow."""
    if name == "NotFittedError":
        from sklearn.exceptions import NotFittedError

        return NotFittedError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
