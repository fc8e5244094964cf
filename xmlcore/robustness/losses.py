"""The share of P@1 that models lose under perturbation, and whether one loses a larger share than another."""

from collections.abc import Mapping

import numpy as np

from xmlcore import metrics
from xmlcore.first_use import pd
from xmlcore.metrics.significance import SURE, holm
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, DataFrame, Labels
from xmlcore.validation import as_array, check_is


class FirstRight:
    """How often the first label of each row is right at each level: ``on_ranking`` of :func:`evaluate`.

    Parameters
    ----------
    Y : sparse or dense binary, shape (n, L), or lists of label ids
        The labels that :func:`evaluate` is given.
    """

    def __init__(self, Y: Labels):
        self._Y, self._counts = Y, {}

    def __call__(self, level: float, ranking: Ranking) -> None:
        right = metrics.hits(self._Y, ranking)[:, 0]
        self._counts[level] = self._counts.get(level, 0) + right.astype(np.int32)

    @property
    def counts(self) -> np.ndarray:
        """A line for each level, the unchanged rows first: int32, shape (1 + m, n)."""
        return np.stack(list(self._counts.values()))


def losses(first_right: Mapping[str, ArrayLike], reference: str | None = None) -> "DataFrame":
    r"""Return the share of P@1 that each model loses at each level, and how much more than a reference loses.

    Parameters
    ----------
    first_right : dict
        By the names of models: ``counts`` of a :class:`FirstRight`, of the same n rows and m levels, shape (1 + m, n).
    reference : str, optional
        Name of the model that the others are compared with; the first one by default.

    Returns
    -------
    pandas.DataFrame
        A row for each model and level, with the columns

        - ``run`` (str); ``level`` (int), the number of the level, from 1
        - ``lost``: :math:`1 - \sum_i y_i / \sum_i x_i` of the counts x of the unchanged rows and y of the changed ones;
          negative for a gain; nan where no first label is right without the perturbation
        - ``low``, ``high``: its 95 % interval over rows and draws; ``p_lost``: p-value of its being 0
        - ``more``, ``more_low``, ``more_high``, ``p_more``: the same of what is lost beyond the loss of the reference

        P-values are corrected by :func:`xmlcore.metrics.holm` for all models and levels; intervals are not
        (docs/methods/robustness.md).
    """
    counts, reference = _read(first_right, reference)
    records = []
    for level in range(1, len(counts[reference])):
        shares = {run: _share(of[0], of[level]) for run, of in counts.items()}
        lost_there, influence_there = shares[reference]
        for run, (lost, influence) in shares.items():
            reach, p = _student(lost, influence)
            more, (more_reach, p_more) = lost - lost_there, _student(lost - lost_there, influence - influence_there)
            of_loss = (lost, lost - reach, lost + reach, p)
            of_more = (more, more - more_reach, more + more_reach, np.nan if run == reference else p_more)
            records.append((run, level, *of_loss, *of_more))
    names = ["run", "level", "lost", "low", "high", "p_lost", "more", "more_low", "more_high", "p_more"]
    frame = pd.DataFrame(records, columns=names)
    return frame.assign(**{name: holm(frame[name]) for name in ("p_lost", "p_more")})


def _read(first_right, reference) -> tuple[dict[str, np.ndarray], str]:
    """Return the counts of each model, and the name of the reference; raise if they do not fit together."""
    check_is(first_right, Mapping, "first_right", "a dict of arrays by the names of models")
    of_what = "numbers, a line for each level"
    counts = {run: as_array(of, f"first_right[{run!r:.60}]", of_what) for run, of in first_right.items()}
    shapes = {of.shape for of in counts.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError(f"first_right has arrays of the shapes {shapes}: all must have one line per level and one row")
    reference = next(iter(counts)) if reference is None else reference
    if reference not in counts:
        raise ValueError(f"reference is {reference!r:.200}: it must be one of {', '.join(map(repr, counts))}")
    return {run: of.astype(np.float64) for run, of in counts.items()}, reference


def _share(clean, changed) -> tuple[float, np.ndarray]:
    """Return the share lost, and the influence of each row on it."""
    right = clean.sum()
    if right == 0:
        return np.nan, np.full(clean.size, np.nan)
    one = clean.max()
    drawn_in = (changed.sum() + one) / (right + one)
    return 1 - changed.sum() / right, (drawn_in * clean - changed) / right


def _student(value, influence) -> tuple[float, float]:
    """Return how far the ends of the interval of a value are from it, and the p-value of its being 0."""
    from scipy.special import stdtr, stdtrit

    squares = influence * influence
    variance = squares.sum()
    if not variance > 0:  # no row changes, or nothing is known
        return (0.0, 1.0) if variance == 0 else (np.nan, np.nan)
    freedom = max(variance**2 / (squares * squares).sum() - 1, 1.0)
    deviation = np.sqrt(variance)
    return stdtrit(freedom, 1 - SURE / 2) * deviation, 2 * stdtr(freedom, -abs(value) / deviation)
