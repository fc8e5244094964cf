"""The shapes of label trees: random splits, and Huffman's merges."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.rng import shuffle, stream


@kernel
def shuffle_parts(members, starts, ends, seed, numbers):
    """Shuffle ``members[starts[i]:ends[i]]`` in place, each part by the stream ``numbers[i]`` of ``seed``."""
    for i in range(starts.size):
        shuffle(members[starts[i] : ends[i]], stream(seed, numbers[i]))


@kernel
def huffman_parents(counts, arity):
    """Merge the lightest nodes, ``arity`` at a time, until one is left (Huffman, 1952); return the parents."""
    # The first merge takes fewer, as many as it needs for all others to be full: then the sum of counts times depths is
    # the least that any tree of this arity has. Among nodes of equal weight leaves come before merged nodes and earlier
    # before later ones, which keeps the tree shallow. Leaves wait in one queue and merged nodes, which are made in the
    # order of their weight, in another (van Leeuwen, 1976). ``counts`` ascend; they may be sums of weights.
    n = counts.size
    first = 1 if n == 1 else 2 + (n - 2) % (arity - 1)
    merges = 1 + (n - first) // (arity - 1)
    parent = np.full(n + merges, -1, np.int32)
    weight = np.zeros(merges, counts.dtype)
    leaf = 0
    merged = 0
    for m in range(merges):
        for _ in range(first if m == 0 else arity):
            if leaf < n and (merged == m or counts[leaf] <= weight[merged]):
                parent[leaf] = n + m
                weight[m] += counts[leaf]
                leaf += 1
            else:
                parent[n + merged] = n + m
                weight[m] += weight[merged]
                merged += 1
    return parent
