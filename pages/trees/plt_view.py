"""What the user looks at in a label tree of PLT: a tree, a node, a label, a test row."""

import pandas as pd

from pages.shared import format, label_trees, server
from pages.shared.results import predictions
from pages.shared.view import look, now
from pages.trees import looked_at
from xmlcore import experiment
from xmlcore.models.plt import frames
from xmlcore.models.plt.frames.nodes import label_counts

NAMED = 2  # labels in the name of a node with several labels


class WalkedTree:
    """A label tree of a run, with the index ``t``, and the node of it that is looked at.

    ``nodes`` is the table of all nodes without names, ``quality`` says how well they decide on test rows, or is None
    while that is not measured, and ``files`` begins the names of downloads.
    """

    def __init__(self, key, data, run, model, files, quality=None):
        self.key, self.data, self.run, self.model = key, data, run, experiment.label_tree_model(model)
        self.t = looked_at.tree_number(self.model)
        self.tree, self.nodes, self.quality = self.model.trees_[self.t], nodes(key, self.t), quality
        self.files, self._with_quality = f"{files}-tree{self.t + 1}", None
        node = now().node or 0
        self.node = node if node < self.tree.n_nodes else 0

    @property
    def classifiers(self):
        return self.model.linear_nodes(self.t)

    @property
    def are_probabilities(self) -> bool:
        return predictions.are_probabilities(self.model)

    @property
    def several(self) -> bool:
        return len(self.model.trees_) > 1

    def walk(self, node: int) -> None:
        look(node=node)

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.label[node] >= 0)

    def name(self, node: int) -> str:
        if node == 0:
            return "Root"
        line = self.nodes.iloc[node]
        if self.is_leaf(node):
            return self.data.label_name(int(line["label"]))
        first = [self.data.label_name(int(line[f"label_{i + 1}"])) for i in range(NAMED) if line[f"label_{i + 1}"] >= 0]
        more = int(line["n_labels"]) - len(first)
        return ", ".join(first) + (f" and {more:,} more" if more else "")

    def short_name(self, node: int, letters: int = 20) -> str:
        """Return a name of so many letters: the most frequent label, and ``+12`` for the labels that are not named."""
        return self.short_names(self.nodes.iloc[[node]], letters)[0]

    def short_names(self, frame: pd.DataFrame, letters: int = 20) -> list[str]:
        columns = (frame[name].tolist() for name in ("node", "label", "label_1", "n_labels"))
        return [label_trees.node_name(self.data, *values, letters) for values in zip(*columns)]

    def with_names(self, frame: pd.DataFrame) -> pd.DataFrame:
        named = frame.copy()
        named.insert(named.columns.get_loc("node") + 1, "name", [self.name(int(v)) for v in frame["node"]])
        return named

    def with_quality(self) -> pd.DataFrame:
        if self._with_quality is None:
            self._with_quality = self.nodes if self.quality is None else self.nodes.merge(self.quality.nodes, on="node")
        return self._with_quality


@server.shared("Reading the label tree")
def nodes(key: str, t: int) -> pd.DataFrame:
    data = server.dataset(server.run(key).fingerprint)
    return frames.nodes_frame(experiment.label_tree_model(server.model(key)).trees_[t], data.Y_train)


@server.shared()
def counts(fingerprint: str):
    return label_counts(server.dataset(fingerprint).Y_train)


def share(value: float) -> str:
    return format.percent(value) if value == value else "unknown"
