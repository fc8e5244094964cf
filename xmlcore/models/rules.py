"""Rules that decide which labels of a row are predicted; :mod:`xmlcore.decisions` learns them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from xmlcore import wording
from xmlcore._kernels.decisions import part_of, take_by_gains
from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.arrays import chosen, entries, read_only
from xmlcore.label_names import KnownLabels
from xmlcore.models.rows import CheckedRows
from xmlcore.models.saving import ModelFormatError, check_parts, check_types
from xmlcore.parallel import row_blocks
from xmlcore.ranking import Ranking
from xmlcore.typing import LabelNames, Matrix, Ranker, SomeLabels
from xmlcore.validation import INT32_MAX, check_count, check_is, csr_parts

PLACES = (0, 1, 2, 5, 20)  # in the ranking of a row, from 0, where curves of a calibration begin
CANDIDATES = 100  # labels of a row, the best by score, among which a rule chooses
ROWS_AT_ONCE = 1 << 14
CUT = "cut "  # begins the name of a decision by a threshold of calibrated probabilities


class Calibration(NamedTuple):
    """Probabilities for the scores of a model: the share of labels of this score and place that are right.

    Labels at the places from 1, 2, 3, 6 and 21 on in the ranking of their row have a curve each, of straight lines
    between its knots: ``scores``, and ``probabilities`` of shape (5, knots). ``method`` is that of each curve.
    """

    scores: np.ndarray
    probabilities: np.ndarray
    method: str

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities for the scores of rankings, best first, as ``predict_topk`` returns them.

        They are float64 of the same shape. A label gets at most the probability of the one before it.
        """
        scores = np.asarray(scores, np.float64)
        found = np.empty(scores.shape)
        for first, end, curve in zip(PLACES, (*PLACES[1:], None), self.probabilities):
            found[..., first:end] = np.interp(scores[..., first:end], self.scores, curve)
        return np.minimum.accumulate(found, axis=-1) * (1 - 1e-12 * np.arange(scores.shape[-1]))

    def of_allowed(self, every: Ranking, few: Ranking, n_labels: int) -> sp.csr_array:
        """Return the probabilities of the labels in ``few``, which is ``every`` ranking without labels, and longer.

        They are those that the labels have among all labels.
        """
        p, depth = self(np.hstack([every.scores, few.scores])), every.labels.shape[1]
        first, later = entries(every.labels, p[:, :depth], n_labels)[0], entries(few.labels, p[:, depth:], n_labels)[0]
        return sp.csr_array(first.multiply(later.astype(bool)) + (later - later.multiply(first.astype(bool))))

    def of_entries(self, scores: sp.csr_array, places: np.ndarray) -> sp.csr_array:
        """Return the probabilities of the entries of a matrix, whose places in the rankings of the rows are known."""
        row = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
        rankings = np.zeros((scores.shape[0], places.max(initial=0) + 1))
        rankings[row, places] = scores.data
        return sp.csr_array((self(rankings)[row, places], scores.indices, scores.indptr), shape=scores.shape)


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule for which labels of a row are predicted: those with the largest gains, or all whose gain is positive.

    The gain of label j with probability p is ``slopes[:, j] * p + offsets[:, j]``: all measures of
    :func:`xmlcore.decisions.learn` are best with gains of this form. Of several parts, one decides for a row, drawn by
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
    seen : dict
        What the held-out rows were like, by which :meth:`drift` tells other rows: plain values.
    allowed : ndarray of bool, shape (L,), or None
        The labels that can be predicted; None: all. See :meth:`within`.
    aliases : dict of str to int
        Further names of labels, with their ids, that the model takes once the rule is kept.
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
    seen: dict[str, Any] = field(default_factory=dict)
    allowed: np.ndarray | None = None
    aliases: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        read_only((self.slopes, self.offsets, *self.calibration[:2]))

    @property
    def n_labels(self) -> int:
        """The number of labels, L."""
        return self.slopes.shape[1]

    def within(
        self, labels: SomeLabels | None = None, exclude: SomeLabels | None = None, *,
        aliases: Mapping[str, Hashable] | None = None, names: LabelNames | None = None,
    ) -> Self:  # fmt: skip
        """Return a rule that decides as this one does, but among fewer labels.

        Parameters
        ----------
        labels, exclude : list of labels, or bool array of shape (L,), optional
            The labels that can be predicted, by default all, and those that cannot: ids or names.
        aliases : dict of str to label, optional
            Further names, which the model takes wherever it takes names once the rule is kept.
        names : sequence, optional
            Names of the labels; by default those with which the model was fitted.

        Returns
        -------
        Rule
            A label has the probability that it has among all labels, and more labels than before can be candidates.
            What ``about`` says was reached with all labels. :meth:`keep` has it saved with the model.

        Raises
        ------
        ValueError, TypeError
            There is no such label, none is left, or the rule is a promise, which is about all labels.
        """
        if "promise" in self.about:
            raise ValueError("a promise is about all labels: learn a rule, and let it decide among fewer")
        fitted = getattr(innermost(self.model), "label_names_", None) if names is None else list(names)
        aliases = self.aliases | KnownLabels(self.n_labels, fitted).aliases({} if aliases is None else aliases)
        known = KnownLabels(self.n_labels, fitted, aliases)
        return replace(self, allowed=among(self.allowed, known, labels, exclude), aliases=aliases)

    def predict(self, X: Matrix) -> sp.csr_array:
        """Return the labels of rows, or of texts if the model takes texts: csr_array of bool, shape (n, L)."""
        return self.probabilities(X).astype(bool)

    def probabilities(self, X: Matrix) -> sp.csr_array:
        """Return the calibrated probabilities of the labels that are predicted: csr_array of float64, shape (n, L)."""
        return self.decided(*rows_of(self.model, X))

    def drift(self, X: Matrix) -> "Drift":
        """Return whether rows look drawn like the held-out ones, as promises ask.

        Two numbers of each row, the largest probability and the sum of the candidates' probabilities, are compared with
        those of the held-out rows by chi-squared tests. Rows can be others in ways that these do not show; and a small
        p-value says that rows are others, not that the promise is broken. Rows that come several times make it too
        small.

        Parameters
        ----------
        X : rows or texts, as the model takes them
            At least 100 or so: of few rows, little can be told.

        Returns
        -------
        Drift
            ``p_value``: of rows drawn like the held-out ones it is below 0.05 in 5 % of the cases; 1 if fewer than 100
            rows were held out. ``distance``: the largest difference of the shares of rows whose largest probability is
            below any bound. ``rows``.

        Raises
        ------
        ValueError
            The rule was saved by a version that did not note what held-out rows are like, or there are no rows.
        """
        rows = Watch()
        self._in_blocks(*rows_of(self.model, X), rows)
        return self.drift_of(rows)

    def predict_with_drift(self, X: Matrix) -> tuple[sp.csr_array, "Drift"]:
        """Return what :meth:`predict` and :meth:`drift` return, in little more than the time of one of them."""
        rows = Watch()
        return self.decided(*rows_of(self.model, X), rows).astype(bool), self.drift_of(rows)

    def drift_of(self, rows: "Watch") -> "Drift":
        """Return whether rows that were watched look drawn like the held-out ones."""
        if not self.seen:
            raise ValueError("the rule does not know what its held-out rows were like: learn it again")
        tables, numbers = [], rows.numbers()
        if not numbers["sum"].size:
            raise ValueError("X has no rows: there is nothing to compare")
        for name, values in numbers.items():
            edges, counts = (np.asarray(self.seen[name][part]) for part in ("edges", "counts"))
            table = np.stack([counts, in_bins(values, edges)])
            tables.append(table[:, table.sum(axis=0) > 0])
        below = np.cumsum(tables[0] / tables[0].sum(axis=1, keepdims=True), axis=1)
        distance = float(np.abs(below[0] - below[1]).max())
        return Drift(min(1.0, len(tables) * min(map(_chi_squared, tables))), distance, numbers["sum"].size)

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

    def decided(self, model: Ranker, X: sp.csr_array, watch: "Watch | None" = None) -> sp.csr_array:
        """Return the probabilities of the predicted labels of checked rows, by a model that takes rows."""
        self._check_labels_of(model)
        parts = [chosen(found, self.take(found)) for found in self._in_blocks(model, X, watch)]
        shape = (0, self.n_labels)
        return sp.csr_array(sp.vstack(parts, format="csr")) if parts else sp.csr_array(shape, dtype=np.float64)

    def _in_blocks(self, model, X, watch=None) -> list[sp.csr_array]:
        """Return the probabilities of the candidates of checked rows, block by block."""
        blocks = row_blocks(X.shape[0], ROWS_AT_ONCE)
        return [self._candidates(model, X[first:end], watch) for first, end in blocks]

    def _candidates(self, model, X, watch) -> sp.csr_array:
        n = self.n_candidates
        if self.allowed is None or watch is not None:  # rows are compared by the candidates among all labels
            found = self.calibration.of_entries(*candidates(model, X, n))
            if watch is not None:
                watch.add(found)
            if self.allowed is None:
                return found
        every = model.predict_topk(X, min(max(n, PLACES[-1]), self.n_labels))
        few = model.predict_topk(X, min(n, self.n_labels), labels=self.allowed)
        return self.calibration.of_allowed(every, few, self.n_labels)

    def take(self, candidates: sp.csr_array) -> np.ndarray:
        """Return which entries of a matrix of probabilities are predicted: ndarray of bool."""
        ptr, labels, values = csr_parts(candidates)
        taken = np.zeros(labels.size, bool)
        gains = np.empty(max(1, int(np.diff(ptr).max(initial=0))))
        of_parts = self.slopes, self.offsets, np.cumsum(self.shares)
        take_by_gains(ptr, labels, values, *of_parts, self.k, self.fill, gains, taken)
        return taken

    def cuts(self, candidates: sp.csr_array) -> np.ndarray:
        """Return the thresholds of the candidates of one row: nan where not even a probability of 1 is predicted."""
        part = part_of(csr_parts(candidates)[2], 0, candidates.nnz, np.cumsum(self.shares))
        slopes, offsets = self.slopes[part, candidates.indices], self.offsets[part, candidates.indices]
        bound = np.zeros(candidates.nnz)
        if self.k:  # the best label that is left out, or for others the worst that is predicted
            gains, taken = slopes * candidates.data + offsets, self.take(candidates)
            least = -np.inf if self.fill else 0.0
            worst = gains[taken].min() if taken.sum() == self.k else least
            bound = np.where(taken, max(least, gains[~taken].max(initial=least)), worst)
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = (bound - offsets) / slopes
        return np.where(cuts > 1, np.nan, cuts.clip(0))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what is saved: values for JSON, and arrays by name."""
        values = {name: getattr(self, name) for name in _FIELDS} | {"shares": [*self.shares]}
        values |= {"method": self.calibration.method, "n_knots": self.calibration[0].size, "aliases": self.aliases}
        arrays = {"slopes": self.slopes, "offsets": self.offsets}
        arrays |= {} if self.allowed is None else {"allowed": self.allowed}
        return values, arrays | {"scores": self.calibration.scores, "probabilities": self.calibration.probabilities}

    @classmethod
    def restored(cls, values: dict, arrays: dict[str, np.ndarray], n_labels: int) -> Self:
        """Return the rule that :meth:`state` described; ModelFormatError if its parts do not fit together."""
        for name, is_valid in _VALUES.items():
            if name not in values or not is_valid(values[name]):
                raise ModelFormatError(f"{name} of its rule is missing or invalid: save the model again")
        shares, n_knots = tuple(values["shares"]), values["n_knots"]
        shapes = dict.fromkeys(("slopes", "offsets"), (len(shares), n_labels))
        shapes |= {"scores": (n_knots,), "probabilities": (len(PLACES), n_knots)}
        check_types(arrays, {name: (np.float64, shape) for name, shape in shapes.items()})
        allowed = arrays.get("allowed")
        if allowed is not None:
            check_types(arrays, {"allowed": (np.bool_, (n_labels,))})
        slopes, offsets, scores, probabilities = (arrays[name] for name in shapes)
        check_parts({
            "the gains of its rule": lambda: np.isfinite(slopes).all() and np.isfinite(offsets).all(),
            "the calibration of its rule": lambda: (np.diff(scores) > 0).all() and (np.diff(probabilities) >= 0).all()
            and scores[0] >= 0 and probabilities.min() > 0 and max(scores[-1], probabilities.max()) <= 1,
            "the labels of its rule": lambda: (allowed is None or allowed.any())
            and all(label < n_labels for label in values["aliases"].values()),
        })  # fmt: skip
        calibration = Calibration(scores, probabilities, values["method"])
        fields = {name: values[name] for name in _FIELDS} | {"allowed": allowed, "aliases": values["aliases"]}
        return cls(None, slopes, offsets, calibration=calibration, shares=shares, **fields)


class Drift(NamedTuple):
    """How far rows are from the held-out ones: see :meth:`Rule.drift`."""

    p_value: float
    distance: float
    rows: int


NUMBERS = "largest", "sum"  # of the probabilities of a row's candidates
BINS, IN_A_BIN = 20, 50  # bins of the numbers by which rows are compared, at most, and held-out rows in each at least
FEW_ROWS, MOST_P = 100, 0.001  # no warning of drift for fewer rows, nor with a larger p-value


class Watch:
    """The numbers by which rows are compared, of rows as they are decided: of the last ``most``, or of all."""

    def __init__(self, most: int | None = None):
        self._first, self._rows, self._changing = -most if most else None, np.empty((0, len(NUMBERS))), Lock()

    def add(self, P: sp.csr_array) -> None:
        """Add rows, given the probabilities of their candidates."""
        found = np.stack([*of_rows(P).values()], axis=1)
        with self._changing:
            self._rows = np.concatenate([self._rows, found])[self._first :]

    def numbers(self) -> dict[str, np.ndarray]:
        """Return the numbers as :func:`of_rows` does."""
        return dict(zip(NUMBERS, self._rows.T))


def of_rows(P: sp.csr_array) -> dict[str, np.ndarray]:
    """Return the numbers by which rows are compared, of their calibrated probabilities."""
    most = P.max(axis=1).toarray() if P.shape[1] else np.zeros(P.shape[0])
    return dict(zip(NUMBERS, (np.ravel(most), np.ravel(P.sum(axis=1)))))


def seen_in(P: sp.csr_array) -> dict[str, dict[str, list]]:
    """Return histograms of the numbers of :func:`of_rows`, as plain values: edges of bins, and counts."""
    found = {}
    for name, values in of_rows(P).items():
        n_bins = max(1, min(BINS, values.size // IN_A_BIN))
        edges = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins))
        found[name] = {"edges": edges.tolist(), "counts": in_bins(values, edges).tolist()}
    return found


def _chi_squared(table) -> float:
    """Return the p-value of Pearson's test that the two lines of a table of counts have the same shares."""
    from scipy.special import chdtrc

    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(chdtrc(table.shape[1] - 1, ((table - expected) ** 2 / expected).sum())) if table.shape[1] > 1 else 1.0


def in_bins(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return how many values are in each bin."""
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=edges.size + 1)


def _is_seen(seen) -> bool:
    """Return whether a value of a file is what :func:`seen_in` returns, or nothing."""
    try:
        of = () if seen == {} else NUMBERS
        parts = [(np.asarray(seen[name]["edges"]), np.asarray(seen[name]["counts"])) for name in of]
        return all(
            (edges.dtype, counts.dtype) == (np.float64, np.int64) and edges.size == counts.size - 1 < BINS
            and (np.diff(edges) > 0).all() and np.isfinite(edges).all() and (counts >= 0).all() and counts.any()
            for edges, counts in parts
        )  # fmt: skip
    except (TypeError, KeyError, ValueError, IndexError):
        return False


def _is_count(least: int):
    return lambda value: type(value) is int and least <= value <= INT32_MAX


# Values saved of a rule, beside its arrays -> whether a value is valid. Fields of the rule come first.
_VALUES = {
    "k": _is_count(0),
    "fill": lambda value: type(value) is bool,
    "n_candidates": _is_count(1),
    "about": lambda value: isinstance(value, dict),
    "seen": _is_seen,
    "method": lambda value: type(value) is str,
    "n_knots": _is_count(2),
    "aliases": lambda value: isinstance(value, dict) and all(map(_is_count(0), value.values())),
    "shares": lambda value: isinstance(value, list) and all(type(share) is float and 0 <= share <= 1 for share in value)
    and np.isclose(sum(value), 1),
}  # fmt: skip
_FIELDS = tuple(_VALUES)[:5]


def innermost(model) -> Ranker:
    """Return the model that is saved of one that wraps others."""
    while hasattr(model, "model_"):
        model = model.model_
    return model


def rule_of(model: Ranker, allowed: np.ndarray | None = None) -> Rule | None:
    """Return the rule that is kept with a model, such as one that was loaded; None without one.

    Parameters
    ----------
    model : Ranker
        A fitted model.
    allowed : ndarray of bool, shape (L,), optional
        The labels among which it decides; by default its own.
    """
    check_is(innermost(model), "rule_", "model", "a model of xmlcore, such as PLT(),")
    rule = innermost(model).rule_
    return None if rule is None else replace(rule, model=model, allowed=rule.allowed if allowed is None else allowed)


def drift_told(model: Ranker, rows: Watch) -> dict[str, Any] | None:
    """Return how many rows a model has decided for, and the p-value of their drift; None if it has no rule."""
    rule, n = innermost(model).rule_, rows.numbers()["sum"].size
    if rule is None or not rule.seen:
        return None
    return {"rows": n, "p": rule.drift_of(rows).p_value if n >= FEW_ROWS else None}


def unlike_held_out(model: Ranker, rows: Watch) -> str | None:
    """Return a sentence if rows are not drawn like those from which the decision of a model was learnt."""
    drift = drift_told(model, rows)
    if drift is None or drift["p"] is None or drift["p"] >= MOST_P:
        return None
    return (
        "The rows differ significantly from those from which the decision of the model was learnt "
        f"(p < {MOST_P:g}): its promises and measures need not hold for them."
    )


def decision_of(model, allowed: np.ndarray | None = None) -> str:
    """Return which labels a model predicts, in words that follow "it predicts"; see :func:`decided_scores`."""
    inner = innermost(model)
    if allowed is None and inner.rule_ is not None:
        allowed = inner.rule_.allowed
    if allowed is None or allowed.all():
        return _decision_of(inner)
    but = ", so that this need not hold" * (inner.rule_ is not None and "promise" in inner.rule_.about)
    return f"{_decision_of(inner)}, of {np.count_nonzero(allowed):,} allowed labels{but}"


def _decision_of(inner) -> str:
    if inner.rule_ is None:
        if _predicts_one(inner):
            return "the best label"
        loss = getattr(inner, "loss_", None)
        if cuts_another_number(inner) or inner.ABOUT is not None and not inner.ABOUT.scores_with(loss):
            return f"labels with P of at least {wording.significant(100 * inner.threshold_)} %"
        return f"labels with a score of at least {wording.significant(inner.threshold_)}"
    about = {name: str(value)[:60] for name, value in inner.rule_.about.items()}  # of any type in a damaged file
    if "promise" in about:
        risk = "on average" if about.get("risk") == "None" else f"with a risk of {about.get('risk')}"
        return f"sets of labels whose {about['promise']} is at least {about.get('level')}, {risk}"
    measure = about.get("measure", "a measure")
    if measure.startswith(CUT):
        least = wording.significant(-100 * inner.rule_.offsets[0, 0], 4)
        return f"labels with a calibrated probability of at least {least} %"
    return f"the best labels for {measure}"


def row_decided(model, X: Matrix, allowed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return, by label, the probabilities that decide for one row where scores do not, and the thresholds."""
    rule = rule_of(model, allowed)
    probabilities = calibrated(model, X, rule=rule)
    if probabilities is None:
        inner = innermost(model)
        cuts = np.full(inner.n_labels_, np.nan if _predicts_one(inner) else inner.threshold_)
        return (model.predict_proba(X).toarray()[0] if cuts_another_number(model) else np.full_like(cuts, np.nan)), cuts
    values, cuts = np.full((2, probabilities.shape[1]), np.nan)
    for of in (_with_further(model, X, probabilities, rule), probabilities):
        values[of.indices] = of.data
    cuts[probabilities.indices] = rule.cuts(probabilities)
    return values, cuts


def cuts_another_number(model) -> bool:
    """Return whether a probability that is not their score decides which labels a model predicts."""
    inner = innermost(model)
    by_score = _predicts_one(inner) or inner.ABOUT is None or not inner.ABOUT.scores
    return inner.rule_ is not None or not by_score


def _predicts_one(inner) -> bool:
    return inner._one_class or getattr(inner, "multiclass_", False)


def rows_of(model, X):
    """Return a model that takes rows, and the rows as it takes them: of a model for texts, the one inside."""
    if hasattr(model, "vectorizer_"):
        return model.model_, model._rows(X)
    if not hasattr(model, "_check_input"):
        raise TypeError(f"decisions are made for a model of xmlcore, such as PLT(), not for {type(model).__name__}")
    return model, model._check_input(X)


def decided_scores(model, X: Matrix, watch: Watch | None = None, allowed: np.ndarray | None = None) -> sp.csr_array:
    """Return the labels that ``predict`` returns, with their probabilities, also of a model that returns classes.

    ``allowed`` is which labels can be predicted; by default those of a kept rule, or all.
    """
    if allowed is None:
        return model._decided(X, watch=watch)
    (model, X), inner = rows_of(model, X), innermost(model)
    if (rule := rule_of(model, allowed)) is not None:
        return rule.decided(model, X, watch)
    if _predicts_one(inner):
        return candidates(model, X, 1, allowed)[0]
    found = sp.csr_array(model.predict_proba(CheckedRows.among(X, allowed), inner.threshold_))
    return chosen(found, allowed[found.indices])


def calibrated(model, X: Matrix, watch: Watch | None = None, rule: Rule | None = None) -> sp.csr_array | None:
    """Return the probabilities of candidates by which a rule decides, by default the kept one; None without a rule."""
    rule = rule_of(model) if rule is None else rule
    return None if rule is None else sp.vstack(rule._in_blocks(*rows_of(model, X), watch), format="csr")


def _with_further(model, X, few, rule) -> sp.csr_array:
    """Return the probabilities of the candidates of a rule, and of ranked labels that one with few leaves out."""
    if rule.n_candidates >= CANDIDATES and rule.allowed is None:
        return few
    wide = replace(rule, n_candidates=CANDIDATES, allowed=None)
    every = sp.vstack(wide._in_blocks(*rows_of(model, X)), format="csr")
    known = sp.csr_array((np.ones(few.nnz), few.indices, few.indptr), shape=few.shape)
    return few + (every - every.multiply(known))


def cut_scores(model, X: Matrix, watch: Watch, allowed: np.ndarray | None = None) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the predicted labels of a model with the probabilities that decide, and the probabilities of others."""
    rule = rule_of(model, allowed)
    probabilities = calibrated(model, X, watch, rule)
    if probabilities is None:
        return decided_scores(model, X, allowed=allowed), model.predict_proba(X)
    return chosen(probabilities, rule.take(probabilities)), _with_further(model, X, probabilities, rule)


def decided_ranking(
    model, X, most: int | None = None, watch: Watch | None = None, allowed: np.ndarray | None = None
) -> Ranking:
    """Return the labels that ``predict`` returns, at most ``most`` in a row, best first, with their probabilities."""
    most = None if most is None else check_count(most, "most")
    decided = decided_scores(model, X, watch, allowed)
    ptr, indices, values = csr_parts(decided)
    widest = int(np.diff(ptr).max(initial=0))
    width = max(1, widest if most is None else min(widest, most))
    labels, scores = np.empty((decided.shape[0], width), np.int32), np.empty((decided.shape[0], width))
    top_k_sparse(ptr, indices, values.astype(np.float64), labels, scores)
    return Ranking(labels, scores.astype(np.float32))


def candidates(model, X, most: int, allowed: np.ndarray | None = None) -> tuple[sp.csr_array, np.ndarray]:
    """Return the scores of the ``most`` best labels of each row, csr_array of float64, and their places, from 0."""
    among = {} if allowed is None else {"labels": allowed}  # a model of a user's own may not know the word
    ranking = model.predict_topk(X, min(most, model.n_labels_), **among)
    return entries(ranking.labels, ranking.scores, model.n_labels_)


def among(kept: np.ndarray | None, known: KnownLabels, labels=None, exclude=None) -> np.ndarray | None:
    """Return which labels are allowed that are asked for, of those that a rule allows; None: all."""
    if labels is None and exclude is None:
        return kept
    found = known.allowed(labels, exclude) & (True if kept is None else kept)
    if not found.any():
        raise ValueError("the decision may predict none of the labels that are asked for")
    return found
