"""Double sampling, the features of pairs of a row and a class: the paper's ten, and six more.

Features are computed from the sums y_t of the row's terms over the rows of a class (see ds_classes.py). If the row
belongs to the class, it can be subtracted from these sums first ("leave one out").
"""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.arrays import longest
from xmlcore._kernels.ds_nearest import nearest, row_square, scratch
from xmlcore._kernels.k_best import sort_best_first
from xmlcore._kernels.sorting import first_at_least, sort_in_place, stable_order

N_FEATURES = 10  # the features of the paper's Table 1
N_MORE = 6  # the features of more_features
LEAST_LEFT = 1e-5  # a smaller share of a sum that is left after a subtraction can be a rounding error, and counts as 0


@kernel
def sums_by_term(terms, classes, index, found):
    """Write the sums y_t of some ascending classes for a row's terms into ``found``, (classes, terms)."""
    ptr, class_ids, sums = index.ptr, index.classes, index.sums
    for a in range(terms.size):
        low, end = ptr[terms[a]], ptr[terms[a] + 1]
        for c in range(classes.size):
            low = first_at_least(class_ids, low, end, classes[c])
            found[c, a] = sums[low] if low < end and class_ids[low] == classes[c] else 0.0


@kernel
def sums_by_class(terms, classes, by_class, found):
    """Do the work of :func:`sums_by_term`, with the terms of each class in CSR form."""
    class_ptr, class_terms, class_sums = by_class
    for c in range(classes.size):
        first, end = class_ptr[classes[c]], class_ptr[classes[c] + 1]
        for a in range(terms.size):
            at = first_at_least(class_terms, first, end, terms[a])
            found[c, a] = class_sums[at] if at < end and class_terms[at] == terms[a] else 0.0


@kernel
def row_features(terms, values, classes, found, own, class_size, index, out):
    """Write the paper's ten features of a row with some classes into ``out``; ``found`` are their y_t."""
    # ``own`` is the position in ``classes`` of the class from which the row is subtracted first; -1 for none.
    weights, idfs, rarities, mean_total = index.weight, index.idf, index.rarity, index.mean_total
    square = row_square(terms, values, weights)
    shrink = 1.0 / math.sqrt(square) if index.unit and square > 0 else 1.0
    row = square * shrink * shrink
    for c in range(classes.size):
        k = classes[c]
        total, scale, centre = index.total[k], index.scale[k], index.square[k]
        if c == own:
            total, square_left = _without(terms, values, k, found[c], index)
            rows_left = class_size[k] - 1
            if index.unit:
                scale = 1.0 / math.sqrt(square_left) if square_left > 0 else 0.0
            else:
                scale = 1.0 / rows_left if rows_left > 0 else 0.0
            centre = square_left * scale * scale
        elif centre == np.inf:
            centre = 0.0
        out[c, :N_FEATURES] = 0.0
        product = 0.0
        for a in range(terms.size):
            y, t = found[c, a], terms[a]
            if c == own:
                y = _left(y, values[a])
            if y == 0.0:
                continue
            share, idf, rarity = y / total, idfs[t], rarities[t]
            out[c, 0] += math.log1p(y)
            out[c, 1] += math.log1p(rarity)
            out[c, 2] += idf
            out[c, 3] += share * idf
            out[c, 4] += math.log1p(share)
            out[c, 5] += math.log1p(share * idf)
            out[c, 6] += math.log1p(share * rarity)
            out[c, 7] += 1.0
            product += np.float64(values[a]) * weights[t] * weights[t] * y
            out[c, 9] += idf * 2.0 * y / (y + 0.25 + 0.75 * total / mean_total)
        out[c, 8] = math.sqrt(max(0.0, row + centre - 2.0 * product * shrink * scale))


@kernel
def _left(y, x):
    """Return y - x, where x is a row's part of the sum y; 0 if the difference can be a rounding error."""
    return y - x if y - x > LEAST_LEFT * y else 0.0


@kernel
def _without(terms, values, k, found, index):
    """Subtract a row from class k; return its |y| and the squared length of its centroid before scaling."""
    total, scale = index.total[k], index.scale[k]
    square_before = index.square[k] / (scale * scale) if scale > 0 else 0.0
    square = square_before
    for a in range(terms.size):
        y = found[a]
        left = _left(y, values[a])
        total -= y - left
        square -= index.weight[terms[a]] ** 2 * (y * y - left * left)
    if total <= LEAST_LEFT * index.total[k] or square <= LEAST_LEFT**2 * square_before:
        return max(total, 0.0), 0.0
    return total, square


@kernel
def more_features(terms, values, classes, found, own, index, more, out):
    """Compute, for a row and some classes, the six features that are not in the paper."""
    idfs, rarities, weights, mean_total = index.idf, index.rarity, more.weight, index.mean_total
    row_idf, row_total, row_other, row_tfidf = 0.0, 0.0, 0.0, 0.0
    for a in range(terms.size):
        x, idf = np.float64(values[a]), idfs[terms[a]]
        row_idf += idf
        row_total += x
        row_other += (x * weights[terms[a]]) ** 2
        row_tfidf += (x * idf) ** 2
    for c in range(classes.size):
        k = classes[c]
        total, other, damped = index.total[k], more.other[k], more.damped[k]
        if c == own:
            total = _without(terms, values, k, found[c], index)[0]
            for a in range(terms.size):
                t, y = terms[a], found[c, a]
                left = _left(y, values[a])
                other -= weights[t] ** 2 * (y * y - left * left)
                damped -= idfs[t] ** 2 * (math.log1p(y) ** 2 - math.log1p(left) ** 2)
            other = other if other > LEAST_LEFT**2 * more.other[k] else 0.0
            damped = damped if damped > LEAST_LEFT**2 * more.damped[k] else 0.0
        covered, rarest, lift, likelihood, by_other, by_damped = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(terms.size):
            y, t, x = found[c, a], terms[a], np.float64(values[a])
            if c == own:
                y = _left(y, values[a])
            if y == 0.0:
                continue
            idf, rarity = idfs[t], rarities[t]
            covered += idf
            rarest = max(rarest, idf)
            lift = max(lift, math.log1p(y / total * rarity))
            likelihood += x * math.log1p(y / mean_total * rarity)
            by_other += x * weights[t] ** 2 * y
            by_damped += x * idf * idf * math.log1p(y)
        out[c, 10] = covered / row_idf if row_idf > 0 else 0.0
        out[c, 11] = rarest
        out[c, 12] = lift
        out[c, 13] = likelihood - row_total * math.log1p(total / mean_total)
        out[c, 14] = _between(row_tfidf, damped, by_damped)
        out[c, 15] = _between(row_other, other, by_other)


@kernel
def _between(square, other, product):
    """Return the distance of two vectors after scaling each to length 1; ``square``, ``other``: squared lengths."""
    if square > 0 and other > 0:
        return math.sqrt(max(0.0, 2.0 - 2.0 * (product / math.sqrt(square) / math.sqrt(other))))
    return 1.0 if square > 0 or other > 0 else 0.0


@kernel
def longest_of(ptr, rows):
    """Return the largest number of terms of a row among ``rows``."""
    most = 0
    for row in rows:
        most = max(most, ptr[row + 1] - ptr[row])
    return most


@kernel
def all_features(terms, values, classes, found, own, class_size, index, more, out):
    """Compute the ten features, and the six more where ``out`` has room for them; return how many were computed."""
    row_features(terms, values, classes, found, own, class_size, index, out)
    if out.shape[1] < N_FEATURES + N_MORE:
        return N_FEATURES
    more_features(terms, values, classes, found, own, index, more, out)
    return N_FEATURES + N_MORE


@kernel
def feature_block(ptr, terms, values, classes, index, more, out):
    """Compute the features of each row with its own list of classes."""
    q = classes.shape[1]
    own, keys = np.empty(q, np.int32), np.empty(q, np.float64)
    features, found = np.empty((q, out.shape[2])), np.empty((q, longest(ptr)))
    nobody = np.empty(0, np.int64)
    for i in range(ptr.size - 1):
        for c in range(q):
            keys[c] = classes[i, c]
        order = stable_order(keys)
        none = 0
        for c in range(q):
            own[c] = classes[i, order[c]]
            none += own[c] < 0
        a, b = ptr[i], ptr[i + 1]
        sums_by_term(terms[a:b], own[none:], index, found)
        filled = all_features(terms[a:b], values[a:b], own[none:], found, -1, nobody, index, more, features)
        for c in range(q):
            for j in range(filled):
                out[i, order[c], j] = np.nan if c < none else features[c - none, j]


@kernel
def pair_block(x, sample, first, stop, leave_out, class_size, by_class, index, more, tree, pairs, signs):
    """Compute the pairs of copies ``first`` to ``stop`` - 1 of examples: the paper's T, as differences."""
    (ptr, terms, values), rows, own_class, adversaries = x, sample.rows, sample.classes, sample.adversaries
    kappa, n_features = adversaries.shape[1], pairs.shape[1]
    classes, features = np.empty(kappa + 1, np.int32), np.empty((kappa + 1, n_features))
    found = np.empty((kappa + 1, longest_of(ptr, rows[first:stop])))
    for i in range(first, stop):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        own = 0
        for j in range(kappa):
            is_before = adversaries[i, j] < y  # they ascend
            classes[j if is_before else j + 1] = adversaries[i, j]
            own += is_before
        classes[own] = y
        sums_by_class(terms[a:b], classes, by_class, found)
        left = own if leave_out else -1
        all_features(terms[a:b], values[a:b], classes, found, left, class_size, index, more, features)
        if tree.size:
            for j in range(kappa):
                features[j if j < own else j + 1, n_features - 1] = tree[i, j + 1]
            features[own, n_features - 1] = tree[i, 0]
        for j in range(kappa):
            at = i * kappa + j
            signs[at] = -1 if j < own else 1
            lower, upper = (j, own) if j < own else (own, j + 1)
            for f in range(n_features):
                pairs[at, f] = features[lower, f] - features[upper, f]


@kernel
def rank_block(x, index, more, given, tree, w, labels, scores):
    """Rank the candidates of rows by the learnt function f."""
    ptr, terms, values = x
    q = labels.shape[1]
    room, near = scratch(0 if given else index.total.size), np.empty(q)
    features, found, nobody = np.empty((q, w.size)), np.empty((q, longest(ptr))), np.empty(0, np.int64)
    for i in range(ptr.size - 1):
        a, b, own = ptr[i], ptr[i + 1], labels[i]
        if not given:
            nearest(terms[a:b], values[a:b], index, room, near, own)
            sort_in_place(own)
        sums_by_term(terms[a:b], own, index, found)
        filled = all_features(terms[a:b], values[a:b], own, found, -1, nobody, index, more, features)
        if filled < w.size:
            for c in range(q):
                features[c, filled] = tree[i, c]
        for c in range(q):
            total = 0.0
            for j in range(w.size):
                total += w[j] * features[c, j]
            scores[i, c] = total
        sort_best_first(scores[i], own, q)
