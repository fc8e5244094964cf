"""What pages do with a task and its job: show its result, start it, offer it, and make it again."""

import contextlib
import io
from types import SimpleNamespace

import pytest
from streamlit.errors import StreamlitInvalidLayoutContextError
from streamlit.runtime.scriptrunner import StopException

from pages.jobs import live
from pages.shared import fragments, frame, jobs, tasks
from pages.shared.process import job_queue
from pages.shared.workspaces import result_list, workspace
from tests.pages.making import damage, said_plainly, written
from xmlcore import store
from xmlcore.datasets import load_saved
from xmlcore.experiment.engine import task_files
from xmlcore.jobs import Plan

PARAMS = {"n_estimators": 2, "n_epochs": 5, "learning_rate": 1.0}


def test_a_job_that_has_just_begun_has_taken_no_time_so_far():
    job = {
        "cancelling": False,
        "state": "running",
        "phase": "Growing trees",
        "phases": {},
        "fraction": 0.1,
        "detail": "",
    }
    for elapsed, told in ((0.0004, "Growing trees: 10 %"), (3.0, "Growing trees: 10 %, 3.0 s so far")):
        going = SimpleNamespace(**job, elapsed=elapsed, memory=None, attempts=1, where="", plan=Plan())
        assert said_plainly(jobs._doing(going, {}, compact=False)) == told
        assert said_plainly(", ".join(live._facts(going, {}))) == told.partition(", ")[2]


def test_a_damaged_data_set_is_made_or_saved_again(ready):
    fingerprint = written(ready)["dataset"]
    damage("datasets", fingerprint)
    page = ready.run()
    assert "was damaged" in page.text()
    page.until(lambda s: store.exists("datasets", fingerprint) and "Labels per row" in s.metrics())
    path = store.folder("datasets", fingerprint) / store.VALUE
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(store.DamagedArtifactError):  # as a job would find it
        load_saved(fingerprint)
    assert not store.exists("datasets", fingerprint)
    assert "Labels per row" in ready.run().metrics()
    assert load_saved(fingerprint).n_train > 0


def trained(session):
    """The models of the runs that the workspace lists."""
    return {run["model"] for run in written(session)["runs"]}


def start(session, *models):
    """Press the buttons of trainings."""
    session.go("train")
    for model in models:
        session.set("train.model", model).press(f"train.{model}.submit")


def shown(session):
    """The model of the run that the workspace shows."""
    row = written(session)
    return next(run["model"] for run in row["runs"] if run["key"] == row["shown"][row["dataset"]])


def wait_until_done(session, model):
    """Wait until a training is done, without a run of the script, which would collect its result."""
    (record,) = [one for one in written(session)["jobs"] if one["params"].get("model") == model]
    job_queue.queue().get(record["id"]).result(timeout=120)


def test_a_training_begins_although_its_data_set_was_deleted(ready):
    ready.go("train")
    store.delete("datasets", written(ready)["dataset"])
    ready.press("train.PLT.submit").until(lambda s: trained(s) == {"PLT"})


def test_a_result_is_kept_when_train_is_pressed_as_it_ends(ready, held):
    start(ready, "PLT")
    assert ready.at.button(key="train.PLT.submit").disabled, "it would start nothing"
    assert not ready.set("train.model", "OneVsRest").at.button(key="train.OneVsRest.submit").disabled
    held("PLT")
    wait_until_done(ready, "PLT")
    ready.press("train.OneVsRest.submit")
    held("OneVsRest")
    ready.until(lambda s: trained(s) == {"PLT", "OneVsRest"})
    assert not ready.at.button(key="train.OneVsRest.submit").disabled


def test_a_result_is_kept_when_streamlit_stops_the_run(ready, held, monkeypatch):
    start(ready, "PLT")
    held("PLT")
    wait_until_done(ready, "PLT")
    add_result, stopped = result_list.add_result, []

    def stop_once(*args):
        """Stop as Streamlit does when the user does something meanwhile."""
        if not stopped:
            stopped.append(True)
            raise StopException
        add_result(*args)

    monkeypatch.setattr(result_list, "add_result", stop_once)
    ready.run()
    assert stopped and not trained(ready)
    assert trained(ready.run()) == {"PLT"}


def test_the_training_asked_for_last_is_shown(ready, session, held):
    start(ready, "PLT", "OneVsRest")
    for model in ("OneVsRest", "PLT"):
        held(model)
        ready.until(lambda s: model in trained(s))  # noqa: B023
    assert shown(ready) == "OneVsRest"
    assert "OneVsRest ranks a true label first" in session(ready.token).go("train").text().replace("**", "")
    start(ready, "PLT")  # from the cache
    assert shown(ready) == "PLT"


RECORD = {"id": "a", "kind": "train", "inputs": {}, "params": {"model": "PLT"}, "fingerprint": "f"}


@pytest.mark.parametrize("ended", ["done", "cancelled"])
def test_a_job_is_watched_until_its_result_is_taken_in(monkeypatch, ended):
    job = SimpleNamespace(id="a", state=ended)
    monkeypatch.setattr(workspace, "get", lambda name: [RECORD])
    monkeypatch.setattr(jobs, "find", lambda record: job)
    assert jobs.active("train", fingerprint="f", model="PLT") == [job]


@pytest.mark.parametrize("is_over", [False, True])
def test_looks_that_come_by_themselves_draw_the_page_once(monkeypatch, is_over):
    happened, looks = [], []
    monkeypatch.setattr(jobs, "poll_seconds", lambda: 1.0)
    monkeypatch.setattr(frame.st, "fragment", lambda look, run_every: looks.append(look) or look)
    monkeypatch.setattr(frame.st, "session_state", {})
    monkeypatch.setattr(frame.st, "empty", lambda: "place")

    def rerun():
        happened.append("page")
        raise StopIteration

    monkeypatch.setattr(frame.st, "rerun", rerun)
    fragments.begin()
    frame._follow_jobs()
    assert not looks, "nothing changes by itself"
    fragments.live(lambda place: happened.append(f"drawn in its {place}"))
    fragments.redraw_once(lambda: is_over)
    frame._follow_jobs()
    assert happened == ["drawn in its place"], "a part of the page's own run"
    with contextlib.suppress(StopIteration):
        looks[0]()
    assert happened[1:] == ["page" if is_over else "drawn in its place"]


def test_progress_whose_places_are_gone_draws_the_page_anew(monkeypatch):
    """A click begins another run in a thread of its own: Streamlit forgets the places while the old one polls."""
    happened = []

    def draw(place):
        raise StreamlitInvalidLayoutContextError("the container was created outside")

    monkeypatch.setattr(jobs, "poll_seconds", lambda: 1.0)
    monkeypatch.setattr(frame.st, "fragment", lambda poll, run_every: poll)
    monkeypatch.setattr(frame.st, "session_state", {})
    monkeypatch.setattr(frame.st, "empty", lambda: "place")
    monkeypatch.setattr(frame.st, "rerun", lambda: happened.append("page"))
    fragments.begin()
    fragments.live(draw)
    frame._follow_jobs()
    assert happened == ["page"]


@pytest.mark.parametrize("shows_progress", [False, True])
def test_a_part_that_shows_progress_is_drawn_with_its_page(monkeypatch, shows_progress):
    drawn = []
    monkeypatch.setattr(fragments, "_of_page", lambda: 1)
    monkeypatch.setattr(fragments.st, "fragment", lambda draw: draw)
    monkeypatch.setattr(fragments.st, "session_state", {})
    monkeypatch.setattr(fragments.st, "rerun", lambda: drawn.append("page"))

    def draw():
        drawn.append("part")
        if shows_progress:
            fragments.redraw_once(lambda: False)

    fragments.begin()
    part = fragments.alone(draw)
    part()
    shows_progress = not shows_progress  # it begins, or has ended
    part()
    assert drawn == ["part", "part", "page"] if shows_progress else drawn[:2] == ["part", "page"]


@pytest.mark.parametrize(
    ("state", "owner", "goes_on"),
    [("running", "me", True), ("queued", "server", True), ("done", "me", False), ("running", "you", False)],
)
def test_a_job_goes_on_while_it_is_active_and_wanted_here(monkeypatch, state, owner, goes_on):
    job = SimpleNamespace(state=state, owners={owner})
    monkeypatch.setattr(job_queue, "queue", lambda: SimpleNamespace(get={"a": job}.get))
    monkeypatch.setattr(workspace, "token", lambda: "me")
    assert jobs.goes_on("a") == goes_on and not jobs.goes_on("b")


@pytest.mark.parametrize("needed", [True, False])
def test_files_of_a_stopped_job_stay_while_another_needs_them(monkeypatch, own_cache, needed):
    mine = SimpleNamespace(id="a", key="0" * 32, state="cancelled", active=False, title="Reading", owners=set())
    others = SimpleNamespace(id="b", key="0" * 32, state="running", active=needed, title="Reading", owners={"another"})
    record = RECORD | {"kind": "read", "key": mine.key, "params": {}, "title": "Reading"}
    listed = {"jobs": [record], "wanted": None}
    queue = SimpleNamespace(jobs=lambda owner=None: [others, mine] if owner is None else [], get=lambda job_id: mine)
    monkeypatch.setattr(job_queue, "queue", lambda: queue)
    monkeypatch.setattr(workspace, "read_only", lambda: False)
    monkeypatch.setattr(workspace, "token", lambda: "me")
    monkeypatch.setattr(workspace, "get", listed.get)
    monkeypatch.setattr(workspace, "notify", lambda text: None)
    monkeypatch.setattr(jobs, "dismiss", lambda job_id: listed.update(jobs=[]))
    task_files.put(mine.key, {"train": io.BytesIO(b"1 1 1")})
    tasks.collect()
    assert task_files._folder(mine.key).exists() == needed


@pytest.mark.parametrize(("sessions", "seconds"), [(1, 1.0), (5, 1.0), (10, 2.0), (100, 4.0)])
def test_progress_is_looked_up_less_often_with_many_sessions(monkeypatch, sessions, seconds):
    running, ended = (
        [SimpleNamespace(id=f"{active} {i}", active=active, owners={f"{active} {i}"}) for i in range(n)]
        for active, n in ((True, sessions), (False, 50))
    )
    monkeypatch.setattr(job_queue, "queue", lambda: SimpleNamespace(jobs=lambda: running + ended))
    assert jobs.poll_seconds() == seconds
