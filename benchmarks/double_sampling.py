"""Double sampling: its numbers and extensions, beside other methods, by class frequency, and as classes grow.

    python -m benchmarks.double_sampling FOLDER [--part NAME ...] [--rivals PYTHON] [--quick]
    python -m benchmarks.double_sampling --table FILE

FOLDER holds data sets of classes, each a folder with train.txt.gz and test.txt.gz. Parts: choose (adversaries, examples
per class and candidates, on held-out training rows), extensions (what is not in the paper, there too), beside (test
rows, with what "choose" and "extensions" found) and scaling; each is measured on its own and replaces what stood
under its name in the results. PYTHON is the interpreter of an environment with the other libraries, as for
benchmarks.compare. Every point is measured in a process of its own. Everything is written to
benchmarks/results/sampling.json and, as tables, to sampling.md beside it.
"""

import math
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from benchmarks import compare
from benchmarks.library import contestant, files, scaling_tables, studies, tables
from benchmarks.library.data import prepare, read_rows, source
from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, metrics
from xmlcore.datasets import Dataset
from xmlcore.models.base import warm_up

MODELS = {"DoubleSampling": DoubleSampling, "PLT": PLT, "LdSM": LdSM, "OneVsRest": OneVsRest}
DATA = ("wordnet-class", "aloi", "20ng")
COUNTS_OF_WORDS = ("wordnet-class", "20ng")  # linear models get tf-idf there
SPLITS = (0, 1)
SEEDS = (0, 1, 2)
HELD_OUT = 0.2  # share of the training rows on which settings are measured
KAPPAS = (1, 3, 10, 30, 122)  # numbers κ of adversaries of an example; 122 is the paper's largest
PER_CLASS = {"wordnet-class": (1.0, 2.0, 5.0), "aloi": (2.0, 20.0, 50.0), "20ng": (2.0, 20.0, 200.0)}
QS = (1, 3, 5, 10, 20)  # numbers of candidates, q
EXTENSIONS_PER_CLASS = {"wordnet-class": 2.0, "aloi": 20.0, "20ng": 200.0}  # half of what a class has, or less
MOST_PAIRS = {"wordnet-class": 300, "aloi": 1_000, "20ng": 4_000}  # largest κ times examples per class in the grid
FREQUENCIES = ((1, 1), (2, 3), (4, 9), (10, 29), (30, math.inf))  # training rows of a class
CANDIDATES, EXTENDED, FROM_PLT = {"adversaries": "candidates"}, {"features": "extended"}, {"candidates_from": "plt"}
LARGE_COUNT = {"balanced": False}
PAPER = "paper's settings"
VARIANTS = {  # within what the paper leaves open
    PAPER: {},
    "linear SVM": {"loss": "squared_hinge"},
    "counts instead of tf-idf": {"weighting": "counts"},
    "Euclidean, counts": {"weighting": "counts", "distance": "euclidean"},
}
EXTENSIONS = {
    "leave one out": {"leave_one_out": True},
    "adversaries from candidates": CANDIDATES,
    "adversaries from candidates, not balanced": CANDIDATES | LARGE_COUNT,
    "more features": EXTENDED,
    "more features, leave one out": EXTENDED | {"leave_one_out": True},
    "more features, adversaries from candidates": EXTENDED | CANDIDATES,
    "more features, adversaries from candidates, not balanced": EXTENDED | CANDIDATES | LARGE_COUNT,
    "PLT": FROM_PLT,
    "PLT, adversaries from candidates": FROM_PLT | CANDIDATES,
    "PLT, more features, adversaries from candidates": FROM_PLT | EXTENDED | CANDIDATES,
    "PLT, more features, adversaries from candidates, not balanced": FROM_PLT | EXTENDED | CANDIDATES | LARGE_COUNT,
}
RIVALS = {
    "napkinXC PLT": ("napkinxc", {}),
    "omikuji, 1 tree": ("omikuji", {"n_trees": 1}),
    "omikuji, 3 wide trees": ("omikuji", compare.BONSAI),
    "PECOS XR-Linear": ("libpecos", {}),
}
ONE_VS_REST = {"loss": "squared_hinge", "C": 1.0}
LDSM = {"max_nodes": 20_000, "n_epochs": 5, "n_attempts": 5}  # enough nodes to give each class a leaf
GROWN = (1_000, 3_200, 10_000, 32_000, 100_000)  # numbers of classes
GROWN_QUICK = (300, 600, 1_200)
GROWING = {"features_per_row": 20.0, "labels_per_row": 1.0, "label_exponent": 0.6}
ROWS_PER_CLASS = 4
TRIAL_ROWS = 800


def tf_idf(X, X_test):
    """Return both matrices as tf-idf, with rows of length 1; document frequencies are those of the rows of X."""
    from sklearn.feature_extraction.text import TfidfTransformer

    scale = TfidfTransformer().fit(X)
    return tuple(sp.csr_array(scale.transform(sp.csr_matrix(x)).astype(np.float32)) for x in (X, X_test))


def read_data(job):
    """Return X, Y of the training rows and X, Y of the test rows, as tf-idf where the job says so."""
    (X, Y), (X_test, Y_test) = read_rows(job, "train"), read_rows(job, "test")
    if job.get("tf_idf"):
        X, X_test = tf_idf(X, X_test)
    return X, Y, X_test, Y_test


def compile_kernels(job, **params):
    """Train a tiny model with the settings of the job, so that compiling kernels is in none of the measured times."""
    warm_up(model_of(job, **params))


def model_of(job, **params):
    """Return a new model with the parameters of the job; ``params`` replace some of them.

    What a job does not say is as in the paper for double sampling, and the default for other models.
    """
    params = job["params"] | {"n_jobs": job["threads"]} | params
    return (
        DoubleSampling.preset("paper", **params) if job["model"] == "DoubleSampling" else MODELS[job["model"]](**params)
    )


def quality(Y_test, predicted):
    """Return accuracy and macro-F1, in percent, of predicting one class for each row."""
    return {
        "accuracy": 100 * metrics.accuracy(Y_test, predicted),
        "macro_f1": 100 * metrics.macro_f1(Y_test, predicted),
    }


def by_frequency(Y, Y_test, predicted):
    """Measure predictions separately for classes of few and of many training rows.

    Returns a list of dicts, one per entry of FREQUENCIES: "rows" and "classes", the numbers of test rows and of their
    classes, and if there are any, "accuracy" and "macro_f1" in percent.
    """
    n_train = np.bincount(Y.indices, minlength=Y.shape[1])
    in_test = np.bincount(Y_test.indices, minlength=Y.shape[1])
    groups = []
    for fewest, most in FREQUENCIES:
        of_group = (n_train >= fewest) & (n_train <= most)
        group = {"rows": int(in_test[of_group].sum()), "classes": int(np.count_nonzero(in_test[of_group]))}
        if group["rows"]:
            group["accuracy"] = 100 * metrics.accuracy(Y_test, predicted, of_group)
            group["macro_f1"] = 100 * metrics.macro_f1(Y_test, predicted, of_group)
        groups.append(group)
    return groups


def recall(model, X, Y, q):
    """Return the share of pairs (row, class of the row) whose class is among the row's q candidates, in percent."""
    candidates = model.candidates(X, q)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return 100 * float((candidates[rows] == Y.indices[:, None]).any(axis=1).mean())


def held_out(X, Y, split):
    """Part the training rows at random; return X, Y of those to train on and X, Y of those to measure on."""
    order = np.random.default_rng([7, split]).permutation(X.shape[0])
    n = round(HELD_OUT * X.shape[0])
    kept, held = np.sort(order[n:]), np.sort(order[:n])
    return X[kept], Y[kept], X[held], Y[held]


def measure_grid(job):
    """Fit each setting of the grid on part of the training rows, and measure it on the rest.

    Returns
    -------
    dict
        "fits": a dict for each setting, split and number of candidates. It has "params", "split", "q" (number of
        candidates), "train_s" (seconds), "ms" (milliseconds of prediction per row), "recall" (see :func:`recall`),
        "risk" (share of training pairs that the model orders wrongly) and what :func:`quality` returns.
    """
    X, Y, _, _ = read_data(job)
    fits = []
    for params in job["grid"]:
        compile_kernels(job, **params)
        for split in job["splits"]:
            X_fit, Y_fit, X_held, Y_held = held_out(X, Y, split)
            model = model_of(job, random_state=split, **params)  # the number of the split is the seed too
            start = time.perf_counter()
            model.fit(X_fit, Y_fit)
            seconds = time.perf_counter() - start
            rows = np.repeat(np.arange(Y_held.shape[0]), np.diff(Y_held.indptr))
            # Candidates come nearest class first, so the first q columns are the candidates for q.
            is_label = model.candidates(X_held, max(job["qs"]))[rows] == Y_held.indices[:, None]
            for q in job["qs"]:
                start = time.perf_counter()
                predicted = model.predict_topk(X_held, 1, n_candidates=q).labels[:, 0]
                ms = 1000 * (time.perf_counter() - start) / X_held.shape[0]
                entry = {"params": params, "split": split, "q": q, "train_s": seconds, "ms": ms}
                entry |= {"recall": 100 * float(is_label[:, :q].any(axis=1).mean()), "risk": model.empirical_risk_}
                fits.append(entry | quality(Y_held, predicted))
    return {"fits": fits}


def measure_test(job):
    """Train on all training rows with each seed, and measure on the test rows.

    Returns
    -------
    dict
        "fits": a dict for each seed. It has "train_s" (seconds), "ms" (milliseconds of prediction per row),
        "model_bytes", "memory" (bytes, where the system tells), what :func:`quality` and :func:`by_frequency` return,
        and for double sampling "recall", "risk" and "weights" of the features.
    """
    compile_kernels(job)
    X, Y, X_test, Y_test = read_data(job)
    fits = []
    for seed in job["seeds"]:
        model = model_of(job, **({} if job["model"] == "OneVsRest" else {"random_state": seed}))
        contestant.settle_memory()
        reset, before = contestant.reset_peak(), contestant.memory_now()
        start = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - start
        model.predict_topk(X_test[:50], 1)  # what is made once per model is not timed
        start = time.perf_counter()
        predicted = model.predict_topk(X_test, 1).labels[:, 0]
        ms = 1000 * (time.perf_counter() - start) / X_test.shape[0]
        after = contestant.memory_now()
        entry = {"seed": seed, "train_s": seconds, "ms": ms, "model_bytes": model.size().get("model_bytes")}
        if reset and before and after:
            entry["memory"] = after[1] - before[0]  # the peak, beyond what was in use before the training
        if job["model"] == "DoubleSampling":
            entry |= {"recall": recall(model, X_test, Y_test, model.n_candidates), "risk": model.empirical_risk_}
            entry["weights"] = dict(zip(model.feature_names_, (model.weights_ * model.feature_scale_).tolist()))
        fits.append(entry | quality(Y_test, predicted) | {"frequencies": by_frequency(Y, Y_test, predicted)})
    return {"fits": fits}


def measure_rival(job):
    """Measure another library in its own Python environment; it gets rows of Euclidean length 1, as text or npz.

    Returns {"fits": a list of one dict}, with fields as :func:`measure_test` has them.
    """
    X, Y, X_test, Y_test = read_data(job)
    data = Dataset("data", X, Y, X_test, Y_test)
    library, params = RIVALS[job["model"]]
    options = SimpleNamespace(threads=job["threads"], timeout=3600)
    contestant = compare.Contestant(job["model"], library, "single", params)
    with tempfile.TemporaryDirectory(prefix="xmlcore-sampling-") as temporary:
        folder = Path(temporary)
        prepare(data, folder / "data", texts=library == "omikuji")
        asked = {
            "library": library, "params": params, "seed": 0, "threads": job["threads"],
            "data": str(folder / "data"), "n_labels": Y.shape[1],
        }  # fmt: skip
        found, labels = compare.run_once(job["rivals"], contestant, asked, folder / "run", options, None)
    if found["failed"]:
        raise SystemExit(f"{job['model']}: {found['failed']}")
    search = "exact" if "exact" in labels else next(iter(labels))
    predicted = labels[search][:, 0]
    entry = {"train_s": found["train_s"], "ms": min(way["ms_per_row"] for way in found["searches"][search])}
    if "memory_peak" in found:
        entry["memory"] = found["memory_peak"] - found["memory_before"]
    entry |= quality(Y_test, predicted) | {"frequencies": by_frequency(Y, Y_test, predicted)}
    return {"fits": [entry]}


JOBS = {"grid": measure_grid, "test": measure_test, "rival": measure_rival}


def point(what, name, options, model="DoubleSampling", params=None, setting="", **more):
    """Return a point of the study: what to measure (a key of JOBS), on which data, with which model and settings."""
    job = {"what": what, "model": model, "params": params or {}, "threads": options.threads} | more
    job |= {"rows": TRIAL_ROWS if options.quick else None}
    job["tf_idf"] = what == "rival" or model in ("PLT", "OneVsRest", "LdSM")
    job["tf_idf"] = job["tf_idf"] and name in COUNTS_OF_WORDS
    return studies.Point(source(name, options), job, named={"data": name, "setting": setting})


def plan_choose(options):
    """Return the points that measure settings of the paper's method on held-out rows."""
    kappas = KAPPAS[:2] if options.quick else KAPPAS
    points = []
    for name in DATA:
        grid = [
            {"n_adversarial": kappa, "examples_per_class": examples}
            for kappa in kappas
            for examples in PER_CLASS[name]
            if kappa * examples <= MOST_PAIRS[name]
        ]
        if name == "20ng":
            grid = [params for params in grid if params["n_adversarial"] < 20]  # its classes
        points += [point("grid", name, options, grid=[params], splits=SPLITS, qs=QS) for params in grid]
    return points


def plan_extensions(options):
    """Return the points that measure what is not in the paper on held-out rows."""
    return [
        point(
            "grid",
            name,
            options,
            setting=setting,
            splits=SPLITS,
            qs=QS,
            grid=[{"examples_per_class": EXTENSIONS_PER_CLASS[name]} | params],
        )
        for name in DATA
        for setting, params in (VARIANTS | EXTENSIONS).items()
    ]


def chosen(options):
    """Return {data: {"chosen": params, "extended": params}}: the settings with the best measures on held-out rows.

    What has not been measured is left out.
    """
    parts = files.read_json(options.out).get("parts", {})
    found = {}
    for kind, name in (("chosen", "choose"), ("extended", "extensions")):
        for data in DATA:
            runs = studies.done(parts[name], data=data) if name in parts else []
            runs = [run for run in runs if kind == "chosen" or run["setting"] in EXTENSIONS]
            if runs:
                best = max(settings_of(runs), key=lambda one: one["accuracy"] + one["macro_f1"])
                found.setdefault(data, {})[kind] = best["params"] | {"n_candidates": best["q"]}
    return found


def settings_of(runs):
    """Return a dict for each setting and number of candidates, with the means of its measures over the splits."""
    groups = {}
    for run in runs:
        for fit in run["fits"]:
            groups.setdefault((run["setting"], str(fit["params"]), fit["q"]), []).append(fit)
    numbers = ("accuracy", "macro_f1", "recall", "train_s", "ms", "risk")
    return [
        {"setting": setting, "q": q, "params": fits[0]["params"], "splits": len(fits)}
        | {name: statistics.fmean(fit[name] for fit in fits) for name in numbers}
        for (setting, _, q), fits in groups.items()
    ]


def plan_beside(options):
    """Return the points that measure double sampling and other methods on test rows."""
    found = chosen(options)
    points = []
    for name in DATA:
        both = found.get(name, {})
        points.append(point("test", name, options, setting=PAPER, seeds=SEEDS))
        points += [
            point("test", name, options, params=both[kind], setting=kind, seeds=SEEDS)
            for kind in ("chosen", "extended")
            if kind in both
        ]
        points.append(point("test", name, options, "PLT", setting="default", seeds=SEEDS[:1]))
        wide = {"n_estimators": 3, "arity": 16}
        points.append(point("test", name, options, "PLT", wide, "3 trees of arity 16", seeds=SEEDS[:1]))
        points.append(point("test", name, options, "LdSM", LDSM, "20,000 nodes", seeds=SEEDS[:1]))
        points.append(point("test", name, options, "OneVsRest", ONE_VS_REST, "liblinear, C = 1", seeds=SEEDS[:1]))
        if options.rivals is not None:
            points += [point("rival", name, options, rival, rivals=str(options.rivals)) for rival in RIVALS]
    return points


def plan_scaling(options):
    """Return the points that measure double sampling on made-up data of more and more classes."""
    points = []
    for K in GROWN_QUICK if options.quick else GROWN:
        make = GROWING | {
            "n_train": ROWS_PER_CLASS * K, "n_test": 2_000, "n_labels": K, "n_features": max(1000, 2 * K),
        }  # fmt: skip
        job = point("test", "wordnet-class", options, seeds=SEEDS[:2], setting=PAPER).job | {"rows": None}
        points.append(studies.Point(make, job, named={"data": f"synthetic {K}", "setting": PAPER, "K": K}))
    return points


def percent(value):
    """Return a percentage as text, a dash if it is unknown."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.1f}"


def mean_of(run, name):
    """Return the mean of a measure over the fits of a run; None if no fit has it."""
    values = [fit[name] for fit in run["fits"] if fit.get(name) is not None]
    return statistics.fmean(values) if values else None


def spread(run, name):
    """Return the mean of a measure over the fits of a run as text, with the smallest and the largest if they differ."""
    values = [fit[name] for fit in run["fits"] if fit.get(name) is not None]
    if not values:
        return "–"
    low, high = percent(min(values)), percent(max(values))
    return low if low == high else f"{percent(statistics.fmean(values))} ({low} to {high})"


def table_choose(part):
    """Return the tables of the part "choose" as Markdown, one per data set."""
    parts = []
    for data in DATA:
        found = settings_of(studies.done(part, data=data))
        if not found:
            continue
        best = max(found, key=lambda one: one["accuracy"] + one["macro_f1"])
        head = ["κ", "examples per class", *(f"q = {q}" for q in QS), "training s"]
        groups = {}
        for one in found:
            groups.setdefault(str(one["params"]), []).append(one)
        rows = []
        for ones in groups.values():
            ones.sort(key=lambda one: one["q"])
            row = [str(ones[0]["params"]["n_adversarial"]), f"{ones[0]['params']['examples_per_class']:g}"]
            for one in ones:
                cell = f"{percent(one['accuracy'])} / {percent(one['macro_f1'])}"
                row.append(f"**{cell}**" if one is best else cell)
            rows.append([*row, tables.seconds(ones[0]["train_s"])])
        recalls = ", ".join(
            f"{percent(one['recall'])} % among {one['q']}" for one in sorted(groups[str(best["params"])], key=by_q)
        )
        parts.append(
            f"**{data}**: accuracy / macro-F1 on a held-out fifth of the training rows, percent, mean of "
            f"{best['splits']} splits. Own class: {recalls}. Bold: largest sum, taken.\n\n{tables.table(head, rows)}"
        )
    return "\n\n".join(parts)


def by_q(one):
    """Return the number of candidates of an entry of :func:`settings_of`; a key for sorting."""
    return one["q"]


def table_extensions(part):
    """Return the tables of the part "extensions" as Markdown, one per data set."""
    parts = []
    for data in DATA:
        found = settings_of(studies.done(part, data=data))
        if not found:
            continue
        mine = [one for one in found if one["setting"] in EXTENSIONS]
        best = max(mine, key=lambda one: one["accuracy"] + one["macro_f1"]) if mine else None
        rows = []
        for setting in VARIANTS | EXTENSIONS:
            ones = sorted((one for one in found if one["setting"] == setting), key=by_q)
            if not ones:
                continue
            row = [setting]
            for one in ones:
                cell = f"{percent(one['accuracy'])} / {percent(one['macro_f1'])}"
                row.append(f"**{cell}**" if one is best else cell)
            at_10 = next((one for one in ones if one["q"] == 10), ones[-1])
            row += [percent(at_10["recall"]), f"{100 * at_10['risk']:.2g}"]
            rows.append([*row, tables.seconds(at_10["train_s"]), f"{at_10['ms']:.2f}"])
        head = ["setting", *(f"q = {q}" for q in QS), "own class among 10, %", "training pairs wrong, %"]
        head += ["training s", "ms per row, q = 10"]
        parts.append(
            f"**{data}**, {EXTENSIONS_PER_CLASS[data]:g} examples per class: accuracy / macro-F1 on a held-out fifth "
            f"of the training rows, percent, mean of {found[0]['splits']} splits. Bold: largest sum among what is not "
            "in the paper, taken as “extended”.\n\n"
            f"{tables.table(head, rows)}"
        )
    return "\n\n".join(parts)


def named(run):
    """Return the name of a run's model and setting, as tables show it."""
    if run["what"] == "rival":
        return run["model"]
    return f"{run['model']}, {run['setting']}" if run["setting"] else run["model"]


def params_said(part):
    """Return a Markdown list of the parameters that "chosen" and "extended" stand for on each data set."""
    said = []
    for run in studies.done(part):
        if run["setting"] in ("chosen", "extended"):
            params = ", ".join(f"{name}={value!r}" for name, value in run["params"].items())
            said.append(f"- {run['data']}, {run['setting']}: {params}")
    return "\n".join(said)


def table_beside(part):
    """Return the tables of the part "beside" as Markdown: all methods, then classes by frequency."""
    parts = []
    for data in DATA:
        runs = studies.done(part, data=data)
        base = next((run for run in runs if run["model"] == "OneVsRest"), None)
        rows = []
        for run in runs:
            seconds, ms, memory = (mean_of(run, name) for name in ("train_s", "ms", "memory"))
            row = [named(run), spread(run, "accuracy"), spread(run, "macro_f1"), spread(run, "recall")]
            row += [tables.seconds(seconds), f"{ms:.3f}", "–" if memory is None else tables.mebibytes(memory)]
            if base is not None:
                row += [f"{mean_of(base, 'train_s') / seconds:,.1f}×", f"{mean_of(base, 'ms') / ms:.2f}×"]
            rows.append(row)
        if rows:
            head = ["", "accuracy, %", "macro-F1, %", "own class among candidates, %", "training s", "ms per row"]
            head += ["memory, MiB", *(["training, times faster", "prediction"] if base is not None else [])]
            parts.append(f"**{data}**\n\n{tables.table(head, rows)}")
    return "\n\n".join(
        [
            "Test rows; mean (least to greatest) over seeds where there are several. Memory: peak beyond what the "
            "data take. Linear models and trees get tf-idf where the data are counts of words; double sampling gets "
            "the counts. The last two columns: how many times faster than one-vs-rest, in this run.",
            params_said(part),
            *parts,
            frequency_tables(part),
        ]
    )


def frequency_tables(part):
    """Return tables of accuracy and macro-F1 by how many training rows a class has; an empty text without results."""
    runs = [run for run in studies.done(part, data="wordnet-class") if "frequencies" in run["fits"][0]]
    if not runs:
        return ""
    head = ["training rows of the class", *(frequency_said(*one) for one in FREQUENCIES)]
    parts = []
    for name, said in (("accuracy", "Accuracy"), ("macro_f1", "Macro-F1")):
        rows = [["classes / rows in test", *(f"{f['classes']:,} / {f['rows']:,}" for f in frequencies(runs[0], 0))]]
        for run in runs:
            values = [
                [f.get(name) for f in column if f.get(name) is not None]
                for column in zip(*(fit["frequencies"] for fit in run["fits"]))
            ]
            rows.append([named(run), *(percent(statistics.fmean(v)) if v else "–" for v in values)])
        parts.append(f"**{said} by how many training rows a class has**, wordnet-class, percent:\n\n"
                     f"{tables.table(head, rows)}")  # fmt: skip
    return "\n\n".join(parts)


def frequencies(run, at):
    """Return what :func:`by_frequency` returned for one fit of a run."""
    return run["fits"][at]["frequencies"]


def frequency_said(least, most):
    """Return a range of numbers of training rows in words."""
    if least == most:
        return str(least)
    return f"{least} and more" if most == math.inf else f"{least} to {most}"


def table_scaling(part):
    """Return the table of the part "scaling" as Markdown, with the powers by which costs grow."""
    runs = sorted(studies.done(part), key=lambda run: run["K"])
    rows = []
    for run in runs:
        memory = mean_of(run, "memory")
        row = [f"{run['K']:,}", f"{run['labels_with_rows']:,}", f"{run['n_train']:,}", f"{run['nonzeros']:,}"]
        row += [tables.seconds(mean_of(run, "train_s")), f"{mean_of(run, 'ms'):.3f}"]
        row += ["–" if memory is None else tables.mebibytes(memory), tables.mebibytes(mean_of(run, "model_bytes"))]
        rows.append([*row, percent(mean_of(run, "accuracy")), percent(mean_of(run, "recall"))])
    head = ["classes", "with rows", "rows", "nonzeros", "training s", "ms per row, q = 10", "memory, MiB"]
    head += ["model, MiB", "accuracy, %", "own class among 10, %"]
    fits = []
    for said, name in (("training time", "train_s"), ("time per row", "ms"), ("memory", "memory")):
        fit = scaling_tables.exponent([run["K"] for run in runs], [mean_of(run, name) or math.nan for run in runs])
        if fit is not None and math.isfinite(fit["exponent"]):
            fits.append(f"{said} grows with classes to the power {fit['exponent']:.2f} ± {fit['error']:.2f}, "
                        f"{fit['last']:.2f} in the last step")  # fmt: skip
    said = f"; {ROWS_PER_CLASS} rows of about {GROWING['features_per_row']:g} terms per class, 2 terms of D per class."
    return f"Made-up data{said} {'; '.join(fits)}.\n\n{tables.table(head, rows)}"


PARTS = {
    "choose": studies.Part("Adversaries, examples per class and candidates", plan_choose, table_choose),
    "extensions": studies.Part("What is not in the paper", plan_extensions, table_extensions),
    "beside": studies.Part("Beside other methods", plan_beside, table_beside),
    "scaling": studies.Part("As classes grow", plan_scaling, table_scaling),
}
STUDY = studies.Study(
    name="double_sampling",
    about=__doc__.split("\n\n")[0],
    parts=PARTS,
    trial=f"{TRIAL_ROWS} rows and fewer settings",
    described=lambda job: {"params": job["params"]},
)


def more(parser):
    """Add the options that only this study has."""
    parser.add_argument("--rivals", type=Path, metavar="PYTHON", help="Python of an environment with other libraries")


if __name__ == "__main__":
    studies.main(STUDY, JOBS, studies.read_options(STUDY, more=more))
