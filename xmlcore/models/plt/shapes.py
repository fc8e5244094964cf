"""Shapes of a label tree: which are worth a trial, what they cost, and how many trees of a shape differ."""

import math
from typing import NamedTuple

from xmlcore._kernels.lanes import LANES
from xmlcore.models.plt.building import has_one_level
from xmlcore.models.plt.parameters import BEST
from xmlcore.models.plt.scaling import scalings_of
from xmlcore.models.plt.trials import RULE, TrialRule, sizes_of_trials
from xmlcore.parameters import AUTO

BINARY = {"arity": 2, "max_leaf_labels": 100}  # napkinXC, Parabel
BEST_TREES = 3
FEW_LABELS = 32  # So few labels are always children of the root.


class Sizes(NamedTuple):
    """The sizes of training data on which the cost of a tree depends."""

    rows: int
    labels: int
    labels_per_row: float

    @property
    def rows_per_label(self) -> float:
        return self.rows * self.labels_per_row / self.labels


def possible_shapes(settings: dict, data: Sizes, clustered: bool = True, rule: TrialRule = RULE) -> list[dict]:
    """Return the shapes of a tree, as ``arity`` and ``max_leaf_labels``, that are worth a trial."""
    # The fewer levels a tree has, the more precise are its predictions; but nodes with many children take longer to
    # train. Where a sample has less than one row for a label, its trials rank shapes otherwise than all rows do: then
    # this returns only the tree of the fewest levels that is affordable.
    arity, leaf = settings["arity"], settings["max_leaf_labels"]
    n_labels, top = data.labels, BINARY["arity"] if arity == AUTO else arity
    if not clustered:
        return [{name: BINARY[name] if settings[name] == AUTO else settings[name] for name in BINARY}]
    if leaf != AUTO and (arity != AUTO or leaf >= n_labels):
        return [{"arity": top, "max_leaf_labels": leaf}]

    def affordable(arity, leaf):
        return relative_cost(data, arity, leaf) <= rule.most_cost

    last = leaf
    if leaf == AUTO:
        if n_labels <= FEW_LABELS or affordable(top, n_labels):
            return [{"arity": top, "max_leaf_labels": n_labels}]
        last = BINARY["max_leaf_labels"]
        while 2 * last < n_labels and affordable(top, 2 * last):
            last *= 2
        if arity != AUTO:
            return [{"arity": arity, "max_leaf_labels": last}]
    shapes = [{"arity": 2, "max_leaf_labels": last}]
    if leaf == AUTO and last > BINARY["max_leaf_labels"]:
        shapes.append(BINARY)
    shapes += _of_few_levels(n_labels, leaf, affordable)
    sampled_rows_per_label = data.rows_per_label * sizes_of_trials(data.rows, rule)[0] / data.rows
    if sampled_rows_per_label < rule.thin:
        return [min(shapes, key=lambda shape: levels_of(n_labels, *shape.values()))]
    return sorted(shapes, key=lambda shape: relative_cost(data, *shape.values()))


def _of_few_levels(n_labels, leaf, affordable) -> list[dict]:
    """Return the wide shape of the fewest levels that is affordable, if any."""
    for levels in range(2, 1 + math.ceil(math.log2(n_labels))):
        arity = 2 ** int(math.log2(n_labels) / levels)
        last = -(-n_labels // arity ** (levels - 1)) if leaf == AUTO else leaf
        if arity > 2 and affordable(arity, last):
            return [{"arity": arity, "max_leaf_labels": last}]
    return []


def differ_by_seed(tree) -> bool:
    """Return whether label trees of this kind differ by their seeds, if they have several levels."""
    return isinstance(tree, str) and tree in ("kmeans", "random")


def trees_asked_for(params: dict) -> int:
    """Return how many trees a PLT trains, if they are not equal."""
    best = params.get("quality") == BEST and differ_by_seed(params["tree"])
    return max(params["n_estimators"], BEST_TREES if best else 1)


def different_trees(params: dict, n_labels: int, shapes: list[dict], normalize: str | None) -> int:
    """Return how many trees a PLT trains that has one of these shapes."""
    # If a model chooses its shape, and all of them have one level, only trees with other scalings of rows differ.
    asked = trees_asked_for(params)
    flat = all(has_one_level(n_labels, *(shape[name] for name in BINARY)) for shape in shapes)
    if not flat or not differ_by_seed(params["tree"]):
        return asked
    if AUTO not in (params["arity"], params["max_leaf_labels"]):
        return params["n_estimators"]
    return min(asked, len(scalings_of(normalize)))


def n_trees_of(params: dict, data: Sizes) -> int:
    """Return how many trees a PLT trains, as far as that is known before it chooses settings."""
    shapes = possible_shapes(params, data, params["tree"] == "kmeans")
    return different_trees(params, data.labels, shapes, params["normalize"])


def levels_of(n_labels: int, arity: int, max_leaf_labels: int) -> int:
    """Return the number of levels of a balanced tree, the root not counted."""
    return 1 + math.ceil(math.log(max(n_labels / max(max_leaf_labels, arity), 1.0), arity))


def relative_cost(data: Sizes, arity: int, max_leaf_labels: int) -> float:
    """Return how many times as long a balanced tree takes to train as a binary one with 100 labels in last nodes."""
    # Time is about in proportion to :func:`vectors`. But nodes of few rows per label, r, need fewer passes: a
    # difference in vectors counts by r / (r + 5); 5 was fitted to seconds of trainings on 25 data sets.
    ratio = vectors(data, arity, max_leaf_labels) / vectors(data, *BINARY.values())
    return 1.0 + (ratio - 1.0) * data.rows_per_label / (data.rows_per_label + 5.0)


def vectors(data: Sizes, arity: int, max_leaf_labels: int) -> float:
    """Return how many vectors of 16 margins a training row needs in one pass over all levels of a balanced tree."""
    # How many nodes of a level it is in is estimated as if labels were drawn independently.
    nodes, total = 1, 0.0
    while data.labels / nodes > max(max_leaf_labels, arity):
        total += _reached(nodes, data.labels_per_row) * max(1.0, arity / LANES)
        nodes *= arity
    return total + _reached(nodes, data.labels_per_row) * max(1.0, data.labels / nodes / LANES)


def _reached(nodes, labels_per_row):
    """Return the expected number of nodes of a level that a row reaches."""
    return nodes * (1.0 - (1.0 - 1.0 / nodes) ** labels_per_row)
