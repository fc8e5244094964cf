"""What is computed from the predictions of several results; each answer is kept for all sessions."""

import json
from collections import OrderedDict

import pandas as pd

from pages.compare import more
from pages.shared import server
from pages.shared.results import results
from xmlcore import experiment, figures, store
from xmlcore.experiment import side_by_side

# Why results could not be read, by key. Reading a damaged result removes it: only the first reason says what was wrong.
_reasons = OrderedDict()
MOST_REASONS = 1000  # that are kept; the oldest are forgotten
HEIGHT = 380  # of the first figures, in pixels
NAME, HEAD = 40, 20  # letters of a name in a title, and above a column


def middle(line, measure: str) -> str:
    """Return the key of a line's result: of several seeds, the one whose measure is nearest to the mean."""
    if len(line["keys"]) == 1:
        return line["keys"][0]
    return _middle(" ".join(line["keys"]), measure, float(line[measure]), store.changed("runs"))


@server.shared()
def _middle(keys: str, measure: str, mean: float, changed: int) -> str:
    """Return the key of the run whose measure is nearest to the mean, as when the store was changed last."""
    own = experiment.runs(keys.split())
    return own["key"].iloc[int((own[measure] - mean).abs().to_numpy().argmin())]


def readable(keys: list[str], most: int) -> tuple[list[str], dict[str, str]]:
    """Return the keys of the first results, ``most`` at most, whose predictions and data sets can be read."""
    found, unreadable, datasets = [], {}, set()
    for key in keys:
        if len(found) == most:
            break
        try:
            fingerprint = server.run(key).fingerprint
            if fingerprint not in datasets:
                server.dataset(fingerprint)
                datasets.add(fingerprint)
        except (store.StoreError, OSError) as error:
            unreadable[key] = _reasons.setdefault(key, str(error))
            while len(_reasons) > MOST_REASONS:
                _reasons.popitem(last=False)
            continue
        _reasons.pop(key, None)
        found.append(key)
    return found, unreadable


def has_trials(key: str) -> bool:
    return bool(server.run(key).trials)


def _read(keys: str) -> tuple:
    runs = {key: server.run(key) for key in keys.split()}
    return server.dataset(next(iter(runs.values())).fingerprint), runs


def ks(key: str) -> tuple[int, ...]:
    """Return what :func:`pages.shared.results.results.ks` does for the data set of a result."""
    return results.ks(server.dataset(server.run(key).fingerprint).n_labels)


@server.shared("Drawing test rows again")
def _measures(keys: str, further: str):
    data, runs = _read(keys)
    wanted = dict.fromkeys([*side_by_side.COMPARED, *filter(None, further.split("\n"))])
    return side_by_side.measures_with_intervals(data, runs, list(wanted))


def measures(keys: list[str], names: dict, further=()):
    """Return the measures of results on one data set with their intervals; ``run`` is the name."""
    frame = _measures(" ".join(keys), "\n".join(further))
    return frame.assign(run=frame["run"].map(names))


def intervals(keys: list[str], measure: str, further=()) -> pd.DataFrame:
    """Return ``low`` and ``high`` of a measure such as ``P@1`` by the keys of results; empty where it has none."""
    frame, (name, _, k) = _measures(" ".join(keys), "\n".join(further)), measure.rpartition("@")
    return frame[(frame["measure"] == f"{name}@k") & (frame["k"].astype(str) == k)].set_index("run")[["low", "high"]]


@server.shared()
def _measures_figure(keys: str, further: str, compared: str):
    styled = pd.DataFrame(json.loads(compared))
    named = dict(zip(keys.split(), styled["run"]))
    frame = measures(list(named), named, further.split("\n"))
    return figures.measures_compared(frame[frame["measure"].isin(side_by_side.DRAWN)], compared=styled)


def measures_figure(keys: list[str], compared, further):
    return _measures_figure(" ".join(keys), "\n".join(further), json.dumps(compared.to_dict("list")))


@server.shared()
def _buckets(keys: str, k: int):
    return side_by_side.buckets_side_by_side(*_read(keys), k)


def buckets(keys: list[str], names: dict, k: int):
    """Return the measures of head, torso and tail labels of results on one data set; ``run`` is the name."""
    frame = _buckets(" ".join(keys), k)
    return frame.assign(run=frame["run"].map(names))


@server.shared()
def labels(a: str, b: str, k: int):
    data, runs = _read(f"{a} {b}")
    return side_by_side.labels_compared(data, *runs.values(), k)


@server.shared()
def rows(a: str, b: str, k: int):
    data, runs = _read(f"{a} {b}")
    return side_by_side.rows_compared(data, *runs.values(), k)


@server.shared("Testing the differences")
def _tests(keys: str, measures: str):
    data, runs = _read(keys)
    return side_by_side.differences(data, runs, side_by_side.at_most(measures.split("\n"), data.n_labels))


def tests(keys: list[str], names: dict, choice):
    """Return the tests of results against the first one, which all parts of the page read; ``run`` is the name."""
    frame = _tests(" ".join(keys), _tested(choice))
    return frame.assign(run=frame["run"].map(names))


def _tested(choice) -> str:
    return "\n".join([choice.measure, *side_by_side.TESTED, *more.measures(choice.more)])


def first_tests(keys: list[str], names: dict, choice):
    """Return those of the tests that are drawn, in the measures that the first sentence tells of."""
    return _drawn_tests(" ".join(keys), _tested(choice), names)


def _drawn_tests(keys: str, measures: str, names: dict):
    frame = _tests(keys, measures)
    return frame[frame["measure"].isin(side_by_side.told(frame))].assign(run=frame["run"].map(names))


@server.shared()
def _differences_figure(keys: str, compared: str, measures: str):
    styled = pd.DataFrame(json.loads(compared))
    frame = _drawn_tests(keys, measures, dict(zip(keys.split(), styled["run"])))
    (first,) = figures.cut_apart([styled["run"].iloc[0]], NAME).values()
    return figures.differences(frame, f"Better or worse than {first}", styled).update_layout(height=HEIGHT)


@server.shared("Testing the differences")
def _bucket_differences(keys: str, measure: str):
    return side_by_side.differences_of_buckets(*_read(keys), measure)


def bucket_differences(keys: list[str], names: dict, measure: str):
    """Return how head, torso and tail labels differ in a measure from the first result's, with intervals."""
    frame = _bucket_differences(" ".join(keys), measure)
    return frame.assign(run=frame["run"].map(names))


def differences_figure(keys: list[str], compared, choice):
    return _differences_figure(" ".join(keys), json.dumps(compared.to_dict("list")), _tested(choice))


def styled(lines) -> pd.DataFrame:
    """Return ``run`` (title), ``model`` and ``place`` of lines, by which figures give colours and marks."""
    models = [experiment.model_style(model, params) for model, params in zip(lines["model"], lines["params"])]
    return pd.DataFrame({"run": lines["title"], "model": models, "place": lines["place"]}, index=lines.index)
