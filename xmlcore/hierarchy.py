"""Hierarchies of labels: what stands above each label, which may be a label, too, or a group."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import read_only


class Hierarchy:
    """Labels and what stands above them.

    Parameters
    ----------
    parents : dict of str to str, or to sequence of str
        The label or group, or those, in which each label or group is. What is in none is at the top.
    names : sequence of str
        The name of each label.

    Attributes
    ----------
    parents : dict of str to tuple of str
    nodes : list of str
        The labels, and after them the groups.
    above : scipy.sparse.csr_array of bool, shape (L, nodes)
        The nodes that count for each label: itself and all above it, but no group above all labels, as a root is.

    Raises
    ------
    ValueError
        Something is above itself, no label has something above it, or two labels have the same name.
    TypeError
        ``parents`` is no such dict.
    """

    def __init__(self, parents: Mapping[str, str | Sequence[str]], names: Sequence[str]):
        self.parents, self.names = _checked(parents), list(names)
        if twice := next((name for name, n in Counter(self.names).items() if n > 1), None):
            raise ValueError(f"names has {twice!r:.100} more than once: each label has a name of its own")
        if not self.parents.keys() & {*self.names}:
            raise ValueError(
                f"the hierarchy has none of the {len(self.names):,} labels, such as {self.names[0]!r:.100}: give it "
                "names of labels"
            )
        try:  # parents first
            self.order = list(TopologicalSorter(dict.fromkeys(self.names, ()) | self.parents).static_order())
        except CycleError as error:
            raise ValueError(f"the hierarchy has a circle: {' in '.join(error.args[1][::-1]):.300}") from None
        self.nodes = list(dict.fromkeys([*self.names, *self.order]))

    @cached_property
    def above(self) -> sp.csr_array:
        """See the attributes of the class."""
        place, found = {name: v for v, name in enumerate(self.nodes)}, {}
        for name in self.order:
            found[name] = {place[name]}.union(*(found[parent] for parent in self.parents.get(name, ())))
        nodes = [sorted(found[name]) for name in self.names]
        ptr = np.cumsum([0, *map(len, nodes)])
        indices = np.concatenate(nodes).astype(np.int32)
        made = sp.csr_array((np.ones(indices.size, bool), indices, ptr), shape=(len(nodes), len(self.nodes)))
        counts = np.bincount(indices, minlength=made.shape[1])
        made.data[(indices >= len(nodes)) & (counts[indices] == len(nodes))] = False
        made.eliminate_zeros()
        read_only((made.data, made.indices, made.indptr))
        return made

    def of_entries(self, row: np.ndarray, labels: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and nodes, as one number each, of all that labels of rows stand for; and the place of its label.

        Labels that the hierarchy does not have, up to ``most``, stand for themselves.
        """
        n_labels, n_nodes = self.above.shape
        width, known = n_nodes + most + 1, np.flatnonzero(labels < n_labels)
        of_known = self.above[labels[known]]
        at = np.concatenate([np.repeat(known, np.diff(of_known.indptr)), others := np.flatnonzero(labels >= n_labels)])
        nodes = np.concatenate([of_known.indices, n_nodes + labels[others]])
        order = np.argsort(at, kind="stable")
        return (row[at].astype(np.int64) * width + nodes)[order], at[order]


def _checked(parents) -> dict[str, tuple[str, ...]]:
    if not isinstance(parents, Mapping):
        raise TypeError(f"a hierarchy is a dict of the group of each label, not {type(parents).__name__}")
    found = {
        name: tuple(above) if isinstance(above, Iterable) and not isinstance(above, str) else (above,)
        for name, above in parents.items()
    }
    for name, above in found.items():
        if not all(isinstance(one, str) and one for one in (name, *above)):
            raise TypeError(f"the hierarchy has {name!r:.60} in {above!r:.100}: names of labels and groups are strings")
    return found
