"""Small problems for double sampling, and what a training makes of them."""

import numpy as np

from xmlcore import DoubleSampling
from xmlcore.models.double_sampling import learning
from xmlcore.models.double_sampling.sampling import draw_adversaries, draw_copies
from xmlcore.progress import silent
from xmlcore.validation import check_labels

SPACES = [(d, w) for d in ("cosine", "euclidean") for w in ("tfidf", "counts")]
EXTENSIONS = [
    {"features": "extended"},
    {"candidates_from": "plt"},
    {"features": "extended", "candidates_from": "plt"},
    {"adversaries": "candidates", "balanced": False},
    {"features": "extended", "candidates_from": "plt", "adversaries": "candidates"},
]


def problem(n=40, n_terms=15, n_classes=7, most=1, seed=0, real=False, skip=()):
    """Counts (or amounts), rows as dicts, and a list of classes per row; classes in ``skip`` have no rows."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.5, (n, n_terms)).astype(np.float32)
    if real:
        X *= random.random(X.shape).astype(np.float32)
    pool = [k for k in range(n_classes) if k not in skip]
    labels = [sorted(random.choice(pool, random.integers(1, most + 1), replace=False).tolist()) for _ in range(n)]
    for k, row in zip(pool, labels):  # every class has a row
        row[:] = sorted({k, *row[1:]})
    for row, own in zip(X, labels):
        row[own[0] % n_terms] += 2
    return X, as_dicts(X), labels


def as_dicts(X):
    return [{t: float(v) for t, v in enumerate(row) if v} for row in X]


def binary(labels, n_classes=7):
    return check_labels(labels, n_labels=n_classes)


def paper(X, Y, progress=silent, **params):
    """The fitted model of the paper, with these parameters changed."""
    return DoubleSampling.preset("paper", **params).fit(X, Y, progress=progress)


def sampled(labels, n_classes, **params):
    """The sample that is drawn at random with these parameters."""
    params, Y = DoubleSampling.preset("paper", **params), binary(labels, n_classes)
    size = np.bincount(Y.indices, minlength=n_classes).astype(np.int64)
    copies = draw_copies(params, Y, size, params.random_state)
    return draw_adversaries(params, Y, size, copies, params.random_state)


def examples_of(sample):
    """The row, the class and the adversaries of each example."""
    return list(zip(sample.rows.tolist(), sample.classes.tolist(), sample.adversaries.tolist()))


def recorded(monkeypatch, X, Y, **params):
    """A fitted model; the data, sample, pairs and signs of its training."""
    seen, differences = [], learning.pair_differences

    def noted(params, data, sample, progress):
        seen.append((data, sample, *differences(params, data, sample, progress)))
        return seen[-1][2:]

    monkeypatch.setattr(learning, "pair_differences", noted)
    return paper(X, Y, **params), seen[0]
