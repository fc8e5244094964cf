"""Many rows: what removing features does to a label, and which features count overall."""

import numpy as np
import scipy.sparse as sp

from xmlcore.explain._attribution import Explainer, unwrapped
from xmlcore.explain._names import feature_names as names_of_features
from xmlcore.explain._names import with_names
from xmlcore.progress import Progress, silent
from xmlcore.validation import check_count, check_features, check_label_ids, check_labels

METHODS = ("contributions", "supporting", "magnitude", "random")
PROBA_ROWS = 512  # rows whose probabilities of all labels are in memory at once
BLOCK_ENTRIES = 1 << 22  # nonzeros of the rows that are worked through at once
RANK_ROWS = 4096


def label_scores(model, X, labels) -> np.ndarray:
    """Probability of one label for each row, by the model itself.

    Parameters
    ----------
    model : fitted estimator
        With ``predict_proba``. PLT and OneVsRest score the label alone; others predict all labels, some rows at a time.
    X : sparse or dense, shape (n, D)
    labels : array of int, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    model = unwrapped(model)
    X = check_features(X, model.n_features_in_)
    labels = check_label_ids(labels, X.shape[0], model.n_labels_)
    if hasattr(model, "_label_scores"):
        return model._label_scores(X, labels)
    if hasattr(model, "label_probabilities"):
        return model.label_probabilities(X, labels)
    out = np.empty(labels.size)
    for start in range(0, labels.size, PROBA_ROWS):
        part = slice(start, min(start + PROBA_ROWS, labels.size))
        found = sp.csr_array(model.predict_proba(X[part]))
        out[part] = found[np.arange(found.shape[0]), labels[part]]
    return out


def deletion_curve(
    model,
    X,
    labels,
    methods=("contributions", "magnitude", "random"),
    counts=(0, 1, 2, 3, 5, 8, 13, 20),
    seed: int = 0,
    progress: Progress = silent,
):
    """Remove the top features of each row, and ask the model what is left of the label's probability.

    The sooner it falls, the better a ranking of features names those that the model relies on (Samek et al., 2017).

    Parameters
    ----------
    model : fitted estimator
        With ``predict_proba``; for "contributions" and "supporting", one that :func:`attributions` explains by the
        features of X.
    X : sparse or dense, shape (n, D)
    labels : array of int, shape (n,)
        The label of each row, such as the one predicted.
    methods : sequence of str
        How features of a row are ranked. "contributions": by |contribution| to the label's score, as
        :func:`contributions` lists them; "supporting": by contribution, those that speak most for the label first;
        "magnitude": by |value|; "random": in an order that depends on ``seed`` and the row's place only.
    counts : sequence of int
        Features removed (set to 0). From a row with fewer, all are removed.
    seed : int
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    DataFrame
        Tidy: ``method``, ``removed`` (one of ``counts``), ``row`` (place in X), ``score`` (float64, the label's
        probability). By method, then count, then row.

    Raises
    ------
    ValueError, TypeError
        Unknown methods, bad counts, labels that are not one per row, a model whose contributions are not those of the
        features of X (DoubleSampling; :func:`explains_features` says which).
    """
    import pandas as pd

    X = check_features(X, model.n_features_in_)
    labels = check_label_ids(labels, X.shape[0], model.n_labels_)
    methods, counts = _checked(methods, counts)
    seed = check_count(seed, "seed", least=0)
    explainer = Explainer(model) if {"contributions", "supporting"} & set(methods) else None
    if explainer is not None and explainer.kind == "score":
        raise ValueError(
            f"contributions to {type(model).__name__}'s score are those of pairs of row and class, not of the features "
            "of X, so these cannot be removed by them (explains_features): use methods=('magnitude', 'random')"
        )
    n = X.shape[0]
    scores = np.empty((len(methods), len(counts), n))
    blocks = _blocks(X, len(methods) * len(counts))
    for done, (start, end) in enumerate(blocks):
        progress("Removing features", done / len(blocks), f"{start:,} of {n:,} rows")
        part, own = X[start:end], labels[start:end]
        found = None if explainer is None else explainer.rows(part, own).contributions.data
        reduced = []
        for method in methods:
            place = _places(part, method, found, seed, start)
            reduced += [_without(part, place >= count) for count in counts]
        stacked = sp.csr_array(sp.vstack(reduced, format="csr"))
        found = label_scores(model, stacked, np.tile(own, len(reduced)))
        scores[:, :, start:end] = found.reshape(len(methods), len(counts), end - start)
    progress("Removing features", 1.0, f"{n:,} of {n:,} rows")
    index = pd.MultiIndex.from_product([methods, counts, range(n)], names=["method", "removed", "row"])
    return pd.DataFrame({"score": scores.ravel()}, index=index).reset_index()


def _checked(methods, counts):
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    unknown = [method for method in methods if method not in METHODS]
    if unknown or not methods or len(set(methods)) < len(methods):
        raise ValueError(f"methods must be some of {', '.join(METHODS)}, each once, not {methods!r}")
    counts = tuple(check_count(count, "a count of features to remove", least=0) for count in counts)
    if not counts or len(set(counts)) < len(counts):
        raise ValueError(f"counts must be numbers of features to remove, each once, not {counts!r}")
    return methods, counts


def _places(X, method, contributions, seed, first):
    """Place of each entry in its row's ranking, from 0: int64."""
    ptr = X.indptr.astype(np.int64)
    row = np.repeat(np.arange(X.shape[0]), np.diff(ptr))
    if method == "random":
        sizes = np.diff(ptr)
        parts = [np.random.default_rng([seed, first + i]).permutation(size) for i, size in enumerate(sizes.tolist())]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)
    key = {
        "contributions": lambda: -np.abs(contributions),
        "supporting": lambda: -contributions,
        "magnitude": lambda: -np.abs(X.data),
    }[method]()
    order = np.lexsort((X.indices, key, row))
    place = np.empty(row.size, np.int64)
    place[order] = np.arange(row.size) - ptr[row]
    return place


def _without(X, kept):
    """X with some entries only."""
    ptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return sp.csr_array((X.data[kept], X.indices[kept], ptr), shape=X.shape)


def _blocks(X, copies):
    """(first row, last row + 1), so that ``copies`` of a block's rows have a bounded number of nonzeros."""
    ptr, n, blocks, start = X.indptr.astype(np.int64), X.shape[0], [], 0
    while start < n:
        end = int(np.searchsorted(ptr, ptr[start] + BLOCK_ENTRIES // copies, side="right")) - 1
        end = min(max(end, start + 1), n, start + max(1, BLOCK_ENTRIES // (16 * copies)))
        blocks.append((start, end))
        start = end
    return blocks


def importance(
    model, X, labels=None, n: int | None = 20, progress: Progress = silent, *, dataset=None, feature_names=None
):
    """Features that contribute most over many rows.

    Parameters
    ----------
    model : fitted estimator
        One that :func:`attributions` explains.
    X : sparse or dense, shape (n, D)
    labels : array of int, shape (n,), or binary matrix, shape (n, L), optional
        One label per row, or all labels of each row, which then count once each. By default each row's most probable
        label; rows for which the model ranks none are left out.
    n : int, optional
        Features returned; None for all that occur.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.
    dataset : Dataset, optional
        Its feature names are added.
    feature_names : sequence of str, optional
        The same, without a data set.

    Returns
    -------
    DataFrame
        Largest first, equal ones by id: ``feature``, ``name`` (when names are known), ``mean_abs`` and ``mean`` (of
        |contribution| and of the contribution, over all pairs of row and label; a feature that a row does not have
        contributes 0), ``n_rows`` (pairs whose row has the feature). ``attrs`` has ``kind``, ``n_pairs``,
        ``n_left_out`` (rows without a label) and ``n_features`` (that occur, of which the frame may show fewer).
    """
    import pandas as pd

    X = check_features(X, model.n_features_in_)
    names = names_of_features(dataset, feature_names, model.n_features_in_)
    n = None if n is None else check_count(n, "n")
    explainer = Explainer(model)
    model = unwrapped(model)
    rows, ids = _pairs(model, X, labels, progress)
    size = X.shape[1] if explainer.kind != "score" else len(model.feature_names_)
    sums = np.zeros((3, size))
    pairs = X if np.array_equal(rows, np.arange(X.shape[0])) else None
    ptr = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[rows])])
    start = 0
    while start < rows.size:
        progress("Explaining rows", start / rows.size, f"{start:,} of {rows.size:,}")
        end = int(np.searchsorted(ptr, ptr[start] + BLOCK_ENTRIES, side="right")) - 1
        end = min(max(end, start + 1), rows.size, start + RANK_ROWS)
        part = X[rows[start:end]] if pairs is None else X[start:end]
        found = explainer.rows(part, ids[start:end])
        features, values = found.contributions.indices, found.contributions.data
        for at, weights in enumerate((np.abs(values), values, None)):
            sums[at] += np.bincount(features, weights=weights, minlength=size)
        start = end
    progress("Explaining rows", 1.0, f"{rows.size:,} of {rows.size:,}")
    occurring = np.flatnonzero(sums[2])
    order = occurring[np.lexsort((occurring, -sums[0, occurring]))][:n]
    count = max(1, rows.size)
    frame = pd.DataFrame(
        {
            "feature": order,
            "mean_abs": sums[0, order] / count,
            "mean": sums[1, order] / count,
            "n_rows": sums[2, order].astype(np.int64),
        }
    )
    frame = with_names(frame, list(model.feature_names_) if explainer.kind == "score" else names)
    left_out = X.shape[0] - np.unique(rows).size
    frame.attrs = {
        "kind": explainer.kind, "n_pairs": int(rows.size), "n_left_out": int(left_out), "n_features": occurring.size,
    }  # fmt: skip
    return frame


def _pairs(model, X, labels, progress):
    """Rows and labels to explain, a pair each."""
    if labels is None:
        labels = model.predict_topk(X, k=1, progress=progress).labels[:, 0]
        rows = np.flatnonzero(labels >= 0)
        return rows, labels[rows].astype(np.int64)
    if sp.issparse(labels) or np.ndim(labels) == 2:
        Y = check_labels(labels, n_rows=X.shape[0], n_labels=model.n_labels_, name="labels")
        return np.repeat(np.arange(X.shape[0]), np.diff(Y.indptr)), Y.indices.astype(np.int64)
    return np.arange(X.shape[0]), check_label_ids(labels, X.shape[0], model.n_labels_)
