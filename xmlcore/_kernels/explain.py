"""Contributions of features to a score: along paths of linear nodes (PLT, OneVsRest), and in the trees of LdSM."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arrays import enlarged, longest
from xmlcore._kernels.ldsm_splitting import THRESHOLD
from xmlcore._kernels.plt_factors import log_probability, log_slope
from xmlcore._kernels.sorting import first_at_least

MARGIN = 2  # beside the losses: the score is the margin itself
NEAR = 1e-5  # two margins closer than this have the slope at their middle instead of the difference quotient


class Paths(NamedTuple):
    """The nodes on each row's path."""

    ptr: np.ndarray  # int64 (n + 1,)
    nodes: np.ndarray  # int64


class Classifiers(NamedTuple):
    """The linear classifiers of nodes; features ascend within a node."""

    ptr: np.ndarray  # int64
    features: np.ndarray  # int32
    weights: np.ndarray  # float32
    bias: np.ndarray  # float32
    loss: int


class Columns(NamedTuple):
    """Rows whose features are numbered as in LdSM's model (its columns)."""

    ptr: np.ndarray  # int64 (n + 1,)
    columns: np.ndarray  # int32
    values: np.ndarray  # float32
    place: np.ndarray  # int64, where the contribution of each entry is added


class Visited(NamedTuple):
    """The nodes that a row visits in a tree, parents before their children."""

    node: np.ndarray  # int32
    above: np.ndarray  # int64, place of the parent among these nodes
    rival: np.ndarray  # int64, the child with the second largest margin where none reached the threshold; otherwise -1
    leaves: np.ndarray  # int64, number of leaves that the row reaches through the node
    shares: np.ndarray  # float64, share of the node's training rows that have the label


@inlined
def place_of(ids, start, end, wanted):
    """Return the place of ``wanted`` in the ascending ``ids[start:end]``, or -1."""
    at = first_at_least(ids, start, end, wanted)
    if at < end and ids[at] == wanted:
        return at
    return np.int64(-1)


@inlined
def log_factor(margin, loss):
    """Return what a node with this margin adds to the score."""
    return margin if loss == MARGIN else log_probability(margin, loss)


@inlined
def mean_slope(start, end, loss):
    """Return the mean derivative of :func:`log_factor` between two margins: the difference quotient, or its limit."""
    if loss == MARGIN:
        return 1.0
    if abs(end - start) > NEAR:
        return (log_probability(end, loss) - log_probability(start, loss)) / (end - start)
    return log_slope(0.5 * (start + end), loss)


@kernel
def share_along_paths(x, paths, classifiers, out, baseline, total):
    """Attribute the score of a path of linear nodes to the features of each row."""
    # A node with margin m and bias b adds (m - b) times the mean slope between b and m to the score of the row without
    # features. Feature f gets its part w_f x_f of m - b.
    bias = classifiers.bias
    loss = classifiers.loss
    parts = np.empty(longest(x.ptr), np.float64)
    for r in range(x.ptr.size - 1):
        start = x.ptr[r]
        size = x.ptr[r + 1] - start
        empty_score = 0.0
        score = 0.0
        for p in range(paths.ptr[r], paths.ptr[r + 1]):
            v = paths.nodes[p]
            b = np.float64(bias[v])
            if np.isinf(b):
                empty_score += log_factor(b, loss)
                score += log_factor(b, loss)
                continue
            margin = b
            first = classifiers.ptr[v]
            end = classifiers.ptr[v + 1]
            for t in range(size):
                q = place_of(classifiers.features, first, end, x.features[start + t])
                if q < 0:
                    parts[t] = 0.0
                    continue
                parts[t] = x.values[start + t] * np.float64(classifiers.weights[q])
                margin += parts[t]
                first = q + 1
            slope = mean_slope(b, margin, loss)
            for t in range(size):
                out[start + t] += slope * parts[t]
            empty_score += log_factor(b, loss)
            score += log_factor(margin, loss)
        baseline[r] = empty_score
        total[r] = score


@kernel
def share_along_ways(forest, arity, x, labels, out, baseline, total):
    """Attribute a label's mean share in the leaves that each row reaches to the features that sent the row there."""
    # A step's change of the share is weighted by the part of the reached leaves behind it, and divided among the
    # features that favour the step, in proportion to w_f x_f. Here w are the weights of the child's margin if that
    # reached the threshold, else the differences to the weights of the child with the second largest margin.
    root = forest.root
    n_trees = root.size - 1
    longest_row = longest(x.ptr)
    most = 0
    for tree in range(n_trees):
        most = max(most, root[tree + 1] - root[tree])
    products = np.empty(longest_row, np.float64)
    margins = np.empty(arity, np.float32)
    visited = Visited(
        np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64),
        np.empty(most, np.float64),
    )  # fmt: skip
    at = np.empty(64 * longest_row, np.int64)
    for r in range(x.ptr.size - 1):
        start = x.ptr[r]
        end = x.ptr[r + 1]
        columns = x.columns[start:end]
        values = x.values[start:end]
        place = x.place[start:end]
        score = 0.0
        fixed = 0.0
        for tree in range(n_trees):
            count, at = visit(forest, root[tree], labels[r], columns, values, margins, visited, at)
            fixed += visited.shares[0]
            for i in range(count):
                if forest.group[visited.node[i]] < 0:
                    score += visited.shares[i] / visited.leaves[0]
            for i in range(1, count):
                fixed += share_step(forest, arity, n_trees, visited, i, at, values, place, products, out)
        baseline[r] = fixed / n_trees
        total[r] = score / n_trees


@kernel
def visit(forest, root, label, columns, values, margins, visited, at):
    """Send one row down a tree and write the nodes that it visits."""
    M = margins.size
    weights = forest.weights
    size = columns.size
    visited.node[0] = root
    visited.above[0] = -1
    visited.rival[0] = -1
    count = 1
    done = 0
    while done < count:
        v = visited.node[done]
        g = forest.group[v]
        h = place_of(forest.hist_labels, forest.hist_ptr[v], forest.hist_ptr[v + 1], label)
        visited.shares[done] = 0.0 if h < 0 else np.float64(forest.hist_counts[h]) / np.float64(forest.n_rows[v])
        visited.leaves[done] = g < 0
        if g < 0:
            done += 1
            continue
        block = done * size
        if block + size > at.size:
            at = enlarged(at, block, 2 * (block + size))
        first = forest.first_child[v]
        for c in range(M):
            margins[c] = forest.bias[first + c]
        low = forest.column_ptr[g]
        high = forest.column_ptr[g + 1]
        for t in range(size):
            column = columns[t]
            q = place_of(forest.columns, low, min(high, low + column + 1), column)  # the i-th is at least column i
            at[block + t] = q
            if q >= 0:
                for c in range(M):
                    margins[c] += values[t] * weights[M * q + c]
        entered = 0
        best = 0
        for c in range(M):
            if margins[c] > margins[best]:
                best = c
            if margins[c] >= THRESHOLD:
                visited.node[count] = first + c
                visited.above[count] = done
                visited.rival[count] = -1
                count += 1
                entered += 1
        if entered == 0:
            second = 1 if best == 0 else 0
            for c in range(M):
                if c != best and margins[c] > margins[second]:
                    second = c
            visited.node[count] = first + best
            visited.above[count] = done
            visited.rival[count] = second
            count += 1
        done += 1
    for i in range(count - 1, 0, -1):
        visited.leaves[visited.above[i]] += visited.leaves[i]
    return count, at


@inlined
def share_step(forest, arity, n_trees, visited, i, at, values, place, products, out):
    """Add the contributions of the step to the i-th visited node; return the change if no feature favours it, or 0."""
    parent = visited.above[i]
    change = (visited.shares[i] - visited.shares[parent]) * visited.leaves[i] / visited.leaves[0]
    if change == 0.0:
        return 0.0
    size = values.size
    c = visited.node[i] - forest.first_child[visited.node[parent]]
    block = parent * size
    pull = 0.0
    for t in range(size):
        q = at[block + t]
        products[t] = 0.0
        if q >= 0:
            w = np.float64(forest.weights[arity * q + c])
            if visited.rival[i] >= 0:
                w -= np.float64(forest.weights[arity * q + visited.rival[i]])
            products[t] = max(0.0, w * np.float64(values[t]))
            pull += products[t]
    if pull == 0.0:
        return change
    for t in range(size):
        out[place[t]] += change / n_trees * products[t] / pull
    return 0.0
