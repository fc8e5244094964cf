"""Tasks of all kinds with their parameters by position, for tests."""

import io

from xmlcore import experiment
from xmlcore.experiment.engine import task_files
from xmlcore.progress import Cancelled


def stop(phase, fraction, detail=""):
    """Progress that stops a task at its first report."""
    raise Cancelled


def kept(kind, inputs, /, **params):
    """A task that has been kept."""
    task = experiment.task(kind, inputs, params)
    experiment.keep(task)
    return task


def train(fingerprint, model="PLT", params=None, k=5):
    return experiment.task("train", {"dataset": fingerprint}, {"model": model, "params": params, "k": k})


def select(fingerprint, method="FALS", params=None):
    return experiment.task("select", {"dataset": fingerprint}, {"method": method, "params": params})


def compare(fingerprint, selections, shares=(0.1,), seeds=(0, 1, 2), n_rows=None):
    params = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
    return experiment.task("compare_selections", {"dataset": fingerprint}, params)


def stability(fingerprint, method="FALS", params=None, seeds=(0, 1, 2, 3, 4)):
    params = {"method": method, "params": params, "seeds": seeds}
    return experiment.task("selection_stability", {"dataset": fingerprint}, params)


def robustness(run, kind, levels, options=None, n_repeats=3, seed=0, n_rows=None):
    params = {"kind": kind, "levels": levels, "options": options, "n_repeats": n_repeats, "seed": seed}
    return experiment.task("robustness", {"run": run}, params | {"n_rows": n_rows})


def sampling(run, **params):
    return experiment.task("sampling", {"run": run}, params)


def reduced(selection, model="PLT", params=None, per_label=False, n_per_label=None, k=5):
    params = {"model": model, "params": params, "per_label": per_label, "n_per_label": n_per_label, "k": k}
    return experiment.task("reduced", {"selection": selection}, params)


def reading(kind, inputs, contents, **params):
    """A task that reads files, given as their bytes by name."""
    files = {name: io.BytesIO(content) for name, content in contents.items()}
    task = experiment.task(kind, inputs, params | {"files": task_files.described(files)})
    task_files.put(task.key, files)
    return task


def of_file(kind, inputs, content, file="rows", /, **params):
    """A kept task that reads a file which is given to it."""
    task = reading(kind, inputs, {file: content}, **params)
    experiment.keep(task)
    return task
