"""Models that train another model and predict as it does: their base, and DenseOutput, for tools of scikit-learn."""

import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.models.plt import PLT
from xmlcore.models.rows import labels_given
from xmlcore.models.rules import Rule
from xmlcore.parameters import Parameter, described
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, FilePath, LabelNames, Labels, Matrix, SomeLabels

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
    _PRUNES = True

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, weights: ArrayLike | None = None,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        rows, progress = self._rows(X), to_progress(progress)
        return self.model_.predict_topk(rows, k, progress=progress, weights=weights, labels=labels)

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

    def _compacted(self, bits):
        small = copy.copy(self)
        small.model_ = self.model_._compacted(bits)
        return small

    @property
    def compact_(self) -> dict[str, Any]:
        """What :meth:`compact` reports of the fitted model."""
        return self.model_.compact_

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


@described
class DenseOutput(WrapsModel):
    """Predict as another model does, in dense arrays.

    Models predict sparse matrices, because L may be 100,000. scikit-learn's measures of sets of labels, such as
    ``f1_micro``, take them; those of probabilities, such as ``average_precision`` and ``roc_auc``, need dense arrays.

    {parameters}

    Attributes
    ----------
    model_ : estimator
        The fitted model; its predictions are sparse.
    n_features_in_, n_labels_ : int

    Notes
    -----
    Predictions of n rows take n * L bytes, and probabilities 4 * n * L bytes.

    Examples
    --------
    >>> from xmlcore import PLT
    >>> from xmlcore.models import DenseOutput
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = DenseOutput(PLT()).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict([[1.0, 0.05]]).tolist()
    [[True, False, False]]
    """

    PARAMETERS = (MODEL,)
    _PARTS = {"model": PLT}

    model: MultiLabelModel | None = None

    def fit(
        self,
        X: Matrix,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
    ) -> Self:
        self._check_params()
        model = self._new("model")
        self.model_ = model.fit(X, labels_given(y, Y), progress=progress, label_names=label_names)
        self.n_features_in_, self.n_labels_ = model.n_features_in_, model.n_labels_
        self._keep(*model._kept())
        return self

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> np.ndarray:  # the base class returns CSR
        """Return the probabilities of the fitted model as a dense array.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]
            Smaller probabilities are 0.

        Returns
        -------
        ndarray of float32, shape (n, L)
            After a fit to one class for each row they are divided by their sum in the row, as scikit-learn expects it.
        """
        found = super().predict_proba(X, threshold).toarray()
        sums = found.sum(axis=1, keepdims=True) if self._one_class else np.ones(1, np.float32)
        return np.divide(found, sums, out=found, where=sums > 0)

    def predict(self, X: Matrix, threshold: float | None = None) -> np.ndarray:
        """Return the labels that the fitted model predicts as a dense array.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1], optional
            The labels are returned whose probability is at least this. None: the model's default.

        Returns
        -------
        ndarray of bool, shape (n, L), or of classes, shape (n,)
        """
        self._check_fitted()
        found = self.model_.predict(X) if threshold is None else self.model_.predict(X, threshold)
        return found.toarray() if sp.issparse(found) else found
