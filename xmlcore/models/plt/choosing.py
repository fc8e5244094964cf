"""Choose the settings of a label tree that are "auto", by a few trials on samples of the training rows."""

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
    held-out training rows of thirteen data sets and parts of them by ``benchmarks.settings_rule``, which also shows
    what they give on a data set that had no part in the comparison. The others are round numbers, set by hand.
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
    thin: float = 1.0  # With fewer rows per label in a sample, its trials do not decide the shape of the tree.
    common: float = 1 / 10  # No label has more than this share of the rows in a sample of some labels.
    trained_share: float = 2 / 3  # Share of the rows in such a sample on which its trials are trained.
    errors: float = 2.0  # A dearer shape, or a larger C than the first one, must be better by so many standard errors.
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
        ``P@3``, ``P@5`` in [0, 1], on other rows; ``score``, the mean of their ratios to those of the first trial on
        the sample; ``rows`` and ``labels``, the size of the sample: trials on different ones do not compare;
        ``seconds``. It has no lines if nothing was tried.
        """
        self._check_fitted()
        columns = [*self._SETTINGS, *(f"P@{k}" for k in KS), "score", "rows", "labels", "seconds"]
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
    # translated to all rows. Standardised columns have a C and a shape of their own. Where a tree has several levels,
    # scalings and C are compared on a second sample, all rows of some labels: each label has about as many rows there
    # as among all rows. For labels under one node, which all rows reach, this would change what C means.
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
    data = Data(X, Y, weights, boosts)
    size, measured = sizes_of_trials(n_rows)
    most = 1

    def report(number, text):
        progress(CHOOSING, min(number / most, 0.99), text)

    trials = Trials(data, size, measured, size / n_rows, [entropy, STREAM], n_labels, fit, report)
    if trials.impossible:
        return untried
    of_labels = None
    values_are_open = len(scalings) > 1 or AUTO in (settings["loss"], settings["C"])
    if clustered and values_are_open and not has_one_level(n_labels, **shapes[0]):
        of_labels = trials_of_labels(data, min(size + measured, n_rows // 2), entropy, trials)
    most = len(parts) * (len(shapes) + (len(parts[0]) + 1 if of_labels is None else 3 * len(parts[0])))
    found = [decide(settings, shapes, part, trials, of_labels) for part in parts]
    chosen = max(found, key=lambda pair: pair[0])[1]
    cut = trials.cut(chosen)
    if of_labels is not None:
        # With few rows of each label scores are small, and with few labels few are mistaken for each other: the best
        # cuts for micro-F1 on held-out rows of eight data sets lay mostly between those of the two samples.
        cuts = [cut, of_labels.cut(chosen, at_C=True)]
        cut = math.sqrt(cuts[0] * cuts[1]) or max(cuts)
    progress(CHOOSING, 1.0, f"{len(trials.made)} trials")
    return Choice(in_turns(chosen), trials.made, cut or 0.5)


def decide(settings: dict, shapes, scalings, trials, of_labels=None, rule: TrialRule = RULE) -> tuple[float, dict]:
    """Choose the shape of a tree by trials, how rows are scaled, the loss and C; return the best score and all these.

    ``of_labels`` are trials on rows of some labels. Where there are any, they decide all but the shape.
    """
    loss = "squared_hinge" if settings["loss"] == AUTO else settings["loss"]

    def begin(trials, shape, scaling):
        """Try C as given, or the C that has on the sample about the effect that the published C has on all rows."""
        C = on_sample(PUBLISHED_C[loss], trials.share, rule) if settings["C"] == AUTO else settings["C"]
        return trials.run({name: shape[name] for name in BINARY} | {"loss": loss, "C": C, "normalize": scaling})

    first = [begin(trials, shape, scalings[0]) for shape in shapes]
    best = first[0]
    for trial in first[1:]:
        if trial["score"] > best["score"] * (1 + rule.shape_gain) and trials.is_better(trial, best):
            best = trial
    if of_labels is None:
        others = [begin(trials, best, scaling) for scaling in scalings[1:]]
        candidates = [max([best, *others], key=lambda trial: trial["score"])]
    else:  # they take so little time that each scaling is tried with the best C of its own
        trials = of_labels
        candidates = [begin(trials, best, scaling) for scaling in scalings]
    if settings["C"] == AUTO:
        found = [_best_C(trials, trial, rule) for trial in candidates]
        best, C = max(found, key=lambda pair: pair[0]["score"])
        # The best C of a sample is only roughly the best of all rows, even after it is scaled. So the result lies, on a
        # logarithmic scale, between the published C and the scaled one.
        weight = rule.C_trust + (1 - rule.C_trust) * trials.share
        C = float(f"{PUBLISHED_C[loss] * (C / candidates[0]['C']) ** weight:.3g}")
    else:
        best, C = max(candidates, key=lambda trial: trial["score"]), settings["C"]
        if settings["loss"] == AUTO:
            best = max(best, trials.run(best | {"loss": "logistic"}), key=lambda trial: trial["score"])
    return best["score"], {name: best[name] for name in NAMES} | {"C": C}


def on_sample(C: float, share: float, rule: TrialRule = RULE) -> float:
    """Return the C that has on a share of each label's rows about the effect that ``C`` has on all of them."""
    return C * share**rule.C_power


def possible_shapes(settings: dict, data: Sizes, clustered: bool = True, rule: TrialRule = RULE) -> list[dict]:
    """Return the shapes of a tree, as ``arity`` and ``max_leaf_labels``, that are worth a trial."""
    # The fewer levels a tree has, the more precise are its predictions; but nodes with many children take longer to
    # train. Where a sample has less than one row for a label, its trials rank shapes otherwise than all rows do: then
    # this returns only the tree of the fewest levels that is affordable.
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


def _best_C(trials, middle, rule) -> tuple[dict, float]:
    """Return the best of three trials, and the best C on the sample: the top of a parabola through them, or its end."""
    # The first two values are that of ``middle`` and a smaller one; the third lies beyond the better of the two. If the
    # parabola has no top, it is the C of the best trial; among equally good ones that of ``middle``. A larger one than
    # that of ``middle`` takes longer to train, and where a label has few rows in the sample it often wins by chance: it
    # must be better for sure.
    factor = rule.C_factor
    line = [trials.run(middle | {"C": middle["C"] / factor}), middle]
    if line[0]["score"] > line[1]["score"]:
        line.insert(0, trials.run(middle | {"C": middle["C"] / factor**2}))
    else:
        line.append(trials.run(middle | {"C": middle["C"] * factor}))
        if line[2]["score"] > middle["score"] and not trials.is_better(line[2], middle):
            return middle, middle["C"]
    best = max(line, key=lambda trial: (trial["score"], trial is middle))
    low, top, high = (trial["score"] for trial in line)
    curvature = low - 2 * top + high
    if not curvature < 0:
        return best, best["C"]
    return best, line[1]["C"] * factor ** float(np.clip(0.5 * (low - high) / curvature, -1.0, 1.0))


def sizes_of_trials(n_rows: int, rule: TrialRule = RULE) -> tuple[int, int]:
    """Return on how many of the rows trials are trained, and on how many others they are measured."""
    size = int(min(max(rule.sample_least, n_rows * rule.sample_share), n_rows * rule.largest_share, rule.sample_most))
    return size, min(max(rule.measured_least, size), rule.measured_most, n_rows - size)


class Data(NamedTuple):
    """Training data: rows, their labels, and the weights of rows and of labels, or None."""

    X: sp.csr_array
    Y: sp.csr_array
    weights: np.ndarray | None
    boosts: np.ndarray | None

    def of_rows(self, rows: np.ndarray) -> "Data":
        return Data(self.X[rows], self.Y[rows], None if self.weights is None else self.weights[rows], self.boosts)


def rows_of_some_labels(data: Data, n_rows: int, seed: list[int]) -> Data | None:
    """Return all rows of labels drawn at random, with these labels alone: about so many, fewer if a row has several.

    None if labels that are too common to be drawn are half of all assignments or more, or if too few rows are left.
    """
    counts = np.bincount(data.Y.indices, minlength=data.Y.shape[1])
    drawn = np.flatnonzero((counts > 0) & (counts <= RULE.common * n_rows))
    if counts[drawn].sum() <= data.Y.nnz / 2:
        return None
    drawn = np.random.default_rng(seed).permutation(drawn)
    labels = np.sort(drawn[: 1 + np.searchsorted(np.cumsum(counts[drawn]), n_rows)])
    Y = sp.csr_array(data.Y[:, labels])
    boosts = None if data.boosts is None else data.boosts[labels]
    rows = np.flatnonzero(np.diff(Y.indptr))
    return Data(data.X, Y, data.weights, boosts).of_rows(rows) if rows.size >= RULE.least_rows else None


def trials_of_labels(data: Data, n_rows: int, entropy: int, trials: "Trials") -> "Trials | None":
    """Return trials on all rows of some labels, which are listed with the others; None if there are too few rows."""
    part = rows_of_some_labels(data, n_rows, [entropy, STREAM, 1])
    if part is None:
        return None
    n_rows, share = part.X.shape[0], RULE.trained_share
    size, fit, report = int(share * n_rows), trials.fit, trials.report
    return Trials(part, size, n_rows - size, share, [entropy, STREAM, 2], trials.n_labels, fit, report, trials.made)


def shape_of_part(shape: dict, n_labels: int, n_drawn: int) -> dict:
    """Return the shape that gives some of the labels last nodes of at most the size that all labels have."""
    if n_drawn == n_labels:
        return {}
    last = n_labels
    while last > max(shape["arity"], shape["max_leaf_labels"]):
        last = -(-last // shape["arity"])
    return {"arity": min(shape["arity"], max(2, -(-n_drawn // last))), "max_leaf_labels": last}


class TrialResult(NamedTuple):
    """What a trial has shown: the line of :attr:`LinearModel.chosen_`, its model (None if it failed), hits of rows."""

    trial: dict[str, Any]
    model: Any
    hits: np.ndarray


class Trials:
    """Trains trees on a sample of some rows, and measures them on others; ``tried`` has what :meth:`run` found."""

    def __init__(self, data: Data, size, measured, share, seed, n_labels, fit, report, made=None):
        self.n_labels = n_labels  # of all training data
        order = np.random.default_rng(seed).permutation(data.X.shape[0])
        self.sample = data.of_rows(np.sort(order[:size]))
        self.X_measured, self.Y_measured, self.measured_weights, _ = data.of_rows(
            np.sort(order[size : size + measured])
        )
        self.share = share  # of the rows of a label, those in the sample
        self.least = 1 / measured  # precision: one hit in a trial that else has none must not decide
        self.fit, self.report = fit, report
        self.rows, self.trees, self.tried = {}, {}, []
        self.made = [] if made is None else made  # with the trials on another sample

    @property
    def impossible(self) -> bool:
        """Whether the sample, or the rows to measure on, have no labels."""
        return self.sample.Y.nnz == 0 or self.Y_measured.nnz == 0

    def run(self, settings: dict) -> dict:
        settings = {name: settings[name] for name in NAMES}
        number = len(self.made)
        text = ", ".join(f"{name}={value:g}" if name == "C" else f"{name}={value}" for name, value in settings.items())

        def report(*_):
            """Report which trial it is; while a trial runs, this may stop it."""
            self.report(number, f"trial {number + 1}: {text}")

        report()
        start = time.perf_counter()
        scaling = settings["normalize"]
        shape = settings["arity"], settings["max_leaf_labels"], scaling
        if scaling not in self.rows:
            X, Y, weights, boosts = self.sample
            self.rows[scaling] = RowsOfTree.of(X, Y, scaling, weights, boosts)
        try:
            narrowed = settings | shape_of_part(settings, self.n_labels, self.sample.Y.shape[1])
            model = self.fit(self.rows[scaling], narrowed, self.trees.get(shape), report)
            self.trees[shape] = model.trees_[0]
            hits = hits_of(self.Y_measured, model.predict_topk(self.X_measured, max(KS)).labels)
        except FloatingPointError:  # C is too large for these rows
            model, hits = None, np.zeros((self.Y_measured.shape[0], len(KS)))
        precision = np.average(hits, axis=0, weights=self.measured_weights).tolist()
        measures = {f"P@{k}": value for k, value in zip(KS, precision)}
        reference = self.tried[0].trial if self.tried else measures
        ratios = [max(value, self.least) / max(reference[name], self.least) for name, value in measures.items()]
        trial = settings | measures
        n_rows, n_labels = self.sample.Y.shape
        trial |= {"score": sum(ratios) / len(KS), "rows": n_rows, "labels": n_labels}
        trial["seconds"] = time.perf_counter() - start
        self.tried.append(TrialResult(trial, model, hits))
        self.made.append(trial)
        return trial

    def is_better(self, first: dict, other: dict) -> bool:
        """Return whether a trial's score is above that of another one by more than chance, on the same rows."""
        hits = [next(one.hits for one in self.tried if one.trial is trial) for trial in (first, other)]
        gains = (hits[0] - hits[1]) / [max(self.tried[0].trial[f"P@{k}"], self.least) for k in KS]
        gains = gains.sum(axis=1) * (1.0 if self.measured_weights is None else self.measured_weights)
        return bool(gains.sum() > RULE.errors * np.sqrt((gains**2).sum()))

    def cut(self, chosen: dict, at_C: bool = False) -> float:
        """Return the score from which on labels are to be predicted after training on all rows; 0 if it is unknown."""
        # Of the squared hinge, the best cut of the best trial, or with ``at_C`` what lies for the chosen C between the
        # best cuts of the trials; of the logistic loss, which is too sure of itself with a large C on few rows, the
        # largest one of all trials of its shape. With all rows scores are larger: by which power of the sample's share
        # was found on held-out training rows of twelve data sets. Where the tree has one level, micro-F1 was then 0.5
        # and 0.8 below that of the best cut of these rows (2.6 and 2.2 at most), and with 0.5 for all 19 and 11 below.
        # Large cuts go at most half the way to 1, which no score may reach.
        names = (*BINARY, "loss")
        same = [one for one in self.tried if one.model and all(one.trial[name] == chosen[name] for name in names)]
        same = [one for one in same if one.trial["normalize"] == chosen["normalize"]] or same
        if not same:
            return 0.0
        is_logistic = chosen["loss"] == "logistic"
        if not is_logistic and not at_C:
            same = [max(same, key=lambda one: one.trial["score"])]
        C, cuts = np.array(sorted((one.trial["C"], self._best_cut(one.model)) for one in same)).T
        own_C = on_sample(chosen["C"], self.share)
        cut = float(cuts.max() if is_logistic else np.interp(math.log(own_C), np.log(C), cuts))
        return min((1 + cut) / 2, cut * self.share ** (-0.1 if is_logistic else -0.05))

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


def hits_of(Y, labels) -> np.ndarray:
    """Return the share of true labels among the first k of each row, for each of ``KS``: float64 (n, 3).

    ``labels`` (n, 5) has -1 where there is none.
    """
    are_true = _are_true(Y, labels)
    return np.stack([are_true[:, :k].mean(axis=1) for k in KS], axis=1)


def _are_true(Y, labels) -> np.ndarray:
    n_labels = np.int64(Y.shape[1])
    true = np.repeat(np.arange(Y.shape[0], dtype=np.int64) * n_labels, np.diff(Y.indptr)) + Y.indices
    predicted = np.arange(Y.shape[0], dtype=np.int64)[:, None] * n_labels + labels
    return np.isin(predicted, true) & (labels >= 0)
