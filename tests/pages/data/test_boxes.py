"""The boxes between the cards and the sections of the Data page."""

import re

from pages.data import problems, start
from pages.data.forms import upload as upload_form
from pages.data.forms import uploads
from tests.pages.data.test_choosing import upload
from tests.pages.small import small_data, xmlc


def box(page, title):
    return next(e for e in page.at.expander if e.label == title)


def open_tab(page, title):
    """The number of the tab that a box is opened on."""
    return box(page, title).children[0].proto.tab_container.default_tab_index


def test_two_folded_boxes_have_all_forms_in_tabs(ready):
    found = {e.label: [tab.label for tab in e.tabs] for e in ready.at.expander if e.tabs}
    assert found == {
        "Add a data set": ["Upload data", "Upload texts", "Published", "Synthetic"],
        "Change or compare data sets": ["Split again", "Compare", "Rename, convert or remove"],
    }
    assert not any(box(ready, title).proto.expanded for title in found)


def test_a_box_opens_on_the_form_that_is_in_use_and_keeps_the_others(ready):
    ready.at.text_input(key="upload.name.0").set_value("Typed")
    ready.at.file_uploader(key="texts.train.0").set_value(("texts.csv", b"text,labels\na b,x\nb c,y\n", "text/csv"))
    page = ready.run()
    assert box(page, "Add a data set").proto.expanded and open_tab(page, "Add a data set") == 1
    assert page.at.text_input(key="upload.name.0").value == "Typed"


def test_the_box_is_folded_in_the_run_that_shows_what_a_worker_has_read(ready, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", -1)  # a worker reads any file
    page = upload(ready, xmlc(small_data("other", seed=1)))
    assert box(page, "Add a data set").proto.expanded
    page.until(lambda s: "**mine**" in s.text())
    assert not box(page, "Add a data set").proto.expanded


def test_what_the_page_says_of_its_forms_are_titles_of_boxes_and_tabs(ready):
    titles = {e.label for e in ready.at.expander} | {tab.label for e in ready.at.expander for tab in e.tabs}
    advice = next(advice for key, *_, advice in problems.LOOKED_FOR if key == "n_test_seen_in_train")
    assert set(re.findall("“(.+?)”", advice)) <= titles
    assert set(re.findall(r" at \*(.+?)\*", start.STEPS)) | {upload_form.ABOUT.split("*")[1]} <= titles
