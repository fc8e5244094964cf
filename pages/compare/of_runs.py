"""Comparisons of the predictions of several results; each answer is kept for all sessions."""

import pandas as pd

from pages.compare import listed
from pages.shared import cached
from pages.shared.results import results
from xmlcore import experiment, figures, store
from xmlcore.experiment import side_by_side

HEIGHT = 380  # of the first figures, in pixels
NAME = 40  # letters of a name in a title
HEAD, HEADS = 20, 80  # letters of a name above a column at least, and of all of them where there is room


def middle(line, measure: str) -> str:
    """Return the key of a line's result: of several seeds, the one whose measure is nearest to the mean."""
    if len(line["keys"]) == 1:
        return line["keys"][0]
    return _middle(tuple(line["keys"]), measure, float(line[measure]), store.changed("runs"))


@cached.shared()
def _middle(keys: tuple, measure: str, mean: float, changed: int) -> str:
    """Return the key of the run whose measure is nearest to the mean, as when the store was changed last."""
    own = experiment.runs(list(keys))
    return own["key"].iloc[int((own[measure] - mean).abs().to_numpy().argmin())]


def readable(keys: list[str], most: int) -> tuple[list[str], dict[str, str]]:
    """Return the keys of the first results, ``most`` at most, whose predictions and data sets can be read."""
    found, unreadable = [], {}
    for key in keys:
        if len(found) == most:
            break
        try:
            cached.dataset(cached.run(key).fingerprint)
        except (store.StoreError, OSError) as error:
            unreadable[key] = str(error)
        else:
            found.append(key)
    return found, unreadable


def _read(keys: tuple) -> tuple:
    runs = {key: cached.run(key) for key in keys}
    return cached.dataset(next(iter(runs.values())).fingerprint), runs


def ks(key: str) -> tuple[int, ...]:
    """Return the k at which a result is measured: see :func:`pages.shared.results.results.ks`."""
    return results.ks(cached.dataset(cached.run(key).fingerprint).n_labels)


def named(frame, names: dict) -> pd.DataFrame:
    return frame.assign(run=frame["run"].map(names))


@cached.shared("Drawing test rows again")
def measures(keys: tuple, further: tuple = ()):
    """Return the measures of results on one data set with their intervals; ``run`` is the key."""
    data, runs = _read(keys)
    return side_by_side.measures_with_intervals(data, runs, list(dict.fromkeys([*side_by_side.COMPARED, *further])))


def intervals(keys: list[str], measure: str, further=()) -> pd.DataFrame:
    """Return ``low`` and ``high`` of a measure such as ``P@1`` by the keys of results; empty where it has none."""
    frame, (name, _, k) = measures(keys, further), measure.rpartition("@")
    return frame[(frame["measure"] == f"{name}@k") & (frame["k"].astype(str) == k)].set_index("run")[["low", "high"]]


@cached.shared("Comparing results")
def compared(function: str, keys: tuple, about):
    """Return the table of a function of :mod:`side_by_side` for results on one data set; ``run`` is the key."""
    data, runs = _read(keys)
    of = runs.values() if function in ("labels_compared", "rows_compared") else [runs]
    return getattr(side_by_side, function)(data, *of, about)


def tested(choice) -> tuple[str, ...]:
    """Return the measures in which results are tested: that by which lines are ordered comes first."""
    return (choice.measure, *side_by_side.TESTED, *listed.further_measures(choice.more))


@cached.shared("Testing the differences")
def tests(keys: tuple, measures: tuple):
    """Return the tests of results against the first one, which all parts of the page read; ``run`` is the key."""
    data, runs = _read(keys)
    return side_by_side.differences(data, runs, side_by_side.at_most(measures, data.n_labels))


def heads(names) -> dict:
    """Return names above columns, cut only where the page has no room for all of them."""
    return figures.cut_apart(names, max(HEAD, HEADS // len(names)))


def styled(lines) -> pd.DataFrame:
    """Return ``run`` (title), ``model`` and ``place`` of lines, by which figures give colours and marks."""
    models = [experiment.model_style(model, params) for model, params in zip(lines["model"], lines["params"])]
    return pd.DataFrame({"run": lines["title"], "model": models, "place": lines["place"]}, index=lines.index)
