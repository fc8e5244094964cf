"""Jobs of a workspace."""

import contextlib
from types import SimpleNamespace

import pytest

from pages.shared import downloads, jobs, server, workspace

RECORD = {"id": "a", "kind": "train", "inputs": {}, "params": {"model": "PLT"}, "fingerprint": "f"}


@pytest.mark.parametrize("ended", ["done", "cancelled"])
def test_a_job_that_ends_while_the_page_is_drawn_is_watched_until_its_result_is_taken_in(monkeypatch, ended):
    job = SimpleNamespace(id="a", state=ended)
    monkeypatch.setattr(workspace, "get", lambda name: [RECORD])
    monkeypatch.setattr(jobs, "find", lambda record: job)
    assert jobs.active("train", fingerprint="f", model="PLT") == [job]


@pytest.mark.parametrize("job_state", ["running", "done"])
def test_only_looks_at_a_job_that_come_by_themselves_wait_and_before_they_end(monkeypatch, job_state):
    happened = []
    job = SimpleNamespace(id="a", state=job_state, owners={"me"})
    monkeypatch.setattr(server, "queue", lambda: SimpleNamespace(get=lambda job_id: job))
    monkeypatch.setattr(workspace, "token", lambda: "me")
    monkeypatch.setattr(workspace, "get", lambda name: [{"id": "a", "title": "t"}])
    monkeypatch.setattr(jobs, "_show_job", lambda *about: happened.append("drawn"))
    monkeypatch.setattr(jobs, "_stop_button", lambda *about: None)
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
