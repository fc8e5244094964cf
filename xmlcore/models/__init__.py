"""The models, and the functions that load saved and packed models."""

from typing import TYPE_CHECKING

from xmlcore.first_use import on_first_use
from xmlcore.models.choosing_words import words_by_trials
from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.mixture import Mixture
from xmlcore.models.nearest_rows import NearestRows
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.packed import PackedModel, load_model, looks_packed, read_packed
from xmlcore.models.plt import PLT, ExtendedPLT, LabelTree
from xmlcore.models.saving import ModelFormatError, ModelNotFoundError
from xmlcore.models.text_classifier import TextClassifier
from xmlcore.models.wrapping import DenseOutput

if TYPE_CHECKING:
    from sklearn.exceptions import NotFittedError

__all__ = [
    "DenseOutput", "DoubleSampling", "ExtendedPLT", "PLT", "LabelTree", "LdSM", "Mixture", "ModelFormatError",
    "ModelNotFoundError", "NearestRows", "NotFittedError", "OneVsRest", "PackedModel", "TextClassifier",
    "load_model", "looks_packed", "read_packed", "words_by_trials",
]  # fmt: skip

if not TYPE_CHECKING:  # importing scikit-learn is slow
    __getattr__, __dir__ = on_first_use(__name__, {"sklearn.exceptions": ("NotFittedError",)})
