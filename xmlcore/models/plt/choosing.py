"""Choose the settings of a label tree that are "auto", by a few trials on a sample of the training rows."""

import math
import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from xmlcore._kernels.lanes import LANES
from xmlcore.first_use import pd
from xmlcore.label_names import read_training_labels
from xmlcore.models.plt.building import has_one_level
from xmlcore.models.plt.parameters import BEST, FAST
from xmlcore.models.plt.scaling import BY_COLUMN, IDF, possible_scalings, scalings_of
from xmlcore.models.plt.training import RowsOfTree
from xmlcore.models.rows import checked_rows
from xmlcore.models.weights import TakesWeights, weighed_rows
from xmlcore.parameters import AUTO
from xmlcore.progress import Progress, ProgressLike, silent, to_progress
from xmlcore.ranking import KS
from xmlcore.typing import DataFrame, Labels, Matrix

TYPES = {"arity": int, "max_leaf_labels": int, "loss": str, "C": float, "normalize": str}  # of what can be "auto"
NAMES = tuple(TYPES)
CHOOSING = "Choosing settings"  # Phase that progress reports while settings are tried.

# Where nothing can be tried, the squared hinge and these values are used; searches for C begin with them.
BINARY = {"arity": 2, "max_leaf_labels": 100}  # napkinXC, Parabel
PUBLISHED_C = {"logistic": 10.0, "squared_hinge": 1.0}  # napkinXC, Parabel
FAST_C = {loss: C / 2 for loss, C in PUBLISHED_C.items()}
FAST_CUT = 0.12  # of squared hinges; on held-out rows of eight data sets micro-F1 was at most 0.06 below the best cut's
BEST_TREES = 3

STREAM = 4  # Number of the random stream by which the rows of trials are drawn.
CUT_ROWS, CUT_LABELS = 1000, 50  # So many rows, and labels of each, are looked at to choose where to cut.
FEW_LABELS = 32  # So few labels are always children of the root.


class TrialRule(NamedTuple):
    """The numbers by which settings are chosen.

    ``sample_least``, ``largest_share``, ``most_cost``, ``shape_gain``, ``C_power`` and ``C_trust`` were compared on
    held-out training rows of twelve data sets by ``benchmarks.settings_rule``, which also shows what they give on a
    data set that had no part in the comparison. The others are round numbers, set by hand to bound the time of trials.
    """

    least_rows: int = 400  # With fewer training rows nothing is tried.
    sample_share: float = 1 / 16  # Share of the rows on which a trial is trained, between these numbers of rows:
    sample_least: int = 500
    largest_share: float = 1 / 4  # A sample has at most this share of the rows.
    sample_most: int = 20_000
    measured_least: int = 3000  # Trials are measured on as many other rows as the sample has, between these numbers:
    measured_most: int = 10_000
    most_cost: float = 2.5  # A tree may cost at most this many times as much as a binary tree.
    shape_gain: float = 0.02  # A tree replaces one that costs less if it is better by this share.
    thin: float = 0.2  # With fewer rows per label in a sample, its trials do not decide the shape of the tree.
    C_factor: float = 4.0  # Factor between neighbouring trials of C.
    C_power: float = -0.6  # The C for a sample is the C for all rows times this power of the share of the rows.
    C_trust: float = 0.75  # Weight of the trials against the published C where the sample is a small share of the rows


RULE = TrialRule()


class Choice(NamedTuple):
    """The settings that a tree is trained with, and the trials that led to them."""

    settings: dict[str, Any]  # a value for each of NAMES
    trials: list[dict[str, Any]]  # in the order in which they were made; see PLT.chosen_
    threshold: float = 0.5  # the score from which on labels are predicted: about the best for micro-F1, by the trials


class LinearModel(TakesWeights):
    """Base of models of linear classifiers, which choose the parameters that are "auto"."""

    settings_: dict[str, Any]
    _SETTINGS = NAMES

    def choose(
        self,
        X: Matrix,
        Y: Labels,
        *,
        progress: ProgressLike = silent,
        sample_weight: npt.ArrayLike | None = None,
        label_weight: npt.ArrayLike | None = None,
    ) -> Choice:
        """Choose the parameters that are "auto", as :meth:`fit` does, without training on all rows.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        sample_weight, label_weight : array-like, optional
            As for :meth:`fit`.

        Returns
        -------
        Choice
            Its ``settings`` is a dict of the parameters in ``settings_``: as given, or chosen in place of "auto". With
            these values, a model of the same seed learns the same without trials. Its ``trials`` is a list of dicts,
            the lines of :attr:`chosen_`. Its ``threshold`` is the model's ``threshold_``: 0.5 if nothing was tried.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data; the message names them.
        """
        progress = to_progress(progress)
        self._check_params()
        Y, _, _ = read_training_labels(Y, n_labels=self._n_labels_of(Y))
        X, Y = checked_rows(X, Y)
        return self._choice(*weighed_rows(X, Y, sample_weight, label_weight), progress)

    @property
    def chosen_(self) -> "DataFrame":
        """The trials by which :meth:`fit` chose the parameters that were "auto", in their order: a DataFrame.

        Columns: the settings, with the ``C`` on a sample of the rows (``settings_`` has the C for all rows); ``P@1``,
        ``P@3``, ``P@5`` in [0, 1], on other rows; ``score``, the mean of their ratios to those of the first trial;
        ``rows``, the size of the sample; ``seconds``. It has no lines if nothing was tried.
        """
        self._check_fitted()
        columns = [*self._SETTINGS, *(f"P@{k}" for k in KS), "score", "rows", "seconds"]
        return pd.DataFrame(self._trials, columns=columns)

    def label_probabilities(self, X: Matrix, labels: npt.ArrayLike) -> np.ndarray:
        """Return the probabilities of requested labels for each row: float64, before they are rounded to float32.

        ``labels`` has the label of each row; a label tree also takes q labels of each row, shape (n, q).
        """
        raise NotImplementedError

    def log_proba_gradient(self, X: Matrix, labels: npt.ArrayLike) -> tuple[np.ndarray, sp.csr_array]:
        """Return the logarithm of one label's probability for each row, and its gradient with respect to the row.

        The logarithm (float64, shape (n,)) is -inf where the probability is 0 for every row. The gradient is a
        csr_array of float32, shape (n, D), by the row as it is given: g, the sum over the label's path of the slope of
        the factor's logarithm times the node's weights. If rows are scaled to length 1, it is (I - u u^T) g / |x| with
        u = x / |x|, and 0 for a row of zeros, which has no direction. With several trees it is the gradient of the
        logarithm of the mean. Stored are features with weights along the path and, with length 1, features of the row.
        A factor that is always 0 or 1 (infinite bias) adds nothing.

        It takes O(weights along the path) time per row and tree, in float64. A label tree uses its ``linear_nodes``,
        and their memory.
        """
        raise NotImplementedError

    def _choice(self, X, Y, weights, boosts, progress) -> Choice:
        """Return the settings to train with, and the trials by which those that are "auto" were chosen."""
        raise NotImplementedError


class Sizes(NamedTuple):
    """The sizes of training data on which the cost of a tree depends."""

    rows: int
    labels: int
    labels_per_row: float

    @property
    def rows_per_label(self) -> float:
        return self.rows * self.labels_per_row / self.labels


def choose(
    settings, quality: str, X, Y, weights, boosts, clustered: bool, entropy: int, fit, progress: Progress = silent
) -> Choice:
    """Choose the settings that are "auto"."""
    # Each trial trains one tree on a sample of the rows and measures P@1, P@3 and P@5 on other rows. The trials first
    # compare shapes of the tree, then scalings of rows, then values of C. The C that is best on the sample is
    # translated to all rows. Standardised columns have a C and a shape of their own.
    settings = {name: value if value in (AUTO, None) else TYPES[name](value) for name, value in settings.items()}
    n_rows, n_labels = Y.shape
    shapes = possible_shapes(settings, Sizes(n_rows, n_labels, Y.nnz / n_rows), clustered)
    given = settings["normalize"]
    scalings = possible_scalings(X, weights) if given == AUTO else scalings_of(given)[:1]

    def in_turns(chosen):
        """Return settings with the scalings of all trees, the one that was chosen first."""
        if given != AUTO:
            return chosen | {"normalize": given}
        # Of one level, the mean of two scalings was on held-out rows no better than the better one of them.
        shape = {name: chosen[name] for name in BINARY}
        if quality != BEST or IDF not in scalings or has_one_level(n_labels, **shape):
            return chosen
        return chosen | {"normalize": "+".join(sorted(scalings, key=lambda scaling: scaling != chosen["normalize"]))}

    shape = shapes[0] if len(shapes) == 1 else {}
    scaling = {"normalize": IDF if quality == FAST and IDF in scalings else scalings[0]}
    fixed = in_turns(untried_settings(settings | shape | scaling, quality))
    untried = Choice(fixed, [], FAST_CUT if quality == FAST and fixed["loss"] == "squared_hinge" else 0.5)
    nothing_is_open = len(shapes) == len(scalings) == 1 and AUTO not in (settings["loss"], settings["C"])
    if nothing_is_open or quality == FAST or n_rows < RULE.least_rows:
        return untried
    parts = [[scaling] for scaling in scalings] if BY_COLUMN in scalings else [scalings]
    most = len(parts) * (len(shapes) + len(parts[0]) + 1)
    trials = Trials(X, Y, weights, boosts, entropy, fit, progress, most)
    if trials.impossible:
        return untried
    of_parts = [decide(settings, shapes, part, trials) for part in parts]
    best = max(trials.made, key=lambda trial: trial["score"])["normalize"]
    chosen = next((one for one in of_parts if one["normalize"] == best), of_parts[0])
    progress(CHOOSING, 1.0, f"{len(trials.made)} trials")
    return Choice(in_turns(chosen), trials.made, trials.threshold(chosen))


def decide(settings: dict, shapes: list[dict], scalings: list, trials, rule: TrialRule = RULE) -> dict:
    """Choose among the shapes of a tree by trials, then how rows are scaled, then the loss and C."""
    loss = "squared_hinge" if settings["loss"] == AUTO else settings["loss"]
    C = settings["C"]
    if C == AUTO:  # the C that has on the sample about the effect that the published C has on all rows
        C = PUBLISHED_C[loss] * trials.share**rule.C_power
    first = [trials.run(shape | {"loss": loss, "C": C, "normalize": scalings[0]}) for shape in shapes]
    best = first[0]
    for trial in first[1:]:
        if trial["score"] > best["score"] * (1 + rule.shape_gain) and _differ(trial, best, trials.measured):
            best = trial
    others = [trials.run(best | {"normalize": scaling}) for scaling in scalings[1:]]
    best = max([best, *others], key=lambda trial: trial["score"])
    shape = {name: best[name] for name in (*BINARY, "normalize")}
    if settings["C"] == AUTO:
        # The best C of a sample is only roughly the best of all rows, even after it is scaled. So the result lies, on a
        # logarithmic scale, between the published C and the scaled one.
        weight = rule.C_trust + (1 - rule.C_trust) * trials.share
        C = float(f"{PUBLISHED_C[loss] * (_best_C(trials, best, rule.C_factor) / C) ** weight:.3g}")
    elif settings["loss"] == AUTO:
        other = trials.run(shape | {"loss": "logistic", "C": C})
        loss = "logistic" if other["score"] > best["score"] else loss
    return shape | {"loss": loss, "C": C}


def possible_shapes(settings: dict, data: Sizes, clustered: bool = True, rule: TrialRule = RULE) -> list[dict]:
    """Return the shapes of a tree, as ``arity`` and ``max_leaf_labels``, that are worth a trial."""
    # The fewer levels a tree has, the more precise are its predictions; but nodes with many children take longer to
    # train. Where a sample has hardly a row for a label, its trials rank shapes otherwise than all rows do; then this
    # returns only the tree of the fewest levels that is affordable.
    arity, leaf = settings["arity"], settings["max_leaf_labels"]
    if not clustered:
        return [{name: BINARY[name] if settings[name] == AUTO else settings[name] for name in BINARY}]
    if arity != AUTO and leaf != AUTO:
        return [{"arity": arity, "max_leaf_labels": leaf}]
    n_labels = data.labels
    if leaf != AUTO and leaf >= n_labels:
        return [{"arity": BINARY["arity"], "max_leaf_labels": leaf}]

    def affordable(arity, leaf):
        return relative_cost(data, arity, leaf) <= rule.most_cost

    if leaf == AUTO:
        top = 2 if arity == AUTO else arity
        if n_labels <= FEW_LABELS or affordable(top, n_labels):
            return [{"arity": top, "max_leaf_labels": n_labels}]
        leaf = BINARY["max_leaf_labels"]
        while 2 * leaf < n_labels and affordable(top, 2 * leaf):
            leaf *= 2
        if arity != AUTO:
            return [{"arity": arity, "max_leaf_labels": leaf}]
    shapes = [{"arity": 2, "max_leaf_labels": leaf}]
    if settings["max_leaf_labels"] == AUTO and leaf > BINARY["max_leaf_labels"]:
        shapes.append(BINARY)
    for levels in range(2, 1 + math.ceil(math.log2(n_labels))):
        arity = 2 ** int(math.log2(n_labels) / levels)
        last = -(-n_labels // arity ** (levels - 1)) if settings["max_leaf_labels"] == AUTO else leaf
        if arity > 2 and affordable(arity, last):
            shapes.append({"arity": arity, "max_leaf_labels": last})
            break
    sampled_rows_per_label = data.rows_per_label * sizes_of_trials(data.rows, rule)[0] / data.rows
    if sampled_rows_per_label < rule.thin:
        return [min(shapes, key=lambda shape: levels_of(n_labels, *shape.values()))]
    return sorted(shapes, key=lambda shape: relative_cost(data, *shape.values()))


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
    # difference in vectors counts by r / (r + 5); 5 was fitted to the seconds of ``benchmarks.settings_rule``.
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


def untried_settings(settings: dict, quality: str) -> dict:
    """Return settings with values in place of "auto" that are used where nothing is tried."""
    loss = "squared_hinge" if settings["loss"] == AUTO else settings["loss"]
    fixed = BINARY | {"loss": loss, "C": (FAST_C if quality == FAST else PUBLISHED_C)[loss]}
    return {name: fixed[name] if settings[name] == AUTO else settings[name] for name in NAMES}


def _differ(first: dict, other: dict, n_rows: int) -> bool:
    """Return whether the numbers of right labels among the first k differ by more than one standard error, for a k."""
    hits = [np.array([trial[f"P@{k}"] * k * n_rows for k in KS]) for trial in (first, other)]
    return bool((np.abs(hits[0] - hits[1]) > np.sqrt(hits[0] + hits[1])).any())


def _best_C(trials, middle, factor) -> float:
    """Return the best C on the sample: the top of a parabola through three trials, or the end that is nearest to it."""
    # The first two values are that of ``middle`` and a smaller one; the third lies beyond the better of the two. If the
    # parabola has no top, it is the C of the best trial; among equally good ones that of ``middle``. A larger one than
    # that of ``middle`` takes longer to train, and where a label has few rows in the sample it often wins by chance: it
    # must be better by more than one standard error.
    line = [trials.run(middle | {"C": middle["C"] / factor}), middle]
    if line[0]["score"] > line[1]["score"]:
        line.insert(0, trials.run(middle | {"C": middle["C"] / factor**2}))
    else:
        line.append(trials.run(middle | {"C": middle["C"] * factor}))
        if line[2]["score"] > middle["score"] and not _differ(line[2], middle, trials.measured):
            return middle["C"]
    low, top, high = (trial["score"] for trial in line)
    curvature = low - 2 * top + high
    if not curvature < 0:
        return max(line, key=lambda trial: (trial["score"], trial is middle))["C"]
    return line[1]["C"] * factor ** float(np.clip(0.5 * (low - high) / curvature, -1.0, 1.0))


def sizes_of_trials(n_rows: int, rule: TrialRule = RULE) -> tuple[int, int]:
    """Return on how many of the rows trials are trained, and on how many others they are measured."""
    size = int(min(max(rule.sample_least, n_rows * rule.sample_share), n_rows * rule.largest_share, rule.sample_most))
    return size, min(max(rule.measured_least, size), rule.measured_most, n_rows - size)


class Trials:
    """Trains trees on a sample of the rows, and measures them on other rows; ``made`` has what :meth:`run` returned."""

    def __init__(self, X, Y, weights, boosts, entropy, fit, progress, most, rule: TrialRule = RULE):
        n_rows = X.shape[0]
        size, measured = sizes_of_trials(n_rows, rule)
        order = np.random.default_rng([entropy, STREAM]).permutation(n_rows)
        sample, others = np.sort(order[:size]), np.sort(order[size : size + measured])
        self.X, self.Y, self.boosts = X[sample], Y[sample], boosts
        self.X_measured, self.Y_measured = X[others], Y[others]
        self.weights, self.measured_weights = (None, None) if weights is None else (weights[sample], weights[others])
        self.share, self.measured = size / n_rows, measured
        self.fit, self.progress, self.most = fit, progress, most
        self.rows, self.trees, self.made = {}, {}, []
        self.models = []

    @property
    def impossible(self) -> bool:
        """Whether the sample, or the rows to measure on, have no labels."""
        return self.Y.nnz == 0 or self.Y_measured.nnz == 0

    def run(self, settings: dict) -> dict:
        settings = {name: settings[name] for name in NAMES}
        number = len(self.made)
        text = ", ".join(f"{name}={value:g}" if name == "C" else f"{name}={value}" for name, value in settings.items())

        def report(*_):
            """Report which trial it is; while a trial runs, this may stop it."""
            self.progress(CHOOSING, min(number / self.most, 0.99), f"trial {number + 1}: {text}")

        report()
        start = time.perf_counter()
        scaling = settings["normalize"]
        shape = settings["arity"], settings["max_leaf_labels"], scaling
        if scaling not in self.rows:
            self.rows[scaling] = RowsOfTree.of(self.X, self.Y, scaling, self.weights, self.boosts)
        try:
            model = self.fit(self.rows[scaling], settings, self.trees.get(shape), report)
            self.trees[shape] = model.trees_[0]
            labels = model.predict_topk(self.X_measured, max(KS)).labels
            precision = precision_of(self.Y_measured, labels, self.measured_weights)
        except FloatingPointError:  # C is too large for these rows
            model, precision = None, [0.0] * len(KS)
        measures = {f"P@{k}": value for k, value in zip(KS, precision)}
        reference = self.made[0] if self.made else measures
        least = 1 / self.Y_measured.shape[0]  # one hit in a trial that else has none must not decide
        ratios = [max(value, least) / max(reference[name], least) for name, value in measures.items()]
        trial = settings | measures
        trial |= {"score": sum(ratios) / len(KS), "rows": self.Y.shape[0], "seconds": time.perf_counter() - start}
        self.made.append(trial)
        self.models.append(model)
        return trial

    def threshold(self, chosen: dict) -> float:
        """Return the score from which on labels are to be predicted, for about the best micro-F1 after all rows."""
        # Of the squared hinge, the best cut of the best trial; of the logistic loss, which is too sure of itself with a
        # large C on few rows, the largest one of all trials of its shape. With all rows scores are larger: by which
        # power of the sample's share was found on held-out training rows of twelve data sets. Micro-F1 was then 0.5 and
        # 0.8 below that of the best cut of these rows (2.6 and 2.2 at most), and with 0.5 for all 19 and 11 below.
        # Large cuts go at most half the way to 1, which no score may reach.
        same = [
            (trial["score"], model)
            for trial, model in zip(self.made, self.models)
            if model is not None and all(trial[name] == chosen[name] for name in NAMES if name != "C")
        ]
        is_logistic = chosen["loss"] == "logistic"
        if not is_logistic:
            same = sorted(same, key=lambda pair: pair[0])[-1:]
        cut = max((self._best_cut(model) for _, model in same), default=0.0)
        return min((1 + cut) / 2, cut * self.share ** (-0.1 if is_logistic else -0.05)) if cut else 0.5

    def _best_cut(self, model) -> float:
        """Return the middle of the scores between which micro-F1 is best on the rows to measure on; 0 without a hit."""
        X, Y = self.X_measured[:CUT_ROWS], self.Y_measured[:CUT_ROWS]
        labels, scores = model.predict_topk(X, min(CUT_LABELS, Y.shape[1]))
        order = np.argsort(-scores, axis=None, kind="stable")
        scores = np.append(scores.reshape(-1)[order].astype(np.float64), 0.0)
        weights = np.ones(Y.shape[0]) if self.measured_weights is None else self.measured_weights[: Y.shape[0]]
        each = np.repeat(weights, labels.shape[1])[order]
        hits = np.cumsum(_are_true(Y, labels).reshape(-1)[order] * each)
        half_f1 = hits / (np.cumsum(each) + weights @ np.diff(Y.indptr))
        best = int(np.argmax(np.where(scores[1:] < scores[:-1], half_f1, 0.0)))  # equal scores are cut together
        return float(scores[best : best + 2].mean()) if hits[-1] else 0.0


def precision_of(Y, labels, weights=None) -> list[float]:
    """Return P@k for each of ``KS``, with rows weighted; ``labels`` (n, k) has -1 where there is none."""
    hits = _are_true(Y, labels)
    if weights is None:
        return [float(hits[:, :k].mean()) for k in KS]
    return [float(np.average(hits[:, :k].mean(axis=1), weights=weights)) for k in KS]


def _are_true(Y, labels) -> np.ndarray:
    n_labels = np.int64(Y.shape[1])
    true = np.repeat(np.arange(Y.shape[0], dtype=np.int64) * n_labels, np.diff(Y.indptr)) + Y.indices
    predicted = np.arange(Y.shape[0], dtype=np.int64)[:, None] * n_labels + labels
    return np.isin(predicted, true) & (labels >= 0)
