"""Rows with features removed or values changed: their labels, as probabilities and on the scale of explanations."""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of, chosen
from xmlcore.explain._attribution import NOT_OF_FEATURES, Explainer, kind_of, one_row
from xmlcore.first_use import pd
from xmlcore.models.rows import rows_for
from xmlcore.models.rules import innermost
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import ArrayLike, DataFrame, Matrix, Ranker, SomeLabels
from xmlcore.validation import check_count, check_is, check_label_ids, check_list, check_model, check_number, check_row

METHODS = ("contributions", "supporting", "magnitude", "random")
PROBA_ROWS = 512  # rows of a block whose probabilities of all labels are predicted
TRIED = 16  # rows without some features that are predicted together
BLOCK_ENTRIES = 1 << 22  # stored values of a block of rows, copies with features removed included


def label_scores(model: Ranker, X: Matrix, labels: ArrayLike) -> np.ndarray:
    """Return the probability that the model gives to one label of each row."""
    check_model(model, "predict_proba")
    model = innermost(model)
    X = rows_for(model, X)
    labels = check_label_ids(labels, X.shape[0], model.n_labels_)
    if hasattr(model, "label_probabilities"):
        return model.label_probabilities(X, labels)
    out = np.empty(labels.size)
    for start in range(0, labels.size, PROBA_ROWS):
        part = slice(start, min(start + PROBA_ROWS, labels.size))
        proba = sp.csr_array(model.predict_proba(X[part]))
        out[part] = proba[np.arange(proba.shape[0]), labels[part]]
    return out


def deletion_curve(
    model: Ranker,
    X: Matrix,
    labels: ArrayLike,
    methods: Sequence[str] = ("contributions", "magnitude", "random"),
    counts: Sequence[int] = (0, 1, 2, 3, 5, 8, 13, 20),
    seed: int = 0,
    progress: ProgressLike = silent,
) -> "DataFrame":
    """Remove the top features of each row, and predict the label's probability without them.

    The faster it falls, the better the ranking of features: it names what the model relies on (Samek et al., 2017).

    Parameters
    ----------
    model : fitted estimator
        See :func:`label_scores`. For "contributions" and "supporting", :func:`attributions` must explain it by the
        features of X.
    X : sparse or dense, shape (n, D)
    labels : array of int, shape (n,)
        The label of each row, such as its first predicted one.
    methods : sequence of str
        How the features of a row are ranked. "contributions": by |contribution| to the label's score, largest first.
        "supporting": by contribution, largest first. "magnitude": by |value|, largest first. "random": in an order that
        depends only on ``seed`` and the row's number.
    counts : sequence of int
        Numbers of features to remove (set to 0). A row with fewer features loses all of them.
    seed : int
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    DataFrame
        Columns ``method``, ``removed`` (one of ``counts``), ``row`` (number in X), ``score`` (float64, the label's
        probability); sorted by method, count and row, in the order of the arguments.
    """
    progress = to_progress(progress)
    check_model(model, "predict_proba")
    X = rows_for(model, X)
    labels = check_label_ids(labels, X.shape[0], model.n_labels_)
    methods, counts = _checked(methods, counts)
    seed = check_count(seed, "seed", least=0)
    explainer = _explainer(model) if {"contributions", "supporting"} & set(methods) else None
    n = X.shape[0]
    scores = np.empty((len(methods), len(counts), n))
    most = BLOCK_ENTRIES // (len(methods) * len(counts))
    blocks = blocks_of(X.indptr.astype(np.int64), most, max(1, most // 16))
    for done, (start, end) in enumerate(blocks):
        progress("Removing features", done / len(blocks), f"row {start:,} of {n:,}")
        part, labels_of_part = X[start:end], labels[start:end]
        contributed = None if explainer is None else explainer.rows(part, labels_of_part).contributions.data
        reduced = []
        for method in methods:
            place = _places(part, method, contributed, seed, start)
            reduced += [chosen(part, place >= count) for count in counts]
        stacked = sp.csr_array(sp.vstack(reduced, format="csr"))
        scores_without = label_scores(model, stacked, np.tile(labels_of_part, len(reduced)))
        scores[:, :, start:end] = scores_without.reshape(len(methods), len(counts), end - start)
    progress("Removing features", 1.0, f"row {n:,} of {n:,}")
    index = pd.MultiIndex.from_product([methods, counts, np.arange(n)], names=["method", "removed", "row"])
    return pd.DataFrame({"score": scores.ravel()}, index=index).reset_index()


def counterfactual(model: Ranker, x: Matrix, label: int, k: int = 1, *, most: int = 50) -> np.ndarray | None:
    """Return features of a row without which a label is not among its first k any more.

    The features that contribute most to the label are removed, one more at a time, until the model ranks it lower; then
    each of them is put back that need not be missing (Martens and Provost, 2014). None of those left can be put back
    alone; another set may be smaller.

    Parameters
    ----------
    model : fitted estimator
        One that :func:`explains_features`.
    x : sparse or dense, shape (D,) or (1, D)
    label : int
        One of the first k of the row.
    k, most : int
        ``most`` is the largest number of features that are tried.

    Returns
    -------
    array of int, or None
        The features, by contribution, largest first; None if the label stays although all that speak for it, or
        ``most`` of them, are missing.
    """
    check_model(model)
    x = one_row(model, x)
    label = check_count(label, "label", 0, model.n_labels_ - 1)
    k, most = check_count(k, "k"), check_count(most, "most")
    explainer = _explainer(model)

    def first_gone(sets):
        """Return the first of some sets of places in the row without which the label is not among the first k."""
        kept = np.ones((len(sets), x.nnz), bool)
        for row, places in zip(kept, sets):
            row[places] = False
        rows = chosen(sp.csr_array(sp.vstack([x] * len(sets), format="csr")), kept.ravel())
        stays = (np.asarray(model.predict_topk(rows, k).labels) == label).any(axis=1)
        return next((one for one, is_there in zip(sets, stays) if not is_there), None)

    if first_gone([[]]) is not None:
        raise ValueError(f"the label {label} is not among the first {k} of the row, so nothing keeps it there")
    parts = explainer.rows(x, [label]).contributions.data
    order = np.argsort(-parts, kind="stable")
    order = order[parts[order] > 0][:most].tolist()
    more = [order[:count] for count in range(1, len(order) + 1)]
    fewer = next(filter(None, (first_gone(more[at : at + TRIED]) for at in range(0, len(more), TRIED))), None)
    found = fewer
    while fewer is not None:
        found = fewer
        fewer = first_gone([found[:place] + found[place + 1 :] for place in range(len(found))[::-1]])
    return None if found is None else x.indices[found].astype(np.int64)


def _explainer(model) -> Explainer:
    explainer = Explainer(model)
    if explainer.kind in NOT_OF_FEATURES:
        raise ValueError(
            f"{type(model).__name__} is explained by other things than the features of X "
            "(explains_features), so that these cannot be ranked by contribution, but by 'magnitude' or 'random'"
        )
    return explainer


def _checked(methods, counts):
    """Return methods and counts as tuples; raise ValueError or TypeError if one is invalid or repeated."""
    methods = (methods,) if isinstance(methods, str) else tuple(check_list(methods, "methods", "names"))
    unknown = [method for method in methods if not isinstance(method, str) or method not in METHODS]
    if unknown or not methods or len(set(methods)) < len(methods):
        raise ValueError(f"methods must be some of {', '.join(METHODS)}, each once, not {methods!r:.200}")
    counts = check_list(counts, "counts")
    counts = tuple(check_count(count, "each of counts", least=0) for count in counts)
    if not counts or len(set(counts)) < len(counts):
        raise ValueError(f"counts must be numbers of features to remove, each once, not {counts!r:.200}")
    return methods, counts


def _places(X, method, contributions, seed, first):
    """Return the place, from 0, of each stored value of X in the ranking of its row by a method: int64."""
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


def label_values(model: Ranker, x: Matrix, labels: ArrayLike, *, allowed: SomeLabels | None = None) -> np.ndarray:
    """Return scores of labels of one row on the scale of explanations; ``allowed`` is as in :func:`contributions`."""
    kind = kind_of(model)
    model = innermost(model)
    x = one_row(model, x, allowed)
    labels = check_label_ids(labels, None, model.n_labels_)
    if kind == "score":
        return np.asarray(model.pair_features(x, labels[None, :]), np.float64)[0] @ np.asarray(model.weights_)
    if labels.size and hasattr(model, "label_probabilities"):
        return model.label_probabilities(sp.vstack([x] * labels.size, format="csr"), labels)
    return sp.csr_array(model.predict_proba(x))[:, labels].toarray()[0].astype(np.float64)


def what_if(model: Ranker, before: Matrix, after: Matrix, k: int = 5) -> "DataFrame":
    """Return the labels that a model predicts for a row before and after it was changed.

    Parameters
    ----------
    model : fitted estimator
        As in :func:`label_values`.
    before, after : sparse or dense, shape (D,) or (1, D)
        The row as it was, and changed.
    k : int
        Labels predicted for each.

    Returns
    -------
    DataFrame
        A row per label that is among the first k of at least one of the two: ``label``, ``rank_before`` and
        ``rank_after`` (from 1; ``<NA>`` beyond k), ``before`` and ``after`` (see :func:`label_values`). First those
        predicted after, by rank, then the others by their rank before.
    """
    check_model(model)
    k = check_count(k, "k")
    ranks = []
    for row in (before, after):
        best = np.asarray(model.predict_topk(sp.csr_array(check_row(row)), k).labels)[0]
        ranks.append({int(j): place for place, j in enumerate(best[best >= 0], 1)})
    first, then = ranks
    labels = np.array([*then, *(j for j in first if j not in then)], np.int64)
    return pd.DataFrame(
        {
            "label": labels,
            "rank_before": pd.array([first.get(j, pd.NA) for j in labels.tolist()], dtype="Int64"),
            "rank_after": pd.array([then.get(j, pd.NA) for j in labels.tolist()], dtype="Int64"),
            "before": label_values(model, before, labels),
            "after": label_values(model, after, labels),
        }
    )


def probability(kind: str, score: float) -> float | None:
    """Return the probability, or score of ``predict_proba``, of a sum of contributions; None for the kind "score".

    Parameters
    ----------
    kind : str
        ``attrs["kind"]`` of what :func:`xmlcore.explain.contributions` returns.
    score : float
        The sum.
    """
    check_is(kind, str, "kind", "a kind of explanation, such as 'log_proba',")
    score = score if score in (math.inf, -math.inf) else check_number(score, "score", -math.inf)
    if kind in ("log_proba", "log_score"):
        return math.exp(score)
    if kind in ("margin", "margin_score"):
        return 1 / (1 + math.exp(-score)) if score > -700 else 0.0
    return score if kind in ("share", "part", "votes") else None
