"""Pack the model of a run into a file, with a card that says what it was trained on, and open such a file."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xmlcore import archives, metrics, store
from xmlcore.datasets import in_use_or_saved
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import Task, load, register, task
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.decide import AMONG, DECISION, MEASURES, SETS, deciding, measures_of_sets, without_labels
from xmlcore.experiment.kinds.train import FOLDER, Run, load_run_model
from xmlcore.experiment.sharing.bundles import versions_of
from xmlcore.models import ModelFormatError, PackedModel, read_packed
from xmlcore.models.rules import CUT, decided_scores
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import part_of, silent
from xmlcore.typing import Dataset, Ranker
from xmlcore.validation import check_dataset, check_is

FILE = "model.zip"
MOST_CARD = 1_000_000  # characters of the card of a model from a file


def pack_run(key: str, name: str | None = None, dataset_name: str | None = None) -> PackedModel:
    """Return the model of a kept run as a packed model, which can be saved to one file.

    Parameters
    ----------
    key : str
        Key of the run.
    name : str, optional
        Title of the card; by default the model and the data set.
    dataset_name : str, optional
        What the card calls the data set; by default the name that it had when the run was made.

    Returns
    -------
    PackedModel
        See :func:`pack_fitted`.

    Raises
    ------
    xmlcore.store.StoreError
        The run, its model or its data set is not kept, or cannot be read.
    """
    run = load("train", key)
    if dataset_name:
        run = replace(run, dataset_name=dataset_name)
    return pack_fitted(run, load_run_model(key), in_use_or_saved(run.fingerprint), store.info(FOLDER, key), name)


def pack_fitted(
    run: Run, model: Ranker, dataset: "Dataset", facts: dict[str, Any] | None = None, name: str | None = None
) -> PackedModel:
    """Return a model that was trained and measured just now as a packed model."""
    check_is(run, Run, "run", "a Run, as run() returns it,")
    check_dataset(dataset)
    names = list(dict.fromkeys(run.measures["measure"]))
    of_labels = {"inv_ps": dataset.inverse_propensity(), "hierarchy": dataset.hierarchy}
    found = metrics.intervals(dataset.Y_test, run.ranking, run.k, measures=names, **of_labels)
    vectorizer = getattr(dataset, "vectorizer", None)
    card = {
        "name": name or f"{run.model} on {run.dataset_name}",
        "data": {
            "name": run.dataset_name,
            "fingerprint": run.fingerprint,
            "content hash": dataset.content_hash,
            "training rows": dataset.n_train,
            "test rows": dataset.n_test,
            "features": dataset.n_features,
            "labels": dataset.n_labels,
            "features of texts": None if vectorizer is None else vectorizer.about,
            "notes": " ".join(dataset.notes),
        },
        "parameters": run.params,
        "chosen": run.chosen,
        "measures": [{**line, "k": int(line["k"])} for line in found.to_dict("records")],
        "times": run.times,
        "size": run.size,
        "warnings": run.warnings,
        "versions": versions_of(facts or {}),
        "created": run.created,
    }
    return PackedModel(model, dataset.label_names, dataset.feature_names, vectorizer, card, dataset.label_aliases)


@dataclass(frozen=True)
class Packed:
    """A model that is kept as a file: see :meth:`PackModel.file`."""

    card: dict
    text: str  # the card as Markdown


@dataclass(frozen=True)
class Opened:
    """A model that was opened from a file: see :func:`opened_model`."""

    name: str  # what its card calls it
    card: dict
    is_text: bool  # whether it takes texts
    text: str  # the card as Markdown


def opened_model(key: str) -> PackedModel:
    store.info(OpenModel.folder, key)  # raises an error that says that it is gone
    return read_packed(store.folder(OpenModel.folder, key) / FILE)


@register
class PackModel(Task):
    """Pack the model of a kept run with its card into a file. Inputs: ``run``."""

    kind, folder, result, needs, version = "pack_model", "packed-models", Packed, ("run",), 3
    doing = "Packing a model of {dataset}"
    on_cluster = False  # its result has a file

    PARAMETERS = (
        Parameter(
            "dataset_name", "Name", "What the card calls the data set. Empty: as the run.", "text", None, optional=True
        ),
        DECISION,
        Parameter("small", "Small", "Weights of a byte each: a third of the bytes, see ``compact``.", "bool", False),
    )

    def work(self):
        n_bytes = load("train", self.inputs["run"]).size.get("model_bytes", 0)
        return Work(self.kind, n_bytes, 2 * int(n_bytes))

    def file(self) -> Path:
        return store.folder(self.folder, self.key) / FILE

    def run(self, progress=silent, files=None):
        progress("Reading the model", 0.0)
        packed = pack_run(self.inputs["run"], dataset_name=self.params["dataset_name"])
        run, name = self.inputs["run"], self.params["decision"]
        packed = replace(packed, model=deciding(packed.model, run, name, part_of(progress, 0.0, 0.5)))
        if name is not None:
            line = load("decide", task("decide", {"run": run}).key).line(name)
            decided = dict(line[[*SETS]]) | ({name: line["decided"]} if name in MEASURES else {})
            of_another = name.startswith(CUT) and float(without_labels(name).removeprefix(CUT)) != line["cut"]
            if of_another or AMONG in name:  # the line has the nearest threshold that is tried, and all labels
                data = in_use_or_saved(packed.card["data"]["fingerprint"])
                decided = measures_of_sets(data.Y_test, decided_scores(packed.model, data.X_test).astype(bool))
            packed = replace(packed, card=packed.card | {"decided": decided})
        progress("Packing the model", 0.5)
        if self.params["small"]:
            data = in_use_or_saved(packed.card["data"]["fingerprint"])
            small = packed.model.compact(8, data.X_test, data.Y_test)
            measured = {f"{k} {when}": small.compact_[when][k] for k in ("P@1", "P@5") for when in ("before", "after")}
            card = packed.card | {"compact": {"bits": small.compact_["bits"]} | measured}
            packed = replace(packed, model=small, card=card)
        if files is not None:
            files[FILE] = packed.save
        return {"card": packed.card, "text": packed.describe()}


@register
class OpenModel(Task):
    """Open a packed model, and keep it. No inputs."""

    kind, folder, result, needs = "open_model", "opened-models", Opened, ()
    doing = "Opening a model from a file"
    can_be_made_again = False

    PARAMETERS = (Parameter("files", "File", "See ``task_files.described``.", "files", REQUIRED, options=("model",)),)

    def dataset_name(self):
        return "a model from a file"

    def about(self):
        # Results of the model belong to no kept data set: they are found by the key of the model.
        return {"fingerprint": self.key, "dataset": self.dataset_name()}

    def work(self):
        n_bytes = self.params["files"]["model"]["bytes"]
        return Work(self.kind, n_bytes, 4 * n_bytes)

    def run(self, progress=silent, files=None):
        with task_files.taken(self.key, ("model",)) as paths:
            progress("Reading the model", 0.0)
            with open(paths["model"], "rb") as file:  # not by its path, which messages would name
                packed = read_packed(file)
        if (length := len(archives.as_json(packed.card))) > MOST_CARD:
            raise ModelFormatError(f"the card of the model has {length:,} characters; at most {MOST_CARD:,} are read")
        if files is not None:
            files[FILE] = packed.save  # as we write it: the server reads this, and not what somebody has sent
        name = packed.card.get("name")
        name = name if isinstance(name, str) and name.strip() else type(packed.model).__name__
        return {"name": name[:200], "card": packed.card, "is_text": packed.is_text, "text": packed.describe()}

    @classmethod
    def summary(cls, value):
        return {"name": value["name"]}
