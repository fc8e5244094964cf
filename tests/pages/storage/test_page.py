"""The Storage page lists what the workspace keeps, deletes with what goes with it, pins, and bounds the whole."""

import os
import time

import pytest
import streamlit as st

from pages.shared.process import room
from pages.shared.workspaces import workspace
from pages.storage import kept as kept_part
from pages.storage import owned
from tests.pages.making import fields_of, train, use, word_data, workspace_row
from tests.pages.small import small_data
from xmlcore import datasets, experiment, store


def table(page):
    return page.frame("title", "kind", "bytes").set_index("title")


def artifact(kind, key):
    return store.inventory().artifacts[kind, key]


def delete_line(page, title):
    """Tick the line with this title alone, and delete it."""
    page.tick(page.at.dataframe[0], table(page).index.tolist().index(title))
    return page.press("storage.delete")


def in_session(page, act):
    """Call a function as a page of the session would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", {})
        patch.setattr(st, "query_params", {"workspace": page.token})
        workspace.open_workspace()
        return act()


@pytest.fixture
def measured(ready):
    """A session with a data set of words, a model on it, and its measurement under noise."""
    key = train(ready)
    task = experiment.task("robustness", {"run": key}, {"kind": "gaussian", "levels": [0.1], "n_repeats": 1})
    experiment.keep(task)
    return ready, key, task


def test_what_is_kept_is_listed_without_other_workspaces(measured):
    page, key, task = measured
    hidden = datasets.save_dataset(small_data("secret", seed=9))
    frame = table(page.go("storage"))
    some = [artifact("runs", key), artifact(task.folder, task.key)]
    assert owned.full_titles(some, workspace_row(page).read())[key] == "PLT of words"
    assert {"data set", "trained model", "robustness"} <= set(frame["kind"])
    assert frame.loc["words", ["users", "source"]].tolist() == [2, "uploaded here"]
    assert frame.loc["PLT", ["users", "source"]].tolist() == [1, "words"]
    assert frame.loc["robustness of PLT", "source"] == "PLT, words"
    assert "2 data sets, 1 trained model" in page.text() and "All workspaces" in page.metrics()
    assert hidden not in set(frame["key"]) and "secret" not in page.text()


def test_all_that_one_workspace_made_is_its_own(ready):
    store.save("catalog", "c" * 32, {}, name="api-docs")
    key = train(ready, "DoubleSampling")
    experiment.keep(experiment.task("sampling", {"run": key}, {"n_candidates": (2, 3)}))
    frame = table(ready.go("storage"))
    assert frame.loc["published data set: api-docs", "bytes"] > 0
    assert any("study of sampling" in title for title in frame.index)
    assert {one.kind for one in store.inventory().artifacts.values()} - set(frame["folder"]) <= {"prepared"}


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_published_data_set_goes_with_its_copy(ready, session, is_shared):
    store.save("catalog", "c" * 32, {}, name="api-docs")
    if is_shared:
        session().until(lambda s: "Labels per row" in s.metrics())
    found, fields = store.inventory(), workspace_row(ready).read()
    chosen = artifact("datasets", fields["dataset"])
    goes = kept_part.with_dependents([chosen], owned.of_workspace(found, fields), found)
    assert ("catalog", "c" * 32) in [one.name for one in goes]
    in_session(ready, lambda: kept_part.delete(goes, found, "api-docs"))
    assert store.exists(*chosen.name) == store.exists("catalog", "c" * 32) == is_shared
    ready.go("storage").press("undo").run()
    assert store.exists(*chosen.name) and store.exists("catalog", "c" * 32)


def test_undo_brings_back_a_copy_unless_it_was_made_again(ready, session):
    store.save("catalog", "c" * 32, {}, name="api-docs")
    delete_line(ready.go("storage"), "published data set: api-docs")
    assert not store.exists("catalog", "c" * 32) and "published data set: api-docs" not in table(ready.run()).index
    assert "Deleted published data set" in ready.text()
    session(ready.token).go("storage").press("undo")
    assert store.exists("catalog", "c" * 32) and "Deleted " not in ready.run().text()
    delete_line(ready, "published data set: api-docs")
    store.save("catalog", "c" * 32, {}, name="api-docs")
    assert "Deleted " not in ready.run().text()


def test_a_deletion_takes_what_was_computed_and_is_undone(measured):
    page, key, task = measured
    kept = store.inventory()
    goes = kept_part.with_dependents(
        [artifact("runs", key)], owned.of_workspace(kept, workspace_row(page).read()), kept
    )
    assert [one.kind for one in goes] == ["runs", task.folder]
    in_session(page, lambda: kept_part.delete(goes, kept, "PLT of words"))
    page.go("storage")
    assert not store.exists("runs", key) and not task.exists() and "PLT" not in table(page).index
    assert "Deleted PLT of words, " in page.text()
    page.press("undo").run()
    assert store.exists("runs", key) and task.exists() and "PLT" in table(page).index
    kept, fingerprint = store.inventory(), store.info("runs", key)["fingerprint"]
    in_session(page, lambda: kept_part.delete([artifact("datasets", fingerprint)], kept, "words"))
    assert not store.exists("datasets", fingerprint) and store.exists("runs", key), "the run is still listed"
    page.go("storage").press("undo.free")
    assert not [*store.cache_root().glob("artifacts/*/.aside-*")]


def swept(page, values):
    """Keep a sweep on the words, and list it in the workspace of a session; return its task."""
    data = word_data()
    grid, fingerprint = {"C": values}, use(page, data)
    task = experiment.task("sweep", {"dataset": fingerprint}, {"model": "OneVsRest", "grid": grid})
    experiment.keep(task)
    with fields_of(page) as fields:
        fields["sweeps"].append({"key": task.key, "fingerprint": fingerprint, "params": task.params, "asked": 1.0})
    return task


def test_trainings_of_a_sweep_share_a_line_and_go_with_it(ready):
    one, other = swept(ready, [0.5, 1.0]), swept(ready, [1.0, 2.0])
    ready.go("storage")
    frame = table(ready)
    lines = frame[frame["kind"] == "trainings of a sweep"]
    assert len(lines) == 2 and lines.index.str.startswith("2 trainings of OneVsRest").all()
    assert (lines["bytes"] > 0).all()

    found, sweeps = store.inventory(), workspace_row(ready).read()["sweeps"]
    goes = in_session(ready, lambda: kept_part.with_trials([artifact("sweeps", one.key)], found, sweeps))
    assert sorted(item.kind for item in goes) == ["sweeps", "trials", "trials"]
    in_session(ready, lambda: kept_part.delete(goes, found, "a sweep"))
    assert not one.exists() and other.exists() and other.plan().done == 2 and one.plan().done == 1
    ready.go("storage").press("undo").run()
    assert one.exists() and one.plan().done == 2

    line = next(line for line in owned.sweeps(found, sweeps, "0") if other.key in line.key)
    goes = in_session(ready, lambda: kept_part.with_trials([line], found, sweeps))
    assert [item.kind for item in goes] == ["trials"] * 2
    in_session(ready, lambda: kept_part.delete(goes, found, "a sweep"))
    assert other.exists() and one.plan().done == 2 and other.plan().done == 1  # the first sweep has the other one
    ready.go("storage").press("undo")
    assert other.plan().done == 2


def test_what_another_workspace_lists_stays_on_the_disk(measured, session):
    page, key, task = measured
    other = session().until(lambda s: "Labels per row" in s.metrics())
    train(other)  # the same data set and settings
    found, row = store.inventory(), workspace_row(page)
    in_session(page, lambda: kept_part.delete([artifact("runs", key), artifact(task.folder, task.key)], found, "PLT"))
    assert store.exists("runs", key)
    assert row.read()["runs"] == []


def test_a_pinned_result_is_not_removed_to_make_room(measured):
    page, key, _ = measured
    store.pin("runs", key, by=room.pinner(page.token))
    assert table(page.go("storage")).loc["PLT", "pinned"] == "pinned"
    for one in store.inventory().artifacts.values():
        os.utime(store.folder(*one.name) / store.META, (1, 1))
    removal = store.make_room(most=0, now=time.time() + 86400)
    assert removal.count >= 1 and store.exists("runs", key)
    assert "unused for 1 day" in page.run().text()


def test_the_bound_is_set_unless_the_variable_has_it(ready, monkeypatch):
    ready.go("storage")
    field = next(one for one in ready.at.number_input if one.label == "At most, GB")
    field.set_value(3.5)
    ready.run().press("storage.set")
    assert store.bound() == 3_500_000_000
    assert "3.5\u00a0GB" in next(card.delta for card in ready.run().at.metric if card.label == "All workspaces")
    monkeypatch.setenv("XMLCORE_STORE_SIZE", "7 GB")
    ready.run()
    assert "set it to 7 GB" in ready.text() and not [one for one in ready.at.number_input if "GB" in one.label]
