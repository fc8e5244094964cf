"""Adversarial training: any model, fitted to the training rows and perturbed copies of them."""

from dataclasses import replace

import scipy.sparse as sp

from xmlcore.augmentation import augment
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.plt.parameters import NOISE_PARAMETERS
from xmlcore.parameters import SEED, Parameter, described
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.robustness.perturbations import ATTACKS, KINDS, perturbation
from xmlcore.validation import check_features, check_labels, feature_names

_SIGMA, _RATIO, _SUPPORT = NOISE_PARAMETERS

PARAMETERS = (
    Parameter(
        "model",
        "Model",
        "The model to train. It is not changed: a new estimator with its parameters is fitted.",
        "estimator",
        None,
        in_form=False,
    ),
    replace(
        _SIGMA,
        details='With another ``kind``, the level of that perturbation: the rate of "words", the epsilon of an attack.',
    ),
    _RATIO,
    replace(
        _SUPPORT,
        details=":func:`xmlcore.robustness.augmented_bytes` estimates the memory of copies with D values each.",
    ),
    replace(SEED, in_form=False, optional=False, details="This is the seed of the copies. The model has its own seed."),
    Parameter(
        "kind",
        "Perturbation",
        'How the copies are changed, see :func:`xmlcore.robustness.perturbation`; the paper uses "gaussian".',
        "choice",
        "gaussian",
        options=KINDS,
        in_form=False,
        details="An attack follows the gradient of ``surrogate``, or else of the model, which is first fitted to the "
        "clean rows for that.",
    ),
    Parameter(
        "options",
        "Further arguments",
        "Further arguments of the perturbation.",
        "dict",
        None,
        optional=True,
        in_form=False,
        details='The ``reference`` of "words" is the training rows unless it is given.',
    ),
    Parameter(
        "surrogate",
        "Surrogate",
        "A fitted model with a gradient, for attacks when ``model`` has none.",
        "estimator",
        None,
        optional=True,
        in_form=False,
    ),
)


@described
class AdversarialTraining(MultiLabelModel):
    """Train any model on the training rows and on perturbed copies of them.

    This is the adversarial training of Date and Mehar (2025, section 3.1): m = round(N * augment_ratio) copies of
    training rows get Gaussian noise, keep their labels, and are added to the clean rows. The fitted model is
    ``model_``, an estimator like others; :meth:`save` saves it alone.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : estimator
        Fitted to the clean rows and the copies. A model that refuses negative values (:class:`xmlcore.DoubleSampling`)
        is set to read them as 0, if the clean rows have none.
    n_augmented_ : int
        Number of copies that it was fitted to.

    References
    ----------
    A. Date, S. Mehar, "Adversarial robustness and explainability in extreme multi-label classification with extended
    probabilistic label trees", 2025. Attacks: I. Goodfellow et al., ICLR 2015; A. Madry et al., ICLR 2018.

    Examples
    --------
    >>> from xmlcore import PLT
    >>> from xmlcore.robustness import AdversarialTraining
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = AdversarialTraining(PLT(), sigma=0.05).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    PARAMETERS = PARAMETERS

    def __init__(
        self,
        model=None,
        sigma=0.05,
        augment_ratio=1.0,
        noise_support="all",
        random_state=0,
        kind="gaussian",
        options=None,
        surrogate=None,
    ):
        self.model = model
        self.sigma = sigma
        self.augment_ratio = augment_ratio
        self.noise_support = noise_support
        self.random_state = random_state
        self.kind = kind
        self.options = options
        self.surrogate = surrogate

    def get_params(self, deep: bool = True) -> dict:
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

    def set_params(self, **params):
        """Set parameters by name.

        Parameters
        ----------
        **params : object
            New values by name; ``model__name`` sets a parameter of the model.

        Returns
        -------
        AdversarialTraining
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

    def fit(self, X, Y, progress: Progress = silent) -> "AdversarialTraining":
        """Make the copies and fit the model.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the training.

        Returns
        -------
        AdversarialTraining
            Itself.

        Raises
        ------
        ValueError, TypeError
            Parameters or data are invalid, or an attack needs a gradient and the model has none; the message says
            which.
        """
        self._check_params()
        names = feature_names(X)
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        model = type(self.model)(**self.model.get_params(deep=False))
        trials = []
        if hasattr(model, "choose"):  # on these rows: a copy of a row must not be among those to measure on
            settings, trials = model.choose(X, Y, progress)
            model.set_params(**settings)
        attacked = None
        if self.kind in ATTACKS:
            attacked = self._attacked(model, X, Y, progress)
        progress("Making noisy rows", 0.0)
        clean_and_noisy = augment(X, Y, self._perturbation(X), self.augment_ratio, self.random_state, attacked)
        estimator = type(model)(**model.get_params(deep=False))
        if estimator.get_params(deep=False).get("negative") == "refuse" and _least(clean_and_noisy.X) < 0 <= _least(X):
            estimator.set_params(negative="zero")
        self.model_ = estimator.fit(clean_and_noisy.X, clean_and_noisy.Y, progress=progress)
        if names is not None:
            self.model_.feature_names_in_ = names
        self.n_augmented_ = clean_and_noisy.rows.size
        self.trials_ = trials
        self.n_features_in_, self.n_labels_ = self.model_.n_features_in_, self.model_.n_labels_
        self._keep_feature_names(names)
        return self

    def predict_topk(self, X, k: int = 5, progress: Progress = silent) -> Ranking:
        """Rank labels with the fitted model.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            Number of labels for each row.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

        Returns
        -------
        Ranking
        """
        self._check_fitted()
        return self.model_.predict_topk(X, k, progress=progress)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
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

    def size(self) -> dict:
        """Return the size of the fitted model.

        Returns
        -------
        dict of str to int
            See the ``size`` of the model.
        """
        self._check_fitted()
        return self.model_.size()

    def save(self, path):
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

    def _perturbation(self, X):
        """Return the perturbation that the parameters describe; X are the training rows."""
        options = dict(self.options or {})
        if self.kind == "words":
            options.setdefault("reference", X)
        else:
            options.setdefault("support", self.noise_support)
        return perturbation(self.kind, self.sigma, **options)

    def _attacked(self, model, X, Y, progress):
        """Return the fitted model whose gradient the attack follows; ``model`` is not fitted."""
        if self.surrogate is not None:
            return self.surrogate
        if not hasattr(self.model, "log_proba_gradient"):
            raise ValueError(
                f"{type(self.model).__name__} has no gradient, which kind={self.kind!r} needs: give surrogate=, a "
                "PLT fitted to the same rows, or use kind='gaussian'"
            )
        return type(model)(**model.get_params(deep=False)).fit(X, Y, progress=progress)

    def _check_params(self):
        """Raise TypeError or ValueError unless all parameters are valid and fit together."""
        super()._check_params()
        if self.surrogate is not None and self.kind not in ATTACKS:
            raise ValueError(f"surrogate is for the attacks, fgsm and pgd: kind={self.kind!r} follows no gradient")


def _least(X) -> float:
    """Return the smallest value of a sparse matrix; values that are not stored are 0."""
    return float(X.data.min()) if X.nnz else 0.0
