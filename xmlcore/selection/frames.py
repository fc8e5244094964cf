"""Tables about selections: the features of each label, and the similarity of labels.

A selection is an int32 array (L, k) of feature ids: one row per label, its best feature first. A label *keeps* the
features that are selected for it.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd

BLOCK_CELLS = 1 << 23  # largest number of pairs of labels that are compared at a time
MOST_WORK = 4e9  # most multiply-adds for comparing labels: about ten seconds


def kept(selected, n_features: int) -> sp.csr_array:
    """Return a matrix with a 1 for each feature that a label keeps."""
    selected = np.asarray(selected)
    n_labels, k = selected.shape
    ptr = np.arange(n_labels + 1, dtype=np.int64) * k
    ids = np.sort(selected, axis=1).ravel().astype(np.int64)
    return sp.csr_array((np.ones(ids.size, np.float32), ids, ptr), shape=(n_labels, n_features))


def selection_frame(selected, scores, label_name: Callable, feature_name: Callable, shares=None):
    """Return a table of the whole selection, with one line per label and feature."""
    n_labels, k = selected.shape
    ids, place = np.unique(selected, return_inverse=True)
    names = np.array([feature_name(int(j)) for j in ids], dtype=object)
    labels = np.array([label_name(j) for j in range(n_labels)], dtype=object)
    table = pd.DataFrame(
        {
            "label": np.repeat(np.arange(n_labels), k),
            "label_name": np.repeat(labels, k),
            "rank": np.tile(np.arange(1, k + 1), n_labels),
            "feature": selected.ravel(),
            "name": names[place.ravel()],
            "score": np.asarray(scores).ravel(),
        }
    )
    if shares is None:
        return table
    with_label, without_label = shares
    weighted = _weighted(scores, with_label, without_label)
    ranks = np.argsort(_best_first(weighted), axis=1) + 1
    shared = {"with_label": with_label.ravel(), "without_label": without_label.ravel()}
    return table.assign(**shared, weighted_score=weighted.ravel(), weighted_rank=ranks.ravel())


def shares_of_features(selected, labels, X, Y) -> tuple:
    """Return the shares of a label's rows, and of all others, that have a feature, for what some labels keep."""
    labels = np.asarray(labels)
    has = sp.csr_array((np.ones(X.nnz, np.float32), X.indices, X.indptr), shape=X.shape)
    rows_of_label = sp.csr_array(sp.csc_array(Y)[:, labels].T, dtype=np.float32)
    n_rows, in_all = np.diff(rows_of_label.indptr), np.bincount(X.indices, minlength=X.shape[1])
    shares = np.full((2, labels.size, np.asarray(selected).shape[1]), np.nan)
    step = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    for start in range(0, labels.size, step):
        block = slice(start, start + step)
        counts = (rows_of_label[block] @ has).toarray()
        features, n = np.asarray(selected)[labels[block]], n_rows[block, None]
        own = np.take_along_axis(counts, features, axis=1)
        np.divide(own, n, out=shares[0, block], where=n > 0)
        np.divide(in_all[features] - own, X.shape[0] - n, out=shares[1, block], where=n < X.shape[0])
    return shares[0], shares[1]


def _weighted(scores, with_label, without_label) -> np.ndarray:
    """Return scores times by how much more often the label's rows have the feature than others; 0 where less often."""
    return np.asarray(scores, dtype=np.float64) * np.maximum(np.nan_to_num(with_label - without_label), 0)


def weighted(selected, scores, labels, X, Y) -> tuple:
    """Return the features of some labels by score times how much more often the label's rows have them than others."""
    labels = np.asarray(labels)
    values = _weighted(np.asarray(scores)[labels], *shares_of_features(selected, labels, X, Y))
    order = _best_first(values)
    return np.take_along_axis(np.asarray(selected)[labels], order, 1), np.take_along_axis(values, order, 1)


def positive_frame(dataset, positive):
    """Return the share of training rows with each label, and of its gradients that are positive (FALS, figure 5)."""
    rows = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels) / dataset.n_train
    names = [dataset.label_name(j) for j in range(dataset.n_labels)]
    return pd.DataFrame({"name": names, "rows": rows, "gradients": positive})


def _best_first(values):
    """Return the order of each row of an array from its largest value; equal values and nan stay in their order."""
    return np.argsort(-np.nan_to_num(values), axis=1, kind="stable")


def label_frame(selected, scores, errors, label: int, X, Y):
    """Return a table of the features of a label, best first, with how often they occur."""
    features = selected[label]
    with_label, without_label = (shares[0] for shares in shares_of_features(selected, [label], X, Y))
    weighted = _weighted(scores[label], with_label, without_label)
    columns = {"rank": np.arange(1, features.size + 1), "feature": features, "score": scores[label].astype(np.float64)}
    if errors is not None:
        columns["standard_error"] = errors[label].astype(np.float64)
    columns["n_labels"] = np.bincount(selected.ravel(), minlength=X.shape[1])[features]
    columns |= {"with_label": with_label, "without_label": without_label, "weighted_score": weighted}
    columns["weighted_rank"] = np.argsort(_best_first(weighted[None, :])[0]) + 1
    return pd.DataFrame(columns)


def closest_pairs(selected, n_features: int, n: int = 200, order=None):
    """Return a table of the pairs of labels that have most features in common."""
    selected = np.asarray(selected)
    n_labels, k = selected.shape
    order = np.arange(n_labels) if order is None else np.asarray(order)
    count = np.bincount(selected.ravel(), minlength=n_features).astype(np.float64)
    work = float((count**2).sum())
    if work > MOST_WORK:
        order = order[: max(2, int(n_labels * np.sqrt(MOST_WORK / work)))]
    order = np.sort(order)
    mine = kept(selected[order], n_features)
    step = max(1, BLOCK_CELLS // max(1, order.size))
    closest, jaccard, share, pairs = [], 0.0, 0.0, order.size * (order.size - 1) / 2
    for start in range(0, order.size, step):
        common = (mine[start : start + step] @ mine.T).toarray()
        a, b = np.triu_indices(common.shape[0], start + 1, order.size)  # each pair counts once
        common = common[a, b]
        jaccard += float((common / (2 * k - common)).sum(dtype=np.float64))
        share += float(common.sum(dtype=np.float64)) / k
        best = np.argpartition(-common, n)[:n] if common.size > n else slice(None)
        closest.append([start + a[best], b[best], common[best].astype(np.int64)])
    a, b, common = (np.concatenate(part) for part in zip(*closest))
    first = np.lexsort((b, a, -common))[:n]
    common = common[first]
    names = {"a": order[a[first]], "b": order[b[first]], "common": common}
    frame = pd.DataFrame(names | {"share": common / k, "jaccard": common / (2 * k - common)})
    return frame, order.size, jaccard / pairs if pairs else np.nan, share / pairs if pairs else np.nan


def alike_order(matrix) -> np.ndarray:
    """Return an order of the rows of a matrix in which similar rows are next to each other."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from sklearn.preprocessing import normalize

    if matrix.shape[0] < 3:
        return np.arange(matrix.shape[0])
    return leaves_list(
        linkage(normalize(matrix.astype(np.float64)), "average", optimal_ordering=matrix.shape[0] <= 200)
    )


def heat_frame(selected, scores, n_features: int, labels, most_features: int = 60):
    """Return a table of the relative scores of features for some labels, similar labels and features side by side."""
    labels = np.asarray(labels)
    ids, own_scores = selected[labels], np.maximum(np.asarray(scores, dtype=np.float64)[labels], 0)
    largest = own_scores[:, :1]
    share = np.divide(own_scores, largest, out=np.zeros_like(own_scores), where=largest > 0)
    total = np.bincount(ids.ravel(), share.ravel(), minlength=n_features)
    n_kept = np.unique(ids).size
    features = np.argsort(-total, kind="stable")[: min(most_features, n_kept)]
    place = np.full(n_features, -1)
    place[features] = np.arange(features.size)
    values = np.full((labels.size, features.size), np.nan)
    ranks = np.zeros(values.shape, np.int64)
    row, column = np.nonzero(place[ids] >= 0)
    at = place[ids[row, column]]
    values[row, at], ranks[row, at] = share[row, column], column + 1
    filled = np.sqrt(np.nan_to_num(values))
    rows, columns = alike_order(filled), alike_order(filled.T)
    frame = pd.DataFrame(
        {
            "label": np.repeat(labels[rows], features.size),
            "feature": np.tile(features[columns], labels.size),
            "value": values[rows][:, columns].ravel(),
            "rank": ranks[rows][:, columns].ravel(),
        }
    )
    frame.attrs["n_kept"] = int(n_kept)
    return frame


def together(Y, a, b) -> np.ndarray:
    """Return how often the labels of each pair occur together: the rows with both over the rows of the rarer label."""
    columns, a, b = sp.csc_array(Y, dtype=np.int32), np.asarray(a), np.asarray(b)
    rarer = np.minimum(*(np.diff(columns.indptr)[labels] for labels in (a, b)))
    both = columns[:, a].multiply(columns[:, b]).sum(axis=0)
    return np.divide(both, rarer, out=np.full(a.size, np.nan), where=rarer > 0)


def best_names(selected, labels, feature_name: Callable, n: int = 5) -> list[str]:
    """Return the names of the n best features of each label, separated by commas: one str per label."""
    return [", ".join(feature_name(int(j)) for j in selected[label, :n]) for label in labels]


def most_alike(pairs, order, n: int) -> list[int]:
    """Return the labels of the pairs that have most features in common."""
    labels = list(dict.fromkeys(np.column_stack([pairs["a"], pairs["b"]]).ravel().tolist()))[:n]
    known = set(labels)
    rest = (int(j) for j in order if j not in known)
    return labels + [j for _, j in zip(range(n - len(labels)), rest)]


def overlap_frame(selected, n_features: int, labels):
    """Return a table of how much of what two labels keep is the same, similar labels next to each other."""
    selected, labels = np.asarray(selected), np.asarray(labels)
    labels, k = labels[alike_order(kept(selected[labels], n_features).toarray())], selected.shape[1]
    mine = kept(selected[labels], n_features)
    common = (mine @ mine.T).toarray().ravel()
    names = {"a": np.repeat(labels, labels.size), "b": np.tile(labels, labels.size)}
    return pd.DataFrame(names | {"share": common / k, "jaccard": common / (2 * k - common)})
