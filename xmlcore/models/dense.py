"""DenseOutput: any model, with dense predictions for the tools of scikit-learn that take no sparse ones."""

from typing import Self

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.models.plt import PLT
from xmlcore.models.rows import labels_given
from xmlcore.models.wrapping import MODEL, WrapsModel
from xmlcore.parameters import described
from xmlcore.progress import ProgressLike, silent
from xmlcore.typing import LabelNames, Labels, Matrix


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
