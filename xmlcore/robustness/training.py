"""Training on perturbed rows beside the clean ones."""

import numbers
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.system import free_bytes
from xmlcore.validation import check_count, check_features, check_labels

BYTES_PER_VALUE = 8  # of a CSR matrix: float32 and int32
COPIES = 6  # of the training rows while a label tree trains: as made, stacked, as it reads them, and what threads hold


class Augmented(NamedTuple):
    """Training rows with perturbed copies under them."""

    X: sp.csr_array  # float32 (N + m, D)
    Y: sp.csr_array  # bool (N + m, L)
    rows: np.ndarray  # int64 (m,), of which row each copy is


def augment(X, Y, perturbation, augment_ratio: float = 1.0, random_state: int = 0, model=None) -> Augmented:
    """Put m = round(N * augment_ratio) perturbed copies of rows under the clean rows; labels are kept.

    Parameters
    ----------
    X : sparse or dense, shape (N, D)
    Y : sparse or dense binary, shape (N, L), or lists of label ids
    perturbation : GaussianNoise, WordNoise, FGSM, PGD
        Or anything with their ``apply``. Noise on all features makes copies of D values each.
    augment_ratio : float, positive
        Up to 1, rows are drawn without repetition. Beyond, every row is copied as often as it goes, and the rest is
        drawn; copies of one row have different noise.
    random_state : int
        Same value, same copies. Their noise is not that which ``perturbation.apply`` gives other rows with this seed:
        models are tested on noise that they have not seen.
    model : fitted estimator, optional
        What attacks are computed on.

    Returns
    -------
    Augmented

    Raises
    ------
    ValueError, TypeError
        A ratio that is not positive or makes no copy, or bad data; the message says which.
    MemoryError
        Noise on all features would take more memory than there is.
    """
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    ratio, n = check_ratio(augment_ratio), X.shape[0]
    _check_memory(X, perturbation, ratio)
    m = round(n * ratio)
    rounds, rest = divmod(m, n) if n else (0, 0)
    if m == 0:
        raise ValueError(
            f"augment_ratio={ratio:g} of {n:,} rows makes no copy: nothing would be trained on noise; give more than "
            f"{0.5 / max(1, n):.2g}"
        )
    drawn = np.random.default_rng([random_state, 0]).permutation(n)[:rest]
    rows = np.concatenate([np.tile(np.arange(n), rounds), np.sort(drawn)]).astype(np.int64)
    streams = rows + n * np.repeat(np.arange(rounds + 1), [n] * rounds + [rest])
    copies = perturbation.apply(X[rows], rows=streams, seed=_own_seed(random_state), model=model, Y=Y[rows])
    both = sp.vstack([X, copies], format="csr", dtype=np.float32)
    return Augmented(sp.csr_array(both), sp.csr_array(sp.vstack([Y, Y[rows]], format="csr")), rows)


def _own_seed(random_state) -> int:
    """A seed of training's own: rows that are tested under ``random_state`` have other noise."""
    check_count(random_state, "random_state", least=0)
    return int(np.random.SeedSequence([random_state, 0xC0B1]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _check_memory(X, perturbation, ratio):
    """Raise MemoryError when dense copies do not fit into what is free; say nothing where the system does not tell."""
    if getattr(perturbation, "support", None) != "all" or perturbation.name != "gaussian":
        return
    needed, free = augmented_bytes(*X.shape, X.nnz, ratio, "all"), free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"noise on all {X.shape[1]:,} features of {X.shape[0]:,} rows, {ratio:g} times, takes about "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free: use noise_support='nonzero', or a smaller "
            "augment_ratio"
        )


def check_ratio(value) -> float:
    """``augment_ratio`` as a float; ValueError or TypeError unless it is positive and finite."""
    return _positive(value, "augment_ratio")


def augmented_bytes(n_rows: int, n_features: int, nnz: int, augment_ratio: float, support: str) -> int:
    """Estimate the bytes that training on noisy copies takes at its peak, beside the data that is there already.

    Parameters
    ----------
    n_rows, n_features, nnz : int
        Of the training rows; ``nnz`` are their stored values.
    augment_ratio, support
        See :class:`AdversarialTraining`.

    Returns
    -------
    int
        Six copies of clean and noisy values, as was measured of a label tree on two threads: rows as they are made and
        stacked, as the model reads them, and what threads hold of them. The model itself comes on top.
    """
    copies = round(n_rows * augment_ratio) * n_features if support == "all" else round(nnz * augment_ratio)
    return COPIES * BYTES_PER_VALUE * (nnz + copies)


class AdversarialTraining(MultiLabelModel):
    """Train any model on noisy copies of its training rows beside the clean ones.

    The paper's adversarial training (Date and Mehar, 2025, section 3.1): m = round(N * augment_ratio) training rows
    get Gaussian noise, keep their labels, and are stacked under the clean rows. The fitted model is ``model_``, an
    estimator like others: save that.

    Parameters
    ----------
    model : estimator
        Not changed: a fresh one of its parameters is fitted.
    sigma : float, positive
        Standard deviation of the noise, in the units of the feature values. 0.05 is the paper's. With another ``kind``,
        the level of that perturbation: a rate of words, or the budget of an attack.
    augment_ratio : float, positive
        Copies for each training row.
    noise_support : {"all", "nonzero"}
        "all": noise on every feature (the paper), which makes copies of D values each; memory is
        :func:`augmented_bytes`. "nonzero": on the present features only, so that copies are as sparse as the rows.
    random_state : int
        Of the copies. The model has its own.
    kind : {"gaussian", "words", "fgsm", "pgd"}
        What is done to the copies (not in the paper, but "gaussian"); see :func:`xmlcore.robustness.perturbation`.
        Attacks are computed on a model fitted to the clean rows first, or on ``surrogate`` where that has no
        gradient.
    options : dict, optional
        Further arguments of the perturbation. Words are drawn from the training rows unless ``reference`` is given.
    surrogate : fitted estimator, optional
        With a gradient; for attacks when the model has none.

    Attributes
    ----------
    model_ : estimator
        Fitted to clean and perturbed rows. A model that refuses negative values (:class:`xmlcore.DoubleSampling`) takes
        those that noise has made as 0.
    n_augmented_ : int
        Perturbed copies it was fitted to.

    References
    ----------
    A. Date, S. Mehar, "Adversarial robustness and explainability in extreme multi-label classification with extended
    probabilistic label trees", 2025. I. Goodfellow et al., ICLR 2015, and A. Madry et al., ICLR 2018 (attacks).

    Examples
    --------
    >>> from xmlcore import PLT
    >>> from xmlcore.robustness import AdversarialTraining
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = AdversarialTraining(PLT(), sigma=0.05).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

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
        """Return the parameters by name; with ``deep``, the model's own as ``model__name`` too."""
        params = super().get_params(deep=False)
        if deep and hasattr(self.model, "get_params"):
            params |= {f"model__{name}": value for name, value in self.model.get_params(deep=True).items()}
        return params

    def set_params(self, **params):
        """Set parameters by name; ``model__name`` sets one of the model's."""
        inner = {name: value for name, value in params.items() if name.startswith("model__")}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            self.model.set_params(**{name.removeprefix("model__"): value for name, value in inner.items()})
        return self

    def fit(self, X, Y, progress: Progress = silent) -> "AdversarialTraining":
        """Make the copies and train.

        Parameters
        ----------
        X, Y, progress
            As the model takes them.

        Returns
        -------
        AdversarialTraining
            Itself.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data, or an attack that needs a gradient where there is none; the message says which.
        """
        self._check_params()
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        attacked = None
        if self.kind in ("fgsm", "pgd"):
            attacked = self._attacked(X, Y, progress)
        progress("Making noisy rows", 0.0)
        both = augment(X, Y, self._perturbation(X), self.augment_ratio, self.random_state, attacked)
        fresh = type(self.model)(**self.model.get_params(deep=False))
        if fresh.get_params(deep=False).get("negative") == "refuse" and _least(both.X) < 0 <= _least(X):
            fresh.set_params(negative="zero")
        self.model_ = fresh.fit(both.X, both.Y, progress=progress)
        self.n_augmented_ = both.rows.size
        self.n_features_in_, self.n_labels_ = self.model_.n_features_in_, self.model_.n_labels_
        return self

    def predict_topk(self, X, k: int = 5, progress: Progress = silent) -> Ranking:
        """As the fitted model does."""
        self._check_fitted()
        return self.model_.predict_topk(X, k, progress=progress)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
        """As the fitted model does."""
        self._check_fitted()
        return self.model_.predict_proba(X, threshold)

    def size(self) -> dict:
        """Of the fitted model."""
        self._check_fitted()
        return self.model_.size()

    def save(self, path):
        """Save the fitted model alone: it predicts the same, and knows nothing of the copies."""
        self._check_fitted()
        return self.model_.save(path)

    def __getattr__(self, name):
        # Only asked for what is not there: what the fitted model offers beyond, such as a gradient.
        if name == "log_proba_gradient" and "model_" in self.__dict__:
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _perturbation(self, X):
        from xmlcore.robustness.perturbations import perturbation

        options = dict(self.options or {})
        if self.kind == "words":
            options.setdefault("reference", X)
        else:
            options.setdefault("support", self.noise_support)
        return perturbation(self.kind, self.sigma, **options)

    def _attacked(self, X, Y, progress):
        """The model that attacks are computed on."""
        if self.surrogate is not None:
            return self.surrogate
        if not hasattr(self.model, "log_proba_gradient"):
            raise ValueError(
                f"{type(self.model).__name__} has no gradient, which kind={self.kind!r} needs: give surrogate=, a "
                "PLT fitted to the same rows, or use kind='gaussian'"
            )
        return type(self.model)(**self.model.get_params(deep=False)).fit(X, Y, progress=progress)

    def _check_params(self):
        if not hasattr(self.model, "fit") or isinstance(self.model, type):
            raise TypeError(f"model must be an estimator, such as PLT(), not {self.model!r}")
        _positive(self.sigma, "sigma")
        check_ratio(self.augment_ratio)
        if self.noise_support not in ("all", "nonzero"):
            raise ValueError(f"noise_support must be 'all' or 'nonzero', not {self.noise_support!r}")
        check_count(self.random_state, "random_state", least=0)
        if self.kind not in ("gaussian", "words", "fgsm", "pgd"):
            raise ValueError(f"kind must be 'gaussian', 'words', 'fgsm' or 'pgd', not {self.kind!r}")
        if self.options is not None and not isinstance(self.options, dict):
            raise TypeError(f"options must be a dict of the perturbation's further arguments, not {self.options!r}")
        if self.surrogate is not None and self.kind not in ("fgsm", "pgd"):
            raise ValueError(f"surrogate is for the attacks, fgsm and pgd: kind={self.kind!r} follows no gradient")


def _least(X) -> float:
    return float(X.data.min()) if X.nnz else 0.0


def _positive(value, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be positive and finite, not {value!r}")
    return float(value)
