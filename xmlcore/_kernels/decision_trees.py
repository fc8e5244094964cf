"""Compiled prediction of many binary decision trees, which all look at the same row."""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def predict(ptr, ids, values, n_features, tree_ptr, feature, threshold, left, right, proba, out):
    """Fill ``out``, float32 (rows, trees), with what each tree's leaf says of each row.

    Rows are CSR. The nodes of tree t are those from ``tree_ptr[t]``; its root is the first, and children are counted
    from it. A node of feature -1 is a leaf. Otherwise a row goes left when its value is at most the threshold.
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
