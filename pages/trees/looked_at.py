"""What the user looks at on the Trees page: a tree, a part of the tree, a node, a test row or a label.

These choices are in the address of the page: see pages.shared.view.
"""

import numpy as np

from pages.shared.view import look, now
from xmlcore.models.ldsm import frames as tree_frames

MODES = ("Part of the tree", "Path of a test row", "Rows of a label")
PART, PATH, LABEL = 0, 1, 2
LEVELS = 4  # levels drawn at first; fewer when that would be more than FIRST_NODES nodes
FIRST_NODES = 63
MOST_NODES, MOST_LEVELS = 400, 12  # nodes and levels drawn at most
FIRST_OF_LABEL = 100  # nodes of a label drawn at first: few, so that the text on a node is near the table above
LEAST_OF_LABEL = 10  # the smallest number of nodes of a label that the user can choose


def tree_number(model) -> int:
    return min(now().tree or 0, len(model.trees_) - 1)


class DrawnTree:
    """What is drawn of a tree: the nodes below a node, the path of a test row, or where the rows of a label went.

    ``t`` is the tree's index, ``node`` the node looked at, ``top`` the one with which the drawing begins, and ``fit``
    the most ``levels`` that can be drawn below it. Only PATH has ``leaves``, those that the row reaches, and only LABEL
    has ``label``, ``rows_with_label`` (in each node), ``label_leaves`` and ``most``, the most nodes drawn.
    """

    def __init__(self, key, t, tree, row, data, model, mode, label):
        self.key, self.t, self.tree, self.row, self.data, self.model = key, t, tree, row, data, model
        self.mode, self.label = mode, label
        n = tree.parent.size
        self.top = self._within(now().top, n)
        self.fit = min(tree_frames.levels_that_fit(tree, self.top, MOST_NODES), MOST_LEVELS)
        first = min(LEVELS, tree_frames.levels_that_fit(tree, 0, FIRST_NODES))
        self.levels = min(max(now().levels or first, 1), self.fit)
        self.leaves = None
        if mode == LABEL:
            self._of_label()
        elif mode == PATH:
            self.leaves = np.sort(model.apply(data.X_test[[row]], n_trees=t + 1).of(0, t))
            visited = tree_frames.visited(tree, self.leaves)
            self.nodes = tree_frames.with_siblings(tree, visited)
            if self.nodes.size > MOST_NODES:  # the row reaches most of the tree: draw only nodes that it reaches
                self.nodes = visited
            self.node = now().node if now().node in self.nodes.tolist() else int(self.leaves[0])
        else:
            self.nodes = tree_frames.below(tree, self.top, self.levels)
            node = self._within(now().node, n)
            self.node = node if node in self.nodes else self.top

    def _of_label(self):
        """Find the nodes that hold the label's rows; at first, the leaf with most of these rows is looked at."""
        self.rows_with_label = tree_frames.rows_with_label(self.tree, self.label)
        self.label_leaves = tree_frames.leaves_of_label(self.tree, self.label)
        first = int(self.label_leaves["node"].iloc[0]) if len(self.label_leaves) else 0
        node = now().node if (now().node or 0) < self.rows_with_label.size and now().node is not None else first
        self.most = min(max(now().most or FIRST_OF_LABEL, LEAST_OF_LABEL), MOST_NODES)
        self.nodes = tree_frames.nodes_of_label(self.tree, self.label, self.most, node)
        self.node = node if node in self.nodes else first

    @staticmethod
    def _within(node, n):
        return node if node is not None and node < n else 0

    def choose(self, node):
        """Look at a node; the drawing then begins with it if the node or its children are not drawn."""
        inner = self.tree.children[node, 0] >= 0
        drawn = node in self.nodes
        has_label = self.mode == LABEL and (drawn or self.rows_with_label[node])
        undrawn = not drawn or (inner and self.tree.children[node, 0] not in self.nodes)
        if undrawn and not has_label and not (self.mode == PATH and drawn):
            look(node=node, top=node if inner else max(int(self.tree.parent[node]), 0), mode=PART)
        else:
            look(node=node)

    def draw_from(self, node):
        look(node=node, top=node, mode=PART)

    @property
    def label_name(self) -> str:
        return self.data.label_name(self.label)

    def follow(self, label):
        look(of=label, node=self.node, mode=LABEL)
