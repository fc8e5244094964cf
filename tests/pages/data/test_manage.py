"""Data sets of a workspace are compared, renamed, written to files and removed, in boxes of the Data page."""

import re

import pytest

from pages.data import manage, problems
from pages.data.forms import upload as upload_form
from pages.shared import addresses
from tests.pages.making import train, use, use_listed
from tests.pages.small import small_data
from xmlcore import datasets
from xmlcore.system import data_root

FORMS = "all"


@pytest.fixture
def two(ready):
    """A session with two data sets; "other" is in use."""
    use(ready, small_data("other", seed=1))
    return ready.run()


def known(page):
    return page.at.session_state["workspace.snapshot"]["known"]


def test_a_data_set_is_removed_and_comes_back(two):
    table = two.frame("On disk", "Results", "In use")
    assert table["Data set"].tolist() == ["api-docs", "other"] and table["In use"].tolist() == [False, True]
    assert table["Rows"].tolist() == [80, 80] and table["From"].tolist() == ["comes with xmlcore", "uploaded here"]
    train(two, data=small_data("other", seed=1))
    before = two.run().at.session_state["workspace.snapshot"]
    assert "its 1 result" in two.text()
    snapshot = two.press("manage.remove").run().at.session_state["workspace.snapshot"]
    assert [entry["name"] for entry in snapshot["known"].values()] == ["api-docs"] and snapshot["runs"] == []
    assert "Deleted other." in two.text() and "No data set is in use" in two.text()
    after = two.press("undo").at.session_state["workspace.snapshot"]
    assert all(after[name] == before[name] for name in ("known", "runs", "dataset"))
    assert "Deleted other." not in two.text()


def test_statistics_of_chosen_data_sets_stand_side_by_side(two):
    two.until(lambda s: any("Statistic" in t.value.columns for t in s.at.dataframe))
    table = two.until(lambda s: s.frame("Statistic").shape[1] == 3).frame("Statistic").set_index("Statistic")
    assert table.columns.tolist() == ["api-docs", "other"]
    data = small_data("other", seed=1)
    summary = datasets.describe(data).summary
    assert table.loc["Training rows", "other"] == "60"
    assert table.loc["Labels per row (cardinality)", "other"] == f"{summary['cardinality']:.2f}"
    assert "Statistics, CSV" in two.downloads()
    use(two, small_data("third", seed=2))
    box = next(box for box in two.run().at.multiselect if box.label == "Data sets to compare")
    assert box.options == ["api-docs", "other", "third"] and len(box.value) == 3
    box.set_value(box.value[1:])
    two.run().until(lambda s: s.frame("Statistic").columns.tolist() == ["Statistic", "other", "third"])


def test_a_data_set_is_renamed_and_keeps_its_results(two):
    key = train(two, data=small_data("other", seed=1))
    fingerprint = two.run().at.session_state["workspace.snapshot"]["dataset"]
    two.set(f"manage.name.{fingerprint}.other", " Fruit ").press("manage.rename")
    assert known(two)[fingerprint]["name"] == "Fruit" and "**Fruit**: 80 rows" in two.text()
    assert two.frame("On disk", "Results").set_index("Data set").loc["Fruit", "Results"] == 1
    assert [run["key"] for run in two.at.session_state["workspace.snapshot"]["runs"]] == [key]
    two.set(f"manage.name.{fingerprint}.Fruit", "api-docs").press("manage.rename")
    assert known(two)[fingerprint]["name"] == "api-docs (2)"
    used = next(fp for fp, entry in known(two).items() if entry["source"] == "catalog")
    use_listed(two, "api-docs").set(f"manage.name.{used}.api-docs", "Functions").press("manage.rename")
    assert "**Functions**: 80 rows" in two.text() and two.at.selectbox(key="sidebar.dataset").value == used


def test_a_data_set_with_jobs_is_not_removed(two, server, monkeypatch):
    two.until(lambda s: not any(job.active for job in server.jobs()))
    monkeypatch.setattr(manage.jobs, "active", lambda kind=None, **about: [object()] if "fingerprint" in about else [])
    assert "other is not removed" in two.press("manage.remove").text() and len(known(two)) == 2


def box(page, title):
    return next(e for e in page.at.expander if e.label == title)


def open_tab(page, title):
    """The number of the tab that a box is opened on."""
    return box(page, title).children[0].proto.tab_container.default_tab_index


def test_boxes_have_all_forms_in_tabs(ready):
    found = {e.label: [tab.label for tab in e.tabs] for e in ready.at.expander if e.tabs}
    assert found == {
        "Add a data set": ["Upload data", "Upload texts", "Published", "Synthetic"],
        "Change or compare data sets": ["Split again", "Compare", "Rename, convert or remove"],
    }
    titles = {e.label for e in ready.at.expander} | {tab.label for e in ready.at.expander for tab in e.tabs}
    advice = next(advice for key, *_, advice in problems.LOOKED_FOR if key == problems.LEAK)
    assert set(re.findall("“(.+?)”", advice)) <= titles
    assert upload_form.ABOUT.split("*")[1] in titles
    ready.at.session_state[addresses.ADDING] = True
    assert box(ready.run(), "Add a data set").proto.expanded and box(ready.run(), "Add a data set").proto.expanded


def test_a_box_keeps_what_is_filled_in_when_it_is_folded(session):
    page = session()
    for name in ("add", "change"):
        del page._at.session_state[f"data.box.{name}"]
    page.until(lambda s: s.at.metric)
    boxes = [e for e in page.at.expander if "data set" in e.label]
    assert len(boxes) == 2 and not any(e.proto.expanded or e.tabs for e in boxes)
    page.at.session_state["data.box.add"] = True  # as a click does
    page.run().at.text_input(key="upload.name.0").set_value("Typed").run()
    page.at.session_state["data.box.add"] = False
    assert not box(page.run(), "Add a data set").proto.expanded
    assert page.at.text_input(key="upload.name.0").value == "Typed"


def test_a_box_opens_on_the_form_that_is_in_use(ready):
    ready.at.text_input(key="upload.name.0").set_value("Typed")
    ready.at.file_uploader(key="texts.train.0").set_value(("texts.csv", b"text,labels\na b,x\nb c,y\n", "text/csv"))
    page = ready.run()
    assert box(page, "Add a data set").proto.expanded and open_tab(page, "Add a data set") == 1
    assert page.at.text_input(key="upload.name.0").value == "Typed"


def test_who_only_looks_sees_no_forms_and_no_folders(ready, session):
    looking = session(ready.look_only())
    assert str(data_root()) not in looking.text() and str(data_root()) in ready.text()
    assert ready.at.get("file_uploader") and not looking.at.get("file_uploader")
    assert "sidebar.dataset" in {box.key for box in looking.at.selectbox}
    assert not {b.key for b in looking.at.button} & {"upload.make", "known.make"}
    assert all(b.disabled for b in looking.at.button if b.key in ("manage.rename", "manage.remove", "resplit.make"))
