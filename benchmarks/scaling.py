"""How the cost of a label tree scales with the data, and what a set of Amazon-670K's size takes.

    python -m benchmarks.scaling [--quick] [--labels-of FOLDER/wordnet-hyper]
    python -m benchmarks.scaling --amazon-670k [--scale 0.1] [--test-rows 20000]
    python -m benchmarks.scaling --table FILE

The data is made up (xmlcore.datasets.make_synthetic), but for --labels-of: its most frequent labels, more and more of
them; docs/scaling.md tells what is measured, and how. Every point is
measured in a process of its own. Everything is written to a JSON file and, as tables, to a Markdown file beside it.
"""

import argparse
import json
import math
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, contestant, files, machine, processes, scaling_tables, tables
from benchmarks.library.data import read_part, read_real
from xmlcore import PLT, metrics
from xmlcore.datasets import SYNTHETIC_SHAPES, make_synthetic
from xmlcore.models.base import warm_up
from xmlcore.parameters import AUTO

PARAMS = {"loss": "squared_hinge", "C": 1.0}  # as in Parabel
ARITIES = (2, 16)
MODULE = "benchmarks.scaling"  # the module that measuring processes run
# Trainings are repeated, each with another seed, until they have taken so many seconds or there are so many of them.
FIT_SECONDS, FIT_REPEATS = 2.0, 3
PREDICT_SECONDS, PREDICT_REPEATS = 1.0, 15  # the same for predictions
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
REAL_LABELS = (160, 500, 1_600, 5_000)  # numbers of most frequent labels of a real data set
OTHERWISE = {  # axis -> the sizes in which its data differs from BASE
    scaling_tables.UNSURE: {"features_per_row": 40.0, "labels_per_row": 3.0, "feature_noise": 0.3, "label_noise": 0.1},
}


class Phases:
    """Measure the seconds of each phase that a training reports; print a line every ``tell_every`` seconds."""

    def __init__(self, tell_every=None):
        self.begun, self.tell_every, self.told = [], tell_every, time.perf_counter()

    def __call__(self, phase, fraction, detail=""):
        now = time.perf_counter()
        if not self.begun or self.begun[-1][0] != phase:
            self.begun.append((phase, now))
            self.told = -math.inf
        if self.tell_every is not None and now - self.told >= self.tell_every:
            self.told = now
            used = contestant.memory_now()
            memory = "" if used is None else f", {used[0] / machine.GIB:.2f} GiB in use"
            processes.say(f"  {phase}: {100 * fraction:.0f} % {detail}{memory}")

    def seconds(self, start, end):
        """Return the seconds of each phase, for work that took from ``start`` to ``end``."""
        times = [("Checking the input", start), *self.begun, ("", end)]
        found = {}
        for (phase, begun), (_, ended) in zip(times, times[1:]):
            found[phase] = found.get(phase, 0.0) + ended - begun
        return found


def train_toy(params, threads):
    """Train small models and predict with them, so that compiling kernels is in none of the measured times."""
    warm_up(PLT(**params, n_jobs=threads))
    toy = make_synthetic(n_train=400, n_test=20, n_labels=300, n_jobs=threads)
    model = PLT(**params, n_jobs=threads).fit(toy.X_train, toy.Y_train)
    for beam in (None, scaling_tables.BEAM):
        model.beam = beam
        metrics.precision_at_k(toy.Y_test, model.predict_topk(toy.X_test, 5), 5)


def measure(job):
    """Train a label tree on a data set, predict its test rows, and return times, memory and precision.

    Returns
    -------
    dict
        Names end with the unit: "_s" seconds, "_us" microseconds per row. Memory is in bytes, precision is P@1, P@3 and
        P@5 in percent; "exact" is the exact search, "beam" the search with a beam.
    """
    machine.limit_memory(job["limit_bytes"])
    start = time.perf_counter()
    train_toy(job["params"], job["threads"])
    found = {"load_s": time.perf_counter() - start}
    X, Y = read_part(job, "X_train"), read_part(job, "Y_train")
    contestant.settle_memory()
    earlier_peak, reset = machine.memory_peak(), contestant.reset_peak()
    before = contestant.memory_now()
    fits = []
    while not fits or (sum(fits) < FIT_SECONDS and len(fits) < FIT_REPEATS and job["repeat"]):
        phases = Phases(job["tell_every"])
        model = None  # frees the model before, which would count towards the peak
        model = PLT(**job["params"], random_state=len(fits), n_jobs=job["threads"])
        start = time.perf_counter()
        model.fit(X, Y, progress=phases)
        end = time.perf_counter()
        fits.append(end - start)
        found.setdefault("phases_s", []).append(phases.seconds(start, end))
        if len(fits) == 1 and before is not None:
            after = contestant.memory_now()
            found |= {"memory_before": before[0], "memory_peak": max(earlier_peak, after[1])}
            found |= {"memory_rise": after[1] - before[0]} if reset else {}
            found["memory_after"] = after[0]
    size = model.size()
    found["settings"] = model.settings_
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
    for name, beam in (("exact", None), ("beam", scaling_tables.BEAM)):
        model.beam = beam
        model.predict_topk(X[:512], 5)  # what is made once per model is not timed
        seconds = []
        while not seconds or (sum(seconds) < PREDICT_SECONDS and len(seconds) < PREDICT_REPEATS and job["repeat"]):
            progress = Phases(job["tell_every"])
            start = time.perf_counter()
            ranking = model.predict_topk(X, 5, progress=progress)
            seconds.append(time.perf_counter() - start)
        found[f"{name}_us"] = 1e6 * float(np.median(seconds)) / X.shape[0]
        found[f"{name}_precision"] = percent(Y, ranking.labels)
    return found | {"process_peak": machine.memory_peak()}


def percent(Y, labels):
    """Return P@1, P@3 and P@5 in percent, over the rows that have a label."""
    rows = np.flatnonzero(np.diff(Y.indptr))
    if rows.size == 0:
        return [0.0, 0.0, 0.0]
    return (100 * metrics.precision_at_k(sp.csr_array(Y[rows]), labels[rows], 5)[[0, 2, 4]]).tolist()


def node_nonzeros(tree, X, Y):
    """Return the nonzeros that one pass over the training rows of all inner nodes goes through.

    A row belongs to the inner nodes above its labels; its nonzeros count once for each of them.
    """
    parent, depth, n_nodes = tree.parent.astype(np.int64), tree.depth, tree.parent.size
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    node = parent[tree.leaf_of_label[Y.indices]]
    nonzeros, total = np.diff(X.indptr), 0
    from_below = np.empty(0, np.int64)  # pairs (row, node), as row * n_nodes + node, that children hand to this level
    for level in range(int(depth.max()) - 1, -1, -1):
        of_level = depth[node] == level
        pairs = np.unique(np.concatenate([from_below, row[of_level] * n_nodes + node[of_level]]))
        total += int(nonzeros[pairs // n_nodes].sum())
        from_below = pairs // n_nodes * n_nodes + parent[pairs % n_nodes]
    return total


def grid(quick):
    """Return the sizes of all points, each once, with the axes that it lies on: a list of (sizes, axes)."""
    base, steps = (QUICK_BASE, QUICK_STEPS) if quick else (BASE, STEPS)
    points = {}
    for axis, names in scaling_tables.AXES.items():
        for step in steps:
            sizes = base | OTHERWISE.get(axis, {}) | {name: round(step * base[name]) for name in names}
            points.setdefault(tuple(sizes.values()), (sizes, []))[1].append(axis)
    return sorted(points.values(), key=lambda point: point[0]["n_train"] * math.log(point[0]["n_labels"]))


def real_points(folder):
    """Return points as :func:`grid` does: more and more of the most frequent labels of a real data set.

    There are none without a folder.
    """
    if folder is None:
        return []
    every = read_real(folder).n_labels
    sizes = [n for n in REAL_LABELS if n < every] + [every]
    return [({"labels_of": str(folder.resolve()), "n_labels": n}, [scaling_tables.REAL]) for n in sizes]


def compile_kernels(folder, options):
    """Compile all kernels, by tiny trainings in a process of their own; return the seconds that it took."""
    sizes = {"n_train": 300, "n_test": 50, "n_labels": 250}
    start = time.perf_counter()
    about = processes.make_data(folder, sizes, options)
    for arity in [*options.arity, AUTO]:
        params = options.params if arity == AUTO else PARAMS | options.params | {"arity": arity}
        found = processes.run_process(measuring(folder, options, about, params, repeat=False), folder, options, MODULE)
        if "failed" in about or "failed" in found:
            raise SystemExit(f"a tiny training failed: {about.get('failed') or found['failed']}")
    return time.perf_counter() - start


def measuring(folder, options, about, params, repeat, limit_bytes=None, tell_every=None, count_work=True):
    """Return the job that :func:`measure` takes."""
    return processes.job_of(
        "measure", folder, options, about=about, params=params, repeat=repeat, limit_bytes=limit_bytes,
        tell_every=tell_every, count_work=count_work,
    )  # fmt: skip


def study(options):
    """Measure all points of the study, write the results after each, and return them."""
    results = machine.header("scaling", options.threads) | {
        "params": PARAMS | options.params,
        "quick": options.quick,
        "base": QUICK_BASE if options.quick else BASE,
    }
    points = grid(options.quick) + real_points(options.labels_of)
    if options.labels_of is not None:
        results["labels_of"] = options.labels_of.name
    with tempfile.TemporaryDirectory(prefix="xmlcore-scaling-") as temporary:
        folder = Path(temporary)
        results["compile_s"] = compile_kernels(folder, options)
        processes.say(f"kernels compiled in {results['compile_s']:.0f} s; {len(points)} points, arity {options.arity}")
        for number, (sizes, axes) in enumerate(points, start=1):
            about = processes.make_data(folder, sizes, options)
            if "failed" in about:
                raise SystemExit(f"making point {number} failed: {about['failed']}")
            for arity in options.arity:
                params = PARAMS | options.params | {"arity": arity}
                job = measuring(folder, options, about, params, repeat=True)
                once = partial(processes.run_process, job, folder, options, MODULE)
                run = {"axes": axes, "arity": arity} | about | processes.quietest(once, options.attempts)
                results["runs"].append(run)
                processes.say(f"point {number} of {len(points)}, {told(run)}")
                files.write_results(options.out, results, scaling_tables.markdown(results))
    return results


def told(run):
    """Return a line about a run for the terminal."""
    sizes = f"N={run['n_train']:,} D={run['n_features']:,} L={run['n_labels']:,} arity {run['arity']}"
    if "failed" in run:
        return f"{sizes}: FAILED, {run['failed']}"
    return (
        f"{sizes}: training {run['train_s']:.2f} s, top 5 {run['exact_us']:.0f} us/row, "
        f"beam {run['beam_us']:.0f} us/row, P@1 {run['exact_precision'][0]:.1f}, "
        f"peak {tables.gibibytes(run.get('memory_peak'))} GiB"
    )


def amazon(options):
    """Measure one data set of the size of Amazon-670K, write the results, and return them."""
    results = machine.header("amazon-670k", options.threads) | {
        "params": PARAMS | options.params,
        "scale": options.scale,
        "limit_gb": options.limit_gb,
    }
    shape = SYNTHETIC_SHAPES["amazon-670k"]
    sizes = {name: round(options.scale * shape[name]) for name in ("n_train", "n_labels")}
    sizes |= {"shape": "amazon-670k", "n_test": min(options.test_rows, shape["n_test"])}
    with tempfile.TemporaryDirectory(prefix="xmlcore-scaling-") as temporary:
        folder = Path(temporary)
        results["compile_s"] = compile_kernels(folder, options)
        processes.say(f"kernels compiled in {results['compile_s']:.0f} s; making the data")
        results["data"] = about = processes.make_data(folder, sizes, options, tell_every=options.tell_every)
        if "failed" in about:
            raise SystemExit(f"making the data failed: {about['failed']}")
        peak = f", peak {about['make_peak'] / machine.GIB:.2f} GiB" if about["make_peak"] else ""
        processes.say(
            f"made in {about['make_s']:.1f} s{peak}: {about['nonzeros']:,} nonzeros, {about['labels']:,} labels"
        )
        for arity in [*options.arity, AUTO]:
            processes.say(f"arity {arity}")
            params = options.params if arity == AUTO else PARAMS | options.params | {"arity": arity}
            limit = None if options.limit_gb == 0 else round(options.limit_gb * machine.GB)
            job = measuring(
                folder, options, about, params, repeat=False, limit_bytes=limit, tell_every=options.tell_every,
                count_work=False,
            )  # fmt: skip
            results["runs"].append({"arity": arity} | about | processes.run_process(job, folder, options, MODULE))
            processes.say(told(results["runs"][-1]))
            files.write_results(options.out, results, scaling_tables.markdown(results))
    return results


def read_options():
    """Return the options of the command line; end the program with a message if they are wrong."""
    parser = command.parser("scaling", __doc__)
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
        help="results, as JSON (default: benchmarks/results/scaling.json or amazon-670k.json; trial: a temporary file)",
    )  # fmt: skip
    parser.add_argument("--table", type=Path, metavar="FILE", help="measure nothing: print the tables of a JSON file")
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
    if options.out is None:
        name = "amazon-670k" if options.amazon_670k else "scaling"
        folder = Path(tempfile.gettempdir()) if trial else files.RESULTS
        options.out = folder / f"{name}{'-trial' if trial else ''}.json"
    return options


def main():
    options = read_options()
    if options.job is not None:
        processes.run_job(options.job, {"measure": measure})
        return
    if options.table is not None:
        results = json.loads(options.table.read_text(encoding="utf-8"))
    else:
        results = amazon(options) if options.amazon_670k else study(options)
        results["xmlcore_code_end"] = machine.code_now()
        files.write_results(options.out, results, scaling_tables.markdown(results))
        processes.say(f"written to {options.out.name} and {options.out.with_suffix('.md').name}")
    print(scaling_tables.markdown(results))


if __name__ == "__main__":
    main()
