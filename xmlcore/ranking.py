"""The one form of a prediction."""

from typing import NamedTuple

import numpy as np


class Ranking(NamedTuple):
    """The k best labels of each row, best first; ties go to the smaller label id.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, k)
        Label ids, padded with -1 where a row has fewer than k.
    scores : ndarray of float32, shape (n, k)
        Their scores, never growing along a row, padded with 0.
    """

    labels: np.ndarray
    scores: np.ndarray
