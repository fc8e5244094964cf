"""OneVsRest: one linear classifier per label, each trained on all rows; the baseline for few labels."""

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import one_vs_rest as kernels
from xmlcore._kernels.plt_rows import take_rows
from xmlcore._kernels.plt_tree import padded_size
from xmlcore.arrays import are_finite, are_lists, bytes_of, columns_of, csr_of, read_only
from xmlcore.models.plt.choosing import Choice, LinearModel
from xmlcore.models.plt.estimator import PLT
from xmlcore.models.plt.on_cluster import by_cluster
from xmlcore.models.plt.parameters import HINGE_SCORES, NORMALIZE
from xmlcore.models.plt.scaling import UNIT, as_read, read_as
from xmlcore.models.plt.training import GROUP_SIZE, Group, GroupResult, RowsOfTree, trained
from xmlcore.models.rows import checked_rows, stacked
from xmlcore.models.saving import ModelFormatError, check_types
from xmlcore.models.weights import weighed_rows
from xmlcore.parallel import row_blocks, run_blocks, run_tasks
from xmlcore.parameters import AUTO, N_JOBS, About, Parameter, described
from xmlcore.progress import of_phases
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, Auto, Matrix
from xmlcore.validation import INT32_MAX, check_label_ids, check_threshold, csr_parts

LOSSES = ("logistic", "squared_hinge")
CHOSEN = ("C", "normalize")  # the parameters that can be "auto"

ABOUT = About(
    title="One classifier per label",
    summary=(
        "A linear classifier for every label, each trained on all rows: the baseline for data with few "
        "labels. Training time grows with rows times labels: thousands of labels take seconds to minutes."
    ),
    paper="Yu, Huang, Lin 2011 (dual coordinate descent); Babbar and Schölkopf, WSDM 2017",
    color="#8C8C8C",
    mark="cross",
    scores_by_loss=HINGE_SCORES,
)

PARAMETERS = (
    Parameter(
        "loss", "Loss",
        "logistic: the probability of a label is the sigmoid of its margin. squared_hinge: linear support "
        "vector machines, which rank as well, but whose probabilities are not reliable.",
        "choice", "logistic", options=LOSSES, option_names=("logistic", "squared hinge"),
        details="With squared_hinge, predict_proba returns sigmoids of margins that were not fitted to be "
        "probabilities. Training does not reward margins beyond 1, so most of these values are too near to "
        "1/2.",
    ),
    Parameter(
        "C", "C, weight of the loss",
        "Weight of the loss, against a penalty on large weights. A larger value fits the training rows more "
        "closely; a smaller value gives smoother classifiers. Automatic: chosen by trials on a sample of the training "
        "rows.",
        "float", AUTO, others=(AUTO,), minimum=1e-6, maximum=1e6, offered=(1e-3, 1e4),
        details="The objective is C times the loss, plus |w|^2 / 2. With fewer than 400 training rows nothing is "
        "tried: C is 10 with the logistic loss, and 1 with the squared hinge.",
    ),
    NORMALIZE,
    Parameter(
        "weight_threshold", "Drop weights below",
        "Weights with a smaller absolute value are removed after training. DiSMEC uses 0.01; 0 keeps all weights.",
        "float", 0.01, minimum=0.0, maximum=1e30, offered=(0.0, 10.0), step=0.01, advanced=True,
        details="Biases are never removed. DiSMEC: Babbar and Schölkopf, WSDM 2017.",
    ),
    Parameter(
        "tol", "Tolerance",
        "Training of a label stops when no row would change its probability by more than this. A smaller value trains "
        "longer.",
        "float", 0.1, minimum=1e-12, maximum=1e30, offered=(1e-6, 1.0), advanced=True,
        details="With the squared hinge it is a difference of slacks. Sixteen labels are trained together, until none "
        "would change by more.",
    ),
    Parameter(
        "max_iter", "Max epochs",
        "Training of a label also stops after this many passes over the rows, and then gives a warning.",
        "int", 1000, minimum=1, maximum=INT32_MAX, offered=(1, 100_000), advanced=True,
    ),
    N_JOBS,
)  # fmt: skip


PHASE = "Training a classifier per label"
PREDICT_ROWS = 512  # largest number of rows of a task
MARGINS_AT_ONCE = 1 << 22  # number of (row, label) margins of 8 bytes that a thread has in memory at a time: 32 MiB
# Arrays of a saved model that hold its weights: where those of each column begin, their labels, and the weights.
BY_COLUMN = {"weight_ptr": "int64", "weight_labels": "int32", "weights": "float32"}
INVALID = "the weights are invalid: the file was damaged or written by something else"


@described
class OneVsRest(LinearModel):
    """One binary linear classifier per label, each trained on all rows.

    This is the baseline for few labels: labels share nothing, and nothing is approximated. Rows are scaled
    (``normalize``) and get a bias feature, which is regularised like the rest, as in :class:`xmlcore.PLT`, whose
    training of a node trains the labels here, sixteen at a time: dual coordinate descent, which reaches the optimum of
    scikit-learn's ``LogisticRegression(solver="liblinear")`` and ``LinearSVC``.

    {parameters}

    Attributes
    ----------
    {of_labels}
    loss_ : str
        The loss that the model was fitted with.
    normalize_ : str or None
        How the classifiers read rows: see :class:`xmlcore.PLT`.
    settings_ : dict
        "C" and "normalize" that the model was fitted with: as given, or chosen.
    chosen_ : DataFrame
        The trials by which they were chosen, if one of them is "auto".
    coef_ : csr_array of float32, shape (L, D)
        Weights of each label; those below ``weight_threshold`` are left out.
    intercept_ : ndarray of float32, shape (L,)
        Biases: -inf for labels that no training row has, whose probability is 0, and inf for labels that all rows have.
    {columns}
    n_weights_ : int
    n_iter_ : int
        The largest number of passes over the rows that a label needed.

    Notes
    -----
    Training takes O(L * epochs * nonzeros of X) time, because each label is trained on all rows. The model takes 16
    bytes per kept weight; without a ``weight_threshold`` the weights are as many as L times the features that occur. A
    prediction takes O(weights of the row's features + L) time.

    C is chosen by the rule of :class:`xmlcore.PLT`, with label trees of one level, which are one-vs-rest, too, but are
    trained faster. On held-out training rows of ten data sets P@1 is 0.7 points below to 16.8 points above that with
    C = 1, 4.3 points above on average, and training takes 2 to 6 times as long
    (``benchmarks/results/one_vs_rest.md``).

    References
    ----------
    H.-F. Yu, F.-L. Huang, C.-J. Lin, "Dual coordinate descent methods for logistic regression", 2011.
    R. Babbar, B. Schölkopf, "DiSMEC: distributed sparse machines for extreme multi-label classification", WSDM 2017.

    Examples
    --------
    >>> from xmlcore import OneVsRest
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = OneVsRest().fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    ABOUT = ABOUT
    _label_bytes = 48
    PARAMETERS = PARAMETERS
    _SETTINGS = CHOSEN
    _OF_WEIGHTS = "labels"

    C: float | Auto = AUTO
    loss: str = "logistic"
    weight_threshold: float = 0.01
    tol: float = 0.1
    max_iter: int = 1000
    n_jobs: int | None = None
    normalize: str | None = AUTO

    def _fit(self, X, Y, progress, sample_weight=None, label_weight=None):
        X, Y, weights, boosts = weighed_rows(*checked_rows(X, Y), sample_weight, label_weight)
        progress = of_phases(progress, {"Choosing settings": 0.3, PHASE: 1.0})
        elsewhere = by_cluster(X)
        choice = self._choice(X, Y, weights, boosts, progress)
        every, n_labels = np.arange(X.shape[0], dtype=np.int32), Y.shape[1]
        rows = RowsOfTree.of(X, Y, choice.settings["normalize"], weights, boosts)
        alone = np.arange(n_labels, dtype=np.int32)  # each label is a node of its own, without a parent
        x, under = rows.for_kernels(alone, np.full(n_labels, -1, np.int32))
        descent = self._descent(choice.settings | {"loss": self.loss})

        def train(block):
            """Train a block of labels: labels and columns of the kept weights, these weights, biases, epochs."""
            first, size = block.first, block.size
            found = done[first] if done else trained(
                x, rows.X.shape[1], rows.scaling, every, under, first, size, descent, first
            )  # fmt: skip
            labels, columns, weights = _weights_of(found, size)
            return labels + first, columns, weights, found.bias, found.epochs, size * (found.violation > self.tol)

        blocks = [Group(first, -1, first, end - first) for first, end in row_blocks(n_labels, GROUP_SIZE)]
        sizes, done = [block.size for block in blocks], {}
        if elsewhere is not None:
            done = {b.first: r for b, r in zip(blocks, elsewhere(rows, x, under, blocks, descent, progress, PHASE))}
        labels, columns, weights, bias, epochs, late = zip(
            *run_tasks(train, blocks, sizes, self.n_jobs, progress, PHASE, "blocks of labels")
        )
        weights, at = np.concatenate(weights), (np.concatenate(labels), np.concatenate(columns))
        by_column = sp.csc_array((weights, at), shape=(n_labels, rows.X.shape[1]))
        read = rows.feature_of_column, rows.n_features, self.loss, choice.settings["normalize"]
        self._set_fitted(csr_parts(by_column), np.concatenate(bias), *read)
        self.settings_, self._trials, self.threshold_ = choice
        self.n_iter_ = max(epochs)
        if any(late):
            self._warn_unconverged(f"{sum(late):,} of {n_labels:,} labels are in blocks that")

    def _choice(self, X, Y, weights, boosts, progress) -> Choice:
        """Return C and how rows are scaled, as given or chosen, and the trials by which they were chosen."""
        if AUTO not in (self.C, self.normalize):
            return Choice({"C": float(self.C), "normalize": self.normalize}, [])
        settings, trials, threshold = self._trial_tree(Y.shape[1])._choice(X, Y, weights, boosts, progress)
        same = settings.keys() - set(CHOSEN)  # what is the same in all trials
        trials = [{name: value for name, value in trial.items() if name not in same} for trial in trials]
        return Choice({name: settings[name] for name in CHOSEN}, trials, threshold)

    def _ranked(self, X, k, progress):
        X = self._check_input(X, k, copy=False)
        x, width = csr_parts(X), min(k, self.n_labels_)
        labels = np.full((X.shape[0], k), -1, np.int32)
        scores = np.zeros((X.shape[0], k), np.float32)

        def one_block(block):
            best = np.full((block[1] - block[0], width), -1, np.int32)
            margins = np.full(best.shape, -np.inf)
            kernels.best_margins(*self._take(x, block), *self._by_column, self.intercept_, best, margins)
            labels[slice(*block), :width], scores[slice(*block), :width] = best, sigmoid(margins)

        blocks = row_blocks(X.shape[0], PREDICT_ROWS)
        run_blocks(one_block, blocks, self.n_jobs, progress, "Predicting")
        return Ranking(labels, scores)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        threshold = check_threshold(threshold)
        X = self._check_input(X, copy=False)
        x, n_labels = csr_parts(X), self.n_labels_

        def one_block(block):
            margins = np.empty((block[1] - block[0], n_labels))
            kernels.all_margins(*self._take(x, block), *self._by_column, self.intercept_, margins)
            # Compare as float32: a value of the result, used as threshold, then keeps its label.
            values = sigmoid(margins).astype(np.float32)
            values[values < threshold] = 0.0
            return sp.csr_array(values)

        blocks = row_blocks(X.shape[0], min(PREDICT_ROWS, max(1, MARGINS_AT_ONCE // n_labels)))
        return stacked(run_blocks(one_block, blocks, self.n_jobs), n_labels)

    def linear_margins(self, labels: ArrayLike) -> tuple[sp.csr_array, np.ndarray]:
        """Return the weights and biases of some labels: the margin of a row x is ``weights @ (x / |x|) + bias``,
        or ``weights @ x + bias`` if ``normalize_`` is not "l2".

        A bias is inf for labels that all training rows have, -inf for labels that no training row has.
        """
        self._check_fitted()
        labels = check_label_ids(labels, None, self.n_labels_)
        return self.coef_[labels], self.intercept_[labels]

    def log_proba_gradient(self, X: Matrix, labels: ArrayLike) -> tuple[np.ndarray, sp.csr_array]:
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        weights, bias = self.linear_margins(labels)
        weights, x, read = weights.astype(np.float64), X.astype(np.float64), as_read(X, self.normalize_)
        along = np.asarray(weights.multiply(read).sum(axis=1)).ravel()
        margins = along + bias
        with np.errstate(over="ignore"):
            log_proba = -np.logaddexp(0.0, -margins)
            slope = np.where(np.isinf(margins), 0.0, np.exp(-np.logaddexp(0.0, margins)))
        if self.normalize_ == UNIT:
            length = np.sqrt(x.multiply(x).sum(axis=1))
            length[length == 0] = np.inf
            slope /= length
            gradient = sp.csr_array(sp.diags_array(slope) @ weights - sp.diags_array(slope * along) @ read)
        else:
            gradient = sp.csr_array(sp.diags_array(slope) @ weights)
        most = np.finfo(np.float32).max  # the gradient can be larger where |x| is nearly 0
        np.clip(gradient.data, -most, most, out=gradient.data)
        gradient = gradient.astype(np.float32)
        gradient.eliminate_zeros()
        return log_proba, gradient

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        by_label = csr_parts(self.coef_) if "coef_" in vars(self) else ()
        arrays = (*by_label, *self._by_column, *self._columns, self.intercept_, self.feature_of_column_)
        return {"n_nodes": self.n_labels_, "depth": 1, "n_weights": self.n_weights_, "model_bytes": bytes_of(arrays)}

    def _set_fitted(self, by_column, intercept, feature_of_column, n_features, loss, normalize):
        """Set the fitted attributes, given where the weights of each column begin, their labels, and the weights."""
        self.loss_, self.normalize_ = loss, read_as(normalize)
        self.n_features_in_, self.n_labels_ = n_features, intercept.size
        self.feature_of_column_, self.intercept_ = feature_of_column, intercept
        self._columns = columns_of(feature_of_column, n_features)
        vars(self).pop("coef_", None)
        self._by_column: tuple = read_only(tuple(by_column))
        self.n_weights_ = int(by_column[2].size)

    @functools.cached_property
    def coef_(self) -> sp.csr_array:
        """Weights of each label, of which a copy is made when they are needed."""
        by_column = csr_of(*self._by_column, (max(1, self.feature_of_column_.size), self.n_labels_))
        by_label = sp.csr_array(by_column.T)
        coef = csr_of(*csr_parts(by_label), (self.n_labels_, self.n_features_in_))
        coef.indices = self.feature_of_column_[by_label.indices]
        coef.sort_indices()
        return coef

    def _take(self, x, block):
        """Return a block of rows in the model's columns, as classifiers read them: pointers, columns, values."""
        return take_rows(*x, *block, *self._columns, self.normalize_ == UNIT)

    def label_probabilities(self, X: Matrix, labels: ArrayLike) -> np.ndarray:
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        read = as_read(X, self.normalize_)
        margins = np.empty(labels.size)
        for start in range(0, labels.size, PREDICT_ROWS):  # a label's weights are copied for each of its rows
            part = slice(start, start + PREDICT_ROWS)
            margins[part] = self.coef_[labels[part]].multiply(read[part]).sum(axis=1)
        return sigmoid(margins + self.intercept_[labels])

    def _trial_tree(self, n_labels):
        """Return the label tree of one level that is trained to choose settings."""
        given = {name: getattr(self, name) for name in CHOSEN}
        return PLT(loss=self.loss, arity=2, max_leaf_labels=n_labels, n_jobs=self.n_jobs, **given)

    def warm_up_pieces(self) -> dict:
        """See :meth:`MultiLabelModel.warm_up_pieces`; trials use the kernels of label trees."""
        own = super().warm_up_pieces()
        return own | self._trial_tree(8).warm_up_pieces() if AUTO in (self.C, self.normalize) else own

    def _state(self):
        arrays = {"feature_of_column": self.feature_of_column_, "intercept": self.intercept_}
        return self._values(), arrays | dict(zip(BY_COLUMN, self._by_column))

    def _restore(self, values, arrays):
        feature_of_column = arrays["feature_of_column"]
        self._restore_values(values, feature_of_column)
        check_types(arrays, {"intercept": (np.float32, 1)})
        intercept, n_columns = arrays["intercept"], max(1, feature_of_column.size)
        check_types(arrays, {name: (dtype, 1) for name, dtype in BY_COLUMN.items()})
        found = tuple(arrays[name] for name in BY_COLUMN)
        if not _are_weights(*found, intercept=intercept, n_columns=n_columns):
            raise ModelFormatError(INVALID)
        self._set_fitted(
            found, intercept, feature_of_column, values["n_features"], values["loss"], self.settings_["normalize"]
        )


def sigmoid(margins):
    """Return 1 / (1 + exp(-margin)), which is precise for margins of any size."""
    return np.exp(-np.logaddexp(0.0, -margins))


def _are_weights(ptr, labels, weights, *, intercept, n_columns) -> bool:
    """Return whether saved arrays have a bias for each label, and finite weights of labels that there are."""
    return (
        intercept.size > 0
        and are_lists(ptr, n_columns, labels, intercept.size, weights)
        and are_finite(weights)
        and not np.isnan(intercept).any()
    )


def _weights_of(group: GroupResult, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places, the columns and the values of the weights of a group, which keeps them as pairs or densely."""
    if group.ptr.size:
        return group.child.astype(np.int64), np.repeat(group.columns, np.diff(group.ptr.astype(np.int64))), group.value
    dense = group.value.reshape(group.columns.size, padded_size(size))
    at, places = np.nonzero(dense)
    return places, group.columns[at], dense[at, places]
