"""Few entries in place of many labels: groups of a taxonomy or of the label tree that hold all labels of a set."""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from xmlcore.hierarchy import Hierarchy
from xmlcore.models.rules import Rule, calibrated, innermost
from xmlcore.typing import Matrix
from xmlcore.validation import check_count, check_is, check_list, check_number

ANY = "any label"
NAMED = 3  # labels by which a group of a label tree is called


class Entry(NamedTuple):
    """A label or a group of labels in the description of a set."""

    name: str
    labels: tuple[int, ...]  # ids
    probability: float | None = None  # of a group in the place of labels that are not sure enough


def back_off(
    rule: Rule,
    X: Matrix,
    at_most: int = 5,
    *,
    taxonomy: Hierarchy | Mapping[str, str] | None = None,
    names: Sequence[str] | None = None,
    least: float | None = None,
) -> list[list[Entry]]:
    """Describe the set of labels of each row by a few entries, which are labels or groups of labels.

    Where a set has more labels than entries, groups take their place that together hold all of them: of all ways to do
    so, the one with the fewest labels (docs/decisions.md).

    Parameters
    ----------
    rule : Rule
        From :func:`promise` or :func:`learn`.
    X : rows or texts, as the model takes them
    at_most : int
        The largest number of entries for a row.
    taxonomy : Hierarchy, or dict of str to str, optional
        The group in which each label, or group, is: names, or str of ids where the model has no names of labels; of
        several the first one. A label can be a group, too. The attribute ``hierarchy`` of a data set is one. By default
        the label tree of the model is the taxonomy; its groups are called after their most frequent labels.
    names : sequence of str, optional
        Names of the labels; by default those with which the model was fitted.
    least : float in (0, 1], optional
        A row that gets no label gets the smallest group of at least this probability, if there is one: 1 less the
        product of all 1 - p, where p are the calibrated probabilities of the labels in it that are candidates.

    Returns
    -------
    list of list of Entry
        For each row; a row without labels has none, or a group. All labels together are the group "any label".

    Raises
    ------
    ValueError
        The taxonomy has a circle, or shares no name with the labels; or it is missing and the model has no label tree
        of more than one level.
    """
    at_most = check_count(at_most, "at_most")
    least = None if least is None else check_number(least, "least", 0.0, 1.0, above=True)
    check_is(rule, Rule, "rule", "a Rule, such as learn() or promise() returns,")
    sets = rule.predict(X)
    fitted = getattr(innermost(rule.model), "label_names_", None)  # the ids, where the model has no names
    names = (range(rule.n_labels) if fitted is None else fitted) if names is None else names
    names = [*map(str, check_list(names, "names", "names of labels"))]
    if len(names) != rule.n_labels:
        raise ValueError(f"names has {len(names):,} names, but there are {rule.n_labels:,} labels")
    groups = _of_tree(rule.model, names) if taxonomy is None else _of_taxonomy(names, taxonomy)
    said = [groups.entries(sets.indices[a:b].tolist(), at_most) for a, b in itertools.pairwise(sets.indptr)]
    if least is not None:
        P = calibrated(rule.model, X, rule=rule)
        for row in np.flatnonzero(np.diff(sets.indptr) == 0):
            part = slice(*P.indptr[row : row + 2])
            said[row] = groups.risen(P.indices[part].tolist(), P.data[part].tolist(), least)
    return said


class _Groups:
    """A tree of groups; labels stand at leaves, and at inner nodes too. Node 0 holds all."""

    def __init__(self, parent: list[int], label: list[int], name):
        """Take nodes, parents first, the label of each or -1, and a function from a node to its name."""
        self.parent, self.label, self._name = parent, label, name
        self.place = {j: v for v, j in enumerate(label) if j >= 0}
        self.children: list[list[int]] = [[] for _ in parent]
        self.size = [int(j >= 0) for j in label]
        for v in range(len(parent) - 1, 0, -1):
            self.children[parent[v]].append(v)
            self.size[parent[v]] += self.size[v]
        self._made: dict[tuple[int, bool], Entry] = {}

    def entries(self, labels: list[int], at_most: int) -> list[Entry]:
        if len(labels) <= at_most:
            return [self._entry(self.place[j], False) for j in labels]
        ways = self._ways({self.place[j] for j in labels}, at_most)
        best = min(ways.items(), key=lambda way: (way[1][0], -way[0]))[1]  # of equal ones the most told
        return [self._entry(v, is_group) for v, is_group in sorted(best[1])]

    def risen(self, labels: list[int], probabilities: list[float], least: float) -> list[Entry]:
        """Return the smallest group of at least a probability that is not all labels."""
        missed: dict[int, float] = {}  # node -> the probability that no label below it is a true one
        for j, p in zip(labels, probabilities):
            for v in self._up(self.place[j]):
                missed[v] = missed.get(v, 1.0) * (1 - p)
        sure = [v for v in missed if self.children[v] and self.size[v] < self.size[0] and 1 - missed[v] >= least]
        best = min(sure, key=lambda v: (self.size[v], missed[v]), default=None)
        return [] if best is None else [self._entry(best, True)._replace(probability=1 - missed[best])]

    def _ways(self, own: set[int], at_most: int) -> dict[int, tuple[int, tuple]]:
        # ways[v][n]: labels in the best n entries that hold those of the set below v, and these entries.
        ways: dict[int, dict[int, tuple[int, tuple]]] = {}
        for v in sorted({u for w in own for u in self._up(w)}, reverse=True):  # children first
            below = [ways[c] for c in self.children[v] if c in ways]
            found = {1: (1, ((v, False),))} if v in own else {0: (0, ())}
            for other in below:
                found = _joined(found, other, at_most)
            if len(below) + (v in own) > 1 and (1 not in found or found[1][0] > self.size[v]):
                found[1] = self.size[v], ((v, True),)
            ways[v] = found
        return ways[0]

    def _up(self, v):
        while v >= 0:
            yield v
            v = self.parent[v]

    def _entry(self, v, is_group) -> Entry:
        if (v, is_group) not in self._made:
            labels = sorted(self._below(v)) if is_group else [self.label[v]]
            self._made[v, is_group] = Entry(self._name(v, labels), tuple(labels))
        return self._made[v, is_group]

    def _below(self, v):
        waiting = [v]
        while waiting:
            u = waiting.pop()
            waiting += self.children[u]
            if self.label[u] >= 0:
                yield self.label[u]


def _joined(first, second, at_most):
    joined: dict[int, tuple[int, tuple]] = {}
    for n, (size, entries) in first.items():
        for m, (more, others) in second.items():
            if n + m <= at_most and (n + m not in joined or joined[n + m][0] > size + more):
                joined[n + m] = size + more, entries + others
    return joined


def _of_tree(model, names) -> _Groups:
    inner = innermost(model)
    trees = getattr(inner, "trees_", ())
    if not len(trees) or not hasattr(trees[0], "label") or trees[0].depth.max() < 2:
        raise ValueError("the model has no label tree of more than one level: give a taxonomy")
    frequent = inner.label_counts_

    def name(v, labels):
        if len(labels) == len(names):
            return ANY
        first = sorted(labels, key=lambda j: (-frequent[j], j))[:NAMED]
        more = f", … ({len(labels):,} labels)" if len(labels) > len(first) else ""
        return ", ".join(names[j] for j in first) + more

    return _Groups(trees[0].parent.tolist(), trees[0].label.tolist(), name)


def _of_taxonomy(names, taxonomy) -> _Groups:
    hierarchy = Hierarchy(taxonomy.parents if isinstance(taxonomy, Hierarchy) else taxonomy, names)
    place = {name: v for v, name in enumerate(hierarchy.order, 1)}  # parents come first, and before them what holds all
    label = {name: j for j, name in enumerate(names)}
    parent = [-1] + [place[above[0]] if (above := hierarchy.parents.get(name)) else 0 for name in place]
    order = [ANY, *place]
    return _Groups(parent, [label.get(each, -1) for each in order], lambda v, labels: order[v])
