"""Trees of an ensemble as tasks of their own, which several machines train at the same time.

:func:`xmlcore.experiment.submit` makes them. The training that they belong to joins them, and removes them when its
own result is kept.
"""

import math
import warnings
from typing import Any

from xmlcore import store
from xmlcore.experiment.catalog import MODEL, MODELS, SETTINGS
from xmlcore.experiment.engine.fitting import WatchedTraining, compile_kernels, estimator, grown, watched
from xmlcore.experiment.engine.task import Task, register, task
from xmlcore.experiment.engine.times import Work
from xmlcore.jobs.memory import total
from xmlcore.models import load_model
from xmlcore.models.compiling import COMPILING
from xmlcore.models.ensembles import ensemble_of_trees, n_trees_trained_apart, train_tree
from xmlcore.models.plt.memory import training_memory
from xmlcore.models.plt.shapes import Sizes, n_trees_of, trees_asked_for
from xmlcore.parameters import Parameter
from xmlcore.progress import silent
from xmlcore.robustness import augmented_bytes
from xmlcore.typing import Dataset

COPIED = 64  # bytes of memory of a training per value of the rows, which it copies and numbers anew
MOST = 0.9  # share of the machine's memory that a training takes; with more, it puts rows into files
LEFT_OUT = ("random_state", "noise_sigma")  # settings that hardly change the time


@register
class TrainTree(Task):
    """Train one tree of an ensemble; the model that has this tree only is kept beside. Inputs: ``dataset``."""

    kind, folder, result = "tree", "trees", WatchedTraining

    PARAMETERS = (
        MODEL, SETTINGS, Parameter("number", "Tree", "Which one of the ensemble, from 0.", "int", 0, minimum=0)
    )  # fmt: skip

    def title_on(self, dataset):
        return f"Training tree {self.params['number'] + 1} of {self.params['model']} on {dataset}"

    def work(self):
        return training(self, self.params["model"], self.params["params"] | {"n_estimators": 1})

    def _took(self, value, seconds):
        return value["seconds"], grown(value["memory"])

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        unfitted = estimator(self.params["model"], self.params["params"])
        progress(COMPILING, 0.0)
        with watched(compile_kernels(unfitted)) as training:
            model = train_tree(unfitted, data.X_train, data.Y_train, self.params["number"], progress)
        if files is not None:
            files["model"] = model.save
        return training


def training(task: Task, model: str, params: dict, k: int | None = None, n_rows: int | None = None) -> Work:
    """Return the work of training a model on the data set of a task, or on so many of its rows."""
    sizes, n_trees = task.sizes, params.get("n_estimators")
    values = sizes["train_values"] * (n_rows or sizes["n_train"]) / sizes["n_train"]
    n_bytes = COPIED * (values + sizes["test_values"])
    of_weights = getattr(MODELS[model].cls, "_OF_WEIGHTS", None) if model in MODELS else None  # of linear classifiers
    if of_weights is not None:
        share = values / max(1, sizes["train_values"])
        counts = values, share * sizes["train_labels"], round(share * sizes["n_train"])
        asked = trees_asked_for({"tree": "", "n_estimators": 1} | params)
        expected = training_memory(*counts, sizes["n_features"], sizes["n_labels"], of_weights, asked)
        n_bytes = min(expected.peak, MOST * (total() or math.inf)) + COPIED * sizes["test_values"]
    if params.get("noise_sigma", 0) > 0:
        ratio, support = params["noise_ratio"], params["noise_support"]
        n_bytes += augmented_bytes(n_rows or sizes["n_train"], sizes["n_features"], round(values), ratio, support)
        values *= 1 + ratio
    # Between a model that reads each value for each label, and one that reads it for each level of a tree.
    values *= math.sqrt(sizes["n_labels"]) * (n_trees if isinstance(n_trees, int) else 1)
    counted = (*LEFT_OUT, *(["n_estimators"] if isinstance(n_trees, int) else []))
    settings = {name: value for name, value in params.items() if name not in counted}
    return Work(f"train {model}", values, int(n_bytes), settings)


def trees_of(training: Task, data: Dataset | None = None) -> list[Task]:
    """Return the tasks of the trees of a training; none for a model that is trained as a whole."""
    model, params = training.params["model"], training.params["params"]
    if trees_asked_for({"n_estimators": 1} | params) == 1:
        return []
    with warnings.catch_warnings(action="ignore"):
        count = n_trees_trained_apart(estimator(model, params))
    if count and model == "PLT" and data is not None:
        different = n_trees_of(params, Sizes(data.n_train, data.n_labels, data.Y_train.nnz / data.n_train))
        count = different if different > 1 else 0
    return [task("tree", training.inputs, {"model": model, "params": params, "number": n}) for n in range(count)]


def joined(trees: list[Task]) -> tuple[Any, WatchedTraining]:
    """Return the ensemble of trees that were trained separately, with their total time and largest memory."""
    known, parts = [], []
    for tree in trees:
        known.append(tree.load())
        store.verify(tree.folder, tree.key)
        parts.append(load_model(store.folder(tree.folder, tree.key) / "model"))
    model = ensemble_of_trees(parts)
    most = max((one.memory for one in known), key=grown)
    return model, WatchedTraining(
        sum(one.seconds for one in known),
        max(one.compile_s for one in known),
        dict(most),
        _said(known),
        sum(one.cpu_seconds for one in known),
    )


def _said(known) -> list[str]:
    """Return the warnings of all trees: common ones once, others with the number of their tree."""
    all_say = [text for text in known[0].warnings if all(text in tree.warnings for tree in known)]
    return list(dict.fromkeys(all_say)) + [
        f"tree {number} of {len(known)}: {text}"
        for number, tree in enumerate(known, start=1)
        for text in tree.warnings
        if text not in all_say
    ]
