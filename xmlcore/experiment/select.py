"""Selections of features, kept: which features each label keeps, by which method."""

import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlcore.experiment.catalog import SELECTORS
from xmlcore.experiment.task import Estimate, Task, as_plain, keep, load, register, task
from xmlcore.experiment.train import changed_params, check_names
from xmlcore.progress import Progress, silent

if TYPE_CHECKING:
    from xmlcore.datasets import Dataset

SELECTIONS = "selections"
SHARED_PATTERNS = ("FAMS", "FIMS")  # of FALS: one set for all labels
INFO = ("order_", "scoring_", "n_scored_", "layer_sizes_", "costs_")  # what FALS says of itself


@dataclass(frozen=True)
class Selection:
    """Which features each label keeps.

    Attributes
    ----------
    method : str
        A key of :data:`SELECTORS`.
    params : dict
        All parameters, those left at their defaults too.
    dataset_name, fingerprint : str
    selected : ndarray of int32, shape (L, k)
        Features of each label, best first.
    selected_scores : ndarray of float32, shape (L, k)
        Their scores. What they mean is the method's.
    standard_error : ndarray of float32, shape (L, k), or None
        Of the scores, where these come from a sample of rows.
    n_features, n_labels, n_rows : int
        Of the training rows.
    times : dict
        Seconds: "fit_s", "compile_s" (of kernels, before anything is timed).
    info : dict
        What the method says of how it went, such as FALS's order of computation.
    warnings : list of str
    created : str
        ISO 8601, UTC.
    """

    method: str
    params: dict
    dataset_name: str
    fingerprint: str
    selected: Any
    selected_scores: Any
    standard_error: Any
    n_features: int
    n_labels: int
    n_rows: int
    times: dict
    info: dict = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    created: str = ""

    @property
    def title(self) -> str:
        """The method in a word or two: see :func:`selection_title`."""
        return selection_title(self.method, self.params)

    @property
    def shared(self) -> bool:
        """Whether all labels keep the same features."""
        return is_shared(self.method, self.params)

    @property
    def n_selected(self) -> int:
        """Features that each label keeps."""
        return self.selected.shape[1]


def selection_params(method: str, params: dict | None = None) -> dict:
    """Parameters of a selection with the defaults filled in.

    Parameters
    ----------
    method : str
        A key of :data:`SELECTORS`.
    params : dict, optional
        Those that differ from the defaults.

    Raises
    ------
    ValueError
        Unknown method or parameter.
    """
    if method not in SELECTORS:
        raise ValueError(f"unknown method {method!r}: known are {', '.join(SELECTORS)}")
    return SELECTORS[method].filled(method, params)


def selection_title(method: str, params: dict | None = None) -> str:
    """What figures and tables call a selection: FALS's pattern, or the rival, and whether labels share its set."""
    params = selection_params(method, params)
    if method == "FALS":
        ways = [] if params["attribution"] == "gradient" else [params["attribution"].replace("_", " ")]
        ways += ["binary"] if params["binary"] else []
        return params["pattern"] + (f" ({', '.join(ways)})" if ways else "")
    return SELECTORS[method].title + ("" if params["per_label"] else ", one set")


def is_shared(method: str, params: dict | None = None) -> bool:
    """Whether a method gives all labels the same features."""
    params = selection_params(method, params)
    return params["pattern"] in SHARED_PATTERNS if method == "FALS" else not params["per_label"]


def selector(method: str, params: dict | None = None):
    """Make the estimator of a selection, not fitted.

    Parameters
    ----------
    method, params
        See :func:`selection_params`.
    """
    return SELECTORS[method].cls(**selection_params(method, params))


def selection_estimate(dataset: "Dataset", method: str, params: dict | None = None) -> dict:
    """How long a selection is about to take, and what memory, before anything is done.

    Parameters
    ----------
    dataset : Dataset
    method, params
        See :func:`selection_params`.

    Returns
    -------
    dict
        "seconds" and "bytes"; FALS, which says so itself, also has "order" (of computation), "scoring" ("exact" or
        "sampled") and "n_steps" (of training). Those of its rivals are rough.
    """
    params = selection_params(method, params)
    if method == "FALS":
        found = selector(method, params).estimate(dataset.X_train, dataset.n_labels)
        return {name: found[name] for name in ("seconds", "bytes", "order", "scoring", "n_steps")}
    n, d, n_labels = dataset.n_train, dataset.n_features, dataset.n_labels
    nonzeros = dataset.X_train.nnz
    scores = 4 * n_labels * d
    if method == "RandomForest":
        trees = params["n_estimators"] * tree_seconds(dataset, d) * FOREST
        return {"seconds": trees if params["per_label"] else trees / np.sqrt(n_labels), "bytes": scores}
    if method == "Lasso":
        return {"seconds": LASSO * n_labels * n * d, "bytes": scores + 24 * nonzeros}
    return {
        "seconds": 0.1 + PRODUCT * (dataset.Y_train.nnz * nonzeros / max(1, n) + n_labels * d),
        "bytes": scores + 64 * (1 << 20),
    }


# Measured on two cores: seconds per label, row and feature of a LASSO (between a sixteenth of that and all of it, by
# how many rounds it takes); per entry of a sparse product or score; and what a tree of a forest costs, as a share of
# one that looks at all features.
LASSO, PRODUCT, FOREST = 1e-8, 4e-8, 0.1


def tree_seconds(dataset: "Dataset", n_features: int, n_rows: int | None = None) -> float:
    """About how long one decision tree for each label takes (:class:`xmlcore.selection.BRDT`), with so many features.

    Parameters
    ----------
    dataset : Dataset
    n_features : int
        That each label's tree looks at.
    n_rows : int, optional
        Training rows; by default all.
    """
    part = min(n_rows or dataset.n_train, dataset.n_train) / max(1, dataset.n_train)
    rows = part * dataset.n_train
    share = (n_features / max(1, dataset.n_features)) ** 0.8  # what is selected occurs more often than the rest
    positive = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels) / max(1, dataset.n_train)
    work = (np.minimum(positive, 1 - positive) ** 0.9).sum()  # trees of rare labels are small
    return float(0.001 * dataset.n_labels + TREE * share * part * dataset.X_train.nnz * np.sqrt(rows) * work)


# Seconds for each nonzero, square root of a row and share of positive rows, on two quiet cores: for five data sets
# between a half and two and a half times what trees took.
TREE = 5.4e-8


def select(
    dataset: "Dataset", method: str = "FALS", params: dict | None = None, progress: Progress = silent
) -> Selection:
    """Select features on the training rows of a data set.

    Parameters
    ----------
    dataset : Dataset
    method : str
        A key of :data:`SELECTORS`.
    params : dict, optional
        Parameters that differ from the defaults.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

    Returns
    -------
    Selection
    """
    return _select(dataset, method, params, progress)[0]


def _select(dataset, method, params, progress):
    params = selection_params(method, params)
    progress("Compiling kernels", 0.0)
    compile_s = warm_up_selector(method, params)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = selector(method, params).fit(dataset.X_train, dataset.Y_train, progress=progress)
    seconds = time.perf_counter() - start
    selected = np.ascontiguousarray(np.broadcast_to(fitted.selected_, (dataset.n_labels, fitted.selected_.shape[1])))
    result = Selection(
        method=method,
        params=params,
        dataset_name=dataset.name,
        fingerprint=dataset.fingerprint,
        selected=selected.astype(np.int32, copy=False),
        selected_scores=_selected_scores(fitted, selected),
        standard_error=_at_selected(getattr(fitted, "standard_error_", None), selected),
        n_features=dataset.n_features,
        n_labels=dataset.n_labels,
        n_rows=dataset.n_train,
        times={"fit_s": seconds, "compile_s": compile_s},
        info={name.rstrip("_"): value for name in INFO if _plain(value := getattr(fitted, name, None))},
        warnings=[str(w.message) for w in caught],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return result, fitted


def _plain(value):
    return isinstance(value, (str, int, float, tuple, list, dict, np.integer, np.floating))


def _selected_scores(fitted, selected):
    own = getattr(fitted, "selected_scores_", None)
    if own is None:
        return _at_selected(fitted.scores_, selected)
    return np.ascontiguousarray(np.broadcast_to(own, selected.shape), dtype=np.float32)


def _at_selected(values, selected):
    """Of values for all features, (L, D) or (1, D), those of each label's own; None as it is."""
    if values is None:
        return None
    labels = np.arange(selected.shape[0])[:, None] if values.shape[0] > 1 else 0
    return np.ascontiguousarray(values[labels, selected], dtype=np.float32)


def warm_up_selector(method: str, params: dict | None = None) -> float:
    """Seconds to compile, or load, the kernels that a selection uses: a fit on a few rows."""
    start = time.perf_counter()
    X = np.random.default_rng(0).random((24, 6)).astype(np.float32)
    Y = [[row % 3] for row in range(24)]
    small = {"n_features": 2, "n_epochs": 1, "n_hidden": 3, "n_estimators": 1, "batch_size": 8}
    params = selection_params(method, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector(method, params | {name: value for name, value in small.items() if name in params}).fit(X, Y)
    return time.perf_counter() - start


def asked_for(method: str, params: dict | None = None) -> dict:
    """What decides a selection, for keys: a share of 1.0, all features, is another thing than a count of 1."""
    params = selection_params(method, params)
    kept = params["n_features"]
    whole = isinstance(kept, (int, np.integer))
    return {"method": method, "params": params | {"n_features": ["count" if whole else "share", kept]}}


@register
class Select(Task):
    """Select features on the training rows of a data set.

    Inputs: ``dataset``. Parameters: ``method``, ``params`` (see :func:`selection_params`). Where the fitted selector
    can be saved, as FALS can, it is kept in the folder ``model``.
    """

    kind, folder, result = "select", SELECTIONS, Selection

    def complete(self, params):
        params = {"method": "FALS", "params": None} | params
        check_names(params, ("method", "params"))
        return {"method": params["method"], "params": selection_params(**params)}

    def params_in_key(self):
        return asked_for(**self.params)

    def title_on(self, dataset):
        method = self.params["method"]
        changed = changed_params(SELECTORS[method], self.params["params"])
        name = method if method == "FALS" else SELECTORS[method].title
        return f"Selecting features of {dataset} by {name}" + (f" ({changed})" if changed else "")

    def about(self):
        return super().about() | {"method": self.params["method"]}

    def estimate(self) -> Estimate:
        from xmlcore.datasets import load_saved

        found = selection_estimate(load_saved(self.fingerprint), **self.params)
        return Estimate(found["seconds"], found["bytes"])

    def run(self, progress=silent, files=None):
        from xmlcore.datasets import load_saved

        progress("Reading data", 0.0)
        found, fitted = _select(load_saved(self.fingerprint), progress=progress, **self.params)
        if files is not None and hasattr(fitted, "save"):
            files["model"] = fitted.save
        return as_plain(found)


def selection_key(fingerprint: str, method: str = "FALS", params: dict | None = None) -> str:
    """Key under which :func:`selection_saved` keeps a selection."""
    return task("select", {"dataset": fingerprint}, {"method": method, "params": params}).key


def selection_saved(
    fingerprint: str, method: str = "FALS", params: dict | None = None, progress: Progress = silent
) -> str:
    """Select on a data set of the store and keep the result there; at once when it is there already."""
    return keep(task("select", {"dataset": fingerprint}, {"method": method, "params": params}), progress)


def load_selection(key: str) -> Selection:
    """Read a selection that is kept; StoreError when there is none."""
    return load("select", key)
