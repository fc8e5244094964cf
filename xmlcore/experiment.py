"""One run: data set x model x parameters -> results, measured the same way everywhere."""

import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlcore import metrics, store
from xmlcore.parameters import MODELS, NOISE, ModelInfo, Parameter
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.validation import check_count

if TYPE_CHECKING:
    import pandas as pd

    from xmlcore.datasets import Dataset

__all__ = [
    "MODELS",
    "Explanations",
    "ModelInfo",
    "Parameter",
    "Robustness",
    "Run",
    "estimator",
    "evaluate",
    "explanations_key",
    "explanations_saved",
    "full_params",
    "load_explanations",
    "load_prefixes",
    "load_robustness",
    "load_run",
    "load_run_model",
    "prefix_measures",
    "prefix_points",
    "prefix_seconds",
    "prefixes_key",
    "prefixes_saved",
    "robustness_key",
    "robustness_saved",
    "run",
    "run_key",
    "run_saved",
]

RUNS = "runs"
PREFIXES = "prefixes"
ROBUSTNESS = "robustness"
EXPLANATIONS = "explanations"
LEAST_RANKED = 5  # labels kept per test row, even when fewer are measured


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


def estimator(model: str, params: dict | None = None):
    """Make the estimator of a run, not fitted.

    Parameters
    ----------
    model, params
        See :func:`full_params`.

    Returns
    -------
    estimator
        Of the model's class; within :class:`xmlcore.robustness.AdversarialTraining` where ``noise_sigma`` is above 0.
    """
    params = full_params(model, params)
    noise = {p.name: params.pop(p.name) for p in NOISE}
    made = MODELS[model].cls(**params)
    if noise["noise_sigma"] == 0:
        return made
    from xmlcore.robustness import AdversarialTraining

    return AdversarialTraining(
        made,
        sigma=noise["noise_sigma"],
        augment_ratio=noise["noise_ratio"],
        noise_support=noise["noise_support"],
        random_state=params.get("random_state", 0),
    )


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
    unfitted = estimator(model, params)
    compile_s = _compile(unfitted)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unfitted.fit(dataset.X_train, dataset.Y_train, progress=progress)
    fit_s = time.perf_counter() - start
    fitted = getattr(unfitted, "model_", unfitted)  # what training on noisy rows has made is a model like others
    found = evaluate(fitted, dataset, k, progress=progress)
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
        size=fitted.size(),
        ranking=ranking,
        warnings=[str(w.message) for w in caught],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return result, fitted


def _compile(unfitted) -> float:
    """Seconds to compile, or load, the kernels that this estimator uses."""
    from xmlcore.models.base import warm_up

    start = time.perf_counter()
    warm_up(getattr(unfitted, "model", unfitted))
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
    result, fitted = _run(dataset, model, params, k, progress)
    progress("Saving", 0.0)
    with store.writing(RUNS, key, model=model, fingerprint=fingerprint, dataset=dataset.name) as folder:
        store.write_value(folder, result)
        fitted.save(Path(folder) / "model")
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


# Noise and attacks ----------------------------------------------------------------------------------------------------


@dataclass
class Robustness:
    """How a kept run's model holds up under noise or an attack.

    Attributes
    ----------
    run_key : str
    kind : {"gaussian", "words", "fgsm", "pgd"}
    levels : list of float
        Standard deviations, rates or budgets, as :func:`xmlcore.robustness.perturbation` takes them.
    options : dict
        Further arguments of the perturbation.
    n_repeats, seed : int
    n_rows, n_test : int
        Test rows measured, of how many.
    frame : DataFrame
        See :func:`xmlcore.robustness.evaluate`.
    surrogate : str or None
        The model that an attack was computed on, where it was not the run's own.
    seconds : float
        For all of it.
    """

    run_key: str
    kind: str
    levels: list[float]
    options: dict
    n_repeats: int
    seed: int
    n_rows: int
    n_test: int
    frame: "pd.DataFrame"
    surrogate: str | None = None
    seconds: float = 0.0


def robustness_key(
    run_key: str, kind: str, levels, options: dict | None = None, n_repeats: int = 3, seed: int = 0, n_rows=None
) -> str:
    """Key under which :func:`robustness_saved` keeps its result."""
    asked = {
        "kind": kind,
        "levels": sorted({float(level) for level in levels}),
        "options": options or {},
        "n_repeats": n_repeats,
        "seed": seed,
        "n_rows": n_rows,
    }
    return store.artifact_key(ROBUSTNESS, run_key, asked)


def robustness_saved(
    run_key: str,
    kind: str,
    levels,
    options: dict | None = None,
    n_repeats: int = 3,
    seed: int = 0,
    n_rows: int | None = None,
    progress: Progress = silent,
) -> str:
    """Measure a kept run's model under noise or an attack and keep the result; at once when it is there already.

    Parameters
    ----------
    run_key : str
        Of a run that :func:`run_saved` kept. Test rows of its data set are perturbed.
    kind, levels, options
        See :func:`xmlcore.robustness.evaluate`. Word noise draws its words from the training rows.
    n_repeats, seed : int
    n_rows : int, optional
        Measure a random sample of so many test rows; by default all.
    progress : callable, optional

    Returns
    -------
    str
        The key, for :func:`load_robustness`.

    Notes
    -----
    Where the model has no gradient, attacks are computed on a PLT with default settings, trained on the same rows (and
    kept as a run), and transferred.
    """
    from xmlcore import robustness
    from xmlcore.datasets import load_saved

    options = dict(options or {})
    key = robustness_key(run_key, kind, levels, options, n_repeats, seed, n_rows)
    if store.exists(ROBUSTNESS, key):
        return key
    progress("Reading the model", 0.0)
    start = time.perf_counter()
    found = load_run(run_key)
    model, dataset = load_run_model(run_key), load_saved(found.fingerprint)
    surrogate, said = None, None
    if kind in ("fgsm", "pgd") and not hasattr(model, "log_proba_gradient"):
        surrogate = load_run_model(run_saved(found.fingerprint, "PLT", None, found.k, progress))
        said = "PLT with default settings, trained on the same rows"
    rows = _sampled(dataset.n_test, n_rows, seed)
    frame = robustness.evaluate(
        model,
        dataset.X_test[rows],
        dataset.Y_test[rows],
        sigmas=sorted({float(level) for level in levels}),
        n_repeats=n_repeats,
        random_state=seed,
        perturbation=kind,
        options=options | ({"reference": dataset.X_train} if kind == "words" else {}),
        Y_train=dataset.Y_train,
        surrogate=surrogate,
        progress=progress,
    )
    result = Robustness(
        run_key=run_key,
        kind=kind,
        levels=sorted({float(level) for level in levels}),
        options=options,
        n_repeats=n_repeats,
        seed=seed,
        n_rows=rows.size,
        n_test=dataset.n_test,
        frame=frame,
        surrogate=said,
        seconds=time.perf_counter() - start,
    )
    store.save(ROBUSTNESS, key, result, run=run_key)
    return key


def load_robustness(key: str) -> Robustness:
    """Read what :func:`robustness_saved` kept; StoreError when there is none."""
    return store.load(ROBUSTNESS, key)


# Explanations ---------------------------------------------------------------------------------------------------------


@dataclass
class Explanations:
    """What features do in a kept run's model, over many test rows.

    Attributes
    ----------
    run_key : str
    rows : ndarray of int64
        The test rows looked at.
    n_test : int
        Of how many.
    deletion : DataFrame
        See :func:`xmlcore.explain.deletion_curve`; ``row`` is a test row. Each row's label is its top-1. Without
        contributions where the model's are not those of features (DoubleSampling).
    importance : DataFrame
        See :func:`xmlcore.explain.importance`, all features.
    stability : DataFrame
        row, sigma, repeat, spearman, overlap: contributions on the clean row against those on the row with Gaussian
        noise on its present features, whose standard deviation is ``sigma`` times the mean size of the rows' values.
    """

    run_key: str
    rows: Any
    n_test: int
    deletion: "pd.DataFrame"
    importance: "pd.DataFrame"
    stability: "pd.DataFrame"


NOISE_OF_VALUES = (0.1, 0.3, 1.0)  # of the mean size of a value, when stability is measured
STABILITY_REPEATS = 5


def explanations_key(run_key: str, n_rows: int = 200, seed: int = 0) -> str:
    """Key under which :func:`explanations_saved` keeps its result."""
    return store.artifact_key(EXPLANATIONS, run_key, {"n_rows": n_rows, "seed": seed})


def explanations_saved(run_key: str, n_rows: int = 200, seed: int = 0, progress: Progress = silent) -> str:
    """Explain a sample of a kept run's test rows and keep the result; at once when it is there already.

    Parameters
    ----------
    run_key : str
        Of a run that :func:`run_saved` kept.
    n_rows : int
        Test rows with features, drawn at random; all when there are fewer.
    seed : int
    progress : callable, optional

    Returns
    -------
    str
        The key, for :func:`load_explanations`.
    """
    import numpy as np
    import pandas as pd

    from xmlcore import explain, robustness
    from xmlcore.datasets import load_saved

    key = explanations_key(run_key, n_rows, seed)
    if store.exists(EXPLANATIONS, key):
        return key
    progress("Reading the model", 0.0)
    found = load_run(run_key)
    model, dataset = load_run_model(run_key), load_saved(found.fingerprint)
    filled = np.flatnonzero(np.diff(dataset.X_test.indptr))
    rows = filled[_sampled(filled.size, n_rows, seed)]
    X, labels = dataset.X_test[rows], found.ranking.labels[rows, 0]
    known = labels >= 0
    rows, X, labels = rows[known], X[known], labels[known]
    of_features = explain.explains_features(model)
    methods = ("contributions", "magnitude", "random") if of_features else ("magnitude", "random")
    deletion = explain.deletion_curve(model, X, labels, methods, seed=seed, progress=progress)
    deletion["row"] = rows[deletion["row"].to_numpy()]
    importance = explain.importance(model, X, labels, n=None, progress=progress)
    size = float(np.abs(X.data).mean()) if X.nnz else 0.0
    parts = []
    for i, row in enumerate(rows):
        progress("Explaining noisy rows", i / rows.size, f"row {i + 1:,} of {rows.size:,}")
        for share in NOISE_OF_VALUES:
            noise = robustness.GaussianNoise(share * size, "nonzero")
            part = explain.stability(model, X[[i]], labels[i], noise, STABILITY_REPEATS, seed=seed, row=int(row))
            parts.append(part.assign(row=row, sigma=share))
    stability = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["row", "sigma", "repeat"])
    store.save(
        EXPLANATIONS,
        key,
        Explanations(run_key, rows, dataset.n_test, deletion, importance, stability),
        run=run_key,
    )
    return key


def load_explanations(key: str) -> Explanations:
    """Read what :func:`explanations_saved` kept; StoreError when there is none."""
    return store.load(EXPLANATIONS, key)


def _sampled(n: int, n_rows: int | None, seed: int):
    """Which rows are looked at, in order: all, or a random sample."""
    import numpy as np

    if n_rows is None or check_count(n_rows, "n_rows") >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, 1]).permutation(n)[:n_rows])
