"""Selections as steps of scikit-learn's pipelines: they keep the columns of X that they have selected."""

import sys
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore.documented import documented
from xmlcore.models.base import Estimator
from xmlcore.models.rows import labels_given
from xmlcore.progress import ProgressLike, silent
from xmlcore.typing import Labels, Matrix


class KeepsColumns(Estimator):
    """Base of the selections: ``transform`` keeps the features that are selected for at least one label.

    With many labels, and few features in common, this can be nearly all: docs/scikit_learn.md.
    """

    _sklearn_auto_wrap_output_keys = {"transform"}  # scikit-learn's name for what ``set_output`` can change
    selected_: np.ndarray

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return whether each feature is selected for any label; with ``indices`` their ids, ascending."""
        self._check_fitted()
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features that ``transform`` keeps.

        Parameters
        ----------
        input_features : array_like of str, shape (D,), optional
            The names of all features. None: those of the training rows, or else x0, x1, ...
        """
        from sklearn.utils.validation import _check_feature_names_in

        kept = self.get_support()
        return _check_feature_names_in(self, input_features)[kept]

    def transform(self, X: Matrix) -> Any:
        """Return rows with the columns of the selected features only, in their order in X.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        ndarray or sparse, shape (n, number of kept features)
            Dense if X is dense, with values of the same type; else CSR. After ``set_output(transform="pandas")`` a
            DataFrame.
        """
        checked = self._check_input(X)
        kept = self.get_support(indices=True)
        if sp.issparse(X):
            rows = X.tocsr()[:, kept] if X.ndim == 2 else checked[:, kept]
        else:
            rows = np.asarray(X)
            rows = rows.reshape(checked.shape)[:, kept] if rows.dtype.kind in "fiub" else checked[:, kept].toarray()
        # In the container that ``set_output``, or scikit-learn's setting for all transformers, wants.
        chosen = getattr(self, "_sklearn_output_config", {}).get("transform")
        if chosen is None and "sklearn" not in sys.modules:  # so that nobody has changed scikit-learn's settings
            return rows
        from sklearn.utils._set_output import _wrap_data_with_container

        return _wrap_data_with_container("transform", rows, X, self)

    @documented
    def fit_transform(
        self, X: Matrix, y: Labels | None = None, *, Y: Labels | None = None, progress: ProgressLike = silent
    ) -> Any:
        """Fit the selection, and return the training rows with the selected features, as :meth:`transform` does.

        {Parameters: X_train, y_or_classes, Y, progress}
        """
        return self.fit(X, labels_given(y, Y), progress=progress).transform(X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return: "default", "pandas" or "polars", as in scikit-learn.

        A DataFrame has the names of :meth:`get_feature_names_out`; it is for dense rows. None changes nothing.
        """
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise ValueError(f"transform must be default, pandas or polars, not {transform!r:.200}")
            self._sklearn_output_config = {"transform": transform}  # scikit-learn's ``clone`` copies it by this name
        return self
