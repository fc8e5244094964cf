"""Base of models that train another model, and predict as it does."""

from pathlib import Path
from typing import Any

import numpy.typing as npt
import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import FilePath, Matrix


class WrapsModel(MultiLabelModel):
    """Base of models with a parameter ``model``, the model to train, and a fitted attribute ``model_``.

    ``save`` writes the fitted model without this class: it predicts the same.
    """

    _PARTS = {"model": None}

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, weights: npt.ArrayLike | None = None
    ) -> Ranking:
        progress = to_progress(progress)
        self._check_fitted()
        return self.model_.predict_topk(X, k, progress=progress, weights=weights)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        self._check_fitted()
        return self.model_.predict_proba(X, threshold)

    def _decided(self, X, threshold=None, watch=None):
        self._check_fitted()
        return self.model_._decided(X, threshold, watch)

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        return self.model_.size()

    def save(self, path: FilePath) -> Path:
        self._check_fitted()
        return self.model_.save(path)

    def __getattr__(self, name):
        # Python calls this for names that are not found: the gradient is that of the fitted model, if it has one.
        if name == "log_proba_gradient" and "model_" in self.__dict__:
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
