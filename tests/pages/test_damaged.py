"""Damaged results of each kind, on the pages that show them: made again, with a note."""

import pytest

from tests.pages.conftest import Session
from tests.pages.making import damage, fields_of, figure, train, written
from tests.pages.test_states import MEASURED
from xmlcore import experiment, store

pytestmark = pytest.mark.sections()


@pytest.mark.sections("Whole model")
def test_a_measurement_is_made_once_and_again_when_it_is_damaged(ready, server):
    kind, model, _, title = MEASURED["explain"]
    train(ready, model)
    is_drawn, folder = (lambda page: figure(page, title) is not None), experiment.KINDS[kind].folder
    page = ready.go("explain").until(is_drawn)
    for job in server.jobs():
        job.wait(60)
    before, key = len(server.jobs()), store.entries(folder)[0]["key"]
    page.go("jobs").go("explain")
    assert len(server.jobs()) == before
    damage(folder, key)
    page.go("jobs").go("explain").until(lambda s: is_drawn(s) and store.exists(folder, key))
    store.check(folder, key)
    assert not page.at.error


def test_a_run_of_another_version_is_made_again_with_a_note(ready):
    key, folder = train(ready), "runs"
    own = ("kind", "key", "created", "bytes", "value_bytes", "value_crc", "files")  # which the store writes itself
    facts = {name: fact for name, fact in store.info(folder, key).items() if name not in own}
    params = experiment.load("train", key).params
    with store.writing(folder, key, replace=True, **facts) as path:
        store.write_value(path, {"model": "PLT"})  # whole, but without the rest of a run
    page = ready.go("train")
    assert "another version of the program" in page.text() and not page.at.error
    page.until(lambda s: "Training" in s.metrics())
    assert experiment.load("train", key).params == params


RECORDS = {
    "impossible size": lambda text: text.replace('"n_labels": ', '"n_labels": -'),
    "without bytes": lambda text: text.replace('"bytes": ', '"x": '),
}


def test_an_upload_whose_record_is_damaged_is_said_on_data(ready):
    from pages.shared import cached

    train(ready)
    fields, fingerprint = written(ready), written(ready)["dataset"]
    record = store.folder("datasets", fingerprint) / store.META
    whole = record.read_text()
    for how, damage_record in RECORDS.items():
        with fields_of(ready) as before:
            before.update(fields)
        record.write_text(damage_record(whole))
        cached.forget()
        page = Session(ready.token).go("data")
        assert not page.at.exception and "damaged" in page.text() + "".join(e.value for e in page.at.error), how
        for other in ("compare", "storage"):
            assert not page.go(other).at.exception, how


@pytest.mark.parametrize("damaged", [{}, [[]]])
def test_an_impossible_choice_gives_way_to_the_first(ready, damaged):
    train(ready)
    fingerprint = written(ready)["dataset"]
    choices = ("robustness.kind", f"robustness.runs {fingerprint}", f"predict.model {fingerprint}", "compare.columns")
    with fields_of(ready) as fields:
        fields["widgets"] = dict.fromkeys(choices, damaged)
    for name in ("robustness", "predict", "compare"):
        assert not ready.go(name).at.exception, name
