"""Double sampling, prediction: twin of xmlcore/_kernels/ds_ranking.py."""

from naive.ds_features import features, more_features


def ranked(row, candidates, rows, labels, weights, logs=None, **space):
    """(class, f) of each candidate by falling f, the smaller class first among equals."""
    found = []
    for k in candidates:
        phi = features(row, k, rows, labels, **space)
        if len(weights) >= 16:
            phi += more_features(row, k, rows, labels, weighting=space.get("weighting", "tfidf"))
        if logs is not None:
            phi.append(logs[k])
        found.append((k, sum(w * value for w, value in zip(weights, phi, strict=True))))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))
