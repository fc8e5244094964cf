"""Adversarial training: any model, fitted to the training rows and perturbed copies of them."""

from dataclasses import replace
from typing import Any

from xmlcore.augmentation import augment
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.plt.parameters import NOISE_PARAMETERS
from xmlcore.models.wrapping import WrapsModel
from xmlcore.parameters import SEED, SEEDS, Parameter, described
from xmlcore.progress import part_of
from xmlcore.robustness.perturbations import CHANGES, KINDS, REFERENCE, perturbation
from xmlcore.typing import RandomState
from xmlcore.validation import check_features, check_labels

_SIGMA, _RATIO, _SUPPORT = NOISE_PARAMETERS

PARAMETERS = (
    Parameter(
        "model", "Model",
        "The model to train. It is not changed: a new estimator with its parameters is fitted.",
        "estimator", None, in_form=False,
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
    replace(SEED, in_form=False, details=f"{SEEDS} This is the seed of the copies. The model has its own seed."),
    Parameter(
        "kind", "Noise in training, kind",
        "How the copies are changed. The paper uses Gaussian noise. An attack follows the gradient of the model, which "
        "is first trained on the clean rows for that; LdSM and DoubleSampling have none.",
        "choice", "gaussian", options=CHANGES, option_names=tuple(KINDS[kind].title for kind in CHANGES), in_form=False,
        details="See :func:`xmlcore.robustness.perturbation`. With ``surrogate``, an attack follows its gradient.",
    ),
    Parameter(
        "options", "Further arguments",
        "Further arguments of the perturbation.",
        "dict", None, optional=True, in_form=False,
        details='The ``reference`` of "words" is the training rows unless it is given.',
    ),
    Parameter(
        "surrogate", "Surrogate",
        "A fitted model with a gradient, for attacks when ``model`` has none.",
        "estimator", None, optional=True, in_form=False,
    ),
)  # fmt: skip


@described
class AdversarialTraining(WrapsModel):
    """Train any model on the training rows and on perturbed copies of them.

    This is the adversarial training of Date and Mehar (2025, section 3.1): m = round(N * augment_ratio) copies of
    training rows get Gaussian noise, keep their labels, and are added to the clean rows. The fitted model is
    ``model_``, an estimator like others; :meth:`save` saves it alone.

    {parameters}

    Attributes
    ----------
    model_ : estimator
        Fitted to the clean rows and the copies. A model that refuses negative values (:class:`xmlcore.DoubleSampling`)
        is set to read them as 0, if the clean rows have none.
    n_augmented_ : int
        Number of copies that it was fitted to.

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

    model: MultiLabelModel | None = None
    sigma: float = 0.05
    augment_ratio: float = 1.0
    noise_support: str = "all"
    random_state: RandomState = 0
    kind: str = "gaussian"
    options: dict[str, Any] | None = None
    surrogate: MultiLabelModel | None = None

    def _fit(self, X, Y, progress):
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        model = type(self.model)(**self.model.get_params(deep=False))
        trials, threshold, done = [], model.threshold_, 0.0  # of the work, roughly
        if hasattr(model, "choose"):  # on these rows: a copy of a row must not be among those to measure on
            settings, trials, threshold = model.choose(X, Y, progress=part_of(progress, done, 0.3))
            model.set_params(**settings)
            done = 0.3
        attacked = None
        if KINDS[self.kind].is_attack:
            attacked = self._attacked(model, X, Y, part_of(progress, done, 0.6))
            done = 0.6
        progress("Adding noise to rows", done)
        options = dict(self.options or {})
        if KINDS[self.kind].needs == REFERENCE:
            options.setdefault(REFERENCE, X)
        else:
            options.setdefault("support", self.noise_support)
        noise = perturbation(self.kind, self.sigma, **options)
        clean_and_noisy = augment(X, Y, noise, self.augment_ratio, self._entropy(), attacked)
        estimator = type(model)(**model.get_params(deep=False))
        if estimator.get_params(deep=False).get("negative") == "refuse" and _least(clean_and_noisy.X) < 0 <= _least(X):
            estimator.set_params(negative="zero")
        self.model_ = estimator.fit(clean_and_noisy.X, clean_and_noisy.Y, progress=part_of(progress, done, 1.0))
        self.threshold_ = self.model_.threshold_ = threshold
        self.n_augmented_ = clean_and_noisy.rows.size
        self.trials_ = trials
        self.n_features_in_, self.n_labels_ = self.model_.n_features_in_, self.model_.n_labels_

    def _keep(self, *values):
        super()._keep(*values)
        self.model_._keep(*values)  # not those of the noisy copies

    def _attacked(self, model, X, Y, progress):
        if self.surrogate is not None:
            return self.surrogate
        if not hasattr(self.model, "log_proba_gradient"):
            raise ValueError(
                f"{type(self.model).__name__} has no gradient, which kind={self.kind!r:.200} needs: give surrogate=, a "
                "PLT fitted to the same rows, or use kind='gaussian'"
            )
        return type(model)(**model.get_params(deep=False)).fit(X, Y, progress=progress)

    def _check_params(self):
        super()._check_params()
        if self.surrogate is not None and not KINDS[self.kind].is_attack:
            raise ValueError(f"surrogate is for the attacks, fgsm and pgd: kind={self.kind!r:.200} follows no gradient")


def _least(X) -> float:
    """Return the smallest value of a sparse matrix; values that are not stored are 0."""
    return float(X.data.min()) if X.nnz else 0.0
