"""Trials of settings of a label tree: trees trained on samples of the training rows, and what they are worth."""

import math
import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.models.plt.training import RowsOfTree
from xmlcore.models.rows import CheckedRows
from xmlcore.ranking import KS

TYPES = {"arity": int, "max_leaf_labels": int, "loss": str, "C": float, "normalize": str}  # of what can be "auto"
NAMES = tuple(TYPES)
STREAM = 4  # Number of the random stream by which the rows of trials are drawn.
CUT_ROWS, CUT_LABELS = 1000, 50  # So many rows, and labels of each, are looked at to choose where to cut.


class TrialRule(NamedTuple):
    """The numbers by which settings are chosen.

    ``sample_least``, ``largest_share``, ``most_cost``, ``shape_gain``, ``C_power`` and ``C_trust`` were compared on
    held-out training rows of thirteen data sets and parts of them. ``benchmarks/results/settings_rule.md`` also has
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


def on_sample(C: float, share: float, rule: TrialRule = RULE) -> float:
    """Return the C that has on a share of each label's rows about the effect that ``C`` has on all of them."""
    return C * share**rule.C_power


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
    """Result of a trial: the line of :attr:`LinearModel.chosen_`, its model (None if it failed), hits of rows."""

    trial: dict[str, Any]
    model: Any
    hits: np.ndarray


class Trials:
    """Trains trees on a sample of some rows, and measures them on others; ``tried`` has what :meth:`run` found."""

    def __init__(self, data: Data, size, measured, share, seed, n_labels, fit, report, made=None):
        self.n_labels = n_labels  # of all training data
        order = np.random.default_rng(seed).permutation(data.X.shape[0])
        self.sample = data.of_rows(np.sort(order[:size]))
        X, self.Y_measured, self.measured_weights, _ = data.of_rows(np.sort(order[size : size + measured]))
        self.X_measured = CheckedRows(X)  # which no trial copies
        self.share = share  # of the rows of a label, those in the sample
        self.least = 1 / measured  # precision: one hit in a trial that else has none must not decide
        self.fit, self.report = fit, report
        self.rows, self.trees, self.tried = {}, {}, []
        self.of_labels, self.made = made is not None, [] if made is None else made  # with the trials on another sample

    @property
    def impossible(self) -> bool:
        """Whether the sample, or the rows to measure on, have no labels."""
        return self.sample.Y.nnz == 0 or self.Y_measured.nnz == 0

    def run(self, settings: dict) -> dict:
        settings = {name: settings[name] for name in NAMES}
        number = len(self.made)
        text = ", ".join(f"{name}={x:g}" if name == "C" else f"{name}={x!r:.60}" for name, x in settings.items())

        def report(*_):
            """Report which trial it is; while a trial runs, this may stop it."""
            self.report(number, f"trial {number + 1}: {text}")

        report()
        start = time.perf_counter()
        scaling = settings["normalize"]
        shape = settings["arity"], settings["max_leaf_labels"], scaling
        if scaling not in self.rows:
            X, Y, weights, boosts = self.sample
            self.rows[scaling] = RowsOfTree.of(X.copy(), Y, scaling, weights, boosts)
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
        if not self.of_labels and settings["loss"] != "logistic":
            self._keep_best(trial)
        self.made.append(trial)
        return trial

    def _keep_best(self, last: dict) -> None:
        """Drop the models like that of the last trial that :meth:`cut` does not read, without ``at_C``."""
        names = ("arity", "max_leaf_labels", "loss", "normalize")
        like = [i for i, one in enumerate(self.tried) if one.model and all(one.trial[n] == last[n] for n in names)]
        for i in sorted(like, key=lambda i: -self.tried[i].trial["score"])[1:]:
            self.tried[i] = self.tried[i]._replace(model=None)

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
        names = ("arity", "max_leaf_labels", "loss")
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
