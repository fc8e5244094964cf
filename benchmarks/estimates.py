"""What trainings and selections were estimated to take, and what they took: python -m benchmarks.estimates [FOLDER]

An estimate should be right within a factor of ten on a machine that has kept no times yet, and of three after two
trainings of a model, or two selections by a method. These are the two before in the table, with other settings and
often other data. Times are of the processor, so that other programs hardly change them. Data sets are synthetic and,
with FOLDER, real. Everything is written to benchmarks/results/estimates.json and, as tables, to estimates.md beside it.
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
from xmlcore import experiment
from xmlcore.experiment.engine import estimates, times
from xmlcore.experiment.kinds.select import select_and_fit
from xmlcore.experiment.kinds.train import run_and_model

RESULT = files.RESULTS / "estimates.json"
REAL = ("scene", "bibtex", "20ng", "delicious", "eurlex4k-dev", "wordnet-hyper")
BEFORE, AFTER = 10.0, 3.0  # factors within which estimates should be right: without any time, and after two
SLACK = 0.3  # seconds by which an estimate may be off beside that
LONGEST = 40.0  # seconds; what is expected to take longer is left out
FALS = {"n_epochs": 3, "n_hidden": 16}
TRAININGS = {
    "PLT": (
        {},
        {"n_estimators": 3},
        {"arity": 16, "max_leaf_labels": 10, "C": 1.0, "loss": "squared_hinge"},
        {"arity": 2, "max_leaf_labels": 100, "C": 10.0, "loss": "logistic"},
        {"noise_sigma": 0.1, "noise_support": "nonzero"},
    ),
    "OneVsRest": ({}, {"C": 1.0}),
    "LdSM": ({"n_estimators": 2}, {"n_estimators": 2, "n_epochs": 20}, {"n_estimators": 2, "max_nodes": 50}),
    "DoubleSampling": ({}, {"adversaries": "random"}, {"features": "paper"}, {"n_adversarial": 30}),
}
SELECTIONS = {
    "FALS": (FALS, {}, FALS | {"scoring": "sampled"}),
    "ChiSquared": ({},),
    "MutualInformation": ({},),
    "Lasso": ({},),
    "RandomForest": ({"n_estimators": 5},),
}


def measured(data, trainings=TRAININGS, selections=SELECTIONS):
    """Train and select on a data set, and return a dict for each: its work, and the seconds that it took."""
    found, classes = [], one_label(data)
    for table, fill, run, work_of in (
        (trainings, experiment.full_params, _train, estimates.training),
        (selections, lambda name, own: experiment.SELECTORS[name].filled(name, own), _select, estimates.selecting),
    ):
        for name, settings in table.items():
            for own in settings:
                rows, params = classes if name == "DoubleSampling" else data, fill(name, own)
                work = work_of(rows, name, params)
                if work.seconds > LONGEST:
                    continue
                before = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    run(rows, name, params)
                taken = estimates.wall(time.process_time() - before)
                found.append({"settings": own, "taken": taken, "work": work._asdict()})
    return found


def _train(data, model, params):
    """Train and measure a model."""
    run_and_model(data, model, params, 5)


def _select(data, method, params):
    """Select features."""
    select_and_fit(data, method, params)


def estimate(runs):
    """Add what is estimated without any time, and when the two runs before of the same group are known."""
    groups = defaultdict(list)
    for run in runs:
        groups[run["work"]["group"]].append(run)
    for own in groups.values():
        for at, run in enumerate(own):
            work = times.Work(**run["work"])
            run["estimated"] = work.seconds
            with tempfile.TemporaryDirectory() as folder:
                os.environ["XMLCORE_CACHE"] = folder
                for other in [own[at - back] for back in (1, 2) if back < len(own)]:
                    times.add(times.Work(**other["work"]), other["taken"])
                run["after_two"] = times.expected(work)


def is_far(run, name, factor, slack=SLACK):
    """Return whether an estimate is off by more than a factor, and by more than ``slack`` seconds beside it."""
    return run[name] > factor * run["taken"] + slack or run["taken"] > factor * run[name] + slack


def markdown(results):
    """Return the results as a text with a table of groups, and one of all runs."""
    groups, lines = defaultdict(list), []
    for run in results["runs"]:
        groups[run["work"]["group"]].append(run)
    for group, runs in groups.items():
        line = [group, str(len(runs))]
        for name, factor in (("estimated", BEFORE), ("after_two", AFTER)):
            line += [_worst(runs, name), str(sum(is_far(run, name, factor) for run in runs))]
        lines.append(line)
    every = []
    for run in results["runs"]:
        settings = ", ".join(f"{name} {value}" for name, value in run["settings"].items()) or "defaults"
        seconds = [f"{run[name]:.2f}" for name in ("taken", "estimated", "after_two")]
        every.append([run["data"], run["work"]["group"], settings, *seconds])
    parts = [
        "# Estimates of time",
        f"Estimates without any time of this machine should be right within a factor of {BEFORE:g}, and those after "
        f"two runs of the same group, of other settings and often other data, within {AFTER:g}; both may be off by "
        f"{SLACK:g} s beside that. The worst factors are of runs that took, or were expected to take, longer than "
        "that. Seconds are those of the processor, shared by the cores as estimates share them.",
        tables.table(
            ["group", "runs", "worst factor", f"beyond {BEFORE:g}", "worst after two", f"beyond {AFTER:g}"], lines
        ),
        "## All runs",
        tables.table(["data", "group", "settings", "taken", "estimated", "after two"], every),
        "\n".join([tables.measured_text(results), *tables.noise_lines(results)]),
    ]
    return "\n\n".join(parts) + "\n"


def _worst(runs, name):
    """Return the largest factor by which estimates are off, of runs that are not short."""
    factors = [
        max(run["taken"] / run[name], run[name] / run["taken"]) for run in runs if max(run["taken"], run[name]) > SLACK
    ]
    return f"{max(factors):.1f}" if factors else "–"


def main(arguments=None):
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="real data sets, each a folder with train.txt.gz")
    parser.add_argument("--data", nargs="+", help="names of data sets (default: all)")
    options = parser.parse_args(arguments)
    names = options.data or [*SYNTHETIC, *(REAL if options.folder else ())]
    results = machine.header("estimates", os.cpu_count())
    experiment.warm_up()
    for name in names:
        clock = machine.Clock()
        runs = measured(shaped(name, options.folder))
        others = clock.share_of_others()
        results["runs"] += [{"data": name, **run, "others_cpu": others} for run in runs]
        print(f"{name}: {len(runs)} runs", flush=True)
    estimate(results["runs"])
    results["xmlcore_code_end"] = machine.code_now()
    files.write(RESULT, files.as_json(results))
    files.write(RESULT.with_suffix(".md"), markdown(results))


if __name__ == "__main__":
    main()
