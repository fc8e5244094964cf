"""Random streams: twins of xmlcore/_kernels/rng.py."""

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def _scramble(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream(seed, number):
    inner = _scramble((seed + GOLDEN) & MASK)
    return _scramble(inner ^ ((number * 0x94D049BB133111EB + GOLDEN) & MASK))


def uniform(state):
    state = (state + GOLDEN) & MASK
    return state, (_scramble(state) >> 11) * 2.0**-53


def shuffle(values, state):
    for i in range(len(values) - 1, 0, -1):
        state = (state + GOLDEN) & MASK
        j = ((_scramble(state) >> 33) * (i + 1)) >> 31
        values[i], values[j] = values[j], values[i]
    return state


def permutation(n, seed, number):
    values = list(range(n))
    shuffle(values, stream(seed, number))
    return values
