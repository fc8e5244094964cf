"""Features of words: single words and n-grams (words in a row), looked up in a list or hashed."""

import hashlib

import numpy as np
import scipy.sparse as sp

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, from the golden ratio; multiplying by it spreads the bits of a hash


class Grams:
    """Finds known n-grams in sequences of words.

    Parameters
    ----------
    grams : ndarray of int32, shape (D, longest)
        The words of each feature, by their numbers; shorter ones end with -1.
    n_words : int
    """

    def __init__(self, grams: np.ndarray, n_words: int):
        self._n_words = np.int64(n_words)
        lengths = (grams >= 0).sum(axis=1)
        node = grams[:, 0].astype(np.int64)  # the prefix of each feature: here its first word
        self._levels = [(None, _features_at(node, lengths == 1, n_words))]
        for length in range(2, grams.shape[1] + 1):
            longer = lengths >= length
            keys = node[longer] * self._n_words + grams[longer, length - 1]
            known, node[longer] = np.unique(keys, return_inverse=True)
            self._levels.append((known, _features_at(node, lengths == length, known.size)))

    def find(self, codes: np.ndarray, ends: np.ndarray):
        """Yield the length of n-grams, the places in ``codes`` where they start, and their features."""
        at = np.flatnonzero(codes >= 0)
        node = codes[at].astype(np.int64)
        stop = None
        for length, (known, features) in enumerate(self._levels, 1):
            if known is not None:
                if stop is None:
                    stop = np.repeat(ends, np.diff(ends, prepend=0))
                last = at + length - 1
                inside = last < stop[at]
                at, node, last = at[inside], node[inside], last[inside]
                keys = node * self._n_words + codes[last]
                place = np.minimum(np.searchsorted(known, keys), max(known.size - 1, 0))
                same = (known[place] == keys) & (codes[last] >= 0) if known.size else np.zeros(at.size, bool)
                at, node = at[same], place[same]
            found = features[node]
            yield length, at[found >= 0], found[found >= 0]


def _features_at(node, these, count) -> np.ndarray:
    """Return the feature of each prefix, or -1: ``these`` features end there."""
    features = np.full(count, -1, np.int32)
    features[node[these]] = np.flatnonzero(these)
    return features


class HashedGrams:
    """Gives n-grams numbers from their hashes, so that no list of words is needed.

    Parameters
    ----------
    ngrams : (int, int)
        Shortest and longest.
    bits : int
        There are 2**bits features.
    words : list of str
        The words by their numbers.
    """

    def __init__(self, ngrams: tuple[int, int], bits: int, words: list[str]):
        self._ngrams, self._shift = ngrams, np.uint64(64 - bits)
        self._hashes = np.array([_hash(word) for word in words], np.uint64)

    def find(self, codes: np.ndarray, ends: np.ndarray):
        """Yield what :meth:`Grams.find` does."""
        at = np.arange(codes.size)
        stop = np.repeat(ends, np.diff(ends, prepend=0)) if self._ngrams[1] > 1 else None
        hashes = self._hashes[codes]
        for length in range(1, self._ngrams[1] + 1):
            if length > 1:
                inside = at + length - 1 < stop[at]
                at, hashes = at[inside], hashes[inside]
                hashes = (hashes ^ (hashes >> np.uint64(29))) * MIX + self._hashes[codes[at + length - 1]]
            if length >= self._ngrams[0]:
                mixed = (hashes ^ (hashes >> np.uint64(32))) * MIX
                yield length, at, (mixed >> self._shift).astype(np.int32)


def _hash(word) -> int:
    """Return 64 bits of a word that are the same on every machine."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def counts(grams, codes: np.ndarray, ends: np.ndarray, n_features: int) -> sp.csr_array:
    """Count how often each row has each feature."""
    row_of = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    rows, features = [], []
    for _, at, found in grams.find(codes, ends):
        rows.append(row_of[at])
        features.append(found)
    rows, features = np.concatenate(rows), np.concatenate(features)
    matrix = sp.coo_array((np.ones(rows.size, np.int32), (rows, features)), shape=(ends.size, n_features))
    return sp.csr_array(matrix)


def learn(codes, ends, n_words: int, ngrams: tuple[int, int], least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all n-grams that enough rows have."""
    row_of, stop = (np.repeat(each, np.diff(ends, prepend=0)) for each in (np.arange(ends.size), ends))
    at, group = np.arange(codes.size), codes.astype(np.int64)
    grams = np.arange(n_words, dtype=np.int32)[:, None]
    kept = []
    for length in range(1, ngrams[1] + 1):
        if length > 1:
            inside = at + length - 1 < stop[at]
            at, group = at[inside], group[inside]
            keys, group = np.unique(group * n_words + codes[at + length - 1], return_inverse=True)
            grams = np.hstack([grams[keys // n_words], (keys % n_words).astype(np.int32)[:, None]])
        rows = _rows_with(row_of[at], group, ends.size, len(grams))
        # An n-gram is in no more rows than its beginning: what is too rare here is too rare with a further word.
        enough = rows >= least
        if length >= ngrams[0]:
            times = np.bincount(group, minlength=len(grams))
            padded = np.full((int(enough.sum()), ngrams[1]), -1, np.int32)
            padded[:, :length] = grams[enough]
            kept.append((padded, rows[enough], times[enough]))
        stays = enough[group]
        at, group = at[stays], (np.cumsum(enough) - 1)[group[stays]]
        grams = grams[enough]
    return tuple(np.concatenate(parts) for parts in zip(*kept))


def _rows_with(rows, groups, n_rows, n_groups) -> np.ndarray:
    """Return in how many different rows each group is; ``rows`` are in order."""
    starts = np.searchsorted(rows, np.arange(n_rows + 1))
    matrix = sp.csr_array((np.ones(rows.size, np.int32), groups.copy(), starts), shape=(n_rows, n_groups))
    matrix.sum_duplicates()
    return np.bincount(matrix.indices, minlength=n_groups)
