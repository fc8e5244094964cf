"""Names of the nodes of label trees, the same on all pages."""

import numpy as np

from pages.shared import server
from xmlcore import experiment
from xmlcore.models.plt import frames

LETTERS = 20  # length of a name with a number of further labels


def node_name(data, node: int, label: int, first_label: int, n_labels: int, letters: int) -> str:
    """Return what a node is called: ``Root``, its label, or its most frequent label and ``+12`` for 12 others."""
    if node == 0:
        return "Root"
    if label >= 0:
        return data.label_name(label)
    more, first = f" +{n_labels - 1:,}", data.label_name(first_label)
    room = letters - len(more)
    return (first if len(first) <= room else first[: room - 1] + "…") + more


def names_on_path(key: str, data, path) -> list[str]:
    """Return the names of the nodes of a path of a run's model: a table with ``tree``, ``node`` and ``label``."""
    model = experiment.label_tree_model(server.model(key))
    if model is None:  # one classifier per label: its path is one node
        return [data.label_name(int(label)) for label in path["label"]]
    counts = (
        server.description(server.run(key).fingerprint).labels.set_index("label")["n_train"].sort_index().to_numpy()
    )
    names = []
    for t, node, label in zip(path["tree"], path["node"], path["label"]):
        below = frames.labels_below(model.trees_[t], int(node))
        first = below[np.argmax(counts[below])]
        names.append(node_name(data, int(node), int(label), int(first), below.size, LETTERS))
    return names
