"""Growing one tree (algorithm 1 of Majzoubi and Choromanska, 2020)."""

import heapq
import warnings
from typing import NamedTuple

import numpy as np

from xmlcore._kernels import ldsm_splitting
from xmlcore._kernels.ldsm_rows import TrainingRows
from xmlcore._kernels.ldsm_training import NodeSettings
from xmlcore.arrays import pointers
from xmlcore.models.ldsm.parameters import OPTIMIZERS
from xmlcore.models.ldsm.progress import GrowthProgress, TreeGrowth
from xmlcore.system import check_memory

# After training, weights that add less than 1 / max(number of features, LEAST_WIDTH) to a margin are dropped. With
# fewer features, 1 / features would be too much.
LEAST_WIDTH = 100
ATTEMPT = 1 << 33  # added to the number of a node's random stream at each further attempt to split the node
EPOCH_BYTES = 48  # of the losses of a node after an epoch, as they are measured and as they are kept
MANY_UNDONE = 0.5  # share of the training rows above which a warning says that they are in leaves with an undone split


class Split(NamedTuple):
    """The result of training a node: the rows and labels of its children, and its regressors."""

    row_ptr: np.ndarray  # int64 (M + 1,)
    rows: np.ndarray  # int32, ids of the rows of each child, one child after the other
    hist_ptr: np.ndarray  # int64 (M + 1,)
    hist_labels: np.ndarray  # int32, labels of the rows of each child
    hist_counts: np.ndarray  # int64, number of the child's rows that have the label
    columns: np.ndarray  # int32 (F,), the columns in which a regressor has a weight
    weights: np.ndarray  # float32 (F * M,)
    bias: np.ndarray  # float32 (M,)
    measures: np.ndarray  # float64 (4,), J, balance, integrity, multi-way penalty
    trace: np.ndarray  # float32 (n_epochs, 4)


def node_settings(model, optimizer: str, n_features: int) -> NodeSettings:
    """Return what the training of a node reads; raise MemoryError if its losses take more memory than is free."""
    of = f"the losses of {model.n_epochs:,} epochs"
    check_memory(EPOCH_BYTES * int(model.n_epochs), "LdSM", of, "set n_epochs to a smaller number")
    names = ("learning_rate", "integrity_weight", "multiway_weight", "min_error", "weight_decay")
    numbers = {name: float(getattr(model, name)) for name in names}
    return NodeSettings(
        **numbers,
        arity=int(model.arity),
        n_epochs=int(model.n_epochs),
        trained_weight=numbers["integrity_weight"],
        spread=1.0 / (2 * n_features),
        least=1.0 / max(n_features, LEAST_WIDTH),
        optimizer=OPTIMIZERS[optimizer],
    )


class GrownTree(NamedTuple):
    """A tree as its model keeps it, and how its splits went."""

    arrays: dict[str, np.ndarray]  # a forest of one, in the arrays by which it is saved
    undone: list[int]  # rows of each leaf whose split was undone, or not tried as they are alike
    alike: int  # rows of the leaves that were not split as their rows have equal features


class GrowingTree:
    """A tree while it grows: a value per node, in the order in which nodes are made."""

    def __init__(self, settings: NodeSettings, n_rows: int, labels, counts):
        self.arity = settings.arity
        self.first_child, self.n_samples, self.bias = [-1], [n_rows], [0.0]
        self.histograms = [(labels.astype(np.int32), counts)]
        self.splits = {}  # inner node -> Split
        self.undone, self.alike = [], []  # leaves, as those of GrownTree

    @property
    def n_nodes(self) -> int:
        return len(self.first_child)

    def priority(self, v: int) -> int:
        """Return the number of label occurrences of node ``v``, without those of its most frequent label."""
        counts = self.histograms[v][1]
        return int(counts.sum() - counts.max(initial=0))

    def add_children(self, v: int, split: Split) -> int:
        """Make node ``v`` an inner node, and its children leaves; return the id of the first child."""
        first = self.n_nodes
        self.first_child[v] = first
        for c in range(self.arity):
            part = slice(split.hist_ptr[c], split.hist_ptr[c + 1])
            self.first_child.append(-1)
            self.n_samples.append(int(split.row_ptr[c + 1] - split.row_ptr[c]))
            self.bias.append(float(split.bias[c]))
            self.histograms.append((split.hist_labels[part], split.hist_counts[part].astype(np.int32)))
        self.splits[v] = split._replace(row_ptr=None, rows=None, hist_labels=None, hist_counts=None)
        return first

    def grown(self) -> GrownTree:
        """Return the tree without the many small arrays of a tree that grows, which take twice the memory."""
        measures = np.full((self.n_nodes, 4), np.nan)
        for v, split in self.splits.items():
            measures[v] = split.measures
        splits = [self.splits[v] for v in sorted(self.splits)]
        arrays = dict(
            root=np.array([0, self.n_nodes], np.int32),
            first_child=np.array(self.first_child, np.int32),
            bias=np.array(self.bias, np.float32),
            n_samples=np.array(self.n_samples, np.int64),
            column_ptr=pointers(split.columns.size for split in splits),
            columns=np.concatenate([np.empty(0, np.int32), *(split.columns for split in splits)]),
            weights=np.concatenate([np.empty(0, np.float32), *(split.weights for split in splits)]),
            hist_ptr=pointers(labels.size for labels, _ in self.histograms),
            hist_labels=np.concatenate([labels for labels, _ in self.histograms]).astype(np.int32),
            hist_counts=np.concatenate([counts for _, counts in self.histograms]).astype(np.int32),
            parts=measures,
            trace=np.array([split.trace for split in splits], np.float32).reshape(-1, 4),
        )
        alike = sum(self.n_samples[v] for v in self.alike)
        return GrownTree(arrays, [self.n_samples[v] for v in (*self.undone, *self.alike)], alike)


class Grower:
    """Grow the trees of a model on the same rows; several threads may call :meth:`grow` at once."""

    def __init__(
        self, data: TrainingRows, n_columns, n_labels, settings, max_nodes, n_attempts, keeps, growth: GrowthProgress
    ):
        self.data, self.settings, self.growth = data, settings, growth
        self.n_columns, self.n_labels = n_columns, n_labels
        self.max_nodes, self.n_attempts, self.keeps = max_nodes, n_attempts, keeps

    def grow(self, seed: int) -> GrownTree:
        M, n_rows = self.settings.arity, self.data.ptr.size - 1
        place = np.full(max(self.n_columns, self.n_labels, 1), -1, np.int32)  # working memory of the kernels
        counts = np.bincount(self.data.labels, minlength=self.n_labels)
        tree = GrowingTree(self.settings, n_rows, np.flatnonzero(counts), counts[counts > 0])
        rows_of = {0: np.arange(n_rows, dtype=np.int32)}
        waiting = [(-tree.priority(0), 0)]
        growth = self.growth.tree()
        while waiting and tree.n_nodes + M <= self.max_nodes:
            priority, v = heapq.heappop(waiting)
            if priority == 0:
                break  # all waiting nodes have a single label, so they stay leaves
            rows = rows_of.pop(v)
            alike = rows_are_equal(self.data, rows)
            split = None if alike else self.split(rows, v, place, seed, growth)
            self.growth.say(growth)
            if split is None:
                (tree.alike if alike else tree.undone).append(v)
                growth.end(rows.size, 0, tree.n_nodes)
                continue  # the node stays a leaf
            first = tree.add_children(v, split)
            n_waiting = 0
            for c in range(M):
                rows_of[first + c] = split.rows[split.row_ptr[c] : split.row_ptr[c + 1]]
                priority = tree.priority(first + c)
                heapq.heappush(waiting, (-priority, first + c))
                n_waiting += rows_of[first + c].size if priority else 0
            growth.end(rows.size, n_waiting, tree.n_nodes)
        growth.ended = True
        self.growth.say(growth)
        return tree.grown()

    def split(self, rows, v, place, seed, growth: TreeGrowth) -> Split | None:
        """Train node ``v`` and split its rows among its children."""
        settings, stop = self.settings, self.growth.stop
        for attempt in range(self.n_attempts):
            trace, measures = np.full((settings.n_epochs, 4), np.nan), np.empty(4)
            growth.begin(rows.size, trace)
            status, *result = ldsm_splitting.split_node(
                self.data, rows, place, settings._replace(trained_weight=settings.integrity_weight / 2**attempt),
                seed, v + ATTEMPT * attempt, trace, measures, stop,
            )  # fmt: skip
            if stop[0]:
                return None  # the node is not completely trained; the next progress report raises the exception
            if status == ldsm_splitting.BEYOND:
                raise FloatingPointError(
                    "a regressor's weights are beyond float32: the values of some feature differ by less than float32 "
                    "can represent; scale the features, or use optimizer='nag'"
                )
            if status == ldsm_splitting.MADE or (self.keeps and attempt + 1 == self.n_attempts):
                return Split(*result, measures, trace.astype(np.float32))
        return None


def rows_are_equal(data: TrainingRows, rows: np.ndarray) -> bool:
    """Return whether rows have the same features: a regressor sends all of them the same way."""
    first, starts = data.ptr[rows[0]], data.ptr[rows]
    size = data.ptr[rows[0] + 1] - first
    lists = data.columns, data.values
    return bool((data.ptr[rows + 1] - starts == size).all()) and all(
        (entries[starts + t] == entries[first + t]).all() for t in range(size) for entries in lists
    )


def warn_of_undone_splits(trees: list[GrownTree], integrity_weight: float) -> None:
    """Warn when many training rows are in leaves whose split was undone; the warning says what to change."""
    visits = sum(tree.arrays["n_samples"][tree.arrays["first_child"] < 0].sum() for tree in trees)
    alike = sum(tree.alike for tree in trees)
    undone = [rows for tree in trees for rows in tree.undone]
    if sum(undone) > MANY_UNDONE * visits:
        # A new attempt halves the weight, which does nothing to a weight of 0.
        advice = " Try degenerate_splits='keep', or a larger n_attempts." if integrity_weight > 0 else ""
        if 2 * alike > sum(undone):
            advice = " Most of these rows have the same features as the others in their leaf: no setting parts them."
        splits = f"{len(undone):,} split{'' if len(undone) == 1 else 's'}"
        warnings.warn(
            f"{100 * sum(undone) / visits:.0f} % of the rows end in mixed leaves because {splits} separated nothing: "
            f"one child would have got all rows, or none.{advice}",
            UserWarning,
            stacklevel=6,  # shows the line that called fit
        )
