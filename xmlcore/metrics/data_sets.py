r"""Whether models differ over several data sets: Wilcoxon's signed-rank test, and Friedman's with Nemenyi's.

The values of one measure go in a table with a row per data set and a column per model. Differences on different data
sets are not of one size, so these tests look at their order only. Two models: :func:`wilcoxon`. Three or more:
:func:`friedman` asks first whether there is any difference, and the critical difference then says which mean ranks are
far enough apart.

References
----------
Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 2006.
"""

import numbers
from typing import NamedTuple

import numpy as np

from xmlcore.first_use import pd
from xmlcore.typing import ArrayLike, DataFrame


def wilcoxon(frame: "DataFrame | ArrayLike") -> "DataFrame":
    """Return the p-values of Wilcoxon's two-sided signed-rank test over data sets, for each pair of methods.

    Parameters
    ----------
    {by_data_set}

    Returns
    -------
    pandas.DataFrame
        Methods by methods, symmetric. 1 on the diagonal, and where two methods have equal values on all data sets.

    {of_data_sets_raises}

    Notes
    -----
    The test is SciPy's, which is exact for small samples without ties and leaves out differences of 0. On n data sets
    no p-value is below 2 / 2^n: with 5 data sets none is below 0.05.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics 1945; for learners: J. Demšar, JMLR 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.metrics import wilcoxon
    >>> frame = pd.DataFrame({"A": [1.0, 2, 3, 4, 5, 6], "B": [1.5, 3, 4.2, 5.7, 7.1, 9]})
    >>> wilcoxon(frame).loc["A", "B"].item()
    0.03125
    """
    from scipy import stats

    frame = _as_data_frame(frame)
    values = _values(frame)
    p_values = np.ones((values.shape[1], values.shape[1]))
    for i in range(values.shape[1]):
        for j in range(i):
            if (values[:, i] != values[:, j]).any():
                p_values[i, j] = p_values[j, i] = stats.wilcoxon(values[:, i], values[:, j]).pvalue
    return pd.DataFrame(p_values, index=list(frame.columns), columns=list(frame.columns))


class Friedman(NamedTuple):
    """Mean ranks of methods over data sets, and which of them differ."""

    ranks: object  # DataFrame: ``method`` and ``rank``, mean over data sets, best first
    statistic: float  # Friedman's chi-squared
    p_value: float  # of Friedman's test
    critical_difference: float  # least difference of two mean ranks that Nemenyi's test finds, at the level given
    p_values: object  # DataFrame, methods by methods: Nemenyi's test of each pair
    n_data_sets: int


def friedman(frame: "DataFrame | ArrayLike", alpha: float = 0.05, larger_is_better: bool = True) -> Friedman:
    r"""Rank methods on each data set, and test whether their mean ranks differ: Friedman's test, and Nemenyi's.

    .. math:: CD = q_\alpha \sqrt{\frac{m (m + 1)}{6 n}}

    for m methods on n data sets. Methods whose mean ranks differ by less than the critical difference CD are not told
    apart. :math:`q_\alpha` is the quantile of the studentized range with m groups and infinite degrees of freedom,
    divided by :math:`\sqrt 2`.

    Parameters
    ----------
    {by_data_set}
    alpha : float
        Level of the critical difference; between 0 and 1.
    larger_is_better : bool
        Whether the largest value has rank 1.

    Returns
    -------
    Friedman
        Equal values share their mean rank. For two methods ``statistic`` and ``p_value`` are those
        of the chi-squared approximation, too; :func:`wilcoxon` finds more there.

    {of_data_sets_raises}

    Notes
    -----
    Friedman's p-value is that of the chi-squared distribution, which is rough for fewer than ten data sets or five
    methods. Nemenyi's test corrects for the number of pairs and finds little on few data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.metrics import friedman
    >>> frame = pd.DataFrame({"A": [1.0, 2, 3, 4], "B": [0.5, 1, 2, 3], "C": [0.1, 0, 1, 2]})
    >>> found = friedman(frame)
    >>> found.ranks["rank"].tolist(), round(found.critical_difference, 3)
    ([1.0, 2.0, 3.0], 1.657)
    """
    from scipy import stats

    frame = _as_data_frame(frame)
    values = _values(frame)
    n, m = values.shape
    if n < 2:
        raise ValueError(f"frame has {n} data set: mean ranks need at least two")
    if isinstance(alpha, bool) or not isinstance(alpha, numbers.Real) or not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha!r:.200}: it must be between 0 and 1, such as 0.05")
    ranks = stats.rankdata(-values if larger_is_better else values, axis=1)
    means = ranks.mean(axis=0)
    spread = float(((ranks - (m + 1) / 2) ** 2).sum())  # 0 if all methods are equal everywhere
    statistic = n * n * (m - 1) * float(((means - (m + 1) / 2) ** 2).sum()) / spread if spread else 0.0
    scale = np.sqrt(m * (m + 1) / (6 * n))
    studentized = stats.studentized_range
    order = np.argsort(means, kind="stable")
    names = list(frame.columns)
    apart = np.abs(means[:, None] - means[None, :]) / scale * np.sqrt(2)
    p_values = np.where(apart > 0, studentized.sf(apart, m, np.inf), 1.0)
    return Friedman(
        ranks=pd.DataFrame({"method": [names[i] for i in order], "rank": means[order]}),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, m - 1)),
        critical_difference=float(studentized.ppf(1 - alpha, m, np.inf) / np.sqrt(2) * scale),
        p_values=pd.DataFrame(p_values, index=names, columns=names),
        n_data_sets=n,
    )


def _as_data_frame(frame):
    if isinstance(frame, pd.DataFrame):
        return frame
    # Without dtype object, one text among the values would make NumPy convert all numbers to text.
    values = frame if isinstance(frame, np.ndarray) else _matrix(frame)
    if values.ndim != 2:
        raise ValueError(
            f"frame is a {type(frame).__name__} of shape {values.shape}: a DataFrame or rows of equal length are "
            "needed, a row per data set and a column per method"
        )
    return pd.DataFrame(values)


def _values(frame) -> np.ndarray:
    """Return the table as float64; raise ValueError or TypeError unless two or more methods have finite numbers."""
    if frame.shape[1] < 2 or frame.shape[0] == 0:
        raise ValueError(f"frame has shape {frame.shape}: a row per data set and at least two methods are needed")
    missing = frame.isna()
    if missing.to_numpy().any():
        row, column = np.argwhere(missing.to_numpy())[0]
        raise ValueError(f"frame has no value for {frame.columns[column]} on {frame.index[row]}: leave one of them out")
    for column, method in enumerate(frame.columns):
        values_of_method = frame.iloc[:, column]
        not_numbers = []
        if values_of_method.dtype.kind not in "fiub":
            not_numbers = [i for i, value in enumerate(values_of_method) if not isinstance(value, numbers.Real)]
        if not_numbers:
            i = not_numbers[0]
            raise TypeError(
                f"frame has {values_of_method.iloc[i]!r:.200} for {method} on {frame.index[i]}, which is no real "
                "number: give numbers, and names of data sets as index"
            )
    values = frame.to_numpy(np.float64)
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        row, column = infinite[0]
        raise ValueError(
            f"frame has {values[row, column]} for {frame.columns[column]} on {frame.index[row]}: infinite values "
            "have no differences to put in order, so leave one of them out"
        )
    return values


def _matrix(values):
    try:
        return np.asarray(values, object)
    except ValueError as error:
        raise ValueError("frame is no matrix: its rows have different lengths, but must have the same") from error
