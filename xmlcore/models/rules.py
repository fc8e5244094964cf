"""Rules that decide which labels of a row are predicted; :mod:`xmlcore.decisions` learns them."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.decisions import take_by_gains
from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.arrays import read_only
from xmlcore.models.saving import ModelFormatError, check_parts, check_types
from xmlcore.parallel import row_blocks
from xmlcore.ranking import Ranking
from xmlcore.typing import Matrix, Ranker
from xmlcore.validation import INT32_MAX, check_threshold, csr_parts

CANDIDATES = 100  # labels of a row, the best by score, among which a rule chooses
ROWS_AT_ONCE = 1 << 14
PREFIX = "rule."  # of the names of a rule's arrays in a saved model


class Calibration(NamedTuple):
    """What the scores of a model are worth: the share of labels of this score that are right, by straight lines.

    ``scores`` and ``probabilities`` are float64 arrays of the same length that rise, scores from 0 to 1, probabilities
    from above 0; ``method`` is what held-out rows preferred, "isotonic" or "beta".
    """

    scores: np.ndarray
    probabilities: np.ndarray
    method: str

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities (float64, of the same shape) for scores in [0, 1]."""
        return np.interp(scores, self.scores, self.probabilities)


@dataclass(frozen=True, eq=False)
class Rule:
    """Which labels of a row are predicted: those with the largest gains, or all whose gain is positive.

    The gain of label j with probability p is ``slopes[:, j] * p + offsets[:, j]``: all measures of
    :func:`xmlcore.decisions.learn` are best with gains of this form (Schultheis et al., "Consistent algorithms for
    multi-label classification with macro-at-k metrics", ICLR 2024). Of several parts, one decides for a row, drawn by
    the row's probabilities: the same row always gets the same labels.

    Attributes
    ----------
    model : Ranker
        The fitted model that it decides for.
    slopes, offsets : ndarray of float64, shape (parts, L)
    k : int
        How many labels a row gets; 0: as many as have a positive gain.
    fill : bool
        Whether a row gets k labels even if not all have a positive gain.
    calibration : Calibration
        Turns scores into the probabilities.
    n_candidates : int
        Only so many labels of a row, the best by score, can be predicted.
    about : dict
        What it was learnt for, and what it reached on the held-out rows: plain values.
    shares : tuple of float
        The share of rows for which each part decides.
    """

    model: Any
    slopes: np.ndarray
    offsets: np.ndarray
    k: int
    fill: bool
    calibration: Calibration
    n_candidates: int = CANDIDATES
    about: dict[str, Any] = field(default_factory=dict)
    shares: tuple[float, ...] = (1.0,)

    def __post_init__(self):
        read_only((self.slopes, self.offsets, *self.calibration[:2]))

    @property
    def n_labels(self) -> int:
        """The number of labels, L."""
        return self.slopes.shape[1]

    def predict(self, X: Matrix) -> sp.csr_array:
        """Return the labels of rows, or of texts if the model takes texts: csr_array of bool, shape (n, L)."""
        return self.probabilities(X).astype(bool)

    def probabilities(self, X: Matrix) -> sp.csr_array:
        """Return the calibrated probabilities of the labels that are predicted: csr_array of float64, shape (n, L)."""
        return self.decided(*rows_of(self.model, X))

    def keep(self) -> Any:
        """Return the model, whose ``predict`` uses this rule from now on; it is saved with the model."""
        model = innermost(self.model)
        self._check_labels_of(model)
        model.rule_ = replace(self, model=None)
        return self.model

    def _check_labels_of(self, model):
        if model.n_labels_ != self.n_labels:
            raise ValueError(
                f"the rule was learnt for {self.n_labels:,} labels, but the model was fitted anew and has "
                f"{model.n_labels_:,}: learn a rule for it"
            )

    def decided(self, model: Ranker, X: sp.csr_array) -> sp.csr_array:
        """Return the probabilities of the predicted labels of checked rows, by a model that takes rows."""
        self._check_labels_of(model)
        parts = [self._of_block(model, X[first:end]) for first, end in row_blocks(X.shape[0], ROWS_AT_ONCE)]
        shape = (0, self.n_labels)
        return sp.csr_array(sp.vstack(parts, format="csr")) if parts else sp.csr_array(shape, dtype=np.float64)

    def _of_block(self, model, X):
        found = candidates(model, X, self.n_candidates)
        found.data = self.calibration(found.data)
        return chosen(found, self.take(found))

    def take(self, candidates: sp.csr_array) -> np.ndarray:
        """Return which entries of a matrix of probabilities are predicted: ndarray of bool."""
        ptr, labels, values = csr_parts(candidates)
        taken = np.zeros(labels.size, bool)
        gains = np.empty(max(1, int(np.diff(ptr).max(initial=0))))
        of_parts = self.slopes, self.offsets, np.cumsum(self.shares)
        take_by_gains(ptr, labels, values, *of_parts, self.k, self.fill, gains, taken)
        return taken

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what is saved: values for JSON, and arrays by name."""
        values = {"k": self.k, "fill": self.fill, "n_candidates": self.n_candidates, "about": self.about}
        values |= {"method": self.calibration.method, "n_knots": self.calibration[0].size, "shares": [*self.shares]}
        arrays = {"slopes": self.slopes, "offsets": self.offsets}
        return values, arrays | {"scores": self.calibration.scores, "probabilities": self.calibration.probabilities}

    @classmethod
    def restored(cls, values: dict, arrays: dict[str, np.ndarray], n_labels: int) -> Self:
        """Return the rule that :meth:`state` described; ModelFormatError if its parts do not fit together."""
        try:
            k, fill, most = values["k"], values["fill"], values["n_candidates"]
            about, method, n_knots = values["about"], values["method"], values["n_knots"]
            shares = values.get("shares", [1.0])  # an earlier version saved rules without parts
        except (TypeError, KeyError) as error:
            raise ModelFormatError(f"its rule lacks {error}: save the model again") from error
        is_count = {name: type(value) is int and least <= value <= INT32_MAX for name, value, least in
                    (("k", k, 0), ("n_candidates", most, 1), ("n_knots", n_knots, 2))}  # fmt: skip
        if (
            not all(is_count.values())
            or type(fill) is not bool
            or not isinstance(about, dict)
            or type(method) is not str
            or not isinstance(shares, list)
            or not all(type(share) is float and 0 <= share <= 1 for share in shares)
            or not np.isclose(sum(shares), 1)
        ):
            raise ModelFormatError("the values of its rule are invalid: save the model again")
        arrays = arrays | {name: np.atleast_2d(arrays[name]) for name in ("slopes", "offsets") if name in arrays}
        of_labels = len(shares), n_labels
        shapes = {"slopes": of_labels, "offsets": of_labels, "scores": (n_knots,), "probabilities": (n_knots,)}
        check_types(arrays, {name: (np.float64, shape) for name, shape in shapes.items()})
        scores, probabilities = arrays["scores"], arrays["probabilities"]
        check_parts({
            "the gains of its rule": lambda: all(np.isfinite(arrays[name]).all() for name in ("slopes", "offsets")),
            "the calibration of its rule": lambda: (np.diff(scores) > 0).all() and (np.diff(probabilities) >= 0).all()
            and scores[0] >= 0 and probabilities[0] > 0 and max(scores[-1], probabilities[-1]) <= 1,
        })  # fmt: skip
        calibration = Calibration(scores, probabilities, method)
        return cls(None, arrays["slopes"], arrays["offsets"], k, fill, calibration, most, about, tuple(shares))


def with_decision(model, values: dict, arrays: dict) -> tuple[dict, dict]:
    """Return the state of a model with what decides which labels it predicts."""
    if "threshold_" in vars(model):
        values = values | {"threshold": model.threshold_}
    if model.rule_ is None:
        return values, arrays
    rule, of_rule = model.rule_.state()
    return values | {"rule": rule}, arrays | {PREFIX + name: array for name, array in of_rule.items()}


def restore_decision(model, values: dict, arrays: dict) -> None:
    """Set what :func:`with_decision` added to the state of a model."""
    if "threshold" in values:
        model.threshold_ = check_threshold(values["threshold"])
    if "rule" in values:
        parts = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        model.rule_ = Rule.restored(values["rule"], parts, model.n_labels_)


def innermost(model) -> Ranker:
    """Return the model that is saved of one that wraps others."""
    while hasattr(model, "model_"):
        model = model.model_
    return model


def rows_of(model, X):
    """Return a model that takes rows, and the rows as it takes them: of a model for texts, the one inside."""
    if hasattr(model, "vectorizer_"):
        return model.model_, model._rows(X)
    if not hasattr(model, "_check_input"):
        raise TypeError(f"decisions are made for a model of xmlcore, such as PLT(), not for {type(model).__name__}")
    return model, model._check_input(X)


def decided_ranking(model, X, most: int | None = None) -> Ranking:
    """Return the labels that ``predict`` returns, at most ``most`` in a row, best first, with their probabilities."""
    found = model._decided(X)
    ptr, indices, values = csr_parts(found)
    widest = int(np.diff(ptr).max(initial=0))
    width = max(1, widest if most is None else min(widest, most))
    labels, scores = np.empty((found.shape[0], width), np.int32), np.empty((found.shape[0], width))
    top_k_sparse(ptr, indices, values.astype(np.float64), labels, scores)
    return Ranking(labels, scores.astype(np.float32))


def candidates(model, X, most: int) -> sp.csr_array:
    """Return the scores of the ``most`` best labels of each row: csr_array of float64."""
    ranking = model.predict_topk(X, min(most, model.n_labels_))
    there = ranking.labels >= 0
    ptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    parts = ranking.scores[there].astype(np.float64), ranking.labels[there], ptr
    found = sp.csr_array(parts, shape=(ranking.labels.shape[0], model.n_labels_))
    found.sort_indices()
    return found


def chosen(values: sp.csr_array, taken: np.ndarray) -> sp.csr_array:
    """Return the entries of a matrix that are marked."""
    ptr = np.concatenate([[0], np.cumsum(taken)])[values.indptr]
    return sp.csr_array((values.data[taken], values.indices[taken], ptr), shape=values.shape)
