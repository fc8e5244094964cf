"""A probabilistic label tree with adversarial training, evaluation under noise, and explanations."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from xmlcore import metrics
from xmlcore.arrays import largest_values
from xmlcore.augmentation import augment
from xmlcore.label_names import read_training_labels
from xmlcore.models.base import OF_FITTED
from xmlcore.models.plt.estimator import PLT
from xmlcore.models.plt.parameters import EXTENDED_PRESETS, NOISE_PARAMETERS
from xmlcore.models.rows import counted, one_matrix
from xmlcore.noise import GaussianNoise, blocks_of_noisy_rows
from xmlcore.parameters import described
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import ArrayLike, Labels, Matrix
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels, check_number, check_weights


@described
class ExtendedPLT(PLT):
    """Probabilistic label tree that can also be trained on noisy copies of the rows, and evaluated under noise.

    This is the model of Date and Mehar (2025): a :class:`PLT` with the methods that the paper adds, under the paper's
    names: :meth:`fit_for_adversarial_examples`, :meth:`explain` and :meth:`adversarial_evaluation`. For other models,
    :class:`xmlcore.robustness.AdversarialTraining` trains in the same way and :func:`xmlcore.robustness.evaluate`
    measures under noise. :mod:`xmlcore.explain` explains what a model does with the features of a row.

    ``ExtendedPLT.preset("paper")`` is the paper's model: napkinXC's defaults in place of settings that are chosen. The
    tolerance and the number of epochs are xmlcore's, neither the paper's nor napkinXC's.

    {parameters}

    Attributes
    ----------
    label_counts_ : ndarray of int64, shape (L,)
        Number of training rows that have the label, without noisy copies, which ``n_rows_seen_`` does not count either.
    n_augmented_ : int
        Number of noisy copies that the model was trained on: 0 after :meth:`fit`.

    References
    ----------
    A. Date, S. Mehar, "Adversarial robustness and explainability in extreme multi-label classification with extended
    probabilistic label trees", 2025.

    Examples
    --------
    >>> from xmlcore import ExtendedPLT
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = ExtendedPLT(sigma=0.05).fit_for_adversarial_examples(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.explain([[0.25, -2.0]], n=1)
    [(1, -2.0)]
    """

    ABOUT = replace(PLT.ABOUT, color="#56B4E9", mark="diamond")
    PARAMETERS = (*PLT.PARAMETERS, *NOISE_PARAMETERS)
    PRESETS = EXTENDED_PRESETS

    sigma: float = 0.05
    augment_ratio: float = 1.0
    noise_support: str = "all"

    def fit_for_adversarial_examples(
        self,
        X: Matrix,
        Y: Labels,
        *,
        progress: ProgressLike = silent,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Train on the rows of X and on noisy copies of them (section 3.1 of the paper).

        m = round(N * augment_ratio) copies of rows get Gaussian noise of standard deviation ``sigma`` and keep the
        labels of the rows. They are stacked under the rows of X, which stay without noise (the *clean* rows).

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or a list of label ids for each row
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        sample_weight, label_weight : array-like, optional
            As for :meth:`fit`; a copy has the weight of its row.

        Returns
        -------
        ExtendedPLT
            The model. It equals the one that ``AdversarialTraining(PLT(...))`` trains with the same settings and seed.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data; the message names them.

        Notes
        -----
        With ``noise_support="all"`` copies have D values each, so training time and memory grow with m * D.
        :func:`xmlcore.robustness.augmented_bytes` estimates the memory.
        """
        progress = to_progress(progress)
        self._check_params()
        X, names, widths = one_matrix(X)
        X = check_features(X)
        Y, label_names, one_class = read_training_labels(Y, n_labels=self._n_labels_of(Y))
        check_labels(Y, n_rows=X.shape[0])
        progress("Adding noise to rows", 0.0)
        noise = GaussianNoise(self.sigma, self.noise_support)
        both = augment(X, Y, noise, self.augment_ratio, self._entropy())
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, "sample_weight", X.shape[0], zero=True, of="row")
            sample_weight = np.concatenate([sample_weight, sample_weight[both.rows]])
        self._fit(both.X, both.Y, progress, both.rows.size, sample_weight=sample_weight, label_weight=label_weight)
        for name in OF_FITTED:
            vars(self).pop(name, None)
        self._keep(names, label_names, counted(Y), Y.shape[0], one_class or None, widths)
        return self

    def explain(self, x: Matrix, n: int = 5) -> list[tuple[int, float]]:
        """Return the n features of largest size in a row, with their values (section 3.1 of the paper).

        Parameters
        ----------
        x : sparse or dense, one row
        n : int

        Returns
        -------
        list of (feature, value)
            Largest |value| first; features of equal |value| by id.

        Notes
        -----
        The result depends on the row only, not on the model. What each feature contributes to a prediction of the model
        is returned by :func:`xmlcore.explain.contributions`.
        """
        return largest_values(x, n)

    def adversarial_evaluation(
        self,
        X: Matrix,
        Y: Matrix,
        inv_ps: ArrayLike | None = None,
        noise_levels: Sequence[float] = (0.0, 0.01, 0.05, 0.1),
        k_values: Sequence[int] = (1, 3, 5),
        random_state: int = 0,
        progress: ProgressLike = silent,
    ) -> dict[str, Any]:
        """Measure top-k predictions on noisy rows (Algorithm 1 of the paper).

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        Y : sparse or dense binary, shape (n, L), or a list of label ids for each row
        inv_ps : array_like of float, shape (L,), optional
            Weights of labels in PSDCG@k: by default the paper's, 1 / ln(1 + count) with ``label_counts_``, where a
            label without rows counts as one with a single row.
        noise_levels : sequence of float
            Standard deviations of the noise on all features; 0 is the clean rows.
        k_values : sequence of int
        random_state : int
            Seed of the noise, which is the same for every k.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

        Returns
        -------
        dict
            ``results[k][sigma]`` is a dict of "P@k", "nDCG@k", "PSDCG@k" (in [0, 1]) and "pred_time": the seconds that
            predicting k labels for all rows took, without the making of the noise.

        Raises
        ------
        ValueError, TypeError
            Bad data, levels or k; the message names them.

        See Also
        --------
        xmlcore.robustness.evaluate : Measure any model and noise, with repeats, intervals and label buckets.
        """
        progress = to_progress(progress)
        X = self._check_input(X)
        Y = check_labels(Y, n_rows=X.shape[0], n_labels=self.n_labels_)
        if X.shape[0] == 0:
            raise ValueError("X has no rows: there is nothing to measure")
        inv_ps = metrics.ranking.inverse_log_counts(self.label_counts_) if inv_ps is None else inv_ps
        k_values = [check_count(k, "each of k_values") for k in k_values]
        check_count(random_state, "random_state", 0)
        noises = [GaussianNoise(check_number(level, "each of noise_levels")) for level in noise_levels]
        results = {k: {} for k in k_values}
        for noise in noises:  # compile the kernels first: the measured times are without it
            self.predict_topk(noise.apply(X[:1], seed=random_state), max(k_values, default=1))
        for at, noise in enumerate(noises):
            parts = {k: [] for k in k_values}
            seconds = dict.fromkeys(k_values, 0.0)
            blocks = blocks_of_noisy_rows(X, X.shape[1])
            for number, (start, end) in enumerate(blocks):
                done = (at + number / len(blocks)) / len(noises)
                progress("Predicting noisy rows", done, f"sigma {noise.sigma:g}: row {start + 1:,} of {X.shape[0]:,}")
                rows = np.arange(start, end)
                noisy = noise.apply(X[start:end], rows=rows, seed=random_state, n_jobs=self.n_jobs)
                for k in k_values:
                    begin = time.perf_counter()
                    parts[k].append(self.predict_topk(noisy, k).labels)
                    seconds[k] += time.perf_counter() - begin
            for k in k_values:
                labels = np.concatenate(parts[k])
                results[k][noise.sigma] = {
                    "P@k": float(metrics.precision_at_k(Y, labels, k)[-1]),
                    "nDCG@k": float(metrics.ndcg_at_k(Y, labels, k)[-1]),
                    "PSDCG@k": float(metrics.psdcg_at_k(Y, labels, k, inv_ps=inv_ps)[-1]),
                    "pred_time": seconds[k],
                }
        return results

    def _fit(self, X, Y, progress, n_augmented=0, **weights):
        """Train on X and Y, whose last ``n_augmented`` rows are noisy copies."""
        n_clean = X.shape[0] - n_augmented if n_augmented else None  # settings are chosen on rows as they are
        super()._fit(X, Y, progress, n_clean, **weights)
        self.n_augmented_ = int(n_augmented)

    def _state(self):
        values, arrays = super()._state()
        return values | {"n_augmented": self.n_augmented_}, arrays

    def _restore(self, values, arrays):
        super()._restore(values, arrays)
        self.n_augmented_ = check_count(values["n_augmented"], "n_augmented", least=0, most=INT32_MAX)
