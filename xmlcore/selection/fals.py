"""FALS: features selected for each label by the gradients of a small network."""

import math
import numbers
from functools import partial

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import ModelFormatError, MultiLabelModel
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.selection import _binary, _checks, _orders, _scoring
from xmlcore.selection._checks import DRAWN, SCORING, check_choice
from xmlcore.selection._network import (
    ACTIVATIONS,
    DENSE,
    Network,
    Settings,
    Training,
    Workers,
    layer_sizes,
    steps_per_epoch,
)
from xmlcore.selection.attribution import IG_STEPS, METHODS, attributions
from xmlcore.system import effective_jobs
from xmlcore.validation import check_count, check_features, check_labels, csr_parts

PATTERNS = ("FALS", "FAMS", "FILS", "FIMS")
SHARED = ("FAMS", "FIMS")
STEPS_PER_EPOCH = 100
KEPT = (
    "n_selected_",
    "order_",
    "scoring_",
    "n_scored_",
    "costs_",
    "layer_sizes_",
    "binary_",
    "shared_",
    "seed_",
    "n_features_in_",
    "n_labels_",
    "n_rows_",
)
EXACT_UP_TO = 1e13  # multiply-adds: about a minute and a half on one core
DRAWS, SAMPLED_ROWS = 16, 1000


class FALS(MultiLabelModel):
    """Label-specific feature selection by feature attribution.

    A perceptron with a hidden layer learns all labels. A feature's score for a label is the mean, over training rows,
    of the squared gradient of the label's probability by the feature; each label keeps the features of largest score.

    Parameters
    ----------
    n_features : int or float
        Features to select: a count, or a share of all in (0, 1], rounded, at least one. The paper takes 0.1.
    pattern : {"FALS", "FAMS", "FILS", "FIMS"}
        "FALS": for each label by its own scores. "FAMS": one selection for all labels, by the sum of their scores.
        "FILS" and "FIMS": the same with Fisher information, squared gradients over f (1 - f), in their place.
    n_epochs : int
        Passes over the rows. The paper takes 10 and tries 20, 50 and 100.
    random_state : int or None
        Seed. The same seed gives the same selection, whatever the number of threads; None draws one.
    n_hidden : int, optional
        Width of hidden layers. None: round(sqrt(D L)), and a geometric series from D to L when there are more; with
        ``binary`` round(sqrt(D)).
    n_layers : int from 1 to 5
        Layers of weights; 1 is a linear model.
    activation : {"relu", "sigmoid"}
        Of hidden units.
    l2 : float, at least 0
        The loss, a sum over labels and a mean over rows, gets l2 / 2 times the squared weights. Then every step moves
        all weights, which takes longer on sparse data.
    dropout : float in [0, 1)
        Share of hidden units left out, at random, in each training step.
    batch_size : int, optional
        Rows per training step. None: what gives 100 steps per epoch, from 32 to 1,024.
    learning_rate : float, positive
        Of Adam.
    binary : bool
        FALSb: one network for each label, in place of one for all. Two layers.
    attribution : {"gradient", "integrated_gradients", "deeplift", "lrp"}
        What is squared and averaged; see Notes. Other than the gradient only with patterns "FALS" and "FAMS".
    scoring : {"auto", "exact", "sampled"}
        "exact": the mean over all training rows, in the cheapest order that is known. "sampled": an estimate with a
        standard error. "auto": exact where that takes at most 1e13 multiply-adds, else sampled; ``scoring_`` says
        which it was.
    n_scored_rows : int, optional
        Rows that sampled scores come from, at most as many as there are: drawn for each label, in proportion to what
        they count, 16 when None; with other attributions than the gradient the same rows for all labels, 1,000 when
        None.
    max_score_bytes : int
        Scores of all features for all labels, and the standard errors of sampled ones, are kept when they take no more
        bytes than this; else only the scores of selected features.
    keep_network : bool
        Keep the network, which predictions and attributions of single rows need.
    n_jobs : int or None
        Threads; all cores when None or -1.

    Attributes
    ----------
    selected_ : ndarray of int32, shape (L, k)
        Features of each label, best first, the smaller id among equals. Patterns FAMS and FIMS repeat one row.
    selected_scores_ : ndarray of float32, shape (L, k)
    scores_ : ndarray of float32, shape (L, D), or (1, D) with FAMS and FIMS
        Missing where they would have exceeded ``max_score_bytes``.
    standard_error_ : ndarray of float32, as ``scores_``
        Of sampled scores; missing when they are exact. From few rows it is often too small: from 16, two errors cover
        some 85 %, from 64 some 91 %.
    n_selected_ : int
        k.
    order_ : str
        Order of computation: "closed form", "direct", "expanded", "reference", "drawn rows", "present features".
    scoring_ : {"exact", "sampled"}
    n_scored_ : int
        Rows that a score comes from.
    costs_ : dict
        Multiply-adds of the orders that were possible.
    layer_sizes_ : list of int
        D, widths of hidden layers, L; with ``binary``, of the network of one label.
    binary_, shared_ : bool
        Whether labels had a network each; whether all have the same features (FAMS and FIMS).
    seed_ : int
        ``random_state``, or the seed that was drawn for it.
    network_ : Network, or None
        Weights and biases; None with ``keep_network=False``.
    n_features_in_, n_labels_, n_rows_ : int

    Notes
    -----
    Where the paper is silent: batches give 100 steps per epoch; weights start uniform in ±1/sqrt(n_in), as biases do;
    the learning rate is 0.001; attributions other than gradients are squared and averaged as gradients are; LRP's
    smoothing takes the sign of what it is added to. Features are taken as they are, not scaled: where one has values a
    thousand times those of the median feature, or where the scores of a label are all 0, there is a warning.

    References
    ----------
    "Feature attribution for label-specific feature selection in multi-label learning", under review.
    """

    def __init__(
        self,
        n_features=0.1,
        pattern="FALS",
        n_epochs=10,
        random_state=0,
        n_hidden=None,
        n_layers=2,
        activation="relu",
        l2=0.0,
        dropout=0.0,
        batch_size=None,
        learning_rate=0.001,
        binary=False,
        attribution="gradient",
        scoring="auto",
        n_scored_rows=None,
        max_score_bytes=2 << 30,
        keep_network=True,
        n_jobs=None,
    ):
        self.n_features = n_features
        self.pattern = pattern
        self.n_epochs = n_epochs
        self.random_state = random_state
        self.n_hidden = n_hidden
        self.n_layers = n_layers
        self.activation = activation
        self.l2 = l2
        self.dropout = dropout
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.binary = binary
        self.attribution = attribution
        self.scoring = scoring
        self.n_scored_rows = n_scored_rows
        self.max_score_bytes = max_score_bytes
        self.keep_network = keep_network
        self.n_jobs = n_jobs

    def fit(self, X, Y, progress: Progress = silent) -> "FALS":
        """Train the network on the rows of X with the labels Y, score features and select.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
            Rows without labels are examples of no label.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

        Returns
        -------
        FALS
            Itself. When it is stopped, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data, a training that diverged, or a network whose gradients are all 0; the message names
            them.
        """
        from threadpoolctl import threadpool_limits

        self._check_params()
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        if Y.nnz == 0:
            raise ValueError("no row of Y has a label: there is nothing to learn")
        k = self._count(X.shape[1])
        self._check_sample(X.shape[0])
        seed = int(np.random.default_rng().integers(1 << 31) if self.random_state is None else self.random_state)
        _checks.warn_of_scales(X)
        # One thread for each product: several would wait for each other, and could round otherwise.
        with threadpool_limits(1, user_api="blas"), Workers(self.n_jobs) as workers:
            network = self._trained(X, Y, seed, workers, progress)
            _checks.check_finite(network)
            fitted = self._scored(network, X, k, seed, workers, progress)
        _checks.check_scores(fitted, k)
        if not self.keep_network:
            fitted["network_"] = None
        for name in ("scores_", "standard_error_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(fitted)
        return self

    def estimate(self, X, n_labels: int, nnz: int | None = None) -> dict:
        """Say what ``fit`` would take, without doing it.

        Parameters
        ----------
        X : matrix, or (N, D)
            The training rows, or their shape.
        n_labels : int
            L.
        nnz : int, optional
            Entries of X that are not 0, where X is a shape; all when None. Of a matrix they are counted.

        Returns
        -------
        dict
            ``seconds`` (of which ``training_seconds`` and ``scoring_seconds``), ``bytes`` beside X and Y at the peak,
            ``order`` and ``scoring`` (as the attributes ``order_`` and ``scoring_``), ``n_hidden`` (width of the first
            hidden layer, 0 when there is none), ``n_steps`` (of training) and ``costs`` (multiply-adds of the orders).
            Seconds come from a matrix product measured now, with nothing else running; expect them within a factor of
            three.
        """
        self._check_params()
        n_labels = check_count(n_labels, "n_labels")
        if isinstance(X, tuple):
            if len(X) != 2:
                raise ValueError(f"X as a shape must be (rows, features), not {X!r}")
            n_rows, n_features = (check_count(n, name) for n, name in zip(X, ("rows", "features")))
            most = n_rows * n_features
            nnz = most if nnz is None else check_count(nnz, "nnz", 0, most)
        else:
            X = check_features(X)
            (n_rows, n_features), nnz = X.shape, X.nnz
        self._check_sample(n_rows)
        sizes = self._sizes(n_features, n_labels)
        networks = n_labels if self.binary else 1
        size = _orders.Size(n_rows, n_features, 1 if self.binary else n_labels, tuple(sizes[1:-1]), nnz)
        order, scoring, costs, rows_scored = self._plan(size, networks)
        dense = nnz > DENSE * n_rows * n_features and not self.binary
        batch = self._batch(n_rows)
        training = networks * _orders.training_cost(size, self.n_epochs, batch, dense, self.l2 > 0)
        speed = _orders.multiply_adds_per_second() * effective_jobs(self.n_jobs)
        weights = sum((a + 1) * b for a, b in zip(sizes[:-1], sizes[1:]))
        training_bytes = 12 * weights + 12 * batch * sum(sizes[1:]) + (4 * n_rows * n_features if dense else 0)
        if self.binary:
            training_bytes = 4 * weights * networks + effective_jobs(self.n_jobs) * 8 * weights
        kept = min(self._score_bytes(n_labels, n_features, scoring), self.max_score_bytes)
        width = 1 if self.activation == "relu" else 4
        slopes = width * n_rows * sum(sizes[1:-1]) if order in ("reference", "expanded", "direct") else 0
        scoring_bytes = 4 * weights * networks + slopes + kept + min(_scoring.MEMORY, 8 * n_labels * n_rows)
        if order == DRAWN:
            at_once = min(_scoring.rows_at_once(n_features), 16 * (rows_scored + 1))
            scoring_bytes += effective_jobs(self.n_jobs) * 12 * at_once * (n_features + sizes[1])
            scoring_bytes += min(_scoring.MEMORY, 8 * n_labels * rows_scored)
        return {
            "seconds": (training + costs[order]) / speed,
            "training_seconds": training / speed,
            "scoring_seconds": costs[order] / speed,
            "bytes": int(max(training_bytes, scoring_bytes)),
            "order": order,
            "scoring": scoring,
            "n_hidden": sizes[1] if len(sizes) > 2 else 0,
            "n_steps": self.n_epochs * steps_per_epoch(n_rows, batch),
            "costs": costs,
        }

    def top_features(self, label: int, n: int = 20, feature_names=None):
        """Return the best features of a label.

        Parameters
        ----------
        label : int
        n : int
            At most as many as there are scores of.
        feature_names : sequence of str, optional

        Returns
        -------
        pandas.DataFrame
            ``feature`` (id), ``name`` when there are names, ``score`` and, when sampled, ``standard_error``.
        """
        import pandas as pd

        self._check_fitted()
        label = check_count(label, "label", 0, self.n_labels_ - 1)
        n = check_count(n, "n")
        if "scores_" in self.__dict__:
            row = label if self.scores_.shape[0] > 1 else 0
            features = best(self.scores_[row], min(n, self.n_features_in_))
            columns = {"feature": features, "score": self.scores_[row][features]}
            if "standard_error_" in self.__dict__:
                columns["standard_error"] = self.standard_error_[row][features]
        else:
            columns = {"feature": self.selected_[label][:n], "score": self.selected_scores_[label][:n]}
        frame = pd.DataFrame(columns)
        if feature_names is not None:
            if len(feature_names) != self.n_features_in_:
                raise ValueError(
                    f"there are {len(feature_names)} feature names, but the selection was made from "
                    f"{self.n_features_in_} features"
                )
            frame.insert(1, "name", [feature_names[i] for i in frame["feature"]])
        return frame

    def support(self, label: int | None = None) -> np.ndarray:
        """Mark the features selected for a label, or for any.

        Parameters
        ----------
        label : int, optional
            None: the union over all labels.

        Returns
        -------
        ndarray of bool, shape (D,)
        """
        self._check_fitted()
        rows = self.selected_ if label is None else self.selected_[check_count(label, "label", 0, self.n_labels_ - 1)]
        mask = np.zeros(self.n_features_in_, bool)
        mask[rows] = True
        return mask

    def attributions(self, X, method: str | None = None, n_steps: int = IG_STEPS) -> np.ndarray:
        """Attributions of every feature to every label in single rows, not squared.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
            A few rows.
        method : {"gradient", "integrated_gradients", "deeplift", "lrp"}, optional
            The estimator's own when None.
        n_steps : int
            Points of the integral of integrated gradients. Scores are made with the paper's 50.

        Returns
        -------
        ndarray of float32, shape (n, L, D)
            4 n L D bytes.
        """
        method = self.attribution if method is None else method
        check_choice(method, METHODS, "method")
        n_steps = check_count(n_steps, "n_steps")
        network, X = self._network(), self._check_input(X)
        if not self.binary_:
            return attributions(network, X, method, n_steps)
        return np.concatenate(
            [attributions(_binary.of_label(network, c), X, method, n_steps) for c in range(self.n_labels_)], axis=1
        )

    def predict_topk(self, X, k: int = 5, progress: Progress = silent) -> Ranking:
        """Return the k labels that the network finds most probable.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed L: rows are padded with label -1 and score 0.
        progress : callable, optional

        Returns
        -------
        Ranking
        """
        k = check_count(k, "k")
        X = self._check_input(X)
        labels, scores = np.full((X.shape[0], k), -1, np.int32), np.zeros((X.shape[0], k), np.float32)
        width = min(k, self.n_labels_)
        progress("Predicting", 0.0, f"0 of {X.shape[0]:,} rows")
        for a, b in _scoring.row_blocks(X.shape[0]):
            f = self._outputs(X[a:b])
            labels[a:b, :width] = np.argsort(-f, axis=1, kind="stable")[:, :width]
            scores[a:b, :width] = np.take_along_axis(f, labels[a:b, :width], axis=1)
            progress("Predicting", b / X.shape[0], f"{b:,} of {X.shape[0]:,} rows")
        return Ranking(labels, scores)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
        """Probabilities that the network gives.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]
            Smaller ones are left out.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)
        """
        if not isinstance(threshold, numbers.Real) or not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], not {threshold!r}")
        X = self._check_input(X)
        parts = []
        for a, b in _scoring.row_blocks(X.shape[0]):
            f = self._outputs(X[a:b])
            parts.append(sp.csr_array(np.where(f >= threshold, f, 0)))
        empty = sp.csr_array((0, self.n_labels_), dtype=np.float32)
        return sp.csr_array(sp.vstack([empty, *parts], format="csr"))

    def __getattr__(self, name):
        # Reached only when the attribute is missing.
        if name == "scores_" and "selected_" in self.__dict__:
            needed = self._score_bytes(self.n_labels_, self.n_features_in_, self.scoring_, self.shared_)
            whose = "all labels together" if self.shared_ else f"{self.n_labels_:,} labels"
            errors = " and their standard errors" if self.scoring_ == "sampled" else ""
            raise AttributeError(
                f"scores of all {self.n_features_in_:,} features for {whose}{errors} take {needed:,} bytes, more than "
                f"max_score_bytes; selected_scores_ has those of the selected features"
            )
        if name == "standard_error_" and "selected_" in self.__dict__:
            why = "the scores are exact" if self.scoring_ == "exact" else "scores_ were not kept either"
            raise AttributeError(f"there is no standard_error_: {why}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _outputs(self, X):
        network = self._network()
        if not self.binary_:
            return network.outputs(X)
        return np.concatenate([_binary.of_label(network, c).outputs(X) for c in range(self.n_labels_)], axis=1)

    def _network(self) -> Network:
        self._check_fitted()
        if self.network_ is None:
            raise ValueError("the network was not kept: fit with keep_network=True")
        return self.network_

    def _check_params(self):
        if isinstance(self.n_features, (bool, np.bool_)) or not isinstance(self.n_features, numbers.Real):
            raise TypeError(f"n_features must be a count or a share of the features, not {self.n_features!r}")
        if isinstance(self.n_features, numbers.Integral):
            check_count(self.n_features, "n_features")
        elif not 0 < self.n_features <= 1:
            raise ValueError(f"n_features as a share must be in (0, 1], not {self.n_features!r}: counts are integers")
        check_choice(self.pattern, PATTERNS, "pattern")
        check_choice(self.activation, ACTIVATIONS, "activation")
        check_choice(self.attribution, METHODS, "attribution")
        check_choice(self.scoring, SCORING, "scoring")
        check_count(self.n_epochs, "n_epochs")
        check_count(self.n_layers, "n_layers", 1, 5)
        check_count(self.max_score_bytes, "max_score_bytes", 0)
        for name, least in (("n_hidden", 1), ("batch_size", 1), ("n_scored_rows", 2)):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name, least)
        if self.random_state is not None:
            check_count(self.random_state, "random_state", 0, 2**32 - 1)
        for name, least, below in (("l2", 0, math.inf), ("dropout", 0, 1), ("learning_rate", 1e-12, math.inf)):
            value = getattr(self, name)
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
                raise TypeError(f"{name} must be a number, not {value!r}")
            if not least <= value < below:
                bounds = f"at least {least}" if below == math.inf else f"in [{least}, {below})"
                raise ValueError(f"{name} must be {bounds}, not {value!r}")
        for name in ("binary", "keep_network"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.pattern in ("FILS", "FIMS") and self.attribution != "gradient":
            raise ValueError(
                f"pattern={self.pattern!r} is Fisher information, which is made of gradients: "
                f"attribution={self.attribution!r} goes with patterns 'FALS' and 'FAMS'"
            )
        if self.n_layers == 1 and (self.n_hidden is not None or self.dropout):
            raise ValueError("n_layers=1 has no hidden layer: n_hidden and dropout have nothing to act on")
        if self.binary and self.n_layers != 2:
            raise ValueError(f"binary=True is for n_layers=2, not {self.n_layers}")
        if self.binary and self.scoring == "sampled":
            raise ValueError(
                "binary=True has small networks, whose exact scores are cheap: scoring='sampled' is not for it"
            )
        if self.n_layers == 1 and self.attribution == "gradient" and self.scoring == "sampled":
            raise ValueError("n_layers=1 has exact scores at no cost: scoring='sampled' is not for it")
        effective_jobs(self.n_jobs)

    def _count(self, n_features):
        if isinstance(self.n_features, numbers.Integral):
            if self.n_features > n_features:
                raise ValueError(f"n_features is {self.n_features}, but X has {n_features} features")
            return int(self.n_features)
        return max(1, round(self.n_features * n_features))

    def _check_sample(self, n_rows):
        """Whether there are as many rows as scores are to come from."""
        if self.scoring == "sampled" and self.n_scored_rows is not None and self.n_scored_rows > n_rows:
            raise ValueError(
                f"n_scored_rows is {self.n_scored_rows:,}, but X has {n_rows:,} rows: scoring='exact' takes all"
            )

    def _score_bytes(self, n_labels, n_features, scoring, shared=None):
        """What scores of all features take, with their errors."""
        shared = self.pattern in SHARED if shared is None else shared
        return 4 * n_features * (1 if shared else n_labels) * (2 if scoring == "sampled" else 1)

    def _batch(self, n_rows):
        return self.batch_size or min(1024, max(32, round(n_rows / STEPS_PER_EPOCH)))

    def _sizes(self, n_features, n_labels):
        if self.binary:
            return [n_features, self.n_hidden or max(1, round(math.sqrt(n_features))), 1]
        return layer_sizes(n_features, n_labels, self.n_layers, self.n_hidden)

    def _trained(self, X, Y, seed, workers, progress):
        settings = Settings(
            self.activation, self.n_epochs, self._batch(X.shape[0]), self.learning_rate, self.l2, self.dropout, seed
        )
        sizes = self._sizes(X.shape[1], Y.shape[1])
        if self.binary:
            return _binary.train(csr_parts(X), csr_parts(Y)[:2], Y.shape[1], sizes, settings, workers, progress)
        return Training(csr_parts(X), csr_parts(Y)[:2], sizes, settings, workers).run(progress)

    def _plan(self, size, networks, deviation=_orders.TYPICAL_DEVIATION):
        """Order of computation, whether it is exact, costs of all orders, and the rows that a score comes from."""
        if self.attribution == "gradient":
            costs = _orders.gradient_costs(size, self.activation, deviation)
            if self.binary:
                costs = {"expanded": costs["expanded"]}
            exact = min(costs, key=costs.get)
            other, n_rows = DRAWN, self.n_scored_rows or DRAWS
            if size.hidden and not self.binary:
                costs[other] = _orders.sampled_cost(size, n_rows)
        else:
            exact, other = "present features", "present features of some rows"
            n_rows = min(size.rows, self.n_scored_rows or SAMPLED_ROWS)
            costs = {exact: _orders.present_cost(size, self.attribution)}
            if not self.binary:
                costs[other] = _orders.present_cost(size, self.attribution, n_rows / size.rows)
        costs = {name: networks * cost for name, cost in costs.items()}
        sampled = self.scoring == "sampled" or (
            self.scoring == "auto" and other in costs and costs[exact] > max(EXACT_UP_TO, costs[other])
        )
        return (other, "sampled", costs, n_rows) if sampled else (exact, "exact", costs, size.rows)

    def _scored(self, network, X, k, seed, workers, progress):
        n_features, n_labels = X.shape[1], network.biases[-1].size
        sizes = self._sizes(n_features, n_labels)
        size = _orders.Size(X.shape[0], n_features, 1 if self.binary else n_labels, tuple(sizes[1:-1]), X.nnz)
        fisher, shared = self.pattern in ("FILS", "FIMS"), self.pattern in SHARED
        task = _scoring.Task(network, X, self.attribution, fisher, workers, progress, seed)
        networks = n_labels if self.binary else 1
        order, scoring, costs, n_rows = self._plan(size, networks)
        if self.binary:
            blocks = _binary.scores(task)
        elif order in ("reference", "expanded", "direct"):
            slopes = _scoring.slopes(task)
            found = None
            if "reference" in costs:  # what it costs depends on the rows
                progress("Comparing rows", 0.0, f"{X.shape[0]:,} rows")
                found = _scoring.find_references(slopes[0], seed)
                order, scoring, costs, n_rows = self._plan(size, networks, found.share)
            blocks = self._blocks(order, task, slopes, found, n_rows)
        else:
            blocks = self._blocks(order, task, None, None, n_rows, shared)
        kept = self._score_bytes(n_labels, n_features, scoring) <= self.max_score_bytes
        rows = _Rows(n_labels, n_features, k, shared, kept, scoring == "sampled")
        for block in blocks:
            rows.add(block)
        return {
            **rows.fitted(),
            "n_selected_": k,
            "order_": order,
            "scoring_": scoring,
            "n_scored_": int(n_rows),
            "costs_": costs,
            "layer_sizes_": sizes,
            "network_": network,
            "binary_": bool(self.binary),
            "shared_": shared,
            "seed_": seed,
            "n_features_in_": n_features,
            "n_labels_": n_labels,
            "n_rows_": X.shape[0],
        }

    @staticmethod
    def _blocks(order, task, slopes, found, n_rows, shared=False):
        choices = {
            "closed form": partial(_scoring.closed_form, task),
            "direct": partial(_scoring.direct_order, task, slopes),
            "expanded": lambda: _scoring.expanded_order(task, slopes[0]),
            "reference": partial(_scoring.reference_order, task, found),
            DRAWN: partial(_scoring.sampled_order, task, n_rows),
            "present features": partial(_scoring.present_order, task, None),
            "present features of some rows": lambda: _scoring.present_order(
                task,
                np.sort(
                    np.random.default_rng([task.seed, _scoring.ROW_SAMPLE]).choice(
                        task.X.shape[0], n_rows, replace=False
                    )
                ),
                shared,
            ),
        }
        return choices[order]()

    def _state(self):
        values = {name.rstrip("_"): getattr(self, name) for name in KEPT}
        arrays = {
            "selected": self.selected_[:1] if self.shared_ else self.selected_,
            "selected_scores": self.selected_scores_[:1] if self.shared_ else self.selected_scores_,
        }
        for name in ("scores_", "standard_error_"):
            if name in self.__dict__:
                arrays[name.rstrip("_")] = getattr(self, name)
        if self.network_ is not None:
            values["activation"] = self.network_.activation
            for i, (weight, bias) in enumerate(zip(self.network_.weights, self.network_.biases)):
                arrays |= {f"weight_{i}": weight, f"bias_{i}": bias}
        return values, arrays

    def _restore(self, values, arrays):
        _checks.check_saved(values)
        L, D, k = values["n_labels"], values["n_features_in"], values["n_selected"]
        rows = 1 if values["shared"] else L
        expected = {"selected": ((rows, k), "int32"), "selected_scores": ((rows, k), "float32")}
        expected |= {name: ((rows, D), "float32") for name in ("scores", "standard_error") if name in arrays}
        sizes = values["layer_sizes"]
        networks = (L,) if values["binary"] else ()
        if ("activation" in values) != ("weight_0" in arrays):
            raise ModelFormatError("of its network, either the weights or the activation is missing")
        layers = range(len(sizes) - 1) if "activation" in values else range(0)
        for i in layers:
            expected |= {f"weight_{i}": ((*networks, sizes[i], sizes[i + 1]), "float32")}
            last_of_binary = values["binary"] and i == len(sizes) - 2
            expected |= {f"bias_{i}": ((L,) if last_of_binary else (*networks, sizes[i + 1]), "float32")}
        for name, (shape, dtype) in expected.items():
            array = arrays[name]
            if array.shape != shape or array.dtype != dtype:
                raise ModelFormatError(f"{name} in its arrays is {array.dtype} {array.shape}, not {dtype} {shape}")
            if dtype == "float32" and not _checks.is_finite(array):
                raise ModelFormatError(f"{name} in its arrays has values that are not finite")
        ordered = np.sort(arrays["selected"], axis=1)
        if ordered[:, 0].min() < 0 or ordered[:, -1].max() >= D or (ordered[:, 1:] == ordered[:, :-1]).any():
            raise ModelFormatError("the selected features in its arrays are no features, or one is there twice")
        network = None
        if "activation" in values:
            network = Network(
                tuple(arrays[f"weight_{i}"] for i in layers), tuple(arrays[f"bias_{i}"] for i in layers),
                values["activation"],
            )  # fmt: skip
        fitted = {f"{name}_": value for name, value in values.items() if name != "activation"}
        for name in ("scores", "standard_error"):
            if name in arrays:
                fitted[f"{name}_"] = arrays[name]
        for name in ("selected", "selected_scores"):
            fitted[f"{name}_"] = np.broadcast_to(arrays[name], (L, k)) if rows == 1 else arrays[name]
        self.__dict__.update(fitted, network_=network)


class _Rows:
    """Selections, and scores if they are kept, as blocks of labels come in."""

    def __init__(self, n_labels, n_features, k, shared, kept, sampled):
        self.n_labels, self.k, self.shared = n_labels, k, shared
        rows = 1 if shared else n_labels
        self.sums = np.zeros((2, n_features)) if shared else None
        self.scores = np.empty((rows, n_features), np.float32) if kept else None
        self.error = np.empty((rows, n_features), np.float32) if kept and sampled else None
        self.selected = np.empty((rows, k), np.int32)
        self.selected_scores = np.empty((rows, k), np.float32)

    def add(self, block):
        if self.shared:
            self.sums[0] += block.scores.sum(axis=0, dtype=np.float64)
            if block.error is not None:  # labels' samples are independent, or the block is the sum of all
                self.sums[1] += np.square(block.error, dtype=np.float64).sum(axis=0)
            return
        self._take(block.labels, block.scores, block.error)

    def _take(self, rows, scores, error):
        if not _checks.is_finite(scores):
            raise ValueError("scores are not finite, as weights are very large: lower learning_rate, or scale features")
        if self.scores is not None:
            self.scores[rows] = scores
        if self.error is not None:
            self.error[rows] = error
        for label, own in zip(range(rows.start, rows.stop), scores):
            self.selected[label] = best(own, self.k)
            self.selected_scores[label] = own[self.selected[label]]

    def fitted(self):
        if self.shared:
            sums = self.sums.astype(np.float32)
            self._take(slice(0, 1), sums[:1], np.sqrt(sums[1:]))
        shape = (self.n_labels, self.k)
        out = {
            "selected_": np.broadcast_to(self.selected, shape),
            "selected_scores_": np.broadcast_to(self.selected_scores, shape),
        }
        if not self.shared:
            out = {"selected_": self.selected, "selected_scores_": self.selected_scores}
        if self.scores is not None:
            out["scores_"] = self.scores
        if self.error is not None:
            out["standard_error_"] = self.error
        return out


def best(scores, k):
    """The k features of largest score, best first, the smaller id among equals; int32 (k,)."""
    least = np.partition(scores, scores.size - k)[scores.size - k]
    candidates = np.flatnonzero(scores >= least)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k].astype(np.int32)
