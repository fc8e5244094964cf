"""Double sampling, the samples: copies of examples (a row with one of its classes), and what each is compared with."""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_features import N_FEATURES, longest_of, row_features, sums_by_class
from xmlcore._kernels.ds_nearest import nearest, scratch
from xmlcore._kernels.rng import stream, uniform
from xmlcore._kernels.sorting import sort_in_place


@kernel
def draw_copies(labels, expected, seed, first, stop, copies):
    """Round the expected number of copies of each example up or down at random."""
    for i in range(first, stop):
        share = expected[labels[i]]
        whole = math.floor(share)
        _, u = uniform(stream(seed, i))
        copies[i] = np.int64(whole) + (1 if u < share - whole else 0)


@kernel
def draw_adversaries(labels, start, candidates, place, seed, first, stop, out):
    """Draw classes other than its own for each copy of examples ``first`` to ``stop`` - 1, by Floyd's algorithm."""
    n, kappa = candidates.size - 1, out.shape[1]
    size = 4
    while size < 2 * kappa:
        size *= 2
    # A hash table; a slot is free unless it has this copy's number.
    drawn, drawn_for = np.empty(size, np.int64), np.full(size, -1, np.int64)
    for i in range(first, stop):
        state, own = stream(seed, i), place[labels[i]]
        for copy in range(start[i], start[i + 1]):
            for j in range(n - kappa, n):
                state, u = uniform(state)
                at = np.int64(u * (j + 1))
                slot = at & (size - 1)
                while drawn_for[slot] == copy and drawn[slot] != at:
                    slot = (slot + 1) & (size - 1)
                if drawn_for[slot] == copy:
                    at = j  # cannot have been drawn before: all drawn so far are smaller
                    slot = at & (size - 1)
                    while drawn_for[slot] == copy:
                        slot = (slot + 1) & (size - 1)
                drawn[slot], drawn_for[slot] = at, copy
                out[copy, j - n + kappa] = candidates[at if at < own else at + 1]
            sort_in_place(out[copy])


@kernel
def near_others(x, sample, first, stop, class_size, by_class, index, others, kept):
    """Find the candidates of copies ``first`` to ``stop`` - 1, after the example was subtracted from its own class."""
    (ptr, terms, values), rows, own_class = x, sample.rows, sample.classes
    q = others.shape[1] + 1
    width = min(q + 1, index.order.size)
    room, scores = scratch(index.total.size), np.empty(width)
    near, features = np.empty(width, np.int32), np.empty((2, N_FEATURES))
    found, two = np.empty((2, longest_of(ptr, rows[first:stop]))), np.empty(2, np.int32)
    for i in range(first, stop):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        nearest(terms[a:b], values[a:b], index, room, scores, near)
        n = 0
        for c in range(width):
            if near[c] != y and n < q:
                near[n] = near[c]
                n += 1
        for c in range(q - 1):
            others[i, c] = near[c]
        kept[i] = n < q
        if n == q:  # the own class is kept if it is nearer than the q-th other class
            two[0], two[1] = y, near[q - 1]
            sums_by_class(terms[a:b], two, by_class, found)
            row_features(terms[a:b], values[a:b], two, found, 0, class_size, index, features)
            kept[i] = features[0, 8] < features[1, 8] or (features[0, 8] == features[1, 8] and y < two[1])
