"""Double sampling: sums of classes' terms, nearest centroids, and ten features of (row, class) pairs.

Terms are numbered by columns, classes by their label ids. All of a class that is kept is how much of each term its
rows have, by term (:class:`ClassIndex`): the centroids are these sums, weighted and scaled. Rows are CSR parts with
positive values.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.rng import GOLDEN, _scramble, stream, uniform

N_FEATURES = 10  # of the paper's Table 1
N_MORE = 6  # those of more_features
S11 = np.uint64(11)
SPARSE = 8  # of so many classes, one with a posting of the row makes a pass over all of them worth while
GROUP = 64  # classes that are passed over together
HEAD = 0.8  # of the work on postings that rows like the training rows make, in the frequent terms at least
LOOKED_UP = 64  # postings gone through in the time that one is looked up
ROUNDING = 1e-9  # relative, far above that of any sum
LEAST_LEFT = 1e-5  # share of a sum, below which taking a row's part out of it leaves nothing but rounding


class ClassIndex(NamedTuple):
    """Which classes have a term, and how much of it; V terms, K classes."""

    ptr: np.ndarray  # int64 (V + 1,), term t's postings are ptr[t] to ptr[t + 1]
    classes: np.ndarray  # int32, rising within a term
    sums: np.ndarray  # float32, y_t > 0
    weight: np.ndarray  # float64 (V,), of a term in the space of centroids
    idf: np.ndarray  # float64 (V,), I_t
    rarity: np.ndarray  # float64 (V,), l_S / F_t
    length: np.ndarray  # float64 (K,), |y|
    mean_length: float  # mean of |y| over classes that have rows
    scale: np.ndarray  # float64 (K,), the centroid is y_t * weight[t] * scale
    square: np.ndarray  # float64 (K,), the centroid's squared length; infinite where a class has no rows
    order: np.ndarray  # int32, classes that have rows, by (square, class id)
    unit: bool  # rows are scaled to length 1
    head: int  # terms before this one are frequent: most of the work is in their postings
    reach: np.ndarray  # float64 (K,), length of the centroid's part in these terms
    far: np.ndarray  # float64, the largest of these in each group of GROUP classes


class MoreOfClasses(NamedTuple):
    """What :func:`more_features` needs beside the index; arrays of no classes and no terms where it is not wanted."""

    weight: np.ndarray  # float64 (V,), of a term in the other space: 1 where centroids are weighted, else I_t
    other: np.ndarray  # float64 (K,), squared length of the class's sums in the other space
    damped: np.ndarray  # float64 (K,), that of log(1 + y_t) I_t


# Classes ----------------------------------------------------------------------------------------------------------


@kernel
def sum_terms(ptr, rows, values, first, last, label_ptr, labels, n_classes):
    """Add up, for terms first to last - 1, the values of the rows of each class.

    Parameters
    ----------
    ptr : int64 (V + 1,), rows : int32, values : float32
        By term: its rows.
    label_ptr : int64 (N + 1,), labels : int32
        Classes of the rows.

    Returns
    -------
    sizes : int64 (last - first,), postings of each term
    classes : int32, sums : float32, most : float64 (the largest sum before it was rounded)
    """
    bound = 0
    for t in range(first, last):
        own = 0
        for p in range(ptr[t], ptr[t + 1]):
            own += label_ptr[rows[p] + 1] - label_ptr[rows[p]]
        bound += min(own, n_classes)
    sizes = np.zeros(last - first, np.int64)
    classes, sums = np.empty(bound, np.int32), np.empty(bound, np.float32)
    total, seen, touched = np.zeros(n_classes), np.zeros(n_classes, np.bool_), np.empty(n_classes, np.int32)
    n, most = 0, 0.0
    for t in range(first, last):
        count = 0
        for p in range(ptr[t], ptr[t + 1]):
            for j in range(label_ptr[rows[p]], label_ptr[rows[p] + 1]):
                k = labels[j]
                if not seen[k]:
                    seen[k] = True
                    touched[count] = k
                    count += 1
                total[k] += values[p]
        if count * 16 > n_classes:
            count = 0
            for k in range(n_classes):
                if seen[k]:
                    touched[count] = k
                    count += 1
        else:
            touched[:count].sort()
        for i in range(count):
            k = touched[i]
            classes[n + i], sums[n + i] = k, total[k]
            most = max(most, total[k])
            total[k], seen[k] = 0.0, False
        sizes[t - first] = count
        n += count
    return sizes, classes[:n].copy(), sums[:n].copy(), most


@kernel
def class_totals(ptr, classes, sums, weight, n_classes):
    """Sum of a class's terms, |y|, and of their weighted squares: two float64 (K,)."""
    length, square = np.zeros(n_classes), np.zeros(n_classes)
    for t in range(ptr.size - 1):
        for p in range(ptr[t], ptr[t + 1]):
            y = np.float64(sums[p])
            length[classes[p]] += y
            square[classes[p]] += (weight[t] * y) ** 2
    return length, square


@kernel
def head_lengths(ptr, classes, sums, weight, scale, head):
    """Length of each centroid's part in the terms before ``head``: float64 (K,)."""
    square = np.zeros(scale.size)
    for t in range(head):
        for p in range(ptr[t], ptr[t + 1]):
            square[classes[p]] += (np.float64(sums[p]) * weight[t] * scale[classes[p]]) ** 2
    return np.sqrt(square)


@kernel
def damped_squares(ptr, classes, sums, idf, n_classes):
    """Sum of (log(1 + y_t) I_t)² over the terms of each class: float64 (K,)."""
    square = np.zeros(n_classes)
    for t in range(ptr.size - 1):
        for p in range(ptr[t], ptr[t + 1]):
            square[classes[p]] += (math.log1p(np.float64(sums[p])) * idf[t]) ** 2
    return square


# Sampling ---------------------------------------------------------------------------------------------------------


@kernel
def draw_copies(labels, expected, seed, first, last, copies):
    """How often each example is taken: the number that is expected, rounded up or down at random.

    Parameters
    ----------
    labels : int32 (m,), the class of each example; expected : float64 (K,), copies of an example of each class
    copies : int64 (m,)
        Filled from first to last - 1. Example i draws from stream i under ``seed``.
    """
    for i in range(first, last):
        share = expected[labels[i]]
        whole = math.floor(share)
        _, u = uniform(stream(seed, i))
        copies[i] = np.int64(whole) + (1 if u < share - whole else 0)


@kernel
def draw_adversaries(labels, start, candidates, place, seed, first, last, out):
    """Draw, for each copy of examples first to last - 1, classes other than its own: Floyd's algorithm.

    Parameters
    ----------
    labels : int32 (m,); start : int64 (m + 1,), copies of example i are start[i] to start[i + 1]
    candidates : int32 (C,), classes to draw from; place : int32 (K,), where they are in it
    out : int32 (copies, kappa)
        kappa is at most C - 1; each row a set drawn uniformly, rising.
    """
    n, kappa = candidates.size - 1, out.shape[1]
    size = 4
    while size < 2 * kappa:
        size *= 2
    drawn, drawn_for = np.empty(size, np.int64), np.full(size, -1, np.int64)  # a hash table, emptied by its stamps
    for i in range(first, last):
        state, own = stream(seed, i), place[labels[i]]
        for copy in range(start[i], start[i + 1]):
            for j in range(n - kappa, n):
                state += GOLDEN
                at = np.int64(np.float64(_scramble(state) >> S11) * 2.0**-53 * (j + 1))
                slot = at & (size - 1)
                while drawn_for[slot] == copy and drawn[slot] != at:
                    slot = (slot + 1) & (size - 1)
                if drawn_for[slot] == copy:
                    at = j  # not drawn so far: all before it are smaller
                    slot = at & (size - 1)
                    while drawn_for[slot] == copy:
                        slot = (slot + 1) & (size - 1)
                drawn[slot], drawn_for[slot] = at, copy
                out[copy, j - n + kappa] = candidates[at if at < own else at + 1]
            out[copy].sort()


# Rows and classes -------------------------------------------------------------------------------------------------


@kernel
def row_square(terms, values, weight):
    """Squared length of a row in the space of centroids."""
    total = 0.0
    for a in range(terms.size):
        total += (weight[terms[a]] * values[a]) ** 2
    return total


@kernel
def _better(score, k, other, other_k):
    return score > other or (score == other and k < other_k)


@kernel
def _sink(scores, ids, n, i):
    """Restore a heap, its worst first, from place i on."""
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
def _sort_best_first(scores, ids, n):
    for i in range(n // 2 - 1, -1, -1):
        _sink(scores, ids, n, i)
    for end in range(n - 1, 0, -1):
        scores[0], scores[end] = scores[end], scores[0]
        ids[0], ids[end] = ids[end], ids[0]
        _sink(scores, ids, end, 0)


class Scratch(NamedTuple):
    """What :func:`nearest` writes to; K classes, G groups of them."""

    product: np.ndarray  # float64 (K,), zeros, and zeros again afterwards
    touched: np.ndarray  # int32 (K,)
    partial: np.ndarray  # float64 (K,)
    tops: np.ndarray  # float64 (G,)


@kernel
def scratch(n_classes):
    return Scratch(
        np.zeros(n_classes), np.empty(n_classes, np.int32), np.empty(n_classes), np.empty(-(-n_classes // GROUP))
    )


@kernel
def nearest(terms, values, index, room, scores, ids):
    """Classes of the nearest centroids of one row, exactly.

    The postings of the row's terms add up its products with all centroids that share a term with it; the others are
    known by their length alone. Of frequent terms, most of the postings, only what can matter is read: what they can
    add to a class is at most the row's length in them times the centroid's.

    Parameters
    ----------
    terms : int32, values : float32
        The row.
    index : ClassIndex
    room : Scratch
    scores : float64 (q,), ids : int32 (q,)
        Filled: |x|² minus the squared distance, and the class, nearest first and the smaller id among equals. q is
        at most the number of classes that have rows.
    """
    # Read from the tuple inside a loop, an array costs more than the work that is done with it.
    ptr, weight, head, product = index.ptr, index.weight, index.head, room.product
    length = row_square(terms, values, weight)
    twice = 2.0 / math.sqrt(length) if index.unit and length > 0 else 2.0
    work, head_work, n_head = 0, 0, 0  # postings in all, those of frequent terms, and these
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
    # Every class that can be among the nearest is looked up in each frequent term: so many are worth it.
    most = head_work // (2 * LOOKED_UP * max(1, n_head))
    if most < 2 * ids.size or not _nearest_of_survivors(terms, values, index, twice, most, room, scores, ids):
        _add_products(terms, values, index, 0, head, product)
        group_scores(product, index.scale, index.square, twice, room.partial, room.tops)
        _best(room, scores, ids)
    product[:] = 0.0
    _sort_best_first(scores, ids, ids.size)


@kernel
def _add_products(terms, values, index, first, last, product):
    """Add the products of a row's terms from ``first`` to last - 1 with all centroids."""
    ptr, classes, sums, weight = index.ptr, index.classes, index.sums, index.weight
    for a in range(terms.size):
        t = terms[a]
        if first <= t < last:
            x = np.float64(values[a]) * weight[t] * weight[t]
            for p in range(ptr[t], ptr[t + 1]):
                product[classes[p]] += x * sums[p]


@kernel(fastmath={"nnan", "nsz"})  # for vector instructions; no sum is reordered
def group_scores(product, scale, square, twice, scores, tops):
    """|x|² minus the squared distance, by the products, for all classes; and the largest of each group."""
    for g in range(tops.size):
        last, top = min(product.size, (g + 1) * GROUP), -np.inf
        for k in range(g * GROUP, last):
            score = twice * product[k] * scale[k] - square[k]
            scores[k] = score
            top = score if score > top else top
        tops[g] = top


@kernel
def _best(room, scores, ids):
    """The classes of largest ``room.partial``, as a heap; classes without rows have -inf there."""
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
    """The nearest centroids, by products without the head; False when more than ``most`` classes can be among them."""
    partial, tops, reach, far, q = room.partial, room.tops, index.reach, index.far, ids.size
    group_scores(room.product, index.scale, index.square, twice, partial, tops)
    _best(room, scores, ids)
    # Scores can only rise: what the q best of now have, once complete, is needed to be among the nearest.
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
    """The score of a class whose product lacks the head, added in the order of :func:`_add_products`."""
    ptr, classes = index.ptr, index.classes
    total = product[k]
    for a in range(terms.size):
        t = terms[a]
        if t < index.head:
            at = _search(classes, ptr[t], ptr[t + 1], k)
            if at < ptr[t + 1] and classes[at] == k:
                total += np.float64(values[a]) * index.weight[t] * index.weight[t] * index.sums[at]
    return twice * total * index.scale[k] - index.square[k]


@kernel
def _nearest_of_touched(terms, values, index, twice, room, scores, ids):
    """The nearest centroids where few classes share a term with the row: only these are passed over."""
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
    _sort_best_first(scores, ids, ids.size)


@kernel
def _offer(score, k, scores, ids, kept):
    """Keep a class if it is among the q best so far; returns how many are kept."""
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
def sums_by_term(terms, classes, index, found):
    """Look up, in the postings of a row's terms, how much of them some classes have: quick when they share terms.

    Parameters
    ----------
    terms : int32 (m,), classes : int32 (q,), rising
    found : float64 (q, at least m)
        Filled: y_t of each class, 0 where it has none.
    """
    ptr, class_ids, sums = index.ptr, index.classes, index.sums
    for a in range(terms.size):
        low, end = ptr[terms[a]], ptr[terms[a] + 1]
        for c in range(classes.size):
            low = _search(class_ids, low, end, classes[c])
            found[c, a] = sums[low] if low < end and class_ids[low] == classes[c] else 0.0


@kernel
def sums_by_class(terms, classes, class_ptr, class_terms, class_sums, found):
    """As :func:`sums_by_term`, from the terms of each class, rising: quick for any classes."""
    for c in range(classes.size):
        first, end = class_ptr[classes[c]], class_ptr[classes[c] + 1]
        for a in range(terms.size):
            at = _search(class_terms, first, end, terms[a])
            found[c, a] = class_sums[at] if at < end and class_terms[at] == terms[a] else 0.0


@kernel
def _search(ids, low, high, wanted):
    """The first place from low to high whose id is not below ``wanted``."""
    while low < high:
        middle = (low + high) >> 1
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def row_features(terms, values, classes, found, own, class_size, index, out):
    """The ten features of a row with some classes.

    Parameters
    ----------
    terms : int32 (m,), values : float32 (m,)
        The row.
    classes : int32 (q,)
    found : float64 (q, at least m)
        y_t of each class, as :func:`sums_by_term` has it.
    own : int
        The place of a class whose sums are taken without this row; -1 for none.
    class_size : int64 (K,)
        Rows of each class; read only for ``own``.
    index : ClassIndex
    out : float64 (at least q, at least 10)
        Places 0 to 9 are filled.
    """
    weights, idfs, rarities, mean_length = index.weight, index.idf, index.rarity, index.mean_length
    square = row_square(terms, values, weights)
    shrink = 1.0 / math.sqrt(square) if index.unit and square > 0 else 1.0
    row = square * shrink * shrink
    for c in range(classes.size):
        k = classes[c]
        length, scale, centre = index.length[k], index.scale[k], index.square[k]
        if c == own:
            length, total = _without(terms, values, k, found[c], index)
            left = class_size[k] - 1
            if index.unit:
                scale = 1.0 / math.sqrt(total) if total > 0 else 0.0
            else:
                scale = 1.0 / left if left > 0 else 0.0
            centre = total * scale * scale
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
            share, idf, rarity = y / length, idfs[t], rarities[t]
            out[c, 0] += math.log1p(y)
            out[c, 1] += math.log1p(rarity)
            out[c, 2] += idf
            out[c, 3] += share * idf
            out[c, 4] += math.log1p(share)
            out[c, 5] += math.log1p(share * idf)
            out[c, 6] += math.log1p(share * rarity)
            out[c, 7] += 1.0
            product += np.float64(values[a]) * weights[t] * weights[t] * y
            out[c, 9] += idf * 2.0 * y / (y + 0.25 + 0.75 * length / mean_length)
        out[c, 8] = math.sqrt(max(0.0, row + centre - 2.0 * product * shrink * scale))


@kernel
def _left(y, x):
    """What is left of a sum when a row's part is taken out; 0 when that can be rounding."""
    return y - x if y - x > LEAST_LEFT * y else 0.0


@kernel
def _without(terms, values, k, found, index):
    """|y| and the weighted squares of a class without a row that it has."""
    length, scale = index.length[k], index.scale[k]
    total = index.square[k] / (scale * scale) if scale > 0 else 0.0
    square = total
    for a in range(terms.size):
        y = found[a]
        left = _left(y, values[a])
        length -= y - left
        square -= index.weight[terms[a]] ** 2 * (y * y - left * left)
    if length <= LEAST_LEFT * index.length[k] or square <= LEAST_LEFT**2 * total:
        return max(length, 0.0), 0.0
    return length, square


@kernel
def more_features(terms, values, classes, found, own, index, more, out):
    """The features that the paper does not have, of a row with some classes, behind the ten.

    Parameters
    ----------
    terms, values, classes, found, own, index
        As :func:`row_features` has them.
    more : MoreOfClasses
    out : float64 (at least q, at least 16)
        Places 10 to 15 are filled.
    """
    idfs, rarities, weights, mean_length = index.idf, index.rarity, more.weight, index.mean_length
    row_idf, row_length, row_other, row_tfidf = 0.0, 0.0, 0.0, 0.0
    for a in range(terms.size):
        x, idf = np.float64(values[a]), idfs[terms[a]]
        row_idf += idf
        row_length += x
        row_other += (x * weights[terms[a]]) ** 2
        row_tfidf += (x * idf) ** 2
    for c in range(classes.size):
        k = classes[c]
        length, other, damped = index.length[k], more.other[k], more.damped[k]
        if c == own:
            length = _without(terms, values, k, found[c], index)[0]
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
            lift = max(lift, math.log1p(y / length * rarity))
            likelihood += x * math.log1p(y / mean_length * rarity)
            by_other += x * weights[t] ** 2 * y
            by_damped += x * idf * idf * math.log1p(y)
        out[c, 10] = covered / row_idf if row_idf > 0 else 0.0
        out[c, 11] = rarest
        out[c, 12] = lift
        out[c, 13] = likelihood - row_length * math.log1p(length / mean_length)
        out[c, 14] = _between(row_tfidf, damped, by_damped)
        out[c, 15] = _between(row_other, other, by_other)


@kernel
def _between(square, other, product):
    """Distance of two vectors, scaled to length 1 unless they are zero, by their squared lengths and product."""
    if square > 0 and other > 0:
        return math.sqrt(max(0.0, 2.0 - 2.0 * (product / math.sqrt(square) / math.sqrt(other))))
    return 1.0 if square > 0 or other > 0 else 0.0


@kernel
def longest(ptr):
    """The most terms that a row has."""
    most = 0
    for i in range(ptr.size - 1):
        most = max(most, ptr[i + 1] - ptr[i])
    return most


@kernel
def feature_block(ptr, terms, values, classes, index, more, out):
    """Features of rows with classes: ``classes`` int32 (n, q), ``out`` float64 (n, q, p), nan for class -1.

    The ten, and where p has room for them those of :func:`more_features`; places behind these are left as they are.
    """
    q = classes.shape[1]
    own, features, found = np.empty(q, np.int32), np.empty((q, out.shape[2])), np.empty((q, longest(ptr)))
    nobody = np.empty(0, np.int64)
    for i in range(ptr.size - 1):
        order = np.argsort(classes[i], kind="mergesort")
        none = 0
        for c in range(q):
            own[c] = classes[i, order[c]]
            none += own[c] < 0
        a, b = ptr[i], ptr[i + 1]
        sums_by_term(terms[a:b], own[none:], index, found)
        filled = _all_features(terms[a:b], values[a:b], own[none:], found, -1, nobody, index, more, features)
        for c in range(q):
            for j in range(filled):
                out[i, order[c], j] = np.nan if c < none else features[c - none, j]


@kernel
def _all_features(terms, values, classes, found, own, class_size, index, more, out):
    """The ten features, and more where ``out`` has room; returns how many."""
    row_features(terms, values, classes, found, own, class_size, index, out)
    if out.shape[1] < N_FEATURES + N_MORE:
        return N_FEATURES
    more_features(terms, values, classes, found, own, index, more, out)
    return N_FEATURES + N_MORE


@kernel
def pair_block(ptr, terms, values, rows, own_class, adversaries, first, last, leave_out, class_size, by_class, index,
               more, tree, pairs, signs):  # fmt: skip
    """Pairs of copies first to last - 1 of examples: the transformation T, as differences of features.

    Parameters
    ----------
    rows : int64 (M,), own_class : int32 (M,)
    adversaries : int32 (M, kappa), rising in each row
    leave_out : bool
        Take the sums of the example's own class without the example.
    by_class : int64 (K + 1,), int32, float32
        The terms of each class, rising, and their sums.
    tree : float64 (M, kappa + 1) or (0, 0)
        The last feature, of the own class and of the adversaries, when it does not come from sums of terms.
    pairs : float64 (M * kappa, p)
        Filled: features of the smaller class minus those of the larger.
    signs : int8 (M * kappa,)
        Filled: -1 when the adversary is the smaller class, else 1.
    """
    kappa, n_features = adversaries.shape[1], pairs.shape[1]
    class_ptr, class_terms, class_sums = by_class
    classes, features = np.empty(kappa + 1, np.int32), np.empty((kappa + 1, n_features))
    most = 0
    for i in range(first, last):
        most = max(most, ptr[rows[i] + 1] - ptr[rows[i]])
    found = np.empty((kappa + 1, most))
    for i in range(first, last):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        own = 0
        while own < kappa and adversaries[i, own] < y:
            classes[own] = adversaries[i, own]
            own += 1
        classes[own] = y
        classes[own + 1 :] = adversaries[i, own:]
        sums_by_class(terms[a:b], classes, class_ptr, class_terms, class_sums, found)
        left = own if leave_out else -1
        _all_features(terms[a:b], values[a:b], classes, found, left, class_size, index, more, features)
        if tree.size:
            for j in range(kappa):
                features[j if j < own else j + 1, n_features - 1] = tree[i, j + 1]
            features[own, n_features - 1] = tree[i, 0]
        for j in range(kappa):
            at = i * kappa + j
            if j < own:
                pairs[at] = features[j] - features[own]
                signs[at] = -1
            else:
                pairs[at] = features[own] - features[j + 1]
                signs[at] = 1


@kernel
def nearest_block(ptr, terms, values, index, out):
    """Classes of the nearest centroids of rows: ``out`` int32 (n, q), nearest first."""
    room, scores = scratch(index.length.size), np.empty(out.shape[1])
    for i in range(ptr.size - 1):
        a, b = ptr[i], ptr[i + 1]
        nearest(terms[a:b], values[a:b], index, room, scores, out[i])


@kernel
def near_others(ptr, terms, values, rows, own_class, first, last, class_size, by_class, index, others, kept):
    """The other candidates of copies first to last - 1 of examples, were the example not in its own class.

    Parameters
    ----------
    rows, own_class, class_size, by_class, index
        As :func:`pair_block` has them.
    others : int32 (M, q - 1)
        Filled: the nearest classes but the own, nearest first.
    kept : bool (M,)
        Filled: whether the own class, without the example, is among the q nearest.
    """
    q = others.shape[1] + 1
    class_ptr, class_terms, class_sums = by_class
    width = min(q + 1, index.order.size)
    room, scores = scratch(index.length.size), np.empty(width)
    near, features, most = np.empty(width, np.int32), np.empty((2, N_FEATURES)), 0
    for i in range(first, last):
        most = max(most, ptr[rows[i] + 1] - ptr[rows[i]])
    found, two = np.empty((2, most)), np.empty(2, np.int32)
    for i in range(first, last):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        nearest(terms[a:b], values[a:b], index, room, scores, near)
        n = 0
        for c in range(width):
            if near[c] != y and n < q:
                near[n] = near[c]
                n += 1
        others[i] = near[: q - 1]
        kept[i] = n < q
        if n == q:  # the q-th other class is the one to beat
            two[0], two[1] = y, near[q - 1]
            sums_by_class(terms[a:b], two, class_ptr, class_terms, class_sums, found)
            row_features(terms[a:b], values[a:b], two, found, 0, class_size, index, features)
            kept[i] = features[0, 8] < features[1, 8] or (features[0, 8] == features[1, 8] and y < two[1])


@kernel
def rank_block(ptr, terms, values, index, more, given, tree, w, labels, scores):
    """Candidates of rows, ranked by f.

    Parameters
    ----------
    given : bool
        Whether ``labels`` holds the candidates already, rising; else they are the classes of nearest centroid.
    tree : float64 (n, q) or (0, 0)
        The last feature of given candidates, when it does not come from sums of terms.
    w : float64 (p,)
    labels : int32 (n, q), scores : float64 (n, q)
        Filled: the candidates by f, best first and the smaller id among equals; and f.
    """
    q = labels.shape[1]
    room, near = scratch(0 if given else index.length.size), np.empty(q)
    features, found, nobody = np.empty((q, w.size)), np.empty((q, longest(ptr))), np.empty(0, np.int64)
    for i in range(ptr.size - 1):
        a, b, own = ptr[i], ptr[i + 1], labels[i]
        if not given:
            nearest(terms[a:b], values[a:b], index, room, near, own)
            own.sort()
        sums_by_term(terms[a:b], own, index, found)
        filled = _all_features(terms[a:b], values[a:b], own, found, -1, nobody, index, more, features)
        if filled < w.size:
            features[:, filled] = tree[i]
        for c in range(q):
            total = 0.0
            for j in range(w.size):
                total += w[j] * features[c, j]
            scores[i, c] = total
        _sort_best_first(scores[i], own, q)
