"""The Compare page, through app.py."""

import json
import time

import pytest

from tests.many_runs import make
from tests.pages.making import workspace_path
from tests.pages.small import small_data
from xmlcore import datasets


def listed(session, records, *data):
    """Let a workspace list runs, and know their data sets."""
    path = workspace_path(session)
    stored = json.loads(path.read_text())
    for one in data:
        stored["known"][datasets.save_dataset(one)] = {"name": one.name, "source": "upload", "notes": []}
    stored["runs"] += records
    path.write_text(json.dumps({**stored, "dataset": data[-1].fingerprint, "used": time.time()}))
    return session.go("compare")


@pytest.fixture
def words():
    return small_data("words")


def tick(page, rows):
    """Tick lines of the table of all results."""
    table = next(e for e in page.at.dataframe if "run" in e.value.columns and "created" in e.value.columns)
    page.at.session_state[table.proto.id] = None
    return page


def test_without_results_the_page_says_what_to_do(ready):
    page = ready.go("compare")
    assert "No model has been trained in this workspace yet" in page.text()


def test_one_result_is_listed_and_nothing_is_compared(ready, words):
    page = listed(ready, make(1, words), words)
    assert "there is one result" in page.text() and "Showing 1 of 1 result" in page.text()
    assert "Is the difference real?" not in page.text()


def test_the_first_sentence_says_which_is_best_and_whether_that_is_sure(ready, words):
    page = listed(ready, make(12, words), words)
    said = page.text().replace("*", "")
    assert "On words," in said and "is the best of 6 lines: P@1" in said
    assert "chance alone gives such a difference in" in said
    assert "Showing 12 of 12 results in 6 lines" in said
    for header in ("4 side by side on words", "Is the difference real?", "What precision costs"):
        assert header in said


def test_1000_results_are_filtered_within_a_second(ready, words):
    page = listed(ready, make(1000, words), words)
    assert "Showing 1,000 of 1,000 results" in page.text()
    start = time.process_time()
    page.at.selectbox(key="compare.model").set_value("LdSM")
    page.run()
    assert time.process_time() - start < 1.0
