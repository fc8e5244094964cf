"""Measures of scores for all labels, and of predicted sets of labels, for data with up to some thousands of labels.

The defaults are scikit-learn's definitions, if it has the measure. ``ties="mean"`` is the expected value when ties are
broken at random; ``ties="paper"`` follows the text of the paper on FALS (appendix D.1, equations 59 to 62).
"""

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of
from xmlcore.typing import Labels, Matrix
from xmlcore.validation import check_labels, check_structure

BLOCK_VALUES = 1 << 21  # number of scores read at a time: 16 MiB as float64
BLOCK_ROWS = 1 << 15  # the same of rows, whose numbers fit into 16 bits


def hamming_loss(Y_true: Labels, predictions: Labels) -> float:
    """Return the share of all pairs of a row and a label that are predicted wrongly (equation 59).

    {Parameters: sets}

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. scikit-learn's ``hamming_loss``.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.hamming_loss([[0], [1, 2]], [[0], [0, 1, 2]]) == 1 / 6
    True
    """
    Y, P = both_sets(Y_true, predictions)
    if Y.shape[0] == 0:
        return float("nan")
    wrong = Y.nnz + P.nnz - 2 * int(Y.multiply(P).nnz)
    return wrong / (Y.shape[0] * Y.shape[1])


def both_sets(Y_true, predictions) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the true and the predicted labels as matrices of one shape."""
    widths = [part.shape[1] for part in (Y_true, predictions) if not _is_lists(part)]
    n_labels = widths[0] if widths else None
    Y = check_labels(Y_true, n_labels=n_labels, name="Y_true")
    P = check_labels(predictions, n_labels=n_labels, name="predictions")
    _check_rows(Y, P.shape[0], "predictions")
    if Y.shape[1] != P.shape[1]:  # two lists of ids
        widest = max(Y.shape[1], P.shape[1])
        Y, P = (sp.csr_array((part.data, part.indices, part.indptr), (part.shape[0], widest)) for part in (Y, P))
    return Y, P


def wrong_decisions(Y_true, scores) -> float:
    """Return the Hamming loss of the labels with scores above one half, also of a matrix of decisions."""
    Y, S = _read(Y_true, scores)
    return hamming_loss(Y, S > 0.5)


def one_error(Y_true: Labels, scores: Matrix, ties: str = "first") -> float:
    """Return the share of rows whose label of largest score is not a true label (equation 60).

    {Parameters: Y_true, scores}
    ties : {"first", "mean"}
        How a row counts in which several labels have the largest score. "first": only the label with the smallest id
        counts, as with argmax. "mean": the share of these labels that are wrong counts, which is the expected value
        when ties are broken at random, and does not depend on the order of the labels.

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. A row without true labels is an error. With "first" it is 1 - P@1.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.one_error([[0], [1, 2]], [[0.8, 0.1, 0.2], [0.9, 0.9, 0.2]])
    0.5
    """
    _check_ties(ties, ("first", "mean"))
    Y, S = _read(Y_true, scores)
    if ties == "first":
        return _mean(1 - _scores_at(Y, np.arange(Y.shape[0]), S.argmax(axis=1)))
    _, labels, true, above, _ = _levels(Y, S)
    return _mean(1 - (true / labels)[above == 0])


def ranking_loss(Y_true: Labels, scores: Matrix, ties: str = "worst") -> float:
    """Return the share of a row's pairs of a true label and another label that are in the wrong order, mean over rows.

    {Parameters: Y_true, scores}
    ties : {"worst", "mean", "paper"}
        How much a pair of equal scores counts. "worst": 1, as in scikit-learn. "mean": 1/2, so that 1 - loss is the
        area under the row's ROC curve. "paper": 0, by equation 61 the other way round (docs/methods/fals.md).

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. Rows whose labels are all true, or none, have no pairs and count as 0,
        as in scikit-learn's ``label_ranking_loss``; with "paper" they are left out, since equation 61 divides by 0.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> Y, S = [[0]], [[0.5, 0.5, 0.9]]
    >>> [metrics.ranking_loss(Y, S, ties) for ties in ("worst", "mean", "paper")]
    [1.0, 0.75, 0.5]
    """
    _check_ties(ties, ("worst", "mean", "paper"))
    Y, S = _read(Y_true, scores)
    row, labels, true, above, true_above = _levels(Y, S)
    n_true = np.diff(Y.indptr).astype(np.float64)
    n_pairs = n_true * (Y.shape[1] - n_true)
    lost = above - true_above + {"worst": 1.0, "mean": 0.5, "paper": 0.0}[ties] * (labels - true)
    lost = np.bincount(row, true * lost, Y.shape[0])
    if ties == "paper":
        lost, n_pairs = lost[n_pairs > 0], n_pairs[n_pairs > 0]
    return _mean(lost / np.maximum(n_pairs, 1))


def average_precision(Y_true: Labels, scores: Matrix, ties: str = "worst") -> float:
    """Return the share of true labels among those ranked at or above a true label, mean over true labels and rows.

    {Parameters: Y_true, scores}
    ties : {"worst", "mean", "paper"}
        "worst": a label has the worst rank of those it is tied with; scikit-learn's
        ``label_ranking_average_precision_score``. "mean": its expected value when labels of equal score are put in
        random order. "paper": equation 62, in which only true labels of larger score count, the label itself not, over
        a rank of 1 + labels of larger score: a perfect ranking of rows with one label gets 0 (docs/methods/fals.md).

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. Rows whose labels are all true, or none, count as 1, as in scikit-learn;
        with "paper" rows without true labels are left out, since equation 62 divides by 0.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.average_precision([[0, 2]], [[0.9, 0.5, 0.5, 0.1]]) == (1 + 2 / 3) / 2
    True
    """
    _check_ties(ties, ("worst", "mean", "paper"))
    Y, S = _read(Y_true, scores)
    row, labels, true, above, true_above = _levels(Y, S)
    n_true = np.diff(Y.indptr)
    if ties == "worst":
        precision = (true_above + true) / (above + labels)
    elif ties == "paper":
        precision = true_above / (above + 1)
    else:
        # Each of the n places of a level has a true label with probability t / n. If it has one, each earlier place of
        # the level has one with probability (t - 1) / (n - 1). The sum of 1 / place over them is of harmonic numbers.
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, Y.shape[1] + 1))])
        inverse = harmonic[above + labels] - harmonic[above]
        others = (true - 1) / np.maximum(labels - 1, 1) * (labels - (above + 1) * inverse)
        precision = ((true_above + 1) * inverse + others) / labels
    sums = np.bincount(row, true * precision, Y.shape[0])
    if ties == "paper":
        return _mean(sums[n_true > 0] / n_true[n_true > 0])
    decided = (n_true > 0) & (n_true < Y.shape[1])
    return _mean(np.where(decided, sums / np.maximum(n_true, 1), 1.0))


def micro_auc(Y_true: Labels, scores: Matrix) -> float:
    """Return the area under the ROC curve of all pairs of a row and a label.

    This is the probability that a true pair, drawn at random, has a larger score than another pair, drawn at random;
    equal scores count 1/2.

    {Parameters: Y_true, scores}

    Returns
    -------
    float
        In [0, 1]; nan when all pairs are true, or none is. scikit-learn's ``roc_auc_score(average="micro")``.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.micro_auc([[0], [1]], [[0.9, 0.5], [0.5, 0.5]]) == (2 + 1) / 4
    True
    """
    Y, S = _read(Y_true, scores)
    n_pairs, n_true = Y.shape[0] * Y.shape[1], Y.nnz
    if n_true in (0, n_pairs):
        return float("nan")
    true, times = np.unique(_scores_at(S, *Y.nonzero()), return_counts=True)
    # For each distinct true score: twice the number of scores below it plus the number of equal scores. These are
    # integers, which are exact below 2**63.
    places = np.zeros(true.size, np.int64)
    for block in _blocks(S):
        values = np.sort(block.data if sp.issparse(block) else block, axis=None)
        places += np.searchsorted(values, true, "left") + np.searchsorted(values, true, "right")
        n_zero = block.shape[0] * block.shape[1] - values.size
        places += n_zero * ((true > 0).astype(np.int64) + (true >= 0))
    # The sum also compares each true pair with all true pairs. These comparisons add n_true**2, which is subtracted.
    won = sum(int(place) * int(count) for place, count in zip(places, times)) - n_true**2
    return won / (2 * n_true * (n_pairs - n_true))


def _levels(Y, S) -> np.ndarray:
    """Return the levels of labels of a row that have the same score, from the largest to the smallest: (5, levels).

    That is the row, how many labels there are, how many are true, and the same two of all labels of a larger score.
    """
    parts, first = [np.zeros((5, 0), np.int64)], 0
    for block in _blocks(S):
        n, n_labels = block.shape
        true_row, true_label = Y[first : first + n].nonzero()
        stored = sp.csr_array(block) if sp.issparse(block) else None
        sizes = np.full(n, n_labels) if stored is None else np.diff(stored.indptr)
        with_zeros = np.flatnonzero(sizes < n_labels)
        row = np.concatenate([np.repeat(np.arange(n), sizes), with_zeros, true_row])
        values = block.ravel() if stored is None else stored.data
        score = np.concatenate([values, np.zeros(with_zeros.size), _scores_at(block, true_row, true_label)])
        counts = np.zeros((2, row.size), np.int64)
        counts[0, : values.size], counts[1, row.size - true_row.size :] = 1, 1
        counts[0, values.size : row.size - true_row.size] = n_labels - sizes[with_zeros]
        order = np.argsort(-score)
        order = order[np.argsort(row[order].astype(np.int16), kind="stable")]  # quicker than with larger numbers
        row, score = row[order], score[order]
        starts = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (score[1:] != score[:-1])))
        row, counts = row[starts], np.add.reduceat(counts[:, order], starts, axis=1)
        above = np.cumsum(counts, axis=1) - counts
        parts.append(np.stack([row + first, *counts, *(above - above[:, np.searchsorted(row, row)])]))
        first += n
    return np.concatenate(parts, axis=1)


def _read(Y_true, scores):
    """Check the arguments; return the true labels (CSR) and the scores (dense or canonical CSR), both (n, L)."""
    if isinstance(scores, tuple) and hasattr(scores, "labels"):
        raise TypeError("a Ranking has scores for its best labels alone: give the scores of all, predict_proba(X)")
    try:
        S = scores if sp.issparse(scores) else np.asarray(scores)
    except ValueError as error:
        raise ValueError("the scores are no matrix: their rows have different lengths") from error
    if S.dtype.kind not in "fiub":
        raise TypeError(f"the scores are {S.dtype} values: a matrix of real numbers is needed")
    if S.ndim != 2:
        raise ValueError(f"the scores have {S.ndim} dimension(s): a matrix (rows, labels) is needed")
    if sp.issparse(S):
        check_structure(S, "the matrix of scores")
        S = sp.csr_array(S)
        S = S if S.has_canonical_format else S.copy()
        S.sum_duplicates()
    Y = check_labels(Y_true, n_labels=S.shape[1] if _is_lists(Y_true) else None, name="Y_true")
    if Y.shape[1] != S.shape[1]:
        raise ValueError(
            f"the scores have {S.shape[1]} columns, but there are {Y.shape[1]} labels: one score per label"
        )
    _check_rows(Y, S.shape[0], "scores")
    if np.isnan(S.data if sp.issparse(S) else S).any():
        stored = sp.coo_array(S)
        row, label = (int(at[np.isnan(stored.data)][0]) for at in stored.coords)
        raise ValueError(f"the score of row {row}, label {label} is not a number")
    return Y, S


def _is_lists(Y):
    return getattr(Y, "ndim", 1) != 2


def _check_rows(Y, n_rows, name):
    if Y.shape[0] != n_rows:
        raise ValueError(f"{name} has {n_rows} rows, but Y_true has {Y.shape[0]}")


def _check_ties(ties, known):
    if not isinstance(ties, str) or ties not in known:
        raise ValueError(f"ties must be one of {', '.join(known)}, not {ties!r:.200}")


def _blocks(S):
    """Yield blocks of rows of scores, as float64."""
    ends = S.indptr.astype(np.int64) if sp.issparse(S) else np.arange(S.shape[0] + 1) * S.shape[1]
    for start, stop in blocks_of(ends, BLOCK_VALUES, BLOCK_ROWS):
        yield S[start:stop].astype(np.float64)


def _scores_at(S, rows, labels) -> np.ndarray:
    """Return the scores of some rows and labels, float64; an entry that is not stored counts as 0."""
    found = S[rows, labels]
    return np.asarray(found.toarray() if sp.issparse(found) else found, np.float64).ravel()


def _mean(values):
    return float(values.mean()) if values.size else float("nan")
