"""What a user waits for when nothing is compiled yet: python -m benchmarks.cold_start

Each measurement has processes and an empty folder of its own for compiled kernels:

- the kernels of label trees, and all kernels, compiled by one process and by two at a time;
- the first training of each model on a data set, from the submission of its job to the result, with a job queue that
  was made at the same moment and compiles all kernels in the background, as the dashboard's does.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.library import command, contestant, files, machine, processes, tables

RESULT = files.RESULTS / "cold_start.json"
LABEL_TREES = ("PLT-training", "PLT-search")  # pieces, see xmlcore.experiment.warm_up
MODELS = ("PLT", "OneVsRest", "LdSM", "DoubleSampling")
TITLES = {"label trees": "kernels of label trees", "everything": "all kernels"}


def compile_label_trees(order):
    """Compile the two pieces of label trees in the order ``order``, as one of two processes does."""
    from xmlcore.models import PLT
    from xmlcore.models.compiling import compile_lock

    functions = PLT().warm_up_pieces()
    for name in order:
        with compile_lock(name):
            functions[name]()


def first_training(model, data):
    """Make a queue that compiles in the background, submit a training at once, and return how long its result took."""
    from xmlcore import datasets, experiment
    from xmlcore.jobs import Queue

    dataset = datasets.load(data)
    datasets.save_dataset(dataset)
    task = experiment.task("train", {"dataset": dataset.fingerprint}, {"model": model})
    start = time.perf_counter()
    queue = Queue(n_workers=2)
    try:
        queue.submit(experiment.warm_up, title="Compiling", key="warm-up")
        job = experiment.submit(queue, task)
        job.result()  # raises when the training failed
        seconds = time.perf_counter() - start
        times = task.load().times
    finally:
        queue.shutdown()
    return {"compile_s": times["compile_s"], "fit_s": times["fit_s"], "press_to_result_s": seconds}


def commands(what, n_processes, data):
    """Return the commands that are started at the same time for a measurement."""
    own = [sys.executable, "-m", "benchmarks.cold_start"]
    if what == "everything":
        return [[sys.executable, "-m", "xmlcore.warm_up", "--jobs", str(n_processes)]]
    if what == "label trees":
        return [[*own, "--job", what, *order] for order in (LABEL_TREES, LABEL_TREES[::-1])[:n_processes]]
    return [[*own, "--job", what, data]]


def measure(what, n_processes, data):
    """Measure with nothing compiled."""
    with tempfile.TemporaryDirectory(prefix="xmlcore-cold-") as folder:
        variables = machine.environment(n_processes, Path(folder) / "kernels") | {"XMLCORE_CACHE": folder}
        clock, start, before = machine.Clock(), time.perf_counter(), machine.of_children()
        started = [
            subprocess.Popen(command, env=variables, cwd=machine.ROOT, stdout=subprocess.PIPE, text=True)
            for command in commands(what, n_processes, data)
        ]
        said = [process.communicate()[0] for process in started]
        seconds = time.perf_counter() - start
        if any(process.returncode for process in started):
            raise SystemExit(f"{what} failed")
        size = contestant.folder_bytes(Path(folder) / "kernels")
    run = {"what": what, "processes": n_processes, "seconds": seconds, "cpu_s": machine.of_children() - before}
    run |= {"bytes": size, "others_cpu": clock.share_of_others()}
    return run | (json.loads(said[0]) if what in MODELS else {})


def runs(options):
    """Measure what the options ask for."""
    for what in options.only:
        for n_processes in (2,) if what in MODELS else (1, 2):
            yield processes.quietest(partial(measure, what, n_processes, options.data), options.attempts)


def markdown(results):
    """Return the results as Markdown."""
    compiled = [
        [TITLES[one["what"]], f"{one['processes']}", f"{one['seconds']:.1f}", f"{one['cpu_s']:.1f}",
         f"{one['bytes'] / 1e6:.1f}"]
        for one in results["runs"] if one["what"] in TITLES
    ]  # fmt: skip
    trained = [
        [one["what"], f"{one['press_to_result_s']:.1f}", f"{one['compile_s']:.1f}", f"{one['fit_s']:.1f}"]
        for one in results["runs"]
        if one["what"] in MODELS
    ]
    lines = ["# Cold start", "From an empty folder of compiled kernels, the start of processes included."]
    if compiled:
        lines.append(tables.table(["", "processes", "seconds", "processor time, s", "on disk, MB"], compiled))
    if trained:
        lines += [
            f"The first training on {results['data']}, while another process compiles all kernels. Training is the "
            "fit alone; the rest is starting a process, reading, prediction and measures.",
            tables.table(["model", "job to result, s", "of it compiling, s", "training, s"], trained),
        ]
    return tables.document(*lines, tables.measured_text(results), *tables.noise_lines(results))


def main():
    parser = command.parser("cold_start", __doc__)
    parser.add_argument("--data", default="api-docs", help="a data set that comes with xmlcore")
    parser.add_argument("--only", nargs="*", choices=[*TITLES, *MODELS], default=[*TITLES, *MODELS])
    parser.add_argument("--attempts", type=int, default=3, help="runs that other programs may disturb")
    command.add_files(parser, RESULT)
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)  # a measuring process
    options = parser.parse_args()
    if options.job:
        what, *rest = options.job
        if what in MODELS:
            print(json.dumps(first_training(what, *rest)))
        else:
            compile_label_trees(rest)
        return
    command.measured("cold start", options, runs(options), markdown, data=options.data)


if __name__ == "__main__":
    main()
