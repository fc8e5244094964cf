"""What the Features page says about a selection."""

import re

import numpy as np

from pages.shared import format

FEW_STEPS = 300  # of training, below which the network has hardly learnt
RARE = 5  # training rows; of features at the top


def few_steps(estimate: dict) -> str:
    """What to think of a network that is trained in few steps; empty for any other."""
    n = estimate.get("n_steps", FEW_STEPS)
    return f"Only {n:,} training steps, as rows are few: more epochs are advisable." if n < FEW_STEPS else ""


def by_gradient(found) -> bool:
    """Whether scores are gradients, which do not ask what rows have."""
    return found.method == "FALS" and found.params["attribution"] == "gradient"


def rare(data, found) -> str:
    """What to say where the first features of labels hardly occur; empty where they do."""
    if not by_gradient(found):
        return ""
    counts = np.bincount(data.X_train.indices, minlength=data.n_features)
    middle = float(np.median(counts[found.selected[:, :3]]))
    if middle > RARE:
        return ""
    return (
        f"Half of the first three features of labels occur in at most {format.count(int(middle), 'training row')}. A "
        "gradient asks what would change an output most, whether or not rows have it. For features that a label’s "
        "rows do have, choose the attribution “deeplift”, which counts one only where it occurs."
    )


def with_names(data, warning: str) -> str:
    """A warning of the package with names in the place of ids."""
    for what, name, n in (("feature", data.feature_name, data.n_features), ("label", data.label_name, data.n_labels)):

        def named(found, name=name, n=n):
            return f"“{name(int(found[1]))}”" if int(found[1]) < n else found[0]

        warning = re.sub(rf"\b{what} (\d+)\b", named, warning)
    return warning[:1].upper() + warning[1:]
