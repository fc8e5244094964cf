"""Estimates of the time and memory that tasks of all kinds will take.

The constants are seconds of one core of the reference machine, on which they were measured. :data:`REFERENCE` has the
times of a small benchmark on that machine. :func:`measure_speed` runs the same benchmark once on this machine, and
every estimate is scaled by the ratio. Estimates should be right within a factor of three; ``benchmarks/estimates.py``
compares them with measured times.
"""

import functools
import math
import platform
import time
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlcore import store
from xmlcore.artifact_keys import artifact_key
from xmlcore.experiment.catalog import SELECTORS
from xmlcore.experiment.engine.adversaries import most_adversaries
from xmlcore.experiment.engine.task import DATASETS, Estimate
from xmlcore.models.plt.choosing import BINARY
from xmlcore.parameters import AUTO
from xmlcore.robustness.attacks import BLOCK_VALUES
from xmlcore.system import cache_root, effective_jobs

if TYPE_CHECKING:
    from xmlcore.datasets import Dataset

FOLDER = "speed"
VERSION = 1  # version of the benchmark, part of the key of its result
START = 0.2  # seconds of every task: reading inputs, loading kernels, saving
PREPARE = 3.5  # seconds to make the data set of the catalog that is made here
DOWNLOADING, READING = 2e6, 5e7  # bytes of a file per second over a network, and of matrices from text
PACKED = 3.0  # bytes of matrices per byte of a packed file
UNKNOWN_SIZE = 2e7  # bytes of the matrices of a published data set, where that is not known
WRITTEN_BYTE, DESCRIBED_BYTE = 2e-7, 2e-8  # seconds to write a byte of a kept data set to a file, and to describe it
SYNTHETIC_VALUE = 3e-7  # seconds to make and keep a nonzero or a label of a synthetic data set, on two cores

# Training and prediction, seconds of one core.
PLT_VALUE = 6e-8  # per nonzero of a row and label of the row, per level of the tree
PLT_ROW = 5e-6  # per row, per level of the tree
PLT_LEVELS = 0.6  # time grows with this power of the number of levels: deep levels have fewer rows in each node
PLT_AUTO = 1.5  # time grows so many times when settings are "auto": nodes are wider, and trials come first
PLT_PREDICT = 8e-9  # per nonzero and square root of the number of labels
PLT_TREES = 1.6  # prediction time grows with this power of the number of trees
ONE_VS_REST = 3.5e-7  # per row, label and square root of the nonzeros of a row
ONE_VS_REST_AUTO = 1.3  # time grows so many times when C is "auto": a large C takes longer, and trials come first
ONE_VS_REST_PREDICT = 1e-9  # per nonzero and label
LDSM = 1.3e-7  # per tree, per level, and per nonzero; a label of a row counts as 6 nonzeros, and a row as 30
LDSM_EPOCHS = 20  # the number of epochs for which this holds: a third of the time does not grow with it
LDSM_PREDICT = 8e-9  # per tree, level and nonzero
DOUBLE_SAMPLING_CLASS = 2.5e-4  # per class, for 2 examples and 10 adversaries
DOUBLE_SAMPLING_VALUE = 1e-7  # per nonzero
DOUBLE_SAMPLING_PREDICT = 1.3e-6  # per nonzero
ROW = 2e-6  # per predicted row, with any model

# Feature selection, seconds of one core.
TREE_VALUE = 9e-8  # decision trees: per nonzero and pass, where there are many different values
TREE_TIED_VALUE = 2.5e-8  # the same where there are few, such as only ones: they are sorted sooner
FEW_VALUES = 16  # that many different values are few
TREE_PASSES = 2.7  # passes over the nonzeros for a label with one row; they grow with a power of the label's rows,
TREE_PASSES_GROWTH = 0.35  # which is this
TREE_LABEL = 8e-4  # decision trees: per label
AGREEMENT = 4e-4  # comparing two selections: per label
FOREST_TREE = 0.1  # time of a tree of a forest, as a share of the time of a tree that tries all features
LASSO = 1e-8  # per label, row and feature; a sixteenth of that when few rounds are needed
PRODUCT = 4e-8  # per multiply-add of a sparse product, and per score

# Noise and explanations, seconds of one core.
DENSE_VALUE = 5e-8  # per value of a dense row and tree, for the prediction of a PLT
NOISE_VALUE = 3e-8  # per value that gets noise
GRADIENT_STEPS = {"fgsm": 1, "pgd": 21}
GRADIENT_FEATURE = 1.5e-7  # per row, feature and step of an attack
GRADIENT_STEP = 4e-5  # per row and step of an attack
ATTACK_BYTES = 160  # memory of an attack per value of a block, counted as if its rows had all features
NOISE_BYTES = 16  # the same for noise on all features
MARGIN = 1.2e-7  # per margin of a row and a node of a label tree that are measured
MARGIN_VALUE = 1.5e-9  # per value of the row in such a margin
MARGINS_OF_NODE = 1e-4  # per node that is measured
EXPLAIN_ROW = 0.01  # per explained row
EXPLAIN_TREE = 6e-4  # per explained row and tree of LdSM
DELETIONS = 24  # number of predictions per explained row

# Double sampling, memory.
CANDIDATES_AT_ONCE = 1 << 24  # most candidates, over all test rows that are predicted together: 64 MB of class ids
BYTES_PER_CANDIDATE = 40  # for its class id, its score f, and temporary arrays, while rows are predicted

# Seconds that the pieces of the benchmark take on the reference machine.
REFERENCE = {"training": 0.0104, "prediction": 0.0152, "trees": 0.0218, "products": 0.0155}


@dataclass(frozen=True)
class Speed:
    """Time of work on this machine, as a multiple of its time on the reference machine, for four sorts of work."""

    training: float = 1.0
    prediction: float = 1.0
    trees: float = 1.0
    products: float = 1.0


def speed() -> Speed:
    """Return the kept result of :func:`measure_speed`; all ratios are 1 if it was not called on this machine."""
    return _kept_speed(str(cache_root()), store.changed(FOLDER))


@functools.lru_cache(maxsize=8)
def _kept_speed(root, changed) -> Speed:
    """Return :func:`speed`; the arguments only make the cache forget a result when the store has changed."""
    try:
        return Speed(**store.load(FOLDER, _speed_key()))
    except (store.StoreError, TypeError):
        return Speed()


def measure_speed() -> Speed:
    """Measure how fast this machine is, once, and keep the result.

    The first call takes about a second when kernels are compiled. Later calls read the kept result.

    Returns
    -------
    Speed
    """
    key = _speed_key()
    if not store.exists(FOLDER, key):
        measured = {name: seconds / REFERENCE[name] for name, seconds in benchmark().items()}
        store.save(FOLDER, key, asdict(Speed(**measured)), machine=platform.node(), cores=effective_jobs(None))
    return speed()


def _speed_key() -> str:
    """Return the key of the measured speed of this machine."""
    return artifact_key(FOLDER, {}, machine(), VERSION)


def machine() -> dict:
    """Return what tells this machine from others: its name, its processor and the number of its cores."""
    return {"name": platform.node(), "processor": platform.machine(), "cores": effective_jobs(None)}


def benchmark() -> dict[str, float]:
    """Return the time of each piece of the benchmark, in seconds of one core: the shortest of five repeats.

    Each piece first runs once without being timed, to load its kernels.
    """
    import scipy.sparse as sp

    from xmlcore.models import PLT
    from xmlcore.selection import BRDT

    random = np.random.default_rng(0)
    Y = sp.csr_array(random.random((1000, 40)) < 0.05)
    X = sp.csr_array(Y @ random.random((40, 200)) * (random.random((1000, 200)) < 0.15), dtype=np.float32)
    settings = {"arity": 2, "max_leaf_labels": 10, "loss": "logistic", "C": 10.0, "n_jobs": 1}
    model = PLT(**settings).fit(X, Y)
    pieces = {
        "training": lambda: PLT(**settings).fit(X, Y),
        "prediction": lambda: [model.predict_topk(X, 5) for _ in range(5)],
        "trees": lambda: BRDT(n_jobs=1).fit(X[:200], Y[:200, :8]),
        "products": lambda: [Y.T.astype(np.float32) @ X for _ in range(20)],
    }
    shortest = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, piece in pieces.items():
            piece()
            times = []
            for _ in range(5):
                start = time.process_time()  # the time of other programs does not count
                piece()
                times.append(time.process_time() - start)
            shortest[name] = max(min(times), 1e-6)
    return shortest


def _wall(seconds: float) -> float:
    """Return the seconds that work takes on all cores, if it takes ``seconds`` on one core."""
    return seconds / effective_jobs(None) ** 0.8


# --- training ---


def train(dataset, model: str, params: dict) -> Estimate:
    """Estimate the training of a model and its measurement on the test rows."""
    n_rows, nonzeros, n_bytes = dataset.n_train, dataset.X_train.nnz, 0
    if params.get("noise_sigma", 0) > 0:
        from xmlcore.robustness import augmented_bytes

        ratio, support = params["noise_ratio"], params["noise_support"]
        n_bytes = augmented_bytes(n_rows, dataset.n_features, nonzeros, ratio, support)
        nonzeros += ratio * (n_rows * dataset.n_features if support == "all" else nonzeros)
        n_rows *= 1 + ratio
    labels = dataset.Y_train.nnz / dataset.n_train  # mean number of labels of a row
    fitting, predicting = _TRAININGS.get(model, _one_vs_rest)(params, n_rows, nonzeros, labels, dataset)
    now = speed()
    return Estimate(START + _wall(fitting * now.training + predicting * now.prediction), int(n_bytes))


# Each of these returns the seconds of one core of training and of prediction. ``labels`` is the mean number of a row.


def _plt(params, n_rows, nonzeros, labels, dataset):
    """Return seconds of training and of prediction for PLT."""
    shape = {name: published if params[name] == AUTO else params[name] for name, published in BINARY.items()}
    leaves = max(1.0, dataset.n_labels / shape["max_leaf_labels"])
    levels = (1 + math.log(leaves, shape["arity"])) ** PLT_LEVELS
    n_trees = params["n_estimators"]
    fitting = n_trees * levels * (PLT_VALUE * nonzeros * labels + PLT_ROW * n_rows)
    if AUTO in params.values():
        fitting *= PLT_AUTO
    each = PLT_PREDICT * dataset.X_test.nnz * math.sqrt(dataset.n_labels) + ROW * dataset.n_test
    return fitting, n_trees**PLT_TREES * each


def _one_vs_rest(params, n_rows, nonzeros, labels, dataset):
    """Return seconds of training and of prediction for OneVsRest."""
    fitting = ONE_VS_REST * dataset.n_labels * math.sqrt(n_rows * nonzeros)
    if params.get("C") == AUTO:
        fitting *= ONE_VS_REST_AUTO
    return fitting, ONE_VS_REST_PREDICT * dataset.X_test.nnz * dataset.n_labels + ROW * dataset.n_test


def _ldsm(params, n_rows, nonzeros, labels, dataset):
    """Return seconds of training and of prediction for LdSM."""
    levels = math.log2(2 + min(params["max_nodes"], 4 * dataset.n_labels, n_rows))
    each = LDSM * levels * (nonzeros + n_rows * (6 * labels + 30)) * (1 + 2 * params["n_epochs"] / LDSM_EPOCHS) / 3
    predicting = LDSM_PREDICT * levels * dataset.X_test.nnz + ROW * dataset.n_test
    return params["n_estimators"] * each, params["n_estimators"] * predicting


def _double_sampling(params, n_rows, nonzeros, labels, dataset):
    """Return seconds of training and of prediction for DoubleSampling."""
    share = _pairs_share(params, params["n_adversarial"], params["examples_per_class"], reference=(10.0, 2.0))
    n_classes = min(dataset.n_labels, n_rows)
    fitting = DOUBLE_SAMPLING_CLASS * n_classes * share + DOUBLE_SAMPLING_VALUE * nonzeros
    if params["adversaries"] == "candidates":  # the classes are ranked for each example that is drawn
        fitting += DOUBLE_SAMPLING_PREDICT * nonzeros * params["examples_per_class"] * n_classes / n_rows
    return fitting, DOUBLE_SAMPLING_PREDICT * dataset.X_test.nnz + 3 * ROW * dataset.n_test


def _pairs_share(params, n_adversarial, examples_per_class, reference) -> float:
    """Return the time of a training, relative to one with the ``reference`` numbers (adversaries, examples per class).

    85 % of the time of the reference grow with the number of pairs, 15 % do not.
    """
    return 0.15 + 0.85 * n_adversarial / reference[0] * examples_per_class / reference[1]


_TRAININGS = {"PLT": _plt, "OneVsRest": _one_vs_rest, "LdSM": _ldsm, "DoubleSampling": _double_sampling}


def reduced(dataset, wanted: dict, n_used: int, whole=None) -> Estimate:
    """Estimate a training on ``n_used`` features and one on all features.

    ``wanted`` are the parameters of the task. If the run on all features is kept, ``whole`` is this run; its time then
    only serves to estimate the other.
    """
    on_all = train(dataset, wanted["model"], wanted["params"])
    seconds = on_all.seconds if whole is None else START + whole.times["fit_s"] + whole.times["predict_s"]
    part = max(n_used / dataset.n_features, 0.1) * seconds
    if wanted["per_label"]:
        part = max(part, START + 1e-3 * dataset.n_labels)  # a training per label
    return Estimate(part + (seconds if whole is None else START), on_all.bytes)


# --- feature selection ---


def selection(dataset, plan: dict, times: int = 1) -> Estimate:
    """Estimate the time of ``times`` selections of a plan and of comparing each two, and the memory of one."""
    compared = AGREEMENT * math.comb(times, 2) * dataset.n_labels
    return Estimate(START + times * plan["seconds"] + compared, int(plan["bytes"]))


def selection_plan(dataset: "Dataset", method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Estimate a selection, and for FALS return how it would be computed.

    Parameters
    ----------
    dataset : Dataset
    method : str
        A key of :data:`xmlcore.experiment.SELECTORS`.
    params : dict, optional
        Parameters that differ from the defaults.

    Returns
    -------
    dict
        "seconds" and "bytes"; for FALS also "order" (the order of computation), "scoring" ("exact" or "sampled") and
        "n_steps" (number of training steps).

    Raises
    ------
    ValueError
        The method does not have a parameter, or does not accept its value.
    """
    params = SELECTORS[method].filled(method, params)
    if method == "FALS":
        estimated = SELECTORS[method].cls(**params).estimate(dataset.X_train, dataset.n_labels)
        return {name: estimated[name] for name in ("seconds", "bytes", "order", "scoring", "n_steps")}
    n, d, n_labels = dataset.n_train, dataset.n_features, dataset.n_labels
    nonzeros = dataset.X_train.nnz
    scores = 4 * n_labels * d
    if method == "RandomForest":
        trees = params["n_estimators"] * tree_seconds(dataset, d) * FOREST_TREE
        return {"seconds": trees if params["per_label"] else trees / math.sqrt(n_labels), "bytes": scores}
    if method == "Lasso":
        return {"seconds": speed().products * LASSO * n_labels * n * d, "bytes": scores + 24 * nonzeros}
    entries = dataset.Y_train.nnz * nonzeros / max(1, n) + n_labels * d
    return {"seconds": speed().products * PRODUCT * entries, "bytes": scores + (64 << 20)}


def tree_seconds(dataset, n_features: int, n_rows: int | None = None) -> float:
    """Estimate the training of a decision tree for each label (:class:`xmlcore.selection.BRDT`)."""
    X = dataset.X_train
    n = min(n_rows or dataset.n_train, dataset.n_train)
    part = n / max(1, dataset.n_train)
    is_dense = X.nnz * 16 > dataset.n_train * dataset.n_features
    share = (n_features / max(1, dataset.n_features)) ** (
        1.0 if is_dense else 0.8
    )  # 0.8: the selected occur more often
    positive = part * np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels)
    smaller = np.minimum(positive, n - positive)  # the rows with the label, or those without it
    passes = TREE_PASSES * (smaller[smaller > 0] ** TREE_PASSES_GROWTH).sum()
    is_tied = np.unique(X.data[:10_000]).size <= FEW_VALUES
    values = (TREE_TIED_VALUE if is_tied else TREE_VALUE) * share * part * X.nnz
    return float(_wall(speed().trees * (TREE_LABEL * dataset.n_labels + values * passes)))


def comparison_steps(dataset, selections, counts, seeds, n_rows: int | None) -> list[float]:
    """Estimate the seconds of each step of a comparison of selections, in their order.

    For every selection and seed the steps are the selection, then the trees for every number of features.
    """
    part = min(n_rows or dataset.n_train, dataset.n_train) / max(1, dataset.n_train)
    trees = [tree_seconds(dataset, count, n_rows) for count in counts]
    steps = []
    for one in selections:
        if one is None:
            each = [tree_seconds(dataset, dataset.n_features, n_rows)]
        else:
            each = [part * selection_plan(dataset, *one)["seconds"], *trees]
        steps += each * len(seeds)
    return steps


def comparison(dataset, selections, counts, seeds, n_rows: int | None) -> Estimate:
    """Estimate a comparison of selections; see :func:`comparison_steps`."""
    n_bytes = max((selection_plan(dataset, *one)["bytes"] for one in selections if one is not None), default=0)
    return Estimate(START + sum(comparison_steps(dataset, selections, counts, seeds, n_rows)), int(n_bytes))


# --- measurements of a run, estimated from the times of the run ---


def prefixes(run, n_trees: list[int], max_nodes: list[int]) -> Estimate:
    """Estimate the measurement of parts of an ensemble; the arguments are those of :func:`prefix_measures`."""
    return Estimate(START + run.times["predict_s"] * (sum(n_trees) / n_trees[-1] + len(max_nodes)))


def node_quality(dataset, tree, n_rows: int) -> Estimate:
    """Estimate the measurement of all nodes of a label tree on ``n_rows`` test rows."""
    from xmlcore.models.plt.frames import quality_work

    used = min(1.0, n_rows / max(dataset.n_test, 1))
    margins = used * quality_work(tree, dataset.Y_test)
    filled = dataset.X_test.nnz / max(dataset.n_test, 1)
    work = margins * (MARGIN + MARGIN_VALUE * filled) + MARGINS_OF_NODE * tree.n_nodes
    return Estimate(START + speed().products * work)


def robustness(run, dataset, wanted: dict) -> Estimate:
    """Estimate a measurement of a run under noise or an attack; ``wanted`` are the parameters of the task."""
    kind, per_row = wanted["kind"], run.times["predict_ms_per_row"] / 1000
    n_features, filled = dataset.n_features, dataset.X_test.nnz / dataset.n_test
    now = speed()
    dense = kind == "gaussian" and wanted["options"].get("support", "all") == "all"
    wider = n_features / max(filled, 1.0) if dense else 1.5 if kind == "words" else 1.0
    noisy = per_row * (wider if run.model != "LdSM" else 1 + 0.05 * wider)  # a row visits few nodes of a tree
    if run.model == "PLT":  # its kernel predicts dense rows together
        noisy = min(noisy, per_row + now.prediction * DENSE_VALUE * n_features * run.params["n_estimators"])
    noisy += now.products * (NOISE_VALUE * wider * filled + 2e-5)
    if kind in GRADIENT_STEPS:
        step = now.prediction * (GRADIENT_STEP + GRADIENT_FEATURE * n_features)
        noisy += GRADIENT_STEPS[kind] * (3 * per_row + step)
    n_rows = min(wanted["n_rows"] or dataset.n_test, dataset.n_test)
    seconds = START + n_rows * (per_row + len(wanted["levels"]) * wanted["n_repeats"] * noisy)
    each = ATTACK_BYTES if kind in GRADIENT_STEPS else NOISE_BYTES if dense else 0
    values = min(n_rows * n_features, effective_jobs(None) * BLOCK_VALUES)  # rows are changed in blocks
    return Estimate(seconds, int(each * values))


def explanations(run, n_rows: int) -> Estimate:
    """Estimate the explanation of ``n_rows`` test rows: contributions, deletions and noisy copies of each row."""
    each = EXPLAIN_ROW + (EXPLAIN_TREE * run.params["n_estimators"] if run.model == "LdSM" else 0.0)
    predicting = DELETIONS * run.times["predict_ms_per_row"] / 1000
    return Estimate(START + n_rows * (speed().prediction * each + predicting))


def sampling(run, dataset, wanted: dict) -> Estimate:
    """Estimate a study of double sampling around a run; ``wanted`` are the parameters of the task."""
    from xmlcore.models.double_sampling.features import names_of_features

    n_classes = np.unique(dataset.Y_train.indices).size
    times, most = run.times, most_adversaries(run.params, n_classes)
    params = run.params | {"n_adversarial": min(run.params["n_adversarial"], most)}
    numbers = params["n_adversarial"], params["examples_per_class"]
    trainings = [(min(value, most), numbers[1]) for value in wanted["n_adversarial"]]
    trainings += [(numbers[0], value) for value in wanted["examples_per_class"]]
    shares = [_pairs_share(params, *training, numbers) for training in trainings]
    seconds = START + wanted["n_repeats"] * (times["fit_s"] * sum(shares) + times["predict_s"] * len(shares))
    seconds += times["predict_s"]  # the measures of head, torso and tail classes
    for value in wanted["n_candidates"]:
        seconds += times["predict_s"] * (0.6 + 0.3 * value / params["n_candidates"])
    pairs = n_classes * max((kappa * examples for kappa, examples in trainings), default=0.0)
    n_features = len(names_of_features(params.get("features", "paper"), params.get("candidates_from") == "plt"))
    predicting = candidate_bytes(dataset.n_test, min(n_classes, max(wanted["n_candidates"], default=0)))
    return Estimate(seconds, int(max(pairs * (8 * n_features + 1), predicting)))  # float64 features and a sign


def candidate_bytes(n_rows: int, n_candidates: int) -> int:
    """Estimate the peak memory in bytes of :func:`sampling_study` when it predicts rows with many candidates.

    Rows are predicted in blocks. The memory therefore grows with rows times candidates only up to 2**24 of these.

    Parameters
    ----------
    n_rows : int
        Number of test rows.
    n_candidates : int
        Number of candidates of each row.

    Returns
    -------
    int
    """
    at_once = min(n_rows, rows_at_once(n_candidates))
    return BYTES_PER_CANDIDATE * at_once * n_candidates


def rows_at_once(n_candidates: int) -> int:
    """Return the number of rows that are predicted together, with ``n_candidates`` candidates each."""
    return max(1, CANDIDATES_AT_ONCE // max(1, n_candidates))


def prepare(name: str) -> Estimate:
    """Estimate how long it takes to make a data set of the catalog, or to download and read it."""
    from xmlcore.datasets.registry.catalog import entry
    from xmlcore.datasets.registry.downloaded import files

    found = entry(name)
    if not found.published:
        return Estimate(PREPARE * speed().products)
    n_bytes = found.memory() or UNKNOWN_SIZE
    seconds = 2.0 + n_bytes / READING if files(found) else n_bytes / (DOWNLOADING * PACKED) + n_bytes / READING
    return Estimate(seconds, 3 * n_bytes)


def synthetic(sizes: dict) -> Estimate:
    """Estimate how long it takes to make a synthetic data set with these sizes."""
    n_rows = sizes["n_train"] + sizes["n_test"]
    features, labels = n_rows * sizes["features_per_row"], n_rows * sizes["labels_per_row"]
    wide = 100 * (sizes["n_features"] + sizes["n_labels"])
    n_bytes = 2 * (8 * features + 5 * labels) + wide  # twice: the data set checks copies of the matrices
    return Estimate((1.0 + SYNTHETIC_VALUE * (features + labels)) * speed().products, int(n_bytes))


def export(fingerprint: str) -> Estimate:
    """Estimate how long it takes to write a kept data set to a file."""
    n_bytes = store.info(DATASETS, fingerprint)["bytes"]
    return Estimate((START + WRITTEN_BYTE * n_bytes) * speed().products, n_bytes)


def statistics(fingerprint: str) -> Estimate:
    """Estimate how long it takes to compute the statistics of a kept data set."""
    n_bytes = store.info(DATASETS, fingerprint)["bytes"]
    return Estimate((START + DESCRIBED_BYTE * n_bytes) * speed().products, n_bytes)
