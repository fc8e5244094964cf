"""How much each setting matters in the trials of a sweep."""

from collections.abc import Sequence
from numbers import Real

import numpy as np

from xmlcore.first_use import pd
from xmlcore.metrics.significance import SURE
from xmlcore.typing import DataFrame
from xmlcore.validation import check_frame, check_names

GROUPS = 6  # at most, of the values of a number that has too many for a group each
LEAST_IN_GROUP = 2  # settings with a value, on average, so that what other settings change can be told from it
LEAST_LEFT = 3  # degrees of freedom within groups
FEW, ONE_VALUE = f"each value needs {LEAST_IN_GROUP} settings", "one value only"
NONE, SAME = "all trainings are equal", "no difference"  # in any two settings that differ in one parameter only


def main_effects(trials: "DataFrame", parameters: Sequence[str]) -> "DataFrame":
    """Return which share of the differences between settings each parameter explains alone.

    A one-way analysis of variance for each parameter, over the means of settings over their seeds, in the round with
    most of them (of successive halving, the first). The share is that of the sum of squares between groups of all
    squares (eta squared): few settings give a parameter without influence a share, too, and ``p`` tells that this may
    be chance. A number with nearly as many values as there are settings is put into at most 6 groups of neighbouring
    values.

    Parameters
    ----------
    trials : DataFrame
        As ``trials`` of :class:`xmlcore.experiment.Sweep`.
    parameters : sequence of str
        Columns of the trials.

    Returns
    -------
    DataFrame
        A line for each parameter, largest share first, those that are not significant last: ``parameter``,
        ``share`` (in [0, 1]; NaN if it cannot be said), ``p`` (of the F test: how often chance makes a share as large),
        ``n_settings``, ``n_groups`` and ``why`` (why it cannot be said, or "").

    Examples
    --------
    >>> import pandas as pd
    >>> from xmlcore.experiment import main_effects
    >>> trials = pd.DataFrame({"C": [1, 1, 10, 10] * 2, "tree": ["a", "b"] * 4, "rung": 0, "setting": range(8)})
    >>> effects = main_effects(trials.assign(value=[0.1, 0.12, 0.3, 0.31, 0.11, 0.1, 0.3, 0.32]), ["tree", "C"])
    >>> effects[["parameter", "share", "n_settings"]].round(2).values.tolist()
    [['C', 0.99, 8], ['tree', 0.0, 8]]
    """
    parameters = check_names(parameters, "parameters")
    check_frame(trials, ("value", "rung", "setting", *parameters), "a sweep", "trials")
    done = trials[trials["value"].notna()]
    done = done[done["rung"] == done.groupby("rung")["setting"].nunique().idxmax()] if len(done) else done
    means = done.groupby("setting", sort=False)["value"].mean()
    settings = done.drop_duplicates("setting").set_index("setting").loc[means.index]
    lines = []
    for name in parameters:
        groups = _groups(settings[name])
        share, p, why = _explained(means.to_numpy(np.float64), groups)
        others = settings[[other for other in parameters if other != name]]
        if not why and not p < SURE and _is_idle(means, settings[name], others):
            share, p, why = np.nan, np.nan, SAME
        lines.append((name, share, p, len(means), int(groups.max(initial=-1)) + 1, why))
    found = pd.DataFrame(lines, columns=["parameter", "share", "p", "n_settings", "n_groups", "why"])
    order = found["share"].add(found["p"] < SURE).sort_values(ascending=False, kind="stable", na_position="last")
    return found.loc[order.index].reset_index(drop=True)


def _groups(values) -> np.ndarray:
    distinct, groups = np.unique([repr(value) for value in values], return_inverse=True)
    are_numbers = all(
        isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_)) for value in values
    )
    if LEAST_IN_GROUP * distinct.size <= groups.size or not are_numbers:
        return groups
    n_groups = min(GROUPS, groups.size // (2 * LEAST_IN_GROUP))
    if n_groups < 2:
        return groups
    return np.asarray(pd.qcut(values.astype(float), n_groups, labels=False, duplicates="drop"))


def _is_idle(means, values, others) -> bool:
    """Return whether each setting has others that differ in one parameter only, and all these are equal."""
    alike = pd.Series([repr(line) for line in others.to_numpy(object).tolist()], index=means.index)
    several = values.map(repr).groupby(alike).transform("nunique") > 1
    return bool(several.all() and (means.groupby(alike).agg(np.ptp) <= 1e-12).all())


def _explained(values, groups) -> tuple[float, float, str]:
    """Return the share of the variance between groups, its p-value, and why there are none."""
    from scipy.stats import f_oneway

    n, size = values.size, np.bincount(groups)
    size = size[size > 0]
    between, left = size.size - 1, n - size.size
    if between < 1:
        return np.nan, np.nan, ONE_VALUE if n else FEW
    if left < LEAST_LEFT or n < LEAST_IN_GROUP * size.size:
        return np.nan, np.nan, FEW
    every = ((values - values.mean()) ** 2).sum()
    if not every > n * (1e-12 * np.abs(values).max()) ** 2:
        return np.nan, np.nan, NONE
    ratio, p = f_oneway(*(values[groups == group] for group in np.unique(groups)))
    return float(1 - left / (left + between * ratio)), float(p), ""
