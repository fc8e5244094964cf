"""Parts of a fitted ensemble: measures of the predictions of fewer trees, and of smaller trees."""

from dataclasses import dataclass

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.inputs import kept_run_and_model
from xmlcore.experiment.engine.task import Estimate, Task, load, register
from xmlcore.experiment.kinds.train import LEAST_RANKED, load_run_model
from xmlcore.first_use import pd
from xmlcore.models import LdSM
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import check_count, check_fitted, check_is


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
    grown = [1 + arity * ((most - 1) // arity) for most in powers]  # each split adds ``arity`` nodes to a tree
    first = [at for at, nodes in enumerate(grown) if at == 0 or nodes != grown[at - 1]]
    return n_trees, [*(powers[at] for at in first), model.max_nodes]


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
    inv_ps = metrics.inverse_propensity(dataset.Y_train)
    points = [("n_trees", min(n, all_trees), model.max_nodes) for n in n_trees]
    points += [("max_nodes", all_trees, most) for most in max_nodes]
    work = np.array([trees * np.log2(1 + most) for _, trees, most in points])
    lines = []
    for i, (axis, trees, most) in enumerate(points):
        size = f"{trees:,} tree{'' if trees == 1 else 's'}" if axis == "n_trees" else f"{most:,} nodes"
        done, part = work[:i].sum() / work.sum(), work[i] / work.sum()

        def report(phase, fraction, detail="", *, size=size, done=done, part=part):
            progress("Predicting with parts of the model", float(done + fraction * part), size)

        ranking = predict_by_leaves(model, dataset.X_test, max(k, LEAST_RANKED), report, trees, most)
        nodes = 1 + arity * ((most - 1) // arity)
        depth = max(int(tree.depth[:nodes].max()) for tree in model.trees_[:trees])
        measured = metrics.measures(dataset.Y_test, ranking, k, inv_ps=inv_ps)
        lines += [
            (axis, trees, most, depth, measure, at + 1, float(values[at]))
            for measure, values in measured.items()
            for at in range(k)
        ]
    return pd.DataFrame(lines, columns=["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"])


def predict_by_leaves(model, X, k, progress, n_trees, max_nodes) -> Ranking:
    """Return what ``predict_topk`` returns, but predict only one of all rows that reach the same leaves."""
    if model.means_ is not None:  # with re-ranking, the prediction depends on the row itself
        return model.predict_topk(X, k, progress=progress, n_trees=n_trees, max_nodes=max_nodes)
    leaves = model.apply(X, n_trees=n_trees, max_nodes=max_nodes)
    sizes = np.diff(leaves.ptr)
    widths = np.ascontiguousarray(sizes.reshape(leaves.n_trees, leaves.n_rows).T)  # row by row
    row = np.repeat(np.tile(np.arange(leaves.n_rows), leaves.n_trees), sizes)
    nodes = leaves.nodes[np.argsort(row, kind="stable")]
    ptr = np.concatenate([[0], np.cumsum(widths.sum(axis=1))])
    seen, first, place = {}, [], np.empty(X.shape[0], np.int64)
    for i in range(X.shape[0]):
        place[i] = seen.setdefault((nodes[ptr[i] : ptr[i + 1]].tobytes(), widths[i].tobytes()), len(seen))
        if place[i] == len(first):
            first.append(i)
    once = model.predict_topk(X[np.array(first)], k, progress=progress, n_trees=n_trees, max_nodes=max_nodes)
    return Ranking(once.labels[place], once.scores[place])


@register
class PrefixMeasures(Task):
    """Measure the predictions of fewer, and of smaller, trees of a kept run of LdSM. Inputs: ``run``. No parameters."""

    kind, folder, result, needs = "prefixes", "prefixes", Prefixes, ("run",)
    doing = "Measuring parts of the model on {dataset}"

    def estimate(self) -> Estimate:
        run, model = load("train", self.inputs["run"]), load_run_model(self.inputs["run"])
        return estimates.prefixes(run, *prefix_points(model))

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        dataset = self.dataset()
        return {"measures": prefix_measures(model, dataset, run.k, progress=progress)}
