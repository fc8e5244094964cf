"""How trainings spread over the workers of a Dask cluster: python -m benchmarks.cluster

For 1, 2, ... workers: a scheduler and as many worker processes on this machine, each bound to one core and with a store
of its own, as on machines that share no files. Each worker first trains once, so that it has the data and its kernels;
then as many trainings as asked for are submitted at once. The last result is in the store of this process when the time
ends.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.library import command, files, machine, processes, tables

RESULT = files.RESULTS / "cluster.json"
MODELLED = (4, 8, 16, 32, 64)  # numbers of workers that the cost model is written for


def tasks(data, model, count, first_seed):
    """Return trainings of a data set of the catalog that differ in their seed."""
    from xmlcore import datasets, experiment

    dataset = datasets.load(data)
    datasets.save_dataset(dataset)
    return [
        experiment.task(
            "train", {"dataset": dataset.fingerprint}, {"model": model, "params": {"random_state": first_seed + number}}
        )
        for number in range(count)
    ]


def start_workers(address, count, folder):
    """Start worker processes as ``dask worker`` does, each on a core and with a store of its own."""
    cores = sorted(os.sched_getaffinity(0))
    started = []
    for number in range(count):
        variables = os.environ | {"XMLCORE_CACHE": str(folder / f"worker-{number}"), "PYTHONPATH": str(machine.ROOT)}
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        core = cores[number % len(cores)]
        started.append(
            subprocess.Popen(
                [*command, "--memory-limit", "0", "--host", "127.0.0.1"], env=variables, cwd=folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
            )
        )  # fmt: skip
    return started


def measure(n_workers, data, model, count):
    """Return the seconds of ``count`` trainings on so many workers, and of their parts."""
    import distributed

    from xmlcore import experiment, store
    from xmlcore.jobs import Queue

    with tempfile.TemporaryDirectory(prefix="xmlcore-cluster-") as name:
        folder = Path(name)
        os.environ["XMLCORE_CACHE"] = str(folder / "here")
        with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
            started = start_workers(cluster.scheduler_address, n_workers, folder)
            queue = Queue(scheduler=cluster.scheduler_address, keep=10_000)
            try:
                while f"{n_workers} worker" not in queue.where:
                    time.sleep(0.1)
                first = [experiment.submit(queue, task) for task in tasks(data, model, n_workers, 10_000)]
                first_s = max(_finished(job).total_seconds() for job in first)
                start = time.perf_counter()
                jobs = [experiment.submit(queue, task) for task in tasks(data, model, count, 0)]
                keys = [job.result() for job in jobs]
                seconds = time.perf_counter() - start
                return {
                    "workers": n_workers,
                    "first_s": first_s,
                    "seconds": seconds,
                    "job_s": sum(job.elapsed for job in jobs) / count,
                    "fit_s": sum(experiment.load("train", key).times["fit_s"] for key in keys) / count,
                    "data_bytes": store.info("datasets", store.info("runs", keys[0])["fingerprint"])["bytes"],
                    "result_bytes": sum(store.info("runs", key)["bytes"] for key in keys) / count,
                }
            finally:
                queue.shutdown()
                for process in started:
                    process.terminate()
                    process.wait()


def _finished(job):
    """Wait for a job, and return the time from its submission to its end."""
    job.result()
    return job.ended - job.queued


def cost(job_s, workers, count):
    """Return the modelled seconds of ``count`` trainings: rounds of jobs that take so many seconds each."""
    return -(-count // workers) * job_s


def markdown(results):
    """Return the results as Markdown."""
    one, count = results["runs"][0], results["count"]
    rows = [
        [f"{run['workers']}", f"{run['seconds']:.1f}", f"{one['seconds'] / run['seconds']:.2f}",
         f"{run['job_s']:.2f}", f"{run['fit_s']:.2f}", f"{run['first_s']:.1f}"]
        for run in results["runs"]
    ]  # fmt: skip
    head = ["workers", "seconds", "times as fast", "a job, s", "of it training, s", "the first job of a worker, s"]
    job_s = one["seconds"] / count  # with what lies between two jobs
    beyond = [[f"{n}", f"{cost(job_s, n, count):.1f}", f"{cost(job_s, n, 10 * count):.1f}"] for n in MODELLED]
    lines = [
        "# Trainings on a cluster",
        "",
        f"{count} trainings of {results['model']} on {results['data']}, one core a worker, no shared folder. The data "
        f"has {one['data_bytes'] / 1e6:.1f} MB and a result {one['result_bytes'] / 1e6:.2f} MB. The first job of a "
        "worker starts a process, fetches the data and loads kernels.",
        "",
        tables.table(head, rows),
        "",
        "Beyond that, by the cost model of [docs/cluster.md](../../docs/cluster.md), not measured:",
        "",
        tables.table(["workers", f"{count} trainings, s", f"{10 * count} trainings, s"], beyond),
        "",
    ]
    return "\n".join([*lines, tables.measured_text(results), ""])


def main():
    parser = command.parser("cluster", __doc__)
    parser.add_argument("--data", default="api-docs", help="a data set of the catalog")
    parser.add_argument("--model", default="PLT")
    parser.add_argument("--count", type=int, default=20, help="trainings")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="numbers of workers")
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    if options.table:
        results = files.read_json(options.out)
    else:
        about = {"data": options.data, "model": options.model, "count": options.count}
        results = machine.header("cluster", 1) | about
        for n_workers in options.workers:
            run = measure(n_workers, options.data, options.model, options.count)
            results["runs"].append(run)
            processes.say(f"{n_workers} workers: {run['seconds']:.1f} s, a job {run['job_s']:.2f} s")
            command.keep(results, options)
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
