"""One run: data set x model x parameters -> results, measured the same way everywhere."""

import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlcore import metrics, store
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.validation import check_count

if TYPE_CHECKING:
    import pandas as pd

    from xmlcore.datasets import Dataset

RUNS = "runs"
PREFIXES = "prefixes"
LEAST_RANKED = 5  # labels kept per test row, even when fewer are measured


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model, as a form shows it.

    Attributes
    ----------
    name, label, help : str
        ``help`` says what a larger value or another choice does.
    kind : {"int", "float", "choice", "bool"}
    default : object
    options : tuple
        For "choice".
    minimum, maximum, step : number or None
    advanced : bool
        Seldom worth changing.
    optional : bool
        None is allowed, and means what ``help`` says.
    empty : str
        A word for None, where ``optional``: a form shows it in the empty field.
    """

    name: str
    label: str
    help: str
    kind: str
    default: Any
    options: tuple = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    advanced: bool = False
    optional: bool = False
    empty: str = "automatic"


@dataclass(frozen=True)
class ModelInfo:
    """A model that can be run: where its class is, and what a user should know.

    Attributes
    ----------
    location : str
        ``"module:Class"``; :attr:`cls` imports it.
    title, summary, paper : str
    parameters : tuple of Parameter
    """

    location: str
    title: str
    summary: str
    paper: str
    parameters: tuple[Parameter, ...]

    @property
    def cls(self) -> type:
        """The estimator."""
        module, name = self.location.split(":")
        return getattr(import_module(module), name)


SEED = Parameter(
    "random_state",
    "Seed",
    "The same seed gives the same model, whatever the number of workers.",
    "int",
    0,
    minimum=0,
    maximum=2**32 - 1,
    advanced=True,
)

MODELS = {
    "PLT": ModelInfo(
        location="xmlcore.models.plt:PLT",
        title="Probabilistic label tree",
        summary=(
            "The labels are the leaves of a tree with a linear classifier at every node; the probability of a label "
            "is the product along its path. Quick to train and to search, exact top-k."
        ),
        paper="Jasinska et al., ICML 2016; Prabhu et al., WWW 2018",
        parameters=(
            Parameter(
                "loss",
                "Loss of the node classifiers",
                "logistic: each factor is a sigmoid. squared_hinge (Parabel): exp(-max(0, 1 - margin)²); it trains "
                "quicker and leaves a third fewer weights, with P@k within a point either way. Use it with C = 1.",
                "choice",
                "logistic",
                options=("logistic", "squared_hinge"),
            ),
            Parameter(
                "C",
                "C, weight of the loss",
                "Larger fits the training rows closer; smaller smooths, which helps where labels are noisy and "
                "hurts where they are many and rare. "
                "Published: 10 with the logistic loss (napkinXC), 1 with the squared hinge (Parabel).",
                "float",
                10.0,
                minimum=1e-3,
                maximum=1e4,
            ),
            Parameter(
                "max_leaf_labels",
                "Labels under a last node",
                "A node with at most so many labels has them as leaves. Larger makes a shallower tree with fewer "
                "factors per label, slower to train; smaller makes a deeper one with larger models.",
                "int",
                100,
                minimum=1,
                maximum=100_000,
            ),
            Parameter(
                "arity",
                "Arity",
                "Children of an inner node. 2 is Parabel's binary tree; 16 and more make the wide, shallow trees of "
                "Bonsai (Khandagale et al., 2020): fewer factors per label, often more precise on the tail.",
                "int",
                2,
                minimum=2,
                maximum=1024,
            ),
            Parameter(
                "n_estimators",
                "Trees",
                "Trees with different clusterings whose probabilities are averaged. Three bring up to half a point of "
                "P@k for three times the time and memory. Huffman trees have nothing to differ in: one is enough.",
                "int",
                1,
                minimum=1,
                maximum=100,
            ),
            Parameter(
                "tree",
                "How labels are grouped",
                "kmeans puts labels with similar rows together (Parabel, Prabhu et al., 2018). huffman puts frequent "
                "labels near the root and rare ones deep down (fastText, Joulin et al., 2017); it has one label per "
                "leaf, whatever “Labels under a last node” says. Binary, its models are 2.6 to 3.3 times as large as "
                "those of binary kmeans and 0.4 to 2.7 points of P@5 worse; with arity 16 they are about 1.1 times as "
                "large (up to 1.6 times those of kmeans with arity 16), and within a point. "
                "random is the control: what the tree costs in precision when the grouping knows nothing (up to "
                "1.5 points of P@5 on 16,000 labels).",
                "choice",
                "kmeans",
                options=("kmeans", "random", "huffman"),
                advanced=True,
            ),
            Parameter(
                "collapse_layers",
                "Collapsed layers",
                "Takes so many layers of inner nodes out after each one that stays: 3 makes a binary tree 16-ary "
                "(AttentionXML, You et al., 2019; much as Bonsai, Khandagale et al., 2020). Fewer factors per label: "
                "on 16,000 labels, 3 brought half a point of P@5 in about half the time to train and to predict. Nodes "
                "with at most “Labels under a last node” stay, so trees of two layers do not change.",
                "int",
                0,
                minimum=0,
                maximum=30,
                advanced=True,
            ),
            Parameter(
                "weight_threshold",
                "Drop weights below",
                "Weights smaller in size are dropped after training: 0.1 makes models up to four times smaller at no "
                "loss of precision that we could measure, 0 keeps all.",
                "float",
                0.1,
                minimum=0.0,
                maximum=10.0,
                step=0.05,
                advanced=True,
            ),
            Parameter(
                "beam",
                "Beam",
                "Empty searches exactly. A number opens only so many nodes at each depth, and never more than the "
                "exact search: as quick where the model is sure, about twice as quick where it is not, and it can "
                "miss labels.",
                "int",
                None,
                minimum=1,
                maximum=10_000,
                advanced=True,
                optional=True,
                empty="exact",
            ),
            Parameter(
                "tol",
                "Tolerance",
                "A node stops when no row wants to move its probability by more than this. Smaller trains longer; "
                "below 0.1 precision rarely changes.",
                "float",
                0.1,
                minimum=1e-6,
                maximum=1.0,
                advanced=True,
            ),
            Parameter(
                "max_iter",
                "Most epochs",
                "A node also stops after so many passes over its rows; a warning says when that happened.",
                "int",
                100,
                minimum=1,
                maximum=100_000,
                advanced=True,
            ),
            SEED,
        ),
    ),
    "LdSM": ModelInfo(
        location="xmlcore.models.ldsm:LdSM",
        title="Log-depth streaming multi-label trees",
        summary=(
            "Decision trees over rows: every node learns on the fly where to send them, by an objective J that wants "
            "children of equal weight and labels that stay together. A leaf predicts what its training rows had. The "
            "Trees page shows the trees and J."
        ),
        paper="Majzoubi and Choromanska, AISTATS 2020",
        parameters=(
            Parameter(
                "n_estimators",
                "Trees",
                "Trees that differ by their random start; predictions are averaged. Time, memory and the model grow "
                "with it. The paper uses 50 and finds that most is gained by 10 (20 on Bibtex).",
                "int",
                10,
                minimum=1,
                maximum=1000,
            ),
            Parameter(
                "max_nodes",
                "Most nodes of a tree",
                "T_max, leaves included. More nodes make leaves of fewer rows: finer, until they are too few to count "
                "labels by. The Trees page shows what fewer nodes would have brought, without training again.",
                "int",
                1000,
                minimum=1,
                maximum=10_000_000,
            ),
            Parameter(
                "arity",
                "Arity",
                "M, children of an inner node. 4 makes shallower trees, and rows more often go several ways; each row "
                "is tried in 2^M - 1 sets of children while training.",
                "int",
                2,
                minimum=2,
                maximum=8,
            ),
            Parameter(
                "n_epochs",
                "Epochs",
                "Passes over a node's rows. Training time grows with it; the paper uses up to 20.",
                "int",
                20,
                minimum=1,
                maximum=1000,
            ),
            Parameter(
                "learning_rate",
                "Learning rate",
                "Steps of the node regressors. The paper looks between 0.001 and 1.",
                "float",
                0.1,
                minimum=1e-6,
                maximum=100.0,
            ),
            Parameter(
                "integrity_weight",
                "Weight of class integrity, λ1",
                "Larger keeps the rows of a label together, at the cost of balance: trees get deeper. The paper tries "
                "0.5 to 4.",
                "float",
                2.0,
                minimum=0.0,
                maximum=1000.0,
            ),
            Parameter(
                "multiway_weight",
                "Weight of the multi-way penalty, λ2",
                "Larger sends fewer rows to several children; smaller makes leaves overlap, and training and "
                "prediction slower. The paper tries 0.5 to 4.",
                "float",
                1.0,
                minimum=0.0,
                maximum=1000.0,
            ),
            Parameter(
                "n_attempts",
                "Attempts at a split",
                "A split that sends all rows one way is undone, and the node is a leaf for good: the paper's, 1. Up to "
                "so many attempts halve the weight of class integrity each time. With few labels 5 can decide: P@1 on "
                "tmc2007-500 went from 66 to 83. Not in the paper.",
                "int",
                1,
                minimum=1,
                maximum=64,
            ),
            Parameter(
                "optimizer",
                "Optimiser",
                "nag: normalised adaptive gradient (Ross et al., UAI 2013), which needs no scaling of features. sgd: "
                "plain steps on features standardised in every node, for dense data. auto takes sgd when more than "
                "half of all feature values are not zero.",
                "choice",
                "auto",
                options=("auto", "nag", "sgd"),
                advanced=True,
            ),
            Parameter(
                "rerank_beta",
                "Re-ranking, β",
                "1 is without. Smaller mixes a label's share in the leaves with how near the row is to the mean of "
                "the label's training rows, which favours rare labels. The paper has 0.8 on Amazon-670K.",
                "float",
                1.0,
                minimum=0.0,
                maximum=1.0,
                step=0.05,
                advanced=True,
            ),
            Parameter(
                "rerank_gamma",
                "Re-ranking, γ",
                "How quickly distance from the mean counts, where β is below 1. The paper has 0.0001; with the space "
                "idf, 1 to 8.",
                "float",
                1e-4,
                minimum=0.0,
                maximum=1e6,
                advanced=True,
            ),
            Parameter(
                "rerank_space",
                "Re-ranking, space",
                "Where distance is taken, if β is below 1. raw: features as they are (the paper). idf: weighted by "
                "inverse document frequency and of unit length, as is usual for words; with β = 0.1 and γ = 2 it "
                "brought 4 points of P@1 on Bibtex. Not in the paper.",
                "choice",
                "raw",
                options=("raw", "idf"),
                advanced=True,
            ),
            Parameter(
                "min_error",
                "Learn from errors of at least",
                "A regressor leaves a row alone once its probability is so near the target. 0 is the paper's; 0.3 "
                "trained in three quarters of the time on Bibtex and was a point of P@1 better. Not in the paper.",
                "float",
                0.0,
                minimum=0.0,
                maximum=0.5,
                step=0.05,
                advanced=True,
            ),
            Parameter(
                "weight_decay",
                "Weight decay",
                "Share that weights lose when they are learnt with: smooths the regressors. Not in the paper.",
                "float",
                0.0,
                minimum=0.0,
                maximum=0.5,
                advanced=True,
            ),
            SEED,
        ),
    ),
}


@dataclass
class Run:
    """What one run found.

    Attributes
    ----------
    model : str
        A key of :data:`MODELS`.
    params : dict
        All parameters, those left at their defaults too.
    dataset_name, fingerprint : str
    k : int
    measures : DataFrame
        Tidy: measure ("P@k", "R@k", "nDCG@k", "PSP@k", "PSnDCG@k"), k (1 to ``k``), value (in [0, 1]).
    times : dict
        Seconds: "fit_s", "predict_s", "compile_s" (of the kernels, before anything is timed); and
        "predict_ms_per_row".
    size : dict
        "n_nodes", "depth", "n_weights" (over all trees; depth of the deepest) and "model_bytes" (in memory).
    ranking : Ranking
        Of the test rows, max(k, 5) labels each.
    warnings : list of str
        What the training warned of.
    created : str
        ISO 8601, UTC.
    """

    model: str
    params: dict
    dataset_name: str
    fingerprint: str
    k: int
    measures: "pd.DataFrame"
    times: dict
    size: dict
    ranking: Ranking
    warnings: list[str] = field(default_factory=list)
    created: str = ""


def evaluate(model, dataset: "Dataset", k: int = 5, progress: Progress | None = None) -> dict:
    """Measure a fitted model on the test rows of a data set.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict_topk(X, k)``.
    dataset : Dataset
        Its training rows give the propensities (Jain et al., A = 0.55, B = 1.5).
    k : int
    progress : callable, optional
        Handed on to ``predict_topk`` when given.

    Returns
    -------
    dict
        "P@k", "R@k", "nDCG@k", "PSP@k", "PSnDCG@k": ndarray (k,), the value at 1 to k, in [0, 1];
        "predict_s": seconds for all test rows; "predict_ms_per_row"; "ranking": the Ranking measured, with
        max(k, 5) labels.
    """
    k = check_count(k, "k")
    start = time.perf_counter()
    reporting = {} if progress is None else {"progress": progress}
    ranking = model.predict_topk(dataset.X_test, k=max(k, LEAST_RANKED), **reporting)
    seconds = time.perf_counter() - start
    inv_ps = metrics.inverse_propensity(dataset.Y_train)
    return {
        **metrics.measures(dataset.Y_test, ranking, k, inv_ps=inv_ps),
        "predict_s": seconds,
        "predict_ms_per_row": 1000 * seconds / dataset.n_test,
        "ranking": ranking,
    }


def full_params(model: str, params: dict | None = None) -> dict:
    """Parameters of a run with the defaults filled in.

    Parameters
    ----------
    model : str
        A key of :data:`MODELS`.
    params : dict, optional
        Those that differ from the defaults.

    Raises
    ------
    ValueError
        Unknown model or parameter.
    """
    if model not in MODELS:
        raise ValueError(f"unknown model {model!r}: known are {', '.join(MODELS)}")
    defaults = {p.name: p.default for p in MODELS[model].parameters}
    unknown = set(params or {}) - set(defaults)
    if unknown:
        raise ValueError(f"{model} has no parameter {', '.join(sorted(unknown))}: it has {', '.join(defaults)}")
    return {**defaults, **(params or {})}


def run(
    dataset: "Dataset", model: str = "PLT", params: dict | None = None, k: int = 5, progress: Progress = silent
) -> Run:
    """Train a model on a data set, and measure it.

    Parameters
    ----------
    dataset : Dataset
    model : str
        A key of :data:`MODELS`.
    params : dict, optional
        Parameters that differ from the defaults.
    k : int
        Measures are taken at 1 to k.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    Run
    """
    return _run(dataset, model, params, k, progress)[0]


def _run(dataset, model, params, k, progress):
    import pandas as pd

    k = check_count(k, "k")
    params = full_params(model, params)
    progress("Compiling kernels", 0.0)
    estimator = MODELS[model].cls(**params)
    compile_s = _compile(estimator)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(dataset.X_train, dataset.Y_train, progress=progress)
    fit_s = time.perf_counter() - start
    found = evaluate(estimator, dataset, k, progress=progress)
    ranking = found.pop("ranking")
    times = {name: found.pop(name) for name in ("predict_s", "predict_ms_per_row")}
    measures = pd.DataFrame(
        [(name, at + 1, float(values[at])) for name, values in found.items() for at in range(k)],
        columns=["measure", "k", "value"],
    )
    result = Run(
        model=model,
        params=params,
        dataset_name=dataset.name,
        fingerprint=dataset.fingerprint,
        k=k,
        measures=measures,
        times={"fit_s": fit_s, "compile_s": compile_s, **times},
        size=estimator.size(),
        ranking=ranking,
        warnings=[str(w.message) for w in caught],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return result, estimator


def _compile(estimator) -> float:
    """Seconds to compile, or load, the kernels that this estimator uses."""
    from xmlcore.models.base import warm_up

    start = time.perf_counter()
    warm_up(estimator)
    return time.perf_counter() - start


def run_key(fingerprint: str, model: str, params: dict | None = None, k: int = 5) -> str:
    """Key under which :func:`run_saved` keeps a run: data, model, all parameters, k and the code's version."""
    return store.artifact_key(RUNS, fingerprint, {"model": model, "params": full_params(model, params), "k": k})


def run_saved(fingerprint: str, model: str, params: dict | None = None, k: int = 5, progress: Progress = silent) -> str:
    """Run on a data set of the store and keep the result there; at once when it is there already.

    Parameters
    ----------
    fingerprint : str
        Of a data set kept by :func:`xmlcore.datasets.save_dataset`.
    model, params, k, progress
        See :func:`run`.

    Returns
    -------
    str
        The key, for :func:`load_run` and :func:`load_run_model`.
    """
    from xmlcore.datasets import load_saved

    key = run_key(fingerprint, model, params, k)
    if store.exists(RUNS, key):
        return key
    progress("Reading data", 0.0)
    dataset = load_saved(fingerprint)
    result, estimator = _run(dataset, model, params, k, progress)
    progress("Saving", 0.0)
    with store.writing(RUNS, key, model=model, fingerprint=fingerprint, dataset=dataset.name) as folder:
        store.write_value(folder, result)
        estimator.save(Path(folder) / "model")
    return key


def load_run(key: str) -> Run:
    """Read a run that :func:`run_saved` kept; StoreError when there is none."""
    return store.load(RUNS, key)


def load_run_model(key: str):
    """Read the fitted model of a kept run."""
    from xmlcore.models import load_model

    return load_model(store.folder(RUNS, key) / "model")


# Smaller models out of one --------------------------------------------------------------------------------------------


def prefix_points(model) -> tuple[list[int], list[int]]:
    """Return the numbers of trees, and the most nodes of a tree, at which :func:`prefix_measures` measures by itself.

    Parameters
    ----------
    model : fitted LdSM

    Returns
    -------
    n_trees : list of int
        1, 2, 3, 5, 10, 20, 30, 50, ... and all.
    max_nodes : list of int
        Powers of two, without those that give the same trees as a smaller one, and the model's own ``max_nodes``.
    """
    full = len(model.trees_)
    n_trees = sorted({n * 10**e for n in (1, 2, 3, 5) for e in range(10) if n * 10**e < full} | {full})
    largest, arity = max(tree.parent.size for tree in model.trees_), model.trees_[0].children.shape[1]
    powers = [2**e for e in range(31) if 2**e < min(largest, model.max_nodes)]
    grown = [1 + arity * ((most - 1) // arity) for most in powers]  # nodes of a tree come arity at a time
    first = [at for at, nodes in enumerate(grown) if at == 0 or nodes != grown[at - 1]]
    return n_trees, [*(powers[at] for at in first), model.max_nodes]


def prefix_measures(
    model,
    dataset: "Dataset",
    k: int = 5,
    n_trees: list[int] | None = None,
    max_nodes: list[int] | None = None,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Measure what fewer trees, and smaller trees, of a fitted ensemble predict, without training again.

    Parameters
    ----------
    model : fitted LdSM
        Trees do not depend on each other, and nodes have the order in which they were made: a part of the ensemble, or
        of its trees, is the model that training with these settings would have given.
    dataset : Dataset
        Its test rows are predicted; its training rows give the propensities.
    k : int
    n_trees, max_nodes : list of int, optional
        Where to measure; by default :func:`prefix_points`.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

    Returns
    -------
    DataFrame
        Tidy: ``axis`` ("n_trees" or "max_nodes", what is varied while the other is the model's own), ``n_trees``,
        ``max_nodes``, ``depth`` (of the deepest tree), ``measure``, ``k``, ``value`` (in [0, 1]).

    Raises
    ------
    TypeError
        A model without trees over rows.
    """
    import numpy as np
    import pandas as pd

    from xmlcore.models import LdSM

    if not isinstance(model, LdSM):
        raise TypeError(f"prefix_measures is for LdSM, whose trees are grown node by node, not {type(model).__name__}")
    k = check_count(k, "k")
    points = prefix_points(model)
    n_trees = points[0] if n_trees is None else [check_count(n, "n_trees") for n in n_trees]
    max_nodes = points[1] if max_nodes is None else [check_count(n, "max_nodes") for n in max_nodes]
    all_trees, arity = len(model.trees_), model.trees_[0].children.shape[1]
    inv_ps = metrics.inverse_propensity(dataset.Y_train)
    asked = [("n_trees", min(n, all_trees), model.max_nodes) for n in n_trees]
    asked += [("max_nodes", all_trees, most) for most in max_nodes]
    work = np.array([trees * np.log2(1 + most) for _, trees, most in asked])
    lines = []
    for i, (axis, trees, most) in enumerate(asked):
        what = f"{trees:,} trees" if axis == "n_trees" else f"{most:,} nodes"
        done, part = work[:i].sum() / work.sum(), work[i] / work.sum()

        def report(phase, fraction, detail="", *, what=what, done=done, part=part):
            progress("Predicting with parts of the model", float(done + fraction * part), what)

        ranking = _predict_by_leaves(model, dataset.X_test, max(k, LEAST_RANKED), report, trees, most)
        nodes = 1 + arity * ((most - 1) // arity)
        depth = max(int(tree.depth[:nodes].max()) for tree in model.trees_[:trees])
        found = metrics.measures(dataset.Y_test, ranking, k, inv_ps=inv_ps)
        lines += [
            (axis, trees, most, depth, measure, at + 1, float(values[at]))
            for measure, values in found.items()
            for at in range(k)
        ]
    return pd.DataFrame(lines, columns=["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"])


def _predict_by_leaves(model, X, k, progress, n_trees, max_nodes) -> Ranking:
    """Predict as ``predict_topk`` does, but once for all rows that reach the same leaves.

    A small tree has few leaves with nearly all labels in each: merging these for every row would take far longer than
    the prediction of the whole model.
    """
    import numpy as np

    if model.means_ is not None:  # re-ranking: the row itself counts
        return model.predict_topk(X, k, progress, n_trees=n_trees, max_nodes=max_nodes)
    leaves = model.apply(X, n_trees=n_trees, max_nodes=max_nodes)
    sizes = np.diff(leaves.ptr)
    widths = np.ascontiguousarray(sizes.reshape(leaves.n_trees, leaves.n_rows).T)  # row by row
    row = np.repeat(np.tile(np.arange(leaves.n_rows), leaves.n_trees), sizes)
    nodes = leaves.nodes[np.argsort(row, kind="stable")]
    ptr = np.concatenate([[0], np.cumsum(widths.sum(axis=1))])
    seen, first, place = {}, [], np.empty(X.shape[0], np.int64)
    for i in range(X.shape[0]):
        place[i] = seen.setdefault((nodes[ptr[i] : ptr[i + 1]].tobytes(), widths[i].tobytes()), len(seen))
        if place[i] == len(first):
            first.append(i)
    once = model.predict_topk(X[np.array(first)], k, progress, n_trees=n_trees, max_nodes=max_nodes)
    return Ranking(once.labels[place], once.scores[place])


def prefix_seconds(run: Run, model) -> float:
    """Estimate how long :func:`prefix_measures` takes, from the run's own prediction time."""
    n_trees, max_nodes = prefix_points(model)
    return run.times["predict_s"] * (sum(n_trees) / n_trees[-1] + len(max_nodes))


def prefixes_key(run_key: str) -> str:
    """Key under which :func:`prefixes_saved` keeps its table."""
    return store.artifact_key(PREFIXES, run_key, {})


def prefixes_saved(run_key: str, progress: Progress = silent) -> str:
    """Have :func:`prefix_measures` of a kept run in the store; at once when it is there already.

    Parameters
    ----------
    run_key : str
        Of a run that :func:`run_saved` kept.
    progress : callable, optional

    Returns
    -------
    str
        The key, for :func:`load_prefixes`.
    """
    from xmlcore.datasets import load_saved

    key = prefixes_key(run_key)
    if store.exists(PREFIXES, key):
        return key
    progress("Reading the model", 0.0)
    found = load_run(run_key)
    model, dataset = load_run_model(run_key), load_saved(found.fingerprint)
    store.save(PREFIXES, key, prefix_measures(model, dataset, found.k, progress=progress), run=run_key)
    return key


def load_prefixes(key: str) -> "pd.DataFrame":
    """Read a table that :func:`prefixes_saved` kept; StoreError when there is none."""
    return store.load(PREFIXES, key)
