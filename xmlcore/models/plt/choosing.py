"""Choose the settings of a label tree that are "auto", by a few trials on a sample of the training rows."""

import math
import time
from typing import Any, NamedTuple

import numpy as np

from xmlcore._kernels.lanes import LANES
from xmlcore.models.plt.training import TrainingRows
from xmlcore.parameters import AUTO
from xmlcore.progress import Progress, silent

TYPES = {"arity": int, "max_leaf_labels": int, "loss": str, "C": float}  # of the parameters that can be "auto"
NAMES = tuple(TYPES)
CHOOSING = "Choosing settings"  # Phase that progress reports while settings are tried.
KS = (1, 3, 5)  # Trials are compared by P@k at these k.

# Published values: they are used where nothing can be tried, and searches for C begin there (for all rows).
BINARY = {"arity": 2, "max_leaf_labels": 100}  # napkinXC, Parabel
PUBLISHED_C = {"logistic": 10.0, "squared_hinge": 1.0}  # napkinXC, Parabel

LEAST_ROWS = 400  # With fewer training rows nothing is tried.
SAMPLE_SHARE = 1 / 16  # Share of the rows on which a trial is trained, between these numbers of rows:
SAMPLE_LEAST, SAMPLE_MOST = 1500, 20_000
MEASURED_MOST = 10_000  # Largest number of other rows on which trials are measured.

# These and the constants of C below were set by hand, by training time and by precision on the test rows of twelve data
# sets of 6 to 15,952 labels: see docs/methods/plt.md.
FLAT_COST = 6.5  # A tree of one level is used if it costs at most this many times as much as a binary tree.
WIDE_COST = 2.5  # The same for trees of more levels with wide nodes.
WIDE_GAIN = 0.02  # A tree of wide nodes replaces the binary tree if it is better by this share.
FEW_LABELS = 32  # So few labels are always children of the root.

C_FACTOR = 4.0  # Factor between neighbouring trials of C.
C_POWER = -0.4  # The C for a sample is the C for all rows times this power of the share of the rows.
C_TRUST = 0.5  # Weight of the trials against the published C, where the sample is a small share of the rows.


class Choice(NamedTuple):
    """The settings that a tree is trained with, and the trials that led to them."""

    settings: dict[str, Any]  # a value for each of NAMES
    trials: list[dict[str, Any]]  # in the order in which they were made; see PLT.chosen_


def choose(settings, X, Y, clustered: bool, entropy: int, fit, progress: Progress = silent) -> Choice:
    """Choose the settings that are "auto".

    Each trial trains one tree on a sample of the rows and measures P@1, P@3 and P@5 on other rows. The trials first
    compare shapes of the tree, then values of C. The C that is best on the sample is translated to all rows.

    Parameters
    ----------
    settings : dict
        A value or "auto" for each of ``NAMES``.
    X : csr_array of float32, shape (N, D)
    Y : csr_array of bool, shape (N, L)
    clustered : bool
        Whether the tree is built by clustering: only then ``arity`` and ``max_leaf_labels`` are chosen by trials.
    entropy : int
        The sample depends on this number.
    fit : callable
        ``fit(rows, settings, tree, progress)`` returns a PLT of one tree, which is ``tree`` if that is not None, fitted
        to a :class:`xmlcore.models.plt.training.TrainingRows`.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    Choice
        It depends on ``entropy``, the data and the given settings only; times are written down, but decide nothing.
    """
    settings = {name: value if value == AUTO else TYPES[name](value) for name, value in settings.items()}
    if AUTO not in settings.values():
        return Choice(settings, [])
    n_rows, n_labels = Y.shape
    shapes = possible_shapes(settings, n_labels, Y.nnz / n_rows, clustered)
    only_shape_is_open = settings["loss"] != AUTO and settings["C"] != AUTO
    if n_rows < LEAST_ROWS:
        return Choice(published_settings(settings), [])
    if len(shapes) == 1 and only_shape_is_open:
        return Choice(settings | shapes[0], [])
    trials = Trials(X, Y, entropy, fit, progress, most=len(shapes) + 2)
    if trials.impossible:
        return Choice(published_settings(settings), [])
    loss = "squared_hinge" if settings["loss"] == AUTO else settings["loss"]
    C = trials.on_sample(PUBLISHED_C[loss]) if settings["C"] == AUTO else settings["C"]
    first = [trials.run(shape | {"loss": loss, "C": C}) for shape in shapes]
    best = max(first[1:], key=lambda trial: trial["score"], default=first[0])
    if best["score"] < first[0]["score"] * (1 + WIDE_GAIN) or not trials.differ(first[0], best):
        best = first[0]
    shape = {name: best[name] for name in BINARY}
    if settings["C"] == AUTO:
        C = trials.on_all_rows(_best_C(trials, best), loss)
    elif settings["loss"] == AUTO:
        other = trials.run(shape | {"loss": "logistic", "C": C})
        loss = "logistic" if other["score"] > best["score"] else loss
    progress(CHOOSING, 1.0, f"{len(trials.made)} trials")
    return Choice(shape | {"loss": loss, "C": C}, trials.made)


def possible_shapes(settings: dict, n_labels: int, labels_per_row: float, clustered: bool = True) -> list[dict]:
    """Return the shapes of a tree, as ``arity`` and ``max_leaf_labels``, that are worth a trial.

    The fewer levels a tree has, the fewer factors a label's probability has, and the more precise are the predictions;
    but nodes with many children take longer to train. So this returns a tree of one level where that is affordable.
    Otherwise it returns a binary tree whose last nodes have as many labels as is affordable, and a tree of the fewest
    levels that is affordable with nodes of about equally many children, or with the given ``max_leaf_labels``.

    Parameters
    ----------
    settings : dict
        ``arity`` and ``max_leaf_labels``, each a number or "auto".
    n_labels : int
    labels_per_row : float
    clustered : bool
        Whether the tree is built by clustering; shapes of other trees are not tried.

    Returns
    -------
    list of dict
        At least one; the first is the one to use if nothing can be tried.
    """
    arity, leaf = settings["arity"], settings["max_leaf_labels"]
    if not clustered:
        return [{name: BINARY[name] if settings[name] == AUTO else settings[name] for name in BINARY}]
    if arity != AUTO and leaf != AUTO:
        return [{"arity": arity, "max_leaf_labels": leaf}]

    def cost(arity, leaf):
        """Return the relative cost of training; see :func:`relative_cost`."""
        return relative_cost(n_labels, labels_per_row, arity, leaf)

    binary = cost(*BINARY.values())
    if leaf == AUTO:
        top = 2 if arity == AUTO else arity
        if n_labels <= FEW_LABELS or cost(top, n_labels) <= FLAT_COST * binary:
            return [{"arity": top, "max_leaf_labels": n_labels}]
        leaf = BINARY["max_leaf_labels"]
        while 2 * leaf < n_labels and cost(top, 2 * leaf) <= WIDE_COST * binary:
            leaf *= 2
        if arity != AUTO:
            return [{"arity": arity, "max_leaf_labels": leaf}]
    shapes = [{"arity": 2, "max_leaf_labels": leaf}]
    if leaf >= n_labels:
        return shapes
    for levels in range(2, 1 + math.ceil(math.log2(n_labels))):
        arity = 2 ** int(math.log2(n_labels) / levels)
        last = -(-n_labels // arity ** (levels - 1)) if settings["max_leaf_labels"] == AUTO else leaf
        if arity > 2 and cost(arity, last) <= WIDE_COST * binary:
            return [*shapes, {"arity": arity, "max_leaf_labels": last}]
    return shapes


def relative_cost(n_labels: int, labels_per_row: float, arity: int, max_leaf_labels: int) -> float:
    """Return how many vectors of margins a training row needs in one pass over all levels of a balanced tree.

    The margins of 16 siblings are one vector. A row needs those of a node's children if it has a label under the node;
    how many nodes of a level that is, is estimated as if labels were drawn independently.

    Returns
    -------
    float
        Training time is about in proportion to it, among trees for the same rows.
    """
    nodes, total = 1, 0.0
    while n_labels / nodes > max(max_leaf_labels, arity):
        total += _reached(nodes, labels_per_row) * max(1.0, arity / LANES)
        nodes *= arity
    return total + _reached(nodes, labels_per_row) * max(1.0, n_labels / nodes / LANES)


def _reached(nodes, labels_per_row):
    """Return the expected number of nodes of a level that a row reaches."""
    return nodes * (1.0 - (1.0 - 1.0 / nodes) ** labels_per_row)


def published_settings(settings: dict) -> dict:
    """Return settings with published values in place of "auto"."""
    loss = "logistic" if settings["loss"] == AUTO else settings["loss"]
    published = BINARY | {"loss": loss, "C": PUBLISHED_C[loss]}
    return {name: published[name] if settings[name] == AUTO else settings[name] for name in NAMES}


def _best_C(trials, middle) -> float:
    """Return the best C on the sample: the top of a parabola through three trials, or the end that is nearest to it.

    The first two values are that of ``middle`` and a smaller one; the third lies beyond the better of the two. If the
    parabola has no top, it is the C of the best trial; among equally good ones that of ``middle``.
    """
    line = [trials.run(middle | {"C": middle["C"] / C_FACTOR}), middle]
    if line[0]["score"] > line[1]["score"]:
        line.insert(0, trials.run(middle | {"C": middle["C"] / C_FACTOR**2}))
    else:
        line.append(trials.run(middle | {"C": middle["C"] * C_FACTOR}))
    low, top, high = (trial["score"] for trial in line)
    curvature = low - 2 * top + high
    if not curvature < 0:
        return max(line, key=lambda trial: (trial["score"], trial is middle))["C"]
    return line[1]["C"] * C_FACTOR ** float(np.clip(0.5 * (low - high) / curvature, -1.0, 1.0))


class Trials:
    """Trains trees on a sample of the rows, and measures them on other rows.

    Parameters
    ----------
    X, Y, entropy, fit, progress
        See :func:`choose`.
    most : int
        Largest number of trials, for the reported progress.
    """

    def __init__(self, X, Y, entropy, fit, progress, most):
        n_rows = X.shape[0]
        size = int(min(max(SAMPLE_LEAST, n_rows * SAMPLE_SHARE), n_rows // 2, SAMPLE_MOST))
        order = np.random.default_rng([entropy, len(NAMES)]).permutation(n_rows)
        trained, measured = np.sort(order[:size]), np.sort(order[size : size + min(2 * size, MEASURED_MOST)])
        self.rows = TrainingRows.of(X[trained], Y[trained])
        self.X_measured, self.Y_measured = X[measured], Y[measured]
        self.share = size / n_rows
        self.fit, self.progress, self.most = fit, progress, most
        self.trees, self.made = {}, []

    @property
    def impossible(self) -> bool:
        """Whether the sample, or the rows to measure on, have no labels."""
        return self.rows.Y.nnz == 0 or self.Y_measured.nnz == 0

    def on_sample(self, C: float) -> float:
        """Return the C that has on the sample about the effect that ``C`` has on all rows."""
        return C * self.share**C_POWER

    def on_all_rows(self, C: float, loss: str) -> float:
        """Return the C for all rows, when ``C`` is the best on the sample.

        The best C of a sample is only roughly the best of all rows, even after it was scaled. So the result lies, on a
        logarithmic scale, between the published C and the scaled one: halfway for a small sample.
        """
        weight = C_TRUST + (1 - C_TRUST) * self.share
        return float(f"{PUBLISHED_C[loss] * (C / self.on_sample(PUBLISHED_C[loss])) ** weight:.3g}")

    def differ(self, one: dict, other: dict) -> bool:
        """Return whether the numbers of right labels among the first five differ by more than one standard error."""
        hits = [trial[f"P@{KS[-1]}"] * KS[-1] * self.Y_measured.shape[0] for trial in (one, other)]
        return abs(hits[0] - hits[1]) > math.sqrt(sum(hits))

    def run(self, settings: dict) -> dict:
        """Train and measure a tree.

        Parameters
        ----------
        settings : dict
            A value for each of ``NAMES``, and anything else.

        Returns
        -------
        dict
            The settings; "P@1", "P@3", "P@5" (in [0, 1]); "score", the mean of their ratios to those of the first
            trial; "rows", on which it was trained; "seconds".
        """
        settings = {name: settings[name] for name in NAMES}
        number = len(self.made)
        text = ", ".join(f"{name}={value:g}" if name == "C" else f"{name}={value}" for name, value in settings.items())

        def report(*_):
            """Report which trial it is; while a trial runs, this may stop it."""
            self.progress(CHOOSING, min(number / self.most, 0.99), f"trial {number + 1}: {text}")

        report()
        start = time.perf_counter()
        shape = settings["arity"], settings["max_leaf_labels"]
        try:
            model = self.fit(self.rows, settings, self.trees.get(shape), report)
            self.trees[shape] = model.trees_[0]
            precision = _precision(self.Y_measured, model.predict_topk(self.X_measured, max(KS)).labels)
        except FloatingPointError:  # C is too large for these rows
            precision = [0.0] * len(KS)
        measures = {f"P@{k}": value for k, value in zip(KS, precision)}
        reference = self.made[0] if self.made else measures
        least = 1 / self.Y_measured.shape[0]  # one hit in a trial that else has none must not decide
        ratios = [max(value, least) / max(reference[name], least) for name, value in measures.items()]
        trial = settings | measures
        trial |= {"score": sum(ratios) / len(KS), "rows": self.rows.Y.shape[0], "seconds": time.perf_counter() - start}
        self.made.append(trial)
        return trial


def _precision(Y, labels) -> list[float]:
    """Return P@k for each of ``KS``; ``labels`` (n, k) has -1 where there is none."""
    n_labels = np.int64(Y.shape[1])
    true = np.repeat(np.arange(Y.shape[0], dtype=np.int64) * n_labels, np.diff(Y.indptr)) + Y.indices
    predicted = np.arange(Y.shape[0], dtype=np.int64)[:, None] * n_labels + labels
    hits = np.isin(predicted, true) & (labels >= 0)
    return [float(hits[:, :k].mean()) for k in KS]
