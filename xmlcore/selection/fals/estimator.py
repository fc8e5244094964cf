"""FALS: features selected for each label by the gradients of a small network."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import MultiLabelModel
from xmlcore.models.rows import checked_rows, stacked
from xmlcore.parallel import one_blas_thread, row_blocks
from xmlcore.parameters import described
from xmlcore.progress import of_phases
from xmlcore.ranking import Ranking
from xmlcore.selection.columns import KeepsColumns
from xmlcore.selection.fals import label_networks, saving
from xmlcore.selection.fals.attribution import IG_STEPS, attributions
from xmlcore.selection.fals.blocks import PHASE as SCORING
from xmlcore.selection.fals.blocks import ROWS
from xmlcore.selection.fals.network import sizes_of
from xmlcore.selection.fals.parameters import ABOUT, FISHER, METHODS, PARAMETERS, PRESETS, SHARED
from xmlcore.selection.fals.scoring import check_memory, estimate, score, score_bytes
from xmlcore.selection.fals.selecting import (
    check_finite,
    check_n_scored_rows,
    check_scores,
    selected_count,
    warn_of_scales,
)
from xmlcore.selection.fals.training import PHASE as TRAINING
from xmlcore.selection.fals.training import Training, Workers, batch_size
from xmlcore.typing import Matrix, RandomState
from xmlcore.validation import check_count, check_threshold, csr_parts


@described
class FALS(KeepsColumns, MultiLabelModel):
    """Label-specific feature selection by feature attribution.

    A perceptron with one hidden layer learns all labels. A feature's score for a label is the mean, over the training
    rows, of the squared gradient of the label's probability by the feature. Each label keeps the features of largest
    score. Features are not scaled: there is a warning where the values of one are a thousand times those of the median
    feature, or where the scores of a label are all 0. docs/methods/fals.md has the choices that the paper leaves open:
    "Feature attribution for label-specific feature selection in multi-label learning", under review.

    {parameters}

    Attributes
    ----------
    selected_ : ndarray of int32, shape (L, k)
        The features of each label, best first, the smaller id first among equals. With patterns FAMS and FIMS all rows
        are the same.
    selected_scores_ : ndarray of float32, shape (L, k)
    scores_ : ndarray of float32, shape (L, D), or (1, D) with FAMS and FIMS
        The scores of all features. Missing where they would have exceeded ``max_score_bytes``.
    standard_error_ : ndarray of float32, as ``scores_``
        The standard errors of sampled scores, often too small from few rows; missing when scores are exact.
    n_selected_ : int
        The number k of features of each label.
    order_ : str
        Order of computation: "closed form", "direct", "expanded", "reference", "drawn rows", "present features".
    scoring_ : {"exact", "sampled"}
    n_scored_ : int
        The number of rows that a score comes from.
    costs_ : dict
        The multiply-adds of the orders that were possible, by name.
    layer_sizes_ : list of int
        D, the widths of hidden layers, L; with ``binary``, those of the network of one label.
    binary_, shared_ : bool
        Whether each label had its own network; whether all labels have the same features (FAMS and FIMS).
    seed_ : int
        ``random_state``, or the seed that was drawn for it.
    network_ : Network, or None
        Weights and biases; None with ``keep_network=False``.
    n_features_in_, n_labels_, n_rows_ : int
    """

    ABOUT = ABOUT
    PARAMETERS = PARAMETERS
    PRESETS = PRESETS

    n_features: float = 0.1
    pattern: str = "FALS"
    n_epochs: int = 10
    random_state: RandomState = 0
    n_hidden: int | None = None
    n_layers: int = 2
    activation: str = "relu"
    l2: float = 0.0
    dropout: float = 0.0
    batch_size: int | None = None
    learning_rate: float = 0.001
    binary: bool = False
    attribution: str = "gradient"
    scoring: str = "auto"
    n_scored_rows: int | None = None
    max_score_bytes: int = 2 << 30
    keep_network: bool = True
    n_jobs: int | None = None

    def _fit(self, X, Y, progress):
        X, Y = checked_rows(X, Y)
        k = selected_count(self.n_features, X.shape[1])
        check_n_scored_rows(self, X.shape[0])
        check_memory(self, X, Y.shape[1])
        seed = self._entropy()
        warn_of_scales(X)
        training = label_networks.PHASE if self.binary else TRAINING
        progress = of_phases(progress, {training: 0.5, SCORING: 0.5})
        # A single thread per matrix product: several would wait for each other, and could round differently.
        with one_blas_thread(), Workers(self.n_jobs) as workers:
            network = self._train(X, Y, seed, workers, progress)
            check_finite(network)
            fitted = score(self, network, X, k, seed, workers, progress)
        check_scores(fitted, k, X)
        for name in ("scores_", "standard_error_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(
            fitted,
            network_=network if self.keep_network else None,
            n_selected_=k,
            layer_sizes_=sizes_of(self, X.shape[1], Y.shape[1]),
            binary_=bool(self.binary),
            shared_=self.pattern in SHARED,
            seed_=seed,
            n_features_in_=X.shape[1],
            n_labels_=Y.shape[1],
            n_rows_=X.shape[0],
        )

    def estimate(self, X: Matrix, n_labels: int, nnz: int | None = None) -> dict[str, Any]:
        """Return the memory that ``fit`` would take, and how it would compute scores.

        Parameters
        ----------
        X : matrix, or (N, D)
            The training rows, or their shape.
        n_labels : int
            L.
        nnz : int, optional
            The number of entries of X that are not 0, where X is a shape; all entries when None.

        Returns
        -------
        dict
            ``bytes`` beside X and Y at the peak, ``order`` and ``scoring`` (as the attributes ``order_`` and
            ``scoring_``), ``n_hidden`` (width of the first hidden layer, 0 when there is none), ``n_steps`` (of
            training) and ``costs`` (multiply-adds of the orders).
        """
        self._check_params()
        return estimate(self, X, check_count(n_labels, "n_labels"), nnz)

    def support(self, label: int | None = None) -> np.ndarray:
        """Return which features are selected for a label, or for any label: bool, shape (D,).

        Parameters
        ----------
        label : int, optional
            None: the union over all labels.
        """
        kept = self.get_support()
        if label is not None:
            label = check_count(label, "label", 0, self.n_labels_ - 1)
            kept = np.isin(np.arange(kept.size), self.selected_[label])
        return kept

    def attributions(self, X: Matrix, method: str | None = None, n_steps: int = IG_STEPS) -> np.ndarray:
        """Return the attributions of every feature to every label in a few rows, not squared: float32, shape (n, L, D).

        ``method`` is the estimator's own when None. Integrated gradients take ``n_steps`` points of the integral;
        scores use the paper's 50.
        """
        method = self.attribution if method is None else method
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r:.200}")
        n_steps = check_count(n_steps, "n_steps")
        networks, X = self._networks(), self._check_input(X)
        return _joined([attributions(network, X, method, n_steps) for network in networks])

    def _ranked(self, X, k, progress):
        X = self._check_input(X, k)
        labels, scores = np.full((X.shape[0], k), -1, np.int32), np.zeros((X.shape[0], k), np.float32)
        width = min(k, self.n_labels_)
        progress("Predicting", 0.0, f"row 0 of {X.shape[0]:,}")
        for a, b in row_blocks(X.shape[0], ROWS):
            f = self._outputs(X[a:b])
            labels[a:b, :width] = np.argsort(-f, axis=1, kind="stable")[:, :width]
            scores[a:b, :width] = np.take_along_axis(f, labels[a:b, :width], axis=1)
            progress("Predicting", b / X.shape[0], f"row {b:,} of {X.shape[0]:,}")
        return Ranking(labels, scores)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        threshold = check_threshold(threshold)
        X = self._check_input(X)
        parts = []
        for a, b in row_blocks(X.shape[0], ROWS):
            f = self._outputs(X[a:b])
            parts.append(sp.csr_array(np.where(f >= threshold, f, 0)))
        return stacked(parts, self.n_labels_)

    def __getattr__(self, name):
        # Python calls this method only for attributes that do not exist.
        if name == "scores_" and "selected_" in self.__dict__:
            needed = score_bytes(self.shared_, self.n_labels_, self.n_features_in_, self.scoring_)
            whose = "all labels together" if self.shared_ else f"{self.n_labels_:,} labels"
            errors = " and their standard errors" if self.scoring_ == "sampled" else ""
            raise AttributeError(
                f"scores of all {self.n_features_in_:,} features for {whose}{errors} take {needed:,} bytes, more than "
                f"max_score_bytes; selected_scores_ has those of the selected features"
            )
        if name == "standard_error_" and "selected_" in self.__dict__:
            why = "the scores are exact" if self.scoring_ == "exact" else "scores_ were not kept either"
            raise AttributeError(f"there is no standard_error_: {why}")
        raise AttributeError(f"{type(self).__name__!r:.200} object has no attribute {name!r:.200}")

    def _train(self, X, Y, seed, workers, progress):
        chosen = {"batch_size": batch_size(self.batch_size, X.shape[0]), "random_state": seed}
        settings = FALS(**self.get_params() | chosen)
        sizes = sizes_of(self, X.shape[1], Y.shape[1])
        x, y = csr_parts(X), csr_parts(Y)[:2]
        if self.binary:
            return label_networks.train(x, y, Y.shape[1], sizes, settings, workers, progress)
        return Training(x, y, sizes, settings, workers).run(progress)

    def _outputs(self, X):
        return _joined([network.outputs(X) for network in self._networks()])

    def _networks(self):
        """Return the networks: one for all labels, or with ``binary`` one for each label; raise if not kept."""
        self._check_fitted()
        if self.network_ is None:
            raise ValueError("the network was not kept: fit with keep_network=True")
        if not self.binary_:
            return [self.network_]
        return [label_networks.of_label(self.network_, label) for label in range(self.n_labels_)]

    def _check_params(self):
        super()._check_params()
        if self.pattern in FISHER and self.attribution != "gradient":
            raise ValueError(
                f"pattern={self.pattern!r:.200} is Fisher information, which is made of gradients: "
                f"attribution={self.attribution!r:.200} goes with patterns 'FALS' and 'FAMS'"
            )
        if self.n_layers == 1 and (self.n_hidden is not None or self.dropout):
            raise ValueError("n_layers=1 has no hidden layer: n_hidden and dropout have nothing to act on")
        if self.binary and self.n_layers != 2:
            raise ValueError(f"binary=True is for n_layers=2, not {self.n_layers}")
        if self.binary and self.scoring == "sampled":
            raise ValueError(
                "binary=True has small networks, whose exact scores are cheap: scoring='sampled' is not for it"
            )
        if self.n_layers == 1 and self.attribution == "gradient" and self.scoring == "sampled":
            raise ValueError("n_layers=1 has exact scores at no cost: scoring='sampled' is not for it")

    def _state(self):
        return saving.state(self)

    def _restore(self, values, arrays):
        self.__dict__.update(saving.restored(values, arrays))


def _joined(parts):
    """Return the arrays joined along their second axis, the labels; a single array is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
