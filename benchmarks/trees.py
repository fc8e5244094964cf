"""LdSM's tables: beside its published program, the paper, PLT and others, with more threads, as data grows, in depth.

    python -m benchmarks.trees FOLDER [--part NAME ...] [--quick] [--docs]
    python -m benchmarks.trees --table FILE [--docs]

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz. Parts: reference, settings, others, beside-plt,
workers, growth, depth; each is measured on its own and replaces what stood under its name in the results, so that they
can be run one at a time. "settings" reads trees_settings.json, in which "steps" lead from the reference settings to the
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
import math
import operator
import statistics
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import compare, growth, mixtures, report, studies
from benchmarks.studies import Part, Point, Study, done, read_rows, source
from xmlcore import PLT, LdSM, metrics
from xmlcore.datasets import make_synthetic
from xmlcore.models.base import warm_up

HERE = Path(__file__).resolve().parent
SETTINGS = HERE / "trees_settings.json"
MODELS = {"LdSM": LdSM, "PLT": PLT}
SEEDS = (0, 1, 2)
N_FOLDS = 3
TEST_TREES = 50  # the paper's
WORKER_REPEATS = 3
NODES_PER_LABEL = 4  # for depth, which is held against the number of labels: two leaves for each, at M = 2
FEW_ROWS = 50  # of a small node
TRIAL = {"rows": 2_000, "n_estimators": 2, "n_epochs": 2, "max_nodes": 100}  # at most, with --quick

REFERENCE = {
    "arity": 2,
    "max_nodes": 1000,
    "n_epochs": 20,
    "learning_rate": 0.1,
    "integrity_weight": 2.0,
    "multiway_weight": 1.0,
    "n_estimators": 10,
}
LARGE = {"n_epochs": 5, "max_nodes": 4000}  # as the published program was run on wordnet-hyper
PROGRAM = "published program"
PROGRAM_FIGURES = ("P@1", "P@3", "P@5", "nDCG@5", "depth", "tree_s", "ms")  # seconds per tree, ms per row per tree


class Reference(NamedTuple):
    """Settings under which the method's published program was run, by others, on another machine: one core."""

    data: str
    params: dict  # what is not as in REFERENCE
    program: tuple  # PROGRAM_FIGURES


REFERENCES = (
    Reference("bibtex", {}, (58.3, 34.4, 25.7, 55.7, 13, 1.07, 0.0020)),
    Reference("bibtex", {"n_epochs": 5, "n_estimators": 50}, (60.0, 36.4, 27.1, 58.2, 15, 0.36, 0.0027)),
    Reference("delicious", {}, (67.9, 61.5, 56.4, 59.3, 13, 2.55, 0.023)),
    Reference("bibtex", {"arity": 4, "max_nodes": 2000}, (58.4, 35.5, 26.1, 56.3, 8, 4.7, 0.0038)),
    Reference("wordnet-hyper", LARGE | {"n_estimators": 1}, (89.4, 79.6, 70.7, 76.1, 18, 4.3, 0.106)),
)
PAPER = {"bibtex": (64.69, 39.70, 29.25), "delicious": (71.91, 65.34, 60.24)}  # P@1, P@3, P@5: tuned, 50 trees
WORKER_SETTINGS = {"bibtex": {}, "delicious": {}, "wordnet-hyper": LARGE | {"n_estimators": 4}}
FEWER_EPOCHS = ("wordnet-hyper", "wordnet-class", "aloi")
FEW_TREES = LARGE | {"n_estimators": 3}
PACKAGED = "api-docs"  # made by xmlcore, in no folder

BASE = growth.BASE | {
    "n_train": 20_000, "n_test": 5_000, "n_features": 20_000, "n_labels": 2_000,
    "features_per_row": 40.0, "labels_per_row": 3.0,
}  # fmt: skip
QUICK_BASE = BASE | {"n_train": 2_000, "n_test": 500, "n_features": 2_000, "n_labels": 200}
BASE_PARAMS = REFERENCE | {"n_epochs": 5, "n_estimators": 1}
SIZES = {"N": "n_train", "D": "n_features", "L": "n_labels"}
OWN = {"M": ("arity", (2, 3, 4, 6, 8)), "T_max": ("max_nodes", (100, 320, 1_000, 3_200, 10_000))}
QUICK_OWN = {"M": ("arity", (2, 4, 8)), "T_max": ("max_nodes", (100, 320, 1_000))}
AXIS_TITLES = {
    "N": "Training rows N grow",
    "D": "Features D grow, nonzeros per row stay",
    "L": "Labels L grow, labels per row stay",
    "M": "Children of a node M grow",
    "T_max": "Most nodes T_max grow",
}
WIDE = {"D": 1_000_000, "L": 100_000}  # the same rows with their ids spread over so many


# One point, in a process of its own -----------------------------------------------------------------------------------


def model_of(job, **params):
    return MODELS[job["model"]](**job["params"] | {"n_jobs": job["n_jobs"]} | params)


def train_toy(job):
    """Load, or compile, everything that is measured."""
    warm_up(model_of(job))
    toy = make_synthetic(n_train=400, n_test=20, n_labels=300, n_jobs=1)
    small = {"n_estimators": 2, "max_nodes": 50, "n_epochs": 1} if job["model"] == "LdSM" else {}
    ranking = model_of(job, **small).fit(toy.X_train, toy.Y_train).predict_topk(toy.X_test, 5)
    metrics.precision_at_k(toy.Y_test, ranking, 5)


def fit_once(job, train, rest, seed):
    """Train on some rows and predict others; all figures of the model.

    Parameters
    ----------
    job : dict
        "model", "params", "n_jobs"; "repeat": whether predictions are repeated, for their time.
    train, rest : (X, Y)
    """
    (X, Y), (X_rest, Y_rest) = train, rest
    model = model_of(job, random_state=seed)
    start = time.perf_counter()
    model.fit(X, Y)
    found = {"seed": seed, "train_s": time.perf_counter() - start} | shape(model)
    model.predict_topk(X_rest[:512], 5)
    seconds = []
    while not seconds or (
        job["repeat"] and sum(seconds) < growth.PREDICT_SECONDS and len(seconds) < growth.PREDICT_REPEATS
    ):
        start = time.perf_counter()
        ranking = model.predict_topk(X_rest, 5)
        seconds.append(time.perf_counter() - start)
    found["ms"] = 1000 * statistics.median(seconds) / X_rest.shape[0]
    weights = metrics.inverse_propensity(Y)
    return found | compare.quality(SimpleNamespace(Y_test=Y_rest), weights, ranking.labels)


def shape(model):
    found = model.size() | {"n_trees": len(model.trees_)}
    if isinstance(model, LdSM):
        found["depths"] = [int(tree.depth.max()) for tree in model.trees_]
        found["inner_rows"] = int(sum(tree.n_samples[tree.inner].sum() for tree in model.trees_))
    return found


def folds(n_rows):
    """Row numbers to train on and to measure on, for each of the folds."""
    parts = np.array_split(np.random.default_rng(0).permutation(n_rows), N_FOLDS)
    return [(np.sort(np.concatenate([p for p in parts if p is not part])), np.sort(part)) for part in parts]


def measure_test(job):
    train_toy(job)
    train, test = read_rows(job, "train"), read_rows(job, "test")
    return {"fits": [fit_once(job, train, test, seed) for seed in job["seeds"]]}


def measure_folds(job):
    """As :func:`measure_test`, within the training rows."""
    train_toy(job)
    X, Y = read_rows(job, "train")
    return {
        "fits": [
            fit_once(job, (X[rows], Y[rows]), (X[held_out], Y[held_out]), 0) for rows, held_out in folds(X.shape[0])
        ]
    }


def measure_depth(job):
    """As :func:`measure_test`, with nodes in proportion to the labels, and with as many as the settings allow."""
    train_toy(job)
    train, test = read_rows(job, "train"), read_rows(job, "test")
    most = model_of(job).get_params()["max_nodes"]
    chosen = min(most, NODES_PER_LABEL * int((train[1].sum(axis=0) > 0).sum()))
    fits = {}
    for name, size in (("fits", chosen), ("full", most)):
        smaller = job | {"params": job["params"] | {"max_nodes": size}}
        fits[name] = [fit_once(smaller, train, test, seed) for seed in job["seeds"]]
    return fits | {"chosen": chosen}


def measure_workers(job):
    """Training with one thread and with two, in turns; whether predictions are the same."""
    train_toy(job)
    (X, Y), (X_test, _) = read_rows(job, "train"), read_rows(job, "test")
    found, first, same = {"1": [], "2": []}, None, True
    for _ in range(job["repeats"]):
        for n_jobs in (1, 2):
            model = model_of(job, n_jobs=n_jobs)
            start = time.perf_counter()
            model.fit(X, Y)
            found[str(n_jobs)].append(time.perf_counter() - start)
            ranking = model.predict_topk(X_test, 5)
            first = ranking if first is None else first
            same &= np.array_equal(ranking.labels, first.labels) and np.array_equal(ranking.scores, first.scores)
    return {"seconds": found, "same": bool(same)}


class Timed(LdSM):
    """LdSM that notes the rows and the seconds of every node that it splits."""

    def _split(self, x, y, rows, *more):
        start = time.perf_counter()
        split = super()._split(x, y, rows, *more)
        if split is not None:
            self.nodes_.append((rows.size, time.perf_counter() - start))
        return split

    def fit(self, X, Y, *more, **named):
        self.nodes_ = []
        return super().fit(X, Y, *more, **named)


def widened(matrix, width):
    """The same rows, with ids spread over a wider range."""
    ids = np.sort(np.random.default_rng(0).choice(width, matrix.shape[1], replace=False))
    return sp.csr_array(
        (matrix.data, ids[matrix.indices].astype(matrix.indices.dtype), matrix.indptr), shape=(matrix.shape[0], width)
    )


def measure_nodes(job):
    """Time of small nodes, and of all."""
    train_toy(job)
    X, Y = read_rows(job, "train")
    X, Y = widened(X, job["width"]["D"] or X.shape[1]), widened(Y, job["width"]["L"] or Y.shape[1])
    fits = []
    for seed in job["seeds"]:
        model = Timed(**model_of(job, random_state=seed).get_params())
        start = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - start
        rows, each = np.array(model.nodes_, float).reshape(-1, 2).T
        few = rows <= FEW_ROWS
        one = {"seed": seed, "train_s": seconds, "nodes": int(rows.size), "few_nodes": int(few.sum())}
        if few.any():
            one |= {"few_rows": float(rows[few].mean()), "few_s": float(np.median(each[few]))}
        fits.append(one)
    return {"n_features": X.shape[1], "n_labels": Y.shape[1], "fits": fits}


def measure_others(job):
    return mixtures.measure(job, folds)


JOBS = {
    "depth": measure_depth,
    "test": measure_test,
    "folds": measure_folds,
    "others": measure_others,
    "workers": measure_workers,
    "nodes": measure_nodes,
}


# Points of the parts --------------------------------------------------------------------------------------------------


def point(make, params, what="test", model="LdSM", n_jobs=1, seeds=SEEDS, repeat=True, named=None, **more):
    job = {"what": what, "model": model, "params": params, "n_jobs": n_jobs, "seeds": list(seeds), "repeat": repeat}
    return Point(make, job | {"rows": None} | more, {"data": data_name(make)} | (named or {}))


def data_name(make):
    return make.get("load") or (Path(make["read"]).name if "read" in make else "made up")


def plan_reference(options):
    return [
        point(source(one.data, options), REFERENCE | one.params, named={"reference": number})
        for number, one in enumerate(REFERENCES)
    ]


def plan_settings(options):
    points = []
    for name, entry in read_settings(options.settings)["data"].items():

        def add(named, params, name=name, **more):
            points.append(point(source(name, options), params, n_jobs=options.threads, named=named, **more))

        add({"row": "reference settings"}, REFERENCE)
        params = REFERENCE
        for number, step in enumerate(entry["steps"]):
            params = params | step["params"]
            named = {"step": number, "name": step["name"], "changed": step["params"]}
            add(named, params, what="folds", repeat=False)
        add({"row": "chosen"}, chosen_params(entry))
    return points


def chosen_params(entry):
    """Those that the steps lead to, with the trees of the test."""
    changes = [step["params"] for step in entry["steps"]]
    return functools.reduce(operator.or_, changes, REFERENCE) | {"n_estimators": entry.get("test_trees", TEST_TREES)}


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
        ("LdSM, default", "LdSM", {}),
        (f"LdSM, E={LARGE['n_epochs']}, T_max={LARGE['max_nodes']:,}", "LdSM", REFERENCE | LARGE),
        ("PLT, default", "PLT", {}),
    ]
    return [
        point(source(name, options), params, model=model, n_jobs=options.threads, named={"row": row})
        for name in ("wordnet-hyper", PACKAGED)
        for row, model, params in models
    ]


def plan_workers(options):
    return [
        point(source(name, options), REFERENCE | params, what="workers", repeats=WORKER_REPEATS)
        for name, params in WORKER_SETTINGS.items()
    ]


def plan_growth(options):
    base, steps = (QUICK_BASE, growth.QUICK_STEPS) if options.quick else (BASE, growth.STEPS)
    points = {}

    def add(axis, sizes, params):
        key = json.dumps([sizes, params])
        points.setdefault(key, point(sizes, params, named={"axes": []})).named["axes"].append(axis)

    for axis, (name, values) in (QUICK_OWN if options.quick else OWN).items():
        for value in values:
            add(axis, base, BASE_PARAMS | {name: value})
    for axis, name in SIZES.items():
        for step in steps:
            add(axis, base | {name: round(step * base[name])}, BASE_PARAMS)
    params = BASE_PARAMS | {"max_nodes": 10 * BASE_PARAMS["max_nodes"]}  # so that most nodes are small
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
            {"n_attempts": 5} | (FEW_TREES if name in FEWER_EPOCHS else {}),
            what="depth",
            n_jobs=options.threads,
            seeds=(0,),
            repeat=False,
        )
        for name in names
    ]


# Measuring ------------------------------------------------------------------------------------------------------------


def trial(one):
    """The point with fewer rows, trees, passes and nodes: to see that it runs."""
    job = one.job | {"seeds": one.job["seeds"][:1], "repeat": False}
    if "repeats" in job:
        job["repeats"] = 1
    if "axes" not in one.named:  # growth has small data of its own
        job["rows"] = TRIAL["rows"]
        if job["model"] == "LdSM":
            full = LdSM().get_params() | job["params"]
            job["params"] = job["params"] | {name: min(TRIAL[name], full[name]) for name in TRIAL if name in full}
    return one._replace(job=job)


def all_params(job):
    """All parameters of a job's model but those that differ from fit to fit; so defaults are written down too."""
    params = MODELS[job["model"]]().get_params() | job["params"]
    return {name: value for name, value in params.items() if name not in ("random_state", "n_jobs")}


# Tables ---------------------------------------------------------------------------------------------------------------


def of_fits(run, name):
    return [fit[name] for fit in run["fits"]]


def mean_text(run, *names):
    return [report.spread(of_fits(run, name), statistics.fmean, report.points) for name in names]


def settings_text(params):
    """Trees, passes, size and arity, and what else is not as in the reference."""
    params = all_params({"model": "LdSM", "params": params})
    text = (
        f"{params['n_estimators']} {'tree' if params['n_estimators'] == 1 else 'trees'}, E={params['n_epochs']}, "
        f"T_max={params['max_nodes']}, M={params['arity']}"
    )
    usual = LdSM().get_params() | REFERENCE
    said = ("n_estimators", "n_epochs", "max_nodes", "arity")
    others = [f"`{name}={value!r}`" for name, value in params.items() if name not in said and value != usual[name]]
    return ", ".join([text, *others])


def as_words(params):
    return ", ".join(f"`{name}={value!r}`" for name, value in params.items()) or "–"


def seeds_text(part):
    most = max((len(run.get("fits", ())) for run in part["runs"]), default=0)
    return "1 seed" if most == 1 else f"{most} seeds, least and largest in brackets"


def reference_figures(run):
    """PROGRAM_FIGURES of every fit."""
    measures = [of_fits(run, name) for name in PROGRAM_FIGURES[:4]]
    depth = [max(fit["depths"]) for fit in run["fits"]]
    return [*measures, depth, *([fit[name] / fit["n_trees"] for fit in run["fits"]] for name in ("train_s", "ms"))]


def table_reference(part):
    rows = []
    for run in done(part):
        one, found = REFERENCES[run["reference"]], reference_figures(run)
        where = [run["data"], settings_text(run["params"])]
        rows.append(
            where
            + ["xmlcore"]
            + [report.spread(values, statistics.fmean, report.points) for values in found[:4]]
            + [report.spread(found[4], statistics.fmean)]
            + [report.spread(values) for values in found[5:]]
        )
        rows.append([*where, PROGRAM, *(f"{value:.1f}" for value in one.program[:4]), *map(str, one.program[4:])])
        means = [statistics.fmean(values) for values in found[:5]]
        times = [statistics.median(values) for values in found[5:]]
        rows.append(
            [*where, "difference; times: ratio"]
            + [f"{ours - theirs:+.2f}" for ours, theirs in zip(means[:4], one.program)]
            + [f"{means[4] - one.program[4]:+.1f}"]
            + [f"{ours / theirs:.2f}×" for ours, theirs in zip(times, one.program[5:])]
        )
    head = ["data", "settings", "", *PROGRAM_FIGURES[:4], "depth, deepest tree", "s per tree", "ms per row and tree"]
    return (
        f"One thread; means over {seeds_text(part)}; medians for times. λ1=2, λ2=1, learning rate 0.1. The "
        f"{PROGRAM}'s figures were measured by others, once, on another machine's core: differences in precision mean "
        "something, ratios of times a rough size. Below 1× is in favour of xmlcore.\n\n"
        + report.table(head, rows, left=3)
    )


def table_settings(part):
    rows = []
    for name in dict.fromkeys(run["data"] for run in part["runs"]):
        runs = [run for run in done(part, data=name) if "row" in run]
        for run in runs:
            row = [name, run["row"], settings_text(run["params"]), *mean_text(run, *report.PRECISIONS)]
            rows.append([*row, *(report.spread(of_fits(run, value)) for value in ("train_s", "ms"))])
        if name in PAPER:
            paper = PAPER[name]
            rows.append([name, "the paper's table", "50 trees, tuned", *map(report.points, paper), "", ""])
            for run in runs[-1:]:
                means = [statistics.fmean(of_fits(run, measure)) for measure in report.PRECISIONS]
                rows.append([name, f"{run['row']} minus the paper's", "", *map("{:+.2f}".format, minus(means, paper))])
                rows[-1] += ["", ""]
    head = ["data", "", "settings", *report.PRECISIONS, "training s", "ms/row"]
    text = (
        f"**Test rows**: means over {seeds_text(part)}; times with {part['threads']} threads, medians. The paper's "
        "times are of another machine, so they are not here.\n\n" + report.table(head, rows, left=3)
    )
    rows, before = [], {}
    for run in done(part, what="folds"):
        means = [statistics.fmean(of_fits(run, measure)) for measure in report.PRECISIONS]
        gain = minus(means, before[run["data"]]) if run["data"] in before else None
        before[run["data"]] = means
        row = [run["data"], run["name"], as_words(run["changed"]), str(run["fits"][0]["n_trees"])]
        row += map(report.points, means)
        rows.append([*row, "–" if gain is None else " / ".join(map("{:+.2f}".format, gain))])
    for run in done(part, row="chosen"):
        means = [statistics.fmean(of_fits(run, measure)) for measure in report.PRECISIONS]
        row = [run["data"], "test rows, all training rows", "", str(run["fits"][0]["n_trees"])]
        rows.append([*row, *map(report.points, means), ""])
    rows.sort(key=lambda row: [run["data"] for run in part["runs"]].index(row[0]))  # stable
    head = ["data", "step", "changed", "trees", *report.PRECISIONS, "gained over the step before"]
    return text + (
        f"\n\n**What made the difference**: each step keeps the changes of those before it. Means of {N_FOLDS} thirds "
        "of the training rows, each held out once; the test rows had no say.\n\n" + report.table(head, rows, left=3)
    )


def table_others(part):
    return mixtures.table(part, PAPER)


def minus(ours, theirs):
    return [a - b for a, b in zip(ours, theirs)]


def table_beside(part):
    rows = []
    for run in done(part):
        said = settings_text(run["params"]) if run["model"] == "LdSM" else ""
        row = [run["data"], run["row"], said, *mean_text(run, *report.PRECISIONS, "PSP@5", "nDCG@5")]
        row += [report.spread(of_fits(run, name)) for name in ("train_s", "ms")]
        row.append(report.spread([fit["model_bytes"] / 1e6 for fit in run["fits"]]))
        rows.append([*row, report.spread(of_fits(run, "depth"))])
    head = ["data", "", "settings", *report.PRECISIONS, "PSP@5", "nDCG@5", "training s", "ms/row", "model MB", "depth"]
    return (
        f"{part['threads']} threads; means over {seeds_text(part)}, medians for times, size and depth. Model: its "
        "arrays in memory, 1e6 bytes.\n\n" + report.table(head, rows, left=3)
    )


def table_workers(part):
    rows = []
    for run in done(part):
        one, two = run["seconds"]["1"], run["seconds"]["2"]
        ratio = statistics.median(one) / statistics.median(two)
        row = [run["data"], settings_text(run["params"]), report.spread(one), report.spread(two), f"{ratio:.2f}×"]
        rows.append([*row, "yes" if run["same"] else "**no**"])
    head = ["data", "settings", "1 thread, s", "2 threads, s", "speed-up", "predictions identical"]
    return "In turns; medians, least and largest in brackets.\n\n" + report.table(head, rows, left=2)


def growing(run, axis):
    """What grows along an axis."""
    return run[SIZES[axis]] if axis in SIZES else run["params"][OWN[axis][0]]


def median_of(run, name):
    return statistics.median(of_fits(run, name))


GROWS = {
    "training s": lambda run: median_of(run, "train_s"),
    "ms per row": lambda run: median_of(run, "ms"),
}


def on_axis(part, axis):
    return sorted((run for run in done(part) if axis in run["axes"]), key=lambda run: growing(run, axis))


def exponents(part):
    """Fits of :func:`growth.exponent`: (what, against, axis, fit); against the axis itself, or rows at inner nodes."""
    found = []
    for axis in AXIS_TITLES:
        runs = on_axis(part, axis)
        ways = [(what, axis, lambda run, axis=axis: growing(run, axis)) for what in GROWS]
        ways.append(("training s", "rows at inner nodes", lambda run: median_of(run, "inner_rows")))
        for what, against, value in ways:
            fit = growth.exponent([value(run) for run in runs], [GROWS[what](run) for run in runs]) if runs else None
            if fit is not None and not (
                against != axis and axis in ("D", "L", "M")
            ):  # these leave the rows as they are
                found.append((what, against, axis, fit))
    return found


def table_growth(part):
    base = part["base"]
    sizes = ", ".join(f"{axis} = {base[name]:,}" for axis, name in SIZES.items())
    texts = [
        f"One tree, one thread; {sizes}, {base['features_per_row']:g} nonzeros and {base['labels_per_row']:g} labels "
        f"per row, {base['n_test']:,} test rows; {settings_text(BASE_PARAMS)}; medians over {seeds_text(part)}."
        + (" **A trial: small data.**" if part["quick"] else "")
    ]
    rows = [
        [what, against, axis, f"×{report.number(fit['range'], 2)}", growth.as_exponent(fit), growth.as_last(fit)]
        for what, against, axis, fit in exponents(part)
    ]
    if rows:
        head = ["what", "against", "along", "range", "exponent", "last step"]
        texts.append("**Exponents** (± standard error)\n\n" + report.table(head, rows, left=3))
    for axis, title in AXIS_TITLES.items():
        rows = []
        for run in on_axis(part, axis):
            inner = median_of(run, "inner_rows")
            row = [f"{growing(run, axis):,}", *(report.spread([f(run) for f in [value]]) for value in GROWS.values())]
            row += [f"{median_of(run, 'n_nodes'):,.0f}", f"{median_of(run, 'depth'):.0f}"]
            row.append(report.number(inner / run["n_train"]))
            row.append(report.number(1e6 * median_of(run, "train_s") / (inner * run["params"]["n_epochs"])))
            rows.append([*row, f"{statistics.fmean(of_fits(run, 'P@1')):.1f}"])
        if rows:
            head = [axis, *GROWS, "nodes", "depth", "inner nodes that a row is at", "µs per row, node and pass", "P@1"]
            texts.append(f"**{title}**\n\n" + report.table(head, rows, left=0))
    return "\n\n".join([*texts, node_text(part)]).strip()


def node_text(part):
    runs = [run for run in done(part, what="nodes") if any("few_s" in fit for fit in run["fits"])]
    if not runs:
        return ""
    rows, first = [], None
    for run in runs:
        few = [fit for fit in run["fits"] if "few_s" in fit]
        seconds = statistics.median(fit["few_s"] for fit in few)
        first = first or seconds
        row = [run["ids"], f"{run['n_features']:,}", f"{run['n_labels']:,}"]
        row += [f"{statistics.median(fit['few_nodes'] for fit in few):,.0f}"]
        row.append(report.number(statistics.median(fit["few_rows"] for fit in few)))
        row.append(report.spread([1e6 * fit["few_s"] for fit in few]))
        rows.append([*row, f"{seconds / first:.2f}×", report.spread(of_fits(run, "train_s"))])
    head = [
        "ids",
        "D",
        "L",
        "small nodes",
        "rows, mean",
        "µs per small node, median",
        "ratio",
        "training s, whole tree",
    ]
    params = settings_text(runs[0]["params"])
    return (
        f"**Nodes of at most {FEW_ROWS} rows**: the base's rows, their feature and label ids as they are or spread "
        f"over more; {params}. A cost per node that holds D + L would show here. What a training does once, as "
        "numbering features, is in the last column alone.\n\n" + report.table(head, rows, left=1)
    )


def table_depth(part):
    rows, met = [], 0
    for run in done(part):
        least = math.log(max(2, run["labels_with_rows"]), run["params"]["arity"])
        depth, full = (max(max(fit["depths"]) for fit in run[name]) for name in ("fits", "full"))
        within = 1 <= depth / least <= 3
        met += within
        row = [run["data"], f"{run['n_train']:,}", f"{run['labels_with_rows']:,}", f"{least:.1f}"]
        row += [f"{run['chosen']:,}", str(depth), f"{depth / least:.2f}", "yes" if within else "**no**"]
        row += mean_text(run, "P@1")
        row += [f"{run['params']['max_nodes']:,}", str(full), f"{full / least:.2f}"]
        rows.append([*row, *mean_text({"fits": run["full"]}, "P@1")])
    head = [
        "data", "training rows", "L, labels with training rows", "log_M L", "T_max", "depth, deepest tree",
        "depth / log_M L", "within 1 and 3", "P@1", "T_max, full", "depth", "depth / log_M L", "P@1",
    ]  # fmt: skip
    params = settings_text(done(part)[0]["params"]) if rows else ""
    return (
        f"The paper's Figure 2: depth between log_M L and 3 log_M L. Within on {met} of {len(rows)} data sets, with at "
        f"most {NODES_PER_LABEL} nodes per label: beside it, as many as T_max allows, which with few labels are more "
        "than a tree of 3 log_M L levels holds. "
        f"Settings: {params}; {', '.join(FEWER_EPOCHS)} with {settings_text(FEW_TREES)}.\n\n"
        + report.table(head, rows, left=1)
    )


PARTS = {
    "reference": Part("The published program's settings", plan_reference, table_reference),
    "settings": Part("Chosen settings", plan_settings, table_settings),
    "others": Part("Other methods on the same data", plan_others, table_others),
    "beside-plt": Part("Beside PLT", plan_beside, table_beside),
    "workers": Part("More threads", plan_workers, table_workers),
    "growth": Part("As data grows", plan_growth, table_growth),
    "depth": Part("Depth", plan_depth, table_depth),
}


def begin(part, options):
    if part["kind"] == "growth":
        part["base"] = QUICK_BASE if options.quick else BASE


def described(job):
    found = {"n_jobs": job["n_jobs"], "params": all_params(job)}
    return found | ({"others": job["others"]} if "others" in job else {})


STUDY = Study(
    name="trees",
    about=__doc__.split("\n\n")[0],
    parts=PARTS,
    page="ldsm.md",
    trial=f"{TRIAL['rows']:,} rows, few and small trees",
    shorten=trial,
    described=described,
    begun=begin,
    without_trial_line=("growth",),
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
