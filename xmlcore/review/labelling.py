"""Which rows without labels should be labelled next, and the labels that a model suggests for them."""

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.models.rules import decided_scores, rows_of
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.review.out_of_fold import first_labels
from xmlcore.typing import DataFrame, Matrix, Ranker, Texts
from xmlcore.validation import check_count, check_known

WAYS = {
    "drawn": "Uncertain rows, drawn at random",
    "uncertainty": "Most uncertain first",
    "diversity": "Uncertain and unlike one another",
    "change": "Largest expected change",
    "random": "At random",
}
POWER = 8  # of the uncertainty by which rows are drawn
POOL = 5  # times as many uncertain rows as are wanted, from which rows that are unlike one another are drawn
DEPTH = 20  # labels of a row that could change the model


def to_label(
    model: Ranker, X: Matrix | Texts, n: int = 100, *, by: str = "drawn", n_suggestions: int = 10,
    random_state: int = 0, progress: ProgressLike = silent,
) -> DataFrame:  # fmt: skip
    """Choose rows without labels that should be labelled next, and suggest their labels.

    Parameters
    ----------
    model : estimator
        One of xmlcore's, fitted to the rows that have labels.
    X : rows or texts, as the model takes them
        Those without labels.
    n : int
        So many rows are chosen, or all if there are no more.
    by : {"drawn", "uncertainty", "diversity", "change", "random"}
        See the notes. ``docs/review.md`` has what each was worth.
    n_suggestions : int
        Candidates of a row, at most: the first labels of its ranking.
    random_state : int
        Seed of what is drawn.
    progress : function of text and share, optional

    Returns
    -------
    DataFrame
        A line for each candidate of each row that is chosen, in the order in which rows should be labelled: ``row``
        (from 0), ``score`` (float64: the uncertainty or the expected change of the row), ``label``, ``probability``
        (float64), and ``suggested``: whether the model predicts the label.

    Raises
    ------
    ValueError, TypeError
        The model is not fitted, rows do not fit it, or there is no such way.

    Notes
    -----
    The uncertainty u of a row is one minus its largest probability: the expected errors of P@1. Rows are taken by

    - ``"uncertainty"``: the largest u first [1]_;
    - ``"drawn"``: at random without replacement, with weights u to the power of 8 [2]_, so that a batch has not only
      rows that are uncertain for the same reason;
    - ``"diversity"``: of the 5n rows of largest u as k-means++ draws centres, with weights of squared u times one minus
      the largest cosine with a row that was drawn before [3]_;
    - ``"change"``: the largest expected length of the gradients of the labels' classifiers first, which is the sum of
      2 p (1 - p) over the first 20 labels, for rows of length 1 [4]_;
    - ``"random"``: at random.

    References
    ----------
    .. [1] D. D. Lewis, W. A. Gale, "A sequential algorithm for training text classifiers", SIGIR 1994.
    .. [2] A. Kirsch et al., "Stochastic batch acquisition: a simple baseline for deep active learning", TMLR 2023.
    .. [3] F. Zhdanov, "Diverse mini-batch active learning", 2019; centres: D. Arthur, S. Vassilvitskii, SODA 2007.
    .. [4] B. Settles, M. Craven, S. Ray, "Multiple-instance active learning", NIPS 2007.
    """
    n, n_suggestions = check_count(n, "n", 0), check_count(n_suggestions, "n_suggestions")
    check_known(WAYS, by, "way to choose rows")
    rng, progress = np.random.default_rng(check_count(random_state, "random_state", 0)), to_progress(progress)
    progress("Ranking labels", 0.0)
    inner, X = rows_of(model if hasattr(model, "vectorizer_") else getattr(model, "model_", model), X)
    place, _, p = first_labels(inner, X, DEPTH if by == "change" else 1)
    N, is_change = X.shape[0], by == "change"
    u = np.bincount(place, 2 * p * (1 - p) if is_change else -p, N) + (not is_change)
    progress("Choosing rows", 0.8)
    if by == "random":
        chosen = rng.permutation(N)[:n]
    elif by == "drawn":
        chosen = np.argsort(-POWER * np.log(np.maximum(u, 1e-12)) - rng.gumbel(size=N), kind="stable")[:n]
    else:
        chosen = np.argsort(-u, kind="stable")[: n if by != "diversity" else POOL * n]
    if by == "diversity" and chosen.size:
        chosen = chosen[_unlike(X[chosen], np.square(u[chosen]), n, rng)]
    return _with_candidates(inner, X, chosen, u[chosen], n_suggestions)


def _unlike(X, weights, n, rng) -> np.ndarray:
    """Return n rows, drawn as k-means++ draws centres."""
    from sklearn.preprocessing import normalize

    X, left, drawn = sp.csr_array(normalize(X)), weights.astype(np.float64), []
    for _ in range(min(n, X.shape[0])):
        others = left if left.any() else ~np.isin(np.arange(left.size), drawn)  # all are like one that was drawn
        drawn.append(int(rng.choice(left.size, p=others / others.sum())))
        cosine = (X @ X[drawn[-1:]].T).toarray().ravel()
        left = np.minimum(left, weights * np.maximum(1 - cosine, 0))
        left[drawn[-1]] = 0
    return np.array(drawn, np.int64)


def _with_candidates(model, X, rows, score, n) -> DataFrame:
    """Return rows with their first labels, and which of these the model predicts."""
    place, label, p = first_labels(model, X[rows], n)
    decided = sp.csr_array(decided_scores(model, X[rows]))
    is_predicted = np.isin(
        place * model.n_labels_ + label,
        np.repeat(np.arange(rows.size), np.diff(decided.indptr)) * model.n_labels_ + decided.indices,
    )
    columns = {"row": rows[place], "score": score[place], "label": label, "probability": p, "suggested": is_predicted}
    return pd.DataFrame(columns)
