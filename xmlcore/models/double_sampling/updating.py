"""Add new rows to a fitted double-sampling model: sums of classes are added, and f learns from the new rows too."""

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import by_frequency, columns_of, in_columns
from xmlcore.models.double_sampling.classes import ClassTerms
from xmlcore.models.double_sampling.learning import LinearFunction, learn, make_pairs
from xmlcore.models.double_sampling.sampling import NoExampleError, RowsToSample, draw_sample, stream_seed
from xmlcore.progress import Progress
from xmlcore.validation import csr_parts

MORE_ROWS = 5  # number of the random stream of rows that are added; sampling.py has those before


def learn_more(model, X, Y, n_unlabelled: int, entropy: int, progress: Progress) -> tuple:
    """Return the fitted state of a model after it has learnt further rows: the arguments of its ``_set_fitted``."""
    old = fitted_classes(model)
    new = by_frequency(X)
    x = in_columns(csr_parts(X), columns_of(new, X.shape[1]))
    classes = added_classes(old, ClassTerms.of(x, Y, new, model.n_jobs, progress))
    x = in_columns(csr_parts(X), columns_of(classes.feature_of_column, X.shape[1]))
    distance, weighting, features = model.fitted_with_
    data = RowsToSample.of(model, x, Y, classes)
    function = LinearFunction(model.weights_, model.feature_scale_, model.empirical_risk_)
    n_pairs, sampled = model.n_pairs_, np.zeros(Y.shape[1], np.int64)
    sampled[: model.sampled_size_.size] = model.sampled_size_
    seed = int(np.random.SeedSequence([stream_seed(entropy, MORE_ROWS), old.n_rows]).generate_state(1, np.uint32)[0])
    try:
        pairs, signs, sample = make_pairs(model, data, draw_sample(model, data, seed, progress), progress)
    except NoExampleError:
        pass  # few rows may give no pair: f stays as it is, and the sums of the labels have changed
    else:
        progress("Learning from pairs of a row and a label", 0.0, f"{signs.size:,} pairs")
        function = averaged(function, n_pairs, learn(model, pairs, signs), signs.size)
        n_pairs += signs.size
        sampled += np.bincount(sample.classes, minlength=Y.shape[1])
    progress("Learning from pairs of a row and a label", 1.0, f"{n_pairs:,} pairs")
    values = {
        "n_features": X.shape[1],
        "n_labels": Y.shape[1],
        "n_rows": classes.n_rows,
        "n_unlabelled": model.n_unlabelled_ + n_unlabelled,
        "n_pairs": n_pairs,
        "distance": distance,
        "weighting": weighting,
        "features": features,
    }
    return classes, data.index, data.more, None, function, sampled, values


def fitted_classes(model) -> ClassTerms:
    index = model.ranker_.index
    return ClassTerms(
        model.feature_of_column_, index.ptr, index.classes, index.sums, model.document_counts_, model.class_size_,
        model.n_rows_,
    )  # fmt: skip


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
