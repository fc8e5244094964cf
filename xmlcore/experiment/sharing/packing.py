"""Pack the model of a run into one file, with a card that says what it was trained on and how good it is."""

from dataclasses import replace
from typing import Any

from xmlcore import metrics, store
from xmlcore.datasets import in_use_or_saved
from xmlcore.experiment.engine.task import load
from xmlcore.experiment.kinds.train import FOLDER, Run, load_run_model
from xmlcore.experiment.sharing.bundles import versions_of
from xmlcore.models import PackedModel
from xmlcore.typing import Dataset, Ranker
from xmlcore.validation import check_dataset, check_is


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
    inv_ps = dataset.inverse_propensity()
    names = list(dict.fromkeys(run.measures["measure"]))
    found = metrics.intervals(dataset.Y_test, run.ranking, run.k, measures=names, inv_ps=inv_ps)
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
    vectorizer = getattr(dataset, "vectorizer", None)
    return PackedModel(model, dataset.label_names, dataset.feature_names, vectorizer, card)
