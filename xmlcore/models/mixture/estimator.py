"""Mixture: several models together, each with the weight that is best on rows held out from training."""

import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import top_k_dense, top_k_sparse
from xmlcore.arrays import csr_of
from xmlcore.documented import documented
from xmlcore.label_names import given_classes
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.metrics.statistics import beta_curve
from xmlcore.models import saving
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.compacting import can_be_compact
from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.mixture import weighing
from xmlcore.models.mixture.weighing import Candidates, Judge, calibrated
from xmlcore.models.nearest_rows import NearestRows, ScoresRows
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.models.rows import check_feature_names, checked_rows, counted, labels_given, stacked
from xmlcore.models.rules import innermost
from xmlcore.models.saving import ModelFormatError, below, under
from xmlcore.parallel import row_blocks
from xmlcore.parameters import AUTO, N_JOBS, SEED, About, Parameter, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, LabelNames, Labels, Matrix, RandomState
from xmlcore.validation import INT32_MAX, check_count, check_label_ids, csr_parts

MOST_LABELS = 1000  # with more, OneVsRest is not among the members that are tried unasked
FEWEST = 10  # training rows; with fewer, none are held out, and all members have the same weight
TRIED_TREES = 0.2  # of the trees of LdSM are enough to find its weight
ROWS_AT_ONCE = 1 << 12

ABOUT = About(
    title="Mixture of models",
    summary=(
        "Several models together: each ranks its best labels, and the mean of their calibrated probabilities decides. "
        "Weights are chosen on training rows that are held out; then the models that have one are trained on all."
    ),
    paper="Caruana et al., ICML 2004 (ensemble selection)",
    color="#E69F00",
    mark="hexagon",
)

PARAMETERS = (
    Parameter(
        "members", "Members",
        "The models to mix: estimators of xmlcore, or others with fit, and with predict_topk or predict_proba. "
        "Empty tries PLT, NearestRows, LdSM, DoubleSampling (where no value is negative) and OneVsRest (up to 1,000 "
        "labels).",
        "models", None, optional=True, in_form=False, also=("list of estimators",),
    ),
    Parameter(
        "held_out", "Held-out rows",
        "Share of the training rows on which weights are chosen. The members are trained on the others first, and "
        "those that get a weight once more on all.",
        "float", 0.2, minimum=0.01, maximum=0.9, advanced=True,
    ),
    Parameter(
        "n_candidates", "Candidates",
        "Labels that each member proposes for a row: only these are ranked.",
        "int", 30, minimum=1, maximum=100_000, offered=(5, 1000), advanced=True,
    ),
    SEED,
    N_JOBS,
)  # fmt: skip


@described
class Mixture(ScoresRows):
    """Several models together, weighted by what is best on rows held out from training.

    Each member ranks its best labels of a row. Its scores become probabilities by a curve learnt on held-out training
    rows (beta calibration), and the score of a label is their weighted mean. A label that a member does not propose
    counts 0 for it. Weights are found by coordinate search for the mean of P@1, P@3, P@5, nDCG@5 and PSP@5, on ten
    random samples of the held-out rows, whose mean is taken; frequent and rare labels get weights of their own where
    that pays on held-out rows that did not choose them. A member of a weight below 0.05, or with less than half of the
    best measures, is left out, and the others are trained once more, on all rows, with the settings that they chose.

    {parameters}

    Attributes
    ----------
    {of_labels}
    members_ : list
        The fitted models that have a weight.
    part_names_ : list of str
        Their names.
    weights_ : ndarray of float64, shape (groups, members)
        The weight of each member, for each group of labels.
    group_of_label_ : ndarray of int32, shape (L,)
        The line of ``weights_`` for each label: there is one, or three, of head, torso and tail labels.
    curves_ : ndarray of float64, shape (members, 3)
        a, b and c: the probability for a score s has the log odds a log s - b log(1 - s) + c.
    chosen_ : DataFrame
        Each member that was tried: its mean of the measures on the held-out rows, as a share of the best members'
        ones, and its weight.

    Notes
    -----
    Members of a user's own are trained as copies; one without ``fit`` is used as it is, and its weight is only right
    if it did not see the held-out rows. A mixture with members that are not of xmlcore cannot be saved.

    References
    ----------
    R. Caruana et al., "Ensemble selection from libraries of models", ICML 2004.
    M. Kull, T. Silva Filho, P. Flach, "Beta calibration", AISTATS 2017.

    Examples
    --------
    >>> from xmlcore import PLT, Mixture, NearestRows
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = Mixture([PLT(), NearestRows(2)]).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    ABOUT = ABOUT
    PARAMETERS = PARAMETERS

    members: list | None = None
    held_out: float = 0.2
    n_candidates: int = 30
    random_state: RandomState = 0
    n_jobs: int | None = None

    @classmethod
    @documented
    def of(
        cls, models: list[MultiLabelModel], X: Matrix, y: Labels | None = None, *, Y: Labels | None = None,
        progress: ProgressLike = silent, label_names: LabelNames | None = None, **params: object,
    ) -> Self:  # fmt: skip
        """Return a mixture of fitted models, which are not trained again.

        Their weights are found by others of the same settings, given or chosen, that are trained without the held-out
        rows: the models themselves have seen these rows.

        Parameters
        ----------
        models : list of fitted estimators
            They were fitted to the rows of X and their labels.
        {X_train, y_or_classes, Y, progress, label_names}
        **params : object
            Other parameters, such as ``held_out``.

        {fitted}
        """
        models = [innermost(model) for model in models]
        if bad := [model for model in models if not isinstance(model, MultiLabelModel)]:
            raise TypeError(f"models has {bad[0]!r:.60}, which is no model of xmlcore")
        named = [model.label_names_ for model in models if hasattr(model, "label_names_")]
        if any(names != named[0] for names in named):
            raise ValueError("the models were fitted to labels of different names, or in another order")
        for model in models:
            check_feature_names(model, X, level=3)
        y = labels_given(y, Y)
        if named and label_names is None and given_classes(y) is None:
            label_names = named[0]
        made = cls([_again(model, model) for model in models], **params)
        made._ready = models
        return made.fit(X, y, progress=to_progress(progress), label_names=label_names)

    def _fit(self, X, Y, progress):
        X, Y = checked_rows(X, Y)
        seed, ready = self._entropy(), vars(self).pop("_ready", ())
        for model in ready:
            model._check_fitted()
            fits = (model.n_rows_seen_, model.n_features_in_) == X.shape
            if not fits or not np.array_equal(model.label_counts_, counted(Y)):
                raise ValueError(f"{model!r:.60} was fitted to other rows than those that are given")
        tried = self._tried(X, Y, seed)
        rows = np.random.default_rng([seed, 1]).permutation(X.shape[0])
        held, kept = (np.sort(part) for part in np.split(rows, [round(self.held_out * X.shape[0])]))
        if X.shape[0] < FEWEST or not Y[kept].nnz or not Y[held].nnz:
            held = kept[:0]
        weights, curves, groups, values = self._weighed(tried, X, Y, kept, held, seed, progress)
        members, used = [], np.flatnonzero(weights.any(axis=0))
        for at, which in enumerate(used):
            model, fitted, name = tried[which]
            if ready:
                fitted = ready[which]
            elif held.size or fitted is None:
                done, steps = len(tried) + at, len(tried) + used.size
                report = part_of(progress, done / steps, (done + 1) / steps)
                fitted = _fitted(_again(model, fitted), X, Y, report)
            members.append(fitted)
        self._trials = [(name, values[at], float(weights[:, at].mean())) for at, (*_, name) in enumerate(tried)]
        names = [tried[which][2] for which in used]
        self._set_fitted(members, names, weights[:, used], groups, curves[used], X.shape[1], Y.shape[1])
        progress("Mixing", 1.0)

    def _tried(self, X, Y, seed) -> list[list]:
        """Return each member that is tried, not fitted, with a place for the fitted one, and its name."""
        models = self.members
        if models is None:
            few, own = Y.shape[1] <= MOST_LABELS, {"random_state": seed, "n_jobs": self.n_jobs}
            models = [PLT(**own), NearestRows(n_jobs=self.n_jobs), LdSM(**own)]
            if X.data.min(initial=0) >= 0 and np.count_nonzero(counted(Y)) > 1:
                models.append(DoubleSampling(n_candidates=self.n_candidates, **own))
            models += [OneVsRest(n_jobs=self.n_jobs)] * few
        kinds = [type(model).__name__ for model in models]
        names = [
            f"{kind} {kinds[:at].count(kind) + 1}" if kinds.count(kind) > 1 else kind for at, kind in enumerate(kinds)
        ]
        return [[model, None, name] for model, name in zip(models, names)]

    def _weighed(self, tried, X, Y, kept, held, seed, progress) -> tuple:
        """Fit the members to the rows that are kept; return weights, curves, groups of labels, and their values."""
        n, rankings, groups = len(tried), [], np.zeros(Y.shape[1], np.int32)
        curves, even = np.tile([1.0, 1.0, 0.0], (n, 1)), np.full((1, n), 1 / n)
        if not held.size or n == 1:
            return even, curves, groups, [0.0] * n
        for at, one in enumerate(tried):
            report = part_of(progress, at / (2 * n), (at + 1) / (2 * n))
            few = {"n_estimators": max(2, round(TRIED_TREES * one[0].n_estimators))} if isinstance(one[0], LdSM) else {}
            one[1] = _fitted(_new(one[0], **few), sp.csr_array(X[kept]), sp.csr_array(Y[kept]), report)
            rankings.append(_ranked(one[1], sp.csr_array(X[held]), self.n_candidates, Y.shape[1]))
        progress("Choosing weights", 0.5)
        found, Y_held = Candidates.of(rankings, Y.shape[1]), sp.csr_array(Y[held])
        right = _is_right(found, Y_held)
        for at in range(n):
            ranked = found.scores[:, at] > 0
            if ranked.any():
                curves[at] = beta_curve(found.scores[ranked, at], right[ranked], 1.0, weighing.END, least=0.01)
        judge = Judge(found, calibrated(found.scores, curves), Y_held, Y)
        weights = weighing.best_weights(judge, [seed, 2])
        groups = np.argmax(label_buckets(counted(Y))[:, None] == np.array(BUCKETS), axis=1).astype(np.int32)
        by_group = weighing.weights_by_frequency(judge, weights, groups, [seed, 3])
        values = [judge.value(one) for one in np.eye(n)]
        if (by_group == weights).all():
            by_group, groups = by_group[:1], np.zeros_like(groups)
        scores = (judge.probabilities * by_group[groups[found.labels]]).sum(axis=1)
        self.threshold_ = _best_threshold(scores, right, Y_held.nnz)
        return by_group, curves, groups, values

    def _set_fitted(self, members, names, weights, groups, curves, n_features, n_labels):
        self.members_, self.part_names_, self.weights_ = members, names, weights
        self.group_of_label_, self.curves_ = groups, curves
        self.n_features_in_, self.n_labels_ = n_features, n_labels

    def _parts(self, X, allowed=None) -> tuple[Candidates, np.ndarray]:
        """Return the candidates of checked rows, and what each member adds to their scores."""
        rankings = [_ranked(member, X, self.n_candidates, self.n_labels_, allowed) for member in self.members_]
        found = Candidates.of(rankings, self.n_labels_)
        return found, calibrated(found.scores, self.curves_) * self.weights_[self.group_of_label_[found.labels]]

    def _scores(self, X, progress=silent) -> sp.csr_array:
        parts, allowed = [], getattr(X, "allowed", None)
        for first, end in row_blocks(X.shape[0], ROWS_AT_ONCE):
            progress("Predicting", first / X.shape[0])
            found, values = self._parts(X[first:end], allowed)
            parts.append(csr_of(found.ptr, found.labels, values.sum(axis=1), (end - first, self.n_labels_)))
        progress("Predicting", 1.0)
        return stacked(parts, self.n_labels_)

    def score_parts(self, X: Matrix, labels: ArrayLike) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the members' own scores of one label for each row, and what these add to its score.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        labels : array of int, shape (n,)

        Returns
        -------
        scores, parts : csr_array of float64, shape (n, members)
            Weights times calibrated probabilities are the parts, which add up to the label's score; 0 where a member
            does not propose the label.
        """
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        found, values = self._parts(X, getattr(X, "allowed", None))
        row = np.repeat(np.arange(found.ptr.size - 1), np.diff(found.ptr))
        at = np.flatnonzero(found.labels == labels[row])
        scores, parts = np.zeros((2, found.ptr.size - 1, len(self.members_)))
        scores[row[at]], parts[row[at]] = found.scores[at], values[at]
        ptr, members = np.arange(len(scores) + 1) * parts.shape[1], np.tile(np.arange(parts.shape[1]), len(scores))
        return csr_of(ptr, members, scores.ravel(), scores.shape), csr_of(ptr, members, parts.ravel(), parts.shape)

    @property
    def chosen_(self) -> "DataFrame":  # noqa: F821
        """What was tried: a line per member, with its measures on held-out rows and its weight."""
        from xmlcore.first_use import pd

        self._check_fitted()
        return pd.DataFrame(self._trials, columns=["member", "held-out rows", "weight"])

    def _compacted(self, bits):
        can = [*map(can_be_compact, self.members_)]
        if not any(can):
            return super()._compacted(bits)
        small = copy.copy(self)
        small.members_ = [one._compacted(bits) if its else one for one, its in zip(self.members_, can)]
        return small

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        sizes = [member.size() for member in self.members_ if hasattr(member, "size")]
        found = {name: sum(size.get(name, 0) for size in sizes) for name in ("n_nodes", "n_weights", "model_bytes")}
        return found | {"depth": max((size.get("depth", 1) for size in sizes), default=0)}

    def warm_up_pieces(self) -> dict:
        return {name: piece for model in _DEFAULTS for name, piece in model().warm_up_pieces().items()}

    def _saved_params(self) -> dict:
        """Return all parameters but the members, which are saved as fitted ones."""
        return self.get_params(deep=False) | {"members": None}

    def _state(self):
        arrays = {"weights": self.weights_, "groups": self.group_of_label_, "curves": self.curves_}
        members = []
        for at, member in enumerate(self.members_):
            if not isinstance(member, MultiLabelModel):
                raise TypeError(f"members_[{at}] is a {type(member).__name__}: only members of xmlcore can be saved")
            description, of_member = saving.parts_of_model(member)
            members.append(description)
            arrays |= under(f"member{at}.", of_member)
        values = {"n_features": self.n_features_in_, "n_labels": self.n_labels_, "members": members}
        tried = [saving.settings_of(one)[0] for one in self.members or () if isinstance(one, MultiLabelModel)]
        return values | {"names": self.part_names_, "trials": self._trials, "tried": tried}, arrays

    def _restore(self, values, arrays):
        n_features, n_labels = (check_count(values[name], name, most=INT32_MAX) for name in ("n_features", "n_labels"))
        members = [
            saving.model_from_parts(one, below(f"member{at}.", arrays)) for at, one in enumerate(values["members"])
        ]
        weights, n = arrays["weights"], len(members)
        saving.check_types(
            arrays, {"weights": (np.float64, 2), "groups": (np.int32, (n_labels,)), "curves": (np.float64, (n, 3))}
        )
        groups, trials = arrays["groups"], [(str(name), float(value), float(w)) for name, value, w in values["trials"]]
        fit = n and weights.shape[1] == n and 0 <= groups.min() and groups.max() < weights.shape[0]
        if not fit or not (np.isfinite(weights).all() and (weights >= 0).all() and np.isfinite(arrays["curves"]).all()):
            raise ModelFormatError("the weights of its members cannot be used: the file was damaged")
        if any((one.n_features_in_, one.n_labels_) != (n_features, n_labels) for one in members):
            raise ModelFormatError("its members have other features or labels: the file was damaged")
        names = [str(name) for name in values["names"]]
        self._set_fitted(members, names, weights, groups, arrays["curves"], n_features, n_labels)
        self._trials = trials
        self.members = [saving.saved_class(one["class"])(**one["params"]) for one in values["tried"]] or None


_DEFAULTS = (PLT, NearestRows, LdSM, DoubleSampling, OneVsRest)


def _fitted(model, X, Y, progress):
    if not hasattr(model, "fit"):
        return model
    return model.fit(X, Y, progress=progress) if isinstance(model, MultiLabelModel) else model.fit(X, Y)


def _new(model, **changes):
    """Return a model of the same parameters that is not fitted."""
    if hasattr(model, "get_params"):
        return type(model)(**model.get_params(deep=False) | changes)
    return copy.deepcopy(model) if hasattr(model, "fit") else model


def _again(model, fitted):
    """Return a new model with the settings that a fitted one has chosen, so that it does not choose anew."""
    settings = getattr(fitted, "settings_", {})
    params = model.get_params(deep=False) if settings else {}
    return _new(
        model,
        **{n: settings[n] for n, value in params.items() if isinstance(value, str) and value == AUTO and n in settings},
    )


def _ranked(model, X, k, n_labels, allowed=None) -> Ranking:
    """Return the first labels of rows by a model, as it ranks them, or by its probabilities."""
    k = min(k, n_labels)
    if isinstance(model, MultiLabelModel):
        return model.predict_topk(X, k, labels=allowed)
    if hasattr(model, "predict_topk"):
        return Ranking(*model.predict_topk(X, k))
    found = model.predict_proba(X)
    labels, scores = np.empty((X.shape[0], k), np.int32), np.empty((X.shape[0], k))
    if sp.issparse(found):
        top_k_sparse(*csr_parts(sp.csr_array(found)), labels, scores)
    else:
        top_k_dense(np.asarray(found, np.float64), labels, scores)
    return Ranking(labels, scores)


def _is_right(found: Candidates, Y) -> np.ndarray:
    """Return 1.0 for each candidate that is a true label, else 0.0."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(found.ptr)) * Y.shape[1]
    true = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * Y.shape[1] + Y.indices
    return np.isin(row + found.labels, true).astype(np.float64)


def _best_threshold(scores, right, n_true) -> float:
    """Return the score from which on labels are predicted with the largest micro F1."""
    order = np.argsort(-scores, kind="stable")
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, scores.size + 1) + n_true)
    return float(np.float32(scores[order[f1.argmax()]])) if scores.size else MultiLabelModel.threshold_
