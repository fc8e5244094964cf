"""The similarity of selections, and tests of whether methods differ over data sets."""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from xmlcore.first_use import pd
from xmlcore.metrics.statistics import rank_correlation
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.selection.decision_trees import as_ids
from xmlcore.typing import ArrayLike, DataFrame
from xmlcore.validation import as_array, check_frame, check_is

THIN, THICK = 0.05, 0.1  # least p-values of a thin and of a thick line in the diagram of significance


def jaccard(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return the Jaccard similarity of two selections for each label (FALS, equation 63)."""
    a, b = _pair(a, b)
    common = np.array([np.intersect1d(first, other, assume_unique=True).size for first, other in zip(a, b)], np.float64)
    return common / (a.shape[1] + b.shape[1] - common)


def spearman(scores_a: ArrayLike, a: ArrayLike, scores_b: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return Spearman's correlation of two methods' scores over the features that either selects (FALS, equation 65).

    Methods that select different features have negative values; 0 does not mean independent rankings.
    """
    a, b = _pair(a, b)
    scores_a, scores_b = _scores(scores_a, a, "scores_a"), _scores(scores_b, b, "scores_b")
    if scores_a.shape[1] != scores_b.shape[1]:
        raise ValueError(f"scores_a has {scores_a.shape[1]} features, but scores_b has {scores_b.shape[1]}")
    correlations = np.empty(a.shape[0])
    for label in range(a.shape[0]):
        union = np.union1d(a[label], b[label])
        correlations[label] = rank_correlation(scores_a[label, union], scores_b[label, union])
    return correlations


def agreement(
    fitted: Mapping, per_label: bool = False, progress: ProgressLike = silent, *, of: str | None = None
) -> "DataFrame":
    """Return the similarities (Jaccard and Spearman) of all pairs of fitted selections: of methods, and of their seeds.

    Parameters
    ----------
    fitted : mapping of str to list
        For each method, its fitted selection or a list of them, one for each seed: objects with ``selected_`` and
        ``scores_``, such as FALS and its rivals.
    per_label : bool
        Whether to return one row for each label instead of means over labels.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    of : str, optional
        A method: only pairs with it are compared.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in the order of ``fitted``: a, seed_a, b, seed_b (methods, and the numbers of their seeds
        from 0), label (with ``per_label``), jaccard, spearman. spearman is nan where scores were not kept, and where
        :func:`spearman` is nan; a mean leaves these labels out.
    """
    progress = to_progress(progress)
    check_is(fitted, Mapping, "fitted", "a dict of the fitted selections of each method")
    runs = [
        (name, seed, selector)
        for name, several in fitted.items()
        for seed, selector in enumerate(several if isinstance(several, (list, tuple)) else [several])
    ]
    for name, _, selector in runs:
        check_is(selector, "selected_", f"fitted[{name!r:.60}]", "a fitted selection, such as FALS().fit(X, Y),")
    pairs = [pair for pair in combinations(runs, 2) if of is None or of in (pair[0][0], pair[1][0])]
    frames = []
    for number, ((a, seed_a, selector), (b, seed_b, other)) in enumerate(pairs):
        progress("Comparing selections", number / len(pairs), f"{number:,} of {len(pairs):,} pairs")
        overlap, ranks = _compared(selector, other)
        pair = {"a": a, "seed_a": seed_a, "b": b, "seed_b": seed_b}
        if per_label:
            values = {"label": np.arange(overlap.size), "jaccard": overlap, "spearman": ranks}
        else:
            known = ranks[~np.isnan(ranks)]
            values = {"jaccard": [overlap.mean()], "spearman": [known.mean() if known.size else np.nan]}
        frames.append(pd.DataFrame(pair | values))
    columns = ["a", "seed_a", "b", "seed_b", *(["label"] if per_label else []), "jaccard", "spearman"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def _compared(first, second):
    """Return the similarities of two fitted selections for each label; of ranks nan where scores were not kept."""
    overlap = jaccard(first.selected_, second.selected_)
    if getattr(first, "scores_", None) is None or getattr(second, "scores_", None) is None:
        return overlap, np.full(overlap.size, np.nan)
    return overlap, spearman(first.scores_, first.selected_, second.scores_, second.selected_)


class SignificanceGraph(NamedTuple):
    """The nodes and lines of the paper's Figure 7."""

    nodes: object  # DataFrame: method, x, y
    edges: object  # DataFrame: a, b, p, line ("thick" or "thin")


def significance_graph(p: "DataFrame") -> SignificanceGraph:
    """Place methods on a circle, and join those that do not differ significantly: the paper's Figure 7."""
    check_frame(p, getattr(p, "index", ()), "wilcoxon", "p")
    names = list(p.columns)
    angle = 2 * np.pi * np.arange(len(names)) / max(1, len(names))
    nodes = pd.DataFrame({"method": names, "x": np.sin(angle), "y": np.cos(angle)})
    edges = [
        (names[i], names[j], float(p.iloc[i, j]), "thick" if p.iloc[i, j] >= THICK else "thin")
        for i, j in combinations(range(len(names)), 2)
        if p.iloc[i, j] >= THIN
    ]
    return SignificanceGraph(nodes, pd.DataFrame(edges, columns=["a", "b", "p", "line"]))


def _pair(a, b):
    a, b = _ids(a, "a"), _ids(b, "b")
    if a.shape[0] != b.shape[0] and 1 not in (a.shape[0], b.shape[0]):
        raise ValueError(
            f"a has {a.shape[0]} labels, but b has {b.shape[0]}: selections for the same labels are needed"
        )
    n = max(a.shape[0], b.shape[0])
    return np.broadcast_to(a, (n, a.shape[1])), np.broadcast_to(b, (n, b.shape[1]))


def _ids(selected, name):
    """Return feature ids as an int array (labels, k); raise ValueError or TypeError if they are not a selection."""
    ids = as_ids(selected, name)
    ordered = np.sort(ids, axis=1)
    repeats = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    if repeats.size:
        row, place = repeats[0].tolist()
        raise ValueError(f"{name} has feature {ordered[row, place]} twice for label {row}")
    return ids


def _scores(scores, ids, name):
    """Return scores of all features, one row per label of ``ids``; raise ValueError or TypeError if they do not fit."""
    scores = as_array(scores, name, "a row of scores for each label is needed")
    if scores.ndim != 2 or scores.shape[0] not in (1, ids.shape[0]):
        raise ValueError(
            f"{name} has shape {scores.shape}: a row of scores for each of {ids.shape[0]} labels is needed"
        )
    if scores.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {scores.dtype} values: scores are real numbers")
    if ids.max() >= scores.shape[1]:
        raise ValueError(f"{name} has {scores.shape[1]} features, but feature {ids.max()} is selected")
    return np.broadcast_to(scores, (ids.shape[0], scores.shape[1]))
