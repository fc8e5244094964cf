"""FALS's selection from scores computed in blocks of labels, and checks of its input and its results."""

import numbers
import warnings

import numpy as np

# There is a warning if the largest absolute value of a feature is at least this many times the median of the largest
# absolute values of all features.
UNEVEN_RATIO = 1000.0


def selected_count(n_features, total: int) -> int:
    """Return the number of features to select, at least 1: a share of ``total`` features is rounded to a number."""
    if not isinstance(n_features, numbers.Integral):
        return max(1, round(float(n_features) * total))
    if n_features > total:
        raise ValueError(f"n_features is {n_features}, but X has {total} features")
    return int(n_features)


def best(scores, k: int, later=None) -> np.ndarray:
    """Return the k features of largest score, best first."""
    least = np.partition(scores, scores.size - k)[scores.size - k]
    candidates = np.flatnonzero(scores >= least)
    keys = (-scores[candidates],) if later is None else (-later[candidates], -scores[candidates])
    return candidates[np.lexsort(keys)][:k].astype(np.int32)


class BestFeatures:
    """Collect the selected features of all labels and, if they are to be kept, the scores of all features."""

    def __init__(self, n_labels, n_features, k, shared, kept, sampled):
        self.n_labels, self.k, self.shared = n_labels, k, shared
        rows = 1 if shared else n_labels
        self.sums = np.zeros((2, n_features)) if shared else None  # of scores, and of squared errors
        self.scores = np.empty((rows, n_features), np.float32) if kept else None
        self.error = np.empty((rows, n_features), np.float32) if kept and sampled else None
        self.selected = np.empty((rows, k), np.int32)
        self.selected_scores = np.empty((rows, k), np.float32)

    def add(self, block):
        """Add the scores of one :class:`~xmlcore.selection.fals.blocks.Block` of labels."""
        if self.shared:
            self.sums[0] += block.scores.sum(axis=0, dtype=np.float64)
            if block.error is not None:  # errors add up: samples of labels are independent, or the block has the sum
                self.sums[1] += np.square(block.error, dtype=np.float64).sum(axis=0)
            return
        self._keep(block.labels, block.scores, block.error)

    def _keep(self, rows, scores, error):
        if not is_finite(scores):
            raise ValueError("scores are not finite, as weights are very large: lower learning_rate, or scale features")
        if self.scores is not None:
            self.scores[rows] = scores
        if self.error is not None:
            self.error[rows] = error
        for label, scores_of_label in zip(range(rows.start, rows.stop), scores):
            self.selected[label] = best(scores_of_label, self.k)
            self.selected_scores[label] = scores_of_label[self.selected[label]]

    def fitted(self) -> dict:
        """Return the fitted attributes of FALS that hold features and scores."""
        if self.shared:
            sums = self.sums.astype(np.float32)
            self._keep(slice(0, 1), sums[:1], np.sqrt(sums[1:]))
        out = {"selected_": self.selected, "selected_scores_": self.selected_scores}
        if self.shared:
            out = {name: np.broadcast_to(values, (self.n_labels, self.k)) for name, values in out.items()}
        if self.scores is not None:
            out["scores_"] = self.scores
        if self.error is not None:
            out["standard_error_"] = self.error
        return out


# --- checks ---


def are_features(selected, n_features: int) -> bool:
    """Return whether each row of a selection has ids of features, each once."""
    ordered = np.sort(selected, axis=1)
    within = ordered[:, 0].min() >= 0 and ordered[:, -1].max() < n_features
    return bool(within and (ordered[:, 1:] > ordered[:, :-1]).all())


def is_finite(array) -> bool:
    """Return whether all values of an array are finite, without making a boolean array of its size."""
    return array.size == 0 or bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def check_finite(network) -> None:
    """Raise ValueError if weights of the network are not finite, because the training has diverged."""
    if not all(is_finite(array) for array in (*network.weights, *network.biases)):
        raise ValueError(
            "training diverged, weights are no longer finite: lower learning_rate or l2, or scale the features"
        )


def warn_of_scales(X) -> None:
    """Warn if the values of a feature are much larger than those of other features, because it is in another unit."""
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    present = largest[largest > 0]
    if present.size == 0 or largest.max() < UNEVEN_RATIO * np.median(present):
        return
    warnings.warn(
        f"feature {largest.argmax()} has absolute values up to {largest.max():,.4g}, the median feature up to "
        f"{np.median(present):,.4g}: scores are made from gradients, which depend on the unit of a feature, so this "
        "feature may hide the others; scale the features first, for example divide each by its largest absolute value",
        UserWarning,
        stacklevel=6,
    )


def check_n_scored_rows(params, n_rows: int) -> None:
    """Raise ValueError if scores are sampled from more rows than there are."""
    if params.scoring == "sampled" and params.n_scored_rows is not None and params.n_scored_rows > n_rows:
        raise ValueError(
            f"n_scored_rows is {params.n_scored_rows:,}, but X has {n_rows:,} rows: scoring='exact' uses all"
        )


def check_scores(fitted: dict, k: int, X) -> None:
    """Raise ValueError if all scores are 0, and warn if labels have fewer than k features with a positive score."""
    positive = (fitted["selected_scores_"] > 0).sum(axis=1)
    if not positive.any():
        largest = float(abs(X).max()) if X.nnz else 0.0
        remedy = "lower learning_rate, or train more epochs"
        if not 0.01 <= largest <= 100:
            remedy = (
                f"X has absolute values up to {largest:,.4g}, and the network needs values of about 1: divide each "
                "feature by its largest absolute value, as sklearn.preprocessing.MaxAbsScaler does, or count in a "
                f"{'larger' if largest > 1 else 'smaller'} unit"
            )
        raise ValueError(
            f"the scores of all {X.shape[1]:,} feature(s) are 0 for all labels, as the network's outputs do not change "
            f"with any feature: {remedy}"
        )
    for few, problem in (
        (positive == 0, "no feature with a score above 0, and keep the first ones"),
        ((positive > 0) & (positive < k), f"fewer than {k:,} features with a score above 0, and keep others with 0"),
    ):
        if few.any():
            warnings.warn(
                f"{few.sum():,} of {few.size:,} labels, label {few.argmax()} first, have {problem}",
                UserWarning,
                stacklevel=6,
            )
