"""Double sampling, the search for candidates: the classes whose centroids are nearest to a row, exactly."""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_classes import GROUP

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


@kernel
def _better(score, k, other, other_k):
    """Return whether class k comes before class other_k: it has the larger score, or the same score and smaller id."""
    return score > other or (score == other and k < other_k)


@kernel
def _sink(scores, ids, n, i):
    """Restore a heap of n classes after the class at position i changed.

    ``scores`` and ``ids`` hold the classes; the worst class is the first of the heap.
    """
    while True:
        worst, left = i, 2 * i + 1
        for child in (left, left + 1):
            if child < n and _better(scores[worst], ids[worst], scores[child], ids[child]):
                worst = child
        if worst == i:
            return
        scores[i], scores[worst] = scores[worst], scores[i]
        ids[i], ids[worst] = ids[worst], ids[i]
        i = worst


@kernel
def sort_best_first(scores, ids, n):
    """Sort n classes in place by falling score, the smaller id first among equals (heap sort)."""
    for i in range(n // 2 - 1, -1, -1):
        _sink(scores, ids, n, i)
    for end in range(n - 1, 0, -1):
        scores[0], scores[end] = scores[end], scores[0]
        ids[0], ids[end] = ids[end], ids[0]
        _sink(scores, ids, end, 0)


class Scratch(NamedTuple):
    """The working memory of :func:`nearest`, which is used for one row after the other; K classes in G groups."""

    product: np.ndarray  # float64 (K,): zeros before and after each call
    touched: np.ndarray  # int32 (K,): the classes that share a term with the row
    partial: np.ndarray  # float64 (K,): scores, possibly without the frequent terms
    tops: np.ndarray  # float64 (G,): the largest ``partial`` of each group


@kernel
def scratch(n_classes):
    """Return new working memory of :func:`nearest` for ``n_classes`` classes."""
    return Scratch(
        np.zeros(n_classes), np.empty(n_classes, np.int32), np.empty(n_classes), np.empty(-(-n_classes // GROUP))
    )


@kernel
def nearest(terms, values, index, room, scores, ids):
    """Find the classes of the nearest centroids of one row, exactly.

    The products of the row with the centroids are summed over the postings of the row's terms. A class without a
    common term has the product 0, so that its distance follows from the length of its centroid alone.

    Frequent terms have most of the postings. They are read only for the classes that can still be among the nearest:
    by the Cauchy-Schwarz inequality they add at most the row's length in these terms times the centroid's.

    Parameters
    ----------
    terms : int32, values : float32
        The row.
    index : ClassIndex
    room : Scratch
    scores : float64 (q,), ids : int32 (q,)
        Filled: |x|² minus the squared distance, and the class; nearest first, the smaller id first among equals. q is
        at most the number of classes that have rows.
    """
    # Arrays are taken out of the tuples first: taking them out inside a loop costs more than the loop's own work.
    ptr, weight, head, product = index.ptr, index.weight, index.head, room.product
    length = row_square(terms, values, weight)
    twice = 2.0 / math.sqrt(length) if index.unit and length > 0 else 2.0
    work, head_work, n_head = 0, 0, 0  # number of postings, of frequent terms' postings, of frequent terms
    for a in range(terms.size):
        size = ptr[terms[a] + 1] - ptr[terms[a]]
        work += size
        if terms[a] < head:
            head_work += size
            n_head += 1
    if work * SPARSE <= product.size:
        _nearest_of_touched(terms, values, index, twice, room, scores, ids)
        return
    _add_products(terms, values, index, head, ptr.size - 1, product)
    # Each class that can be among the nearest is looked up in the postings of every frequent term of the row. For more
    # than ``most`` classes it is faster to read all these postings.
    most = head_work // (2 * LOOKED_UP * max(1, n_head))
    if most < 2 * ids.size or not _nearest_of_survivors(terms, values, index, twice, most, room, scores, ids):
        _add_products(terms, values, index, 0, head, product)
        group_scores(product, index.scale, index.square, twice, room.partial, room.tops)
        _best(room, scores, ids)
    product[:] = 0.0
    sort_best_first(scores, ids, ids.size)


@kernel
def _add_products(terms, values, index, first, stop, product):
    """Add the products of a row with all centroids over the terms from ``first`` to ``stop`` - 1 to ``product``.

    ``terms`` and ``values`` are the row; ``product`` is float64 (K,), before the centroids are scaled.
    """
    ptr, classes, sums, weight = index.ptr, index.classes, index.sums, index.weight
    for a in range(terms.size):
        t = terms[a]
        if first <= t < stop:
            x = np.float64(values[a]) * weight[t] * weight[t]
            for p in range(ptr[t], ptr[t + 1]):
                product[classes[p]] += x * sums[p]


@kernel(fastmath={"nnan", "nsz"})  # allows vector instructions; the order of sums stays
def group_scores(product, scale, square, twice, scores, tops):
    """Compute the score of each class and the largest score of each group of GROUP classes."""
    for g in range(tops.size):
        stop, top = min(product.size, (g + 1) * GROUP), -np.inf
        for k in range(g * GROUP, stop):
            score = twice * product[k] * scale[k] - square[k]
            scores[k] = score
            top = score if score > top else top
        tops[g] = top


@kernel
def _best(room, scores, ids):
    """Write the classes with the largest scores ``room.partial`` into ``scores`` and ``ids``, as a heap.

    Classes without rows have the score -inf and are left out.
    """
    partial, tops, kept, worst = room.partial, room.tops, 0, -np.inf
    for g in range(tops.size):
        if tops[g] < worst or tops[g] == -np.inf:
            continue
        for k in range(g * GROUP, min(partial.size, (g + 1) * GROUP)):
            if partial[k] >= worst and partial[k] > -np.inf:
                kept = _offer(partial[k], k, scores, ids, kept)
                if kept == ids.size:
                    worst = scores[0]


@kernel
def _nearest_of_survivors(terms, values, index, twice, most, room, scores, ids):
    """Find the nearest centroids from products without the frequent terms, which are added where they can matter.

    Returns False when more than ``most`` classes can be among the nearest; then ``scores`` and ``ids`` are not
    complete. For the other arguments see :func:`nearest` and :func:`group_scores`.
    """
    partial, tops, reach, far, q = room.partial, room.tops, index.reach, index.far, ids.size
    group_scores(room.product, index.scale, index.square, twice, partial, tops)
    _best(room, scores, ids)
    # The frequent terms can only raise a score. A class must reach the least complete score of the q classes that are
    # best without these terms.
    first, kept = ids.copy(), 0
    for i in range(q):
        kept = _offer(_complete(terms, values, first[i], index, twice, room.product), first[i], scores, ids, kept)
        partial[first[i]] = -np.inf
    x_head, x_all = 0.0, 0.0
    for a in range(terms.size):
        part = (np.float64(values[a]) * index.weight[terms[a]]) ** 2
        x_all += part
        if terms[a] < index.head:
            x_head += part
    add = twice * math.sqrt(x_head) * (1.0 + ROUNDING)
    largest = math.sqrt(index.square[index.order[-1]])
    error = ROUNDING * (twice * math.sqrt(x_all) * largest + largest * largest)
    least, count = scores[0] - error, q
    for g in range(tops.size):
        if tops[g] + add * far[g] < least:
            continue
        for k in range(g * GROUP, min(partial.size, (g + 1) * GROUP)):
            if partial[k] + add * reach[k] >= least:
                if count == most:
                    return False
                kept = _offer(_complete(terms, values, k, index, twice, room.product), k, scores, ids, kept)
                least = scores[0] - error
                count += 1
    return True


@kernel
def _complete(terms, values, k, index, twice, product):
    """Return the score of class k after adding the frequent terms to ``product[k]``.

    The terms are summed in the order of :func:`_add_products`, so the score has the same bits. See
    :func:`group_scores`.
    """
    ptr, classes = index.ptr, index.classes
    total = product[k]
    for a in range(terms.size):
        t = terms[a]
        if t < index.head:
            at = search(classes, ptr[t], ptr[t + 1], k)
            if at < ptr[t + 1] and classes[at] == k:
                total += np.float64(values[a]) * index.weight[t] * index.weight[t] * index.sums[at]
    return twice * total * index.scale[k] - index.square[k]


@kernel
def _nearest_of_touched(terms, values, index, twice, room, scores, ids):
    """Find the nearest centroids where few classes share a term with the row, without a pass over all classes.

    The classes that share a term get their scores from the postings. Of the others, the best are the first in
    ``index.order``. For the arguments see :func:`nearest` and :func:`group_scores`.
    """
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
        kept = _offer(twice * product[k] * scale[k] - square[k], k, scores, ids, kept)
    for i in range(order.size):
        k = order[i]
        if left == 0:
            break
        if product[k] == 0.0:
            kept = _offer(-square[k], k, scores, ids, kept)
            left -= 1
    for i in range(count):
        product[touched[i]] = 0.0
    sort_best_first(scores, ids, ids.size)


@kernel
def _offer(score, k, scores, ids, kept):
    """Add class k to a heap of the q best classes if it is among them; return the number of classes in the heap.

    ``scores`` and ``ids`` have room for q classes, of which ``kept`` are taken. The heap is in order once it is full.
    """
    q = ids.size
    if kept < q:
        scores[kept], ids[kept] = score, k
        kept += 1
        if kept == q:
            for i in range(q // 2 - 1, -1, -1):
                _sink(scores, ids, q, i)
    elif _better(score, k, scores[0], ids[0]):
        scores[0], ids[0] = score, k
        _sink(scores, ids, q, 0)
    return kept


@kernel
def search(ids, low, high, wanted):
    """Return the first position from ``low`` on with an id of at least ``wanted``, or ``high`` (binary search)."""
    while low < high:
        middle = (low + high) >> 1
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def nearest_block(ptr, terms, values, index, out):
    """Fill ``out``, int32 (n, q), with the classes of the nearest centroids of each row, nearest first."""
    room, scores = scratch(index.total.size), np.empty(out.shape[1])
    for i in range(ptr.size - 1):
        a, b = ptr[i], ptr[i + 1]
        nearest(terms[a:b], values[a:b], index, room, scores, out[i])
