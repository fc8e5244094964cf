"""GradEnFS: features by the gradients of a sparse network, gathered while its connections change."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from xmlcore.parallel import run_tasks
from xmlcore.parameters import N_JOBS, About, Parameter, described
from xmlcore.selection.decision_trees import LABEL_SEED, binary_column, label_seed
from xmlcore.selection.rivals import SHARED, Selector
from xmlcore.typing import RandomState

HIDDEN_LAYERS, BATCH, STEP = 3, 100, 0.001
REWIRED = 0.3  # share of the connections that are replaced after each epoch
DECAY = 0.7  # of the scores, with each batch


@described
class GradEnFSSelection(Selector):
    """Selection of features by gradient information from an ensemble of sparse networks (Liu et al., AISTATS 2024).

    A network of three hidden layers has few connections, drawn at random: n + m between layers of n and m units. After
    each epoch the weakest three tenths are replaced by others. With each batch the scores of features become 0.7 times
    what they were, plus the mean size of the gradient of the loss with respect to the feature. A network for all labels
    has the sum of their losses. docs/methods/fals.md says where it differs from the authors' program.

    {parameters}

    Attributes
    ----------
    scores_ : ndarray of float32, shape (L, D), or (1, D) with ``per_label=False``
        0 for a feature that no training row has, and for a label that all of them have, or none.
    {selection}
    """

    ABOUT = About(
        "GradEnFS",
        "Trains a network of few connections, which change after each epoch, and keeps the features to which the loss "
        "reacts most. The paper on FALS compares with it, as GEFS. With a network for each label it is slow.",
        "Liu et al., AISTATS 2024",
        color="#E69F00",
        mark="triangle-down",
    )
    _work_bytes = 64
    PARAMETERS = (
        *SHARED,
        Parameter("n_epochs", "Epochs", "Passes over the rows.", "int", 100, minimum=1, offered=(1, 1000)),
        Parameter(
            "n_hidden", "Hidden units", "Units in each of three layers.", "int", 1000, minimum=1, maximum=1 << 20,
            offered=(10, 10_000), advanced=True,
        ),
        LABEL_SEED,
        N_JOBS,
    )  # fmt: skip

    n_epochs: int = 100
    n_hidden: int = 1000
    random_state: RandomState = 0
    n_jobs: int | None = None

    def _score(self, X, Y, progress, keep):
        seed, columns = self._entropy(), sp.csc_array(Y)
        n_true = np.diff(columns.indptr)
        learnt = np.flatnonzero((n_true > 0) & (n_true < X.shape[0]))
        if not self.per_label:
            targets, random = Y[:, learnt].toarray().astype(np.float32), np.random.default_rng(seed)
            return keep(0, self._scores(X, targets, random, progress)[None, :])

        def one_label(label):
            scores = np.zeros(X.shape[1], np.float32)
            if label in learnt:
                y = binary_column(columns, label).astype(np.float32)[:, None]
                scores = self._scores(X, y, np.random.default_rng(label_seed(seed, label)))
            return keep(label, scores[None, :])

        labels = range(n_true.size)
        run_tasks(one_label, labels, [1] * len(labels), self.n_jobs, progress, "Training networks", "labels")

    def _scores(self, X, Y, random, progress=lambda *_: None):
        """Train a network and return the scores of all features."""
        n, scores = X.shape[0], np.zeros(X.shape[1], np.float32)
        widths = [X.shape[1], *[self.n_hidden] * HIDDEN_LAYERS, Y.shape[1]]
        layers = [SparseLayer(*of, random) for of in pairwise(widths)] if Y.shape[1] else []
        for epoch in range(self.n_epochs if layers else 0):
            progress("Training the network", epoch / self.n_epochs, f"epoch {epoch + 1:,} of {self.n_epochs:,}")
            order = random.permutation(n)
            for first in range(0, n, BATCH):
                rows = order[first : first + BATCH]
                values = np.ascontiguousarray(X[rows].toarray().T)
                for layer in layers[:-1]:
                    values = np.maximum(layer.forward(values), 0)
                slope = (expit(layers[-1].forward(values)) - Y[rows].T) / np.float32(rows.size)
                for layer in reversed(layers[1:]):
                    slope = layer.backward(slope) * (layer.values > 0)
                scores = np.float32(DECAY) * scores + np.abs(layers[0].backward(slope)).mean(axis=1)
            for layer in layers:
                layer.rewire(random)
        progress("Training the network", 1.0)
        scores[np.bincount(X.indices, minlength=scores.size) == 0] = 0  # the loss reacts to absent features, too
        return scores


class SparseLayer:
    """The connections between two layers of units, trained by Adam; values of units have a column for each row."""

    def __init__(self, n_in, n_out, random):
        self.shape, size = (n_in, n_out), n_in * n_out
        self.is_full = n_in + n_out >= size
        self.at = np.arange(size)
        if not self.is_full:
            self.at = np.sort(random.choice(size, random.binomial(size, (n_in + n_out) / size), replace=False))
        self.n_steps, self.bias = 0, np.zeros((3, n_out), np.float32)  # with the two moments of Adam, as weights
        self.weights = np.zeros((3, self.at.size), np.float32)
        for of in (self.weights, self.bias):
            of[0] = random.uniform(-1, 1, of.shape[1]) / np.sqrt(n_in)
        self._link()

    def _link(self):
        self.rows, self.columns = np.divmod(self.at, self.shape[1])
        ends = np.searchsorted(self.rows, np.arange(self.shape[0] + 1))
        self.matrix = sp.csr_array((self.weights[0], self.columns, ends), shape=self.shape)
        self.matrix.data = self.weights[0]  # and no copy, as steps change the weights

    def forward(self, values):
        self.values = values
        return self.matrix.T @ values + self.bias[0][:, None]

    def backward(self, slope):
        """Return the gradient of the loss with respect to what :meth:`forward` was given, and make a step."""
        gradient = self.matrix @ slope
        self.n_steps += 1
        of_weights = np.einsum("nb,nb->n", self.values[self.rows], slope[self.columns])
        for (weight, mean, square), g in ((self.weights, of_weights), (self.bias, slope.sum(axis=1))):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            size = np.sqrt(square / (1 - 0.999**self.n_steps)) + 1e-8
            weight -= STEP * mean / (1 - 0.9**self.n_steps) / size
        return gradient

    def rewire(self, random):
        """Replace the weakest connections by others, drawn at random, of weight 0."""
        if self.is_full:
            return
        n = round(REWIRED * self.at.size)
        kept, size = np.sort(np.argsort(np.abs(self.weights[0]), kind="stable")[n:]), self.shape[0] * self.shape[1]
        drawn = random.choice(size, min(size, kept.size + n), replace=False)
        new = drawn[~np.isin(drawn, self.at[kept])][:n]
        at = np.concatenate([self.at[kept], new])
        order = np.argsort(at)
        weights = np.concatenate([self.weights[:, kept], np.zeros((3, new.size), np.float32)], axis=1)
        self.at, self.weights = at[order], np.ascontiguousarray(weights[:, order])
        self._link()
