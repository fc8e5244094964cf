"""LdSM's tables: beside its published program, the paper, PLT and others, with more threads, as data grows, in depth.

    python -m benchmarks.ldsm FOLDER [--part NAME ...] [--quick]
    python -m benchmarks.ldsm --table FILE

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz. Parts: reference, settings, others, beside-plt,
workers, scaling, depth; each is measured on its own and replaces what stood under its name in the results, so that they
can be run one at a time. "settings" reads ldsm_settings.json, in which "steps" lead from the reference settings to the
chosen ones, each with what it changes:

    {"data": {"bibtex": {"steps": [{"name": "reference", "params": {}}, {"name": "...", "params": {...}}, ...],
                         "test_trees": 50,
                         "others": [{"name": "...", "method": "PLT", "params": {...}}, ...]}}}

("test_trees", 50 when absent, is for the test rows alone, and for "others".) Steps are measured on held-out thirds of
the training rows. "others" are what the chosen trees are held against, alone and mixed with them; see mixtures.py.
Every point is measured in a process of its own, which trains and predicts on made-up rows first. Everything is written
to benchmarks/results/trees.json and, as tables, to trees.md beside it.
"""

import functools
import json
import operator
import statistics
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import scipy.sparse as sp

from benchmarks import compare, scaling
from benchmarks.library import ldsm_tables, mixtures, studies
from benchmarks.library.data import read_rows, source
from xmlcore import LdSM, metrics
from xmlcore.datasets import make_synthetic
from xmlcore.models.base import warm_up
from xmlcore.models.ldsm import estimator, growing

HERE = Path(__file__).resolve().parent
SETTINGS = HERE / "ldsm_settings.json"
SEEDS = (0, 1, 2)
TEST_TREES = 50  # number of trees, as in the paper
WORKER_REPEATS = 3
TRIAL = {"rows": 2_000, "n_estimators": 2, "n_epochs": 2, "max_nodes": 100}  # largest values with --quick
WORKER_SETTINGS = {"bibtex": {}, "delicious": {}, "wordnet-hyper": ldsm_tables.LARGE | {"n_estimators": 4}}
PACKAGED = "api-docs"  # a data set that comes with xmlcore, and is in no folder
BASE = scaling.BASE | {
    "n_train": 20_000, "n_test": 5_000, "n_features": 20_000, "n_labels": 2_000,
    "features_per_row": 40.0, "labels_per_row": 3.0,
}  # fmt: skip
QUICK_BASE = BASE | {"n_train": 2_000, "n_test": 500, "n_features": 2_000, "n_labels": 200}
QUICK_OWN = {"M": ("arity", (2, 4, 8)), "T_max": ("max_nodes", (100, 320, 1_000))}
WIDE = {"D": 1_000_000, "L": 100_000}  # numbers of features and labels over which the ids of the same rows are spread


def model_of(job, **params):
    """Return a new model with the parameters of the job; ``params`` replace some of them."""
    return ldsm_tables.MODELS[job["model"]](**job["params"] | {"n_jobs": job["n_jobs"]} | params)


def compile_kernels(job):
    """Train a small model and predict with it, so that compiling kernels is in none of the measured times."""
    warm_up(model_of(job))
    toy = make_synthetic(n_train=400, n_test=20, n_labels=300, n_jobs=1)
    small = {"n_estimators": 2, "max_nodes": 50, "n_epochs": 1} if job["model"] == "LdSM" else {}
    ranking = model_of(job, **small).fit(toy.X_train, toy.Y_train).predict_topk(toy.X_test, 5)
    metrics.precision_at_k(toy.Y_test, ranking, 5)


def fit_once(job, train, rest, seed):
    """Train a model on some rows, predict others, and return all measures.

    Parameters
    ----------
    job : dict
        "model", "params", "n_jobs"; "repeat": whether predictions are repeated, for their time.
    train, rest : (X, Y)
        The rows to train on and the rows to predict.
    seed : int

    Returns
    -------
    dict
        "seed", "train_s" (seconds), "ms" (milliseconds of prediction per row), and what :func:`shape` and
        :func:`benchmarks.compare.quality` return.
    """
    (X, Y), (X_rest, Y_rest) = train, rest
    model = model_of(job, random_state=seed)
    start = time.perf_counter()
    model.fit(X, Y)
    found = {"seed": seed, "train_s": time.perf_counter() - start} | shape(model)
    model.predict_topk(X_rest[:512], 5)
    seconds = []
    while not seconds or (
        job["repeat"] and sum(seconds) < scaling.PREDICT_SECONDS and len(seconds) < scaling.PREDICT_REPEATS
    ):
        start = time.perf_counter()
        ranking = model.predict_topk(X_rest, 5)
        seconds.append(time.perf_counter() - start)
    found["ms"] = 1000 * statistics.median(seconds) / X_rest.shape[0]
    weights = metrics.inverse_propensity(Y)
    return found | compare.quality(SimpleNamespace(Y_test=Y_rest), weights, ranking.labels)


def shape(model):
    """Return the size of a model, the number of its trees, and for LdSM their depths and the rows of inner nodes."""
    found = model.size() | {"n_trees": len(model.trees_)}
    if isinstance(model, LdSM):
        found["depths"] = [int(tree.depth.max()) for tree in model.trees_]
        found["inner_rows"] = int(sum(tree.n_samples[tree.inner].sum() for tree in model.trees_))
    return found


def folds(n_rows):
    """Return the row numbers to train on and those to measure on, for each of the folds."""
    parts = np.array_split(np.random.default_rng(0).permutation(n_rows), ldsm_tables.N_FOLDS)
    return [(np.sort(np.concatenate([p for p in parts if p is not part])), np.sort(part)) for part in parts]


def measure_test(job):
    """Train on all training rows with each seed, and measure on the test rows.

    Returns {"fits": what :func:`fit_once` returns, for each seed}.
    """
    compile_kernels(job)
    train, test = read_rows(job, "train"), read_rows(job, "test")
    return {"fits": [fit_once(job, train, test, seed) for seed in job["seeds"]]}


def measure_folds(job):
    """Train on two thirds of the training rows and measure on the last third, for each third.

    Returns {"fits": what :func:`fit_once` returns, for each third}.
    """
    compile_kernels(job)
    X, Y = read_rows(job, "train")
    return {
        "fits": [
            fit_once(job, (X[rows], Y[rows]), (X[held_out], Y[held_out]), seed=0)
            for rows, held_out in folds(X.shape[0])
        ]
    }


def measure_depth(job):
    """Do what :func:`measure_test` does, with few nodes, in proportion to the labels, and with all that settings allow.

    Returns {"fits": with few nodes, "full": with all, "chosen": the number of few nodes}.
    """
    compile_kernels(job)
    train, test = read_rows(job, "train"), read_rows(job, "test")
    most = model_of(job).get_params()["max_nodes"]
    chosen = min(most, ldsm_tables.NODES_PER_LABEL * int((train[1].sum(axis=0) > 0).sum()))
    fits = {}
    for name, size in (("fits", chosen), ("full", most)):
        smaller = job | {"params": job["params"] | {"max_nodes": size}}
        fits[name] = [fit_once(smaller, train, test, seed) for seed in job["seeds"]]
    return fits | {"chosen": chosen}


def measure_workers(job):
    """Train with one thread and with two, in turns, and compare times and predictions.

    Returns {"seconds": seconds of each training, for "1" and "2" threads, "same": whether all predictions are equal}.
    """
    compile_kernels(job)
    (X, Y), (X_test, _) = read_rows(job, "train"), read_rows(job, "test")
    seconds, first, same = {"1": [], "2": []}, None, True
    for _ in range(job["repeats"]):
        for n_jobs in (1, 2):
            model = model_of(job, n_jobs=n_jobs)
            start = time.perf_counter()
            model.fit(X, Y)
            seconds[str(n_jobs)].append(time.perf_counter() - start)
            ranking = model.predict_topk(X_test, 5)
            first = ranking if first is None else first
            same &= np.array_equal(ranking.labels, first.labels) and np.array_equal(ranking.scores, first.scores)
    return {"seconds": seconds, "same": bool(same)}


class Timed(LdSM):
    """LdSM that notes the rows and the seconds of every node that it splits; for one training at a time."""

    def fit(self, X, Y, *more, **named):
        self.nodes_ = nodes = []

        class TimedGrower(growing.Grower):
            def split(self, rows, *more):
                start = time.perf_counter()
                split = super().split(rows, *more)
                if split is not None:
                    nodes.append((rows.size, time.perf_counter() - start))
                return split

        with mock.patch.object(estimator, "Grower", TimedGrower):
            return super().fit(X, Y, *more, **named)


def widen(matrix, width):
    """Return the same rows with column ids spread over ``width`` columns, at random but in the same order."""
    ids = np.sort(np.random.default_rng(0).choice(width, matrix.shape[1], replace=False))
    return sp.csr_array(
        (matrix.data, ids[matrix.indices].astype(matrix.indices.dtype), matrix.indptr), shape=(matrix.shape[0], width)
    )


def measure_nodes(job):
    """Train on rows whose ids are spread over a wide range, and time each node.

    Returns {"n_features", "n_labels", "fits": a dict for each seed}. The dict has "train_s" (seconds), "nodes" (number
    of nodes split), "few_nodes" (number of those with few rows), and of these "few_rows" (mean rows) and "few_s"
    (median seconds).
    """
    compile_kernels(job)
    X, Y = read_rows(job, "train")
    X, Y = widen(X, job["width"]["D"] or X.shape[1]), widen(Y, job["width"]["L"] or Y.shape[1])
    fits = []
    for seed in job["seeds"]:
        model = Timed(**model_of(job, random_state=seed).get_params())
        start = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - start
        rows, seconds_of_node = np.array(model.nodes_, float).reshape(-1, 2).T
        few = rows <= ldsm_tables.FEW_ROWS
        entry = {"seed": seed, "train_s": seconds, "nodes": int(rows.size), "few_nodes": int(few.sum())}
        if few.any():
            entry |= {"few_rows": float(rows[few].mean()), "few_s": float(np.median(seconds_of_node[few]))}
        fits.append(entry)
    return {"n_features": X.shape[1], "n_labels": Y.shape[1], "fits": fits}


def measure_others(job):
    """Measure other methods on the same data, see :func:`benchmarks.library.mixtures.measure`."""
    return mixtures.measure(job, folds)


JOBS = {
    "depth": measure_depth,
    "test": measure_test,
    "folds": measure_folds,
    "others": measure_others,
    "workers": measure_workers,
    "nodes": measure_nodes,
}


def point(make, params, what="test", model="LdSM", n_jobs=1, seeds=SEEDS, repeat=True, named=None, **more):
    job = {"what": what, "model": model, "params": params, "n_jobs": n_jobs, "seeds": list(seeds), "repeat": repeat}
    return studies.Point(make, job | {"rows": None} | more, {"data": data_name(make)} | (named or {}))


def data_name(make):
    return make.get("load") or (Path(make["read"]).name if "read" in make else "made up")


def plan_reference(options):
    return [
        point(source(one.data, options), ldsm_tables.REFERENCE | one.params, named={"reference": number})
        for number, one in enumerate(ldsm_tables.REFERENCES)
    ]


def plan_settings(options):
    points = []
    for name, entry in read_settings(options.settings)["data"].items():

        def add(named, params, name=name, **more):
            points.append(point(source(name, options), params, n_jobs=options.threads, named=named, **more))

        add({"row": "reference settings"}, ldsm_tables.REFERENCE)
        params = ldsm_tables.REFERENCE
        for number, step in enumerate(entry["steps"]):
            params = params | step["params"]
            named = {"step": number, "name": step["name"], "changed": step["params"]}
            add(named, params, what="folds", repeat=False)
        add({"row": "chosen"}, chosen_params(entry))
    return points


def chosen_params(entry):
    """Those that the steps lead to, with the trees of the test."""
    changes = [step["params"] for step in entry["steps"]]
    return functools.reduce(operator.or_, changes, ldsm_tables.REFERENCE) | {
        "n_estimators": entry.get("test_trees", TEST_TREES)
    }


def plan_others(options):
    return [
        point(source(name, options), chosen_params(entry), "others", n_jobs=options.threads, others=entry["others"])
        for name, entry in read_settings(options.settings)["data"].items()
        if "others" in entry
    ]


def read_settings(path):
    """The settings file, checked."""
    found = json.loads(path.read_text(encoding="utf-8"))
    for name, entry in found["data"].items():
        if not entry.get("steps"):
            raise ValueError(f"{path.name}: {name} has no steps")
        for step in entry["steps"]:
            unknown = set(step["params"]) - set(LdSM().get_params())
            if unknown:
                raise ValueError(
                    f"{path.name}: {name}, step {step['name']!r}: LdSM has no {', '.join(sorted(unknown))}"
                )
        try:
            mixtures.check(entry.get("others", ()))
        except ValueError as error:
            raise ValueError(f"{path.name}: {name}: {error}") from None
    return found


def plan_beside(options):
    models = [
        ("LdSM, the program's settings", "LdSM", ldsm_tables.REFERENCE),
        (
            f"LdSM, E={ldsm_tables.LARGE['n_epochs']}, T_max={ldsm_tables.LARGE['max_nodes']:,}",
            "LdSM",
            ldsm_tables.REFERENCE | ldsm_tables.LARGE,
        ),
        ("PLT, default", "PLT", {}),
    ]
    return [
        point(source(name, options), params, model=model, n_jobs=options.threads, named={"row": row})
        for name in ("wordnet-hyper", PACKAGED)
        for row, model, params in models
    ]


def plan_workers(options):
    return [
        point(source(name, options), ldsm_tables.REFERENCE | params, what="workers", repeats=WORKER_REPEATS)
        for name, params in WORKER_SETTINGS.items()
    ]


def plan_scaling(options):
    base, steps = (QUICK_BASE, scaling.QUICK_STEPS) if options.quick else (BASE, scaling.STEPS)
    points = {}

    def add(axis, sizes, params):
        key = json.dumps([sizes, params])
        points.setdefault(key, point(sizes, params, named={"axes": []})).named["axes"].append(axis)

    for axis, (name, values) in (QUICK_OWN if options.quick else ldsm_tables.OWN).items():
        for value in values:
            add(axis, base, ldsm_tables.BASE_PARAMS | {name: value})
    for axis, name in ldsm_tables.SIZES.items():
        for step in steps:
            add(axis, base | {name: round(step * base[name])}, ldsm_tables.BASE_PARAMS)
    params = ldsm_tables.BASE_PARAMS | {
        "max_nodes": 10 * ldsm_tables.BASE_PARAMS["max_nodes"]
    }  # so that most nodes are small
    nodes = [
        point(base, params, what="nodes", width=width, named={"axes": ["nodes"], "ids": ids})
        for ids, width in (("as they are", dict.fromkeys(WIDE)), ("spread", WIDE))
    ]
    first = [one for one in points.values() if one.make == base]
    return [*first, *nodes, *(one for one in points.values() if one.make != base)]


def plan_depth(options):
    names = sorted(path.parent.name for path in options.folder.glob("*/train.txt.gz")) + [PACKAGED]
    return [
        point(
            source(name, options),
            {"n_attempts": 5} | (ldsm_tables.FEW_TREES if name in ldsm_tables.FEWER_EPOCHS else {}),
            what="depth",
            n_jobs=options.threads,
            seeds=(0,),
            repeat=False,
        )
        for name in names
    ]


def trial(one):
    """Return a smaller point for a trial: fewer rows, trees, passes and nodes."""
    job = one.job | {"seeds": one.job["seeds"][:1], "repeat": False}
    if "repeats" in job:
        job["repeats"] = 1
    if "axes" not in one.named:  # the part "scaling" has small data of its own
        job["rows"] = TRIAL["rows"]
        if job["model"] == "LdSM":
            full = ldsm_tables.base_params("LdSM") | job["params"]
            job["params"] = job["params"] | {name: min(TRIAL[name], full[name]) for name in TRIAL if name in full}
    return one._replace(job=job)


PARTS = {
    "reference": studies.Part("The published program's settings", plan_reference, ldsm_tables.table_reference),
    "settings": studies.Part("Chosen settings", plan_settings, ldsm_tables.table_settings),
    "others": studies.Part("Other methods on the same data", plan_others, ldsm_tables.table_others),
    "beside-plt": studies.Part("Beside PLT", plan_beside, ldsm_tables.table_beside),
    "workers": studies.Part("More threads", plan_workers, ldsm_tables.table_workers),
    "scaling": studies.Part("As data grows", plan_scaling, ldsm_tables.table_scaling),
    "depth": studies.Part("Depth", plan_depth, ldsm_tables.table_depth),
}


def add_base(part, options):
    if part["kind"] == "scaling":
        part["base"] = QUICK_BASE if options.quick else BASE


def described(job):
    found = {"n_jobs": job["n_jobs"], "params": ldsm_tables.all_params(job)}
    return found | ({"others": job["others"]} if "others" in job else {})


STUDY = studies.Study(
    name="ldsm",
    about=__doc__.split("\n\n")[0],
    parts=PARTS,
    trial=f"{TRIAL['rows']:,} rows, few and small trees",
    shorten=trial,
    described=described,
    begun=add_base,
    without_trial_line=("scaling",),
)


def read_options(arguments=None):
    def more(parser):
        parser.add_argument("--settings", type=Path, default=SETTINGS, help="steps and chosen settings, as JSON")

    def check(parser, options):
        if {"settings", "others"} & set(options.part):
            try:
                read_settings(options.settings)
            except (OSError, ValueError, KeyError) as error:
                parser.error(f"{options.settings.name}: {error}")

    return studies.read_options(STUDY, arguments, more, check)


if __name__ == "__main__":
    studies.main(STUDY, JOBS, read_options())
