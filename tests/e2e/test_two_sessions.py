"""Two browser sessions that work at once for a while."""

import time

import pytest
from browsing import easy_file, playwright_error

# In one process, tests/pages/test_app.py has two sessions that train at once, and the pages of two workspaces.
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]
SECONDS = 20
OWN = ("apricot", "bramble")  # words in the names of all data of a session
PAGES = ("Jobs", "Compare", "Storage", "Explain", "Trees", "Features", "Robustness", "Sampling", "Predict", "Train")


def look(tabs):
    """No page has failed, and none says a word of the other session."""
    for one, other in zip(tabs, OWN[::-1]):
        one.idle()
        said = one.page.get_by_test_id("stApp").inner_text()
        assert one.page.get_by_test_id("stException").count() == 0, said
        assert other not in said


def upload(one, name, round_):
    """Upload a data set with another number of rows in each round."""
    one.go("Data")
    if not one.page.get_by_test_id("stFileUploader").first.is_visible():
        one.page.get_by_test_id("stExpander").get_by_text("Add a data set").click()
    n_rows = 8000 + 10 * round_ + 1000 * OWN.index(name)
    one.choose("Training file", f"{name}-{round_}.txt", easy_file(n_rows, seed=round_))
    one.read()
    one.text(f"{n_rows:,} rows, 24 features, 12 labels")


def begin(one, trees):
    """Begin a training and do not wait for its end."""
    one.go("Train")
    for name, value in {"Max labels per leaf": 3, "Trees": trees}.items():  # of one level, one tree would be enough
        field = one.setting(name)
        field.fill(str(value))
        field.press("Enter")
    one.idle()
    one.page.get_by_role("button", name="Train", exact=True).click()


def test_two_sessions_train_stop_upload_and_switch_pages_and_see_nothing_of_each_other(tab):
    tabs = [tab(), tab()]
    end, round_ = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        for one, name in zip(tabs, OWN):
            upload(one, name, round_)
        look(tabs)
        stops, goes_on = tabs if round_ % 2 == 0 else tabs[::-1]
        begin(stops, 100)
        stop = stops.page.get_by_test_id("stMain").get_by_role("button", name="Stop")
        stop.wait_for()
        begin(goes_on, 1 + round_ % 3)
        try:
            stop.click(timeout=10_000)
        except playwright_error():  # all 100 trees were trained before, on a machine that was slow to press Stop
            stops.text("ranks a true label first")
        for at in range(3):
            for number, one in enumerate(tabs):
                one.go(PAGES[(3 * round_ + at + 4 * number) % len(PAGES)])
            look(tabs)
        goes_on.go("Train")
        goes_on.text("ranks a true label first")
        look(tabs)
        round_ += 1
    for one in tabs:
        one.go("Jobs")
        one.page.get_by_text("What ran when").first.wait_for()
        one.go("Storage")
        one.text("This workspace keeps")
    look(tabs)
