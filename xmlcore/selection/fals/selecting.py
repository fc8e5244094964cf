"""The best features of each label, collected while scores come in block by block."""

import numpy as np

from xmlcore.selection.fals.checks import is_finite


def best(scores, k: int) -> np.ndarray:
    """Return the k features of largest score, best first, the smaller id first among equals: int32 (k,)."""
    least = np.partition(scores, scores.size - k)[scores.size - k]
    candidates = np.flatnonzero(scores >= least)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k].astype(np.int32)


class Selection:
    """The selected features, and where they are kept the scores of all features.

    Parameters
    ----------
    n_labels, n_features : int
    k : int
        The number of features to select for each label.
    shared : bool
        Whether all labels get the features of largest sum of scores.
    kept : bool
        Whether to keep the scores of all features.
    sampled : bool
        Whether scores have standard errors.
    """

    def __init__(self, n_labels, n_features, k, shared, kept, sampled):
        self.n_labels, self.k, self.shared = n_labels, k, shared
        rows = 1 if shared else n_labels
        self.sums = np.zeros((2, n_features)) if shared else None  # of scores, and of squared errors
        self.scores = np.empty((rows, n_features), np.float32) if kept else None
        self.error = np.empty((rows, n_features), np.float32) if kept and sampled else None
        self.selected = np.empty((rows, k), np.int32)
        self.selected_scores = np.empty((rows, k), np.float32)

    def add(self, block):
        """Take the scores of one :class:`~xmlcore.selection.fals.blocks.Block`."""
        if self.shared:
            self.sums[0] += block.scores.sum(axis=0, dtype=np.float64)
            if block.error is not None:  # the labels' samples are independent, or the block is the sum of all labels
                self.sums[1] += np.square(block.error, dtype=np.float64).sum(axis=0)
            return
        self._take(block.labels, block.scores, block.error)

    def _take(self, rows, scores, error):
        if not is_finite(scores):
            raise ValueError("scores are not finite, as weights are very large: lower learning_rate, or scale features")
        if self.scores is not None:
            self.scores[rows] = scores
        if self.error is not None:
            self.error[rows] = error
        for label, own in zip(range(rows.start, rows.stop), scores):
            self.selected[label] = best(own, self.k)
            self.selected_scores[label] = own[self.selected[label]]

    def fitted(self) -> dict:
        """Return the fitted attributes of FALS that hold features and scores."""
        if self.shared:
            sums = self.sums.astype(np.float32)
            self._take(slice(0, 1), sums[:1], np.sqrt(sums[1:]))
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
