"""FALS, scoring features: sums of squares over rows, and rows drawn in proportion to weights."""

import numpy as np

from xmlcore._kernels import rng
from xmlcore._kernels._jit import kernel
from xmlcore._kernels.arrays import longest


@kernel
def reference_squares(ptr, units, signs, weights_in, weights_out, base, weight, sums):
    """Add the weighted squares of rows that differ from a reference in a few hidden units."""
    most = longest(ptr)
    left = np.empty((most, weights_out.shape[1]), np.float32)
    right = np.empty((most, weights_in.shape[1]), np.float32)
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
