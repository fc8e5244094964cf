"""Estimates of the time and memory that tasks of all kinds will take.

The work of a task is counted in units, such as values that are read, and each kind has one constant: the seconds of
one core per unit on a usual machine. ``times.py`` corrects this by what earlier tasks took here. An estimate should be
right within a factor of ten before that, and of three after two trainings of a model; ``benchmarks/estimates.py``
compares estimates with times.
"""

import math
from typing import Any

import numpy as np

from xmlcore import store
from xmlcore._kernels.lanes import LANES
from xmlcore.datasets.registry.catalog import entry
from xmlcore.datasets.registry.downloaded import files
from xmlcore.experiment.catalog import SELECTORS
from xmlcore.experiment.engine import times
from xmlcore.experiment.engine.task import DATASETS, Estimate
from xmlcore.experiment.engine.times import Work
from xmlcore.models.double_sampling.features import names_of_features
from xmlcore.models.plt.frames import quality_work
from xmlcore.models.plt.parameters import FAST
from xmlcore.models.plt.shapes import BINARY, Sizes, n_trees_of
from xmlcore.parameters import AUTO
from xmlcore.robustness import augmented_bytes
from xmlcore.robustness.attacks import BLOCK_VALUES
from xmlcore.robustness.perturbations import CERTIFICATE, KINDS, REFERENCE
from xmlcore.system import effective_jobs
from xmlcore.typing import Dataset
from xmlcore.validation import check_count, check_dataset, check_known

START = 0.2  # seconds of every task: reading inputs, loading kernels, saving
# Seconds of one core per unit of work; the functions that use them count the units.
PER_UNIT = {
    "RandomForest": 1.7e-11,
    "drawn row": 6e-7,  # for a tree of a random forest
    "Lasso": 4.5e-8,
    "ChiSquared": 4e-8,
    "MutualInformation": 4e-8,
    "tree": 9e-8,  # of a selection that is tried out
    "robustness": 3e-8,
    "node_quality": 1.5e-9,
    "explanations": 0.01,
    "data": 2e-8,  # a byte that is read, written or described
}
COPIED = 64  # bytes of memory of a training per value of the rows, which it copies and numbers anew
PUBLISHED_BYTES = 2e7  # of the matrices of a published data set, where that is not known
LEFT_OUT = ("random_state", "noise_sigma")  # settings that hardly change the time; noise changes the rows
SLOWLY = {"LdSM": 0.05, "DoubleSampling": 0.1}  # growth of prediction with a row's values, if not in proportion
CERTIFYING = 20.0  # time to certify a row, in predictions of it
ATTACK_BYTES, NOISE_BYTES = 160, 16  # memory per value of a block: of an attack, and of noise on all features
CANDIDATES_AT_ONCE = 1 << 24  # most candidates, over all test rows that are predicted together: 64 MB of class ids
BYTES_PER_CANDIDATE = 40  # for its class id, its score f, and temporary arrays, while rows are predicted


def wall(seconds: float) -> float:
    """Return the seconds that work takes on all cores, if it takes ``seconds`` on one core."""
    return seconds / effective_jobs(None) ** 0.8


def _here(seconds: float) -> float:
    """Return the seconds that work takes on this machine, by what other work took here."""
    return times.expected(Work("", seconds, {}))


# --- training ---


def train(dataset, model: str, params: dict) -> Estimate:
    work = training(dataset, model, params)
    n_bytes = COPIED * (dataset.X_train.nnz + dataset.X_test.nnz)
    if params.get("noise_sigma", 0) > 0:
        ratio, support = params["noise_ratio"], params["noise_support"]
        n_bytes += augmented_bytes(dataset.n_train, dataset.n_features, dataset.X_train.nnz, ratio, support)
    return Estimate(START + times.expected(work), int(max(n_bytes, times.most_bytes(work))))


def training(dataset, model: str, params: dict) -> Work:
    """Return the work of training a model and predicting the test rows; an unknown model is taken for OneVsRest."""
    sizes, (per_unit, units) = _sizes(dataset, params), _of_model(model)
    seconds = wall(per_unit * sum(units(params, sizes)))
    settings = {name: value for name, value in params.items() if name not in LEFT_OUT}
    return Work(f"train {model}", seconds, times.features(sizes | settings))


def share_of_fitting(dataset, model: str, params: dict) -> float:
    """Return the share of the time of :func:`training` before the test rows are predicted."""
    fitting, predicting = _of_model(model)[1](params, _sizes(dataset, params))
    return fitting / (fitting + predicting)


def _of_model(model):
    return OF_MODELS.get(model, OF_MODELS["OneVsRest"])


def _sizes(dataset, params) -> dict:
    sizes = {
        "rows": dataset.n_train,
        "values": dataset.X_train.nnz,
        "features": dataset.n_features,
        "labels": dataset.n_labels,
        "assignments": dataset.Y_train.nnz,
        "test rows": dataset.n_test,
        "test values": dataset.X_test.nnz,
    }
    if params.get("noise_sigma", 0) > 0:
        wide = dataset.n_train * dataset.n_features if params["noise_support"] == "all" else sizes["values"]
        sizes["values"] += params["noise_ratio"] * wide
        sizes["rows"] *= 1 + params["noise_ratio"]
        sizes["assignments"] *= 1 + params["noise_ratio"]
    return sizes


# Each of these returns the units of work of training and of prediction.


def _plt(params, sizes):
    """A unit is a value of a row for each label of the row, on one level of the tree; a row costs 80 values."""
    shape = {name: published if params[name] == AUTO else params[name] for name, published in BINARY.items()}
    levels = 1 + math.log(max(1.0, sizes["labels"] / shape["max_leaf_labels"]), shape["arity"])
    fitting = levels**0.6 * (sizes["values"] * sizes["assignments"] / sizes["rows"] + 80 * sizes["rows"])
    predicting = math.sqrt(sizes["labels"]) * sizes["test values"] / 8 + 30 * sizes["test rows"]
    trees = n_trees_of(params, Sizes(sizes["rows"], sizes["labels"], sizes["assignments"] / sizes["rows"]))
    tries = AUTO in params.values() and params["quality"] != FAST
    return trees * fitting * (1.5 if tries else 1.0), trees * predicting


def _one_vs_rest(params, sizes):
    """A unit is a value, for sixteen labels; a row costs 20 values."""
    units = math.ceil(sizes["labels"] / LANES) * (sizes["values"] + 20 * sizes["rows"])
    return 0.95 * units, 0.05 * units


def _ldsm(params, sizes):
    """A unit is a value, on one level of a tree; a row costs 30 values, and a label of a row 2."""
    levels = math.log2(2 + min(params["max_nodes"], 4 * sizes["labels"], sizes["rows"]))
    each = sizes["values"] + 2 * sizes["assignments"] + 30 * sizes["rows"]
    predicting = sizes["test values"] / 16 + 15 * sizes["test rows"] / levels
    times_read = params["n_estimators"] * levels
    return times_read * each * (10 + params["n_epochs"]) / 30, times_read * predicting


def _double_sampling(params, sizes):
    """A unit is a value of a row that is ranked; drawing a pair of an example and an adversary costs two."""
    n_classes = min(sizes["labels"], sizes["rows"])
    examples = params["examples_per_class"] * n_classes
    n_adversarial = min(params["n_adversarial"], most_adversaries(params, n_classes))
    ranked = sizes["values"] / 13
    if params["adversaries"] == "candidates":  # the classes are ranked for each example that is drawn
        ranked += sizes["values"] * examples / sizes["rows"] / 8
    fitting = ranked + 30 * n_classes + 2 * examples * n_adversarial
    return fitting, sizes["test values"] + 5 * sizes["test rows"]


# Seconds of one core per unit of work, and the function that counts the units.
OF_MODELS = {
    "PLT": (6e-8, _plt),
    "OneVsRest": (5e-8, _one_vs_rest),
    "LdSM": (1.3e-7, _ldsm),
    "DoubleSampling": (8e-7, _double_sampling),
}


def reduced(dataset, wanted: dict, n_used: int, whole=None) -> Estimate:
    on_all = train(dataset, wanted["model"], wanted["params"])
    seconds = on_all.seconds if whole is None else START + whole.times["fit_s"] + whole.times["predict_s"]
    part = max(n_used / dataset.n_features, 0.1) * seconds
    if wanted["per_label"]:
        part = max(part, START + 1e-3 * dataset.n_labels)  # a training per label
    return Estimate(part + (seconds if whole is None else START), on_all.bytes)


# --- feature selection ---


def selection(dataset, method: str, params: dict | None = None, n_times: int = 1) -> Estimate:
    """Estimate the time of ``n_times`` selections and of comparing each two, and the memory of one."""
    plan = selection_plan(dataset, method, params)
    compared = math.comb(n_times, 2) * _here(4e-4 * dataset.n_labels)
    return Estimate(START + n_times * plan["seconds"] + compared, int(plan["bytes"]))


def selection_plan(dataset: "Dataset", method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Estimate a selection, and for FALS return how it would be computed."""
    check_dataset(dataset)
    params = check_known(SELECTORS, method, "method").filled(method, params)
    plan = _selection_plan(dataset, method, params)
    return plan | {"seconds": times.expected(_selecting(dataset, method, params, plan["seconds"]))}


def selecting(dataset, method: str, params: dict) -> Work:
    return _selecting(dataset, method, params, _selection_plan(dataset, method, params)["seconds"])


def _selecting(dataset, method, params, seconds) -> Work:
    """Return the work of a selection that its formula expects to take so many seconds."""
    sizes = {"rows": dataset.n_train, "values": dataset.X_train.nnz, "labels": dataset.n_labels}
    settings = {name: value for name, value in params.items() if name not in LEFT_OUT}
    return Work(f"select {method}", seconds, times.features(sizes | {"features": dataset.n_features} | settings))


def _selection_plan(dataset, method, params) -> dict:
    """Return the dict of :func:`selection_plan` with the seconds of its formula, for all parameters."""
    if method == "FALS":
        estimated = SELECTORS[method].cls(**params).estimate(dataset.X_train, dataset.n_labels)
        return {name: estimated[name] for name in ("seconds", "bytes", "order", "scoring", "n_steps")}
    n, d, n_labels = dataset.n_train, dataset.n_features, dataset.n_labels
    nonzeros, scores = dataset.X_train.nnz, 4 * n_labels * d
    if method == "RandomForest":
        n_trees = params["n_estimators"] / (1 if params["per_label"] else math.sqrt(n_labels))
        reading = PER_UNIT[method] * _tree_units(dataset, d) * n**0.7  # more rows are sorted for longer
        return {"seconds": wall(n_trees * (reading + PER_UNIT["drawn row"] * n * n_labels)), "bytes": scores}
    if method == "Lasso":
        units = n_labels * nonzeros * max(1.0, n / (5 * d)) ** 0.6  # many rows keep more features
        return {"seconds": PER_UNIT[method] * units, "bytes": scores + 24 * nonzeros}
    units = dataset.Y_train.nnz * nonzeros / max(1, n) + n_labels * d
    return {"seconds": PER_UNIT[method] * units, "bytes": scores + (64 << 20)}


def tree_seconds(dataset, n_features: int, n_rows: int | None = None) -> float:
    """Estimate the training of a decision tree for each label (:class:`xmlcore.selection.BRDT`)."""
    return _here(wall(PER_UNIT["tree"] * _tree_units(dataset, n_features, n_rows)))


def _tree_units(dataset, n_features, n_rows=None) -> float:
    """Return the values that are read when a decision tree is trained for each label."""
    X = dataset.X_train
    n = min(n_rows or dataset.n_train, dataset.n_train)
    part = n / max(1, dataset.n_train)
    is_dense = X.nnz * 16 > dataset.n_train * dataset.n_features
    share = (n_features / max(1, dataset.n_features)) ** (1.0 if is_dense else 0.8)  # the selected occur more often
    positive = part * np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels)
    passes = 2.7 * (np.minimum(positive, n - positive).clip(0) ** 0.35).sum()
    is_tied = np.unique(X.data[:10_000]).size <= 16  # few different values are sorted sooner
    return float(9e3 * dataset.n_labels + passes * share * part * X.nnz * (0.3 if is_tied else 1.0))


def comparison_steps(dataset, selections, counts, seeds, n_rows: int | None) -> list[float]:
    """Estimate the seconds of each step of a comparison of selections, in their order."""
    part = min(n_rows or dataset.n_train, dataset.n_train) / max(1, dataset.n_train)
    trees = [tree_seconds(dataset, count, n_rows) for count in counts]
    steps = []
    for selection in selections:
        if selection is None:
            each = [tree_seconds(dataset, dataset.n_features, n_rows)]
        else:
            each = [part * selection_plan(dataset, *selection)["seconds"], *trees]
        steps += each * len(seeds)
    return steps


def comparison(dataset, selections, counts, seeds, n_rows: int | None) -> Estimate:
    """Estimate a comparison of selections; see :func:`comparison_steps`."""
    n_bytes = max((selection_plan(dataset, *each)["bytes"] for each in selections if each is not None), default=0)
    return Estimate(START + sum(comparison_steps(dataset, selections, counts, seeds, n_rows)), int(n_bytes))


# --- measurements of a run, estimated from the times of the run ---


def prefixes(run, n_trees: list[int], max_nodes: list[int]) -> Estimate:
    """Estimate the measurement of parts of an ensemble; the arguments are those of :func:`prefix_measures`."""
    return Estimate(START + run.times["predict_s"] * (sum(n_trees) / n_trees[-1] + len(max_nodes)))


def node_quality(dataset, tree, n_rows: int) -> Estimate:
    used = min(1.0, n_rows / max(dataset.n_test, 1))
    margins = used * quality_work(tree, dataset.Y_test)
    filled = dataset.X_test.nnz / max(dataset.n_test, 1)
    units = margins * (80 + filled) + 60_000 * tree.n_nodes  # values that are read
    return Estimate(START + _here(PER_UNIT["node_quality"] * units))


def robustness(run, dataset, wanted: dict) -> Estimate:
    """Estimate a measurement of a run under noise or an attack; ``wanted`` are the parameters of the task."""
    kind, n_rows = KINDS[wanted["kind"]], min(wanted["n_rows"] or dataset.n_test, dataset.n_test)
    each = ATTACK_BYTES if kind.steps else NOISE_BYTES if kind.fills(wanted["options"]) else 0
    values = min(n_rows * dataset.n_features, effective_jobs(None) * BLOCK_VALUES)  # rows are changed in blocks
    return Estimate(START + times.expected(measuring(run, dataset, wanted)), int(each * values))


def measuring(run, dataset, wanted: dict) -> Work:
    """Return the work of :func:`robustness`; its seconds are of this machine already, as the run was timed here."""
    kind, per_row = KINDS[wanted["kind"]], run.times["predict_ms_per_row"] / 1000
    n_features, filled = dataset.n_features, dataset.X_test.nnz / dataset.n_test
    n_rows, unit = min(wanted["n_rows"] or dataset.n_test, dataset.n_test), _here(PER_UNIT["robustness"])
    n_times, seconds = len(wanted["levels"]) * wanted["n_repeats"], n_rows * CERTIFYING * per_row
    if kind.needs != CERTIFICATE:
        usual = 1.5 if kind.needs == REFERENCE else 1.0
        wider = n_features / max(filled, 1.0) if kind.fills(wanted["options"]) else usual
        noisy = per_row * (1 + SLOWLY[run.model] * wider if run.model in SLOWLY else wider)
        if run.model == "PLT":  # its kernel predicts dense rows together
            noisy = min(noisy, per_row + 0.3 * unit * n_features * run.params["n_estimators"])
        noisy += unit * (wider * filled + 700) + kind.steps * (3 * per_row + unit * (5 * n_features + 1300))
        seconds = n_rows * (per_row + n_times * noisy)
    sizes = {"rows": n_rows, "features": n_features, "filled": filled, "times": n_times}
    return Work(f"robustness {run.model} {wanted['kind']}", seconds / _here(1.0), times.features(sizes))


def explanations(run, n_rows: int) -> Estimate:
    """Estimate the explanation of ``n_rows`` test rows: contributions, deletions and noisy copies of each row."""
    trees = run.params["n_estimators"] if run.model == "LdSM" else 0
    predicting = 24 * run.times["predict_ms_per_row"] / 1000  # rows without some features
    return Estimate(START + n_rows * (_here(PER_UNIT["explanations"] * (1 + 0.06 * trees)) + predicting))


def _pairs_share(n_adversarial, examples_per_class, reference) -> float:
    """Return the time of a training by that of one with the ``reference`` numbers: 15 % of it are the same for all."""
    return 0.15 + 0.85 * n_adversarial / reference[0] * examples_per_class / reference[1]


def sampling(run, dataset, wanted: dict) -> Estimate:
    """Estimate a study of double sampling around a run; ``wanted`` are the parameters of the task."""
    n_classes = np.unique(dataset.Y_train.indices).size
    took, most = run.times, most_adversaries(run.params, n_classes)
    params = run.params | {"n_adversarial": min(run.params["n_adversarial"], most)}
    numbers = params["n_adversarial"], params["examples_per_class"]
    trainings = [(min(value, most), numbers[1]) for value in wanted["n_adversarial"]]
    trainings += [(numbers[0], value) for value in wanted["examples_per_class"]]
    trainings = list(dict.fromkeys(trainings))
    shares = [_pairs_share(*training, numbers) for training in trainings]
    seconds = START + wanted["n_repeats"] * (took["fit_s"] * sum(shares) + took["predict_s"] * len(shares))
    seconds += took["fit_s"] * min(shares, default=0.0)  # the warm-up
    seconds += took["predict_s"]  # the measures of head, torso and tail classes
    for value in wanted["n_candidates"]:
        seconds += took["predict_s"] * (0.6 + 0.3 * value / params["n_candidates"])
    pairs = n_classes * max((kappa * examples for kappa, examples in trainings), default=0.0)
    n_features = len(names_of_features(params.get("features", "paper"), params.get("candidates_from") == "plt"))
    predicting = candidate_bytes(dataset.n_test, min(n_classes, max(wanted["n_candidates"], default=0)))
    return Estimate(seconds, int(max(pairs * (8 * n_features + 1), predicting)))  # float64 features and a sign


def candidate_bytes(n_rows: int, n_candidates: int) -> int:
    """Estimate the peak memory in bytes of :func:`sampling_study` when it predicts rows with many candidates."""
    n_rows, n_candidates = check_count(n_rows, "n_rows", 0), check_count(n_candidates, "n_candidates", 0)
    at_once = min(n_rows, rows_at_once(n_candidates))
    return BYTES_PER_CANDIDATE * at_once * n_candidates


def rows_at_once(n_candidates: int) -> int:
    """Return the number of rows that are predicted together, with ``n_candidates`` candidates each."""
    return max(1, CANDIDATES_AT_ONCE // max(1, n_candidates))


def prepare(name: str) -> Estimate:
    found = entry(name)
    if not found.published:
        return Estimate(_here(3.5))
    n_bytes = found.memory() or PUBLISHED_BYTES
    downloading = 2.0 if files(found) else n_bytes / 6e6  # 2 MB of a packed file a second
    return Estimate(downloading + _here(PER_UNIT["data"] * n_bytes), 3 * n_bytes)


def synthetic(sizes: dict) -> Estimate:
    n_rows = sizes["n_train"] + sizes["n_test"]
    features, labels = n_rows * sizes["features_per_row"], n_rows * sizes["labels_per_row"]
    wide = 100 * (sizes["n_features"] + sizes["n_labels"])
    n_bytes = 2 * (8 * features + 5 * labels) + wide  # twice: the data set checks copies of the matrices
    return Estimate(_here(1.0 + 15 * PER_UNIT["data"] * (features + labels)), int(n_bytes))


def export(fingerprint: str) -> Estimate:
    n_bytes = store.info(DATASETS, fingerprint)["bytes"]
    return Estimate(_here(START + 10 * PER_UNIT["data"] * n_bytes), n_bytes)


def statistics(fingerprint: str) -> Estimate:
    n_bytes = store.info(DATASETS, fingerprint)["bytes"]
    return Estimate(_here(START + PER_UNIT["data"] * n_bytes), n_bytes)


def most_adversaries(params: dict[str, Any], n_classes: int) -> int:
    """Return the largest number of adversaries that an example can have."""
    among = check_count(n_classes, "n_classes", 0)
    if params.get("adversaries", "random") == "candidates":
        among = min(among, int(params["n_candidates"]))
    return max(1, among - 1)
