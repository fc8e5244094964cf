"""Choosing, uploading and preparing data sets, through app.py."""

import threading

import pytest

from tests.pages import making
from tests.pages.small import small_data, xmlc

FORMS = ("Upload data",)
pytestmark = pytest.mark.sections("Rows", "All labels")


def upload(session, train, **others):
    """Fill the upload form and press its button; values are bytes."""
    kinds = {"test": "test", "label_names": "labels", "feature_names": "features"}
    round_ = session.at.session_state["upload.round"]
    making.put_file(session, f"upload.train.{round_}", "mine.txt", train)
    for name, content in others.items():
        making.put_file(session, f"upload.{kinds[name]}.{round_}", f"{name}.txt", content)
    session.run()
    return session.make("upload.make")


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


def test_an_upload_is_used_and_not_seen_by_another_session(ready, session):
    names = {
        f"{kind}_names": "\n".join(f"{word} {j}" for j in range(n)).encode()
        for kind, word, n in (("label", "subject", 8), ("feature", "term", 16))
    }
    page = upload(ready, xmlc(small_data("other", seed=1)), **names)
    assert (page.metrics()["Training rows"], page.metrics()["Test rows"]) == ("48", "12")
    assert "**mine**" in page.text()
    assert "subject 0" in set(page.frame("n_train", "inverse_propensity")["name"])
    assert page.at.session_state["upload.round"] == 1  # empty widgets: the bytes are let go
    assert not next(box for box in page.at.expander if box.label == "Add a data set").proto.expanded
    stranger = session()
    for visitor, sees in ((ready, True), (stranger, False)):
        assert any("mine" in name for name in visitor.at.selectbox(key="sidebar.dataset").options) == sees
    assert stranger.token != ready.token and stranger.metrics()["Training rows"] == "60"
    assert making.use_listed(ready, "api-docs").metrics()["Training rows"] == "60"


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
