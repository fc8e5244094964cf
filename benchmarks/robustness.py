"""How models hold up under noise and attacks, what it costs, and whether explanations say the truth.

    python -m benchmarks.robustness FOLDER [--part NAME ...] [--quick]
    python -m benchmarks.robustness --table FILE

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz. Parts: study (the paper's tables 2 to 5),
strength, speed, training, attacks, certificates, explain; each is measured on its own and replaces what stood under its
name in the results. Folders "mediamill" and "eurlex-4k", the paper's own data, join the study when they are there.
Every point is measured in a process of its own. Everything is written to benchmarks/results/robustness.json and, as
tables, to robustness.md beside it.
"""

import math
import time

import numpy as np
import scipy.sparse as sp

from benchmarks.library import machine, robustness_tables, studies
from benchmarks.library.data import read_rows, source
from benchmarks.library.robustness_tables import KS, LEVELS, SIGMA, TF_IDF_LENGTH, TRAININGS, WORST
from xmlcore import PLT, LdSM, explain, robustness
from xmlcore.models.base import warm_up

MODELS = {"PLT": PLT, "LdSM": LdSM}
PROGRAM = LdSM.PRESETS["program"].values
SEEDS = (0, 1, 2, 3, 4)
TRIAL_ROWS = 300  # number of training rows, and of test rows, with --quick
EURLEX = {"shape": "eurlex-4k", "n_train": 15_539, "n_test": 3_809, "n_labels": 4_000, "random_state": 0}
MEDIAMILL = {"shape": "mediamill", "n_train": 30_993, "n_test": 12_914, "n_features": 121, "random_state": 0}


def read_scaled(job):
    """Return the training rows (X, Y) and the test rows (X, Y) of a job.

    With ``job["length"]``, rows get this length: made-up rows have length 1. With ``job["scaled"]``, every feature is
    scaled so that its smallest value in training (0 for sparse data) becomes 0 and its largest value becomes 1.
    """
    (X, Y), (X_test, Y_test) = read_rows(job, "train"), read_rows(job, "test")
    if job.get("length"):
        X, X_test = X * np.float32(job["length"]), X_test * np.float32(job["length"])  # made rows have length 1
    if job["scaled"]:
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        span = np.where(high > low, high - low, 1)
        if (low < 0).any():
            X, X_test = (sp.csr_array(((x.toarray() - low) / span).astype(np.float32)) for x in (X, X_test))
        else:
            X, X_test = (
                sp.csr_array(x.multiply(1 / np.where(high > 0, high, 1))).astype(np.float32) for x in (X, X_test)
            )
    return (X, Y), (X_test, Y_test)


def train(job, X, Y, how, seed, sigma=SIGMA):
    """Return a model trained on X and Y, and the seconds that the training took; ``how`` is a key of TRAININGS."""
    model = MODELS[job["model"]](**job["params"], random_state=seed, n_jobs=job["threads"])
    if how != "clean":
        model = robustness.AdversarialTraining(model, sigma, noise_support=how, random_state=seed)
    start = time.perf_counter()
    model.fit(X, Y)
    return model, time.perf_counter() - start


def compile_kernels(job):
    """Train and measure a tiny model, so that compiling kernels is in none of the measured times."""
    warm_up(MODELS[job["model"]](**job["params"], n_jobs=job["threads"]))
    X = np.eye(8, dtype=np.float32)
    model = PLT().fit(X, [[i % 4] for i in range(8)])
    robustness.evaluate(model, X, [[i % 4] for i in range(8)], n_repeats=1)


def figures_of(frame):
    """Return {measure: {k: {level: value}}} from a DataFrame of one repeat; a label bucket is a measure of its own."""
    found = {}
    for row in frame.to_dict("records"):
        name = row["measure"] if row["bucket"] == "all" else f"{row['measure']} {row['bucket']}"
        found.setdefault(name, {}).setdefault(str(row["k"]), {})[f"{row['sigma']:g}"] = row["value"]
    return found


def measure_study(job):
    """Train a model with each seed and measure it on test rows with noise of each level.

    Returns {"fits": a dict for each seed}, with "seed", "train_s" (seconds) and "measures", see :func:`figures_of`.
    """
    compile_kernels(job)
    (X, Y), (X_test, Y_test) = read_scaled(job)
    fits = []
    for seed in job["seeds"]:
        model, seconds = train(job, X, Y, job["how"], seed)
        frame = robustness.evaluate(
            model, X_test, Y_test, LEVELS, KS, support="all", n_repeats=1, random_state=seed, Y_train=Y
        )
        fits.append({"seed": seed, "train_s": seconds, "measures": figures_of(frame)})
    return {"fits": fits}


def measure_strength(job):
    """Train models with stronger and stronger noise, and measure each on test rows with noise of each level.

    Returns {"fits": a dict for each seed}, with "seed" and "P@1": a list, one value per level, for each noise in
    training.
    """
    compile_kernels(job)
    (X, Y), (X_test, Y_test) = read_scaled(job)
    fits = []
    for seed in job["seeds"]:
        found = {}
        for sigma in job["sigmas"]:
            model = train(job, X, Y, "all" if sigma else "clean", seed, sigma)[0]
            frame = robustness.evaluate(model, X_test, Y_test, job["levels"], (1,), n_repeats=1, random_state=seed)
            values = frame[(frame["measure"] == "P@k") & (frame["bucket"] == "all")].sort_values("sigma")
            found[f"{sigma:g}"] = values["value"].tolist()
        fits.append({"seed": seed, "P@1": found})
    return {"fits": fits}


def measure_speed(job):
    """Measure how long it takes to add noise to every feature of all test rows, and to predict their top 5.

    Returns {"fits": a dict of seconds for each seed}, "train_s" (seconds), "n_weights" of the model, and "n_test", the
    number of rows.
    """
    compile_kernels(job)
    (X, Y), (X_test, Y_test) = read_scaled(job)
    X_test, Y_test = X_test[: job["n_test"]], Y_test[: job["n_test"]]
    model, seconds = train(job, X, Y, job["how"], 0)
    fits = []
    for seed in job["seeds"]:
        frame = robustness.evaluate(
            model, X_test, Y_test, (WORST,), (5,), n_repeats=1, random_state=seed, n_jobs=job["threads"]
        )
        times = frame[frame["measure"].isin(["predict_s", "perturb_s"])]
        fits.append({f"{row['measure']} {row['sigma']:g}": row["value"] for row in times.to_dict("records")})
    return {"fits": fits, "train_s": seconds, "n_weights": model.size()["n_weights"], "n_test": X_test.shape[0]}


def measure_training(job):
    """Train a model with each seed, and measure time and memory.

    Returns
    -------
    dict
        "fits": "train_s" (seconds) and "n_weights" for each seed. "memory_before" and "memory_peak": peak memory of the
        process before and after all trainings, in bytes. "estimate": what the package expects noisy copies to take, in
        bytes; 0 when there are none.
    """
    compile_kernels(job)
    (X, Y), _ = read_scaled(job)
    peak_before, fits = machine.memory_peak(), []
    for seed in job["seeds"]:
        model, seconds = train(job, X, Y, job["how"], seed)
        fits.append({"train_s": seconds, "n_weights": model.size()["n_weights"]})
    estimated_bytes = 0
    if job["how"] != "clean":
        estimated_bytes = robustness.augmented_bytes(*X.shape, X.nnz, augment_ratio=1.0, support=job["how"])
    return {
        "fits": fits,
        "memory_peak": machine.memory_peak(),
        "memory_before": peak_before,
        "estimate": estimated_bytes,
    }


def measure_attacks(job):
    """Train models on clean rows and with noise, and measure P@1 when test rows are changed by noise and by attacks.

    Returns {"fits": a dict for each seed, "budgets": lengths of the change}. The dict has "seed" and "P@1": a list, one
    value per budget, for each training and kind of change.
    """
    compile_kernels(job)
    (X, Y), (X_test, Y_test) = read_scaled(job)
    fits = []
    for seed in job["seeds"]:
        models = {how: train(job, X, Y, how, seed)[0] for how in ("clean", "all")}
        found = {}
        for how, model in models.items():
            for kind in ("gaussian", "fgsm", "pgd"):
                # A budget is a length. Noise of standard deviation s on D features has the length s sqrt(D), about.
                levels = [level / math.sqrt(X.shape[1]) if kind == "gaussian" else level for level in job["budgets"]]
                frame = robustness.evaluate(
                    model, X_test, Y_test, levels, (1,), n_repeats=1, random_state=seed, perturbation=kind,
                    options={} if kind == "gaussian" else {"norm": 2},
                )  # fmt: skip
                values = frame[(frame["measure"] == "P@k") & (frame["bucket"] == "all")].sort_values("sigma")
                found[f"{how} {kind}"] = values["value"].tolist()
        fits.append({"seed": seed, "P@1": found})
    return {"fits": fits, "budgets": [0.0, *job["budgets"]]}


def measure_certificates(job):
    """Certify test rows, and attack each row below and above its certified length.

    Returns {"fits": a dict for each training}: "how", "s" (seconds of certifying), "rows" (their number), and what
    :func:`attack_certified` returns.
    """
    compile_kernels(job)
    (X, Y), (X_test, _) = read_scaled(job)
    fits = []
    for how in ("clean", "all"):
        model = train(job, X, Y, how, 0)[0]
        rows = np.flatnonzero(np.diff(X_test.indptr))[: job["n_certified"]]
        some = X_test[rows]
        robustness.certified_radius(model, some[:2])  # makes what is made once per model, so that it is not timed
        start = time.perf_counter()
        found = robustness.certified_radius(model, some)
        seconds = time.perf_counter() - start
        fits.append({"how": how, "s": seconds, "rows": rows.size} | attack_certified(model, some, found))
    return {"fits": fits}


def attack_certified(model, X, found):
    """Attack each row at multiples of its certified length, to find the smallest that changes its best label.

    Returns
    -------
    dict
        "certified": share of rows with a certified length above 0. "radius": median certified length. "relative":
        median of the certified length divided by the row's length. "broken_within": number of rows changed below the
        certified length. "least_quartiles": quartiles of the smallest multiple, inf where no attack succeeds.
    """
    radius, best = np.asarray(found.radius), np.asarray(found.label)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    smallest = np.full(radius.size, np.inf)  # the smallest multiple at which the attack succeeds
    for times in (0.999, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32):
        for row in np.flatnonzero(np.isinf(smallest) & (radius > 0)):
            attack = robustness.PGD(times * radius[row], norm=2, n_steps=40)
            changed = attack.apply(X[[row]], rows=np.array([row]), seed=0, model=model)
            if model.predict_topk(changed, 1).labels[0, 0] != best[row]:
                smallest[row] = times
    tried = radius > 0
    return {
        "certified": float(tried.mean()),
        "radius": float(np.median(radius)),
        "relative": float(np.median(radius / np.where(length > 0, length, 1))),
        "broken_within": int((smallest < 1).sum()),
        "least_quartiles": np.quantile(smallest[tried], (0.25, 0.5, 0.75)).tolist() if tried.any() else [],
    }


def measure_explain(job):
    """Remove features from test rows in the order of an explanation, and measure how the label's score falls.

    Returns {"fits": a dict for each seed, "removed": numbers of removed features}. The dict has "seed", "s" (seconds)
    and "curve": the mean score of the predicted label for each number of removed features, for each order of removal.
    """
    compile_kernels(job)
    (X, Y), (X_test, _) = read_scaled(job)
    fits = []
    for seed in job["seeds"]:
        model = train(job, X, Y, "clean", seed)[0]
        filled = np.flatnonzero(np.diff(X_test.indptr))
        rows = np.sort(np.random.default_rng(seed).permutation(filled)[: job["n_explained"]])
        some = X_test[rows]
        labels = model.predict_topk(some, 1).labels[:, 0]
        start = time.perf_counter()
        curve = explain.deletion_curve(model, some, labels, seed=seed)
        seconds = time.perf_counter() - start
        means = curve.groupby(["method", "removed"])["score"].mean().unstack()
        fits.append({"seed": seed, "s": seconds, "curve": {m: r.tolist() for m, r in means.iterrows()}})
    return {"fits": fits, "removed": [int(n) for n in means.columns]}


JOBS = {
    "study": measure_study,
    "strength": measure_strength,
    "speed": measure_speed,
    "training": measure_training,
    "attacks": measure_attacks,
    "certificates": measure_certificates,
    "explain": measure_explain,
}


def data_to_make(name, options):
    """Return what :func:`benchmarks.library.data.make` takes for the data set of a name."""
    if name == "synthetic eurlex-4k":
        return EURLEX | ({"n_train": TRIAL_ROWS, "n_test": TRIAL_ROWS, "n_labels": 100} if options.quick else {})
    if name == "synthetic mediamill":
        return MEDIAMILL | ({"n_train": TRIAL_ROWS, "n_test": TRIAL_ROWS} if options.quick else {})
    return source(name, options)


def point(what, name, options, model="PLT", params=None, scaled=False, seeds=SEEDS, **more):
    """Return a point of the study: what to measure (a key of JOBS), on which data, with which settings."""
    job = {"what": what, "model": model, "params": params or {}, "scaled": scaled, "seeds": list(seeds)} | more
    job |= {"rows": TRIAL_ROWS if options.quick else None, "threads": options.threads}
    if options.quick:
        job["seeds"] = job["seeds"][:2]
    return studies.Point(data_to_make(name, options), job, {"data": name})


def plan_study(options):
    """Return the points of the paper's tables: each data set and training."""
    points = []
    for name, scaled in (
        ("eurlex4k-dev", False), ("eurlex-4k", False), ("scene", True), ("yeast", True), ("aloi", True),
        ("synthetic mediamill", True), ("mediamill", False),
    ):  # fmt: skip
        models = ("PLT", "LdSM") if name in ("scene", "yeast") else ("PLT",)
        points += [
            point(
                "study", name, options, model, PROGRAM | {"n_attempts": 5} if model == "LdSM" else {}, scaled, how=how
            )
            for model in models
            for how in TRAININGS
        ]
    return points


def plan_strength(options):
    """Return the points with more noise in training than the paper's."""
    sigmas = [0.0, 0.05, 0.1, 0.2, 0.4]
    return [
        point("strength", name, options, params={"C": C}, scaled=True, seeds=range(3), sigmas=sigmas, levels=sigmas)
        for name in ("scene", "yeast", "aloi")
        for C in (10.0, 1.0)
    ]


def plan_speed(options):
    """Return the points that time the prediction of noisy rows."""
    return [
        point("speed", name, options, seeds=range(3), how=how, n_test=3_809, length=length)
        for name, length in (("synthetic eurlex-4k", TF_IDF_LENGTH), ("synthetic eurlex-4k", 1), ("eurlex-4k", None))
        for how in ("clean", "all")
    ]


def plan_training(options):
    """Return the points that measure time and memory of training with noise."""
    return [
        point("training", name, options, scaled=scaled, seeds=(0,), how=how, length=length)
        for name, scaled, length in (("synthetic eurlex-4k", False, TF_IDF_LENGTH), ("synthetic mediamill", True, None))
        for how in TRAININGS
    ]


def plan_attacks(options):
    """Return the points that measure models under attack."""
    return [
        point("attacks", name, options, scaled=scaled, seeds=range(3), budgets=list(budgets))
        for name, scaled, budgets in (
            ("scene", True, (0.1, 0.25, 0.5, 1.0)),
            ("yeast", True, (0.1, 0.25, 0.5, 1.0)),
            ("eurlex4k-dev", False, (1.0, 5.0, 20.0)),
        )
    ]


def plan_certificates(options):
    """Return the points that certify rows."""
    return [
        point("certificates", name, options, scaled=scaled, n_certified=100)
        for name, scaled in (("scene", True), ("yeast", True), ("eurlex4k-dev", False), ("api-docs", False))
    ]


def plan_explain(options):
    """Return the points that remove features."""
    return [
        point("explain", name, options, model, params, scaled, seeds=range(3), n_explained=200)
        for name, scaled in (("api-docs", False), ("bibtex", False), ("eurlex4k-dev", False), ("scene", True))
        for model, params in (("PLT", {}), ("LdSM", PROGRAM))
    ]


PARTS = {
    "study": studies.Part("Noise", plan_study, robustness_tables.table_study),
    "strength": studies.Part("Stronger noise in training", plan_strength, robustness_tables.table_strength),
    "speed": studies.Part("Predicting noisy rows", plan_speed, robustness_tables.table_speed),
    "training": studies.Part("Training with noise", plan_training, robustness_tables.table_training),
    "attacks": studies.Part("Attacks", plan_attacks, robustness_tables.table_attacks),
    "certificates": studies.Part("Certificates", plan_certificates, robustness_tables.table_certificates),
    "explain": studies.Part("Removing features", plan_explain, robustness_tables.table_explain),
}
STUDY = studies.Study(
    name="robustness",
    about=__doc__.split("\n\n")[0],
    parts=PARTS,
    trial=f"{TRIAL_ROWS:,} rows, two seeds",
    described=lambda job: {key: value for key, value in job.items() if key not in ("seeds", "threads", "rows")},
)


if __name__ == "__main__":
    studies.main(STUDY, JOBS, studies.read_options(STUDY))
