"""How far trees have grown: progress of LdSM's training, also while one large node takes long."""

import math
import threading
import time

import numpy as np

from xmlcore.progress import Progress, silent

PHASE = "Growing trees"
EVERY = 0.5  # seconds between looks at the nodes in training


class TreeGrowth:
    """Work done on one tree, and an estimate of what is left: rows that were at nodes, by passes over them.

    Waiting nodes are expected to be split, level by level, until the tree has its most nodes; at every level they hold
    as many rows as now. So the estimate follows what the tree does: rows that go several ways add to it, and leaves
    take theirs away.
    """

    def __init__(self, n_rows, n_epochs, max_nodes, arity):
        self.n_epochs, self.max_nodes, self.arity = n_epochs, max_nodes, arity
        self.done, self.waiting, self.nodes, self.ended = 0, n_rows, 1, False
        self.node, self.furthest = None, 0.0

    def begin(self, n_rows, trace):
        """A node of so many rows is trained; each epoch fills a row of ``trace``, which starts as nan."""
        self.node = n_rows, trace

    def end(self, n_rows, n_children_rows, nodes):
        """A node was split, or was not: then its children have no rows. ``nodes``: those of the tree."""
        self.node = None
        self.done += n_rows
        self.waiting += n_children_rows - n_rows
        self.nodes = nodes

    def fraction(self):
        """Share of the work that is done, in [0, 1]; it never falls."""
        if self.ended:
            return 1.0
        # In this order: a node that ends meanwhile must not count twice.
        done, waiting, nodes, node = self.done, self.waiting, self.nodes, self.node
        n_rows, part = 0, 0.0
        if node is not None:
            n_rows, trace = node
            part = n_rows * float(np.isfinite(trace[:, 1]).sum()) / self.n_epochs
        levels = math.log(self.max_nodes / nodes, self.arity)
        left = max(max(waiting * levels, n_rows) - part, 1.0)  # not all is done before the tree has ended
        self.furthest = max(self.furthest, (done + part) / (done + part + left))
        return self.furthest


class Growth:
    """Progress of all trees: threads tell of their nodes, and one more looks after nodes that take long.

    Within an epoch of a node nothing is reported, and nothing stops.

    A context: after it nothing calls ``progress`` any more.

    Attributes
    ----------
    stop : uint8 (1,)
        For kernels: 1 from when ``progress`` raised, or :meth:`halt` was called.
    """

    def __init__(self, progress: Progress, n_trees: int, max_nodes: int, arity: int, n_epochs: int, n_rows: int):
        self.progress, self.n_trees = progress, n_trees
        self.sizes = n_rows, n_epochs, max_nodes, arity
        self.fractions, self.stop, self.stopped = {}, np.zeros(1, np.uint8), None
        self.lock, self.over, self.reported = threading.Lock(), threading.Event(), 0.0
        self.thread = None if progress is silent else threading.Thread(target=self._look_after, daemon=True)

    def __enter__(self):
        self.progress(PHASE, 0.0, f"0 of {self.n_trees:,} trees")
        if self.thread is not None:
            self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        if self.thread is not None:
            self.thread.join()
        if kind is None and self.stopped is not None:  # by the last report
            raise self.stopped

    def halt(self, error: BaseException):
        """End all training: kernels stop, and threads that report raise ``error``, or what was raised first."""
        self.stopped = error if self.stopped is None else self.stopped
        self.stop[0] = 1

    def tree(self) -> TreeGrowth:
        """The growth of a tree that begins."""
        tree = TreeGrowth(*self.sizes)
        with self.lock:
            self.fractions[tree] = 0.0
        return tree

    def say(self, *trees, silence=0.0):
        """Report, with what is new of these trees, unless the last report was less than ``silence`` seconds ago.

        What ``progress`` raises is raised here, in this thread and in all others that report.
        """
        with self.lock:
            if self.stopped is not None:
                raise self.stopped
            if time.monotonic() - self.reported < silence:
                return
            for tree in trees:
                self.fractions[tree] = tree.fraction()
            ended = sum(fraction == 1.0 for fraction in self.fractions.values())
            try:
                self.progress(
                    PHASE, sum(self.fractions.values()) / self.n_trees, f"{ended:,} of {self.n_trees:,} trees"
                )
            except BaseException as error:
                self.halt(error)
                raise
            self.reported = time.monotonic()

    def _look_after(self):
        while not self.over.wait(EVERY):
            try:
                with self.lock:
                    trees = list(self.fractions)
                self.say(*trees, silence=EVERY)
            except BaseException as error:  # the threads that grow trees raise it
                self.halt(error)
                return
