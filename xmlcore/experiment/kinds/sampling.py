"""Study of double sampling: a kept run with other numbers of examples per class, adversaries and candidates."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore import metrics
from xmlcore.experiment.engine.task import Task, load, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import compile_kernels, estimator, kept_run_and_model
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.models import DoubleSampling
from xmlcore.models.compiling import COMPILING
from xmlcore.models.double_sampling.learning import names_of_features
from xmlcore.models.double_sampling.prediction import label_matrix
from xmlcore.parameters import Parameter
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import check_count

CANDIDATES_AT_ONCE = 1 << 24  # most candidates, over all test rows that are predicted together: 64 MB of class ids
BYTES_PER_CANDIDATE = 40  # for its class id, its score f, and temporary arrays, while rows are predicted


@dataclass(frozen=True)
class Sampling:
    """How the results of a kept run of DoubleSampling change with its parameters."""

    run_key: str
    params: dict
    # A row per training, two of one that is on both axes. Columns: `axis` ("n_adversarial" or "examples_per_class", the
    # parameter that is varied while the others are those of the run); `n_adversarial`, `examples_per_class`, `seed`;
    # `accuracy`, `macro_f1` and `candidate_recall` of the test rows, in [0, 1]; `fit_s`, `cpu_s` (processor
    # time of the training, summed over threads) and `predict_ms_per_row`;
    # `n_pairs`; `pair_bytes` (memory of the pairs that f is trained on) and `model_bytes` (memory of the model);
    # `empirical_risk`; `failed` (why this training failed, or ""; its measures are nan then). A value of
    # `n_adversarial` above :func:`most_adversaries` gives the same training as that limit. Such trainings are made
    # once, and `n_adversarial` is then the limit.
    sweep: "DataFrame"
    # of the run's own model. Columns: `n_candidates`; `recall` (the share of pairs of a test row and its class for
    # which the class is among the candidates); `accuracy`, `macro_f1`, `predict_ms_per_row`.
    candidates: "DataFrame"
    # of the run's own model. Columns: `bucket` ("head", "torso", "tail"), `n_classes` (classes with a test row),
    # `n_rows` (pairs of a test row and its class), `accuracy`, `macro_f1`, `candidate_recall`.
    buckets: "DataFrame"
    n_repeats: int  # number of trainings per point of the sweep, each with another seed
    # n_rows, n_test: number of training rows, and number of test rows
    n_rows: int
    n_test: int
    seconds: float = 0.0


def sampling_study(
    dataset: "Dataset",
    params: dict[str, Any],
    n_adversarial: Sequence[Any] = (),
    examples_per_class: Sequence[Any] = (),
    n_candidates: Sequence[int] = (),
    n_repeats: int = 1,
    *,
    model: "DoubleSampling | None" = None,
    progress: ProgressLike = silent,
) -> "tuple[DataFrame, DataFrame, DataFrame]":
    """Measure double sampling with other numbers of adversaries, examples per class and candidates.

    Parameters
    ----------
    dataset : Dataset
        Models are trained on its training rows and measured on its test rows.
    params : dict
        Parameters of a run of DoubleSampling.
    n_adversarial, examples_per_class : sequence
        Values to train with: numbers of wrong classes that each example is paired with, and of examples per class.
        While one is varied, the other is that of ``params``. Values above the largest possible are lowered to it.
    n_candidates : sequence of int
        Values to predict with, which do not need a training each.
    n_repeats : int
        Number of trainings per value. The first has the seed of ``params``, and each further one the next seed.
    model : fitted DoubleSampling, optional
        A model that was trained with ``params``; by default it is trained here.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    sweep : DataFrame
        A row per training, two of one that is on both axes; :class:`Sampling` has the columns, as for the others.
    candidates : DataFrame
        A row per number of candidates.
    buckets : DataFrame
        A row for head, torso and tail classes each.

    Notes
    -----
    If a training fails with ValueError or MemoryError, ``sweep["failed"]`` has the reason, and the other values are
    still measured. Trainings are interleaved: all values with one seed, then all with the next. Other programs hardly
    change ``cpu_s``; other threads of this process add to it. Test rows are predicted in blocks, whose memory
    :func:`candidate_bytes` estimates.
    """
    progress = to_progress(progress)
    n_repeats = check_count(n_repeats, "n_repeats")
    n_candidates = [check_count(n, "each of n_candidates") for n in n_candidates]
    most = most_adversaries(params, np.unique(dataset.Y_train.indices).size)
    params = params | {"n_adversarial": min(params["n_adversarial"], most)}
    n_adversarial = sorted({min(value, most) for value in n_adversarial})
    points = [("n_adversarial", value, repeat) for value in n_adversarial for repeat in range(n_repeats)]
    points += [("examples_per_class", value, repeat) for value in examples_per_class for repeat in range(n_repeats)]
    progress(COMPILING, 0.0)
    compile_kernels(estimator("DoubleSampling", params))
    if model is None:
        model = _train(params, dataset, progress)
    sweep = _sweep(dataset, params, points, progress)
    candidates = []
    for i, count in enumerate(n_candidates):
        phase = {"phase": "Predicting with other candidates", "detail": f"{count:,} candidates"}
        values = _measure(
            model, dataset, count, part_of(progress, i / len(n_candidates), (i + 1) / len(n_candidates), **phase)
        )
        candidates.append({"n_candidates": count, "recall": values.pop("candidate_recall"), **values})
    return (
        pd.DataFrame(sweep, columns=SWEEP),
        pd.DataFrame(candidates, columns=["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]),
        _by_frequency(model, dataset),
    )


SWEEP = [
    "axis", "n_adversarial", "examples_per_class", "seed", "accuracy", "macro_f1", "candidate_recall", "fit_s", "cpu_s",
    "predict_ms_per_row", "n_pairs", "pair_bytes", "model_bytes", "empirical_risk", "failed",
]  # fmt: skip
AXES = {"n_adversarial": "κ =", "examples_per_class": "examples per class:"}


def _sweep(dataset, params, points, progress) -> list[dict]:
    """Train once for every point (axis, value, repeat); return the rows of :attr:`Sampling.sweep`, as dicts."""
    of_points = [params | {axis: value} for axis, value, _ in points]
    numbers = [(float(p["n_adversarial"]), float(p["examples_per_class"])) for p in of_points]
    alike = [(*both, repeat) for both, (_, _, repeat) in zip(numbers, points)]
    lines, made, n_trainings = [{} for _ in points], {}, len({*alike})  # what is on both axes is trained once
    if points:  # the first training of a process takes longer than its like
        few = min(zip(numbers, of_points), key=lambda point: point[0][0] * point[0][1])[1]
        with contextlib.suppress(ValueError, MemoryError):
            _train(few, dataset, part_of(progress, 0.0, 0.0, phase="Warming up"))
    for i in sorted(range(len(points)), key=lambda i: points[i][2]):
        axis, value, repeat = points[i]
        if alike[i] not in made:
            at, detail = len(made), f"{AXES[axis]} {value:g}, training {len(made) + 1:,} of {n_trainings:,}"
            start, end = at / n_trainings, (at + 1) / n_trainings
            report = part_of(progress, start, end, phase="Training with other numbers", detail=detail)
            seed = (params.get("random_state") or 0) + repeat
            made[alike[i]] = _trained(of_points[i] | {"random_state": seed}, dataset, report)
        lines[i] = made[alike[i]] | {"axis": axis}
    return lines


def _trained(params, dataset, progress) -> dict:
    """Train with parameters, and return a row of the table; a failed training is a row with the reason."""
    line = {"n_adversarial": params["n_adversarial"], "examples_per_class": float(params["examples_per_class"])}
    line |= {"seed": params["random_state"], "failed": ""}
    start, worked = time.perf_counter(), time.process_time()
    try:
        fitted = _train(params, dataset, progress)
    except (ValueError, MemoryError) as error:
        return line | {"failed": str(error) or "There is not enough memory"}
    line |= {"fit_s": time.perf_counter() - start, "cpu_s": time.process_time() - worked, "n_pairs": fitted.n_pairs_}
    line["pair_bytes"] = fitted.n_pairs_ * (8 * len(fitted.feature_names_) + 1)  # float64 features, a sign
    line |= {"model_bytes": fitted.size()["model_bytes"], "empirical_risk": fitted.empirical_risk_}
    return line | _measure(fitted, dataset)


def most_adversaries(params: dict[str, Any], n_classes: int) -> int:
    """Return the largest number of adversaries that an example can have."""
    among = check_count(n_classes, "n_classes", 0)
    if params.get("adversaries", "random") == "candidates":
        among = min(among, int(params["n_candidates"]))
    return max(1, among - 1)


def candidate_bytes(n_rows: int, n_candidates: int) -> int:
    """Return the peak memory in bytes of :func:`sampling_study` when it predicts rows with many candidates."""
    n_rows, n_candidates = check_count(n_rows, "n_rows", 0), check_count(n_candidates, "n_candidates", 0)
    at_once = min(n_rows, _rows_at_once(n_candidates))
    return BYTES_PER_CANDIDATE * at_once * n_candidates


def _rows_at_once(n_candidates: int) -> int:
    return max(1, CANDIDATES_AT_ONCE // max(1, n_candidates))


def _train(params, dataset, progress):
    """Train DoubleSampling, and return the model; with noise in training, the model without its wrapper."""
    fitted = estimator("DoubleSampling", params).fit(dataset.X_train, dataset.Y_train, progress=progress)
    return getattr(fitted, "model_", fitted)


def _predict_test_rows(model, dataset, n_candidates=None, progress=silent):
    count = min(model.n_candidates if n_candidates is None else n_candidates, np.count_nonzero(model.class_size_))
    step, first, is_candidate, seconds = _rows_at_once(int(count)), [], [], 0.0
    for start in range(0, dataset.n_test, step):
        progress("", start / dataset.n_test)
        part = slice(start, start + step)
        X, Y = dataset.X_test[part], dataset.Y_test[part]
        began = time.perf_counter()
        ranking = model.predict_topk(X, 1, n_candidates=n_candidates)
        seconds += time.perf_counter() - began
        first.append(ranking.labels[:, 0])
        found = model.candidates(X, n_candidates)
        numbered = sp.csr_array((np.arange(1, Y.nnz + 1), Y.indices, Y.indptr), shape=Y.shape)
        hits = numbered.multiply(label_matrix(found, np.ones(found.shape, bool), dataset.n_labels)).data
        is_candidate.append(np.isin(numbered.data, hits))
    return np.concatenate([np.empty(0, np.int32), *first]), np.concatenate([np.empty(0, bool), *is_candidate]), seconds


def _measure(model, dataset, n_candidates=None, progress=silent) -> dict:
    first, is_candidate, seconds = _predict_test_rows(model, dataset, n_candidates, progress)
    return {
        "accuracy": metrics.accuracy(dataset.Y_test, first),
        "macro_f1": metrics.macro_f1(dataset.Y_test, first),
        "candidate_recall": float(is_candidate.mean()) if is_candidate.size else float("nan"),
        "predict_ms_per_row": 1000 * seconds / max(1, dataset.n_test),
    }


def _by_frequency(model, dataset) -> "DataFrame":
    buckets = label_buckets(np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels))
    first, is_candidate, _ = _predict_test_rows(model, dataset)
    frame = metrics.first_class_by_bucket(dataset.Y_test, first, buckets)
    recall = pd.Series(is_candidate, dtype=float).groupby(buckets[dataset.Y_test.indices]).mean()
    return frame.assign(candidate_recall=recall.reindex(BUCKETS).to_numpy())


@register
class StudySampling(Task):
    """Measure a kept run of DoubleSampling with other numbers of adversaries, examples per class and candidates."""

    kind, folder, result, needs, version = "sampling", "sampling", Sampling, ("run",), 3

    PARAMETERS = (
        Parameter("n_adversarial", "Adversaries", "Wrong classes for each example.", "ints", (), minimum=1),
        Parameter("examples_per_class", "Examples", "Of each class.", "floats", (), minimum=0.0, above_minimum=True),
        Parameter("n_candidates", "Candidates", "Among which a prediction ranks.", "ints", (), minimum=1),
        Parameter("n_repeats", "Trainings", "For each number, each with another seed.", "int", 1, minimum=1),
    )

    def title_on(self, dataset):
        trains = self.params["n_adversarial"] or self.params["examples_per_class"]
        return f"Trying other {'κ and π' if trains else 'numbers of candidates'} on {dataset}"

    def work(self):
        run, sizes, p = load("train", self.inputs["run"]), self.sizes, self.params
        kappa, examples = run.params["n_adversarial"], run.params["examples_per_class"]
        drawn = {(value, examples) for value in p["n_adversarial"]}
        drawn |= {(kappa, value) for value in p["examples_per_class"]}
        n_classes = min(sizes["n_labels"], sizes["n_train"])
        pairs = [n_classes * min(kappa, most_adversaries(run.params, n_classes)) * value for kappa, value in drawn]
        of_pair = names_of_features(run.params.get("features", "paper"), run.params.get("candidates_from") == "plt")
        values = p["n_repeats"] * sum(sizes["train_values"] + len(of_pair) * each for each in pairs)
        values += sizes["test_values"] * sum(1 + count / run.params["n_candidates"] for count in p["n_candidates"])
        predicting = candidate_bytes(sizes["n_test"], min(n_classes, max(p["n_candidates"], default=0)))
        n_bytes = max(pairs, default=0) * (8 * len(of_pair) + 1)  # float64 features and a sign
        return Work(self.kind, values, int(max(n_bytes, predicting)))

    def run(self, progress=silent, files=None):
        start = time.perf_counter()
        run, model = kept_run_and_model(self.inputs["run"], progress)
        if run.model != "DoubleSampling":
            raise TypeError(f"this task is for runs of DoubleSampling, not of {run.model}")
        dataset = self.dataset()
        sweep, candidates, buckets = sampling_study(dataset, run.params, model=model, progress=progress, **self.params)
        return Sampling(
            run_key=self.inputs["run"],
            params=run.params,
            sweep=sweep,
            candidates=candidates,
            buckets=buckets,
            n_repeats=self.params["n_repeats"],
            n_rows=dataset.n_train,
            n_test=dataset.n_test,
            seconds=time.perf_counter() - start,
        )
