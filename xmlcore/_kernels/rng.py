"""Random numbers by SplitMix64 (Steele, Lea and Flood, 2014), with a stream for each node or row.

The numbers therefore do not depend on the thread that draws them.
"""

import numpy as np

from xmlcore._kernels._jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S11 = np.uint64(11)
S27 = np.uint64(27)
S30 = np.uint64(30)
S31 = np.uint64(31)
S33 = np.uint64(33)


@kernel(inline="always")
def _scramble(z):
    """Return SplitMix64's output (uint64) for a state."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@kernel
def stream(seed, number):
    """Return the state (uint64) of stream ``number`` under ``seed`` (both int): streams of one seed are unrelated."""
    return _scramble(_scramble(np.uint64(seed) + GOLDEN) ^ (np.uint64(number) * MIX_2 + GOLDEN))


@kernel
def uniform(state):
    """Return the next state, and a number (float64) in [0, 1)."""
    state += GOLDEN
    return state, np.float64(_scramble(state) >> S11) * 2.0**-53


@kernel
def shuffle(values, state):
    """Shuffle ``values`` in place (Fisher-Yates) and return the next state; the bias is below len(values) / 2**31."""
    for i in range(values.size - 1, 0, -1):
        state += GOLDEN
        bits = _scramble(state) >> S33
        j = np.int64((bits * np.uint64(i + 1)) >> S31)
        kept = values[i]
        values[i] = values[j]
        values[j] = kept
    return state


@kernel
def permutation(n, seed, number):
    """Return the numbers 0 to n - 1 (int32) in the random order of stream ``number`` under ``seed``."""
    values = np.arange(n).astype(np.int32)
    shuffle(values, stream(seed, number))
    return values
