"""What tasks were estimated to take, and what they took: python -m benchmarks.estimates [FOLDER] [--data NAME ...]

A task of every kind runs on data sets of different shapes, synthetic ones and, with FOLDER, real ones. Estimates should
be right within a factor of three. Everything is written to benchmarks/results/estimates.json and, as a table, to
estimates.md beside it.
"""

import argparse
import os
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

from benchmarks.library import files, machine, tables
from benchmarks.library.shapes import SYNTHETIC, one_label, shaped
from xmlcore import experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment.engine import learned

RESULT = files.RESULTS / "estimates.json"
REAL = ("bibtex", "corel5k", "scene")
FACTOR = 3.0  # estimates should be right within this factor
SLACK = 0.3  # seconds by which an estimate may be off beside that
SMALL = 2000  # training rows of comparisons of selections
FALS = {"n_epochs": 3, "n_hidden": 16}
NOISE = ({}, {"support": "nonzero"})


def tasks(data):
    """Yield a name and a task for every kind; each is sent the key of its result."""
    of, of_classes = {"dataset": save_dataset(data)}, {"dataset": save_dataset(one_label(data))}
    task = experiment.task

    def train(model, params=None, inputs=of):
        return task("train", inputs, {"model": model, "params": params, "k": 5})

    run = {"run": (yield "PLT", train("PLT"))}
    yield "PLT, 3 trees", train("PLT", {"n_estimators": 3})
    yield "PLT, wide", train("PLT", {"arity": 16, "max_leaf_labels": 10})
    yield "PLT, noise", train("PLT", {"noise_sigma": 0.1, "noise_support": "nonzero"})
    yield "OneVsRest", train("OneVsRest")
    trees = {"run": (yield "LdSM", train("LdSM", {"n_estimators": 5}))}
    classes = {"run": (yield "DoubleSampling", train("DoubleSampling", inputs=of_classes))}
    yield "parts of LdSM", task("prefixes", trees, {})
    few = {"n_repeats": 2, "n_rows": 200, "seed": 0}
    for kind, options in (("gaussian", {}), ("gaussian", {"support": "nonzero"}), ("words", {}), ("pgd", {})):
        where = "".join(f", {value}" for value in options.values())
        yield (
            f"robustness, {kind}{where}",
            task("robustness", run, few | {"kind": kind, "levels": [0.1, 0.2], "options": options}),
        )
    yield "robustness of LdSM", task("robustness", trees, few | {"kind": "gaussian", "levels": [0.1], "options": {}})
    yield "quality of nodes", task("node_quality", run, {})
    yield "explanations", task("explanations", run, {"n_rows": 50, "seed": 0})
    yield "explanations of LdSM", task("explanations", trees, {"n_rows": 50, "seed": 0})
    study = {"n_adversarial": [5, 20], "examples_per_class": [1.0], "n_candidates": [5, 50]}
    yield "sampling", task("sampling", classes, study)
    chosen = yield "FALS", task("select", of, {"method": "FALS", "params": FALS})
    yield "ChiSquared", task("select", of, {"method": "ChiSquared", "params": {}})
    yield "FALS, 3 seeds", task("selection_stability", of, {"method": "FALS", "params": FALS, "seeds": (0, 1, 2)})
    compared = {"selections": [None, ("ChiSquared", {})], "shares": (0.1,), "seeds": (0,)}
    yield "comparison", task("compare_selections", of, compared | {"n_rows": min(SMALL, data.n_train)})
    on_selected = {"model": "PLT", "params": None, "per_label": False, "n_per_label": 5, "k": 5}
    yield "training on selected features", task("reduced", {"selection": chosen}, on_selected)


def measured(data):
    """Run a task of every kind on a data set, and return a dict for each, in seconds.

    Other programs make the clock run longer, and several cores make the processor's time longer: "least" is the lesser
    of the two, and "most" is the clock's time.
    """
    steps, found, key = tasks(data), [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:
            try:
                what, task = steps.send(key)
            except StopIteration:
                return found
            estimated = task.estimate().seconds
            clock, processor = time.perf_counter(), time.process_time()
            key = experiment.keep(task)
            clock, processor = time.perf_counter() - clock, time.process_time() - processor
            for record in store.entries(learned.FOLDER):  # estimates are compared as they are before a first training
                store.delete(learned.FOLDER, record["key"])
            found.append({"task": what, "least": min(clock, processor), "most": clock, "estimated": estimated})


def is_far(run, factor=FACTOR, slack=SLACK):
    """Return whether an estimate is off by more than a factor, and by more than ``slack`` seconds beside it."""
    return run["estimated"] > factor * run["most"] + slack or run["least"] > factor * run["estimated"] + slack


def markdown(results):
    """Return the results as a text with a table: a row per task, a column per data set."""
    shown, far = defaultdict(dict), []
    for run in results["runs"]:
        mark = "**" if is_far(run) else ""
        shown[run["task"]][run["data"]] = f"{mark}{run['most']:.2f} / {run['estimated']:.2f}{mark}"
        far += [f"{run['task']} on {run['data']}"] * bool(mark)
    names = list(dict.fromkeys(run["data"] for run in results["runs"]))
    rows = [[task, *(cells.get(name, "–") for name in names)] for task, cells in shown.items()]
    said = f"{len(far)} of {len(results['runs'])} estimates are off by more" + (f": {'; '.join(far)}." if far else ".")
    lines = [
        "# Estimates of time",
        f"Seconds measured / seconds estimated. An estimate should be right within a factor of {FACTOR:g} and "
        f"{SLACK:g} s; {said}",
        tables.table(["task", *names], rows),
        "\n".join([tables.measured_text(results), *tables.noise_lines(results)]),
    ]
    return "\n\n".join(lines) + "\n"


def main(arguments=None):
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="real data sets, each a folder with train.txt.gz")
    parser.add_argument("--data", nargs="+", help="names of data sets (default: all)")
    options = parser.parse_args(arguments)
    names = options.data or [*SYNTHETIC, *(REAL if options.folder else ())]
    results = machine.header("estimates", os.cpu_count())
    experiment.warm_up()
    experiment.measure_speed()
    for name in names:
        data = shaped(name, options.folder)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XMLCORE_CACHE"] = folder  # nothing is kept from earlier
            experiment.measure_speed()
            clock = machine.Clock()
            runs = measured(data)
        others = clock.share_of_others()
        results["runs"] += [{"data": name, **run, "others_cpu": others} for run in runs]
        print(f"{name}: {sum(map(is_far, runs))} of {len(runs)} estimates are off by more than {FACTOR:g}", flush=True)
    results["xmlcore_code_end"] = machine.code_now()
    files.write(RESULT, files.as_json(results))
    files.write(RESULT.with_suffix(".md"), markdown(results))


if __name__ == "__main__":
    main()
