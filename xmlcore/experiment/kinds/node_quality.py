"""How well each node of a label tree tells test rows apart."""

from dataclasses import dataclass, replace

from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.inputs import kept_run_and_model
from xmlcore.experiment.engine.task import Estimate, Task, register
from xmlcore.experiment.engine.task_parameters import N_ROWS, SEED
from xmlcore.experiment.kinds.train import load_run_model, sampled_rows
from xmlcore.models import PLT
from xmlcore.models.plt.frames import quality_frame
from xmlcore.parameters import Parameter
from xmlcore.progress import silent
from xmlcore.typing import DataFrame, Ranker

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
    """Return the PLT of a run's model; ValueError if it has no such tree."""
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

    def estimate(self) -> Estimate:
        model = _tree_of(self, load_run_model(self.inputs["run"]))
        return estimates.node_quality(self.dataset(), model.trees_[self.params["tree"]], self.params["n_rows"])

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        number, plain = self.params["tree"], _tree_of(self, model)
        dataset = self.dataset()
        rows = sampled_rows(dataset.n_test, self.params["n_rows"], self.params["seed"])
        progress("Reading the classifiers", 0.0)
        nodes, tree = plain.linear_nodes(number), plain.trees_[number]
        quality = quality_frame(nodes, tree, dataset.X_test[rows], dataset.Y_test[rows], progress)
        return {"nodes": quality, "n_rows": int(rows.size), "n_test": dataset.n_test}
