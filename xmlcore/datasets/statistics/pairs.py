"""Which labels occur together, and which do not although they are frequent."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import products_in_blocks
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame, Labels
from xmlcore.validation import check_count, check_label_ids, check_labels

WIDEST = 4096  # most of the frequent labels among which exclusions are searched


class LabelPairs(NamedTuple):
    """Result of :func:`label_pairs`."""

    pairs: "DataFrame"  # first, second, n_first, n_second, n_both, expected, lift, phi; most frequent label first
    exclusions: "DataFrame"  # the same
    partners: "DataFrame"  # label, place (from 1), partner, n_both, lift, phi
    n_pairs: int  # of labels that at least one row has


def label_pairs(Y: Labels, n_pairs: int = 200, n_partners: int = 3, least: int = 2) -> LabelPairs:
    """Find the labels that occur together most, and those that avoid each other most.

    phi is the correlation of the two columns; docs/statistics.md defines the measures.

    Parameters
    ----------
    Y : sparse or dense binary, shape (N, L), or lists of label ids
    n_pairs : int
        Pairs and exclusions returned at most.
    n_partners : int
        Partners returned for each label at most.
    least : int
        A pair needs at least so many rows with both labels to be among the pairs or the partners.

    Returns
    -------
    LabelPairs
        ``.pairs`` have the largest phi, largest first; equal ones by ``n_both``. ``.partners`` are the labels with the
        largest phi of each label. ``.exclusions`` have the most negative phi: labels that are both frequent and
        occur together less often than by chance, or never.
    """
    Y = check_labels(Y)
    n_pairs, n_partners = check_count(n_pairs, "n_pairs", 0), check_count(n_partners, "n_partners", 0)
    least = check_count(least, "least", 0)
    n_rows, n_labels = Y.shape
    counts = np.bincount(Y.indices, minlength=n_labels).astype(np.float64)
    best, negative, partners, total = [], [], [], 0
    rows = Y.astype(np.int32)
    for start, block in products_in_blocks(rows, rows):
        table = block.tocoo()
        first, second, both = start + table.row.astype(np.int64), table.col.astype(np.int64), table.data
        keep = first != second
        first, second, both = first[keep], second[keep], both[keep]
        phi = _phi(counts[first], counts[second], both, n_rows)
        total += first.size
        enough = both >= least
        partners.append(_best_of_each(first[enough], second[enough], both[enough], phi[enough], n_partners))
        more = counts[first] - counts[second]
        once = (more > 0) | (more == 0) & (first < second)  # each pair is counted once
        best.append(_largest(first, second, both, phi, once & enough & (phi > 0), n_pairs))
        negative.append(_largest(first, second, both, -phi, once & (phi < 0), n_pairs))
    negative.append(_never_together(Y, counts, n_pairs))
    place, label, partner, both = (np.concatenate(parts) for parts in zip(*partners))
    of_partners = _pairs_of(label, partner, both, counts[label], counts[partner], n_rows).assign(place=place)
    of_partners = of_partners.rename(columns={"first": "label", "second": "partner"})
    return LabelPairs(
        _pair_frame(best, counts, n_rows, n_pairs, -1),
        _pair_frame(negative, counts, n_rows, n_pairs, 1),
        of_partners[["label", "place", "partner", "n_both", "lift", "phi"]],
        total // 2,
    )


def cooccurrence(Y: sp.csr_array, labels) -> np.ndarray:
    chosen = Y[:, np.asarray(labels, np.int64)].astype(np.int64)
    return (chosen.T @ chosen).toarray()


def together(Y: Labels, labels: Sequence[int]) -> "DataFrame":
    """Return how often each pair of some labels occurs, in the columns of :func:`label_pairs`, also each with itself.

    Labels are ordered by a hierarchical clustering (average linkage of 1 - phi) whose leaves are in the best order, so
    that labels that go together are beside each other.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    Y = check_labels(Y)
    labels = check_label_ids(labels, None, Y.shape[1]).astype(np.int64)
    both = cooccurrence(Y, labels)
    counts = both.diagonal().astype(np.float64)
    phi = _phi(counts[:, None], counts[None], both, Y.shape[0])
    if labels.size > 2:
        away = np.clip(1 - phi, 0, None)
        np.fill_diagonal(away, 0)
        order = leaves_list(linkage(squareform(away, checks=False), "average", optimal_ordering=True))
        labels, both, counts, phi = labels[order], both[np.ix_(order, order)], counts[order], phi[np.ix_(order, order)]
    i, j = np.indices(both.shape).reshape(2, -1)
    frame = _pairs_of(labels[i], labels[j], both[i, j], counts[i], counts[j], Y.shape[0])
    return frame.drop(columns="lift").assign(phi=phi[i, j])


def _phi(n_first, n_second, both, n_rows):
    """Return the correlation of two labels; 0 if a label is on all rows."""
    spread = np.sqrt(n_first * n_second * (n_rows - n_first) * (n_rows - n_second))
    phi = np.divide(n_rows * both - n_first * n_second, spread, out=np.zeros(spread.shape), where=spread > 0)
    return np.round(phi, 9)  # so that values that differ by rounding alone are equal


def _largest(first, second, both, value, candidates, n):
    at = np.flatnonzero(candidates)
    if n == 0:
        at = at[:0]
    elif at.size > n:
        threshold = np.partition(value[at], at.size - n)[at.size - n]
        at = at[value[at] >= threshold]
        at = at[np.lexsort((second[at], first[at], -both[at], -value[at]))[:n]]
    return first[at], second[at], both[at]


def _best_of_each(first, second, both, phi, n):
    """Return place, first, second, both of the ``n`` pairs with the largest positive phi of each first label."""
    at = np.flatnonzero(phi > 0)
    at = at[np.lexsort((second[at], -both[at], -phi[at], first[at]))]
    place = np.arange(at.size) - np.searchsorted(first[at], first[at]) + 1
    kept = place <= n
    at = at[kept]
    return place[kept], first[at], second[at], both[at]


def _never_together(Y, counts, n):
    """Return first, second, both (0) of the pairs without a common row that have the most negative phi."""
    n_rows = Y.shape[0]
    order = np.lexsort((np.arange(counts.size), -counts))
    order = order[(counts[order] > 0) & (counts[order] < n_rows)]
    odds = np.sqrt(counts[order] / (n_rows - counts[order]))
    m = 64
    while True:
        m = min(m, order.size, WIDEST)
        a, b = np.triu_indices(m, 1)
        never = cooccurrence(Y, order[:m])[a, b] == 0
        first, second = order[a[never]], order[b[never]]
        value = odds[a[never]] * odds[b[never]]  # -phi
        if m == order.size:
            break
        bound = odds[0] * odds[m]
        certain = value >= bound
        if certain.sum() >= n or m == WIDEST:  # the others might come after a pair that was not looked at
            first, second, value = first[certain], second[certain], value[certain]
            break
        m *= 2
    both = np.zeros(first.size, np.int32)
    return _largest(first, second, both, value, np.ones(first.size, bool), n)


def _pair_frame(parts, counts, n_rows, n, sign):
    """Return the frame of pairs, sorted by ``sign`` times phi, then by the number of rows with both."""
    first, second, both = (np.concatenate(part) for part in zip(*parts))
    frame = _pairs_of(first, second, both, counts[first], counts[second], n_rows)
    order = np.lexsort((frame["second"], frame["first"], -frame["n_both"], sign * frame["phi"]))[:n]
    return frame.iloc[order].reset_index(drop=True)


def _pairs_of(first, second, both, n_first, n_second, n_rows):
    expected = n_first * n_second / n_rows
    lift = np.divide(both, expected, out=np.full(len(both), np.nan), where=expected > 0)
    numbers = {"first": first, "second": second, "n_first": n_first, "n_second": n_second, "n_both": both}
    phi = _phi(n_first, n_second, both.astype(np.float64), n_rows)
    whole = {name: values.astype(np.int64) for name, values in numbers.items()}
    return pd.DataFrame(whole | {"expected": expected, "lift": lift, "phi": phi})
