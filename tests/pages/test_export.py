"""Downloaded figures: pages of their own that never ask the network; files that wait for the browser."""

import contextlib
import json
import re
from types import SimpleNamespace

import pandas as pd
import plotly.graph_objects as go
import pytest

from pages.shared import charts, downloads, format, jobs, server, settings, workspace
from xmlcore import experiment, figures


@pytest.fixture(scope="module")
def page():
    frame = pd.DataFrame({"measure": ["P@k"] * 2, "k": [1, 2], "value": [0.5, 0.25]})
    caption = r"Higher is **better**; `k` of \*all\* <b>rows</b> & more."
    return charts.html_page(figures.measures_at_k(frame), "a <b> – Measures at k", caption, "a-measures").decode()


def own_parts(page):
    """The page without Plotly's own code."""
    scripts = re.findall(r"<script[^>]*>.*?</script>", page, flags=re.S)
    longest = max(scripts, key=len)
    assert len(longest) > 1_000_000
    return page.replace(longest, "")


def test_figure_file_does_not_offer_to_upload_the_chart(page):
    config = json.loads(re.search(r'Plotly\.newPlot\(\s*"figure",.*?(\{"displaylogo".*?\})\s*\)', page, flags=re.S)[1])
    assert config["showSendToCloud"] is False
    assert "sendChartToCloud" in config["modeBarButtonsToRemove"]


def test_figure_file_loads_nothing_from_the_network(page):
    own = own_parts(page)
    assert "http:" not in own and "https:" not in own
    assert not re.search(r"<(link|iframe|img)\b|@import|\bsrc=", own)
    assert "default-src 'none'" in own


def test_figure_file_is_a_whole_page_with_title_and_caption(page):
    own = own_parts(page)
    assert own.startswith('<!doctype html>\n<html lang="en">')
    assert own.count("<html") == own.count("<body") == own.count("<!doctype") == 1
    assert '<meta name="viewport"' in own and "prefers-color-scheme: dark" in own
    assert "<title>a &lt;b&gt; – Measures at k</title>" in own
    caption = re.search("<figcaption>(.*)</figcaption>", own)[1]
    assert caption == "Higher is <strong>better</strong>; <code>k</code> of *all* &lt;b&gt;rows&lt;/b&gt; &amp; more."


def test_figure_file_leaves_the_figure_as_it_was():
    figure = go.Figure(layout={"height": 100})
    charts.html_page(figure, "t", "c")
    assert figure.layout.height == 100


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (7.1e-6, "7.1 µs"),
        (4e-5, "40 µs"),
        (3.4e-4, "0.34 ms"),
        (0.0141, "14 ms"),
        (0.14, "0.14 s"),
        (0.999, "1.0 s"),
        (12.3, "12 s"),
        (125, "2 min 05 s"),
    ],
)
def test_times_have_two_digits_that_mean_something(seconds, said):
    assert format.duration(seconds) == said


def test_settings_are_said_where_they_differ():
    defaults = experiment.full_params("PLT")
    assert settings.changed("PLT", defaults) == ""
    assert settings.changed("PLT", {**defaults, "arity": 4, "n_estimators": 3}) == "Arity: 4, Trees: 3"


@pytest.mark.parametrize("value", [0, -1, 101, None, 1e99])
def test_numbers_out_of_bounds_are_named_with_what_is_allowed(value):
    trees = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "n_estimators")
    said = settings.problem(trees, value)
    assert said.startswith("Trees:") and "1 to 100" in said
    assert settings.problem(trees, 1) is None


def test_an_empty_field_is_fine_where_it_means_something():
    beam = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "beam")
    assert settings.problem(beam, None) is None


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


@pytest.mark.parametrize("job_state", ["running", "done"])
def test_only_looks_at_a_job_that_come_by_themselves_wait_and_before_they_end(monkeypatch, job_state):
    happened = []
    job = SimpleNamespace(id="a", state=job_state, owners={"me"})
    monkeypatch.setattr(server, "queue", lambda: SimpleNamespace(get=lambda job_id: job))
    monkeypatch.setattr(workspace, "token", lambda: "me")
    monkeypatch.setattr(workspace, "get", lambda name: [{"id": "a", "title": "t"}])
    monkeypatch.setattr(jobs, "_one", lambda *about: happened.append("drawn"))
    monkeypatch.setattr(downloads, "wait", lambda: happened.append("waited"))

    def rerun():
        happened.append("page")
        raise StopIteration

    monkeypatch.setattr(jobs.st, "rerun", rerun)
    looks = []
    jobs._live(["a"], True, looks)  # a part of the page's own run
    assert happened == ["drawn"]
    with contextlib.suppress(StopIteration):
        jobs._live(["a"], True, looks)
    assert happened[1:] == (["drawn", "waited"] if job_state == "running" else ["waited", "page"])
