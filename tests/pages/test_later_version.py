"""Results of a later version, whose model or parameter this version does not have: each page goes on, and says so."""

import json
import shutil

import pytest

from pages.shared import cached
from tests.pages.making import fields_of, figure, select, train
from xmlcore import experiment, store


def later(session, kind, key, change):
    """Have a kept result be of a later version: in the workspace, in the store and, of a run, in its model's files."""
    with fields_of(session) as fields:
        change(next(record for record in fields[kind] if record["key"] == key))
    value, facts, folder = store.load(kind, key), store.info(kind, key), store.folder(kind, key)
    change(value)
    model = folder.parent / "model-of-test"
    if kind == "runs":
        shutil.copytree(folder / "model", model)
        description = json.loads((model / "params.json").read_text())
        change(description)
        description["class"] = value["model"]
        (model / "params.json").write_text(json.dumps(description))
    names = ("task", "version", "xmlcore", "fingerprint", "dataset", "summary")
    facts = {name: facts[name] for name in names if name in facts}
    with store.writing(kind, key, replace=True, **facts) as place:
        store.write_value(place, value)
        if kind == "runs":
            shutil.move(model, place / "model")
    cached.forget()


def another_model(record):
    record["method" if "method" in record else "model"] = "LaterModel"


def another_parameter(record):
    record["params"]["later_parameter"] = 3


CHANGES = [another_model, another_parameter]
SAID = "by another version of the program"


@pytest.mark.parametrize("change", CHANGES)
def test_a_selection_of_another_version_is_left_out_and_named(ready, change):
    first = select(ready, n_epochs=3, n_features=4)
    later(ready, "selections", select(ready, n_epochs=3, n_features=5), change)
    page = ready.go("features")
    assert SAID in page.text() and not page.at.error
    assert figure(page, "Features of topic")
    later(ready, "selections", first, change)
    assert SAID in page.run().text()


@pytest.mark.sections("Train on them")
def test_a_model_of_another_version_is_not_offered_on_features(ready):
    select(ready, "ChiSquared", n_features=2)
    train(ready)
    later(ready, "runs", train(ready, random_state=2), another_parameter)
    (box,) = (one for one in ready.go("features").at.selectbox if (one.key or "").startswith("features.model "))
    assert len(box.options) == len(experiment.MODELS), "PLT as trained, and the others"
