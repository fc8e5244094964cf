"""The view in the address, and read-only addresses."""

import re

import pytest

from pages.shared import view
from pages.shared.rows import row_editor
from pages.shared.workspaces import dataset_list, workspace
from tests.pages.making import Row, fields_of, show, train, written
from tests.pages.small import small_data
from xmlcore import experiment

pytestmark = pytest.mark.sections("Single predictions")


@pytest.fixture
def two_runs(ready):
    data, known = small_data("api-docs"), written(ready)["known"]
    train(ready, data=data)
    show(ready, train(ready, "OneVsRest", data=data), data)
    with fields_of(ready) as fields:
        fields["known"] = known  # of the catalog, not an upload
    return ready.go("train").set("train.model", "OneVsRest")


@pytest.mark.sections("Single predictions", "What if")
def test_a_copied_address_shows_the_same_result_and_row(two_runs, session):
    plt, other = (f"result-{run['key'][:12]}" for run in written(two_runs)["runs"])
    assert two_runs.set("train.row", 7).run().view == f"{other}.row-7"
    two_runs.set("train.run", written(two_runs)["runs"][0]["key"])
    assert two_runs.view == f"{plt}.row-7", "the row is one of the data set"
    again = session(two_runs.token, f"{other}.row-7").go("train")
    assert "OneVsRest ranks" in again.text().replace("**", "") and "**Test row 7**" in again.text()
    assert again.view == f"{other}.row-7"
    again = session(two_runs.token, f"{other}.row-2.label-4.other-3.ticked-1.edit-3~0.5").go("train")
    assert again.set("train.row", 5).view == f"{other}.row-5.ticked-1"
    view = f"{other}.row-2.edit-3~0.25_7~-1e-05"
    again = session(two_runs.token, view).go("explain")
    assert "**word_3** added with 0.25 and **word_7** added with −0.00001." in again.text() and again.view == view
    again.press("explain.whatif.reset")
    assert "Changed: " not in again.text() and again.view == view.partition(".edit")[0]


@pytest.mark.parametrize(("view", "lacks"), [
    ("data-0123456789ab", "data set"),
    ("result-0123456789ab.row-3", "result"),
    ("nonsense", None),
    ("row-99999999999999999999", None),
])  # fmt: skip
def test_an_unknown_view_is_said_and_changes_nothing(two_runs, session, view, lacks):
    before = {name: written(two_runs)[name] for name in ("dataset", "shown")}
    again = session(two_runs.token, view)
    assert (f"does not have the {lacks} of the link" in again.text()) == (lacks is not None)
    assert {name: written(again)[name] for name in before} == before


def test_a_data_set_that_came_meanwhile_is_in_use(two_runs, session):
    task = experiment.task("synthetic", {}, {"n_train": 60, "n_test": 20, "n_features": 80, "n_labels": 8})
    experiment.keep(task)
    before = written(two_runs)
    ended = {
        "id": "e" * 32,
        "key": task.key,
        "fingerprint": before["dataset"],
        "title": "Making",
        "about": {"name": "my"},
    }
    with fields_of(two_runs) as fields:
        fields["jobs"].append(task.to_record() | ended)
    again = session(two_runs.token, f"result-{before['runs'][0]['key'][:12]}").go("train")
    assert written(again)["dataset"] == task.load().dataset and "No model has been trained on **my**" in again.text()


@pytest.mark.sections("Single predictions", "Whole model")
def test_looking_only_shows_all_and_changes_nothing(two_runs, session, server):
    look = two_runs.look_only()
    assert look != two_runs.token
    before, n_jobs = written(two_runs), len(server.jobs())
    looking = session(look).go("train")
    assert looking.token == two_runs.token, "on the server"
    assert looking.at.session_state[workspace.QUERY] == look, "in the address"
    keys = [button.key or "" for button in looking.at.button]
    assert "train.OneVsRest.submit" not in keys and not [key for key in keys if key.startswith("train.name")]
    said = looking.text()
    assert "OneVsRest ranks" in said.replace("**", "")
    assert len(looking.at.selectbox(key="train.run").options) == 2 and said.count(workspace.READ_ONLY) == 1
    assert not [field.label for field in looking.at.number_input if field.label in ("C", "Epochs")]
    assert "**Test row 3**" in looking.set("train.row", 3).text(), "it may look at what it likes"
    assert written(two_runs) == before and len(server.jobs()) == n_jobs
    assert not any(two_runs.token in str(code.value) for code in looking.at.code), "the token for working stays secret"
    for page, key in (("features", "features.begin"), ("explain", "explain.measure")):
        button = looking.go(page).at.button(key=key)
        assert button.disabled and button.help == workspace.READ_ONLY, key
        button._value = True  # as in a forged message
        looking.run()
        assert written(two_runs) == before and len(server.jobs()) == n_jobs, key
    assert not any(b.disabled for b in looking.at.button if b.label == "Random row")
    owners = session(two_runs.token).go("train")
    assert "**Test row 3**" not in owners.text()
    assert not owners.at.button(key="train.OneVsRest.submit").disabled


def test_an_address_for_looking_only_dies_with_its_workspace(two_runs, session):
    look = two_runs.look_only()
    Row(two_runs.token).remove()
    fresh = session(look)
    assert fresh.token not in (look, two_runs.token), "it must not become a workspace that can be written"
    assert not Row(two_runs.token).read()


def test_an_address_without_a_view_keeps_what_it_showed(two_runs, session):
    again = session(two_runs.token).go("train")
    first = re.search(r"\*\*Test row \d+\*\*", again.text()).group()
    assert again.view == "" and first != "**Test row 5**"
    assert again.set("train.row", 5).view.endswith(".row-5")
    assert first in again.walk().text()
    assert again.view == ""
    view = again.set("train.row", 5).view
    again.at.query_params.clear()  # as a browser leaves out what these fields say
    assert "**Test row 5**" in again.run().text() and again.view == view


def test_a_view_names_every_field_and_changes_of_rows():
    texts = {"data": "0123456789ab", "result": "ba9876543210", "file": "abcdef012345", "edit": "3~0.25_7~-1e-05"}
    whole = view.View(**{name: texts.get(name, 10 + i) for i, name in enumerate(view.NAMES)})
    edited = view.View(edit="1~0.5")
    assert view.parsed(whole.text()) == whole and view.parsed(edited.text()) == edited and view.View().text() == ""
    kept = {"claim", "levels", "most", "positive"}
    left = whole.changed(data="cba987654321")
    assert {name for name in view.NAMES if getattr(left, name) == getattr(whole, name)} == kept
    assert whole.changed(row=whole.row) == whole and whole.changed(row=1, label=2).label == 2
    assert row_editor.parsed("3~0.5_x~2_4~x_5~1e999_6~") == [[3, 0.5], [4, None]]
    assert row_editor.parsed("3~2_4~1_3~5") == [[3, 5.0], [4, 1.0]], "a feature is changed once"
    assert row_editor.text([[3, 0.5], [4, None]]) == "3~0.5_4~x"
    assert row_editor.text([[j, 1.0] for j in range(row_editor.MOST_EDITS + 1)]) == ""
    entries = [{"name": "api-docs"}, {"name": "mine", "entry": "api-docs"}, {"name": "api-docs", "entry": "other"}]
    assert [dataset_list.is_default({"source": "catalog", **entry}) for entry in entries] == [True, True, False]
