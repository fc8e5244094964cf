"""The estimators, and how a saved one is read back."""

from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT, ExtendedPLT, LabelTree
from xmlcore.models.saving import ModelFormatError, load_model

__all__ = [
    "DoubleSampling",
    "ExtendedPLT",
    "PLT",
    "LabelTree",
    "LdSM",
    "ModelFormatError",
    "NotFittedError",
    "OneVsRest",
    "load_model",
]


def __getattr__(name):
    if name == "NotFittedError":  # scikit-learn's own, and scikit-learn is slow to import
        from sklearn.exceptions import NotFittedError

        return NotFittedError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
