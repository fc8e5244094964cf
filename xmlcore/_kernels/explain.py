"""What each feature of a row adds to a score: along paths of linear nodes, and along the ways of LdSM."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.ldsm_splitting import THRESHOLD
from xmlcore._kernels.plt_factors import log_probability

LOGISTIC = 0  # as in siblings
SQUARED_HINGE = 1
MARGIN = 2  # the score is the margin itself
NEAR = 1e-5  # of two margins nearer than that, the slope between is taken instead of the difference quotient


@inlined
def place_of(ids, start, end, wanted):
    """Where ``wanted`` is in the ascending ``ids[start:end]``; -1 when it is not."""
    low = start
    high = end
    while low < high:
        middle = (low + high) >> 1
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < end and ids[low] == wanted:
        return low
    return np.int64(-1)


@inlined
def log_factor(margin, loss):
    """What a node adds to the score."""
    return margin if loss == MARGIN else log_probability(margin, loss)


@inlined
def mean_slope(start, end, loss):
    """Mean of the derivative of :func:`log_factor` between two margins: the difference quotient, or its limit."""
    if loss == MARGIN:
        return 1.0
    if abs(end - start) > NEAR:
        return (log_probability(end, loss) - log_probability(start, loss)) / (end - start)
    middle = 0.5 * (start + end)
    if loss == LOGISTIC:
        if middle > 0.0:
            small = np.exp(-middle)
            return small / (1.0 + small)
        return 1.0 / (1.0 + np.exp(middle))
    return 2.0 * max(0.0, 1.0 - middle)


@kernel
def share_along_paths(
    x_ptr, x_features, x_values, path_ptr, nodes, w_ptr, w_features, weights, bias, loss, out, baseline, total
):
    """Share out the score of a path of linear nodes to the features of a row.

    A node of margin m and bias b adds (m - b) times the mean slope between b and m to the score; of that, feature f
    gets its part w_f x_f of m - b. An infinite bias is a factor that is always 0 or 1: no feature has a part in it.

    Parameters
    ----------
    x_ptr : int64 (n + 1,), x_features : int32, x_values : float64
        Rows of length 1; features ascend within a row.
    path_ptr : int64 (n + 1,), nodes : int64
        Rows of ``weights`` on each row's path.
    w_ptr : int64, w_features : int32, weights : float32
        Weights of the nodes, features ascending.
    bias : float32
    loss : int
    out : float64, as ``x_values``
        The parts are added to what is there.
    baseline, total : float64 (n,)
        Written: the score of a row without features, and of the row.
    """
    longest = 0
    for r in range(x_ptr.size - 1):
        longest = max(longest, x_ptr[r + 1] - x_ptr[r])
    parts = np.empty(longest, np.float64)
    for r in range(x_ptr.size - 1):
        start = x_ptr[r]
        size = x_ptr[r + 1] - start
        empty_score = 0.0
        score = 0.0
        for p in range(path_ptr[r], path_ptr[r + 1]):
            v = nodes[p]
            b = np.float64(bias[v])
            if np.isinf(b):
                empty_score += log_factor(b, loss)
                score += log_factor(b, loss)
                continue
            margin = b
            first = w_ptr[v]
            end = w_ptr[v + 1]
            for t in range(size):
                q = place_of(w_features, first, end, x_features[start + t])
                if q < 0:
                    parts[t] = 0.0
                    continue
                parts[t] = x_values[start + t] * np.float64(weights[q])
                margin += parts[t]
                first = q + 1
            slope = mean_slope(b, margin, loss)
            for t in range(size):
                out[start + t] += slope * parts[t]
            empty_score += log_factor(b, loss)
            score += log_factor(margin, loss)
        baseline[r] = empty_score
        total[r] = score


@inlined
def share_of(hist_ptr, hist_labels, hist_counts, n_rows, v, label):
    """Share of node v's training rows that have the label."""
    at = place_of(hist_labels, hist_ptr[v], hist_ptr[v + 1], label)
    return 0.0 if at < 0 else np.float64(hist_counts[at]) / np.float64(n_rows[v])


@kernel
def share_along_ways(forest, arity, x_ptr, x_columns, x_values, x_place, labels, out, baseline, total):
    """Share out a label's mean share in the leaves that a row reaches to the features that sent it there.

    Each step from a node to a child changes the label's share; it counts as often as leaves are reached through the
    child. It is shared out among the features that pulled towards the step, in proportion to w_f x_f in the child's
    margin where that reached the threshold, and otherwise, where the row went to the child of largest margin, in its
    difference to the second largest.

    Parameters
    ----------
    forest : ForestArrays
    arity : int
    x_ptr : int64 (n + 1,), x_columns : int32, x_values : float32
        Rows in columns.
    x_place : int64
        Where in ``out`` the part of each entry goes.
    labels : int32 (n,)
    out : float64
        The parts are added to what is there.
    baseline : float64 (n,)
        Written: the share at the root, and the changes of the steps that no feature pulled towards.
    total : float64 (n,)
        Written: the mean share in the leaves.
    """
    M = arity
    root = forest.root
    first_child = forest.first_child
    group = forest.group
    bias = forest.bias
    column_ptr = forest.column_ptr
    columns = forest.columns
    weights = forest.weights
    n_trees = root.size - 1
    longest = 0
    for r in range(x_ptr.size - 1):
        longest = max(longest, x_ptr[r + 1] - x_ptr[r])
    most = 0
    for tree in range(n_trees):
        most = max(most, root[tree + 1] - root[tree])
    products = np.empty(longest, np.float64)
    margins = np.empty(M, np.float32)
    # Of the nodes that a row visits in a tree, parents before their children:
    node = np.empty(most, np.int32)
    above = np.empty(most, np.int64)  # place of the parent among these
    rival = np.empty(most, np.int64)  # the child of second largest margin where none reached the threshold, or -1
    leaves = np.empty(most, np.int64)  # leaves reached through it
    shares = np.empty(most, np.float64)  # of its rows that have the label
    at = np.empty(64 * longest, np.int64)  # where the weights of the row's columns are, -1 for none
    for r in range(x_ptr.size - 1):
        start = x_ptr[r]
        size = x_ptr[r + 1] - start
        score = 0.0
        fixed = 0.0
        for tree in range(n_trees):
            node[0] = root[tree]
            above[0] = -1
            rival[0] = -1
            count = 1
            done = 0
            while done < count:
                v = node[done]
                g = group[v]
                shares[done] = share_of(
                    forest.hist_ptr, forest.hist_labels, forest.hist_counts, forest.n_rows, v, labels[r]
                )
                leaves[done] = g < 0
                if g < 0:
                    done += 1
                    continue
                own = done * longest
                if own + size > at.size:
                    more = np.empty(2 * (own + size), np.int64)
                    more[: at.size] = at
                    at = more
                first = first_child[v]
                for c in range(M):
                    margins[c] = bias[first + c]
                low = column_ptr[g]
                high = column_ptr[g + 1]
                for t in range(size):
                    column = x_columns[start + t]
                    q = place_of(columns, low, min(high, low + column + 1), column)  # the i-th is at least column i
                    at[own + t] = q
                    if q >= 0:
                        for c in range(M):
                            margins[c] += x_values[start + t] * weights[M * q + c]
                entered = 0
                best = 0
                for c in range(M):
                    if margins[c] > margins[best]:
                        best = c
                    if margins[c] >= THRESHOLD:
                        node[count] = first + c
                        above[count] = done
                        rival[count] = -1
                        count += 1
                        entered += 1
                if entered == 0:
                    second = 1 if best == 0 else 0
                    for c in range(M):
                        if c != best and margins[c] > margins[second]:
                            second = c
                    node[count] = first + best
                    above[count] = done
                    rival[count] = second
                    count += 1
                done += 1
            for i in range(count - 1, 0, -1):
                leaves[above[i]] += leaves[i]
            fixed += shares[0]
            for i in range(count):
                if group[node[i]] < 0:
                    score += shares[i] / leaves[0]
            for i in range(1, count):
                change = (shares[i] - shares[above[i]]) * leaves[i] / leaves[0]
                if change == 0.0:
                    continue
                c = node[i] - first_child[node[above[i]]]
                own = above[i] * longest
                pull = 0.0
                for t in range(size):
                    q = at[own + t]
                    products[t] = 0.0
                    if q >= 0:
                        w = np.float64(weights[M * q + c])
                        if rival[i] >= 0:
                            w -= np.float64(weights[M * q + rival[i]])
                        products[t] = max(0.0, w * np.float64(x_values[start + t]))
                        pull += products[t]
                if pull == 0.0:
                    fixed += change
                    continue
                for t in range(size):
                    out[x_place[start + t]] += change / n_trees * products[t] / pull
        baseline[r] = fixed / n_trees
        total[r] = score / n_trees
