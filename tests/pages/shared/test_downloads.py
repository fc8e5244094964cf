"""Time for the browser to fetch a file."""

from types import SimpleNamespace

import pandas as pd
import pytest

from pages.shared.figures import charts
from pages.shared.streamlit_fixes import downloads


@pytest.fixture
def clock(monkeypatch):
    """A clock that only goes on while somebody sleeps, and nothing handed out yet."""
    now = [100.0]
    monkeypatch.setattr(downloads, "_until", 0.0)
    monkeypatch.setattr(
        downloads, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    )
    return now


def test_nothing_waits_where_no_file_was_made(clock):
    downloads.wait()
    assert clock[0] == 100


def test_the_browser_has_its_moment_to_fetch_a_file_and_then_nothing_waits(clock):
    downloads.made()
    clock[0] += 0.5
    downloads.wait()
    assert clock[0] == pytest.approx(100 + downloads.MOMENT, abs=0.1)
    over = clock[0]
    downloads.wait()
    assert clock[0] == over


def test_downloading_all_the_time_holds_nothing_up_for_longer_than_a_moment(clock, monkeypatch):
    downloads.made()
    sleep = downloads.time.sleep
    monkeypatch.setattr(downloads.time, "sleep", lambda s: (sleep(s), downloads.made()))
    downloads.wait()
    assert clock[0] == pytest.approx(100 + downloads.MOMENT, abs=0.1)


def test_a_file_is_made_when_asked_for_and_its_moment_begins_when_it_is_there(clock, monkeypatch):
    buttons = []
    monkeypatch.setattr(charts.st, "download_button", lambda label, **about: buttons.append(about))
    made = []

    def make():
        made.append(True)
        clock[0] += 60
        return pd.DataFrame({"a": [1]})

    charts.csv_button("Data, CSV", make, "name", "help")
    assert not made and downloads._until == 0
    assert buttons[0]["data"]() == b"a\n1\n"
    assert downloads._until == pytest.approx(160 + downloads.MOMENT)
