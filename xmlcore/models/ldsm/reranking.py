"""Compute the mean of each label's training rows, for re-ranking."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reranking import LabelMeans, weigh
from xmlcore.validation import csr_parts


def label_means(x, Y, n_columns: int, space: str) -> LabelMeans:
    ptr, columns, values = x
    weights = np.empty(0, np.float32)
    if space == "idf":
        rows_with = np.bincount(columns[values != 0], minlength=n_columns)
        weights = (1 + np.log((1 + Y.shape[0]) / (1 + rows_with))).astype(np.float32)
        values = weigh(ptr, columns, values, weights, unit=True)
    sums = sp.csr_array(Y.T.astype(np.float32) @ sp.csr_array((values, columns, ptr), shape=(Y.shape[0], n_columns)))
    sums.sort_indices()
    counts = np.maximum(1, np.bincount(Y.indices, minlength=Y.shape[1]))
    sums.data /= np.repeat(counts, np.diff(sums.indptr)).astype(np.float32)
    mean_ptr, mean_columns, mean_values = csr_parts(sums)
    if space == "idf":
        mean_values = weigh(mean_ptr, mean_columns, mean_values, np.ones(n_columns, np.float32), True)
    return LabelMeans(mean_ptr, mean_columns, mean_values, weights)
