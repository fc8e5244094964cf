"""One label tree trained by one process, and by the workers of a cluster of this machine: time, memory, bytes.

    python -m benchmarks.one_tree FOLDER ...

A FOLDER has train.txt.gz or, of texts, train.jsonl.gz. Workers have one thread and are bound to a core, cores in turn;
the process that clusters labels and joins the tree uses all cores while workers wait. Memory is resident, files that
are mapped with it, above that before rows are read. The prediction cuts the seconds of one process.
"""

import heapq
import os
import pickle
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, files, processes, tables
from benchmarks.library.contestant import memory_now, reset_peak, settle_memory
from benchmarks.memory import digest, read, train_toy
from xmlcore import PLT, jobs
from xmlcore.arrays import csr_of
from xmlcore.cluster import TrainingCluster
from xmlcore.mapped import open_rows, write_rows
from xmlcore.models.plt import on_cluster
from xmlcore.models.plt.training import NODES

WAYS = (("one process, 1 thread", 0, 1), ("one process, 2 threads", 0, 2), ("2 workers", 2, 2), ("4 workers", 4, 2))
MODELLED = (1, 2, 4, 8, 16, 32, 64)  # numbers of workers


def prepare(job):
    """Write rows and labels to files."""
    X, Y = read(job["source"])
    sp.save_npz(write_rows(X, job["rows"]).folder / "labels.npz", sp.csr_matrix(Y))
    return {}


def start_workers(address, count, folder):
    """Start worker processes as ``dask worker`` does, each on a core."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard",
               "--memory-limit", "0", "--host", "127.0.0.1"]  # fmt: skip
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    bound = [["taskset", "-c", str(cores[number % len(cores)])] for number in range(count)]
    return [subprocess.Popen([*to_core, *command], **quiet) for to_core in bound]


def timed_part(*task):
    start = time.thread_time()
    on_cluster.train_part(*task)
    return os.getpid(), time.thread_time() - start


def memory():
    """Return the bytes that this process has, its peak since the last call, and its processor time."""
    found = memory_now()
    reset_peak()
    return *found, time.process_time()


def watch(seen, run=TrainingCluster.run):
    """Let clusters note what they give to their workers."""

    def watched(self, function, tasks, costs, *others):
        folder, start = Path(tasks[0][0]), time.perf_counter()
        answers = run(self, timed_part, tasks, costs, *others)
        ptr, under, rows = (np.load(folder / f"{name}.npy") for name in ("rows-ptr", "ptr", "rows"))
        needed = {pid: np.zeros(ptr.size - 1, bool) for pid, _ in answers}
        for (pid, _), task in zip(answers, tasks):
            for _, parent, *_ in task[2]:
                needed[pid][rows[under[parent] : under[parent + 1]] if parent >= 0 else slice(None)] = True
        seen.update({
            "run_s": time.perf_counter() - start, "costs": costs, "part_s": [seconds for _, seconds in answers],
            "read": sum(8 * int(np.diff(ptr)[rows].sum()) for rows in needed.values()),
            "messages": len(pickle.dumps(tasks)), "results": sum(p.stat().st_size for p in folder.glob("part-*")),
        })  # fmt: skip
        return answers

    TrainingCluster.run = watched


def measure(job):
    """Train on rows in files, or in memory without a cluster; return seconds, bytes, and a digest of the tree."""
    seen, spent, last = {}, {}, [None, time.perf_counter()]
    model = PLT(n_jobs=job["threads"])

    def note(phase, fraction, detail=""):
        now = time.perf_counter()
        spent[last[0]] = spent.get(last[0], 0.0) + now - last[1]
        last[:] = phase, now

    warm_up = partial(train_toy, n_jobs=1)
    warm_up()
    with ExitStack() as stack:
        client = None
        if job["workers"]:
            import distributed

            cluster = stack.enter_context(
                distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0")
            )
            for worker in start_workers(cluster.scheduler_address, job["workers"], Path(job["data"])):
                stack.callback(worker.wait)
                stack.callback(worker.terminate)
            client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
            client.wait_for_workers(job["workers"], timeout=120)
            client.run(warm_up)
            stack.enter_context(jobs.on_cluster(client))
            least, on_cluster.LEAST_COST = on_cluster.LEAST_COST, 1.0
            warm_up(arity=100, max_leaf_labels=100)  # with slices that are put together
            on_cluster.LEAST_COST = least
            watch(seen)
        settle_memory()
        before = {"here": memory()} | (client.run(memory) if client else {})
        X, Y = open_rows(job["rows"]), sp.csr_array(sp.load_npz(Path(job["rows"]) / "labels.npz"))
        data = 8 * X.nnz
        if not client:
            X = csr_of(X.indptr, np.array(X.indices), np.array(X.data), X.shape)
        wall = last[1] = time.perf_counter()
        model.fit(X, Y, progress=note)
        note("", 1.0)
        wall = last[1] - wall
        after = {"here": memory()} | (client.run(memory) if client else {})
    above = {name: (peak - before[name][0], cpu - before[name][2]) for name, (_, peak, cpu) in after.items()}
    here, cpu = above.pop("here")
    return seen | {
        "seconds": wall, "nodes_s": spent[NODES], "cpu_s": cpu, "peak": here, "data": data, "arrays": digest(model),
        "labels": Y.nnz / Y.shape[0], "worker_peak": max([p for p, _ in above.values()], default=here),
        "worker_cpu_s": [seconds for _, seconds in above.values()],
    }  # fmt: skip


def runs(options):
    """Train on all data sets in all ways."""
    with tempfile.TemporaryDirectory(prefix="xmlcore-one-tree-") as temporary:
        folder = Path(temporary)
        (folder / "data").mkdir()
        for source in options.folders:
            name, rows = Path(source).name, str(folder / Path(source).name)
            job = processes.job_of("prepare", folder, options, source=source, rows=rows)
            processes.run_process(job, folder, options, "benchmarks.one_tree")
            for way, workers, options.threads in WAYS:
                job = processes.job_of("measure", folder, options, workers=workers, rows=rows)
                once = partial(processes.run_process, job, folder, options, "benchmarks.one_tree")
                yield {"name": name, "way": way, "workers": workers} | processes.quietest(once, options.attempts)


def predicted(runs, workers):
    """Return the seconds of a training by so many workers, of the runs of one process and the costs of parts."""
    one, two, costs = runs[0], runs[1], runs[2]["costs"]
    ends = [0.0] * workers
    for cost in sorted(costs, reverse=True):
        heapq.heapreplace(ends, ends[0] + one["nodes_s"] * cost / sum(costs))
    return two["seconds"] - two["nodes_s"] + max(ends)


def markdown(results):
    head = ["data", "trained by", "seconds", "times as fast", "predicted s", "largest worker, MiB", "of one process",
            "processor s, here", "of workers", "rows read / data", "labels a row", "results, MiB", "messages, KiB",
            "model", "of other programs"]  # fmt: skip
    names, lines, beyond = list(dict.fromkeys(run["name"] for run in results["runs"])), [], []
    for name in names:
        runs = [run for run in results["runs"] if run["name"] == name]
        for run in runs:
            of = [""] * 6 if not run["workers"] else [
                " + ".join(f"{cpu:.1f}" for cpu in run["worker_cpu_s"]), f"{run['read'] / run['data']:.2f}",
                f"{run['labels']:.2f}", tables.mebibytes(run["results"]), f"{run['messages'] / 1024:.0f}",
                "the same" if run["arrays"] == runs[0]["arrays"] else "ANOTHER",
            ]  # fmt: skip
            lines.append([
                name, run["way"], f"{run['seconds']:.1f}", f"{runs[0]['seconds'] / run['seconds']:.2f}",
                f"{predicted(runs, run['workers']):.1f}" if run["workers"] else "",
                tables.mebibytes(run["worker_peak"]), f"{run['worker_peak'] / runs[0]['peak']:.2f}",
                f"{run['cpu_s']:.1f}", *of, f"{run['others_cpu'] or 0:.0%}",
            ])  # fmt: skip
        beyond.append([name, *(f"{predicted(runs, n):.1f}" for n in MODELLED)])
    return tables.document(
        "# One tree over a cluster", tables.measured_text(results), tables.table(head, lines, 2),
        "Predicted seconds with so many workers:", tables.table(["data", *map(str, MODELLED)], beyond),
    )  # fmt: skip


def main():
    parser = command.parser("one_tree", __doc__)
    parser.add_argument("folders", nargs="*", help="of data sets")
    parser.add_argument("--attempts", type=int, default=2, help="at a run while other programs disturb it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--job", type=Path)
    command.add_files(parser, files.RESULTS / "one_tree.json")
    options = parser.parse_args()
    if options.job:
        return processes.run_job(options.job, {"measure": measure, "prepare": prepare})
    command.measured("one_tree", options, runs(options), markdown, options.threads)
    return None


if __name__ == "__main__":
    sys.exit(main())
