"""How training and prediction of a label tree grow with the data, and what a set of Amazon-670K's size takes.

    python -m benchmarks.growth [--quick] [--labels-of FOLDER/wordnet-hyper] [--docs]
    python -m benchmarks.growth --amazon-670k [--scale 0.1] [--test-rows 20000] [--docs]
    python -m benchmarks.growth --table FILE [--docs]

The data is made up (xmlcore.datasets.make_synthetic), but for --labels-of: its most frequent labels, more and more of
them; docs/growth.md tells what is measured, and how. Every point is
measured in a process of its own. Everything is written to a JSON file and, as tables, to a Markdown file beside it.
"""

import argparse
import json
import math
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import compare, report
from benchmarks.contestant import memory_now, reset_peak, settle_memory
from xmlcore import PLT, metrics
from xmlcore.datasets import SYNTHETIC_SHAPES, Dataset, load, make_synthetic, read_dataset
from xmlcore.models.base import warm_up

HERE = Path(__file__).resolve().parent
GIB = 2**30
GB = 1e9
PARTS = ("X_train", "Y_train", "X_test", "Y_test")
PARAMS = {"loss": "squared_hinge", "C": 1.0}  # Parabel's
ARITIES = (2, 16)
BEAM = 10
FIT_SECONDS, FIT_REPEATS = 2.0, 3  # trainings are repeated, each with another seed, up to so long and so often
PREDICT_SECONDS, PREDICT_REPEATS = 1.0, 15
QUIET = 0.1  # share of the processor time that other programs may take

BASE = {  # rows like AmazonCat-13K's; the noise gives its P@1 and P@5, 93 and 65 (Parabel)
    "n_train": 100_000,
    "n_test": 25_000,
    "n_features": 100_000,
    "n_labels": 5_000,
    "features_per_row": 71.0,
    "labels_per_row": 5.0,
    "label_exponent": 0.6,
    "feature_noise": 0.2,
    "label_noise": 0.05,
}
STEPS = (0.1, 0.32, 1.0, 3.2, 10.0)
QUICK_BASE = BASE | {"n_train": 5_000, "n_test": 2_500, "n_features": 5_000, "n_labels": 2_000}
QUICK_STEPS = (0.1, 1.0, 10.0)
REAL = "L, real data"
UNSURE = "L, N and D, unsure"
REAL_LABELS = (160, 500, 1_600, 5_000)  # the most frequent ones; and all
AXES = {  # what grows along each
    "N": ("n_train",),
    "D": ("n_features",),
    "L": ("n_labels",),
    "L and N": ("n_labels", "n_train"),
    "L, N and D": ("n_labels", "n_train", "n_features"),
    UNSURE: ("n_labels", "n_train", "n_features"),
}
OTHERWISE = {  # what is not as at the base
    UNSURE: {"features_per_row": 40.0, "labels_per_row": 3.0, "feature_noise": 0.3, "label_noise": 0.1},
}
AXIS_TITLES = {
    "N": "Training rows N grow",
    "D": "Features D grow, nonzeros per row stay",
    "L": "Labels L grow, N stays: rows per label shrink",
    "L and N": "Labels and training rows grow together: rows per label stay",
    "L, N and D": "Labels, training rows and features grow together: rows and features per label stay",
    UNSURE: "The same with rows that say less: "
    "40 nonzeros, three words in ten of nothing, 3 labels, one in ten exchanged",
    REAL: "Real data: its most frequent labels, the training rows that have one, all test rows",
}
GROWING = AXES | {REAL: ("n_labels", "n_train")}
SYMBOLS = {"n_train": "N", "n_features": "D", "n_labels": "L"}
EVERYWHERE = "all points"


# One point, in a process of its own -----------------------------------------------------------------------------------


def make(job):
    """Make a data set and write it where the other processes read it."""
    start = time.perf_counter()
    if "read" in job["make"]:
        data = read_real(job["make"]["read"])
    elif "load" in job["make"]:
        data = load(job["make"]["load"])
    elif "labels_of" in job["make"]:
        data = frequent_part(read_real(job["make"]["labels_of"]), job["make"]["n_labels"])
    else:
        data = make_synthetic(**job["make"], n_jobs=job["threads"])
    found = {"make_s": time.perf_counter() - start, "make_peak": memory_peak()}
    for part in PARTS:
        matrix = getattr(data, part)
        for name in ("data", "indices", "indptr"):
            np.save(Path(job["data"]) / f"{part}.{name}.npy", getattr(matrix, name), allow_pickle=False)
    return found | {
        "n_train": data.n_train,
        "n_test": data.n_test,
        "n_features": data.n_features,
        "n_labels": data.n_labels,
        "nonzeros": int(data.X_train.nnz),
        "labels": int(data.Y_train.nnz),
        "labels_with_rows": int(np.unique(data.Y_train.indices).size),
    }


def read_real(folder):
    folder = Path(folder)
    return read_dataset(folder / "train.txt.gz", folder / "test.txt.gz", name=folder.name)


def frequent_part(data, n_labels):
    """The most frequent labels, with the training rows that have one of them, and all test rows."""
    counts = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    kept = np.sort(np.argsort(-counts, kind="stable")[:n_labels])
    Y_train, Y_test = sp.csr_array(data.Y_train[:, kept]), sp.csr_array(data.Y_test[:, kept])
    rows = np.flatnonzero(np.diff(Y_train.indptr))
    return Dataset(data.name, data.X_train[rows], Y_train[rows], data.X_test, Y_test)


def memory_peak():
    found = memory_now()
    return None if found is None else found[1]


def read_part(job, part):
    arrays = [np.load(Path(job["data"]) / f"{part}.{name}.npy") for name in ("data", "indices", "indptr")]
    width = job["about"]["n_features" if part[0] == "X" else "n_labels"]
    return sp.csr_array(tuple(arrays), shape=(arrays[2].size - 1, width))


class Phases:
    """Wall time of the phases that a training reports; tells about long ones."""

    def __init__(self, tell_every=None):
        self.begun, self.tell_every, self.told = [], tell_every, time.perf_counter()

    def __call__(self, phase, fraction, detail=""):
        now = time.perf_counter()
        if not self.begun or self.begun[-1][0] != phase:
            self.begun.append((phase, now))
            self.told = -math.inf
        if self.tell_every is not None and now - self.told >= self.tell_every:
            self.told = now
            used = memory_now()
            memory = "" if used is None else f", {used[0] / GIB:.2f} GiB in use"
            say(f"  {phase}: {100 * fraction:.0f} % {detail}{memory}")

    def seconds(self, start, end):
        times = [("Checking the input", start), *self.begun, ("", end)]
        found = {}
        for (phase, begun), (_, ended) in zip(times, times[1:]):
            found[phase] = found.get(phase, 0.0) + ended - begun
        return found


def train_toy(params, threads):
    """Load, or compile, everything that is measured, what only large models run included."""
    warm_up(PLT(**params, n_jobs=threads))
    toy = make_synthetic(n_train=400, n_test=20, n_labels=300, n_jobs=threads)
    model = PLT(**params, n_jobs=threads).fit(toy.X_train, toy.Y_train)
    for beam in (None, BEAM):
        model.beam = beam
        metrics.precision_at_k(toy.Y_test, model.predict_topk(toy.X_test, 5), 5)


def measure(job):
    limit_memory(job["limit_bytes"])
    start = time.perf_counter()
    train_toy(job["params"], job["threads"])
    found = {"load_s": time.perf_counter() - start}
    X, Y = read_part(job, "X_train"), read_part(job, "Y_train")
    settle_memory()
    earlier, reset = memory_peak(), reset_peak()
    before = memory_now()
    fits = []
    while not fits or (sum(fits) < FIT_SECONDS and len(fits) < FIT_REPEATS and job["repeat"]):
        phases = Phases(job["tell_every"])
        model = None  # two models at once would be no peak of a training
        model = PLT(**job["params"], random_state=len(fits), n_jobs=job["threads"])
        start = time.perf_counter()
        model.fit(X, Y, progress=phases)
        end = time.perf_counter()
        fits.append(end - start)
        found.setdefault("phases_s", []).append(phases.seconds(start, end))
        if len(fits) == 1 and before is not None:
            after = memory_now()
            found |= {"memory_before": before[0], "memory_peak": max(earlier, after[1])}
            found |= {"memory_rise": after[1] - before[0]} if reset else {}
            found["memory_after"] = after[0]
    size = model.size()
    found |= {"fits_s": fits, "train_s": float(np.median(fits)), "n_iter": model.n_iter_} | size
    found["phases_s"] = {
        phase: float(np.median([phases.get(phase, 0.0) for phases in found["phases_s"]]))
        for phase in found["phases_s"][0]
    }
    if job["count_work"]:
        found["node_nonzeros"] = node_nonzeros(model.trees_[0], X, Y)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    del X, Y
    X, Y = read_part(job, "X_test"), read_part(job, "Y_test")
    frequent = np.argsort(-counts, kind="stable")[:5]
    found["frequency_precision"] = percent(Y, np.tile(frequent, (Y.shape[0], 1)).astype(np.int32))
    for name, beam in (("exact", None), ("beam", BEAM)):
        model.beam = beam
        model.predict_topk(X[:512], 5)
        seconds = []
        while not seconds or (sum(seconds) < PREDICT_SECONDS and len(seconds) < PREDICT_REPEATS and job["repeat"]):
            progress = Phases(job["tell_every"])
            start = time.perf_counter()
            ranking = model.predict_topk(X, 5, progress=progress)
            seconds.append(time.perf_counter() - start)
        found[f"{name}_us"] = 1e6 * float(np.median(seconds)) / X.shape[0]
        found[f"{name}_precision"] = percent(Y, ranking.labels)
    return found | {"process_peak": memory_peak()}


def percent(Y, labels):
    """P@1, P@3 and P@5 in percent, over the rows that have a label."""
    rows = np.flatnonzero(np.diff(Y.indptr))
    if rows.size == 0:
        return [0.0, 0.0, 0.0]
    return (100 * metrics.precision_at_k(sp.csr_array(Y[rows]), labels[rows], 5)[[0, 2, 4]]).tolist()


def node_nonzeros(tree, X, Y):
    """Nonzeros of the rows that inner nodes are trained on, summed over the nodes: what one epoch goes through."""
    parent, depth, n_nodes = tree.parent.astype(np.int64), tree.depth, tree.parent.size
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    node = parent[tree.leaf_of_label[Y.indices]]
    nonzeros, total = np.diff(X.indptr), 0
    above = np.empty(0, np.int64)  # (row, node) as one number, of the level that is next
    for level in range(int(depth.max()) - 1, -1, -1):
        here = depth[node] == level
        pairs = np.unique(np.concatenate([above, row[here] * n_nodes + node[here]]))
        total += int(nonzeros[pairs // n_nodes].sum())
        above = pairs // n_nodes * n_nodes + parent[pairs % n_nodes]
    return total


def limit_memory(most):
    """Let the process fail rather than take more than so many bytes of memory of its own."""
    if most is None:
        return
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (ImportError, OSError, ValueError):
        say("  this system sets no limit to memory: it is measured only")


def run_process(job, folder, options, module="benchmarks.growth", kernels=None):
    """Run one job in a new process, of a module that takes ``--job``; kernels are kept in ``folder``, or elsewhere.

    Returns
    -------
    dict
        What it measured, or "failed" and why.
    """
    target = folder / "job.json"
    target.write_text(json.dumps(job | {"result": str(folder / "result.json")}))
    (folder / "result.json").unlink(missing_ok=True)
    clock, last = compare.Clock(), ""
    command = [sys.executable, "-P", "-s", "-m", module, "--job", str(target)]
    with subprocess.Popen(
        command, env=compare.environment(options.threads, kernels or folder / "kernels"), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    ) as process:  # fmt: skip
        for line in process.stderr:
            last = line.strip() or last
            if job.get("tell_every"):
                print(line, end="", file=sys.stderr, flush=True)
    found = {"others_cpu": clock.share_of_others()}
    if process.returncode:
        code = process.returncode
        how = f"ended by signal {-code}" if code < 0 else compare.without_paths(last[:300])
        limit = job.get("limit_bytes")
        return found | {"failed": how + ("" if limit is None else f", with at most {limit / GB:g} GB")}
    return json.loads((folder / "result.json").read_text()) | found


def run_job(path):
    job = json.loads(path.read_text())
    found = {"make": make, "measure": measure}[job["what"]](job)
    Path(job["result"]).write_text(json.dumps(found))


# All points -----------------------------------------------------------------------------------------------------------


def say(text):
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def grid(quick):
    """Sizes of all points, each once, with the axes that it lies on."""
    base, steps = (QUICK_BASE, QUICK_STEPS) if quick else (BASE, STEPS)
    points = {}
    for axis, names in AXES.items():
        for step in steps:
            sizes = base | OTHERWISE.get(axis, {}) | {name: round(step * base[name]) for name in names}
            points.setdefault(tuple(sizes.values()), (sizes, []))[1].append(axis)
    return sorted(points.values(), key=lambda point: point[0]["n_train"] * math.log(point[0]["n_labels"]))


def real_points(folder):
    """As :func:`grid`: the most frequent labels of a data set, more and more of them; none without a folder."""
    if folder is None:
        return []
    every = read_real(folder).n_labels
    sizes = [n for n in REAL_LABELS if n < every] + [every]
    return [({"labels_of": str(folder.resolve()), "n_labels": n}, [REAL]) for n in sizes]


def header(kind, options):
    return {
        "format": 1,
        "kind": kind,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": compare.machine(),
        "versions": {name: metadata.version(name) for name in ("numba", "numpy", "scipy")}
        | {"python": platform.python_version(), "BLAS": compare.blas()},
        "xmlcore_code": compare.code_now(),
        "xmlcore_code_end": None,
        "threads": options.threads,
        "params": PARAMS | options.params,
        "runs": [],
    }


def job_of(what, folder, options, **more):
    return {"what": what, "threads": options.threads, "data": str(folder / "data")} | more


def make_data(folder, sizes, options, tell_every=None):
    shutil.rmtree(folder / "data", ignore_errors=True)
    (folder / "data").mkdir()
    return run_process(job_of("make", folder, options, make=sizes, tell_every=tell_every), folder, options)


def compile_kernels(folder, options):
    """Compile everything in a process of its own; seconds."""
    sizes = {"n_train": 300, "n_test": 50, "n_labels": 250}
    start = time.perf_counter()
    about = make_data(folder, sizes, options)
    for arity in options.arity:
        params = PARAMS | options.params | {"arity": arity}
        found = run_process(measuring(folder, options, about, params, repeat=False), folder, options)
        if "failed" in about or "failed" in found:
            raise SystemExit(f"a tiny training failed: {about.get('failed') or found['failed']}")
    return time.perf_counter() - start


def measuring(folder, options, about, params, repeat, limit_bytes=None, tell_every=None, count_work=True):
    return job_of(
        "measure", folder, options, about=about, params=params, repeat=repeat, limit_bytes=limit_bytes,
        tell_every=tell_every, count_work=count_work,
    )  # fmt: skip


def study(options):
    results = header("growth", options) | {"quick": options.quick, "base": QUICK_BASE if options.quick else BASE}
    points = grid(options.quick) + real_points(options.labels_of)
    if options.labels_of is not None:
        results["labels_of"] = options.labels_of.name
    with tempfile.TemporaryDirectory(prefix="xmlcore-growth-") as temporary:
        folder = Path(temporary)
        results["compile_s"] = compile_kernels(folder, options)
        say(f"kernels compiled in {results['compile_s']:.0f} s; {len(points)} points, arity {options.arity}")
        for number, (sizes, axes) in enumerate(points, start=1):
            about = make_data(folder, sizes, options)
            if "failed" in about:
                raise SystemExit(f"making point {number} failed: {about['failed']}")
            for arity in options.arity:
                params = PARAMS | options.params | {"arity": arity}
                job = measuring(folder, options, about, params, repeat=True)
                run = {"axes": axes, "arity": arity} | about | quietest(job, folder, options)
                results["runs"].append(run)
                say(f"point {number} of {len(points)}, {told(run)}")
                keep(results, options.out)
    return results


def quietest(job, folder, options, **how):
    """Run a job, and again while other programs kept the machine busy; the run that they disturbed least."""
    found = []
    for _ in range(options.attempts):
        found.append(run_process(job, folder, options, **how))
        if "failed" in found[-1] or (found[-1]["others_cpu"] or 0.0) <= QUIET:
            return found[-1]
    return min(found, key=lambda run: run["others_cpu"])


def told(run):
    sizes = f"N={run['n_train']:,} D={run['n_features']:,} L={run['n_labels']:,} arity {run['arity']}"
    if "failed" in run:
        return f"{sizes}: FAILED, {run['failed']}"
    return (
        f"{sizes}: training {run['train_s']:.2f} s, top 5 {run['exact_us']:.0f} us/row, "
        f"beam {run['beam_us']:.0f} us/row, P@1 {run['exact_precision'][0]:.1f}, "
        f"peak {gibibytes(run.get('memory_peak'))} GiB"
    )


def amazon(options):
    results = header("amazon-670k", options) | {"scale": options.scale, "limit_gb": options.limit_gb}
    shape = SYNTHETIC_SHAPES["amazon-670k"]
    sizes = {name: round(options.scale * shape[name]) for name in ("n_train", "n_labels")}
    sizes |= {"shape": "amazon-670k", "n_test": min(options.test_rows, shape["n_test"])}
    with tempfile.TemporaryDirectory(prefix="xmlcore-growth-") as temporary:
        folder = Path(temporary)
        results["compile_s"] = compile_kernels(folder, options)
        say(f"kernels compiled in {results['compile_s']:.0f} s; making the data")
        results["data"] = about = make_data(folder, sizes, options, tell_every=options.tell_every)
        if "failed" in about:
            raise SystemExit(f"making the data failed: {about['failed']}")
        peak = f", peak {about['make_peak'] / GIB:.2f} GiB" if about["make_peak"] else ""
        say(f"made in {about['make_s']:.1f} s{peak}: {about['nonzeros']:,} nonzeros, {about['labels']:,} labels")
        for arity in options.arity:
            say(f"arity {arity}")
            params = PARAMS | options.params | {"arity": arity}
            limit = None if options.limit_gb == 0 else round(options.limit_gb * GB)
            job = measuring(folder, options, about, params, False, limit, options.tell_every, count_work=False)
            results["runs"].append({"arity": arity} | about | run_process(job, folder, options))
            say(told(results["runs"][-1]))
            keep(results, options.out)
    return results


def keep(results, path):
    """The JSON file and the Markdown beside it, each whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for target, text in ((path, compare.as_json(results)), (path.with_suffix(".md"), markdown(results))):
        part = target.with_name(target.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(target)


# Exponents ------------------------------------------------------------------------------------------------------------


def exponent(xs, ys):
    """Slope of log y against log x by least squares.

    Returns
    -------
    dict, or None with fewer than three different x
        "exponent", its standard error "error" (of a straight line through points with independent errors of one size),
        "last", the slope of the last step, and "range", largest x over smallest.
    """
    order = np.argsort(xs, kind="stable")
    x, y = np.log(np.asarray(xs, float)[order]), np.log(np.asarray(ys, float)[order])
    if np.unique(x).size < 3:
        return None
    dx = x - x.mean()
    slope = dx @ y / (dx @ dx)
    rest = y - y.mean() - slope * dx
    error = math.sqrt(rest @ rest / (x.size - 2) / (dx @ dx))
    last = (y[-1] - y[-2]) / (x[-1] - x[-2]) if x[-1] > x[-2] else None
    return {"exponent": slope, "error": error, "last": last, "range": math.exp(x[-1] - x[0]), "points": x.size}


WHAT = {
    "training time": lambda run: run["train_s"],
    "training memory": lambda run: run.get("memory_rise"),
    "exact top 5 per row": lambda run: run["exact_us"],
    f"beam {BEAM} per row": lambda run: run["beam_us"],
}
AGAINST = {
    "nonzeros × depth": lambda run: run["nonzeros"] * run["depth"],
    "nodes' nonzeros": lambda run: run["node_nonzeros"],
    "nonzeros": lambda run: run["nonzeros"],
    "N": lambda run: run["n_train"],
    "D": lambda run: run["n_features"],
    "L": lambda run: run["n_labels"],
}
EXACT, BEAMED = "exact top 5 per row", f"beam {BEAM} per row"
WANTED = {  # words, least, most
    ("training time", "nonzeros × depth"): ("near 1 (0.85 to 1.15)", 0.85, 1.15),
    (EXACT, "L"): ("at most 0.35", -math.inf, 0.35),
    (BEAMED, "L"): ("at most 0.35", -math.inf, 0.35),
}
BY_LABELS = ("L", "L and N", "L, N and D", UNSURE, REAL)
FITS = (
    ("training time", "nonzeros × depth", ("N", "L and N", "L, N and D", EVERYWHERE)),
    ("training time", "nodes' nonzeros", ("N", "L and N", "L, N and D", EVERYWHERE)),
    ("training time", "D", ("D",)),
    ("training time", "L", ("L",)),
    ("training memory", "nonzeros", ("N", "L and N", "L, N and D")),
    (EXACT, "L", BY_LABELS),
    (BEAMED, "L", BY_LABELS),
    (EXACT, "N", ("N",)),
    (BEAMED, "N", ("N",)),
    (EXACT, "D", ("D",)),
    (BEAMED, "D", ("D",)),
)


def fits(results):
    """All exponents: dicts of :func:`exponent` with "what", "against", "axis" and "arity"."""
    found = []
    for what, against, axes in FITS:
        for axis in axes:
            for arity in sorted({run["arity"] for run in results["runs"]}):
                runs = [run for run in on_axis(results, axis) if run["arity"] == arity]
                pairs = [(AGAINST[against](run), WHAT[what](run)) for run in runs]
                pairs = [(x, y) for x, y in pairs if y is not None and y > 0]
                fit = exponent(*zip(*pairs)) if pairs else None
                if fit is not None:
                    if axis == EVERYWHERE:
                        fit["last"] = None  # neighbours there differ in more than size
                    found.append({"what": what, "against": against, "axis": axis, "arity": arity} | fit)
    return found


def on_axis(results, axis):
    """Complete runs along an axis, by what grows."""
    runs = [run for run in results["runs"] if "failed" not in run]
    runs = [run for run in runs if (REAL not in run["axes"] if axis == EVERYWHERE else axis in run["axes"])]
    names = GROWING.get(axis, ("n_train",))
    return sorted(runs, key=lambda run: ([run[name] for name in names], run["arity"]))


# Text -----------------------------------------------------------------------------------------------------------------


def markdown(results):
    return growth_markdown(results) if results["kind"] == "growth" else amazon_markdown(results)


def measured_text(results):
    """When and on what something was measured; first, whether the sources changed meanwhile."""
    machine, versions = results["machine"], results["versions"]
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:.0f} GiB"
    said = ", ".join(f"{name} {version}" for name, version in versions.items())
    start, end = results["xmlcore_code"], results.get("xmlcore_code_end")
    changed = ""
    if end is not None and end != start:
        changed = f"**The sources of xmlcore changed while this was measured ({start}, {end} at the end).**\n\n"
    return (
        f"{changed}Measured {results['date']}: {machine['cpu']}, {machine['cores']} cores{memory}, "
        f"{machine['system']}; {results['threads']} threads; {said}; sources of xmlcore {start}."
    )


def noise_lines(results):
    """What other programs took of the machine; no line where the system does not tell."""
    others = [run["others_cpu"] for run in results["runs"] if run.get("others_cpu") is not None]
    if not others:
        return []
    return [
        f"Other programs took {100 * float(np.median(others)):.0f} % of the machine's processor time during the "
        f"median run, {100 * max(others):.0f} % during the worst."
    ]


def about_text(results):
    params = ", ".join(f"{name}={value!r}" for name, value in results["params"].items())
    lines = [
        f"{measured_text(results)} One tree, `{params}`. "
        f"Compiling all kernels beforehand took {results['compile_s']:.0f} s."
    ]
    lines += noise_lines(results)
    lines += [
        f"**N={run['n_train']:,}, D={run['n_features']:,}, L={run['n_labels']:,}, arity {run['arity']} failed**: "
        f"{run['failed']}; it is in no table."
        for run in results["runs"]
        if "failed" in run
    ]
    return "\n".join(lines)


def growth_markdown(results):
    base = results["base"]
    sizes = ", ".join(f"{SYMBOLS[name]} = {base[name]:,}" for name in SYMBOLS)
    parts = [
        about_text(results),
        f"Base point: {sizes}; {base['features_per_row']:g} nonzeros and {base['labels_per_row']:g} labels per row, "
        f"label r of the most frequent ones as often as r^-{base['label_exponent']:g}; "
        f"{100 * base['feature_noise']:g} % of the words say nothing, {100 * base['label_noise']:g} % of the labels "
        f"are exchanged; {base['n_test']:,} test rows."
        + (f" Real data: {results['labels_of']}." if "labels_of" in results else "")
        + (" **A trial: small data, three points to an axis, fixed costs still show.**" if results["quick"] else ""),
        verdicts(results),
        exponents_table(results),
        *(axis_table(results, axis) for axis in GROWING),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def exponents_table(results):
    found = fits(results)
    arities = sorted({fit["arity"] for fit in found})
    rows = []
    for what, against, axes in FITS:
        for axis in axes:
            by_arity = {f["arity"]: f for f in found if (f["what"], f["against"], f["axis"]) == (what, against, axis)}
            if not by_arity:
                continue
            first = next(iter(by_arity.values()))
            row = [what, against, axis, f"×{report.number(first['range'], 2)}"]
            for arity in arities:
                fit = by_arity.get(arity)
                row += ["–", "–"] if fit is None else [as_exponent(fit), as_last(fit)]
            rows.append([*row, WANTED.get((what, against), ("",))[0], verdict(what, against, by_arity)])
    if not rows:
        return ""
    head = ["what", "against", "along", "range"]
    for arity in arities:
        head += [f"exponent, arity {arity}", "last step"]
    return "**Exponents** (± standard error)\n\n" + report.table([*head, "target", "met"], rows, left=3)


def verdict(what, against, by_arity):
    """Whether exponents of one axis meet the target, for each arity where they differ; "" without a target."""
    if (what, against) not in WANTED:
        return ""
    _, least, most = WANTED[what, against]
    said = {arity: "met" if least <= fit["exponent"] <= most else "missed" for arity, fit in by_arity.items()}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", ".join(f"arity {arity} {word}" for arity, word in said.items())


def verdicts(results):
    """Targets and outcome in words, a line for each."""
    found, lines = fits(results), []
    for (what, against), (wanted, _, _) in WANTED.items():
        said = {}
        for fit in found:
            if (fit["what"], fit["against"]) == (what, against):
                word = verdict(what, against, {fit["arity"]: fit})
                said.setdefault(word, []).append(f"{fit['axis']} at arity {fit['arity']} ({as_exponent(fit)})")
        if said:
            parts = [f"{word} along " + "; ".join(said[word]) for word in ("met", "missed") if word in said]
            lines.append(f"- **{what}, exponent against {against}: {wanted}** — {'. '.join(parts)}.")
    return "\n".join(lines)


def as_exponent(fit):
    return f"{fit['exponent']:.2f} ± {fit['error']:.2f}"


def as_last(fit):
    return "–" if fit["last"] is None else f"{fit['last']:.2f}"


def axis_table(results, axis):
    runs = on_axis(results, axis)
    if not runs:
        return ""
    head = [
        *(SYMBOLS[name] for name in GROWING[axis]), "arity", "rows per label", "nonzeros, M", "nodes' nonzeros, M",
        "depth", "training s", "of it clustering", "peak MiB, whole process", "rise in training, MiB", "weights, M",
        "exact top 5, µs/row", f"beam {BEAM}, µs/row", "P@1", f"P@1, beam {BEAM}", "P@1 of frequency alone",
    ]  # fmt: skip
    rows = []
    for run in runs:
        row = [f"{run[name]:,}" for name in GROWING[axis]]
        row += [str(run["arity"]), report.number(run["labels"] / run["n_labels"], 2)]
        row += [report.number(run[name] / 1e6) for name in ("nonzeros", "node_nonzeros")] + [str(run["depth"])]
        row += [report.number(run["train_s"]), report.number(clustering_s(run))]
        row += [mebibytes(run.get(name)) for name in ("memory_peak", "memory_rise")]
        row.append(report.number(run["n_weights"] / 1e6))
        row += [report.number(run[name]) for name in ("exact_us", "beam_us")]
        row += [f"{run[name][0]:.1f}" for name in ("exact_precision", "beam_precision", "frequency_precision")]
        rows.append(row)
    return f"**{AXIS_TITLES[axis]}**\n\n" + report.table(head, rows, left=0)


def clustering_s(run):
    return sum(seconds for phase, seconds in run["phases_s"].items() if "luster" in phase)


def mebibytes(value):
    return "–" if value is None else f"{value / 2**20:.0f}"


def gibibytes(value):
    return "–" if value is None else f"{value / GIB:.2f}"


def amazon_markdown(results):
    data, parts = results["data"], [about_text(results)]
    scale = "" if results["scale"] == 1 else f" **Rows and labels at {results['scale']:g} of the full size.**"
    parts.append(
        f"Made up, shaped like Amazon-670K: {data['n_train']:,} training and {data['n_test']:,} test rows, "
        f"{data['n_features']:,} features, {data['n_labels']:,} labels "
        f"({data['labels_with_rows']:,} with training rows), "
        f"{data['nonzeros'] / data['n_train']:.1f} nonzeros and {data['labels'] / data['n_train']:.2f} labels per row. "
        f"Making it took {data['make_s']:.1f} s (not counted below).{scale}"
    )
    runs = [run for run in results["runs"] if "failed" not in run]
    if not runs:
        return "\n\n".join(parts) + "\n"
    phases = list(dict.fromkeys(phase for run in runs for phase in run["phases_s"]))
    lines = [("training, s", lambda run: report.number(run["train_s"]))]
    lines += [
        (f"– {phase.lower()}, s", lambda run, p=phase: report.number(run["phases_s"].get(p, 0))) for phase in phases
    ]
    lines += [
        ("peak memory, whole process, GiB", lambda run: gibibytes(run.get("memory_peak"))),
        ("in use before training: data, program, GiB", lambda run: gibibytes(run.get("memory_before"))),
        ("in use after training, GiB", lambda run: gibibytes(run.get("memory_after"))),
        ("model, GiB", lambda run: gibibytes(run["model_bytes"])),
        ("weights, M", lambda run: report.number(run["n_weights"] / 1e6)),
        ("nodes", lambda run: f"{run['n_nodes']:,}"),
        ("depth", lambda run: str(run["depth"])),
        ("exact top 5, ms/row", lambda run: report.number(run["exact_us"] / 1000)),
        (f"beam {BEAM}, ms/row", lambda run: report.number(run["beam_us"] / 1000)),
        ("peak memory with prediction, GiB", lambda run: gibibytes(run.get("process_peak"))),
        ("P@1 / P@3 / P@5, exact", lambda run: three(run["exact_precision"])),
        (f"P@1 / P@3 / P@5, beam {BEAM}", lambda run: three(run["beam_precision"])),
        ("P@1 / P@3 / P@5 of frequency alone", lambda run: three(run["frequency_precision"])),
    ]
    head = ["", *(f"arity {run['arity']}" for run in runs)]
    parts.append(report.table(head, [[title, *(value(run) for run in runs)] for title, value in lines]))
    if results["limit_gb"]:
        parts.append(
            f"The process could not have taken more than {results['limit_gb']:g} GB (1e9 bytes) of memory of its own: "
            "it would have failed (RLIMIT_DATA, where the system has that)."
        )
    return "\n\n".join(parts) + "\n"


def three(values):
    return " / ".join(f"{value:.2f}" for value in values)


def show(results, docs):
    text = markdown(results)
    print(text)
    if docs is not None:
        report.write_section(docs, results["kind"], text)


def read_options():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="small data and three points to an axis: a trial")
    parser.add_argument("--amazon-670k", action="store_true", help="one data set of that size instead of the study")
    parser.add_argument(
        "--labels-of",
        type=Path,
        metavar="FOLDER",
        help="with train.txt.gz and test.txt.gz: a further axis, on real data",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the rows and labels of --amazon-670k")
    parser.add_argument("--test-rows", type=int, default=150_000, help="of --amazon-670k")
    parser.add_argument("--limit-gb", type=float, default=12.0, help="GB (1e9 bytes) for --amazon-670k; 0: no limit")
    parser.add_argument("--tell-every", type=float, default=10.0, help="seconds between signs of life of --amazon-670k")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--attempts", type=int, default=2, help="runs of a point while other programs disturb it")
    parser.add_argument("--arity", type=int, nargs="+", default=list(ARITIES))
    parser.add_argument("--params", type=json.loads, default={}, metavar="JSON", help="further parameters of PLT")
    parser.add_argument(
        "--out", type=Path,
        help="results, as JSON (default: benchmarks/results/growth.json or amazon-670k.json; trial: a temporary file)",
    )  # fmt: skip
    parser.add_argument("--table", type=Path, metavar="FILE", help="measure nothing: print the tables of a JSON file")
    documentation = HERE.parent / "docs" / "growth.md"
    parser.add_argument(
        "--docs", type=Path, nargs="?", const=documentation, help="put the tables into docs/growth.md, or a file"
    )
    options = parser.parse_args()
    if min(options.threads, options.test_rows, options.attempts) < 1 or min(options.arity) < 2:
        parser.error("--threads, --test-rows and --attempts must be at least 1, --arity at least 2")
    if not 0.001 <= options.scale <= 1 or options.limit_gb < 0:
        parser.error("--scale must be from 0.001 to 1, --limit-gb at least 0")
    if not isinstance(options.params, dict):
        parser.error("--params must be a JSON object")
    if options.labels_of is not None:
        if options.amazon_670k:
            parser.error("--labels-of is of the study, not of --amazon-670k")
        if not all((options.labels_of / f"{part}.txt.gz").is_file() for part in ("train", "test")):
            parser.error(f"no train.txt.gz and test.txt.gz in {options.labels_of}")
    trial = options.quick or options.scale != 1
    if options.docs is not None and options.table is None and trial:
        parser.error("--docs with --quick or --scale: trials are not documented")
    if options.out is None:
        name = "amazon-670k" if options.amazon_670k else "growth"
        folder = Path(tempfile.gettempdir()) if trial else HERE / "results"
        options.out = folder / f"{name}{'-trial' if trial else ''}.json"
    return options


def main():
    options = read_options()
    if options.job is not None:
        run_job(options.job)
        return
    if options.table is not None:
        results = json.loads(options.table.read_text(encoding="utf-8"))
    else:
        results = amazon(options) if options.amazon_670k else study(options)
        results["xmlcore_code_end"] = compare.code_now()
        keep(results, options.out)
        say(f"written to {options.out.name} and {options.out.with_suffix('.md').name}")
    show(results, options.docs)


if __name__ == "__main__":
    main()
