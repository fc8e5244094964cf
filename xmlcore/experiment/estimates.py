"""Estimates of time and memory for all kinds of tasks, before anything is done.

The constants are seconds of one core of the machine that they were measured on (:data:`REFERENCE` says what a small
benchmark takes there). :func:`measure_speed` runs the same benchmark once on this machine, and every estimate is scaled
by the ratio. Estimates are meant to be within a factor of three; ``tests/experiment/test_estimates.py`` compares them
with what tasks take.
"""

import functools
import math
import platform
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from xmlcore import store
from xmlcore.experiment.catalog import SELECTORS
from xmlcore.experiment.task import Estimate
from xmlcore.system import cache_root, effective_jobs

FOLDER = "speed"
VERSION = 1  # of the benchmark
START = 0.2  # seconds that any task takes: reading inputs, loading kernels, saving
PREPARE = 10.0  # seconds for the largest data set of the catalog

# Training and prediction, seconds of one core.
PLT_VALUE = 6e-8  # per nonzero of a row and label of the row, per level of the tree
PLT_ROW = 5e-6  # per row, per level of the tree
PLT_LEVELS = 0.6  # exponent of the number of levels: lower ones have fewer rows in each node
PLT_PREDICT = 8e-9  # per nonzero and square root of the number of labels
PLT_TREES = 1.6  # exponent of the number of trees, when predicting
ONE_VS_REST = 3.5e-7  # per row, label and square root of the nonzeros of a row
ONE_VS_REST_PREDICT = 1e-9  # per nonzero and label
LDSM = 1.3e-7  # per tree and level: of nonzeros, 6 times labels of rows, 30 times rows
LDSM_PREDICT = 8e-9  # per tree, level and nonzero
DOUBLE_SAMPLING_CLASS = 2.5e-4  # per class, with the default numbers of examples and adversaries
DOUBLE_SAMPLING_VALUE = 1e-7  # per nonzero
DOUBLE_SAMPLING_PREDICT = 1.3e-6  # per nonzero
ROW = 2e-6  # per row predicted, any model

# Feature selection, seconds of one core.
TREE_VALUE = 9e-8  # decision trees: per nonzero, square root of a row and share of positive rows
TREE_ROW = 12.0  # decision trees: a row costs as much as so many nonzeros
TREE_LABEL = 1.5e-3  # decision trees: per label
FOREST_TREE = 0.1  # a tree of a forest, as a share of one that tries all features
LASSO = 1e-8  # per label, row and feature; a sixteenth of that when few rounds are needed
PRODUCT = 4e-8  # per entry of a sparse product, or score

# Noise and explanations, seconds of one core.
DENSE_VALUE = 5e-8  # that a PLT reads of a dense row
NOISE_VALUE = 3e-8  # per value that gets noise
GRADIENT_STEPS = {"fgsm": 1, "pgd": 21}
GRADIENT_FEATURE = 1.5e-7  # per row, feature and step of an attack
GRADIENT_STEP = 4e-5  # per row and step of an attack
EXPLAIN_ROW = 0.01  # per row explained
EXPLAIN_TREE = 6e-4  # per row explained and tree of LdSM
DELETIONS = 24  # predictions per row explained

# Double sampling, memory.
CANDIDATES_AT_ONCE = 1 << 24  # candidates of the test rows that are predicted together: 64 MB of class ids
BYTES_PER_CANDIDATE = 40  # of the class, f, and temporary arrays of f, while rows are predicted

# Seconds that the pieces of the benchmark take on the machine that the constants were measured on.
REFERENCE = {"training": 0.0104, "prediction": 0.0152, "trees": 0.0218, "products": 0.0155}


@dataclass(frozen=True)
class Speed:
    """How many times longer than on the reference machine work takes on this one, by what it mostly does."""

    training: float = 1.0
    prediction: float = 1.0
    trees: float = 1.0
    products: float = 1.0


def speed() -> Speed:
    """Return what :func:`measure_speed` has kept for this machine; a machine like the reference until then."""
    return _kept_speed(str(cache_root()), store.changed(FOLDER))


@functools.lru_cache(maxsize=8)
def _kept_speed(root, changed) -> Speed:
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
    machine = {"name": platform.node(), "processor": platform.machine(), "cores": effective_jobs(None)}
    return store.artifact_key(FOLDER, {}, machine, VERSION)


def benchmark() -> dict[str, float]:
    """Return the seconds of one core that each piece of the benchmark takes: the least of a few repeats.

    A first round, which is not counted, loads the kernels.
    """
    import scipy.sparse as sp

    from xmlcore.models import PLT
    from xmlcore.selection import BRDT

    random = np.random.default_rng(0)
    Y = sp.csr_array(random.random((1000, 40)) < 0.05)
    X = sp.csr_array(Y @ random.random((40, 200)) * (random.random((1000, 200)) < 0.15), dtype=np.float32)
    model = PLT(max_leaf_labels=10, n_jobs=1).fit(X, Y)
    pieces = {
        "training": lambda: PLT(max_leaf_labels=10, n_jobs=1).fit(X, Y),
        "prediction": lambda: [model.predict_topk(X, 5) for _ in range(5)],
        "trees": lambda: BRDT(n_jobs=1).fit(X[:200], Y[:200, :8]),
        "products": lambda: [Y.T.astype(np.float32) @ X for _ in range(20)],
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, piece in pieces.items():
            piece()
            times = []
            for _ in range(5):
                start = time.process_time()  # other programs do not count
                piece()
                times.append(time.process_time() - start)
            found[name] = max(min(times), 1e-6)
    return found


def _wall(seconds: float) -> float:
    """Return the time that work of so many seconds of one core takes on all cores."""
    return seconds / effective_jobs(None) ** 0.8


# --- training ---


def train(dataset, model: str, params: dict) -> Estimate:
    """Estimate a training, and the measurement on the test rows.

    Parameters
    ----------
    dataset : Dataset
    model : str
        A key of :data:`xmlcore.experiment.MODELS`.
    params : dict
        All of them.
    """
    n_rows, nonzeros, n_bytes = dataset.n_train, dataset.X_train.nnz, 0
    if params.get("noise_sigma", 0) > 0:
        from xmlcore.robustness import augmented_bytes

        ratio, support = params["noise_ratio"], params["noise_support"]
        n_bytes = augmented_bytes(n_rows, dataset.n_features, nonzeros, ratio, support)
        nonzeros += ratio * (n_rows * dataset.n_features if support == "all" else nonzeros)
        n_rows *= 1 + ratio
    labels = dataset.Y_train.nnz / dataset.n_train  # of a row
    fitting, predicting = _TRAININGS[model](params, n_rows, nonzeros, labels, dataset)
    now = speed()
    return Estimate(START + _wall(fitting * now.training + predicting * now.prediction), int(n_bytes))


def _plt(params, n_rows, nonzeros, labels, dataset):
    leaves = max(1.0, dataset.n_labels / params["max_leaf_labels"])
    levels = (1 + math.log(leaves, params["arity"])) ** PLT_LEVELS
    n_trees = params["n_estimators"]
    fitting = n_trees * levels * (PLT_VALUE * nonzeros * labels + PLT_ROW * n_rows)
    each = PLT_PREDICT * dataset.X_test.nnz * math.sqrt(dataset.n_labels) + ROW * dataset.n_test
    return fitting, n_trees**PLT_TREES * each


def _one_vs_rest(params, n_rows, nonzeros, labels, dataset):
    fitting = ONE_VS_REST * dataset.n_labels * math.sqrt(n_rows * nonzeros)
    return fitting, ONE_VS_REST_PREDICT * dataset.X_test.nnz * dataset.n_labels + ROW * dataset.n_test


def _ldsm(params, n_rows, nonzeros, labels, dataset):
    levels = math.log2(2 + min(params["max_nodes"], 4 * dataset.n_labels, n_rows))
    each = LDSM * levels * (nonzeros + n_rows * (6 * labels + 30))
    predicting = LDSM_PREDICT * levels * dataset.X_test.nnz + ROW * dataset.n_test
    return params["n_estimators"] * each, params["n_estimators"] * predicting


def _double_sampling(params, n_rows, nonzeros, labels, dataset):
    share = _pairs_share(params, params["n_adversarial"], params["examples_per_class"], of=(10.0, 2.0))
    fitting = DOUBLE_SAMPLING_CLASS * min(dataset.n_labels, n_rows) * share + DOUBLE_SAMPLING_VALUE * nonzeros
    return fitting, DOUBLE_SAMPLING_PREDICT * dataset.X_test.nnz + 3 * ROW * dataset.n_test


def _pairs_share(params, n_adversarial, examples_per_class, of) -> float:
    """Return the cost of a training of double sampling, relative to one with ``of`` (adversaries, examples)."""
    return 0.15 + 0.85 * n_adversarial / of[0] * examples_per_class / of[1]


_TRAININGS = {"PLT": _plt, "OneVsRest": _one_vs_rest, "LdSM": _ldsm, "DoubleSampling": _double_sampling}


def twin(run, dataset, ratio: float, support: str) -> Estimate:
    """Estimate a training with a run's settings and ``ratio`` noisy copies of each row, from the run's own times."""
    from xmlcore.robustness import augmented_bytes

    nonzeros = max(dataset.X_train.nnz, 1)
    values = dataset.n_train * dataset.n_features if support == "all" else nonzeros
    n_bytes = augmented_bytes(dataset.n_train, dataset.n_features, nonzeros, ratio, support)
    return Estimate(START + run.times["fit_s"] * (1 + ratio * values / nonzeros), int(n_bytes))


def reduced(dataset, wanted: dict, n_used: int, whole=None) -> Estimate:
    """Estimate a training on ``n_used`` features, and one on all of them unless its run ``whole`` is kept."""
    on_all = train(dataset, wanted["model"], wanted["params"])
    seconds = on_all.seconds if whole is None else START + whole.times["fit_s"] + whole.times["predict_s"]
    part = max(n_used / dataset.n_features, 0.1) * seconds
    if wanted["per_label"]:
        part = max(part, START + 1e-3 * dataset.n_labels)  # a training per label
    return Estimate(part + (seconds if whole is None else START), on_all.bytes)


# --- feature selection ---


def selection(dataset, method: str, params: dict, times: int = 1) -> Estimate:
    """Estimate a selection of features that is made so many ``times``."""
    plan = selection_plan(dataset, method, params)
    return Estimate(START + times * plan["seconds"], int(plan["bytes"]))


def selection_plan(dataset, method: str, params: dict | None = None) -> dict:
    """Estimate a selection, and for FALS say how it would be computed.

    Parameters
    ----------
    dataset : Dataset
    method : str
        A key of :data:`xmlcore.experiment.SELECTORS`.
    params : dict, optional
        Those that differ from the defaults.

    Returns
    -------
    dict
        "seconds" and "bytes"; of FALS also "order" (of computation), "scoring" ("exact" or "sampled") and "n_steps" (of
        training).

    Raises
    ------
    ValueError
        Parameters that the method cannot have.
    """
    params = SELECTORS[method].filled(method, params)
    if method == "FALS":
        found = SELECTORS[method].cls(**params).estimate(dataset.X_train, dataset.n_labels)
        return {name: found[name] for name in ("seconds", "bytes", "order", "scoring", "n_steps")}
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
    """Estimate the training of a decision tree for each label (:class:`xmlcore.selection.BRDT`).

    Parameters
    ----------
    dataset : Dataset
    n_features : int
        Features that each label's tree tries.
    n_rows : int, optional
        Training rows; by default all.
    """
    part = min(n_rows or dataset.n_train, dataset.n_train) / max(1, dataset.n_train)
    share = (n_features / max(1, dataset.n_features)) ** 0.8  # selected features occur more often than the others
    positive = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels) / max(1, dataset.n_train)
    work = (np.minimum(positive, 1 - positive) ** 0.9).sum()  # trees of rare labels are small
    rows = part * dataset.n_train
    values = (share * part * dataset.X_train.nnz + TREE_ROW * rows) * math.sqrt(rows) * work
    return float(_wall(speed().trees * (TREE_LABEL * dataset.n_labels + TREE_VALUE * values)))


def comparison_steps(dataset, selections, counts, seeds, n_rows: int | None) -> list[float]:
    """Estimate the steps of a comparison of selections, in their order: a selection, then trees for every size.

    Parameters
    ----------
    dataset : Dataset
    selections : list
        Pairs of a method and its parameters, or None for all features.
    counts : iterable of int
        Numbers of features kept.
    seeds : list of int
    n_rows : int, optional
        Training rows; by default all.
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


# --- what is measured of a run: from the times that the run itself took ---


def prefixes(run, n_trees: list[int], max_nodes: list[int]) -> Estimate:
    """Estimate the measurement of parts of an ensemble, at so many trees and so many nodes of each tree."""
    return Estimate(START + run.times["predict_s"] * (sum(n_trees) / n_trees[-1] + len(max_nodes)))


def robustness(run, dataset, wanted: dict) -> Estimate:
    """Estimate a measurement of a run under noise or an attack; ``wanted`` are the parameters of the task."""
    kind, per_row = wanted["kind"], run.times["predict_ms_per_row"] / 1000
    n_features, filled = dataset.n_features, dataset.X_test.nnz / dataset.n_test
    now = speed()
    dense = kind == "gaussian" and wanted["options"].get("support", "all") == "all"
    wider = n_features / max(filled, 1.0) if dense else 1.5 if kind == "words" else 1.0
    noisy = per_row * (wider if run.model != "LdSM" else 1 + 0.2 * wider)  # its trees look at few nodes of any row
    if run.model == "PLT":  # dense rows go down its trees together
        noisy = min(noisy, per_row + now.prediction * DENSE_VALUE * n_features * run.params["n_estimators"])
    noisy += now.products * (NOISE_VALUE * wider * filled + 2e-5)
    if kind in GRADIENT_STEPS:
        step = now.prediction * (GRADIENT_STEP + GRADIENT_FEATURE * n_features)
        noisy += GRADIENT_STEPS[kind] * (3 * per_row + step)
    n_rows = min(wanted["n_rows"] or dataset.n_test, dataset.n_test)
    return Estimate(START + n_rows * (per_row + len(wanted["levels"]) * wanted["n_repeats"] * noisy))


def explanations(run, n_rows: int) -> Estimate:
    """Estimate the explanation of rows: contributions, deletions and noisy copies of each."""
    each = EXPLAIN_ROW + (EXPLAIN_TREE * run.params["n_estimators"] if run.model == "LdSM" else 0.0)
    predicting = DELETIONS * run.times["predict_ms_per_row"] / 1000
    return Estimate(START + n_rows * (speed().prediction * each + predicting))


def sampling(run, dataset, wanted: dict) -> Estimate:
    """Estimate a study of double sampling around a run; ``wanted`` are the parameters of the task."""
    from xmlcore.models.double_sampling.features import names_of_features

    n_classes = np.unique(dataset.Y_train.indices).size
    times, most = run.times, most_adversaries(run.params, n_classes)
    own = run.params | {"n_adversarial": min(run.params["n_adversarial"], most)}
    numbers = own["n_adversarial"], own["examples_per_class"]
    trainings = [(min(value, most), numbers[1]) for value in wanted["n_adversarial"]]
    trainings += [(numbers[0], value) for value in wanted["examples_per_class"]]
    shares = [_pairs_share(own, *training, numbers) for training in trainings]
    seconds = START + wanted["n_repeats"] * (times["fit_s"] * sum(shares) + times["predict_s"] * len(shares))
    seconds += times["predict_s"]  # head, torso and tail classes
    for value in wanted["n_candidates"]:
        seconds += times["predict_s"] * (0.6 + 0.3 * value / own["n_candidates"])
    pairs = n_classes * max((kappa * examples for kappa, examples in trainings), default=0.0)
    n_features = len(names_of_features(own.get("features", "paper"), own.get("candidates_from") == "plt"))
    predicting = candidate_bytes(dataset.n_test, max(wanted["n_candidates"], default=0))
    return Estimate(seconds, int(max(pairs * (8 * n_features + 1), predicting)))  # a pair: float64 features and a sign


def most_adversaries(params: dict, n_classes: int) -> int:
    """Return the largest number of adversaries that an example can have.

    A larger ``n_adversarial`` gives the same training as this number.

    Parameters
    ----------
    params : dict
        Parameters of a run of DoubleSampling.
    n_classes : int
        Classes with training rows.

    Returns
    -------
    int
        All other classes, or all other candidates with ``adversaries="candidates"``; at least 1.
    """
    among = n_classes
    if params.get("adversaries", "random") == "candidates":
        among = min(among, int(params["n_candidates"]))
    return max(1, among - 1)


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
    """Return how many rows are predicted together with so many candidates."""
    return max(1, CANDIDATES_AT_ONCE // max(1, n_candidates))


def prepare() -> Estimate:
    """Estimate the making of a data set of the catalog."""
    return Estimate(PREPARE * speed().products)
