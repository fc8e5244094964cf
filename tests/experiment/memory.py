"""Measures the memory of tasks in a process of its own: python memory.py SHAPE, with the folders of tests on the path.

Prints a list of (what, estimated bytes, measured bytes) as JSON. Only Linux says how much memory a process had at most
since it was asked to forget what was before.
"""

import gc
import json
import sys
import warnings
from pathlib import Path

from making import robustness, sampling, select, train

from benchmarks.library.shapes import SYNTHETIC, made, one_label
from xmlcore import experiment
from xmlcore.datasets import save_dataset

# Those of the benchmarks, but "wide" has fewer rows and labels, so that it takes a third of the time. What is dense
# still takes some 300 MB: it grows with rows times features.
SIZES = SYNTHETIC | {"wide": (2000, 500, 4000, 300, 50, 3)}


def status(name):
    """A line of the process's status, in bytes."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split(f"{name}:")[1].split()[0])


def measured(task):
    about = task.estimate()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
    before = status("VmRSS")
    key = experiment.keep(task)
    return about.bytes, status("VmHWM") - before, key


def main(name):
    data = made(name, SIZES[name])
    experiment.warm_up()
    of, of_classes = save_dataset(data), save_dataset(one_label(data))
    found = []

    def check(what, task):
        estimated, used, key = measured(task)
        found.append((what, estimated, used))
        return key

    run = check("PLT", train(of))
    check("PLT, noise on all features", train(of, "PLT", {"noise_sigma": 0.1}))
    if name == "few":  # on wide rows it takes long
        check("PLT, three noisy copies", train(of, "PLT", {"noise_sigma": 0.1, "noise_ratio": 3.0}))
    check("LdSM", train(of, "LdSM", {"n_estimators": 5}))
    one_class = check("DoubleSampling", train(of_classes, "DoubleSampling"))
    check("sampling", sampling(one_class, n_adversarial=[5, 20], examples_per_class=[1.0], n_candidates=[5, 1000]))
    check("FALS", select(of, "FALS", {"n_epochs": 1}))
    check("ChiSquared", select(of, "ChiSquared", {}))
    check("Lasso", select(of, "Lasso", {}))
    check("gaussian", robustness(run, "gaussian", [0.1], {}, n_repeats=1, n_rows=500))
    check("pgd", robustness(run, "pgd", [0.1], {}, n_repeats=1, n_rows=500))
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
