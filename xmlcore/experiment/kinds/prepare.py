"""Making data sets of the catalog, so that other tasks can read them."""

from dataclasses import dataclass

from xmlcore import store
from xmlcore.datasets import prepare
from xmlcore.datasets.registry.catalog import made_from
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import DATASETS, Estimate, Task, register
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import silent


@dataclass(frozen=True)
class Prepared:
    """A data set of the catalog that is kept."""

    name: str
    dataset: str


class MakesDataset(Task):
    """A task whose result has the fingerprint of a data set that it made, as ``dataset``."""

    version = 2

    def exists(self) -> bool:
        """Return whether the result and the data set are kept, and the data set is not known to be damaged."""
        try:
            if not super().exists():
                return False
            made = self.load().dataset
            return store.exists(DATASETS, made) and not store.damaged(DATASETS, made)
        except store.StoreError:
            return False

    def made_by(self) -> dict | None:
        """Return what the store keeps beside the data set on how it can be made again; None if it cannot be."""
        return {"made_by": self.kind, "inputs": self.inputs} if self.can_be_made_again else None


@register
class Prepare(MakesDataset):
    """Make or download a data set of the catalog, and keep it. No inputs."""

    kind, folder, result, needs = "prepare", "prepared", Prepared, ()
    doing = "Preparing {name}"

    PARAMETERS = (
        Parameter("name", "Name", "In the catalog.", "text", REQUIRED),
        Parameter(
            "made_from", "Made from",
            "What the data set is made from, such as the versions of the libraries whose documentation it has. When "
            "this changes, the data set is made again. Empty: what it is made from today.",
            "any", None,
        ),
    )  # fmt: skip

    def complete(self, params):
        return {"made_from": made_from(params["name"])} | {name: v for name, v in params.items() if v is not None}

    def dataset_name(self):
        return self.params["name"]

    def estimate(self) -> Estimate:
        return estimates.prepare(self.params["name"])

    def run(self, progress=silent, files=None):
        return {"name": self.params["name"], "dataset": prepare(self.params["name"], progress)}
