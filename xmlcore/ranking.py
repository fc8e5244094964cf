"""The result type of all top-k predictions."""

from typing import NamedTuple

import numpy as np


class Ranking(NamedTuple):
    """The k best labels of each row, best first; labels of equal score are ordered by id.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, k)
        Label ids, padded with -1 where a row has fewer than k.
    scores : ndarray of float32, shape (n, k)
        The labels' scores, largest first in each row, padded with 0.
    """

    labels: np.ndarray
    scores: np.ndarray
