"""Noise as a function of the seed, the row id and the feature: it does not depend on what else is computed.

Normal numbers are drawn in pairs (Box and Muller, 1958): one SplitMix64 number gives those of the features 2 j and
2 j + 1 of a row, with 40 bits for the length and 24 bits for the angle. Logarithm, sine and cosine are polynomials, so
that the loop over a row is compiled to vector instructions and gives the same bits on every machine. The largest number
is 7.54; a normal number is larger with probability 5e-14.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.rng import GOLDEN, _scramble, stream, uniform
from xmlcore._kernels.sorting import first_at_least

GAUSSIAN = np.uint64(0x6A09E667F3BCC909)  # makes the numbers of a seed differ from those of WORDS and of other kernels
WORDS = np.uint64(0xBB67AE8584CAA73B)
MOST_DRAWS = 64  # draws of one new word before it is given up
# Number of the random stream that gives a row's number of insertions. The streams below belong to the row's features,
# and those above to its insertions.
INSERTIONS = 1 << 31

S24 = np.uint64(24)
ANGLE_BITS = np.uint64(0xFFFFFF)
QUARTER = np.int32(22)  # number of bits of the angle within a quarter turn
HALF_STEP = np.float32(
    0.5 - (1 << 21)
)  # angles count from the middle of a quarter, between two steps: none is on an axis
STEP = np.float32(np.pi / 2.0**23)
ROOT_HALF = np.int64(np.float64(0.5**0.5).view(np.int64))
EXPONENT = np.int64(52)
F0 = np.float32(0.0)
F1 = np.float32(1.0)
F2 = np.float32(2.0)
HALF = np.float32(0.5)
LN_2 = np.float32(np.log(2.0))

# Coefficients with the smallest largest error on the needed interval, about 1e-9, by iteratively reweighted least
# squares.
# log(1 + x) = x - x^2 / 2 + x^3 (L0 + L1 x + ...), 1 + x from the root of 1/2 to that of 2
L0 = np.float32(0.333333283662796)
L1 = np.float32(-0.25001060962677)
L2 = np.float32(0.20001615583896637)
L3 = np.float32(-0.16616521775722504)
L4 = np.float32(0.14190010726451874)
L5 = np.float32(-0.13207900524139404)
L6 = np.float32(0.1285490095615387)
L7 = np.float32(-0.07631149142980576)
# sin x = x + x^3 (A0 + A1 x^2 + ...) and cos x = 1 - x^2 / 2 + x^4 (B0 + B1 x^2 + ...), |x| up to an eighth turn
A0 = np.float32(-0.16666650772094727)
A1 = np.float32(0.00833197869360447)
A2 = np.float32(-0.00019495634478516877)
B0 = np.float32(0.04166664555668831)
B1 = np.float32(-0.001388736767694354)
B2 = np.float32(2.443845005473122e-05)


class Change(NamedTuple):
    """How words are changed, see :class:`xmlcore.noise.WordNoise`."""

    seed: int  # uint64
    rate: float  # in [0, 1]
    drop: bool
    swap: bool
    insert: bool


class Entries(NamedTuple):
    """All entries of the reference rows: one drawn uniformly has a feature as often as rows have it."""

    features: np.ndarray  # int32 (nnz,)
    values: np.ndarray  # float32 (nnz,)


@inlined
def normal_pair(row_state, j):
    """Return two independent standard normal numbers (float32): those of the features 2 j and 2 j + 1 of a row."""
    bits = _scramble(row_state + np.uint64(j + 1) * GOLDEN)
    share = (np.float64(np.int64(bits >> S24)) + 0.5) * 2.0**-40  # in (0, 1); int64 is converted faster than uint64
    # share = (1 + x) * 2 ** e
    word = np.float64(share).view(np.int64)
    e = (word - ROOT_HALF) >> EXPONENT
    x = np.float32(np.int64(word - (e << EXPONENT)).view(np.float64) - 1.0)
    series = L0 + x * (L1 + x * (L2 + x * (L3 + x * (L4 + x * (L5 + x * (L6 + x * L7))))))
    log = x + x * x * (x * series - HALF) + np.float32(e) * LN_2
    length = np.sqrt(F0 - F2 * log)
    turn = np.int32(bits & ANGLE_BITS)
    quarter = turn >> QUARTER
    t = (np.float32(turn - (quarter << QUARTER)) + HALF_STEP) * STEP
    tt = t * t
    sine = t + t * tt * (A0 + tt * (A1 + tt * A2))
    cosine = F1 + tt * (tt * (B0 + tt * (B1 + tt * B2)) - HALF)
    odd = quarter & 1
    first = length * (sine if odd else cosine)
    second = length * (cosine if odd else sine)
    return (-first if (quarter + 1) & 2 else first), (-second if quarter & 2 else second)


@kernel
def add_to_all(indptr, indices, data, first, stop, n_features, ids, seed, sigma, out_indices, out):
    """Write rows ``first`` to ``stop - 1`` with noise on every feature, present or not."""
    for i in range(first, stop):
        state = stream(seed ^ GAUSSIAN, ids[i])
        row = out[i * n_features : (i + 1) * n_features]
        for j in range(n_features // 2):
            a, b = normal_pair(state, j)
            row[2 * j] = sigma * a
            row[2 * j + 1] = sigma * b
        if n_features % 2 == 1:
            row[n_features - 1] = sigma * normal_pair(state, n_features // 2)[0]
        for t in range(indptr[i], indptr[i + 1]):
            row[indices[t]] += data[t]
        columns = out_indices[i * n_features : (i + 1) * n_features]
        for f in range(n_features):
            columns[f] = f


@kernel
def add_to_present(indptr, indices, data, first, stop, ids, seed, sigma, out):
    """Write rows ``first`` to ``stop - 1`` with noise on their present features, the same as in :func:`add_to_all`."""
    for i in range(first, stop):
        state = stream(seed ^ GAUSSIAN, ids[i])
        for t in range(indptr[i], indptr[i + 1]):
            a, b = normal_pair(state, indices[t] >> 1)
            out[t] = sigma * (b if indices[t] & 1 else a) + data[t]


@kernel
def draw_word(state, x, start, end, added, n_added, reference):
    """Draw an entry of the reference whose feature the row neither had nor got."""
    for _ in range(MOST_DRAWS):
        state, u = uniform(state)
        entry = min(np.int64(u * reference.features.size), reference.features.size - 1)
        feature = reference.features[entry]
        at = first_at_least(x.features, start, end, feature)
        if at < end and x.features[at] == feature:
            continue
        at = first_at_least(added, 0, n_added, feature)
        if at < n_added and added[at] == feature:
            continue
        return entry
    return -1


@inlined
def insert_sorted(added, values, n_added, feature, value):
    """Insert a feature with its value into the first ``n_added`` features, which ascend; return their new number."""
    at = n_added
    while at > 0 and added[at - 1] > feature:
        added[at] = added[at - 1]
        values[at] = values[at - 1]
        at -= 1
    added[at] = feature
    values[at] = value
    return n_added + 1


@kernel
def n_inserted(n, row_state, rate):
    """Return the number of words inserted into a row of n features: ``n * rate``, rounded up or down at random."""
    _, u = uniform(stream(row_state, INSERTIONS))
    return np.int64(np.floor(n * rate + u))


@kernel
def change_words(x, first, stop, ids, change, reference):
    """Return the sizes, features and values of rows ``first`` to ``stop - 1`` with words changed."""
    # Each row has a state made of the seed and its id. Under that state, feature f has the random stream f, and
    # insertion s, from 0, the stream ``INSERTIONS + 1 + s``.
    room = 2 * (x.ptr[stop] - x.ptr[first])  # each feature is kept or swapped, and as many are inserted at most
    added = np.empty(room, np.int32)
    values = np.empty(room, np.float32)
    features_out = np.empty(room, np.int32)
    values_out = np.empty(room, np.float32)
    sizes = np.empty(stop - first, np.int64)
    place = 0  # of the row
    for i in range(first, stop):
        start = x.ptr[i]
        end = x.ptr[i + 1]
        row_state = stream(change.seed ^ WORDS, ids[i])
        n_added = 0
        kept = place  # kept features are written at once, and moved up when all new features are known
        for t in range(start, end):
            state, u = uniform(stream(row_state, x.features[t]))
            if change.drop and u < change.rate:
                continue
            state, u = uniform(state)
            if change.swap and u < change.rate:
                entry = draw_word(state, x, start, end, added, n_added, reference)
                if entry >= 0:
                    n_added = insert_sorted(added, values, n_added, reference.features[entry], x.values[t])
                    continue
            features_out[kept] = x.features[t]
            values_out[kept] = x.values[t]
            kept += 1
        if change.insert:
            for slot in range(n_inserted(end - start, row_state, change.rate)):
                state = stream(row_state, INSERTIONS + 1 + slot)
                entry = draw_word(state, x, start, end, added, n_added, reference)
                if entry >= 0:
                    value = reference.values[entry]
                    n_added = insert_sorted(added, values, n_added, reference.features[entry], value)
        merge_added(features_out, values_out, place, kept, added, values, n_added)
        sizes[i - first] = kept + n_added - place
        place = kept + n_added
    return sizes, features_out[:place].copy(), values_out[:place].copy()


@inlined
def merge_added(features_out, values_out, start, kept, added, values, n_added):
    """Merge the features that a row got into those that it kept, from the largest on, so that none is overwritten."""
    place = kept + n_added - 1
    kept -= 1
    n_added -= 1
    while n_added >= 0:
        if kept >= start and features_out[kept] > added[n_added]:
            features_out[place] = features_out[kept]
            values_out[place] = values_out[kept]
            kept -= 1
        else:
            features_out[place] = added[n_added]
            values_out[place] = values[n_added]
            n_added -= 1
        place -= 1
