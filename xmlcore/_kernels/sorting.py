"""Sorting and selection. NumPy's functions do the same within a kernel, but take one to five seconds to compile."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel

SHORT = 16  # Runs of this length are sorted by insertion before they are merged.


@kernel
def stable_order(keys):
    """Return the order in which ``keys``, without NaN, are ascending; equal keys stay in their order."""
    n = keys.size
    order = np.empty(n, np.int64)
    for start in range(0, n, SHORT):
        for i in range(start, min(start + SHORT, n)):
            at = i
            while at > start and keys[order[at - 1]] > keys[i]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
    other = np.empty(n, np.int64)
    length = SHORT
    while length < n:
        for start in range(0, n, 2 * length):
            left = start
            middle = min(start + length, n)
            right = middle
            end = min(start + 2 * length, n)
            for at in range(start, end):
                if left < middle and (right >= end or keys[order[left]] <= keys[order[right]]):
                    other[at] = order[left]
                    left += 1
                else:
                    other[at] = order[right]
                    right += 1
        order, other = other, order
        length *= 2
    return order


@kernel
def sort_in_place(keys):
    """Sort numbers, without NaN, by a heap sort, which needs no further memory."""
    n = keys.size
    if n <= SHORT:
        for i in range(1, n):
            key = keys[i]
            at = i
            while at > 0 and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
        return
    heap_end = n
    root_to_place = n // 2
    while heap_end > 1:
        if root_to_place > 0:
            root_to_place -= 1
            hole = root_to_place
        else:
            heap_end -= 1
            keys[0], keys[heap_end] = keys[heap_end], keys[0]
            hole = 0
        key = keys[hole]
        while True:
            child = 2 * hole + 1
            if child >= heap_end:
                break
            if child + 1 < heap_end and keys[child + 1] > keys[child]:
                child += 1
            if keys[child] <= key:
                break
            keys[hole] = keys[child]
            hole = child
        keys[hole] = key


@kernel
def nth_smallest(values, n):
    """Return the value that has place ``n`` when ``values``, without NaN, are ascending; they are moved about."""
    low = 0
    high = values.size - 1
    while low < high:
        a = values[low]
        b = values[(low + high) >> 1]
        c = values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return values[n]


@inlined
def first_at_least(values, low, high, wanted):
    """Return the position of the first of the ascending ``values[low:high]`` from ``wanted`` on, or ``high``."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
