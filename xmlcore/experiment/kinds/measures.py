"""Measures of a kept run: every one with intervals, of parts of its ensemble, of the nodes of its label tree."""

from dataclasses import dataclass, replace

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.catalog import N_ROWS, RANDOM_STATE, SEED
from xmlcore.experiment.engine.task import Task, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import LEAST_RANKED, kept_run, kept_run_and_model, load_run_model, sampled_rows
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.metrics.measures import measurable
from xmlcore.models import PLT, LdSM
from xmlcore.models.plt.frames import quality_frame
from xmlcore.parameters import Parameter
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import DataFrame, Dataset, Ranker
from xmlcore.validation import check_count, check_dataset, check_fitted, check_is

ALL = "all"
OF_BUCKETS = tuple(name for name, measure in metrics.MEASURES.items() if measure.of_some_labels)
AT_ONCE = 10  # rows and labels take a resample as long as reading one value


@dataclass(frozen=True)
class Measured:
    """Every measure of a kept run."""

    measures: "DataFrame"
    n_resamples: int  # resamples behind the intervals


def measure_ranking(
    ranking: Ranking,
    dataset: "Dataset",
    k: int = 5,
    n_resamples: int = metrics.RESAMPLES,
    random_state: int = 0,
    progress: ProgressLike = silent,
) -> "DataFrame":
    """Return every measure of a ranking of the test rows, with 95 % bootstrap intervals, and those of each bucket."""
    check_dataset(dataset)
    progress = to_progress(progress)
    buckets = label_buckets(np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels))
    settings = {"n_resamples": n_resamples, "random_state": random_state}
    frames = []
    for at, bucket in enumerate((ALL, *BUCKETS)):
        progress("Drawing test rows again for intervals", at / (1 + len(BUCKETS)), f"{bucket} labels")
        if bucket == ALL:
            of = {"measures": measurable(metrics.MEASURES, dataset.hierarchy), "hierarchy": dataset.hierarchy}
            of |= {"inv_ps": dataset.inverse_propensity()}
        else:
            of = {"measures": OF_BUCKETS, "labels": buckets == bucket}
        frame = metrics.intervals(dataset.Y_test, ranking, k, **of, **settings)
        frame.insert(0, "bucket", bucket)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@register
class MeasureRun(Task):
    """Take every measure of a kept run. Inputs: ``run``."""

    kind, folder, result, needs = "measures", "measures", Measured, ("run",)
    version = 2
    doing = "Measuring a result on {dataset}"

    PARAMETERS = (
        Parameter("n_resamples", "Resamples", "How many times rows are drawn.", "int", metrics.RESAMPLES, minimum=1),
        RANDOM_STATE,
    )

    def work(self):
        counts = self.sizes["n_test"] + self.sizes["n_labels"]
        return Work(self.kind, self.params["n_resamples"] * counts / AT_ONCE)

    def run(self, progress=silent, files=None):
        progress("Reading the result", 0.0)
        run = kept_run(self.inputs["run"], progress)
        frame = measure_ranking(run.ranking, self.dataset(), run.k, progress=progress, **self.params)
        return {"measures": frame, "n_resamples": self.params["n_resamples"]}


@dataclass(frozen=True)
class Prefixes:
    """Measures of parts of a kept run's ensemble."""

    measures: "DataFrame"


def prefix_points(model: "LdSM") -> tuple[list[int], list[int]]:
    """Return the numbers of trees and of nodes at which :func:`prefix_measures` measures by default."""
    check_is(model, "max_nodes", "model", "a fitted LdSM")
    check_fitted(model)
    full = len(model.trees_)
    n_trees = sorted({n * 10**e for n in (1, 2, 3, 5) for e in range(10) if n * 10**e < full} | {full})
    largest, arity = max(tree.parent.size for tree in model.trees_), model.trees_[0].children.shape[1]
    powers = [2**e for e in range(31) if 2**e < min(largest, model.max_nodes)]
    smallest = {1 + arity * ((most - 1) // arity): most for most in powers[::-1]}  # a split adds ``arity`` nodes
    return n_trees, [*sorted(smallest.values()), model.max_nodes]


def prefix_measures(
    model: "LdSM",
    dataset: "Dataset",
    k: int = 5,
    n_trees: list[int] | None = None,
    max_nodes: list[int] | None = None,
    progress: ProgressLike = silent,
) -> "DataFrame":
    """Measure the predictions of fewer trees, and of smaller trees, of a fitted ensemble, without training again."""
    progress = to_progress(progress)
    if not isinstance(model, LdSM):
        raise TypeError(f"prefix_measures is for LdSM, whose trees are grown node by node, not {type(model).__name__}")
    k = check_count(k, "k")
    default = prefix_points(model)
    n_trees = default[0] if n_trees is None else [check_count(n, "n_trees") for n in n_trees]
    max_nodes = default[1] if max_nodes is None else [check_count(n, "max_nodes") for n in max_nodes]
    all_trees, arity = len(model.trees_), model.trees_[0].children.shape[1]
    inv_ps = dataset.inverse_propensity()
    points = [("n_trees", min(n, all_trees), model.max_nodes) for n in n_trees]
    points += [("max_nodes", all_trees, most) for most in max_nodes]
    lines = []
    for i, (axis, trees, most) in enumerate(points):
        size = f"{trees:,} tree{'' if trees == 1 else 's'}" if axis == "n_trees" else f"{most:,} nodes"
        parts = {"phase": "Predicting with parts of the model", "detail": size}
        report = part_of(progress, i / len(points), (i + 1) / len(points), **parts)
        parts_alone = {"n_trees": trees, "max_nodes": most}
        ranking = model.predict_topk(dataset.X_test, max(k, LEAST_RANKED), progress=report, **parts_alone)
        nodes = 1 + arity * ((most - 1) // arity)
        depth = max(int(tree.depth[:nodes].max()) for tree in model.trees_[:trees])
        measured = metrics.measures(dataset.Y_test, ranking, k, inv_ps=inv_ps)
        lines += [
            (axis, trees, most, depth, measure, at + 1, float(values[at]))
            for measure, values in measured.items()
            for at in range(k)
        ]
    return pd.DataFrame(lines, columns=["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"])


@register
class PrefixMeasures(Task):
    """Measure the predictions of fewer, and of smaller, trees of a kept run of LdSM. Inputs: ``run``. No parameters."""

    kind, folder, result, needs = "prefixes", "prefixes", Prefixes, ("run",)
    doing = "Measuring parts of the model on {dataset}"

    def work(self):
        n_trees, max_nodes = prefix_points(load_run_model(self.inputs["run"]))
        return Work(self.kind, self.sizes["test_values"] * (sum(n_trees) + n_trees[-1] * len(max_nodes)))

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        dataset = self.dataset()
        return {"measures": prefix_measures(model, dataset, run.k, progress=progress)}


MOST_ROWS = 5000  # Default number of test rows that are used.


@dataclass(frozen=True)
class NodeQuality:
    """Quality of the classifiers of a label tree's nodes on test rows."""

    nodes: "DataFrame"
    # n_rows, n_test: number of test rows that were used, and of all test rows
    n_rows: int
    n_test: int


def label_tree_model(model: Ranker) -> "PLT | None":
    """Return the PLT of a run's model, which may be inside a wrapper that trains with noise."""
    while not hasattr(model, "linear_nodes") and hasattr(model, "model_"):
        model = model.model_
    return model if hasattr(model, "linear_nodes") else None


def _tree_of(task, model):
    plain, number = label_tree_model(model), task.params["tree"]
    if plain is None:
        raise ValueError(f"{type(model).__name__} has no label tree: node_quality needs a run of PLT")
    if number >= len(plain.trees_):
        raise ValueError(f"tree is {number}, but the model has {len(plain.trees_)} trees, counted from 0")
    return plain


@register
class MeasureNodes(Task):
    """Measure each node of a label tree on test rows. Inputs: ``run``, which is one of PLT."""

    kind, folder, result, needs = "node_quality", "node-quality", NodeQuality, ("run",)

    PARAMETERS = (
        Parameter("tree", "Tree", "Index of the tree.", "int", 0, minimum=0),
        replace(N_ROWS, default=MOST_ROWS, optional=False, help="If there are more, a sample of them is used."),
        SEED,
    )

    def title_on(self, dataset):
        return f"Measuring nodes of label tree {self.params['tree'] + 1} on {dataset}"

    def work(self):
        """Return the work of reading each row that is used at each level of the tree."""
        tree = _tree_of(self, load_run_model(self.inputs["run"])).trees_[self.params["tree"]]
        share = min(1.0, self.params["n_rows"] / max(self.sizes["n_test"], 1))
        return Work(self.kind, share * self.sizes["test_values"] * (1 + int(tree.depth.max())))

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        number, plain = self.params["tree"], _tree_of(self, model)
        dataset = self.dataset()
        rows = sampled_rows(dataset.n_test, self.params["n_rows"], self.params["seed"])
        progress("Reading the classifiers", 0.0)
        nodes, tree = plain.linear_nodes(number), plain.trees_[number]
        quality = quality_frame(nodes, tree, dataset.X_test[rows], dataset.Y_test[rows], progress)
        return {"nodes": quality, "n_rows": int(rows.size), "n_test": dataset.n_test}
