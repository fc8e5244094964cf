"""Measures the memory of tasks in a process of its own: python memory.py SHAPE, with the folders of tests on the path.

Prints a list of (what, estimated bytes, measured bytes) as JSON. Only Linux says how much memory a process had at most
since it was asked to forget what was before.
"""

import gc
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from making import robustness, sampling, select, train

from xmlcore import experiment
from xmlcore.datasets import Dataset, make_synthetic, save_dataset

FIELDS = ("n_train", "n_test", "n_features", "n_labels", "features_per_row", "labels_per_row")
SIZES = {"wide": (2000, 500, 4000, 300, 50, 3), "few": (6000, 1000, 1500, 20, 20, 1.5)}


def first_labels(Y):
    """The first label of each row only."""
    return sp.csr_array((np.ones(Y.shape[0], bool), Y.indices[Y.indptr[:-1]], np.arange(Y.shape[0] + 1)), Y.shape)


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
    data = make_synthetic(**dict(zip(FIELDS, SIZES[name])), name=name)
    experiment.warm_up()
    classes = Dataset(name, data.X_train, first_labels(data.Y_train), data.X_test, first_labels(data.Y_test))
    of, of_classes = save_dataset(data), save_dataset(classes)
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
