"""Damaged results, those of a later version, and a full disk: said on the page, made again, and nothing is lost."""

import errno
import json
import shutil

import pytest

from pages.shared import addresses, cached
from tests.pages.conftest import Session
from tests.pages.making import damage, fields_of, figure, select, train, use, workspace_row, written
from tests.pages.small import small_data
from tests.pages.test_states import MEASURED
from xmlcore import experiment, store
from xmlcore.state import FILE
from xmlcore.system import cache_root

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


@pytest.mark.parametrize("change", CHANGES)
def test_a_selection_of_another_version_is_left_out(ready, change):
    first = select(ready, n_epochs=3, n_features=4)
    later(ready, "selections", select(ready, n_epochs=3, n_features=5), change)
    page = ready.go("features")
    assert figure(page, "Features of topic") and not page.at.error
    later(ready, "selections", first, change)
    assert page.run().at.button(key="features.begin")


@pytest.mark.sections("Train on them")
def test_a_model_of_another_version_is_not_offered_on_features(ready):
    select(ready, "ChiSquared", n_features=2)
    train(ready)
    later(ready, "runs", train(ready, random_state=2), another_parameter)
    (box,) = (one for one in ready.go("features").at.selectbox if (one.key or "").startswith("features.model "))
    assert len(box.options) == len(experiment.MODELS), "PLT as trained, and the others"


@pytest.fixture
def full_disk():
    """A full disk; ``undo()`` frees it."""

    def no_room(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlcore.state.Database.put", no_room)
        patch.setattr("xmlcore.store.room.free_on_disk", lambda: 1_000_000)
        yield patch


def test_what_is_done_on_a_full_disk_is_kept_later(ready, full_disk):
    assert "Nothing new can be kept" in ready.go("train").text() and "1.0 MB are free" in ready.text()
    assert "stays in memory" in ready.set("preferences.automatic", False).text()
    assert workspace_row(ready).read()["widgets"]["preferences.automatic"] is True
    full_disk.undo()
    ready.run()
    assert "There is space again" in ready.text() and "Nothing new can be kept" not in ready.text()
    assert workspace_row(ready).read()["widgets"]["preferences.automatic"] is False


def test_a_training_on_a_full_disk_says_so_before_it_computes(ready, full_disk, monkeypatch):
    monkeypatch.setattr(experiment.KINDS["train"], "run", lambda *args: pytest.fail("it computed"))
    ready.go("explain").press("explain.train").until(lambda s: "Nothing was computed" in s.text())


def test_a_folder_that_others_can_write_to_is_refused(ready):
    cache_root().chmod(0o777)
    assert "The dashboard does not start" in ready.go("train").text() and "chmod -R go-rwx" in ready.text()
    cache_root().chmod(0o700)
    assert "The dashboard does not start" not in ready.run().text()


def test_a_damaged_upload_is_said_to_be_damaged_and_stays_listed(ready):
    fingerprint = use(ready, small_data("mine", seed=3))
    file = store.folder("datasets", fingerprint) / store.VALUE
    content = bytearray(file.read_bytes())
    content[500] ^= 1
    file.write_bytes(content)
    cached.forget()
    page = ready.run()
    assert "mine is damaged" in page.text() and "left as it is" in page.text()
    assert file.read_bytes() == content
    assert fingerprint in page.at.session_state["workspace.snapshot"]["known"]


PAGES = [name.lower() for name in addresses.ICONS]


def test_a_cache_deleted_meanwhile_is_made_anew(ready, server):
    ready.run()
    shutil.rmtree(cache_root())
    for page in PAGES:
        ready.go(page)
    ready.go("data").until(lambda s: "Labels per row" in s.metrics() and not any(job.active for job in server.jobs()))
    assert "Nothing new can be kept" not in ready.text() and workspace_row(ready).read()
    assert cache_root().stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_an_open_page_writes_back_to_an_empty_database(ready, how):
    before, file = workspace_row(ready.run()).read(), cache_root() / FILE
    file.write_bytes(b"") if how == "empty" else file.unlink()
    said = ready.run().text()
    assert ("was damaged" in said) == (how == "empty")
    assert workspace_row(ready).read()["known"] == before["known"]


def test_a_damaged_database_is_said_until_that_is_closed(ready, session):
    before = workspace_row(ready.run()).read()
    file = cache_root() / FILE
    for path in cache_root().glob(f"{FILE}*"):
        path.write_bytes(b"damaged" * 10_000)
    assert "was damaged" in ready.run().text() and file.is_file()
    assert workspace_row(ready).read()["known"] == before["known"]
    assert "was damaged" not in ready.press("keeping.close").run().text()
    assert "was damaged" in session(ready.token).run().text()
