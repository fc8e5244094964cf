"""How probable it is that a label of a row is wrong, or that one is missing."""

import numpy as np

from xmlcore.datasets.splits import check_folds
from xmlcore.first_use import pd
from xmlcore.label_names import read_training_labels
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.review.out_of_fold import Pairs, count_rows, out_of_fold
from xmlcore.typing import ArrayLike, DataFrame, Labels, Matrix, Ranker, Texts
from xmlcore.validation import check_count

WRONG, MISSING = "wrong", "missing"
LEAST = 1e-6  # smaller probabilities count as this
BINS = 30  # of labels that were drawn, by how odd they are
SHARE = 0.8  # of the largest share of wrong labels that is possible
SURE = 1.96  # standard deviations on each side of a number of labels


def doubts(
    model: Ranker, X: Matrix | Texts, Y: Labels, cv: int | ArrayLike = 5, *, n_candidates: int = 20,
    most: int | None = None, random_state: int = 0, progress: ProgressLike = silent,
) -> DataFrame:  # fmt: skip
    """Find labels that are probably wrong or missing, by models that have not seen the row.

    Parameters
    ----------
    model : estimator
        One of xmlcore's, such as ``PLT()`` or ``TextClassifier()``, fitted or not: copies of it are fitted.
    X : sparse or dense matrix, DataFrame, list of texts, or list of blocks of these, n rows
    Y : matrix of 0 and 1, lists of label ids or names, or a class for each row, as ``fit`` takes them; shape (n, L)
    cv : int or array of int, shape (n,)
        The number of parts, at least 2, or the part of each row. Each is scored by a model of the others.
    n_candidates : int
        Of so many labels that a row does not have, at most, it is asked whether they are missing: the first in its
        ranking.
    most : int, optional
        So many lines are returned, the most doubtful ones; by default all.
    random_state : int
        Seed of the parts, and of labels that are drawn to compare with.
    progress : function of text and share, optional

    Returns
    -------
    DataFrame
        A line for each label that a row has, and for each candidate, most doubtful first. ``row``, ``label`` (ids,
        from 0), ``kind`` ("wrong": the row has the label; "missing": it has not), ``doubt`` (float64, in [0, 1]: the
        probability that the row should be changed), ``probability`` (float64: that of the label, by a model that
        has not seen the row), and ``name`` if labels have names.

    Raises
    ------
    ValueError, TypeError
        Rows and labels that do not fit, no labels, more parts than rows, or parts that are not one for each row.

    Notes
    -----
    The doubt about a candidate is its probability. A label that a row has is odd if its probability is small beside
    the usual one of the label's rows, and beside the largest one of the row: oddness is the logarithm of the geometric
    mean of these two over the first. Wrong labels are taken to be as odd as labels drawn at random. Their share cannot
    be so large that any degree of oddness had more wrong labels than labels; of the largest possible share
    [1]_ 0.8 is taken, and the doubt is what Bayes' theorem makes of it. Where the other parts have no row with the
    label, nothing is known, and the doubt is 0.

    References
    ----------
    .. [1] C. Scott, "A rate of convergence for mixture proportion estimation, with application to learning from noisy
       labels", AISTATS 2015. Parts, and labels that are ranked by how wrong they seem: C. G. Northcutt et al.,
       "Confident learning: estimating uncertainty in dataset labels", JAIR 2021.
    """
    Y, names, _ = read_training_labels(Y)
    if not Y.nnz:
        raise ValueError(f"none of the {Y.shape[0]} rows has a label: there is nothing to doubt")
    if np.ndim(cv):
        cv = np.asarray(cv)
        if cv.shape != Y.shape[:1] or cv.dtype.kind not in "iu" or np.unique(cv).size < 2:
            raise ValueError(f"cv must be a number, or the part of each of {Y.shape[0]} rows, of at least two parts")
    else:
        check_folds(cv, Y.shape[0])
    if count_rows(X) != Y.shape[0]:
        raise ValueError(f"X and Y must have as many rows, but have {count_rows(X)} and {Y.shape[0]}")
    most = None if most is None else check_count(most, "most", 0)
    seed, n = check_count(random_state, "random_state", 0), check_count(n_candidates, "n_candidates")
    given, first, drawn = out_of_fold(model, X, Y, cv, n, seed, to_progress(progress))
    kinds = np.repeat([WRONG, MISSING], [given.row.size, first.row.size])
    both = Pairs.joined([given, first])
    doubt = np.concatenate([_wrong(given, drawn, Y.shape[1]), first.p])
    order = np.lexsort((both.label, both.row, both.p * (kinds == WRONG), -doubt))[:most]
    columns = {"row": both.row, "label": both.label, "kind": kinds, "doubt": doubt, "probability": both.p}
    found = pd.DataFrame({name: values[order] for name, values in columns.items()})
    return found if names is None else found.assign(name=[names[label] for label in found["label"]])


def _wrong(given: Pairs, drawn: Pairs, n_labels: int) -> np.ndarray:
    """Return the probability of each label of a row to be wrong."""
    known, drawn = given.learnt > 0, drawn.take(drawn.learnt > 0)
    doubt = np.zeros(given.row.size)
    if not known.any() or not drawn.row.size:
        return doubt
    log_p = np.log(np.maximum(given.p, LEAST))
    usual = (np.bincount(given.label, log_p, n_labels) + log_p.mean()) / (
        np.bincount(given.label, minlength=n_labels) + 1
    )

    def oddness(of: Pairs):
        return (usual[of.label] + np.log(np.maximum(of.best, LEAST))) / 2 - np.log(np.maximum(of.p, LEAST))

    odd, odd_of_drawn = oddness(given.take(known)), oddness(drawn)
    edges = np.unique(np.quantile(odd_of_drawn, np.arange(1, BINS) / BINS))
    place = np.searchsorted(edges, odd, side="right")
    found = np.bincount(place, minlength=edges.size + 1)
    expected = np.bincount(np.searchsorted(edges, odd_of_drawn, side="right"), minlength=edges.size + 1)
    expected = np.maximum(expected / odd_of_drawn.size, LEAST)
    # Of labels as odd, and of those at least as odd; with one more label, as it is by chance that there is none.
    sums = [(found, expected), (np.cumsum(found[::-1])[::-1], np.cumsum(expected[::-1])[::-1])]
    bound = min(1.0, *(((count + 1) / (odd.size + 1) / share).min() for count, share in sums))
    used = found > 0
    rising = np.maximum.accumulate(SHARE * np.minimum(1.0, bound * odd.size * expected[used] / found[used]))
    middle = np.bincount(place, odd, found.size)[used] / found[used]
    doubt[known] = np.interp(odd, middle, rising)
    return doubt


def by_label(found: DataFrame) -> DataFrame:
    """Return how many wrong and missing labels are expected, by label: most first.

    Parameters
    ----------
    found : DataFrame
        All lines of :func:`doubts`.

    Returns
    -------
    DataFrame
        ``label``; ``wrong`` and ``missing``, the sums of the doubts; and for each ``_low`` and ``_high``, about a 95 %
        interval, as of sums of independent draws. Missing labels that rank behind the candidates are not in it.
    """
    sums = found.assign(spread=found["doubt"] * (1 - found["doubt"]))
    table = sums.pivot_table(index="label", columns="kind", values=["doubt", "spread"], aggfunc="sum", fill_value=0.0)
    table = table.reindex(
        columns=[(of, kind) for of in ("doubt", "spread") for kind in (WRONG, MISSING)], fill_value=0.0
    )
    made = pd.DataFrame(index=table.index)
    for kind in (WRONG, MISSING):
        number, half = table["doubt", kind], SURE * np.sqrt(table["spread", kind])
        made[kind], made[f"{kind}_low"], made[f"{kind}_high"] = number, (number - half).clip(lower=0), number + half
    order = np.argsort(-(made[WRONG] + made[MISSING]).to_numpy(), kind="stable")
    return made.iloc[order].reset_index()
