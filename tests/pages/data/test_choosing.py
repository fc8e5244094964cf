"""Choosing and preparing data sets, through app.py."""

import threading

import pytest

from tests.pages import making
from tests.pages.small import small_data

pytestmark = pytest.mark.sections("Rows", "All labels")


def test_a_first_visit_prepares_the_data_set_of_all(session, ready, server):
    page = session().until(lambda s: "Labels per row" in s.metrics())
    assert "80 rows, 16 features, 8 labels" in page.text()
    assert (page.metrics()["Training rows"], page.metrics()["Test rows"]) == ("60", "20")
    assert "60 training and 20 test rows" in page.text(page.at.sidebar)
    jobs = len(server.jobs())
    assert "80 rows, 16 features" in session().text()
    assert len(server.jobs()) == jobs


def test_a_search_stays_with_its_data_set(ready):
    def labels():
        return ready.frame("n_train", "inverse_propensity")["name"].tolist()

    assert "topic *0*" in labels()
    rows = ready.frame("row", "labels")
    assert len(rows) == 60 and rows["labels"].str.contains("topic").all()
    assert ready.frame("feature", "value")["feature"].str.startswith("word").all()
    assert {"Figure, HTML", "Data, CSV", "All labels, CSV"} <= ready.downloads()
    assert "No training row has" in ready.search("rows.query", "no such thing").text()
    ready.search("rows.query", "TOPIC *3*").search("labels.query", "topic *3*")
    assert ready.frame("row", "labels")["labels"].str.contains("*3*", regex=False).all()
    assert labels() == ["topic *3*"]
    making.use(ready, making.word_data())
    ready.run()
    assert len(labels()) == 8 and len(ready.frame("row", "labels")) == 120
    making.use_listed(ready, "api-docs")
    assert labels() == ["topic *3*"]


def test_no_data_set_says_what_to_do(session, small_catalog):
    hold = threading.Event()

    def load(progress):
        while not hold.is_set():
            progress("Reading documentation", 0.25, "1 of 4 packages")
            hold.wait(0.05)
        return small_data("api-docs")

    small_catalog.load = load
    page = session().until(lambda s: "Reading documentation: 25 %" in s.text(s.at.main))
    assert "is being made ready" in page.text()
    stop = next(b for b in page.at.button if b.label == "Stop" and "main" in b.key)
    stop.click()
    page.run().until(lambda s: "No data set is in use" in s.text())
    assert page.run().at.selectbox(key="sidebar.dataset").value is None  # it does not start again by itself
    assert "no data set in use" in page.go("train").text()
    hold.set()


def test_a_failed_preparation_can_be_tried_again(session, small_catalog):
    def load(progress):
        raise OSError("the disk is full")

    works, small_catalog.load = small_catalog.load, load
    page = session().until(lambda s: s.at.error)
    assert "the disk is full" in page.at.error[0].value
    assert any("the disk is full" in code.value for code in page.at.code)  # the traceback, on demand
    small_catalog.load = works
    page.click("Try again").until(lambda s: "Labels per row" in s.metrics())
