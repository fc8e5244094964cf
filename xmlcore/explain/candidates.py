"""The weights that a DoubleSampling model has learned, and why it ranks a row's candidates as it does."""

import itertools
import math

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.double_sampling import MEANINGS
from xmlcore.typing import DataFrame, Dataset


def class_sizes(model, dataset: "Dataset") -> "DataFrame":
    """Return how many training rows each class has, and how many copies of them f was learned from."""
    sizes = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels)
    order = np.argsort(-sizes, kind="stable")
    return pd.DataFrame(
        {
            "label": order,
            "name": [dataset.label_name(int(j)) for j in order],
            "class_size": sizes[order],
            "sampled_size": model.sampled_size_[order],
        }
    )


def bound_terms(class_sizes, n_adversarial, examples_per_class, delta: float = 0.05) -> "DataFrame":
    """Return what theorem 2 of the paper adds to the risk over the sample, but for the complexity, as two terms.

    As proved, lemma 4 has √(2αβ ...) in the place of √(2α/β ...), and a class's share 1/K of the sample in that of π.
    """
    n = np.asarray(class_sizes, np.float64)
    n_classes, rows, most = np.count_nonzero(n), n.sum(), n.max(initial=0)
    log_classes, lines = math.log(4 * n_classes / delta) / (rows - 1), []
    for kappa, each in itertools.product(n_adversarial, examples_per_class):
        printed = ("as printed", most**2 / (rows * each), most / each, each / most)
        for stated, alpha, beta, factor in (printed, ("as proved", n_classes * most / rows, n_classes, n_classes)):
            classes = math.sqrt(2 * alpha * factor * log_classes) + 7 * beta * log_classes / 3
            pairs = alpha * math.sqrt((n_classes - 1) * math.log(2 / delta) / (2 * n_classes * each * kappa))
            lines.append((kappa, each, stated, alpha, beta, pairs, classes))
    columns = ["n_adversarial", "examples_per_class", "stated", "alpha", "beta", "pairs", "classes"]
    return pd.DataFrame(lines, columns=columns)


def feature_weights(model) -> "DataFrame":
    frame = pd.DataFrame(
        {
            "name": list(model.feature_names_),
            "value": model.weights_ * model.feature_scale_,
            "weight": model.weights_,
            "scale": model.feature_scale_,
            "meaning": [MEANINGS.get(name, "") for name in model.feature_names_],
        }
    )
    return frame.iloc[np.argsort(-frame["value"].abs().to_numpy(), kind="stable")].reset_index(drop=True)


class CandidateRanking:
    """The q candidates of a test row in the order of f, then the m true classes that are no candidates.

    ``true``, ``missed``: the row's true classes, and those that are no candidates; ``labels``: candidates and missed
    classes, which ``f``, ``right``, ``names`` and the lines of ``features`` and ``contributions`` follow. A line of
    contributions, weight times feature against the mean of the candidates, adds up to f against their mean f.
    ``rank``, ``nearness``: places from 1 among the candidates, by f and before f ranks them; 0 for missed classes.
    """

    def __init__(self, model, dataset: "Dataset", row: int):
        x, true = dataset.X_test[[row]], dataset.Y_test[[row]].indices
        nearest = model.candidates(x)[0]
        missed = true[~np.isin(true, nearest)]
        classes = np.concatenate([nearest, missed]).astype(np.int32)
        features = model.pair_features(x, classes[None, :])[0]
        f = features @ model.weights_
        q, zeros = nearest.size, np.zeros(missed.size, np.int64)
        order = np.concatenate([np.lexsort((nearest, -f[:q])), q + np.argsort(-f[q:], kind="stable")])
        self.q, self.true, self.missed = q, true, classes[order[q:]]
        self.labels, self.features, self.f = classes[order], features[order], f[order]
        self.rank = np.concatenate([np.arange(1, q + 1), zeros])
        self.nearness = np.concatenate([order[:q] + 1, zeros])
        self.right = np.isin(self.labels, true)
        self.contributions = (self.features - self.features[:q].mean(axis=0)) * model.weights_
        self.names = [dataset.label_name(int(j)) for j in self.labels]
        self.feature_names = list(model.feature_names_)

    @property
    def shares(self) -> np.ndarray:
        """Return each candidate's share of the sum of exp(f), as predict_proba does; nan for missed classes."""
        shares = np.full(self.f.size, np.nan)
        parts = np.exp(self.f[: self.q] - self.f[0])
        shares[: self.q] = parts / parts.sum()
        return shares

    def wide(self) -> "DataFrame":
        """Return a line per class: rank, name, label, true, f, share, nearness, and a column for each feature."""
        rank, nearness = (pd.Series(at, dtype="Int64").replace(0, pd.NA) for at in (self.rank, self.nearness))
        columns = {"rank": rank, "name": self.names, "label": self.labels, "true": self.right, "f": self.f}
        frame = pd.DataFrame(columns | {"share": self.shares, "nearness": nearness})
        return pd.concat([frame, pd.DataFrame(self.features, columns=self.feature_names)], axis=1)

    def tidy(self, most: int | None = None, most_missed: int | None = None) -> "DataFrame":
        """Return a line per class and feature."""
        shown = np.concatenate([np.arange(self.q)[:most], np.arange(self.q, self.f.size)[:most_missed]])
        n, m = shown.size, len(self.feature_names)
        return pd.DataFrame(
            {
                "label": np.repeat(self.labels[shown], m),
                "name": np.repeat(np.array(self.names, dtype=object)[shown], m),
                "right": np.repeat(self.right[shown], m),
                "candidate": np.repeat(shown < self.q, m),
                "f": np.repeat(self.f[shown], m),
                "feature": np.tile(np.array(self.feature_names, dtype=object), n),
                "value": self.features[shown].ravel(),
                "contribution": self.contributions[shown].ravel(),
            }
        )
