"""Base of models that train another model, and predict as it does."""

from pathlib import Path
from typing import Any

import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.models.rules import Rule
from xmlcore.parameters import Parameter
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, FilePath, Matrix

MODEL = Parameter(
    "model", "Model",
    "Any model of xmlcore. It is not changed: a new one of its parameters is fitted. Empty is a PLT with its defaults.",
    "estimator", None, optional=True, in_form=False,
)  # fmt: skip


class WrapsModel(MultiLabelModel):
    """Base of models with a parameter ``model``, the model to train, and a fitted attribute ``model_``.

    ``save`` writes the fitted model without this class: it predicts the same.
    """

    _PARTS = {"model": None}

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, weights: ArrayLike | None = None
    ) -> Ranking:
        rows, progress = self._rows(X), to_progress(progress)
        return self.model_.predict_topk(rows, k, progress=progress, weights=weights)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        rows = self._rows(X)
        return self.model_.predict_proba(rows, threshold)

    def _decided(self, X, threshold=None, watch=None):
        rows = self._rows(X)
        return self.model_._decided(rows, threshold, watch)

    def _new(self, part: str):
        """Return a new, not fitted estimator with the parameters of one that is a parameter, or the default one."""
        given = getattr(self, part)
        return self._PARTS[part]() if given is None else type(given)(**given.get_params(deep=False))

    def _rows(self, X):
        """Return the rows that the model takes."""
        self._check_fitted()
        return X

    @property
    def threshold_(self) -> float:
        """The probability from which on labels are predicted: that of the fitted model."""
        return self.model_.threshold_ if "model_" in vars(self) else MultiLabelModel.threshold_

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        self.model_.threshold_ = value

    @property
    def rule_(self) -> Rule | None:
        """The rule that :meth:`xmlcore.decisions.Rule.keep` has kept with the fitted model."""
        return self.model_.rule_ if "model_" in vars(self) else None

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
