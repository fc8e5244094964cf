"""What pages do with a task: show its result, start it, offer it, and make it again."""

import threading
from types import SimpleNamespace

import pytest

from pages.shared import tasks
from pages.shared.process import job_queue
from pages.shared.workspaces import result_list
from tests.pages.making import Row, damage, said_plainly
from xmlcore import experiment, store
from xmlcore.datasets import load_saved

PARAMS = {"n_estimators": 2, "n_epochs": 5, "learning_rate": 1.0}


def test_an_estimate_counts_the_compiling_that_goes_on(monkeypatch):
    compiling = SimpleNamespace(active=True, fraction=0.5, elapsed=30.0)
    monkeypatch.setattr(job_queue, "warm_up", lambda: compiling)
    assert said_plainly(tasks.takes(50.0)) == "about 1 min 20 s, with compiling code, once"
    compiling.elapsed = 1.0  # kernels that are ready are only loaded
    assert said_plainly(tasks.takes(50.0)) == "about 50 s"
    compiling.elapsed, compiling.active = 30.0, False
    assert said_plainly(tasks.takes(50.0)) == "about 50 s"


@pytest.fixture
def run_record(ready):
    """A run of LdSM in the workspace, as the Train page lists it."""
    path = Row(ready.token)
    stored = path.read()
    task = experiment.task("train", {"dataset": stored["dataset"]}, {"model": "LdSM", "params": PARAMS})
    experiment.keep(task)
    record = {"key": task.key, "fingerprint": stored["dataset"], **task.params, "created": "2026-01-01T00:00:00+00:00"}
    path.write({**stored, "runs": [record]})
    return record


def test_a_run_of_an_earlier_version_is_shown_with_a_mark_and_its_successor_takes_its_place(
    ready, run_record, monkeypatch
):
    monkeypatch.setattr(experiment.KINDS["train"], "version", 2)
    page = ready.go("train")
    assert "by an earlier version of the program" in page.text()
    task = experiment.task("train", {"dataset": run_record["fingerprint"]}, {"model": "LdSM", "params": PARAMS})
    assert task.key != run_record["key"]
    page.press(f"again-{task.key}").until(lambda s: "by an earlier version" not in s.text() and task.exists())
    page.until(lambda s: [r["key"] for r in stored(s)["runs"]] == [task.key])


def stored(session):
    return Row(session.token).read()


def test_a_damaged_data_set_of_the_catalog_is_made_again_or_saved_again_while_the_server_has_it(ready):
    fingerprint = stored(ready)["dataset"]
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
    return {run["model"] for run in stored(session)["runs"]}


def shown(session):
    """The model of the run that the workspace shows."""
    row = stored(session)
    return next(run["model"] for run in row["runs"] if run["key"] == row["shown"][row["dataset"]])


def choose(session, model):
    session.at.selectbox(key="train.model").select(model)
    return session.run()


@pytest.fixture
def gates(monkeypatch):
    """Trainings of a model end only when its gate is open: ``gates["PLT"].set()``."""
    made = {"PLT": threading.Event(), "OneVsRest": threading.Event()}
    run = experiment.KINDS["train"].run

    def gated(self, progress, files=None):
        assert made[self.params["model"]].wait(120)
        return run(self, progress, files)

    monkeypatch.setattr(experiment.KINDS["train"], "run", gated)
    yield made
    for gate in made.values():
        gate.set()


def wait_until_done(session, model):
    """Wait until a training is done, without a run of the script, which would collect its result."""
    (record,) = [one for one in stored(session)["jobs"] if one["params"]["model"] == model]
    job_queue.queue().get(record["id"]).result(timeout=120)


def test_a_result_is_kept_when_train_is_pressed_again_just_as_the_training_ends(ready, gates):
    ready.go("train").press("train.PLT.submit")
    choose(ready, "OneVsRest")
    gates["PLT"].set()
    wait_until_done(ready, "PLT")
    ready.press("train.OneVsRest.submit")
    gates["OneVsRest"].set()
    ready.until(lambda s: "OneVsRest" in trained(s))
    assert trained(ready) == {"PLT", "OneVsRest"}


def test_a_result_is_kept_when_streamlit_stops_the_run_that_takes_it_in(ready, gates, monkeypatch):
    ready.go("train").press("train.PLT.submit")
    gates["PLT"].set()
    wait_until_done(ready, "PLT")
    add_result, stopped = result_list.add_result, []

    def stop_once(*args):
        """Stop as Streamlit does when the user does something meanwhile."""
        if not stopped:
            from streamlit.runtime.scriptrunner import StopException

            stopped.append(True)
            raise StopException
        add_result(*args)

    monkeypatch.setattr(result_list, "add_result", stop_once)
    ready.run()
    assert stopped and not trained(ready)
    assert trained(ready.run()) == {"PLT"}


def test_the_training_asked_for_last_is_shown_whichever_ends_last(ready, session, gates):
    ready.go("train").press("train.PLT.submit")
    choose(ready, "OneVsRest").press("train.OneVsRest.submit")
    gates["OneVsRest"].set()
    ready.until(lambda s: "OneVsRest" in trained(s))
    gates["PLT"].set()
    ready.until(lambda s: "PLT" in trained(s))
    assert shown(ready) == "OneVsRest"
    assert "OneVsRest ranks a true label first" in session(ready.token).go("train").text().replace("**", "")
    choose(ready, "PLT").press("train.PLT.submit")  # from the cache
    assert shown(ready) == "PLT"
