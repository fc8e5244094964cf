"""Measures of a ranking for :func:`xmlcore.robustness.evaluate`, of all labels and of each bucket of labels."""

import numpy as np

from xmlcore import metrics
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.ranking import Ranking

ALL = "all"  # the bucket of all labels


class Measures:
    """The measures of rankings of the same rows, of all labels and of each bucket of labels."""

    def __init__(self, Y, Y_train, ks):
        self.Y, self.ks = Y, ks
        self.weights = None
        if Y_train is not None:
            self.weights = metrics.inverse_propensity(Y_train), metrics.inverse_log_frequency(Y_train)
            bucket = label_buckets(np.bincount(Y_train.indices, minlength=Y_train.shape[1]))
            self.members = {name: bucket == name for name in BUCKETS}
            self.n_true = {name: np.count_nonzero(inside[Y.indices]) for name, inside in self.members.items()}

    def of(self, ranking: Ranking) -> dict:
        """Return the value of every measure by (bucket, measure, k)."""
        values = {}
        for name, at in self._of_all_labels(ranking).items():
            values |= {(ALL, name, k): float(at[k - 1]) for k in self.ks}
        return values if self.weights is None else values | self._of_buckets(ranking)

    def _of_all_labels(self, ranking):
        most = self.ks[-1]
        if self.weights is None:
            return metrics.measures(self.Y, ranking, most, names=["P@k", "nDCG@k"])
        jain, logarithmic = self.weights
        names = ["P@k", "nDCG@k", "PSDCG@k", "PSP@k"]
        values = metrics.measures(self.Y, ranking, most, jain, names)
        values["PSDCG@k (1/log)"] = metrics.psdcg_at_k(self.Y, ranking, most, inv_ps=logarithmic)
        return {name: values[name] for name in (*names[:2], "PSDCG@k (1/log)", *names[2:])}

    def _of_buckets(self, ranking):
        values = {}
        right = metrics.hits(self.Y, ranking)
        for bucket in BUCKETS:
            # The index -1 of a place without a label selects the last label's bucket. That is harmless: it is no hit.
            n_right = np.cumsum((right & self.members[bucket][ranking.labels]).sum(axis=0))
            n_true = self.n_true[bucket]
            for k in self.ks:
                values[bucket, "P@k", k] = float(n_right[k - 1] / (k * right.shape[0]))
                values[bucket, "micro R@k", k] = float(n_right[k - 1] / n_true) if n_true else np.nan
        return values
