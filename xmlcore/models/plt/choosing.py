"""Choose the settings of a label tree that are "auto", by a few trials on samples of the training rows."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_training import DescentSettings
from xmlcore.first_use import pd
from xmlcore.label_names import read_training_labels
from xmlcore.models.plt.building import has_one_level
from xmlcore.models.plt.linear_nodes import LOSS_NUMBERS
from xmlcore.models.plt.memory import TrainingMemory, training_memory
from xmlcore.models.plt.parameters import BEST, FAST
from xmlcore.models.plt.scaling import BY_COLUMN, IDF, possible_scalings, scalings_of
from xmlcore.models.plt.shapes import BINARY, Sizes, possible_shapes, trees_asked_for
from xmlcore.models.plt.training import CHOOSING
from xmlcore.models.plt.trials import (
    NAMES,
    RULE,
    STREAM,
    TYPES,
    Data,
    TrialRule,
    Trials,
    on_sample,
    sizes_of_trials,
    trials_of_labels,
)
from xmlcore.models.rows import checked_rows
from xmlcore.models.saving import ModelFormatError, check_columns
from xmlcore.models.weights import TakesWeights, weighed_rows
from xmlcore.parameters import AUTO
from xmlcore.progress import Progress, ProgressLike, silent, to_progress
from xmlcore.ranking import KS
from xmlcore.typing import ArrayLike, DataFrame, Labels, Matrix
from xmlcore.validation import INT32_MAX, check_count

# Where nothing can be tried, the squared hinge and these values are used; searches for C begin with them.
PUBLISHED_C = {"logistic": 10.0, "squared_hinge": 1.0}  # napkinXC, Parabel
FAST_C = {loss: C / 2 for loss, C in PUBLISHED_C.items()}
FAST_CUT = 0.12  # of squared hinges; on held-out rows of eight data sets micro-F1 was at most 0.06 below the best cut's


class Choice(NamedTuple):
    """The settings that a tree is trained with, and the trials that led to them."""

    settings: dict[str, Any]  # a value for each of NAMES
    trials: list[dict[str, Any]]  # in the order in which they were made; see PLT.chosen_
    threshold: float = 0.5  # the score from which on labels are predicted: about the best for micro-F1, by the trials


class LinearModel(TakesWeights):
    """Base of models of linear classifiers, which choose the parameters that are "auto"."""

    settings_: dict[str, Any]
    _SETTINGS = NAMES
    _OF_WEIGHTS = "tree"  # see BYTES_OF_WEIGHT

    def choose(
        self,
        X: Matrix,
        Y: Labels,
        *,
        progress: ProgressLike = silent,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
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

    def estimate(self, X: Matrix, Y: Labels) -> TrainingMemory:
        """Return about how many bytes of memory :meth:`fit` takes, and the model, within a factor of two for most data.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids

        Returns
        -------
        xmlcore.models.plt.memory.TrainingMemory
            ``data``, ``model`` and ``peak``, which is what training takes beside the data. Where so much is not free,
            a PLT says so, and keeps rows and finished classifiers in files meanwhile.
        """
        X, Y = checked_rows(X, read_training_labels(Y, n_labels=self._n_labels_of(Y))[0])
        return self._memory(X, Y)

    def _memory(self, X, Y) -> TrainingMemory:
        n_trees = trees_asked_for(self.get_params(deep=False)) if self._OF_WEIGHTS == "tree" else 1
        return training_memory(X.nnz, Y.nnz, *X.shape, Y.shape[1], self._OF_WEIGHTS, n_trees)

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

    def label_probabilities(self, X: Matrix, labels: ArrayLike) -> np.ndarray:
        """Return the probabilities of requested labels for each row: float64, before they are rounded to float32.

        ``labels`` has the label of each row; a label tree also takes q labels of each row, shape (n, q).
        """
        raise NotImplementedError

    def log_proba_gradient(self, X: Matrix, labels: ArrayLike) -> tuple[np.ndarray, sp.csr_array]:
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

    def _descent(self, settings: dict, seed: int = 0) -> DescentSettings:
        """Return the settings by which classifiers are trained."""
        loss, least = LOSS_NUMBERS[settings["loss"]], np.float32(self.weight_threshold)
        return DescentSettings(loss, np.float32(settings["C"]), np.float32(self.tol), self.max_iter, least, seed)

    def _warn_unconverged(self, late: str, where: str = "") -> None:
        """Warn when classifiers stopped at ``max_iter``."""
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"{late} stopped at max_iter={self.max_iter} before tol={self.tol}{where}: raise max_iter, or tol when "
            "precision does not change",
            ConvergenceWarning,
            stacklevel=6,  # shows the line that called fit
        )

    def _values(self) -> dict[str, Any]:
        """Return the values that are saved of every linear model."""
        values = {"n_features": self.n_features_in_, "loss": self.loss_, "n_iter": self.n_iter_}
        values |= {"compact": self.compact_} if "compact_" in vars(self) else {}
        return values | {"settings": self.settings_, "trials": self._trials}

    def _restore_values(self, values: dict, feature_of_column: np.ndarray) -> None:
        """Check the values that :meth:`_values` returned, and keep those of the choice of settings."""
        for name, least in (("n_features", 1), ("n_iter", 0)):
            check_count(values[name], name, least=least, most=INT32_MAX)
        if values["loss"] not in LOSS_NUMBERS:
            raise ModelFormatError(f"the loss {values['loss']!r:.200} is not one of {', '.join(LOSS_NUMBERS)}")
        check_columns(feature_of_column, values["n_features"])
        settings = values["settings"]
        if set(settings) != set(self._SETTINGS) or AUTO in settings.values():
            raise ModelFormatError(f"the settings {settings!r:.200} lack a value of {', '.join(self._SETTINGS)}")
        for parameter in self.PARAMETERS:
            if parameter.name in settings:
                parameter.check(settings[parameter.name])
        trials = values["trials"]
        if not isinstance(trials, list) or not all(isinstance(trial, dict) for trial in trials):
            raise ModelFormatError(f"the trials {trials!r:.200} are not a list of settings with their measures")
        if (compact := values.get("compact")) is not None:
            if not isinstance(compact, dict):
                raise ModelFormatError(f"its report of compacting {compact!r:.200} is not a dict")
            self.compact_ = compact
        self.settings_, self._trials = settings, trials
        self.n_iter_ = values["n_iter"]


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
    shape = shapes[0] if len(shapes) == 1 else {}
    scaling = {"normalize": IDF if quality == FAST and IDF in scalings else scalings[0]}
    fixed = _alternating(untried_settings(settings | shape | scaling, quality), given, scalings, quality, n_labels)
    untried = Choice(fixed, [], FAST_CUT if quality == FAST and fixed["loss"] == "squared_hinge" else 0.5)
    values_are_open = len(scalings) > 1 or AUTO in (settings["loss"], settings["C"])
    if quality == FAST or n_rows < RULE.least_rows or not (values_are_open or len(shapes) > 1):
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
    if clustered and values_are_open and not has_one_level(n_labels, **shapes[0]):
        of_labels = trials_of_labels(data, min(size + measured, n_rows // 2), entropy, trials)
    most = len(parts) * (len(shapes) + (len(parts[0]) + 1 if of_labels is None else 3 * len(parts[0])))
    found = [decide(settings, shapes, part, trials, of_labels) for part in parts]
    chosen = max(found, key=lambda pair: pair[0])[1]
    # With few rows of each label scores are small, and with few labels few are mistaken for each other: the best cuts
    # for micro-F1 on held-out rows of eight data sets lay mostly between those of the two samples.
    cut = trials.cut(chosen)
    if of_labels is not None:
        cuts = cut, of_labels.cut(chosen, at_C=True)
        cut = math.sqrt(math.prod(cuts)) or max(cuts)
    progress(CHOOSING, 1.0, f"{len(trials.made)} trials")
    return Choice(_alternating(chosen, given, scalings, quality, n_labels), trials.made, cut or 0.5)


def _alternating(chosen: dict, given: str | None, scalings: list, quality: str, n_labels: int) -> dict:
    """Return settings with the scalings of all trees, the one that was chosen first."""
    if given != AUTO:
        return chosen | {"normalize": given}
    # Of one level, the mean of two scalings was on held-out rows no better than the better one of them.
    if quality != BEST or IDF not in scalings or has_one_level(n_labels, *(chosen[name] for name in BINARY)):
        return chosen
    return chosen | {"normalize": "+".join(sorted(scalings, key=lambda scaling: scaling != chosen["normalize"]))}


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
