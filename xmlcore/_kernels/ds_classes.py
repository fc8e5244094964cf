"""Double sampling, the classes: the sums of each class's terms, in the form that the other kernels read.

A term is a column, and a class is a label id. A model keeps, for each term and class, the sum of the term over the
training rows of the class: y_t for term t. These sums are positive. They are listed by term: a *posting* is a class
that has the term, with its y_t (:class:`ClassIndex`). The centroid of a class is the vector of its y_t, each multiplied
by the weight of the term, and scaled as a whole. |y| is the sum of a class's y_t over all terms.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.sorting import sort_in_place

GROUP = 64  # number of classes whose scores are compared with a bound at once
HEAD = 0.8  # the frequent terms are as few terms as take this share of the work on postings, for the training rows


class ClassIndex(NamedTuple):
    """The postings of each term (an inverted index), and what else is known of V terms and K classes."""

    ptr: np.ndarray  # int64 (V + 1,): the postings of term t are ptr[t] to ptr[t + 1] - 1
    classes: np.ndarray  # int32, of each posting: the class, rising within a term
    sums: np.ndarray  # float32, of each posting: y_t, the sum of the term over the rows of the class
    weight: np.ndarray  # float64 (V,): the factor of a term in the space of centroids
    idf: np.ndarray  # float64 (V,): the inverse document frequency I_t
    rarity: np.ndarray  # float64 (V,): l_S / F_t, the sum of all y divided by that of the term's y_t
    total: np.ndarray  # float64 (K,): |y|, the sum of the class's y_t over all terms
    mean_total: float  # the mean of |y| over the classes that have rows
    scale: np.ndarray  # float64 (K,): the centroid is y_t * weight[t] * scale
    square: np.ndarray  # float64 (K,): the squared length of the centroid, infinite where a class has no rows
    order: np.ndarray  # int32: the classes that have rows, ordered by (square, class id)
    unit: bool  # whether rows are scaled to length 1
    head: int  # the terms before this one are the frequent ones, whose postings make up most of the work
    reach: np.ndarray  # float64 (K,): the length of the centroid's part in the frequent terms
    far: np.ndarray  # float64: the largest ``reach`` in each group of GROUP classes


class MoreOfClasses(NamedTuple):
    """Values for the extended features, in addition to :class:`ClassIndex`; empty arrays in models without them."""

    weight: (
        np.ndarray
    )  # float64 (V,): the factor of a term in the other space, 1 where centroids are weighted and else I_t
    other: np.ndarray  # float64 (K,): the squared length of the class's sums in the other space
    damped: np.ndarray  # float64 (K,): the squared length of log(1 + y_t) I_t


@kernel
def sum_terms(ptr, rows, values, first, stop, label_ptr, labels, n_classes):
    """Sum the values of the rows of each class, for terms ``first`` to ``stop`` - 1."""
    bound = 0  # at least the number of postings
    for t in range(first, stop):
        n_pairs = 0  # of a row that has the term, and a class of the row
        for p in range(ptr[t], ptr[t + 1]):
            n_pairs += label_ptr[rows[p] + 1] - label_ptr[rows[p]]
        bound += min(n_pairs, n_classes)
    sizes = np.zeros(stop - first, np.int64)
    classes, sums = np.empty(bound, np.int32), np.empty(bound, np.float32)
    total, seen, touched = np.zeros(n_classes), np.zeros(n_classes, np.bool_), np.empty(n_classes, np.int32)
    n, largest = 0, 0.0
    for t in range(first, stop):
        count = 0
        for p in range(ptr[t], ptr[t + 1]):
            for j in range(label_ptr[rows[p]], label_ptr[rows[p] + 1]):
                k = labels[j]
                if not seen[k]:
                    seen[k] = True
                    touched[count] = k
                    count += 1
                total[k] += values[p]
        if count * 16 > n_classes:  # going through all classes is faster than sorting
            count = 0
            for k in range(n_classes):
                if seen[k]:
                    touched[count] = k
                    count += 1
        else:
            sort_in_place(touched[:count])
        for i in range(count):
            k = touched[i]
            classes[n + i], sums[n + i] = k, total[k]
            largest = max(largest, total[k])
            total[k], seen[k] = 0.0, False
        sizes[t - first] = count
        n += count
    return sizes, classes[:n].copy(), sums[:n].copy(), largest


@kernel
def class_totals(ptr, classes, sums, weight, n_classes):
    """Add up the postings of each of the K = ``n_classes`` classes."""
    total, square = np.zeros(n_classes), np.zeros(n_classes)
    for t in range(ptr.size - 1):
        for p in range(ptr[t], ptr[t + 1]):
            y = np.float64(sums[p])
            total[classes[p]] += y
            square[classes[p]] += (weight[t] * y) ** 2
    return total, square


@kernel
def head_lengths(ptr, classes, sums, weight, scale, head):
    """Return the length of each class's centroid when only the terms before ``head`` count: float64 (K,)."""
    square = np.zeros(scale.size)
    for t in range(head):
        for p in range(ptr[t], ptr[t + 1]):
            square[classes[p]] += (np.float64(sums[p]) * weight[t] * scale[classes[p]]) ** 2
    return np.sqrt(square)


@kernel
def damped_squares(ptr, classes, sums, idf, n_classes):
    """Return the sum of (log(1 + y_t) I_t)² over the terms t of each class: float64 (K,)."""
    square = np.zeros(n_classes)
    for t in range(ptr.size - 1):
        for p in range(ptr[t], ptr[t + 1]):
            square[classes[p]] += (math.log1p(np.float64(sums[p])) * idf[t]) ** 2
    return square
