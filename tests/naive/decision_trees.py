"""Decision trees: twin of xmlcore/_kernels/decision_trees.py."""


def tree_leaf(row, feature, threshold, left, right):
    """The node a row ends at."""
    node = 0
    while feature[node] >= 0:
        node = left[node] if row[feature[node]] <= threshold[node] else right[node]
    return node
