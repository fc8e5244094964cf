"""The models, and the functions that load saved and packed models."""

from typing import TYPE_CHECKING

from xmlcore.models.dense import DenseOutput
from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.packed import PackedModel, load_model, looks_packed, read_packed
from xmlcore.models.plt import PLT, ExtendedPLT, LabelTree
from xmlcore.models.saving import ModelFormatError, ModelNotFoundError
from xmlcore.models.text_classifier import TextClassifier

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError

__all__ = [
    "DenseOutput",
    "DoubleSampling",
    "ExtendedPLT",
    "PLT",
    "LabelTree",
    "LdSM",
    "ModelFormatError",
    "ModelNotFoundError",
    "NotFittedError",
    "OneVsRest",
    "PackedModel",
    "TextClassifier",
    "load_model",
    "looks_packed",
    "read_packed",
]


if not TYPE_CHECKING:  # type checkers report a name that does not exist

    def __getattr__(name):
        """Import scikit-learn's NotFittedError on first use, because importing scikit-learn is slow."""
        if name == "NotFittedError":
            from sklearn.exceptions import NotFittedError

            return NotFittedError
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
