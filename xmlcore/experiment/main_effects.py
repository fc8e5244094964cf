"""How much each setting matters in the trials of a sweep, and how much two of them do together."""

import itertools
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
UNEVEN = "not all pairs of values have as many settings"
NONE, SAME = "all trainings are equal", "no difference"  # in any two settings that differ in one parameter only


def main_effects(trials: "DataFrame", parameters: Sequence[str]) -> "DataFrame":
    """Return which share of the differences between settings each parameter explains alone.

    A one-way analysis of variance for each parameter, over the means of settings over their seeds, in the round with
    most of them (of successive halving, the first). The share is that of the sum of squares between groups of all
    squares (eta squared): few settings give a parameter without influence a share, too, and ``p`` tells that this may
    be chance. In a grid, the shares of all parameters and of what they do together (:func:`interaction_effects`) add up
    to 1. A number with nearly as many values as there are settings is put into at most 6 groups of neighbouring values.

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
    parameters, done, means, settings = _read(trials, parameters)
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


def interaction_effects(trials: "DataFrame", parameters: Sequence[str]) -> "DataFrame":
    """Return which share of the differences between settings two parameters explain only together.

    The interactions of a functional analysis of variance, over the same means and of the same squares as in
    :func:`main_effects`: what the means of pairs of values leave after those of single values. It is tested against
    how the means of settings with one pair of values differ or, where each pair has one setting, their seeds.

    Parameters
    ----------
    trials : DataFrame
        As ``trials`` of :class:`xmlcore.experiment.Sweep`.
    parameters : sequence of str
        Columns of the trials.

    Returns
    -------
    DataFrame
        A line for each pair, largest share first: ``first``, ``second``, ``share`` (in [0, 1]; NaN if it cannot be
        said), ``p`` (of the F test; NaN where nothing tells chance, as in a grid of two parameters with one seed) and
        ``why`` (why it cannot be said, or ""). Shares are known of grids in which all pairs of values have as many
        settings.
    """
    parameters, done, means, settings = _read(trials, parameters)
    by_setting = done.groupby("setting", sort=False)["value"]
    n_seeds, left = by_setting.size(), len(done) - len(means)
    of_seeds = by_setting.var(ddof=0).mul(n_seeds).sum() / max(left, 1) * (1 / n_seeds).mean() if left else np.nan
    groups = {name: np.unique([repr(value) for value in settings[name]], return_inverse=True)[1] for name in parameters}
    lines = []
    for pair in itertools.combinations(parameters, 2):
        found = _together(means.to_numpy(np.float64), *(groups[name] for name in pair), (float(of_seeds), left))
        lines.append((*pair, *found))
    found = pd.DataFrame(lines, columns=["first", "second", "share", "p", "why"])
    return found.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _together(values, a, b, of_seeds) -> tuple[float, float, str]:
    """Return the share of the variance that two groupings explain only together, its p-value, and why there is none."""
    from scipy.stats import f

    if not values.size or not a.any() or not b.any():
        return np.nan, np.nan, ONE_VALUE if values.size else FEW
    size = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(size, (a, b), 1)
    if (size != size[0, 0]).any():
        return np.nan, np.nan, UNEVEN
    every = ((values - values.mean()) ** 2).sum()
    if not every > values.size * (1e-12 * np.abs(values).max()) ** 2:
        return np.nan, np.nan, NONE
    cells = np.zeros_like(size)
    np.add.at(cells, (a, b), (values - values.mean()) / size[0, 0])
    rest = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True)
    between, degrees = size[0, 0] * (rest**2).sum(), (size.shape[0] - 1) * (size.shape[1] - 1)
    left = values.size - size.size
    within = ((values - values.mean() - cells[a, b]) ** 2).sum()
    chance, left = (within / left, left) if left else of_seeds
    is_told = chance > 1e-12 * every  # not of one seed, nor where nothing is left to chance
    p = float(f.sf(between / degrees / chance, degrees, left)) if is_told else np.nan
    return float(between / every), p, ""


def _read(trials, parameters):
    """Return the parameters, trials that are done of the round with most settings, their means, and one of each."""
    parameters = check_names(parameters, "parameters")
    check_frame(trials, ("value", "rung", "setting", *parameters), "a sweep", "trials")
    done = trials[trials["value"].notna()]
    done = done[done["rung"] == done.groupby("rung")["setting"].nunique().idxmax()] if len(done) else done
    means = done.groupby("setting", sort=False)["value"].mean()
    return parameters, done, means, done.drop_duplicates("setting").set_index("setting").loc[means.index]


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
    from scipy.stats import f

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
    means = np.bincount(groups, values)[np.unique(groups)] / size
    within = max(every - (size * (means - values.mean()) ** 2).sum(), 0.0)
    ratio = (every - within) / between / (within / left) if within > 0 else np.inf
    return float(1 - within / every), float(f.sf(ratio, between, left)), ""
