"""Double sampling, the search for candidates: the classes whose centroids are nearest to a row, exactly."""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_classes import GROUP
from xmlcore._kernels.k_best import keep, sort_best_first
from xmlcore._kernels.sorting import first_at_least

SPARSE = 8  # if a row's terms have at most classes / SPARSE postings, only the classes in these postings are scored
LOOKED_UP = 64  # number of postings that can be read in sequence in the time of one binary search
ROUNDING = 1e-9  # upper bound of the relative rounding error of a sum, much larger than actual errors


@kernel
def row_square(terms, values, weight):
    """Return the squared length of a row in the space of centroids, where ``weight`` has a factor for each term."""
    total = 0.0
    for a in range(terms.size):
        total += (weight[terms[a]] * values[a]) ** 2
    return total


class NearestScratch(NamedTuple):
    """The working memory of :func:`nearest`, which is used for one row after the other; K classes in G groups."""

    product: np.ndarray  # float64 (K,): zeros before and after each call
    touched: np.ndarray  # int32 (K,): the classes that share a term with the row
    partial: np.ndarray  # float64 (K,): scores, possibly without the frequent terms
    tops: np.ndarray  # float64 (G,): the largest ``partial`` of each group


@kernel
def scratch(n_classes):
    """Return new working memory of :func:`nearest` for ``n_classes`` classes."""
    return NearestScratch(
        np.zeros(n_classes), np.empty(n_classes, np.int32), np.empty(n_classes), np.empty(-(-n_classes // GROUP))
    )


@kernel
def nearest(terms, values, index, room, scores, ids):
    """Find the classes of the nearest centroids of one row, exactly; the smaller id first among equals."""
    # The products of the row with the centroids are summed over the postings of the row's terms. Frequent terms have
    # most of the postings. They are read only for the classes that can still be among the nearest: by the
    # Cauchy-Schwarz inequality they add at most the row's length in these terms times the centroid's. ``scores`` are
    # |x|² minus the squared distances.
    # Arrays are taken out of the tuples first: taking them out inside a loop costs more than the loop's own work.
    ptr, weight, head, product = index.ptr, index.weight, index.head, room.product
    length = row_square(terms, values, weight)
    factor = 2.0 / math.sqrt(length) if index.unit and length > 0 else 2.0
    work, head_work, n_head = 0, 0, 0  # number of postings, of frequent terms' postings, of frequent terms
    for a in range(terms.size):
        size = ptr[terms[a] + 1] - ptr[terms[a]]
        work += size
        if terms[a] < head:
            head_work += size
            n_head += 1
    if work * SPARSE <= product.size:
        _nearest_of_touched(terms, values, index, factor, room, scores, ids)
        return
    _add_products(terms, values, index, head, ptr.size - 1, product)
    # Each class that can be among the nearest is looked up in the postings of every frequent term of the row. For more
    # than ``most`` classes it is faster to read all these postings.
    most = head_work // (2 * LOOKED_UP * max(1, n_head))
    if most < 2 * ids.size or not _nearest_of_survivors(terms, values, index, factor, most, room, scores, ids):
        _add_products(terms, values, index, 0, head, product)
        scores_and_group_tops(product, index.scale, index.square, factor, room.partial, room.tops)
        _best(room, scores, ids)
    product[:] = 0.0
    sort_best_first(scores, ids, ids.size)


@kernel
def _add_products(terms, values, index, first, stop, product):
    """Add the products of a row with all centroids over the terms from ``first`` to ``stop`` - 1 to ``product``."""
    ptr, classes, sums, weight = index.ptr, index.classes, index.sums, index.weight
    for a in range(terms.size):
        t = terms[a]
        if first <= t < stop:
            x = np.float64(values[a]) * weight[t] * weight[t]
            for p in range(ptr[t], ptr[t + 1]):
                product[classes[p]] += x * sums[p]


@kernel(fastmath={"nnan", "nsz"})  # allows vector instructions; the order of sums stays
def scores_and_group_tops(product, scale, squared_length, factor, scores, tops):
    """Compute the score of each class and the largest score of each group of GROUP classes."""
    for g in range(tops.size):
        stop, top = min(product.size, (g + 1) * GROUP), -np.inf
        for k in range(g * GROUP, stop):
            score = factor * product[k] * scale[k] - squared_length[k]
            scores[k] = score
            top = score if score > top else top
        tops[g] = top


@kernel
def _best(room, scores, ids):
    """Write the classes with the largest ``room.partial`` as a heap; those without rows, at -inf, are left out."""
    partial, tops, kept, worst = room.partial, room.tops, 0, -np.inf
    for g in range(tops.size):
        if tops[g] < worst or tops[g] == -np.inf:
            continue
        for k in range(g * GROUP, min(partial.size, (g + 1) * GROUP)):
            if partial[k] >= worst and partial[k] > -np.inf:
                kept = keep(scores, ids, kept, partial[k], k)
                if kept == ids.size:
                    worst = scores[0]


@kernel
def _nearest_of_survivors(terms, values, index, factor, most, room, scores, ids):
    """Find the nearest centroids; add frequent terms where they matter. Return False when more than ``most`` can."""
    partial, tops, reach, far, q = room.partial, room.tops, index.reach, index.far, ids.size
    scores_and_group_tops(room.product, index.scale, index.square, factor, partial, tops)
    _best(room, scores, ids)
    # The frequent terms can only raise a score. A class must reach the least complete score of the q classes that are
    # best without these terms.
    first, kept = ids.copy(), 0
    for i in range(q):
        kept = keep(scores, ids, kept, _complete(terms, values, first[i], index, factor, room.product), first[i])
        partial[first[i]] = -np.inf
    x_head, x_all = 0.0, 0.0
    for a in range(terms.size):
        part = (np.float64(values[a]) * index.weight[terms[a]]) ** 2
        x_all += part
        if terms[a] < index.head:
            x_head += part
    add = factor * math.sqrt(x_head) * (1.0 + ROUNDING)
    largest = math.sqrt(index.square[index.order[-1]])
    error = ROUNDING * (factor * math.sqrt(x_all) * largest + largest * largest)
    least, count = scores[0] - error, q
    for g in range(tops.size):
        if tops[g] + add * far[g] < least:
            continue
        for k in range(g * GROUP, min(partial.size, (g + 1) * GROUP)):
            if partial[k] + add * reach[k] >= least:
                if count == most:
                    return False
                kept = keep(scores, ids, kept, _complete(terms, values, k, index, factor, room.product), k)
                least = scores[0] - error
                count += 1
    return True


@kernel
def _complete(terms, values, k, index, factor, product):
    """Return the score of class k with the frequent terms, summed in the order of :func:`_add_products`."""
    ptr, classes = index.ptr, index.classes
    total = product[k]
    for a in range(terms.size):
        t = terms[a]
        if t < index.head:
            at = first_at_least(classes, ptr[t], ptr[t + 1], k)
            if at < ptr[t + 1] and classes[at] == k:
                total += np.float64(values[a]) * index.weight[t] * index.weight[t] * index.sums[at]
    return factor * total * index.scale[k] - index.square[k]


@kernel
def _nearest_of_touched(terms, values, index, factor, room, scores, ids):
    """Find the nearest centroids where few classes share a term with the row, without a pass over all."""
    ptr, classes, sums, weight = index.ptr, index.classes, index.sums, index.weight
    scale, square, order, product, touched = index.scale, index.square, index.order, room.product, room.touched
    count, left, kept = 0, ids.size, 0
    for a in range(terms.size):
        t = terms[a]
        x = np.float64(values[a]) * weight[t] * weight[t]
        for p in range(ptr[t], ptr[t + 1]):
            k = classes[p]
            if product[k] == 0.0:
                touched[count] = k
                count += 1
            product[k] += x * sums[p]
    for i in range(count):
        k = touched[i]
        kept = keep(scores, ids, kept, factor * product[k] * scale[k] - square[k], k)
    for i in range(order.size):
        k = order[i]
        if left == 0:
            break
        if product[k] == 0.0:
            kept = keep(scores, ids, kept, -square[k], k)
            left -= 1
    for i in range(count):
        product[touched[i]] = 0.0
    sort_best_first(scores, ids, ids.size)


@kernel
def nearest_block(ptr, terms, values, index, out):
    """Fill ``out``, int32 (n, q), with the classes of the nearest centroids of each row, nearest first."""
    room, scores = scratch(index.total.size), np.empty(out.shape[1])
    for i in range(ptr.size - 1):
        a, b = ptr[i], ptr[i + 1]
        nearest(terms[a:b], values[a:b], index, room, scores, out[i])
