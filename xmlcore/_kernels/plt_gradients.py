"""Gradients of a label tree's path products: one row of weights per node, in features, as LinearNodes has them."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.plt_factors import log_probability, log_slope

SORT_BELOW = 16  # a row that touches less than one in so many features sorts them, another looks through all


@kernel
def path_gradients(
    parent, leaf_of_label, root_has_factor, weight_ptr, weight_features, weight_values, bias, loss, x_ptr, x_features,
    x_values, wanted, n_features,
):  # fmt: skip
    """Log of one label's path product for each row, and its gradient by the row.

    Parameters
    ----------
    parent, leaf_of_label, weight_ptr, weight_features, weight_values, bias
        See :class:`xmlcore.models.plt.LinearNodes`; its weights as CSR arrays.
    x_ptr, x_features, x_values : CSR of X, n rows
    wanted : int32 (n,)
        The label of each row.

    Returns
    -------
    log_p : float64 (n,)
    ptr : int64 (n + 1,), features : int32, values : float64
        The gradient, (I - u u^T) g / |x| with u = x / |x| and g the sum of slope times weights along the path:
        features ascending within a row. A row of zeros has none.

    Notes
    -----
    O(weights along the path + features of the row) per row, and O(n_features) once.
    """
    n = wanted.size
    log_p = np.zeros(n, np.float64)
    ptr = np.zeros(n + 1, np.int64)
    features = np.empty(1024, np.int32)
    values = np.empty(1024, np.float64)
    row = np.zeros(n_features, np.float64)
    gradient = np.zeros(n_features, np.float64)
    is_touched = np.zeros(n_features, np.bool_)
    touched = np.empty(n_features, np.int32)
    count = 0
    for i in range(n):
        begin = x_ptr[i]
        end = x_ptr[i + 1]
        length = 0.0
        for t in range(begin, end):
            length += np.float64(x_values[t]) * np.float64(x_values[t])
        length = np.sqrt(length)
        n_touched = 0
        for t in range(begin, end):
            f = x_features[t]
            row[f] = x_values[t] / length
            is_touched[f] = True
            touched[n_touched] = f
            n_touched += 1
        v = leaf_of_label[wanted[i]]
        while v > 0 or (v == 0 and root_has_factor):
            margin = np.float64(bias[v])
            for e in range(weight_ptr[v], weight_ptr[v + 1]):
                margin += row[weight_features[e]] * weight_values[e]
            log_p[i] += log_probability(margin, loss)
            slope = log_slope(margin, loss)
            if slope > 0.0 and end > begin:
                for e in range(weight_ptr[v], weight_ptr[v + 1]):
                    f = weight_features[e]
                    gradient[f] += slope * weight_values[e]
                    if not is_touched[f]:
                        is_touched[f] = True
                        touched[n_touched] = f
                        n_touched += 1
            v = parent[v]
        along = 0.0
        for t in range(begin, end):
            along += row[x_features[t]] * gradient[x_features[t]]
        if n_touched * SORT_BELOW < n_features:
            touched[:n_touched].sort()
        else:
            at = 0
            for f in range(n_features):
                if is_touched[f]:
                    touched[at] = f
                    at += 1
        while count + n_touched > features.size:
            more_features = np.empty(2 * features.size, np.int32)
            more_values = np.empty(2 * features.size, np.float64)
            more_features[:count] = features[:count]
            more_values[:count] = values[:count]
            features = more_features
            values = more_values
        for at in range(n_touched):
            f = touched[at]
            features[count] = f
            values[count] = (gradient[f] - row[f] * along) / length
            count += 1
            gradient[f] = 0.0
            row[f] = 0.0
            is_touched[f] = False
        ptr[i + 1] = count
    return log_p, ptr, features[:count].copy(), values[:count].copy()
