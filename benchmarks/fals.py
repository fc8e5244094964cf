"""Feature selection for labels: FALS beside its rivals and the paper, its time, its variants, how stable it is.

    python -m benchmarks.fals FOLDER [--part NAME ...] [--quick]
    python -m benchmarks.fals --table FILE

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz, whose rows are joined and split anew, 2:1, by
each seed. Parts: reproduction (the paper's table 3, and its significance test), time (its table 4), scaling (time and
memory as data grows), patterns (figures 2 and 3), share (figure 8), similarity (figure 4), leaves (with other
trees); each is measured on its own and replaces what stood under its name in the results. Every point is measured
in a process of its own. Everything is written to benchmarks/results/features.json and, as tables, to features.md beside
it.
"""

import time

import numpy as np
import scipy.sparse as sp

from benchmarks import scaling
from benchmarks.library import contestant, fals_tables, studies
from benchmarks.library.data import read_part, source
from xmlcore import selection
from xmlcore.datasets import make_synthetic

DATA = ("20ng", "corel5k", "ohsumed", "tmc2007-500", "bibtex", "delicious")
SEEDS = (0, 1, 2, 3, 4)
FEW_SEEDS = (0, 1, 2)
SAMPLED_LABELS, SAMPLED_TREES = 20, 20  # largest number of labels, and of trees, on which forests are timed
TRIAL_ROWS = 400  # number of rows, training and test rows joined, with --quick
SEEDED = ("FALS", "RandomForestSelection")
PATTERN_DATA = ("20ng", "corel5k", "bibtex")
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
SHARE_METHODS = {
    "FALS": ("FALS", {}),
    "FAMS": ("FALS", {"pattern": "FAMS"}),
    "MI": ("MutualInformationSelection", {}),
}
TREES = {  # parameters of the decision trees that are trained on selections
    "until leaves are pure": {},
    "at most 10 levels": {"max_depth": 10},
    "at least 5 rows in a leaf": {"min_samples_leaf": 5},
    "the same, balanced classes": {"min_samples_leaf": 5, "class_weight": "balanced"},
}
LEAF_DATA = ("20ng", "corel5k", "ohsumed", "tmc2007-500", "bibtex")
BASE = {
    "n_train": 8_000, "n_test": 10, "n_features": 1_000, "n_labels": 100, "features_per_row": 30.0,
    "labels_per_row": 3.0,
}  # fmt: skip
QUICK_BASE = BASE | {"n_train": 600, "n_features": 100, "n_labels": 20, "features_per_row": 10.0}
STEPS = (0.25, 0.5, 1.0, 2.0, 4.0)
AXES = {"N": "n_train", "D": "n_features", "L": "n_labels", "H": "n_hidden"}


def joined(job):
    """Return X, Y of all rows of a data set, training and test rows joined.

    With ``job["n_labels"]``, only this many labels are kept, the most frequent, and only rows that have one of them.
    """
    X, Y = (
        sp.csr_array(sp.vstack([read_part(job, f"{name}_{which}") for which in ("train", "test")], format="csr"))
        for name in ("X", "Y")
    )
    if job["rows"] is not None:
        X, Y = X[: job["rows"]], Y[: job["rows"]]
    if job.get("n_labels"):
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        kept = np.sort(np.argsort(-counts, kind="stable")[: job["n_labels"]])
        Y = sp.csr_array(Y[:, kept])
        rows = np.flatnonzero(np.diff(Y.indptr))
        X, Y = X[rows], Y[rows]
    return X, Y


def split(X, Y, seed):
    """Part rows at random: return X, Y of two thirds to train on, and X, Y of a third to measure on."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    cut = round(2 * X.shape[0] / 3)
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    return X[train], Y[train], X[test], Y[test]


def new_selector(how, seed, job, n_features=fals_tables.SHARE):
    """Return a method of selection that is not fitted yet; ``how`` is a pair (class name, parameters) as in METHODS."""
    name, params = how
    more = {"n_features": n_features} | ({"random_state": seed} if name in SEEDED else {})
    if name in ("FALS", "RandomForestSelection", "LassoSelection"):
        more["n_jobs"] = job["threads"]
    return getattr(selection, name)(**more | params)


def compile_kernels(job):
    """Run everything that is measured on tiny data, so that compiling and importing are in none of the times."""
    toy = make_synthetic(n_train=200, n_test=20, n_features=30, n_labels=6, features_per_row=8.0, n_jobs=1)
    for how in fals_tables.METHODS.values():
        selected = None if how is None else new_selector(how, 0, job).fit(toy.X_train, toy.Y_train).selected_
    judge_selection(job, toy.X_train, toy.Y_train, toy.X_test, toy.Y_test, selected, seed=0)


def judge_selection(job, X, Y, X_test, Y_test, selected, seed):
    """Train decision trees on a selection (None: on all features) and measure them on the test rows.

    Returns a dict: "trees_s" and "predict_s" (seconds), "nodes" of all trees, and "measures" by name.
    """
    start = time.perf_counter()
    trees = selection.BRDT(selected, n_jobs=job["threads"], random_state=seed, **job.get("trees", {})).fit(X, Y)
    middle = time.perf_counter()
    scores, labels = trees.predict_proba(X_test), trees.predict(X_test)
    end = time.perf_counter()
    return {
        "trees_s": middle - start,
        "predict_s": end - middle,
        "nodes": int(trees.n_nodes_.sum()),
        "measures": {name: how(Y_test, scores, labels) for name, (how, _) in fals_tables.MEASURES.items()},
    }


def measure_judge(job):
    """Select features on the training rows of each split, train decision trees on them, and measure on its test rows.

    Returns {"fits": a dict for each seed, "n_rows": number of rows}. The dict has "seed", "select_s" (seconds), and
    what :func:`judge_selection` returns.
    """
    compile_kernels(job)
    rows, fits = joined(job), []
    for seed in job["seeds"]:
        X, Y, X_test, Y_test = split(*rows, seed)
        start, selected = time.perf_counter(), None
        if job["how"] is not None:
            selected = new_selector(job["how"], seed, job).fit(X, Y).selected_
        seconds = time.perf_counter() - start
        fits.append({"seed": seed, "select_s": seconds} | judge_selection(job, X, Y, X_test, Y_test, selected, seed))
    return {"fits": fits, "n_rows": rows[0].shape[0]}


def measure_share(job):
    """Do what :func:`measure_judge` does, for larger and larger parts of one selection, the best features first.

    Returns {"fits": a dict for each seed}, with "seed" and "shares": measures for each share of all features.
    """
    compile_kernels(job)
    rows, fits = joined(job), []
    for seed in job["seeds"]:
        X, Y, X_test, Y_test = split(*rows, seed)
        measures = {}
        if job["how"] is None:
            measures["1"] = judge_selection(job, X, Y, X_test, Y_test, None, seed)["measures"]
        else:
            selected = new_selector(job["how"], seed, job, max(job["shares"])).fit(X, Y).selected_
            for share in job["shares"]:
                k = max(1, round(share * X.shape[1]))
                measures[f"{share:g}"] = judge_selection(job, X, Y, X_test, Y_test, selected[:, :k], seed)["measures"]
        fits.append({"seed": seed, "shares": measures})
    return {"fits": fits}


def fit_selector(how, job, X, Y, seed=0):
    """Fit a method of selection; return it and the seconds that this took."""
    selector = new_selector(how, seed, job)
    start = time.perf_counter()
    selector.fit(X, Y)
    return selector, time.perf_counter() - start


def measure_time(job):
    """Time all methods of selection; FALS comes first and last, so that a slow minute hits all alike.

    Forests are trained for some labels, or with some trees, and their time is multiplied accordingly. Returns a dict:
    "fals_s" (seconds of each run of FALS), "seconds" of the other methods, "labels_timed" and "trees_timed" of forests.
    """
    compile_kernels(job)
    X, Y, _, _ = split(*joined(job), 0)
    fals_s = [fit_selector(("FALS", {}), job, X, Y, seed)[1] for seed in job["seeds"]]
    seconds = {name: fit_selector(fals_tables.METHODS[name], job, X, Y)[1] for name in ("LASSO", "chi²", "MI")}
    counts = np.asarray(Y.sum(axis=0)).ravel()
    order = np.argsort(-counts, kind="stable")
    n_sampled = min(job["n_sampled"], order.size)
    at = (np.arange(n_sampled) + 0.5) * order.size / n_sampled  # from the most to the least frequent
    some = np.sort(order[at.astype(int)])
    forest = ("RandomForestSelection", {"n_estimators": job["n_trees"]})
    seconds["RF"] = fit_selector(forest, job, X, Y[:, some])[1] * order.size / n_sampled
    n_trees = min(job["n_sampled_trees"], job["n_trees"])
    together = ("RandomForestSelection", {"n_estimators": n_trees, "per_label": False})
    seconds["RF, one set"] = fit_selector(together, job, X, Y)[1] * job["n_trees"] / n_trees
    fals_s += [fit_selector(("FALS", {}), job, X, Y, seed)[1] for seed in job["seeds"]]
    return {"fals_s": fals_s, "seconds": seconds, "labels_timed": n_sampled, "trees_timed": n_trees}


def measure_fals(job):
    """Train and score FALS with each seed, and measure the seconds of each phase, and memory.

    Returns
    -------
    dict
        "fits": "seed", "s" (seconds), "phases" (seconds), "order", "scoring" and "n_hidden" for each seed. "n_rows",
        "D" and "L" are the size of the data. "memory_before" and "memory_peak" are bytes, where the system tells.
    """
    compile_kernels(job)
    X, Y = joined(job) if job["joined"] else (read_part(job, f"{name}_train") for name in ("X", "Y"))
    contestant.settle_memory()
    reset, before = contestant.reset_peak(), contestant.memory_now()
    fits = []
    for seed in job["seeds"]:
        one = selection.FALS(fals_tables.SHARE, random_state=seed, n_jobs=job["threads"], **job["params"])
        phases = scaling.Phases()
        start = time.perf_counter()
        one.fit(X, Y, progress=phases)
        end = time.perf_counter()
        fits.append({"seed": seed, "s": end - start, "phases": phases.seconds(start, end)})
        fits[-1] |= {"order": one.order_, "scoring": one.scoring_, "n_hidden": one.layer_sizes_[1]}
    found = {"fits": fits, "n_rows": X.shape[0], "D": X.shape[1], "L": Y.shape[1]}
    if before is not None and reset:
        found |= {"memory_before": before[0], "memory_peak": contestant.memory_now()[1]}
    return found


def measure_similarity(job):
    """Select on one split by FALS with several seeds, by its variants and its rivals, and compare the selections.

    Returns {"methods": quantiles and mean, over labels, of the agreement of each method with FALS; "k": features per
    label}. The agreement of "FALS" is that between its seeds.
    """
    compile_kernels(job)
    X, Y, _, _ = split(*joined(job), 0)
    fitted = {"FALS": [fit_selector(("FALS", {}), job, X, Y, seed)[0] for seed in job["seeds"]]}
    found = {}
    others = {name: ("FALS", params) for name, params in fals_tables.VARIANTS.items() if params} | {
        name: how for name, how in fals_tables.METHODS.items() if how is not None and name != "FALS"
    }
    for name, how in {"FALS": None, **others}.items():
        if how is not None:
            fitted[name] = [
                fit_selector(how, job, X, Y, seed=len(job["seeds"]))[0]
            ]  # a seed that is not among those of FALS
        frame = selection.agreement({one: fitted[one] for one in {"FALS", name}}, per_label=True)
        pairs = frame[(frame["a"] == "FALS") != (frame["b"] == "FALS")] if how is not None else frame
        found[name] = {
            what: pairs[what].dropna().quantile([0.05, 0.25, 0.5, 0.75, 0.95]).tolist() + [pairs[what].mean()]
            for what in ("jaccard", "spearman")
        }
        if how is not None:
            del fitted[name]
    return {"methods": found, "k": int(fitted["FALS"][0].n_selected_)}


JOBS = {
    "judge": measure_judge,
    "share": measure_share,
    "time": measure_time,
    "fals": measure_fals,
    "similarity": measure_similarity,
}


def point(what, make, options, seeds, named, **more):
    """Return a point of the study: what to measure (a key of JOBS), on which data, with which seeds."""
    job = {"what": what, "model": "FALS", "rows": None, "threads": options.threads, "seeds": list(seeds)} | more
    return studies.Point(make, job, named)


def some(names, options):
    """Return the data sets of a part; only two of them in a trial."""
    return names[:2] if options.quick else names


def plan_reproduction(options):
    """Return the points of the paper's table 3: each data set and method."""
    return [
        point("judge", source(name, options), options, SEEDS, {"data": name, "method": method}, how=how)
        for name in some(DATA, options)
        for method, how in fals_tables.METHODS.items()
    ]


def plan_time(options):
    """Return the points that time the methods, and FALS on the first labels of a larger data set."""
    more = {"n_trees": fals_tables.FOREST, "n_sampled": SAMPLED_LABELS, "n_sampled_trees": SAMPLED_TREES}
    points = [
        point("time", source(name, options), options, (0, 1), {"data": name}, **more) for name in some(DATA, options)
    ]
    cut = {"params": {}, "joined": True, "n_labels": fals_tables.CUT[1]}
    return [
        *points,
        point("fals", source(fals_tables.CUT[0], options), options, (0,), {"data": fals_tables.CUT[0]}, **cut),
    ]


def plan_scaling(options):
    """Return the points that measure FALS on made-up data whose rows, features, labels or hidden units grow."""
    base, points = QUICK_BASE if options.quick else BASE, {}
    hidden = round((base["n_features"] * base["n_labels"]) ** 0.5)
    for axis, name in AXES.items():
        for step in STEPS:
            sizes, params = dict(base), {"n_hidden": hidden, "scoring": "exact"}
            target = params if axis == "H" else sizes
            target[name] = round(step * target[name])
            key = tuple(sizes.values()) + tuple(params.values())
            if key not in points:
                points[key] = point(
                    "fals", sizes, options, FEW_SEEDS, {"data": "made up", "axes": []}, params=params, joined=False
                )
            points[key].named["axes"].append(axis)
    return sorted(points.values(), key=lambda one: one.make != base)


def plan_patterns(options):
    """Return the points that measure the variants of FALS: one for each data set and variant."""
    return [
        point(
            "judge", source(name, options), options, FEW_SEEDS, {"data": name, "method": variant}, how=("FALS", params)
        )
        for name in some(PATTERN_DATA, options)
        for variant, params in fals_tables.VARIANTS.items()
    ]


def plan_share(options):
    """Return the points that measure larger and larger parts of a selection."""
    return [
        point(
            "share", source(name, options), options, FEW_SEEDS, {"data": name, "method": method}, how=how,
            shares=list(SHARES),
        )
        for name in some(PATTERN_DATA, options)
        for method, how in {fals_tables.ALL: None, **SHARE_METHODS}.items()
    ]  # fmt: skip


def plan_leaves(options):
    """Return the points that judge selections by other decision trees."""
    return [
        point(
            "judge", source(name, options), options, FEW_SEEDS, {"data": name, "method": method, "trees": trees},
            how=fals_tables.METHODS[method], trees=params,
        )
        for name in some(LEAF_DATA, options)
        for trees, params in TREES.items()
        for method in (fals_tables.ALL, "FALS")
    ]  # fmt: skip


def plan_similarity(options):
    """Return the points that compare selections with each other."""
    return [point("similarity", source(name, options), options, SEEDS, {"data": name}) for name in ("20ng", "bibtex")]


def trial(one):
    """Return a smaller point for a trial: few rows, two seeds, few trees."""
    job = one.job | {"rows": TRIAL_ROWS, "seeds": one.job["seeds"][:2]}
    if one.job["what"] == "time":
        job |= {"n_trees": 4, "n_sampled": 5, "n_sampled_trees": 2}
    if one.job["what"] == "share":
        job["shares"] = [0.1, 0.7]
    if one.job.get("n_labels"):
        job["n_labels"] = 50
    return one._replace(job=job)


PARTS = {
    "reproduction": studies.Part(
        "FALS beside all features and rivals", plan_reproduction, fals_tables.table_reproduction
    ),
    "time": studies.Part("Seconds", plan_time, fals_tables.table_time),
    "scaling": studies.Part("As data grows", plan_scaling, fals_tables.table_scaling),
    "patterns": studies.Part("Patterns and variants", plan_patterns, fals_tables.table_patterns),
    "share": studies.Part("More features", plan_share, fals_tables.table_share),
    "similarity": studies.Part("How alike selections are", plan_similarity, fals_tables.table_similarity),
    "leaves": studies.Part("Other trees", plan_leaves, fals_tables.table_leaves),
}
STUDY = studies.Study(
    name="fals",
    about=__doc__.split("\n\n")[0],
    parts=PARTS,
    trial=f"{TRIAL_ROWS:,} rows of two data sets, two seeds, small forests",
    shorten=trial,
    pictures=fals_tables.pictures,
    described=lambda job: {
        key: value for key, value in job.items() if key in ("how", "params", "shares", "n_trees", "n_labels")
    },
)


if __name__ == "__main__":
    studies.main(STUDY, JOBS, studies.read_options(STUDY))
