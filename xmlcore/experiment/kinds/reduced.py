"""Models on selected features, compared with the same models on all features."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.experiment.catalog import MODEL, N_ROWS, NOISE, SETTINGS, K
from xmlcore.experiment.engine.task import Task, keep, load, register, task
from xmlcore.experiment.kinds import train
from xmlcore.experiment.kinds.trees import training
from xmlcore.first_use import pd
from xmlcore.models import OneVsRest
from xmlcore.models.plt.scaling import UNIT, read_as
from xmlcore.parameters import Parameter
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, DataFrame, Dataset, Labels, Matrix
from xmlcore.validation import check_count

PER_LABEL_MODEL = "OneVsRest"  # the model whose labels can each learn from other features
ROWS = 512  # rows that are predicted together


@dataclass(frozen=True)
class Reduced:
    """Results of a model trained on selected features, and of the same model trained on all features."""

    model: str
    params: dict
    per_label: bool  # whether the classifier of each label was trained on that label's features only
    n_per_label: int  # how many of each label's selected features are used, the best first
    # n_used, n_features: number of features that the model uses, and number of all features
    n_used: int
    n_features: int
    k: int
    run_key: str  # key of the run on all features
    measures: "DataFrame"  # columns `features` ("all" or "selected"), `measure`, `k`, `value` (in [0, 1])
    # two rows, "all" and "selected", with the columns `fit_s`, `predict_ms_per_row`, `model_bytes`, `n_weights`,
    # `n_features`
    numbers: "DataFrame"
    select_s: float


class PerLabelOneVsRest:
    """A linear classifier for each label, trained by :class:`xmlcore.OneVsRest` on the features of this label only."""

    def __init__(self, selected: ArrayLike, **params: object):
        self.selected = selected
        self.params = params

    def fit(self, X: Matrix, Y: Labels, progress: ProgressLike = silent) -> "PerLabelOneVsRest":
        """Train the classifier of each label."""
        progress = to_progress(progress)
        columns, Y = sp.csc_array(X), sp.csc_array(Y)
        used = sp.csr_array(columns[:, np.unique(self.selected)])
        params = self.params | OneVsRest(**self.params).choose(used, Y, progress=progress).settings
        self._unit = read_as(params["normalize"]) == UNIT
        n_labels, parts = Y.shape[1], []
        bias = np.full(n_labels, -np.inf)
        for label in range(n_labels):
            if label % 8 == 0:
                progress("Training a classifier per label", label / n_labels, f"{label:,} of {n_labels:,} labels")
            n_true = Y.indptr[label + 1] - Y.indptr[label]
            features = np.sort(self.selected[label])
            weights = np.zeros(features.size, np.float32)
            if n_true == Y.shape[0]:
                bias[label] = np.inf
            elif n_true:
                model = OneVsRest(**params).fit(sp.csr_array(columns[:, features]), sp.csr_array(Y[:, [label]]))
                coef = model.coef_
                weights[coef.indices] = coef.data
                bias[label] = model.intercept_[0]
            parts.append((features, weights))
        progress("Training a classifier per label", 1.0, f"{n_labels:,} of {n_labels:,} labels")
        ids, values = (np.concatenate(part) for part in zip(*parts))
        label_of = np.repeat(np.arange(n_labels), [features.size for features, _ in parts])
        shape = (X.shape[1], n_labels)
        self._kept = sp.csc_array((np.ones(ids.size), (ids, label_of)), shape=shape)
        self._weights = sp.csc_array((values.astype(np.float64), (ids, label_of)), shape=shape)
        self._bias = bias
        return self

    def predict_topk(self, X: Matrix, k: int = 5, progress: ProgressLike = silent) -> Ranking:
        """Return the k labels with the largest margins of each row."""
        progress, k = to_progress(progress), check_count(k, "k")
        n, n_labels = X.shape[0], self._bias.size
        labels = np.full((n, k), -1, np.int32)
        scores = np.zeros((n, k), np.float32)
        width = min(k, n_labels)
        for start in range(0, n, ROWS):
            progress("Predicting", start / n, f"row {start:,} of {n:,}")
            rows = sp.csr_array(X[start : start + ROWS], dtype=np.float64)
            margins = (rows @ self._weights).toarray()
            if self._unit:
                length = np.sqrt((rows.power(2) @ self._kept).toarray())
                np.divide(margins, length, out=margins, where=length > 0)
            margins += self._bias
            best = np.argsort(-margins, axis=1, kind="stable")[:, :width]
            best_margins = np.take_along_axis(margins, best, axis=1)
            labels[start : start + ROWS, :width] = np.where(np.isneginf(best_margins), -1, best)
            scores[start : start + ROWS, :width] = np.exp(-np.logaddexp(0.0, -best_margins))
        return Ranking(labels, scores)

    def size(self) -> dict[str, Any]:
        """Return the size of the model."""
        n_weights = int(np.count_nonzero(self._weights.data))
        n_bytes = sum(a.nbytes for a in (self._weights.indptr, self._weights.indices, self._weights.data, self._bias))
        return {"n_nodes": self._bias.size, "depth": 1, "n_weights": n_weights, "model_bytes": int(n_bytes)}


def union_of_features(selected: np.ndarray, n_per_label: int | None = None) -> np.ndarray:
    """Return the features that the selection of at least one label contains."""
    n_per_label = None if n_per_label is None else check_count(n_per_label, "n_per_label")
    return np.unique(selected[:, :n_per_label])


def fitting_depth(selected: np.ndarray, most: int) -> int:
    """Return how many features of each label may be used so that the labels together use at most ``most`` features."""
    check_count(most, "most")
    low, high = 1, selected.shape[1]
    while low < high:
        middle = (low + high + 1) // 2
        if union_of_features(selected, middle).size <= most:
            low = middle
        else:
            high = middle - 1
    return low


@register
class TrainReduced(Task):
    """Train a model on selected features and on all features, and keep the measures of both."""

    kind, folder, result, needs, version = "reduced", "reduced", Reduced, ("selection",), 2

    PARAMETERS = (
        MODEL,
        SETTINGS,
        Parameter(
            "per_label", "A set for each label",
            "Each label learns only from its own features, which is possible for OneVsRest. Off: all labels learn from "
            "all features that any label keeps.",
            "bool", False,
        ),
        replace(N_ROWS, name="n_per_label", label="Features of each label", help="The best ones. Empty: all."),
        K,
    )  # fmt: skip

    def complete(self, params):
        if params["per_label"] and params["model"] != PER_LABEL_MODEL:
            raise ValueError(f"{params['model']} learns all labels together: per_label is for {PER_LABEL_MODEL}")
        if params["per_label"] and params["params"]["noise_sigma"] > 0:
            raise ValueError("noise in training is not offered with a set of features for each label: set it to 0")
        return params

    def title_on(self, dataset):
        return train.with_changed(f"Training {self.params['model']} on selected features of {dataset}", self.params)

    def whole(self) -> Task:
        """Return the task that trains the same model on all features."""
        params = {name: self.params[name] for name in ("model", "params", "k")}
        return task("train", {"dataset": self.fingerprint}, params)

    def work(self):
        """Return the work of the training on selected features, and of that on all if it is not kept."""
        selected, whole = load("select", self.inputs["selection"]).selected, training(self, **self.whole().params)
        share = union_of_features(selected, self.params["n_per_label"]).size / self.sizes["n_features"]
        return whole._replace(values=(share + (not self.whole().exists())) * whole.values)

    def _took(self, value, seconds):
        return 0, 0  # whether the other training was kept is not known any more

    def run(self, progress=silent, files=None):
        progress("Reading the data set", 0.0)
        params = self.params
        selection = train.kept_selection(self.inputs["selection"], progress)
        n_per_label = params["n_per_label"]
        if n_per_label is None:
            n_per_label = selection.n_selected
        check_count(n_per_label, "n_per_label", most=selection.n_selected)
        dataset = self.dataset()

        def part(number):
            def report(phase, fraction, detail=""):
                features = ("on all features", "on selected features")[number]
                progress(f"{phase}, {features}", (number + fraction) / 2, detail)

            return report

        run_key = keep(self.whole(), part(0))
        whole = train.kept_run(run_key, part(0))
        used = union_of_features(selection.selected, n_per_label)
        if params["per_label"]:
            selected = selection.selected[:, :n_per_label]
            measures, times, size = _per_label(dataset, selected, params["params"], params["k"], part(1))
        else:
            reduced_dataset = on_features(dataset, used)
            run = train.run_and_model(reduced_dataset, params["model"], params["params"], params["k"], part(1))[0]
            measures, times, size = run.measures, run.times, run.size
        costs = [
            {name: times_of[name] for name in ("fit_s", "predict_ms_per_row")}
            | {name: size_of[name] for name in ("model_bytes", "n_weights")}
            | {"n_features": n}
            for times_of, size_of, n in ((whole.times, whole.size, dataset.n_features), (times, size, used.size))
        ]
        both, columns = {"all": whole.measures, "selected": measures}, ["features", "measure", "k", "value"]
        return Reduced(
            n_used=int(used.size),
            n_features=dataset.n_features,
            run_key=run_key,
            measures=pd.concat([part.assign(features=name) for name, part in both.items()], ignore_index=True)[columns],
            numbers=pd.DataFrame(costs, index=["all", "selected"]),
            select_s=selection.times["fit_s"],
            **params | {"n_per_label": n_per_label},
        )


def on_features(dataset: "Dataset", features: np.ndarray) -> "Dataset":
    """Return the data set with only these features, given by their ids."""
    names = dataset.feature_names
    return replace(
        dataset,
        X_train=dataset.X_train[:, features],
        X_test=dataset.X_test[:, features],
        feature_names=None if names is None else [names[j] for j in features],
        vectorizer=None,  # it makes all features
    )


def _per_label(dataset, selected, params, k, progress):
    without_noise = {name: value for name, value in params.items() if name not in {p.name for p in NOISE}}
    train.compile_kernels(train.estimator(PER_LABEL_MODEL, params))
    start = time.perf_counter()
    model = PerLabelOneVsRest(selected, **without_noise).fit(dataset.X_train, dataset.Y_train, progress)
    fit_s = time.perf_counter() - start
    evaluated = train.evaluate(model, dataset, k, progress)
    times = {"fit_s": fit_s, **{name: evaluated[name] for name in ("predict_s", "predict_ms_per_row")}}
    return evaluated.to_frame(), times, model.size()
