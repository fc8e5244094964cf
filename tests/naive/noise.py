"""Noise of rows: twins of xmlcore/_kernels/noise.py."""

import math

from naive.rng import GOLDEN, MASK, _scramble, stream, uniform

GAUSSIAN = 0x6A09E667F3BCC909
WORDS = 0xBB67AE8584CAA73B


def normal_of(seed, row, feature):
    """The standard normal number of a feature of a row (Box and Muller)."""
    state = stream(seed ^ GAUSSIAN, row)
    bits = _scramble((state + (feature // 2 + 1) * GOLDEN) & MASK)
    length = math.sqrt(-2 * math.log(((bits >> 24) + 0.5) / 2**40))
    angle = 2 * math.pi * ((bits & 0xFFFFFF) + 0.5) / 2**24 - math.pi / 4
    return length * (math.sin(angle) if feature % 2 else math.cos(angle))


def word_noise(row, n_rate, seed, row_id, drop, swap, insert, reference):
    """Drop, swap and insert words of one row {feature: value}; ``reference``: (feature, value) of all its entries."""
    state = stream(seed ^ WORDS, row_id)
    left, new = {}, {}

    def draw(stream_state):
        for _ in range(64):
            stream_state, u = uniform(stream_state)
            feature, value = reference[int(u * len(reference))]
            if feature not in row and feature not in new:
                return feature, value
        return None

    for feature in sorted(row):
        own, u = uniform(stream(state, feature))
        if drop and u < n_rate:
            continue
        own, u = uniform(own)
        other = draw(own) if swap and u < n_rate else None
        if other is None:
            left[feature] = row[feature]
        else:
            new[other[0]] = row[feature]
    if insert:
        _, u = uniform(stream(state, 2**31))
        for slot in range(int(len(row) * n_rate + u)):
            word = draw(stream(state, 2**31 + 1 + slot))
            if word is not None:
                new[word[0]] = word[1]
    return left | new
