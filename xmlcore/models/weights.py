"""Weights of rows and of labels in training."""

from typing import Self

import numpy as np
import scipy.sparse as sp

from xmlcore.documented import documented
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.for_scikit_learn import RoutesWeights
from xmlcore.models.rows import labels_given, only_rows
from xmlcore.progress import ProgressLike, silent
from xmlcore.system import free_bytes
from xmlcore.typing import ArrayLike, LabelNames, Labels, Matrix
from xmlcore.validation import INT32_MAX, check_weights

STREAM = 0x57  # number of the random stream by which weights are rounded
BYTES_PER_VALUE = 8  # bytes of one value of a sparse row: a float32 value and an int32 column


class TakesWeights(RoutesWeights, MultiLabelModel):
    """Base of models whose training weighs rows and labels."""

    @documented
    def fit(
        self,
        X: Matrix,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows and their labels.

        Parameters
        ----------
        {X_train, y_or_classes, Y, progress, label_names}
        sample_weight : array-like, shape (N,), optional
            What each row counts, 0 or more: a row of weight 2 counts as two rows in the loss of each classifier, and in
            whatever else is computed of rows. A row of weight 0 is left out. Counts of rows, such as ``label_counts_``,
            are not weighted. LdSM and DoubleSampling, which count rows, repeat them: of a weight of 2.3, the third row
            is drawn with probability 0.3.
        label_weight : array-like, shape (L,), optional
            For label trees and one-vs-rest. What the rows that have a label count in the loss of the label's own
            classifier, 0 or more, beside the rows that do not have it: inverse propensities
            (:func:`xmlcore.metrics.inverse_propensity`) make up for labels that training rows lack.

        {fitted}
        """
        weights = {"sample_weight": sample_weight, "label_weight": label_weight}
        if label_weight is not None and "label_weight" not in self._WEIGHTS:
            raise ValueError(
                f"label_weight is for PLT and OneVsRest: {type(self).__name__} has no classifier for each label, in "
                "whose loss it would count"
            )
        weights = {name: weights[name] for name in self._WEIGHTS}
        return self._fit_to(X, labels_given(y, Y), progress, label_names, **weights)


def weighed_rows(X, Y, sample_weight, label_weight) -> tuple:
    """Return rows and labels without the rows of weight 0, and the weights of rows and of labels, None where all are 1.

    X and Y are checked. Rows of weight 0 are left out whole, as if they had not been given.
    """
    boosts = _unless_all_are_1(label_weight, "label_weight", Y.shape[1], "label")
    weights = _unless_all_are_1(sample_weight, "sample_weight", X.shape[0], "row")
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, Y, weights = only_rows(X, kept), sp.csr_array(Y[kept]), weights[kept]
        if Y.nnz == 0:
            raise ValueError("no row of a positive sample_weight has a label: there is nothing to learn")
    return X, Y, weights, boosts


def repeated_rows(X, Y, sample_weight, entropy) -> tuple[sp.csr_array, sp.csr_array]:
    """Return each row as often as its weight says; fractions are rounded up or down at random.

    ``entropy`` returns the seed, and is called if there is anything to round.
    """
    weights = _unless_all_are_1(sample_weight, "sample_weight", X.shape[0], "row")
    if weights is None:
        return X, Y
    if weights.max() < 1:
        raise ValueError(
            f"no sample_weight reaches 1, so that most rows would be left out: the largest is {weights.max():.3g}. A "
            "weight is a number of rows here: multiply all by the same number"
        )
    whole = np.floor(weights)
    if (whole < weights).any():
        whole += np.random.default_rng([entropy(), STREAM]).random(weights.size) < weights - whole
    needed, free = whole.sum() / X.shape[0] * BYTES_PER_VALUE * X.nnz, free_bytes()
    if whole.sum() > INT32_MAX or (free is not None and needed > free):
        raise MemoryError(
            f"sample_weight makes {whole.sum():,.0f} rows of {X.shape[0]:,}, which do not fit into free memory: divide "
            "all weights by the same number"
        )
    rows = np.repeat(np.arange(X.shape[0]), whole.astype(np.int64))
    return sp.csr_array(X[rows]), sp.csr_array(Y[rows])


def _unless_all_are_1(weights, name, count, of) -> np.ndarray | None:
    found = None if weights is None else check_weights(weights, name, count, zero=True, of=of)
    return None if found is None or (found == 1.0).all() else found
