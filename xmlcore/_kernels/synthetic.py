"""Rows of a synthetic data set: labels from a hidden hierarchy of topics, and words from their vocabularies.

Every row has its own random stream, and so has the vocabulary of every topic and label. Vocabularies are not stored: a
word of one is drawn again whenever it is needed. The kernels number labels by their place in the hierarchy (a topic is
a range of places) and words by their rank in frequency. Both are mapped to ids at the end.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.rng import GOLDEN, stream, uniform
from xmlcore._kernels.sorting import sort_in_place

LABEL_CLIMB = 0.3  # probability to move from a topic to the one above it, at each step, for a row's further labels
WORD_CLIMB = 0.5  # the same for the topic that a word is drawn from
MOST_DRAWS = 4  # most draws of words for each feature of a row; then the next free words are taken
MOST_MISSES = 32  # most draws of a label from all labels; then the next free label is taken


class Zipf(NamedTuple):
    """Whole numbers r in [0, n) with density proportional to (r + offset) ** -(1 - power)."""

    n: int
    offset: float
    power: float
    low: float  # offset ** power, or log(offset) where the power is 0
    high: float  # the same of n + offset


class Problem(NamedTuple):
    """The tables that all rows are drawn from: L labels, D features, T topics; a topic comes before its subtopics."""

    bottom: np.ndarray  # int32 (L,), the lowest topic of a place
    parent: np.ndarray  # int32 (T,), -1 for the one that holds all labels
    first: np.ndarray  # int32 (T,), a topic's places are first to last - 1
    last: np.ndarray  # int32 (T,)
    cumulative: np.ndarray  # float64 (L + 1,), of the labels' probabilities by place
    label_ids: np.ndarray  # int32 (L,), of a place
    feature_ids: np.ndarray  # int32 (D,), of a rank
    idf: np.ndarray  # float32 (D,), of a feature id
    words: Zipf  # ranks of words
    vocabulary: Zipf  # words of one topic or label
    vocabulary_seed: int
    feature_noise: float
    label_noise: float


@kernel
def zipf(law, u):
    """Return the number of a law at ``u`` in [0, 1): uniform values of ``u`` give numbers that follow the law."""
    mixed = law.low + u * (law.high - law.low)
    x = np.exp(mixed) if law.power == 0.0 else mixed ** (1.0 / law.power)
    return min(max(np.int64(x - law.offset), 0), law.n - 1)


@kernel
def draw_place(cumulative, first, stop, u):
    """Return the place from ``first`` to ``stop`` - 1 at ``u`` in [0, 1), by the probabilities of the labels."""
    sought = cumulative[first] + u * (cumulative[stop] - cumulative[first])
    low = first
    high = stop - 1
    while low < high:  # find the last place whose range begins at or before the sought number
        middle = (low + high + 1) >> 1
        if cumulative[middle] <= sought:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def draw_sizes(seed, label_sizes, feature_sizes, n_labels, n_features):
    """Draw the number of labels and of features of every row from two tables, with the first numbers of its stream."""
    for i in range(n_labels.size):
        state, u = uniform(stream(seed, i))
        n_labels[i] = label_sizes[np.int64(u * label_sizes.size)]
        state, u = uniform(state)
        n_features[i] = feature_sizes[np.int64(u * feature_sizes.size)]


@kernel
def draw_labels(problem, state, own, seen, mark):
    """Fill ``own`` with different places, the first from all labels, the others near it; return the next state."""
    n_places = seen.size
    for c in range(own.size):
        topic = 0
        if c > 0:
            topic = problem.bottom[own[0]]
            while problem.parent[topic] >= 0:
                state, u = uniform(state)
                if u >= LABEL_CLIMB:
                    break
                topic = problem.parent[topic]
        misses = 0
        while True:
            state, u = uniform(state)
            place = draw_place(problem.cumulative, problem.first[topic], problem.last[topic], u)
            if seen[place] != mark:
                break
            if problem.parent[topic] >= 0:
                topic = problem.parent[topic]
                continue
            misses += 1
            if misses > MOST_MISSES:
                while seen[place] == mark:
                    place = (place + 1) % n_places
                break
        own[c] = place
        seen[place] = mark
    return state


@kernel
def draw_word(problem, state, own):
    """Draw a word of one of the places ``own``, of a topic above it, or of all words; return its rank and the state."""
    state, u = uniform(state)
    if u < problem.feature_noise:
        state, u = uniform(state)
        return zipf(problem.words, u), state
    state, u = uniform(state)
    place = own[np.int64(u * own.size)]
    source = problem.parent.size + place  # vocabularies are numbered: those of the topics, then those of the labels
    topic = problem.bottom[place]
    while problem.parent[topic] >= 0:  # the topic of all labels has no vocabulary
        state, u = uniform(state)
        if u >= WORD_CLIMB:
            break
        source = topic
        topic = problem.parent[topic]
    state, u = uniform(state)
    number = zipf(problem.vocabulary, u)
    _, u = uniform(stream(problem.vocabulary_seed, source) + np.uint64(number - 1) * GOLDEN)
    return zipf(problem.words, u), state


@kernel
def draw_features(problem, state, own, features, counts):
    """Fill ``features`` with different feature ids, and count how often each was drawn; return the next state."""
    n_features = counts.size
    found = 0
    draws = 0
    while found < features.size:
        if draws < MOST_DRAWS * features.size:
            word, state = draw_word(problem, state, own)
            f = problem.feature_ids[word]
            draws += 1
        else:  # most drawn words are in the row already: take the next free one
            state, u = uniform(state)
            f = problem.feature_ids[zipf(problem.words, u)]
            while counts[f] > 0:
                f = (f + 1) % n_features
        if counts[f] == 0:
            features[found] = f
            found += 1
        counts[f] += 1
    return state


@kernel
def fill_rows(problem, seed, start, end, label_ptr, labels, feature_ptr, features, values):
    """Write rows ``start`` to ``end - 1``, whose sizes :func:`draw_sizes` has drawn."""
    seen = np.full(problem.bottom.size, -1, np.int32)
    counts = np.zeros(problem.feature_ids.size, np.int32)
    for i in range(start, end):
        state = stream(seed, i) + GOLDEN + GOLDEN  # the state after those of the two sizes
        mark = i - start
        own = np.empty(label_ptr[i + 1] - label_ptr[i], np.int32)
        state = draw_labels(problem, state, own, seen, mark)
        row = features[feature_ptr[i] : feature_ptr[i + 1]]
        state = draw_features(problem, state, own, row, counts)
        sort_in_place(row)
        out = values[feature_ptr[i] : feature_ptr[i + 1]]
        total = 0.0
        for t in range(row.size):
            value = (1.0 + np.log(np.float64(counts[row[t]]))) * np.float64(problem.idf[row[t]])
            counts[row[t]] = 0
            out[t] = value
            total += value * value
        scale = 1.0 / np.sqrt(total)
        for t in range(row.size):
            out[t] = np.float32(out[t] * scale)
        # The words are drawn; now some labels are replaced.
        for c in range(own.size):
            state, u = uniform(state)
            if u < problem.label_noise:
                for _ in range(MOST_MISSES):
                    state, u = uniform(state)
                    place = draw_place(problem.cumulative, 0, seen.size, u)
                    if seen[place] != mark:
                        seen[place] = mark
                        own[c] = place
                        break
        ids = labels[label_ptr[i] : label_ptr[i + 1]]
        for c in range(own.size):
            ids[c] = problem.label_ids[own[c]]
        sort_in_place(ids)
