"""Selections of features: which features each label keeps, by which method."""

import contextlib
import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from xmlcore.experiment.catalog import COMPARED, METHOD, SELECTORS, SETTINGS
from xmlcore.experiment.engine import times
from xmlcore.experiment.engine.fitting import watched
from xmlcore.experiment.engine.task import Task, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import with_changed
from xmlcore.models.base import Estimator
from xmlcore.models.compiling import COMPILING, compile_lock
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import Dataset
from xmlcore.validation import check_dataset, check_known

SHARED_PATTERNS = ("FAMS", "FIMS")  # patterns of FALS with one set of features for all labels
PLAIN = (str, int, float, tuple, list, dict, np.integer, np.floating)  # types of fitted attributes that can be kept
GRADIENTS = 1 << 23  # most gradients whose signs are counted
INFO = ("order_", "scoring_", "n_scored_", "layer_sizes_", "costs_")  # fitted attributes of FALS that are kept


@dataclass(frozen=True)
class Selection:
    """The features that a selection keeps for each label."""

    method: str
    params: dict
    dataset_name: str
    fingerprint: str
    selected: Any  # feature ids of each label, best first
    selected_scores: Any  # scores of these features; each method has a scale of its own
    standard_error: Any  # standard errors of the scores, if the scores were computed on a sample of rows
    n_features: int
    n_labels: int
    n_rows: int
    times: dict  # in seconds: "fit_s", "fit_cpu_s" (of the processors), and "compile_s" (of kernels, not in the others)
    # fitted attributes of FALS, such as its order of computation; empty for other methods
    info: dict = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    created: str = ""  # time at which the selection was made: ISO 8601, UTC
    # of FALS: the share of each label's gradients, over features and some rows, that are positive
    positive: Any = None

    @property
    def title(self) -> str:
        """Name in figures and tables, see :func:`selection_title`."""
        return selection_title(self.method, self.params)

    @property
    def shared(self) -> bool:
        """Whether all labels keep the same features."""
        return is_shared(self.method, self.params)

    @property
    def n_selected(self) -> int:
        """Number of features that each label keeps."""
        return self.selected.shape[1]


def selection_params(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the parameters of a selection with the defaults filled in."""
    return check_known(COMPARED, method, "method").filled(method, params)


def selection_title(method: str, params: dict[str, Any] | None = None) -> str:
    """Return the name of a selection in figures and tables."""
    params = selection_params(method, params)
    if method == "FALS":
        ways = [] if params["attribution"] == "gradient" else [params["attribution"].replace("_", " ")]
        ways += ["binary"] if params["binary"] else []
        return params["pattern"] + (f" ({', '.join(ways)})" if ways else "")
    return COMPARED[method].cls.ABOUT.title + ("" if params.get("per_label", True) else ", one set")


def is_shared(method: str, params: dict | None = None) -> bool:
    """Return whether a selection gives all labels the same features."""
    params = selection_params(method, params)
    return params["pattern"] in SHARED_PATTERNS if method == "FALS" else not params.get("per_label", True)


def selector(method: str, params: dict[str, Any] | None = None) -> "Estimator":
    """Make the estimator of a selection, not fitted."""
    info = check_known(COMPARED, method, "method")
    return info.cls(**info.defaults | (params or {}))  # fit checks them


def select(
    dataset: "Dataset", method: str = "FALS", params: dict[str, Any] | None = None, progress: ProgressLike = silent
) -> Selection:
    """Select features on the training rows of a data set.

    {arguments}
    """
    progress = to_progress(progress)
    return select_and_fit(dataset, method, selection_params(method, params), progress)[0]


def select_and_fit(
    dataset: "Dataset", method: str, params: dict, progress: ProgressLike = silent
) -> tuple[Selection, object]:
    """Select as :func:`select` does, with all parameters, and return the fitted selector, too."""
    check_dataset(dataset)
    progress(COMPILING, 0.0)
    with watched(warm_up_selector(method, params)) as training:
        fitted = selector(method, params).fit(dataset.X_train, dataset.Y_train, progress=progress)
    selected = np.ascontiguousarray(np.broadcast_to(fitted.selected_, (dataset.n_labels, fitted.selected_.shape[1])))
    scores = getattr(fitted, "selected_scores_", None)
    if scores is not None:
        scores = np.ascontiguousarray(np.broadcast_to(scores, selected.shape), dtype=np.float32)
    result = Selection(
        method=method,
        params=params,
        dataset_name=dataset.name,
        fingerprint=dataset.fingerprint,
        selected=selected.astype(np.int32, copy=False),
        selected_scores=_at_selected(fitted.scores_, selected) if scores is None else scores,
        standard_error=_at_selected(getattr(fitted, "standard_error_", None), selected),
        n_features=dataset.n_features,
        n_labels=dataset.n_labels,
        n_rows=dataset.n_train,
        times={"fit_s": training.seconds, "fit_cpu_s": training.cpu_seconds, "compile_s": training.compile_s},
        info={name.rstrip("_"): value for name in INFO if isinstance(value := getattr(fitted, name, None), PLAIN)},
        warnings=training.warnings,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        positive=_positive(fitted, dataset.X_train) if method == "FALS" else None,
    )
    return result, fitted


def _positive(fitted, X):
    """Return the share of positive gradients of each label, over features and up to so many rows; None of too many."""
    n = min(X.shape[0], GRADIENTS // (fitted.n_labels_ * fitted.n_features_in_))
    rows = np.linspace(0, X.shape[0] - 1, n).astype(np.int64)
    return (fitted.attributions(X[rows], "gradient") > 0).mean(axis=(0, 2)) if n else None


def _at_selected(values, selected):
    if values is None:
        return None
    labels = np.arange(selected.shape[0])[:, None] if values.shape[0] > 1 else 0
    return np.ascontiguousarray(values[labels, selected], dtype=np.float32)


def warm_up_selector(method: str, params: dict) -> float:
    """Compile the kernels of a selection, or load them, by a fit on a few rows; return the seconds that this took."""
    start = time.perf_counter()
    X = np.random.default_rng(0).random((24, 6)).astype(np.float32)
    Y = [[row % 3] for row in range(24)]
    small = {"n_features": 2, "n_epochs": 1, "n_hidden": 3, "n_estimators": 1, "batch_size": 8, "n_scored_rows": 8}
    # The piece "FALS" has all selections, see experiment/warm_up.py.
    # Other rows may allow settings that these do not, such as five layers: the selection itself will tell.
    errors = ValueError, FloatingPointError
    with compile_lock("FALS"), warnings.catch_warnings(action="ignore"), contextlib.suppress(*errors):
        selector(method, params | {name: value for name, value in small.items() if params.get(name) is not None}).fit(
            X, Y
        )
    return time.perf_counter() - start


def selection_plan(dataset: "Dataset", method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return "bytes", the memory of a selection, and "seconds" that one like it took here; of FALS also its order."""
    check_dataset(dataset)
    params = selection_params(method, params)
    sizes = {name: getattr(dataset, name) for name in ("n_train", "n_features", "n_labels")}
    sizes["train_values"] = dataset.X_train.nnz
    took = times.nearest(selecting(sizes, method, params))
    return _plan(sizes, method, params) | {"seconds": None if took is None else took.seconds}


def selecting(sizes: dict, method: str, params: dict) -> Work:
    """Return the work of a selection for which each label reads all values; ``sizes`` are as those of a task."""
    settings = {name: value for name, value in params.items() if name not in ("random_state", "n_features")}
    n_bytes = int(_plan(sizes, method, params)["bytes"])
    return Work(f"select {method}", sizes["train_values"] * sizes["n_labels"], n_bytes, settings)


def _plan(sizes, method, params) -> dict:
    n_features, n_labels, n_values = sizes["n_features"], sizes["n_labels"], sizes["train_values"]
    if method == "FALS":
        found = SELECTORS[method].cls(**params).estimate((sizes["n_train"], n_features), n_labels, nnz=n_values)
        return {name: found[name] for name in ("bytes", "order", "scoring", "n_steps")}
    beside = {"RandomForest": 0, "Lasso": 24 * n_values}
    return {"bytes": 4 * n_labels * n_features + beside.get(method, 64 << 20)}


def key_params(method: str, params: dict) -> dict:
    """Return the parameters in the key of a selection; a share of 1.0 (all features) differs from a count of 1."""
    kept = params["n_features"]
    is_count = isinstance(kept, (int, np.integer))
    return {"method": method, "params": params | {"n_features": ["count" if is_count else "share", kept]}}


class WarningsBySeed:
    """Collects the warnings of selections, which would otherwise only go to the log of the worker process."""

    def __init__(self):
        self._seeds = {}  # (title, message) -> seeds

    @contextlib.contextmanager
    def of(self, title: str, seed: int):
        """Collect the warnings in a with block, where the selection named ``title`` is made with one seed."""
        with warnings.catch_warnings(record=True, action="always") as caught:
            yield
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            self._seeds.setdefault((title, message), []).append(seed)

    def lines(self) -> list[str]:
        """Return each warning once, with the selection and the seeds that gave it."""
        return [
            f"{title}, seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}: {message}"
            for (title, message), seeds in self._seeds.items()
        ]


@register
class Select(Task):
    """Select features on the training rows of a data set."""

    kind, folder, result, version = "select", "selections", Selection, 2
    computes = staticmethod(select)

    PARAMETERS = (METHOD, SETTINGS)

    def params_in_key(self):
        return key_params(**self.params)

    def title_on(self, dataset):
        method = self.params["method"]
        name = method if method == "FALS" else SELECTORS[method].cls.ABOUT.title
        return with_changed(f"Selecting features of {dataset} by {name}", self.params)

    def about(self):
        return super().about() | {"method": self.params["method"]}

    def work(self):
        return selecting(self.sizes, **self.params)

    def _took(self, value, seconds):
        return value["times"]["fit_s"], 0

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        selection, fitted = select_and_fit(data, progress=progress, **self.params)
        if files is not None and hasattr(fitted, "predict_topk"):
            files["model"] = fitted.save
        return selection
