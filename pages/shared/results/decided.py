"""The decision that is kept with a result, on Predict: which labels its model predicts."""

import pandas as pd

from pages.shared import cached, format
from pages.shared.workspaces import workspace
from pages.shared.workspaces.tab_view import DECISION
from xmlcore import experiment, store
from xmlcore.experiment.kinds.decide import AMONG, PROMISE, among, deciding, is_decision, without_labels  # noqa: F401
from xmlcore.models.rules import CUT


def kept(run_key: str, widgets: dict | None = None) -> str | None:
    """Return the decision that is kept with the model of a result: a measure, a threshold, or a promise."""
    name = (workspace.get("widgets") if widgets is None else widgets).get(f"{DECISION}{run_key}")
    return name if is_decision(name) else None


def in_force(run_key: str, widgets: dict | None = None) -> str | None:
    """Return the decision that is kept with the model of a result, if it has been learnt."""
    name = kept(run_key, widgets)
    return None if name is None or outcome(run_key, name) is None else name


@cached.shared()
def _model(run_key: str, name: str | None):
    return deciding(cached.model(run_key), run_key, name)


def model(run_key: str):
    return _model(run_key, in_force(run_key))


def outcome(run_key: str, name: str) -> pd.Series | None:
    """Return the measures of a decision on the test rows of a result; None if it has not been learnt."""
    task = experiment.task("decide", {"run": run_key})
    try:
        return cached.loaded(task).line(name) if task.exists() else None
    except (store.StoreError, ValueError):  # damaged; or the held-out rows are others, and it cannot be promised
        return None


def keep(run_key: str, name: str | None) -> None:

    def change(data):
        data["widgets"].pop(f"{DECISION}{run_key}", None)
        if name is not None:
            data["widgets"][f"{DECISION}{run_key}"] = name

    workspace.update(change)


def title(name: str) -> str:
    if AMONG in name:
        ids = name.partition(AMONG)[2]
        return f"{title(without_labels(name))}, {'without' if ids[0] == '-' else 'among'} {ids.count(';') + 1:,} labels"
    for kind, noun in {CUT: "threshold", PROMISE: "promised recall"}.items():
        if name.startswith(kind):
            return f"{noun} {format.significant(100 * float(name.removeprefix(kind)))} %"
    return name
