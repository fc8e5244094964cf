"""Nodes of label trees on all pages: their names, and the table of those that a row passes."""

import numpy as np
import pandas as pd

from pages.shared import cached, tables
from xmlcore import experiment
from xmlcore.figures import cut_apart
from xmlcore.models.plt import frames

LETTERS = 20  # length of a name with a number of further labels
PATH_COLUMNS = (  # column, title, number format or whether it is a score, width in pixels, help
    ("depth", "Depth", "%d", 50, None),
    ("name", "Node", None, 115, "Its label, or its most frequent label and +12 for 12 others at or below it."),
    ("factor", "{} here", True, 78, "Probability of the node given its parent, by its classifier."),
    ("product", "{} so far", True, 90, "Product of the factors so far: at the end, that of the label."),
    ("share", "P, %", True, 52, "Share of the node’s training rows that have the label."),
    ("change", "Change", "{:+.2f}", 62, "Change of P from the node above, in percentage points."),
    ("n_rows", "Rows", "localized", 52, "Training rows of the node."),
    ("margin", "Margin", "{:+.3f}", 60, "Output, for the row, of the classifier that leads to this node."),
    ("node", "Number", "%d", 60, "The Trees page finds nodes by their numbers."),
)


def node_name(data, node: int, label: int, first_label: int, n_labels: int, letters: int) -> str:
    """Return the name of a node: ``Root``, its label, or its most frequent label and ``+12`` for 12 others."""
    if node == 0:
        return "Root"
    if label >= 0:
        return data.label_name(label)
    more, first = f" +{n_labels - 1:,}", data.label_name(first_label)
    return cut_apart([first + more], letters)[first + more]


def names_on_path(key: str, data, path) -> list[str]:
    """Return the names of the nodes of a path of a run's model: a table with ``tree``, ``node`` and ``label``."""
    model = experiment.label_tree_model(cached.model(key))
    if model is None:  # one classifier per label: its path is one node
        return [data.label_name(int(label)) for label in path["label"]]
    counts = (
        cached.description(cached.run(key).fingerprint).labels.set_index("label")["n_train"].sort_index().to_numpy()
    )
    names = []
    for t, node, label in zip(path["tree"], path["node"], path["label"]):
        below = frames.labels_below(model.trees_[t], int(node))
        first = below[np.argmax(counts[below])]
        names.append(node_name(data, int(node), int(label), int(first), below.size, LETTERS))
    return names


def table(nodes: pd.DataFrame, percent: bool):
    """Return the table, its columns' settings and signs; ``percent`` says whether scores are probabilities."""
    several = nodes["tree"].nunique() > 1
    shown = pd.DataFrame({"tree": nodes["tree"] + 1} if several else {})
    config, signs = {"tree": tables.number("Tree", 42, "%d")}, {}
    if "share" in nodes.columns:  # a tree of LdSM, in which a row may go to several leaves
        shown["leaf"] = nodes["leaf"]
        config["leaf"] = tables.number("To leaf", 58, "%d")
    if "log_proba" in nodes.columns:
        nodes = nodes.assign(product=np.exp(nodes["log_proba"]))
    depth, *others, node = PATH_COLUMNS
    for column, label, form, width, help_ in PATH_COLUMNS if "name" in nodes.columns else (depth, node, *others):
        if column not in nodes.columns:
            continue
        in_percent = column == "change" or (form is True and percent)
        shown[column] = 100 * nodes[column] if in_percent else nodes[column]
        if column == "name":
            config[column] = tables.text(label, width, help_)
        elif form is True:
            number_format = (tables.percent_format if percent else tables.score_format)(shown[column])
            label = label.format("P" if percent else "Score") + ", %" * (percent and "%" not in label)
            config[column] = tables.number(label, width, number_format, help_)
        elif form.startswith("{"):
            config[column], signs[column] = tables.number(label, width, help=help_), form
        else:
            config[column] = tables.number(label, width, form, help_)
    return shown, config, signs
