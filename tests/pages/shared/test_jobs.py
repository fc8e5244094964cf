"""Jobs of a workspace."""

import contextlib
import io
from types import SimpleNamespace

import pytest

from pages.shared import fragments, jobs, tasks
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


@pytest.mark.parametrize("is_over", [False, True])
def test_only_looks_that_come_by_themselves_wait_and_before_they_end(monkeypatch, is_over):
    happened, looks = [], []
    monkeypatch.setattr(downloads, "wait", lambda: happened.append("waited"))
    monkeypatch.setattr(fragments.st, "fragment", lambda look, run_every: looks.append(look) or look)

    def rerun():
        happened.append("page")
        raise StopIteration

    monkeypatch.setattr(fragments.st, "rerun", rerun)
    fragments.polled(lambda: happened.append("drawn"), 1.0, lambda: is_over)
    assert happened == ["drawn"], "a part of the page's own run"
    with contextlib.suppress(StopIteration):
        looks[0]()
    assert happened[1:] == (["waited", "page"] if is_over else ["drawn", "waited"])


@pytest.mark.parametrize(
    ("state", "owners", "goes_on"),
    [("running", {"me"}, True), ("queued", {"server"}, True), ("done", {"me"}, False), ("running", {"you"}, False)],
)
def test_a_job_goes_on_while_it_is_active_and_wanted_here(monkeypatch, state, owners, goes_on):
    job = SimpleNamespace(state=state, owners=owners)
    monkeypatch.setattr(job_queue, "queue", lambda: SimpleNamespace(get={"a": job}.get))
    monkeypatch.setattr(workspace, "token", lambda: "me")
    assert jobs.goes_on("a") == goes_on and not jobs.goes_on("b")


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
    monkeypatch.setattr(jobs.st, "session_state", {workspace.WATCHED: set()})
    monkeypatch.setattr(
        fragments.st, "fragment", lambda draw, run_every: asked.append(run_every) or (lambda *args: None)
    )
    jobs.watch(running[:1])
    assert asked == [seconds]
