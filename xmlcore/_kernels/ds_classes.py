"""Double sampling, the classes: the sums of each class's terms, in the form that kernels read.

A term is a column, and a class is a label id. A model keeps, for each term and class, the sum of the term over the
training rows of the class: y_t for term t. These sums are positive. They are listed by term: a *posting* is a class
that has the term, with its y_t (:class:`ClassIndex`). The centroid of a class is the vector of its y_t, each multiplied
by the weight of the term, and scaled as a whole. |y| is the sum of a class's y_t over all terms.
"""

from typing import NamedTuple

import numpy as np

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

    weight: np.ndarray  # float64 (V,): the factor of a term in the other space: 1 if centroids are weighted, else I_t
    other: np.ndarray  # float64 (K,): the squared length of the class's sums in the other space
    damped: np.ndarray  # float64 (K,): the squared length of log(1 + y_t) I_t
