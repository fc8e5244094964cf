"""Report the progress of growing trees, also while a single large node is trained."""

import math
import threading
import time

import numpy as np

from xmlcore.progress import Progress, silent

PHASE = "Growing trees"
EVERY = 0.5  # seconds between two reports while nodes are trained


class TreeGrowth:
    """The work done on one tree, and an estimate of the remaining work.

    The work on a node is its number of rows. The estimate assumes that the waiting nodes are split level by level until
    the tree has ``max_nodes``, and that each level has as many rows as wait now.
    """

    def __init__(self, n_rows, n_epochs, max_nodes, arity):
        self.n_epochs, self.max_nodes, self.arity = n_epochs, max_nodes, arity
        self.done, self.waiting, self.nodes, self.ended = 0, n_rows, 1, False
        self.node, self.furthest = None, 0.0

    def begin(self, n_rows, trace):
        self.node = n_rows, trace

    def end(self, n_rows, n_children_rows, nodes):
        self.node = None
        self.done += n_rows
        self.waiting += n_children_rows - n_rows
        self.nodes = nodes

    def fraction(self):
        """Return the finished share of the work, in [0, 1]; it never falls."""
        if self.ended:
            return 1.0
        # The node is read last: if another thread ends it in the meantime, its work is not counted twice.
        done, waiting, nodes, node = self.done, self.waiting, self.nodes, self.node
        n_rows, part = 0, 0.0
        if node is not None:
            n_rows, trace = node
            part = n_rows * float(np.isfinite(trace[:, 1]).sum()) / self.n_epochs
        levels = math.log(self.max_nodes / nodes, self.arity)
        remaining = max(max(waiting * levels, n_rows) - part, 1.0)  # above 0 until the tree has ended
        self.furthest = max(self.furthest, (done + part) / (done + part + remaining))
        return self.furthest


class GrowthProgress:
    """Progress of all trees of a model, as a context manager; after it no thread calls ``progress`` any more.

    The threads that grow trees report after each node. A further thread reports every half second while nodes are
    trained. Kernels read ``stop``, uint8 (1,), after each epoch.
    """

    def __init__(self, progress: Progress, n_trees: int, max_nodes: int, arity: int, n_epochs: int, n_rows: int):
        self.progress, self.n_trees = progress, n_trees
        self.sizes = n_rows, n_epochs, max_nodes, arity
        self.fractions, self.stop, self.stopped = {}, np.zeros(1, np.uint8), None
        self.lock, self.over, self.reported = threading.Lock(), threading.Event(), 0.0
        self.thread = None if progress is silent else threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        """Report the start, and start the thread that reports while nodes are trained."""
        self.progress(PHASE, 0.0, f"0 of {self.n_trees:,} trees")
        if self.thread is not None:
            self.thread.start()
        return self

    def __exit__(self, kind, *_):
        """End the reporting thread, and raise the exception that its last report raised, if any."""
        self.over.set()
        if self.thread is not None:
            self.thread.join()
        if kind is None and self.stopped is not None:
            raise self.stopped

    def halt(self, error: BaseException):
        """Stop all training: kernels return after the current epoch, and every further report raises an exception."""
        self.stopped = error if self.stopped is None else self.stopped
        self.stop[0] = 1

    def tree(self) -> TreeGrowth:
        """Return the record of a new tree's growth, which counts in all further reports."""
        tree = TreeGrowth(*self.sizes)
        with self.lock:
            self.fractions[tree] = 0.0
        return tree

    def say(self, *trees, silence=0.0):
        """Report the progress of all trees, after updating the fractions of the given trees."""
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
        """Report the progress of all trees every half second, until the ``with`` block ends; runs in a thread."""
        while not self.over.wait(EVERY):
            try:
                with self.lock:
                    trees = list(self.fractions)
                self.say(*trees, silence=EVERY)
            except BaseException as error:  # the threads that grow trees raise it
                self.halt(error)
                return
