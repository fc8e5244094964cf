"""What each feature of a row adds to a score: along paths of linear nodes, and along the ways of LdSM."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.label_tree import log_probability
from xmlcore._kernels.ldsm import THRESHOLD

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
    n_trees = forest.root.size - 1
    longest = 0
    for r in range(x_ptr.size - 1):
        longest = max(longest, x_ptr[r + 1] - x_ptr[r])
    products = np.empty(M * longest, np.float64)
    margins = np.empty(M, np.float32)
    node = np.empty(64, np.int32)  # visited, parents before their children
    above = np.empty(64, np.int64)  # place of the parent among these
    leaves = np.empty(64, np.int64)  # leaves reached through each
    rival = np.empty(64, np.int64)  # the child of second largest margin where none reached the threshold, or -1
    for r in range(x_ptr.size - 1):
        start = x_ptr[r]
        size = x_ptr[r + 1] - start
        label = labels[r]
        score = 0.0
        fixed = 0.0
        for tree in range(n_trees):
            node[0] = forest.root[tree]
            above[0] = -1
            rival[0] = -1
            count = 1
            done = 0
            while done < count:
                v = node[done]
                leaves[done] = 0
                g = forest.group[v]
                if g < 0:
                    leaves[done] = 1
                    done += 1
                    continue
                if count + M > node.size:
                    more_nodes = np.empty(2 * node.size, np.int32)
                    more_above = np.empty(2 * node.size, np.int64)
                    more_rivals = np.empty(2 * node.size, np.int64)
                    more_nodes[:count] = node[:count]
                    more_above[:count] = above[:count]
                    more_rivals[:count] = rival[:count]
                    more_leaves = np.empty(2 * node.size, np.int64)
                    more_leaves[:count] = leaves[:count]
                    node = more_nodes
                    above = more_above
                    rival = more_rivals
                    leaves = more_leaves
                first = forest.first_child[v]
                for c in range(M):
                    margins[c] = forest.bias[first + c]
                for t in range(start, start + size):
                    q = place_of(forest.columns, forest.column_ptr[g], forest.column_ptr[g + 1], x_columns[t])
                    if q >= 0:
                        for c in range(M):
                            margins[c] += x_values[t] * forest.weights[M * q + c]
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
            fixed += share_of(forest.hist_ptr, forest.hist_labels, forest.hist_counts, forest.n_rows, node[0], label)
            for i in range(count):
                share = share_of(forest.hist_ptr, forest.hist_labels, forest.hist_counts, forest.n_rows, node[i], label)
                if forest.group[node[i]] < 0:
                    score += share / leaves[0]
                if i == 0:
                    continue
                v = node[above[i]]
                before = share_of(forest.hist_ptr, forest.hist_labels, forest.hist_counts, forest.n_rows, v, label)
                change = (share - before) * leaves[i] / leaves[0]
                if change == 0.0:
                    continue
                g = forest.group[v]
                c = node[i] - forest.first_child[v]
                weight = 0.0
                for t in range(size):
                    q = place_of(forest.columns, forest.column_ptr[g], forest.column_ptr[g + 1], x_columns[start + t])
                    products[t] = 0.0
                    if q >= 0:
                        w = np.float64(forest.weights[M * q + c])
                        if rival[i] >= 0:
                            w -= np.float64(forest.weights[M * q + rival[i]])
                        products[t] = max(0.0, w * np.float64(x_values[start + t]))
                        weight += products[t]
                if weight == 0.0:
                    fixed += change
                    continue
                for t in range(size):
                    out[x_place[start + t]] += change / n_trees * products[t] / weight
        baseline[r] = fixed / n_trees
        total[r] = score / n_trees
