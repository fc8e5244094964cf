"""Learning f: the features of the sampled pairs, and a linear classifier on their differences."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels import ds_pairs as kernels
from xmlcore.models.double_sampling.features import names_of_features
from xmlcore.models.double_sampling.sampling import (
    BLOCK,
    NoExampleError,
    RowsToSample,
    Sample,
    classes_of_the_same_row,
    leaves_out,
)
from xmlcore.parallel import one_blas_thread, row_blocks, run_tasks
from xmlcore.progress import Progress, silent

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
        kernels.pair_block(
            data.x, sample, *block, leave_out, data.class_size, data.by_class, data.index, data.more, logs, pairs, signs
        )

    blocks = row_blocks(m, BLOCK)
    costs = [b - a for a, b in blocks]
    run_tasks(one_block, blocks, costs, params.n_jobs, progress, "Features of pairs", "blocks of examples")
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
    learner = _learner(params)
    with one_blas_thread():
        w = learner.fit(Z, target, sample_weight=share).coef_[0].astype(np.float64)
        risk = float(np.mean(signs * (pairs @ w) <= 0))
    return LinearFunction(w / scale, scale, risk)


def _learner(params):
    """Return scikit-learn's linear classifier, without bias, for the parameters."""
    if params.loss == "squared_hinge":
        from sklearn.svm import LinearSVC

        return LinearSVC(C=float(params.C), fit_intercept=False, dual=False, max_iter=MAX_ITER, tol=TOLERANCE)
    from sklearn.linear_model import LogisticRegression

    # On pairs that are hard to separate L-BFGS needs hundreds of passes. Newton's method needs only a few, but copies
    # the pairs. On the paper's pairs, which are nearly separable, each solver needs some 15 passes.
    is_hard = params.features == "extended" or params.adversaries == "candidates"
    return LogisticRegression(
        C=float(params.C),
        fit_intercept=False,
        solver="newton-cholesky" if is_hard else "lbfgs",
        max_iter=MAX_ITER,
        tol=TOLERANCE,
    )
