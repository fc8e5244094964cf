"""Progress of growing trees, also while one large node takes long."""

import math
import threading
import time

import numpy as np

from xmlcore.progress import Progress, silent

PHASE = "Growing trees"
EVERY = 0.5  # seconds between reports while nodes are trained


class TreeGrowth:
    """The work done on one tree, and an estimate of the work left.

    Work is counted in rows of nodes that were trained. The estimate assumes that nodes which wait are split level by
    level until the tree has ``max_nodes``, and that each level holds as many rows as wait now. So it follows what the
    tree does: rows that go several ways add to it, and leaves take their rows away.

    Parameters
    ----------
    n_rows, n_epochs, max_nodes, arity : int
    """

    def __init__(self, n_rows, n_epochs, max_nodes, arity):
        self.n_epochs, self.max_nodes, self.arity = n_epochs, max_nodes, arity
        self.done, self.waiting, self.nodes, self.ended = 0, n_rows, 1, False
        self.node, self.furthest = None, 0.0

    def begin(self, n_rows, trace):
        """Note that a node of ``n_rows`` rows is trained; each epoch fills a row of ``trace``, which starts as nan."""
        self.node = n_rows, trace

    def end(self, n_rows, n_children_rows, nodes):
        """Note that the node is done.

        Parameters
        ----------
        n_rows : int
            Its rows.
        n_children_rows : int
            Rows of those of its children that can be split; 0 if it was not split.
        nodes : int
            Nodes of the tree so far.
        """
        self.node = None
        self.done += n_rows
        self.waiting += n_children_rows - n_rows
        self.nodes = nodes

    def fraction(self):
        """Return the share of the work that is done, in [0, 1]; it never falls."""
        if self.ended:
            return 1.0
        # Read in this order: another thread may end the node meanwhile, which must not count twice.
        done, waiting, nodes, node = self.done, self.waiting, self.nodes, self.node
        n_rows, part = 0, 0.0
        if node is not None:
            n_rows, trace = node
            part = n_rows * float(np.isfinite(trace[:, 1]).sum()) / self.n_epochs
        levels = math.log(self.max_nodes / nodes, self.arity)
        left = max(max(waiting * levels, n_rows) - part, 1.0)  # some work is left until the tree has ended
        self.furthest = max(self.furthest, (done + part) / (done + part + left))
        return self.furthest


class Growth:
    """Progress of all trees of a model.

    The threads that grow trees report after each node. One more thread reports while nodes take long. Within an epoch
    of a node nothing is reported, and nothing stops.

    This is a context manager: after its block nothing calls ``progress`` any more.

    Parameters
    ----------
    progress : callable
        See :class:`xmlcore.progress.Progress`.
    n_trees, max_nodes, arity, n_epochs, n_rows : int

    Attributes
    ----------
    stop : ndarray of uint8, shape (1,)
        For kernels: 1 after ``progress`` raised an exception or :meth:`halt` was called.
    """

    def __init__(self, progress: Progress, n_trees: int, max_nodes: int, arity: int, n_epochs: int, n_rows: int):
        self.progress, self.n_trees = progress, n_trees
        self.sizes = n_rows, n_epochs, max_nodes, arity
        self.fractions, self.stop, self.stopped = {}, np.zeros(1, np.uint8), None
        self.lock, self.over, self.reported = threading.Lock(), threading.Event(), 0.0
        self.thread = None if progress is silent else threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.progress(PHASE, 0.0, f"0 of {self.n_trees:,} trees")
        if self.thread is not None:
            self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        if self.thread is not None:
            self.thread.join()
        if kind is None and self.stopped is not None:  # the last report raised it
            raise self.stopped

    def halt(self, error: BaseException):
        """Stop all training: kernels end, and threads that report raise ``error``, or what was raised before it."""
        self.stopped = error if self.stopped is None else self.stopped
        self.stop[0] = 1

    def tree(self) -> TreeGrowth:
        """Return the growth of a further tree."""
        tree = TreeGrowth(*self.sizes)
        with self.lock:
            self.fractions[tree] = 0.0
        return tree

    def say(self, *trees, silence=0.0):
        """Report the progress of all trees, after reading that of the given ones.

        What ``progress`` raises is raised here, in this thread and in all others that report.

        Parameters
        ----------
        *trees : TreeGrowth
        silence : float
            Nothing is reported if the last report was less than so many seconds ago.
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

    def _watch(self):
        while not self.over.wait(EVERY):
            try:
                with self.lock:
                    trees = list(self.fractions)
                self.say(*trees, silence=EVERY)
            except BaseException as error:  # the threads that grow trees raise it
                self.halt(error)
                return
