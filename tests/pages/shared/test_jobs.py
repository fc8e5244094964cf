"""Jobs of a workspace."""

import contextlib
import io
from types import SimpleNamespace

import pytest

from pages.shared import jobs, tasks
from pages.shared.process import job_queue
from pages.shared.streamlit_fixes import downloads
from pages.shared.workspaces import workspace
from xmlcore.experiment.engine import given

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
    monkeypatch.setattr(job_queue, "queue", lambda: SimpleNamespace(get=lambda job_id: job))
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


@pytest.mark.parametrize("needed", [True, False])
def test_files_of_a_stopped_job_stay_while_another_session_has_them_read(monkeypatch, own_cache, needed):
    mine = SimpleNamespace(id="a", key="0" * 32, state="cancelled", active=False, title="Reading", owners=set())
    others = SimpleNamespace(id="b", key="0" * 32, state="running", active=needed, title="Reading", owners={"another"})
    record = RECORD | {"kind": "read", "key": mine.key, "params": {}, "title": "Reading"}
    listed = {"jobs": [record], "wanted": None}
    queue = SimpleNamespace(jobs=lambda owner=None: [others, mine] if owner is None else [], get=lambda job_id: mine)
    monkeypatch.setattr(job_queue, "queue", lambda: queue)
    monkeypatch.setattr(workspace, "only_looks", lambda: False)
    monkeypatch.setattr(workspace, "token", lambda: "me")
    monkeypatch.setattr(workspace, "get", listed.get)
    monkeypatch.setattr(workspace, "notify", lambda text: None)
    monkeypatch.setattr(jobs, "dismiss", lambda job_id: listed.update(jobs=[]))
    given.give(mine.key, {"train": io.BytesIO(b"1 1 1")})
    tasks.collect()
    assert given._folder(mine.key).exists() == needed


@pytest.mark.parametrize(("sessions", "seconds"), [(1, 1.0), (5, 1.0), (10, 2.0), (100, 4.0)])
def test_progress_is_looked_up_less_often_by_each_session_when_many_have_jobs(monkeypatch, sessions, seconds):
    running = [SimpleNamespace(id=f"{i}", active=True, owners={f"session {i}"}) for i in range(sessions)]
    ended = [SimpleNamespace(id=f"old {i}", active=False, owners={f"earlier {i}"}) for i in range(50)]
    asked = []
    monkeypatch.setattr(job_queue, "queue", lambda: SimpleNamespace(jobs=lambda: running + ended))
    monkeypatch.setattr(jobs.st, "session_state", {workspace.WATCHED: set(), workspace.PLACES: 0})
    monkeypatch.setattr(jobs.st, "fragment", lambda draw, run_every: asked.append(run_every) or (lambda *args: None))
    jobs.watch(running[:1])
    assert asked == [seconds]
