"""Runs: a model is trained on a data set, and its predictions for the test rows are measured."""

import contextlib
import math
import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np

from xmlcore import metrics, store
from xmlcore.artifact_keys import plain
from xmlcore.experiment.catalog import GIVEN, MODEL, MODELS, SELECTORS, SETTINGS, K, ModelInfo
from xmlcore.experiment.engine.fitting import WatchedTraining, compile_kernels, estimator, full_params, grown, watched
from xmlcore.experiment.engine.task import KINDS, DamagedResultWarning, Task, keep, load, register, task
from xmlcore.experiment.kinds import trees
from xmlcore.first_use import pd
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics.measures import MORE_MEASURES, USUAL_MEASURES, measurable
from xmlcore.metrics.sets import of_sets
from xmlcore.models import load_model
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.compiling import COMPILING
from xmlcore.models.mixture import Mixture
from xmlcore.models.plt.choosing import PUBLISHED_C
from xmlcore.models.rules import decision_of
from xmlcore.parameters import AUTO
from xmlcore.progress import Progress, ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.store.places import read_record
from xmlcore.typing import ArrayLike, DataFrame, Dataset, Ranker
from xmlcore.validation import check_count, check_dataset, check_model
from xmlcore.wording import listed

FOLDER = "runs"
LARGEST_EXACT = 2**53  # browsers, as float64, represent whole numbers below this exactly
INTERVALS = "intervals"  # of an Evaluation: the key of the table with intervals, when evaluate was asked for it
SAMPLE = ("rows", "labels")  # of a trial: the size of what it was trained on
FITTING = 0.9  # share of the time, usually; then the test rows are predicted
LEAST_RANKED = 5  # least number of labels that are kept for each test row


@dataclass(frozen=True)
class Run:
    """The result of training a model and measuring it on the test rows."""

    model: str  # a key of :data:`MODELS`, or :data:`GIVEN`: another program has made the predictions, without a model
    params: dict  # all parameters, also those left at their defaults
    dataset_name: str
    fingerprint: str  # of the data set
    content_hash: str  # of the data set
    k: int  # largest k of the measures
    measures: "DataFrame"  # ``measure``, ``k`` (1 to ``k``), ``value`` (in [0, 1]), as :func:`evaluate` has them
    # "fit_s", "predict_s", "compile_s" (of kernels, not in the others) in seconds, "predict_ms_per_row" in milliseconds
    # "fit_cpu_s": processor time of "fit_s", in seconds, summed over threads
    times: dict
    size: dict  # "n_nodes", "depth", "n_weights" (over all trees; depth of the deepest) and "model_bytes" (in memory)
    ranking: Ranking  # the first max(k, 5) labels of each test row
    warnings: list[str] = field(default_factory=list)  # of the training
    created: str = ""  # when the run was made: ISO 8601, UTC
    chosen: dict = field(default_factory=dict)  # the values that the model chose for parameters that are "auto"
    trials: list[dict] = field(default_factory=list)  # by which it chose them, as lines of :attr:`xmlcore.PLT.chosen_`
    # "peak_bytes": the most memory of the process in training, with the program and the data; "before_bytes": what it
    # had when the training began. Empty where the system does not tell.
    memory: dict = field(default_factory=dict)
    # Measures of the labels that ``predict`` returns for the test rows: see metrics.sets.of_sets. Empty for external
    # predictions.
    decided: dict = field(default_factory=dict)

    @property
    def has_model(self) -> bool:
        """Whether a model made the predictions; else there are no times and sizes either."""
        return self.model != GIVEN

    @property
    def chosen_trial(self) -> int | None:
        """The place of the trial whose settings were chosen, where C is adapted to all rows; None without trials."""
        if not self.trials:
            return None
        # The last sample decides. Of alternating scalings the first was chosen.
        wanted = {name: str(value).split("+")[0] for name, value in self.chosen.items() if name != "C"}
        wanted |= {name: str(value) for line in self.trials[-1:] for name, value in line.items() if name in SAMPLE}
        alike = [
            at
            for at, trial in enumerate(self.trials)
            if all(str(trial[name]) == value for name, value in wanted.items() if name in trial)
        ]
        # A larger C that is better by chance only leaves the published one, with which the first trial was made.
        if self.chosen.get("C") == PUBLISHED_C[self.chosen.get("loss", self.params.get("loss"))]:
            alike = alike[:1]
        return max(alike, key=lambda at: self.trials[at]["score"], default=None)


class Evaluation(dict[str, Any]):
    """Measures of a model on test rows, by name, with the times and the ranking: a dict."""

    def __init__(self, found: dict[str, Any], Y_true: Any, inv_ps: np.ndarray, hierarchy: Hierarchy | None = None):
        super().__init__(found)
        self._Y_true, self._of_labels = Y_true, {"inv_ps": inv_ps, "hierarchy": hierarchy}
        self._measures = [name for name, value in found.items() if name in metrics.MEASURES]

    @cached_property
    def intervals(self) -> "DataFrame":
        """The measures with 95 % bootstrap intervals over the test rows: see :func:`xmlcore.metrics.intervals`."""
        if INTERVALS in self:
            return self[INTERVALS]
        k = len(self[self._measures[0]])
        return metrics.intervals(self._Y_true, self["ranking"], k, measures=self._measures, **self._of_labels)

    def to_frame(self, intervals: bool = False) -> "DataFrame":
        """Return the measures as a table."""
        if intervals:
            return self.intervals.copy()
        lines = [(name, at + 1, float(value)) for name in self._measures for at, value in enumerate(self[name])]
        return pd.DataFrame(lines, columns=["measure", "k", "value"])


def evaluate(
    model: Ranker,
    dataset: "Dataset",
    k: int = 5,
    progress: ProgressLike | None = None,
    intervals: bool = False,
    *,
    inv_ps: ArrayLike | None = None,
) -> Evaluation:
    """Measure a fitted model on the test rows of a data set.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict_topk(X, k)``.
    dataset : Dataset
    k : int
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
        Passed to ``predict_topk``.
    intervals : bool
        Whether to add bootstrap intervals, which take a second or two for 16,000 rows and labels.
    inv_ps : array-like of float, shape (L,), optional
        Weights of labels in propensity-scored measures; by default those that
        :meth:`xmlcore.datasets.Dataset.inverse_propensity` returns.

    Returns
    -------
    Evaluation
        A dict, with the method :meth:`~xmlcore.experiment.Evaluation.to_frame` and the attribute ``intervals``:
        "P@k", "macro F1@k" and the other :data:`xmlcore.metrics.MEASURES` that are taken of each run: ndarray (k,), the
        value at 1 to k, in [0, 1]; "predict_s": seconds for all test rows; "predict_ms_per_row"; "ranking": the
        Ranking measured, with max(k, 5) labels. With ``intervals`` also "intervals": a DataFrame of the same measures
        with ``low`` and ``high``, see :func:`xmlcore.metrics.intervals`.

    Raises
    ------
    ValueError
        The model and the data set have names of labels, and these differ or are in another order.
    """
    progress = None if progress is None else to_progress(progress)
    check_dataset(dataset)
    check_model(model)
    k = check_count(k, "k")
    _check_same_labels(model, dataset)
    start = time.perf_counter()
    reporting = {} if progress is None else {"progress": progress}
    ranking = model.predict_topk(dataset.X_test, k=max(k, LEAST_RANKED), **reporting)
    seconds = time.perf_counter() - start
    inv_ps = dataset.inverse_propensity() if inv_ps is None else inv_ps
    names = measurable((*USUAL_MEASURES, *MORE_MEASURES), dataset.hierarchy)
    values = metrics.measures(dataset.Y_test, ranking, k, inv_ps, names, dataset.hierarchy)
    times = {"predict_s": seconds, "predict_ms_per_row": 1000 * seconds / dataset.n_test, "ranking": ranking}
    evaluation = Evaluation(values | times, dataset.Y_test, inv_ps, dataset.hierarchy)
    if intervals:
        evaluation[INTERVALS] = evaluation.intervals
    return evaluation


def _check_same_labels(model, dataset) -> None:
    """Raise ValueError if the labels of a model are not those of a data set; new labels of either may follow."""
    names, others = getattr(model, "label_names_", None), dataset.label_names
    for j, (name, other) in enumerate(zip(names or (), others or ())):
        if name != other:
            raise ValueError(
                f"label {j} of the model is {name!r:.60}, and that of the data set is {other!r:.60}: the columns of "
                "Y must be in the order of the model's label_names_"
            )


def run(
    dataset: "Dataset",
    model: str = "PLT",
    params: dict[str, Any] | None = None,
    k: int = 5,
    progress: ProgressLike = silent,
) -> Run:
    """Train a model on a data set, and measure it.

    {arguments}
    """
    progress = to_progress(progress)
    return run_and_model(dataset, model, full_params(model, params), check_count(k, "k"), progress)[0]


def run_and_model(
    dataset: "Dataset", model: str, params: dict, k: int, progress: ProgressLike = silent
) -> tuple[Run, object]:
    """Train as :func:`run` does, with all parameters, and return the fitted model, too."""
    check_dataset(dataset)
    progress(COMPILING, 0.0)
    unfitted = estimator(model, params)
    with watched(compile_kernels(unfitted, dataset.X_train)) as training:
        unfitted.fit(dataset.X_train, dataset.Y_train, progress=part_of(progress, 0.0, FITTING))
    return _measured(dataset, model, params, k, unfitted, training, part_of(progress, FITTING, 1.0))


def _measured(dataset, model, params, k, estimator, training: WatchedTraining, progress) -> tuple[Run, object]:
    fitted = getattr(estimator, "model_", estimator)  # AdversarialTraining keeps the trained model as model_
    evaluated = evaluate(fitted, dataset, k, progress=progress)
    times = {"fit_s": training.seconds, "fit_cpu_s": training.cpu_seconds, "compile_s": training.compile_s}
    times |= {name: evaluated[name] for name in ("predict_s", "predict_ms_per_row")}
    chosen = {name: value for name, value in getattr(fitted, "settings_", {}).items() if params[name] == AUTO}
    trials = []
    if chosen:
        trials = estimator.trials_ if estimator is not fitted else fitted.chosen_.to_dict("records")
    result = Run(
        model=model,
        params=params,
        dataset_name=dataset.name,
        fingerprint=dataset.fingerprint,
        k=k,
        measures=evaluated.to_frame(),
        times=times,
        size=fitted.size(),
        ranking=evaluated["ranking"],
        warnings=training.warnings,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        memory=training.memory,
        decided=of_sets(dataset.Y_test, fitted.predict(dataset.X_test)) | {"rule": decision_of(fitted)},
        content_hash=dataset.content_hash,
        chosen=chosen,
        trials=trials,
    )
    return result, fitted


def _mixture(training: "Train", data, progress) -> tuple[Mixture, WatchedTraining]:
    """Mix the models of kept trainings; the time is that of their own, too."""
    runs, models = zip(*(kept_run_and_model(keep(one, progress), progress) for one in training.mixed))
    own = {name: training.params["params"][name] for name in ("held_out", "n_candidates", "random_state")}
    progress(COMPILING, 0.0)
    with watched(sum(map(compile_kernels, models))) as watch:
        made = Mixture.of(models, data.X_train, data.Y_train, progress=part_of(progress, 0.0, FITTING), **own)
    watch.seconds += sum(run.times["fit_s"] for run in runs)
    watch.cpu_seconds += sum(run.times["fit_cpu_s"] for run in runs)
    return made, watch


@register
class Train(Task):
    """Train a model on a data set and measure it on the test rows."""

    kind, folder, result, version = "train", FOLDER, Run, 4
    computes = staticmethod(run)

    PARAMETERS = (MODEL, SETTINGS, K)

    def title_on(self, dataset):
        return with_changed(f"Training {self.params['model']} on {dataset}", self.params)

    def about(self):
        return super().about() | {"model": self.params["model"]}

    @classmethod
    def summary(cls, value):
        frame, measures = value["measures"], {}
        for _, name, at in sorted(zip(frame["k"].tolist(), frame["measure"], frame["value"].tolist())):
            measures.setdefault(name, []).append(at)
        parts = ("times", "size", "memory", "decided")
        return {"measures": measures} | {name: plain(value.get(name, {}), name) for name in parts}

    @property
    def mixed(self) -> list[Task]:
        """The trainings whose models are mixed, and not trained again."""
        return [task("train", self.inputs, one) for one in self.params["params"].get("members", ())]

    def work(self):
        work = trees.training(self, **self.params)
        return work._replace(group="mix", values=work.values * len(self.mixed)) if self.mixed else work

    def _took(self, value, seconds):
        alone = value["times"]["fit_s"] + value["times"]["predict_s"]
        return seconds if self.mixed else alone, grown(value["memory"])

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        apart = trees.trees_of(self, data)
        if apart and all(tree.exists() for tree in apart):
            progress("Putting trees together", 0.0)
            ensemble, training = trees.joined(apart)
            made, fitted = _measured(data, **self.params, estimator=ensemble, training=training, progress=progress)
        elif self.mixed:
            mixture, training = _mixture(self, data, progress)
            made, fitted = _measured(data, **self.params, estimator=mixture, training=training, progress=progress)
        else:
            made, fitted = run_and_model(data, progress=progress, **self.params)
        if files is not None:
            files["model"] = fitted.save
        return made

    def after_keeping(self):
        for tree in trees.trees_of(self):
            with contextlib.suppress(OSError):
                store.delete(tree.folder, tree.key)


def changed_params(info: "ModelInfo", params: dict[str, Any]) -> str:
    """Return the parameters that differ from the defaults, in the words of the form: ``Trees: 3, Arity: 16``."""
    known = {p.name: p for p in info.parameters}
    return ", ".join(
        f"{known[name].label if name in known else name}: {value_text(value, known.get(name))}"
        for name, value in params.items()
        if name not in known or known[name].default != value
    )


def with_changed(title: str, params: dict[str, Any]) -> str:
    """Return a title with the settings, among the parameters of a task, that differ from the defaults."""
    info = MODELS[params["model"]] if "model" in params else SELECTORS[params["method"]]
    changed = changed_params(info, params["params"])
    return f"{title} ({changed})" if changed else title


def value_text(value, parameter=None) -> str:
    """Return the value of a parameter as text for users; ``parameter`` is its description, if there is one."""
    if value == AUTO or (value is None and (parameter is None or parameter.kind != "choice")):
        return "automatic"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return listed(one["model"] for one in value)
    if isinstance(value, (int, float)):
        whole = math.isfinite(value) and value == int(value) and abs(value) < LARGEST_EXACT
        return f"{int(value):,}" if whole else f"{value:g}"
    return str(value) if parameter is None else parameter.named(value)


def load_run_model(key: str) -> "MultiLabelModel":
    """Read the fitted model of a kept run; StoreError if its predictions were made by another program."""
    store.check(FOLDER, key)
    if store.info(FOLDER, key).get("model") == GIVEN:
        raise store.StoreError(f"the run {key} has no model, only predictions that another program has made")
    try:
        store.verify(FOLDER, key)
        return load_model(store.folder(FOLDER, key) / "model")
    except (MemoryError, PermissionError):
        raise
    except Exception as error:
        raise store.DamagedArtifactError(
            f"the model of run {key} was damaged ({type(error).__name__}: {error}); make the run again"
        ) from None


def sampled_rows(n: int, n_rows: int | None, seed: int):
    """Return the ids of the rows to use, ascending: all ``n`` rows, or a random sample of ``n_rows`` of them."""
    if n_rows is None or check_count(n_rows, "n_rows") >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n)[:n_rows])


# --- kept runs and selections as inputs of tasks: damaged ones are made again ---


def kept_run(key: str, progress: Progress = silent) -> Run:
    return _read("train", key, progress, lambda key: load("train", key))


def kept_run_and_model(key: str, progress: Progress = silent):
    """Return a kept run and its fitted model; when one of them cannot be read, the run is first made again."""
    progress("Reading the model", 0.0)
    return _read("train", key, progress, lambda key: (load("train", key), load_run_model(key)))


def kept_selection(key: str, progress: Progress = silent):
    """Return a kept selection; when it cannot be read, it is first made again, as by :func:`kept_run_and_model`."""
    return _read("select", key, progress, lambda key: load("select", key))


def _read(kind, key, progress, read):
    try:
        return read(key)
    except (store.DamagedArtifactError, store.UnreadableArtifactError) as error:
        try:
            facts = read_record(store.folder(KINDS[kind].folder, key))
            maker = task(kind, facts["inputs"], facts["params"])
        except (OSError, ValueError, TypeError, KeyError):
            raise error from None
        warnings.warn(f"Made again: {error}", DamagedResultWarning, stacklevel=3)
    return read(keep(maker, progress, again=True))
