"""The selection that the Features page shows, and the figures and tables made from it for all sessions."""

import json

from pages.shared import cached, format
from xmlcore import experiment
from xmlcore.experiment.engine import times
from xmlcore.selection import frames

FEW_STEPS = 300  # training steps; with fewer steps, the network has hardly learned


class ShownSelection:
    """The selection that is shown: its data set, its key, and ``past``, all selections on the data set."""

    weighted = False  # whether features are ranked by score times excess: the page sets what was chosen
    n_bars = 15  # number of features drawn, also set by the page

    def __init__(self, ready):
        self.data, self.fingerprint, self.name = ready.data, ready.fingerprint, ready.name
        self.selection, self.key, self.past = ready.run, ready.key, ready.records
        # How names of downloaded files begin.
        self.files = f"{format.file_name(self.name)}-{format.file_name(self.selection.title)}-{self.key[:6]}"

    def named_features(self, table):
        return table.assign(name=[self.data.feature_name(int(j)) for j in table["feature"]])

    def features_of(self, label):
        table = self.named_features(label_features(self.key, label))
        return table.sort_values("weighted_rank", kind="stable") if self.weighted else table

    @property
    def by_gradient(self) -> bool:
        selection = self.selection
        return not selection.shared and selection.method == "FALS" and selection.params["attribution"] == "gradient"

    @property
    def order_file(self) -> str:
        return "-by-excess" if self.weighted else ""

    @property
    def closest(self):
        """The value of :func:`closest_labels`; None without two labels that have features of their own."""
        if self.selection.shared or self.selection.n_labels < 2:
            return None
        return closest_labels(self.key)


def plan(fingerprint: str, method: str, params: dict) -> dict:
    return _plan(fingerprint, method, json.dumps(params, sort_keys=True), times.changed())


@cached.shared()
def _plan(fingerprint, method, params, learned_at):
    return experiment.selection_plan(cached.dataset(fingerprint), method, json.loads(params))


def few_steps(planned: dict) -> str:
    """Return a note if the network of FALS is trained in few steps, otherwise an empty text."""
    n = planned.get("n_steps", FEW_STEPS)
    return "" if n >= FEW_STEPS else f"The network is trained in only {n:,} steps: choose more epochs."


@cached.shared()
def label_features(key: str, label: int):
    """Return the features that a label keeps, without names: see :func:`xmlcore.selection.frames.label_frame`."""
    selection = cached.selection(key)
    data = cached.dataset(selection.fingerprint)
    parts = (selection.selected, selection.selected_scores, selection.standard_error)
    return frames.label_frame(*parts, label, data.X_train, data.Y_train)


@cached.shared("Ordering labels and features")
def selection_heat(key: str, labels: tuple, most_features: int, weighted: bool):
    selected, scores = best_of(key, labels, weighted)
    table = frames.heat_frame(selected, scores, cached.selection(key).n_features, range(len(labels)), most_features)
    table["label"] = [labels[at] for at in table["label"]]
    return table


def best_of(key: str, labels: tuple, weighted: bool) -> tuple:
    selection, some = cached.selection(key), list(labels)
    if not weighted:
        return selection.selected[some], selection.selected_scores[some]
    data = cached.dataset(selection.fingerprint)
    return frames.weighted(selection.selected, selection.selected_scores, some, data.X_train, data.Y_train)


@cached.shared("Counting the labels’ rows")
def best_names(key: str, labels: tuple, weighted: bool, n: int) -> list[str]:
    data = cached.dataset(cached.selection(key).fingerprint)
    return frames.best_names(best_of(key, labels, weighted)[0], range(len(labels)), data.feature_name, n)


@cached.shared("Comparing labels")
def closest_labels(key: str) -> tuple:
    selection = cached.selection(key)
    order = cached.label_names(selection.fingerprint)["label"].to_numpy()  # by frequency
    return frames.closest_pairs(selection.selected, selection.n_features, order=order)


@cached.shared()
def selection_union(key: str) -> int:
    return experiment.union_of_features(cached.selection(key).selected).size
