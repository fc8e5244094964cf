"""Sentences about selections."""

import re

import numpy as np

from pages.features.view import plan
from pages.shared import format, tasks
from xmlcore.selection import frames

FEW_STEPS = 300  # training steps; with fewer steps, the network has hardly learned
RARE = 5  # a feature that occurs in at most this many training rows is rare
MANY = 0.1  # a note is shown if so large a share of the labels has few rows
RARE_HELP = (
    "A gradient says what would change an output most, whether or not rows have it. To predict from the features, keep "
    "it: on seven of eight data sets decision trees were better with them than with those of the attribution "
    "“DeepLIFT”. To read what a label’s rows are about, choose “DeepLIFT”: it counts a feature only in rows that have "
    "it."
)
BEST = 3  # first features of each label that are checked for being rare


SCORING = {
    "exact": "Scores are computed from all training rows.",
    "sampled": "Scores are estimated from a sample of rows for each label.",
}


def expected_cost(task) -> str:
    planned = plan(task.fingerprint, task.params["method"], task.params["params"])
    memory = format.size(planned["bytes"])
    cost = f"This takes {tasks.takes(planned['seconds'], task)}, and {memory} of memory in addition to the data."
    return " ".join(filter(None, (cost, SCORING.get(planned.get("scoring")), few_steps_note(planned))))


def few_steps_note(planned: dict) -> str:
    """Return a note if the network of FALS is trained in few steps, otherwise an empty text."""
    n = planned.get("n_steps", FEW_STEPS)
    if n >= FEW_STEPS:
        return ""
    return f"The network is trained in only {n:,} steps, because there are few rows: choose more epochs."


def rare(data, selection) -> str:
    """Return a note if the features of largest score of most labels are rare; otherwise an empty text."""
    if selection.method != "FALS" or selection.params["attribution"] != "gradient":
        return ""
    median_rows = frames.rows_of_best_features(selection.selected, data.X_train, BEST)
    if median_rows > RARE:
        return ""
    rows = format.count(int(median_rows), "training row")
    return f"Of the three features of largest score of each label, half occur in at most {rows}."


def few_rows(data, selection) -> str:
    """Return a note if many labels have few training rows or none; otherwise an empty text."""
    if selection.shared:
        return ""
    rows = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    few, none = int((rows <= RARE).sum()), int((rows == 0).sum())
    if few < MANY * data.n_labels:
        return ""
    return (
        f"{few:,} of {format.count(data.n_labels, 'label')} have at most {format.count(RARE, 'training row')}"
        + (f", {none:,} of them none" if none else "")
        + f": most of the {format.count(selection.n_selected, 'feature')} that each of these keeps say little of it."
    )


def with_names(data, warning: str) -> str:
    for noun, name, n in (("feature", data.feature_name, data.n_features), ("label", data.label_name, data.n_labels)):

        def named(match, name=name, n=n):
            return f"“{name(int(match[1]))}”" if int(match[1]) < n else match[0]

        warning = re.sub(rf"\b{noun} (\d+)\b", named, warning)
    return warning[:1].upper() + warning[1:]
