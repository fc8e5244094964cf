r"""Measures of scores for all labels, and of predicted sets of labels, for data with up to some thousands of labels.

Notation: y is the set of true labels of a row, :math:`s_l` the score of label l, n the number of rows, L of labels.

The defaults are the common definitions: those of scikit-learn, if scikit-learn has the measure. Definitions differ in
how they treat equal scores, which decision trees often predict. ``ties="mean"`` is the expected value when ties are
broken at random; ``ties="paper"`` follows the text of the paper on FALS (appendix D.1, equations 59 to 62).
"""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import bipartition as _kernels
from xmlcore.typing import Labels, Matrix
from xmlcore.validation import check_labels, check_structure, csr_parts

BLOCK_VALUES = 1 << 21  # number of scores read at a time: 16 MiB as float64
_NO_IDS = np.zeros(0, np.int32)  # label ids of dense rows, which have a score for every label


def hamming_loss(Y_true: Labels, predictions: Labels) -> float:
    r"""Return the share of all pairs of a row and a label that are predicted wrongly (equation 59).

    .. math:: \frac{1}{n L} \sum_{rows} |y \mathbin{\triangle} \hat y|

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
    r"""Return the share of rows whose label of largest score is not a true label (equation 60).

    {Parameters: Y_true, scores}
    ties : {"first", "mean"}
        How a row counts in which several labels have the largest score. "first": only the label with the smallest id
        counts, as with argmax. "mean": the share of these labels that are wrong counts, which is the expected value
        when ties are broken at random, and does not depend on the order of the labels.

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. A row without true labels is an error.

    Notes
    -----
    With "first" it is 1 - P@1. Time O(n L), or O(stored scores) for a sparse matrix. The other measures of scores take
    the same time, times the logarithm of the true labels per row.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.one_error([[0], [1, 2]], [[0.8, 0.1, 0.2], [0.9, 0.9, 0.2]])
    0.5
    """
    _check_ties(ties, ("first", "mean"))
    _, counts = _count(Y_true, scores)
    if ties == "first":
        return _mean(1 - counts[:, _kernels.FIRST_TRUE])
    return _mean(1 - counts[:, _kernels.TOP_TRUE] / counts[:, _kernels.TOP])


def ranking_loss(Y_true: Labels, scores: Matrix, ties: str = "worst") -> float:
    r"""Return the share of a row's pairs of a true label and another label that are in the wrong order, mean over rows.

    .. math:: \frac{1}{n} \sum_{rows} \frac{|\{(p, q): q \in y, p \notin y, s_p \ge s_q\}|}{|y| (L - |y|)}

    {Parameters: Y_true, scores}
    ties : {"worst", "mean", "paper"}
        How much a pair of equal scores counts. "worst": 1, as in scikit-learn. "mean": 1/2, so that 1 - loss is the
        area under the row's ROC curve. "paper": 0, by equation 61.

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. Rows whose labels are all true, or none, have no pairs and count as 0,
        as in scikit-learn's ``label_ranking_loss``; with "paper" they are left out, since equation 61 divides by 0.

    Notes
    -----
    Equation 61 as printed counts pairs with :math:`s_p < s_q`, which are those in the right order: it would be 1 for a
    perfect ranking. Its text speaks of misclassified pairs, so "paper" turns the inequality round. With it, scores that
    are all equal have no loss at all.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> Y, S = [[0]], [[0.5, 0.5, 0.9]]
    >>> [metrics.ranking_loss(Y, S, ties) for ties in ("worst", "mean", "paper")]
    [1.0, 0.75, 0.5]
    """
    _check_ties(ties, ("worst", "mean", "paper"))
    Y, counts = _count(Y_true, scores)
    n_true = np.diff(Y.indptr).astype(np.float64)
    n_pairs = n_true * (Y.shape[1] - n_true)
    lost = counts[:, _kernels.MISORDERED] + {"worst": 1.0, "mean": 0.5, "paper": 0.0}[ties] * counts[:, _kernels.TIED]
    if ties == "paper":
        lost, n_pairs = lost[n_pairs > 0], n_pairs[n_pairs > 0]
    return _mean(lost / np.maximum(n_pairs, 1))


def average_precision(Y_true: Labels, scores: Matrix, ties: str = "worst") -> float:
    r"""Return the share of true labels among those ranked at or above a true label, mean over true labels and rows.

    .. math:: \frac{1}{n} \sum_{rows} \frac{1}{|y|} \sum_{l \in y}
        \frac{|\{m \in y: s_m \ge s_l\}|}{|\{m: s_m \ge s_l\}|}

    {Parameters: Y_true, scores}
    ties : {"worst", "mean", "paper"}
        "worst": the formula above, in which a label has the worst rank of those it is tied with; scikit-learn's
        ``label_ranking_average_precision_score``. "mean": its expected value when labels of equal score are put in
        random order. "paper": equation 62, in which only true labels of larger score count, the label itself not, over
        a rank of 1 + labels of larger score.

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. Rows whose labels are all true, or none, count as 1, as in scikit-learn;
        with "paper" rows without true labels are left out, since equation 62 divides by 0.

    Notes
    -----
    Equation 62 as printed gives a perfect ranking of m true labels the terms 0, 1/2, ..., (m - 1) / m: a
    mean of :math:`1 - H_m / m`, with the harmonic number :math:`H_m = 1 + 1/2 + ... + 1/m`, thus 0 for rows with one
    label. The values that the paper reports for such data (0.62 on 20ng) cannot have been computed with this equation.
    They agree with the common definition with ties broken in some order: on all features of bibtex the paper reports
    0.34, which is the value of "mean"; that of "worst" is 0.27.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.average_precision([[0, 2]], [[0.9, 0.5, 0.5, 0.1]]) == (1 + 2 / 3) / 2
    True
    """
    _check_ties(ties, ("worst", "mean", "paper"))
    Y, counts = _count(Y_true, scores)
    n_true = np.diff(Y.indptr)
    if ties == "paper":
        some = n_true > 0
        return _mean(counts[some, _kernels.STRICT_PRECISION] / n_true[some])
    decided = (n_true > 0) & (n_true < Y.shape[1])
    precision_sums = counts[:, _kernels.PRECISION if ties == "worst" else _kernels.MEAN_PRECISION]
    return _mean(np.where(decided, precision_sums / np.maximum(n_true, 1), 1.0))


def micro_auc(Y_true: Labels, scores: Matrix) -> float:
    r"""Return the area under the ROC curve of all pairs of a row and a label.

    This is the probability that a true pair, drawn at random, has a larger score than another pair, drawn at random;
    equal scores count 1/2.

    {Parameters: Y_true, scores}

    Returns
    -------
    float
        In [0, 1]; nan when all pairs are true, or none is. scikit-learn's ``roc_auc_score(average="micro")``.

    Notes
    -----
    Time O(n L log(n L)) at worst, in blocks that are sorted one at a time; no copy of all scores is made.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.micro_auc([[0], [1]], [[0.9, 0.5], [0.5, 0.5]]) == (2 + 1) / 4
    True
    """
    Y, S = _read(Y_true, scores)
    n_pairs, n_true = Y.shape[0] * Y.shape[1], Y.nnz
    if n_true in (0, n_pairs):
        for _ in _blocks(S):
            pass  # reading all blocks raises an error if a score is not a number
        return float("nan")
    true = np.concatenate([_true_scores(Y[start:stop], block) for start, stop, block in _blocks(S)])
    true, times = np.unique(true, return_counts=True)
    # For each distinct true score: twice the number of scores below it plus the number of equal scores. These are
    # integers, which are exact below 2**63.
    places = np.zeros(true.size, np.int64)
    for _, _, block in _blocks(S):
        values = np.sort(block.data if sp.issparse(block) else block, axis=None)
        places += np.searchsorted(values, true, "left") + np.searchsorted(values, true, "right")
        n_zero = block.shape[0] * block.shape[1] - values.size
        places += n_zero * ((true > 0).astype(np.int64) + (true >= 0))
    # The sum also compares each true pair with all true pairs. These comparisons add n_true**2, which is subtracted.
    won = sum(int(place) * int(count) for place, count in zip(places, times)) - n_true**2
    return won / (2 * n_true * (n_pairs - n_true))


def _count(Y_true, scores):
    """Return the true labels (CSR) and the counts of each row: float64 (n, N_COUNTS), see the kernel's constants."""
    Y, S = _read(Y_true, scores)
    y_ptr, y_ids, _ = csr_parts(Y)
    counts = np.empty((Y.shape[0], _kernels.N_COUNTS))
    for start, stop, block in _blocks(S):
        if sp.issparse(block):
            ptr, ids, values = csr_parts(block)
        else:
            ptr = np.arange(stop - start + 1, dtype=np.int64) * Y.shape[1]
            ids, values = _NO_IDS, block.ravel()
        first, last = y_ptr[start], y_ptr[stop]
        _kernels.count_rows(
            y_ptr[start : stop + 1] - first, y_ids[first:last], ptr, ids, values, Y.shape[1], counts[start:stop]
        )  # fmt: skip
    return Y, counts


def _read(Y_true, scores):
    """Check the arguments; return the true labels (CSR) and the scores (dense or canonical CSR), both (n, L)."""
    if sp.issparse(scores):
        if scores.ndim != 2:
            raise ValueError(f"the scores have {scores.ndim} dimension(s): a matrix (rows, labels) is needed")
        _check_numbers(scores.dtype)
        check_structure(scores, "the matrix of scores")
        S = sp.csr_array(scores)
        if not S.has_canonical_format:
            S = S.copy()
            S.sum_duplicates()
    else:
        if isinstance(scores, tuple) and hasattr(scores, "labels"):
            raise TypeError("a Ranking has scores for its best labels alone: give the scores of all, predict_proba(X)")
        try:
            S = np.asarray(scores)
        except ValueError as error:
            raise ValueError("the scores are no matrix: their rows have different lengths") from error
        _check_numbers(S.dtype)
        if S.ndim != 2:
            raise ValueError(f"the scores have {S.ndim} dimension(s): a matrix (rows, labels) is needed")
    Y = check_labels(Y_true, n_labels=S.shape[1] if _is_lists(Y_true) else None, name="Y_true")
    if Y.shape[1] != S.shape[1]:
        raise ValueError(
            f"the scores have {S.shape[1]} columns, but there are {Y.shape[1]} labels: one score per label"
        )
    _check_rows(Y, S.shape[0], "scores")
    return Y, S


def _is_lists(Y):
    return getattr(Y, "ndim", 1) != 2


def _check_numbers(dtype):
    if dtype.kind not in "fiub":
        raise TypeError(f"the scores are {dtype} values: a matrix of real numbers is needed")


def _check_rows(Y, n_rows, name):
    if Y.shape[0] != n_rows:
        raise ValueError(f"{name} has {n_rows} rows, but Y_true has {Y.shape[0]}")


def _check_ties(ties, known):
    if not isinstance(ties, str) or ties not in known:
        raise ValueError(f"ties must be one of {', '.join(known)}, not {ties!r:.200}")


def _blocks(S):
    """Yield (start, stop, scores of these rows as float64) for blocks of rows; raise ValueError for a nan score."""
    n, n_labels = S.shape
    if sp.issparse(S):
        ends = np.searchsorted(S.indptr, np.arange(0, S.nnz + BLOCK_VALUES, BLOCK_VALUES), "right") - 1
        cuts = np.unique(np.concatenate([[0, n], np.minimum(ends, n)]))
    else:
        cuts = np.unique(np.append(np.arange(0, n, max(1, BLOCK_VALUES // n_labels)), n))
    for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist()):
        block = S[start:stop]
        block = block.astype(np.float64) if sp.issparse(block) else np.ascontiguousarray(block, dtype=np.float64)
        values = block.data if sp.issparse(block) else block
        if np.isnan(values).any():
            if sp.issparse(block):
                block = block.tocoo()
                at = int(np.isnan(block.data).argmax())
                row, column = int(block.coords[0][at]), int(block.coords[1][at])
            else:
                row, column = divmod(int(np.isnan(block).argmax()), n_labels)
            raise ValueError(f"the score of row {start + row}, label {column} is not a number")
        yield start, stop, block


def _true_scores(Y, block):
    """Return the scores of the true labels of some rows, float64, row after row; an entry not stored counts as 0."""
    found = block[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)), Y.indices]
    return found.toarray().ravel() if sp.issparse(found) else np.asarray(found).ravel()


def _mean(values):
    return float(values.mean()) if values.size else float("nan")
