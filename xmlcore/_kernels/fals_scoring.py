"""FALS, scoring features: sums of squares over rows, and rows drawn in proportion to weights."""

import numpy as np

from xmlcore._kernels import rng
from xmlcore._kernels._jit import kernel


@kernel
def flush(sums, out):
    """Add the float32 ``sums`` to the float64 sums ``out``, and set ``sums`` to 0."""
    for c in range(sums.shape[0]):
        own, total = sums[c], out[c]
        for d in range(own.size):
            total[d] += own[d]
            own[d] = 0


@kernel
def deviations(active, reference):
    """List the hidden units in which rows differ from their reference; +1 if active in the row only, else -1."""
    ptr = np.zeros(active.shape[0] + 1, np.int64)
    for i in range(active.shape[0]):
        count = 0
        for h in range(active.shape[1]):
            count += active[i, h] != reference[h]
        ptr[i + 1] = ptr[i] + count
    units, signs = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32)
    at = 0
    for i in range(active.shape[0]):
        for h in range(active.shape[1]):
            if active[i, h] != reference[h]:
                units[at] = h
                signs[at] = 1.0 if active[i, h] else -1.0
                at += 1
    return ptr, units, signs


@kernel
def reference_squares(ptr, units, signs, weights_in, weights_out, base, weight, sums):
    """Add the weighted squares of rows that differ from a reference in a few hidden units."""
    longest = 0
    for i in range(ptr.size - 1):
        longest = max(longest, ptr[i + 1] - ptr[i])
    left = np.empty((longest, weights_out.shape[1]), np.float32)
    right = np.empty((longest, weights_in.shape[1]), np.float32)
    change = np.zeros(base.shape, np.float32)
    for i in range(ptr.size - 1):
        n = ptr[i + 1] - ptr[i]
        for j in range(n):
            unit, sign = units[ptr[i] + j], signs[ptr[i] + j]
            for c in range(left.shape[1]):
                left[j, c] = sign * weights_out[unit, c]
            for c in range(right.shape[1]):
                right[j, c] = weights_in[unit, c]
        if n:
            np.dot(left[:n].T, right[:n], change)
        else:
            change[:] = 0
        for c in range(base.shape[0]):
            factor = weight[i, c]
            fixed, moved, total = base[c], change[c], sums[c]
            for d in range(fixed.size):
                value = fixed[d] + moved[d]
                total[d] += factor * value * value


@kernel
def draw_rows(weight, first_row, so_far, seed, part, drawn):
    """Draw rows with replacement in proportion to weights, where the rows come in parts (reservoir sampling)."""
    n = weight.shape[1]
    running = np.empty(n, np.float64)
    for c in range(weight.shape[0]):
        total = 0.0
        for i in range(n):
            total += weight[c, i]
            running[i] = total
        if total == 0.0:
            continue
        so_far[c] += total
        state = rng.stream(seed, part[c])
        for j in range(drawn.shape[1]):
            state, chance = rng.uniform(state)
            state, where = rng.uniform(state)
            if chance * so_far[c] < total:
                drawn[c, j] = first_row + min(n - 1, np.searchsorted(running, where * total, side="right"))
