"""A small data set, and its parts as files that a user uploads."""

import numpy as np


def small_data(name="small", seed=0, names=True):
    """60 training and 20 test rows; label j goes with the features 2j and 2j + 1, so that it can be learned."""
    from xmlcore.datasets import Dataset

    rng = np.random.default_rng(seed)
    Y = rng.random((80, 8)) < 0.25
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (80, 16)) + (rng.random((80, 16)) < 0.05)
    named = {"feature_names": [f"word_{j}" for j in range(16)], "label_names": [f"topic *{j}*" for j in range(8)]}
    named["columns"] = {"language": ["en", "de"] * 40}
    return Dataset(name, X[:60], Y[:60], X[60:], Y[60:], **named if names else {})


def xmlc(data, part="train") -> bytes:
    """A part of a data set as the text a user uploads."""
    X, Y = getattr(data, f"X_{part}"), getattr(data, f"Y_{part}")
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
    for i in range(X.shape[0]):
        labels = ",".join(str(j) for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]])
        pairs = (f"{X.indices[p]}:{X.data[p]:.4f}" for p in range(X.indptr[i], X.indptr[i + 1]))
        lines.append(" ".join([labels, *pairs]))
    return ("\n".join(lines) + "\n").encode()
