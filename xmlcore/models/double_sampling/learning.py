"""Learning f: the features of the sampled pairs, a linear classifier on their differences, and further rows."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ds_features import N_FEATURES, pair_block
from xmlcore.arrays import by_frequency, columns_of, in_columns
from xmlcore.models.double_sampling.classes import ClassTerms
from xmlcore.models.double_sampling.sampling import (
    BLOCK,
    NoExampleError,
    RowsToSample,
    Sample,
    classes_of_the_same_row,
    draw_sample,
    leaves_out,
    stream_seed,
)
from xmlcore.parallel import one_blas_thread, row_blocks, run_blocks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

# Short name of each feature -> its meaning in one sentence.
MEANINGS = {
    "log count": "Sum of log(1 + count in the label) over the terms that the row and the label have in common.",
    "log rarity": "Sum of log(1 + all counts / counts of the term) over the common terms: rare terms in common.",
    "idf": "Sum of the inverse document frequencies of the common terms.",
    "tf-idf": "Sum over the common terms of their share of the label's counts × inverse document frequency.",
    "log share": "Sum of log(1 + share of the label's counts) over the common terms.",
    "log tf-idf": "Sum of log(1 + share of the label's counts × inverse document frequency), over common terms.",
    "log lift": "Sum over the common terms of log(1 + lift): how much more frequent the label has the term "
    "than all rows together.",
    "common terms": "Number of terms that the row and the label have in common.",
    "distance": "Distance of the row to the label's centroid: small means alike.",
    "BM25": "Score of the label for the row by BM25, the rule that search engines rank documents by.",
    "idf covered": "Share of the row's inverse document frequencies that terms in common with the label make up.",
    "rarest term": "Largest inverse document frequency of a common term.",
    "largest lift": "Largest log(1 + lift) of a common term: the one that points to the label most.",
    "log likelihood": "How much likelier the row's terms are in the label, smoothed, than in all rows together, as a "
    "logarithm.",
    "damped distance": "Distance of the row to the label's direction when its counts enter by their logarithms.",
    "other distance": "Distance of the row to the label's direction with the other weights of terms: counts where "
    "centroids use tf-idf, and the reverse.",
    "tree log probability": "Logarithm of the probability that the label tree gives the label.",
}
PAPER_FEATURES = tuple(MEANINGS)[:N_FEATURES]  # those of the paper's Table 1
MORE_FEATURES = tuple(MEANINGS)[N_FEATURES:-1]  # those that features="extended" adds
TREE_FEATURE = tuple(MEANINGS)[-1]  # added as well when candidates come from a label tree


def names_of_features(features: str, has_tree: bool) -> list[str]:
    if features == "paper":
        return list(PAPER_FEATURES)
    return [*PAPER_FEATURES, *MORE_FEATURES, *([TREE_FEATURE] if has_tree else [])]


MAX_ITER = 1000  # largest number of iterations of scikit-learn's solvers
TOLERANCE = 1e-6  # argument ``tol`` of scikit-learn's solvers


class LinearFunction(NamedTuple):
    """The learnt function f."""

    weights: np.ndarray  # float64 (p,): weights of the unscaled features
    scale: np.ndarray  # float64 (p,): the root mean square of each feature's differences
    risk: float  # the share of training pairs that f orders wrongly


def make_pairs(params, data: RowsToSample, sample: Sample, progress: Progress = silent):
    """Compute the pairs to learn from; pairs in which both classes are classes of the row are left out."""
    pairs, signs = pair_differences(params, data, sample, progress)
    if pairs.size and not np.isfinite(pairs.min() + pairs.max()):
        values = data.x[2][data.x[2] > 0]
        raise ValueError(
            f"X has values from {values.min():.4g} to {values.max():.4g}: sums of them, and quotients of the sums, are "
            "not finite. Give counts, or weights such as tf-idf, in a unit in which most values are near 1"
        )
    also_correct = classes_of_the_same_row(sample, data.Y)
    if also_correct is None:
        return pairs, signs, sample
    pairs, signs = pairs[~also_correct.ravel()], signs[~also_correct.ravel()]
    if signs.size == 0:
        raise NoExampleError(
            "every label drawn against an example is another label of the same row: make n_adversarial larger, "
            "or leave out the labels that all rows have"
        )
    return pairs, signs, Sample(*(part[~also_correct.all(axis=1)] for part in sample))


def pair_differences(params, data: RowsToSample, sample: Sample, progress: Progress = silent):
    """Compute the features of the smaller class id minus those of the larger, for a copy and each adversary."""
    m, kappa = sample.adversaries.shape
    logs = np.empty((0, 0))
    if params.features == "extended" and data.trees is not None:
        wanted = np.concatenate([sample.classes[:, None], sample.adversaries], axis=1)
        logs = data.trees.log_proba(data.vectors, sample.rows, wanted, params.n_jobs)
    n_features = len(names_of_features(params.features, logs.size > 0))
    pairs, signs = np.empty((m * kappa, n_features)), np.empty(m * kappa, np.int8)
    leave_out = leaves_out(params)

    def one_block(block):
        pair_block(
            data.x, sample, *block, leave_out, data.class_size, data.by_class, data.index, data.more, logs, pairs, signs
        )

    blocks = row_blocks(m, BLOCK)
    run_blocks(one_block, blocks, params.n_jobs, progress, "Features of pairs", "blocks of examples")
    return pairs, signs


def learn(params, pairs, signs) -> LinearFunction:
    """Learn the ranking function f from pairs; ``pairs`` are divided by the scale of each feature, in place."""
    scale = np.sqrt(np.einsum("ij,ij->j", pairs, pairs) / signs.size)
    scale[~(scale > 0)] = 1.0
    pairs /= scale
    Z, target, share = pairs, signs, None
    if (signs == signs[0]).all():  # scikit-learn needs both signs: add each pair's negative, both with weight 1/2
        Z, target = np.concatenate([pairs, -pairs]), np.concatenate([signs, -signs])
        share = np.full(target.size, 0.5)
    if params.loss == "squared_hinge":
        from sklearn.svm import LinearSVC

        learner = LinearSVC(C=float(params.C), fit_intercept=False, dual=False, max_iter=MAX_ITER, tol=TOLERANCE)
    else:
        from sklearn.linear_model import LogisticRegression

        # On pairs that are hard to separate L-BFGS needs hundreds of passes. Newton's method needs only a few, but
        # copies the pairs. On the paper's pairs, which are nearly separable, each solver needs some 15 passes.
        is_hard = params.features == "extended" or params.adversaries == "candidates"
        solver = "newton-cholesky" if is_hard else "lbfgs"
        learner = LogisticRegression(
            C=float(params.C), fit_intercept=False, solver=solver, max_iter=MAX_ITER, tol=TOLERANCE
        )
    with one_blas_thread():
        w = learner.fit(Z, target, sample_weight=share).coef_[0].astype(np.float64)
        risk = float(np.mean(signs * (pairs @ w) <= 0))
    return LinearFunction(w / scale, scale, risk)


LEARNING = "Learning from pairs of a row and a label"
MORE_ROWS = 5  # number of the random stream of rows that are added; sampling.py has those before


def learnt(params, data: RowsToSample, entropy: int, progress: Progress) -> tuple[LinearFunction, int, np.ndarray]:
    """Draw examples, and learn f from their pairs; also return the number of pairs, and of examples of each class."""
    pairs, signs, sample = make_pairs(params, data, draw_sample(params, data, entropy, progress), progress)
    progress(LEARNING, 0.0, f"{signs.size:,} pairs")
    function = learn(params, pairs, signs)
    progress(LEARNING, 1.0, f"{signs.size:,} pairs")
    return function, signs.size, np.bincount(sample.classes, minlength=data.Y.shape[1]).astype(np.int64)


def learn_more(model, X, Y, n_unlabelled: int, entropy: int, progress: Progress) -> tuple:
    """Return the fitted state of a model after it has learnt further rows: the arguments of its ``_set_fitted``."""
    old = model._classes
    new = by_frequency(X)
    x = in_columns(csr_parts(X), columns_of(new, X.shape[1]))
    classes = added_classes(old, ClassTerms.of(x, Y, new, model.n_jobs, progress))
    x = in_columns(csr_parts(X), columns_of(classes.feature_of_column, X.shape[1]))
    data = RowsToSample.of(model, x, Y, classes)
    function = LinearFunction(model.weights_, model.feature_scale_, model.empirical_risk_)
    n_pairs, sampled = model.n_pairs_, np.pad(model.sampled_size_, (0, Y.shape[1] - model.sampled_size_.size))
    seed = int(np.random.SeedSequence([stream_seed(entropy, MORE_ROWS), old.n_rows]).generate_state(1, np.uint32)[0])
    try:
        new_function, n_new, drawn = learnt(model, data, seed, progress)
        function, n_pairs, sampled = averaged(function, n_pairs, new_function, n_new), n_pairs + n_new, sampled + drawn
    except NoExampleError:  # few rows may give no pair: f stays as it is, and the sums of the labels have changed
        progress(LEARNING, 1.0, "no pairs")
    values = fitted_values(model, X, Y, classes.n_rows, model.n_unlabelled_ + n_unlabelled, n_pairs)
    return classes, data.index, data.more, None, function, sampled, values


VALUES = ("distance", "weighting", "features", "n_features", "n_labels", "n_rows", "n_unlabelled", "n_pairs")


def fitted_values(model, X, Y, n_rows: int, n_unlabelled: int, n_pairs: int) -> dict:
    """Return the numbers and words that a fitted model knows of its training."""
    numbers = X.shape[1], Y.shape[1], n_rows, n_unlabelled, n_pairs
    return dict(zip(VALUES, (model.distance, model.weighting, model.features, *numbers), strict=True))


def added_classes(old: ClassTerms, new: ClassTerms) -> ClassTerms:
    """Return the sums of classes over the rows of two sets: what :meth:`ClassTerms.of` returns for both together."""
    # Sums of whole numbers below 2**24 are exact, and others are rounded once more.
    n_classes = new.class_size.size
    features, place = np.unique(np.concatenate([old.feature_of_column, new.feature_of_column]), return_inverse=True)
    places = np.split(place, [old.feature_of_column.size])
    counts = np.zeros(features.size, np.int64)
    for part, at in zip((old, new), places):
        counts[at] += part.document_counts
    order = np.argsort(-counts, kind="stable")  # most frequent first, then by feature
    term = np.empty(features.size, np.int64)
    term[order] = np.arange(features.size)
    sums = sp.csr_array((features.size, n_classes))
    for part, at in zip((old, new), places):
        terms = np.repeat(term[at], np.diff(part.ptr))
        sums = sums + sp.csr_array((part.sums.astype(np.float64), (terms, part.classes)), (features.size, n_classes))
    sums.sort_indices()
    if sums.nnz and sums.data.max() > float(np.finfo(np.float32).max):
        raise ValueError("the values of a feature, added up over the rows of a label, are beyond float32: scale X")
    ptr, classes, values = csr_parts(sums)
    class_size = new.class_size.copy()
    class_size[: old.class_size.size] += old.class_size
    return ClassTerms(
        features[order].astype(np.int32), ptr, classes, values.astype(np.float32), counts[order], class_size,
        old.n_rows + new.n_rows,
    )  # fmt: skip


def averaged(old: LinearFunction, n_old: int, new: LinearFunction, n_new: int) -> LinearFunction:
    """Return the mean of two functions, weighted by their pairs (McDonald, Hall, Mann, NAACL 2010)."""
    share = n_new / (n_old + n_new)
    return LinearFunction(
        (1 - share) * old.weights + share * new.weights,
        np.sqrt((1 - share) * old.scale**2 + share * new.scale**2),
        (1 - share) * old.risk + share * new.risk,
    )
