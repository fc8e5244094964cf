"""How alike selections are, and whether methods differ over data sets."""

import numbers
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from xmlcore.progress import Progress, silent

THIN, THICK = 0.05, 0.1  # p-values from which the diagram has a thin, and a thick, line


def jaccard(a, b) -> np.ndarray:
    r"""Jaccard similarity of two selections, label by label (equation 63).

    .. math:: |F_a \cap F_b| / |F_a \cup F_b|

    Parameters
    ----------
    a, b : ndarray of int, shape (L, k)
        Feature ids of each label, without repeats; the k of a and of b may differ. A selection shared by all labels may
        have shape (1, k).

    Returns
    -------
    ndarray of float64, shape (L,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        Different numbers of labels, a feature twice in a row, or what is no matrix of feature ids.

    References
    ----------
    FALS: Feature attribution for label-specific feature selection in multi-label learning, appendix D.2.

    Examples
    --------
    >>> from xmlcore.selection import jaccard
    >>> jaccard([[0, 1], [2, 3]], [[1, 4], [3, 2]]).tolist()
    [0.3333333333333333, 1.0]
    """
    a, b = _pair(a, b)
    common = np.array([np.intersect1d(one, other, assume_unique=True).size for one, other in zip(a, b)], np.float64)
    return common / (a.shape[1] + b.shape[1] - common)


def spearman(scores_a, a, scores_b, b) -> np.ndarray:
    """Spearman's rank correlation of two methods' scores over the features that either selects (equation 65).

    Parameters
    ----------
    scores_a, scores_b : ndarray of float, shape (L, D) or (1, D)
        Scores of all features.
    a, b : ndarray of int, shape (L, k) or (1, k)
        Feature ids selected.

    Returns
    -------
    ndarray of float64, shape (L,)
        In [-1, 1]; nan where all features of the union, or the only one, have the same score, or one of them is nan.
        Equal scores share the mean of their ranks; without them it is the paper's formula.

    Raises
    ------
    ValueError, TypeError
        Shapes that do not fit together, or what is no matrix of numbers.

    Notes
    -----
    Among features that only one method selects the two rankings disagree by construction, so methods that select
    different features have negative values: 0 does not stand for rankings that have nothing to do with each other. With
    one feature each it is -1 where these differ, and nan where they do not.

    Examples
    --------
    >>> import numpy as np
    >>> from xmlcore.selection import spearman
    >>> scores = np.array([[0.9, 0.5, 0.1, 0.0]])
    >>> spearman(scores, [[0, 1]], scores[:, ::-1], [[3, 2]]).round(6).tolist()
    [-1.0]
    """
    a, b = _pair(a, b)
    scores_a, scores_b = _scores(scores_a, a, "scores_a"), _scores(scores_b, b, "scores_b")
    if scores_a.shape[1] != scores_b.shape[1]:
        raise ValueError(f"scores_a has {scores_a.shape[1]} features, but scores_b has {scores_b.shape[1]}")
    found = np.empty(a.shape[0])
    for label in range(a.shape[0]):
        union = np.union1d(a[label], b[label])
        found[label] = _rank_correlation(scores_a[label, union], scores_b[label, union])
    return found


def agreement(fitted: Mapping, per_label: bool = False, progress: Progress = silent):
    """Jaccard and Spearman between all pairs of fitted selections: methods, and seeds of a method.

    Parameters
    ----------
    fitted : mapping of str to list
        For each method, the fitted selections of its seeds (or one alone): objects with ``selected_`` and ``scores_``,
        as FALS and its rivals are.
    per_label : bool
        A row for each label, instead of means over labels.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    pandas.DataFrame
        A row per pair, each pair once, in the order of ``fitted``: a, seed_a, b, seed_b (methods, and numbers of their
        seeds from 0), label (with ``per_label``), jaccard, spearman. spearman is nan where scores were not kept, or
        have no ranks (see :func:`spearman`); a mean is over the other labels.

    Raises
    ------
    ValueError, TypeError
        Selections for different numbers of labels or features.
    """
    import pandas as pd

    runs = [
        (name, seed, one)
        for name, several in fitted.items()
        for seed, one in enumerate(several if isinstance(several, (list, tuple)) else [several])
    ]
    pairs = [(first, second) for at, first in enumerate(runs) for second in runs[at + 1 :]]
    frames = []
    for number, ((a, seed_a, one), (b, seed_b, other)) in enumerate(pairs):
        progress("Comparing selections", number / len(pairs), f"{number:,} of {len(pairs):,} pairs")
        overlap = jaccard(one.selected_, other.selected_)
        scores = getattr(one, "scores_", None), getattr(other, "scores_", None)
        ranks = np.full(overlap.size, np.nan)
        if scores[0] is not None and scores[1] is not None:
            ranks = spearman(scores[0], one.selected_, scores[1], other.selected_)
        pair = {"a": a, "seed_a": seed_a, "b": b, "seed_b": seed_b}
        if per_label:
            values = {"label": np.arange(overlap.size), "jaccard": overlap, "spearman": ranks}
        else:
            known = ranks[~np.isnan(ranks)]
            values = {"jaccard": [overlap.mean()], "spearman": [known.mean() if known.size else np.nan]}
        frames.append(pd.DataFrame(pair | values))
    columns = ["a", "seed_a", "b", "seed_b", *(["label"] if per_label else []), "jaccard", "spearman"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def wilcoxon(frame):
    """p-values of Wilcoxon's signed-rank test between each pair of methods, over data sets (two-sided).

    Parameters
    ----------
    frame : pandas.DataFrame or array_like, shape (data sets, methods)
        One measure: a row per data set, a column per method. What is no DataFrame has methods 0, 1, ...

    Returns
    -------
    pandas.DataFrame
        Methods by methods, symmetric; 1 on the diagonal, and where two methods have the same value on every data set.

    Raises
    ------
    ValueError
        Missing or infinite values, fewer than two methods, or not two dimensions.
    TypeError
        Values that are no real numbers.

    Notes
    -----
    scipy's test: exact for small samples without ties, differences of 0 are left out. On n data sets no p-value is
    below 2 / 2^n: with 5 none is below 0.05.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics 1945; for learners: J. Demšar, JMLR 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.selection import wilcoxon
    >>> frame = pd.DataFrame({"A": [1.0, 2, 3, 4, 5, 6], "B": [1.5, 3, 4.2, 5.7, 7.1, 9]})
    >>> wilcoxon(frame).loc["A", "B"].item()
    0.03125
    """
    import pandas as pd
    from scipy import stats

    frame = _table(frame)
    if frame.shape[1] < 2 or frame.shape[0] == 0:
        raise ValueError(f"frame has shape {frame.shape}: a row per data set and at least two methods are needed")
    missing = frame.isna()
    if missing.to_numpy().any():
        row, column = np.argwhere(missing.to_numpy())[0]
        raise ValueError(f"frame has no value for {frame.columns[column]} on {frame.index[row]}: leave one of them out")
    for column, method in enumerate(frame.columns):
        own = frame.iloc[:, column]
        odd = [] if own.dtype.kind in "fiub" else [at for at, v in enumerate(own) if not isinstance(v, numbers.Real)]
        if odd:
            raise TypeError(
                f"frame has {own.iloc[odd[0]]!r} for {method} on {frame.index[odd[0]]}, which is no real number: give "
                "numbers, and names of data sets as index"
            )
    values = frame.to_numpy(np.float64)
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        row, column = infinite[0]
        raise ValueError(
            f"frame has {values[row, column]} for {frame.columns[column]} on {frame.index[row]}: infinite values "
            "have no differences to put in order, so leave one of them out"
        )
    found = np.ones((values.shape[1], values.shape[1]))
    for i in range(values.shape[1]):
        for j in range(i):
            if (values[:, i] != values[:, j]).any():
                found[i, j] = found[j, i] = stats.wilcoxon(values[:, i], values[:, j]).pvalue
    return pd.DataFrame(found, index=list(frame.columns), columns=list(frame.columns))


class SignificanceGraph(NamedTuple):
    """What the paper's Figure 7 draws."""

    nodes: object  # DataFrame: method, x, y
    edges: object  # DataFrame: a, b, p, line ("thick" or "thin")


def significance_graph(p) -> SignificanceGraph:
    """Methods on a circle, joined where a test does not tell them apart: the paper's Figure 7.

    Parameters
    ----------
    p : pandas.DataFrame
        Methods by methods, as :func:`wilcoxon` gives.

    Returns
    -------
    SignificanceGraph
        ``nodes``: a row per method, with its place x, y on the unit circle, clockwise from the top. ``edges``: a row
        per pair with p of at least 0.05: a, b, p and line, "thick" from 0.1 on, "thin" below. No edge means that the
        two differ.

    References
    ----------
    FALS: Feature attribution for label-specific feature selection in multi-label learning, appendix D.3.1.
    """
    import pandas as pd

    names = list(p.columns)
    angle = 2 * np.pi * np.arange(len(names)) / max(1, len(names))
    nodes = pd.DataFrame({"method": names, "x": np.sin(angle), "y": np.cos(angle)})
    edges = [
        (names[i], names[j], float(p.iloc[i, j]), "thick" if p.iloc[i, j] >= THICK else "thin")
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if p.iloc[i, j] >= THIN
    ]
    return SignificanceGraph(nodes, pd.DataFrame(edges, columns=["a", "b", "p", "line"]))


def _pair(a, b):
    """Two selections with a row for each label."""
    a, b = _ids(a, "a"), _ids(b, "b")
    if a.shape[0] != b.shape[0] and 1 not in (a.shape[0], b.shape[0]):
        raise ValueError(
            f"a has {a.shape[0]} labels, but b has {b.shape[0]}: selections for the same labels are needed"
        )
    n = max(a.shape[0], b.shape[0])
    return np.broadcast_to(a, (n, a.shape[1])), np.broadcast_to(b, (n, b.shape[1]))


def _table(frame):
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    # As objects, a text in lists does not make texts of all the numbers.
    values = frame if isinstance(frame, np.ndarray) else _matrix(frame, "frame", object)
    if values.ndim != 2:
        raise ValueError(
            f"frame is a {type(frame).__name__} of shape {values.shape}: a DataFrame or rows of equal length are "
            "needed, a row per data set and a column per method"
        )
    return pd.DataFrame(values)


def _matrix(values, name, dtype=None):
    try:
        return np.asarray(values, dtype)
    except ValueError as error:
        raise ValueError(f"{name} is no matrix: its rows have different lengths, but must have the same") from error


def _ids(selected, name):
    ids = _matrix(selected, name)
    if ids.ndim != 2 or ids.size == 0:
        raise ValueError(f"{name} has shape {ids.shape}: a row of feature ids for each label is needed")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {ids.dtype} values: feature ids are whole numbers")
    if ids.min() < 0:
        raise ValueError(f"{name} holds {ids.min()}: feature ids start at 0")
    ordered = np.sort(ids, axis=1)
    repeats = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    if repeats.size:
        row, place = repeats[0].tolist()
        raise ValueError(f"{name} has feature {ordered[row, place]} twice for label {row}")
    return ids


def _scores(scores, ids, name):
    scores = _matrix(scores, name)
    if scores.ndim != 2 or scores.shape[0] not in (1, ids.shape[0]):
        raise ValueError(
            f"{name} has shape {scores.shape}: a row of scores for each of {ids.shape[0]} labels is needed"
        )
    if scores.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {scores.dtype} values: scores are real numbers")
    if ids.max() >= scores.shape[1]:
        raise ValueError(f"{name} has {scores.shape[1]} features, but feature {ids.max()} is selected")
    return np.broadcast_to(scores, (ids.shape[0], scores.shape[1]))


def _rank_correlation(a, b):
    from scipy.stats import rankdata

    a, b = rankdata(a), rankdata(b)
    a, b = a - a.mean(), b - b.mean()
    length = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / length, -1.0, 1.0)) if length > 0 else float("nan")
