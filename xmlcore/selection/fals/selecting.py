"""The number of features to select, the best of them, and FALS's selection from scores computed in blocks of labels."""

import numbers

import numpy as np

from xmlcore.selection.fals.checks import is_finite


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
        shape = (self.n_labels, self.k)
        out = {
            "selected_": np.broadcast_to(self.selected, shape),
            "selected_scores_": np.broadcast_to(self.selected_scores, shape),
        }
        if not self.shared:
            out = {"selected_": self.selected, "selected_scores_": self.selected_scores}
        if self.scores is not None:
            out["scores_"] = self.scores
        if self.error is not None:
            out["standard_error_"] = self.error
        return out
