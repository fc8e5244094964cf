"""Prediction by many binary decision trees, one per label."""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def predict(ptr, ids, values, n_features, tree_ptr, feature, threshold, left, right, proba, out):
    """Write, for each row and tree, the probability of the leaf that the row reaches."""
    row_values = np.zeros(n_features, np.float32)
    for row in range(ptr.size - 1):
        for at in range(ptr[row], ptr[row + 1]):
            row_values[ids[at]] = values[at]
        for tree in range(tree_ptr.size - 1):
            root = tree_ptr[tree]
            node = root
            while feature[node] >= 0:
                node = root + (left[node] if row_values[feature[node]] <= threshold[node] else right[node])
            out[row, tree] = proba[node]
        for at in range(ptr[row], ptr[row + 1]):
            row_values[ids[at]] = 0.0
