"""Prediction by many binary decision trees, one per label."""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def predict(ptr, ids, values, n_features, tree_ptr, feature, threshold, left, right, proba, out):
    """Write, for each row and tree, the probability of the leaf that the row reaches.

    Parameters
    ----------
    ptr, ids, values
        CSR rows.
    n_features : int
    tree_ptr : int64 (trees + 1,)
        The nodes of tree t begin at tree_ptr[t], with its root.
    feature : int32 (nodes,)
        -1 for a leaf.
    threshold : float64 (nodes,)
        A row goes left when its value of the feature is at most the threshold.
    left, right : int32 (nodes,)
        The children, counted from the root of the tree.
    proba : float32 (nodes,)
    out : float32 (rows, trees)
        Written: ``proba`` of the leaf that each row reaches in each tree.
    """
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
