"""Base of models that train another model, and predict as it does."""

from pathlib import Path
from typing import Any, Self

import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import FilePath, Matrix


class WrapsModel(MultiLabelModel):
    """Base of models with a parameter ``model``, the model to train, and a fitted attribute ``model_``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to return the parameters of the model too, as ``model__name``.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=False)
        if deep and hasattr(self.model, "get_params"):
            params |= {f"model__{name}": value for name, value in self.model.get_params(deep=True).items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params : object
            New values by name; ``model__name`` sets a parameter of the model.

        Returns
        -------
        Estimator
            Itself.

        Raises
        ------
        ValueError
            There is no parameter of that name.
        """
        inner = {name: value for name, value in params.items() if name.startswith("model__")}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            self.model.set_params(**{name.removeprefix("model__"): value for name, value in inner.items()})
        return self

    def predict_topk(self, X: Matrix, k: int = 5, progress: ProgressLike = silent) -> Ranking:
        """Rank labels with the fitted model.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            Number of labels for each row.
        progress : callable or "bar", optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

        Returns
        -------
        Ranking
        """
        progress = to_progress(progress)
        self._check_fitted()
        return self.model_.predict_topk(X, k, progress=progress)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        """Return the probabilities of the fitted model.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]
            Smaller probabilities are left out.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)
        """
        self._check_fitted()
        return self.model_.predict_proba(X, threshold)

    def size(self) -> dict[str, Any]:
        """Return the size of the fitted model.

        Returns
        -------
        dict of str to int
            See the ``size`` of the model.
        """
        self._check_fitted()
        return self.model_.size()

    def save(self, path: FilePath) -> Path:
        """Save the fitted model without this class: it predicts the same, and the parameters of this class are lost.

        Parameters
        ----------
        path : str or path-like
            The folder. It is created, or replaced when it holds a saved model and nothing else.

        Returns
        -------
        pathlib.Path
            The folder.
        """
        self._check_fitted()
        return self.model_.save(path)

    def __getattr__(self, name):
        # Python calls this for names that are not found: the gradient is that of the fitted model, if it has one.
        if name == "log_proba_gradient" and "model_" in self.__dict__:
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
