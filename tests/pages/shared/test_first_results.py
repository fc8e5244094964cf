"""First results: what is computed on the data that come with the program, and that nobody asks for."""

import time

import pytest

from pages.shared.operator import limits
from pages.shared.process import job_queue
from tests.pages.making import estimate, fields_of, train, use, word_data, written
from tests.pages.small import small_data


@pytest.fixture(autouse=True)
def on(monkeypatch):
    monkeypatch.setenv(limits.FIRST, "on")


def unasked(server):
    return [job for job in server.jobs() if job.plan.unasked]


@pytest.fixture
def trains(session, server, held, monkeypatch):
    """A first visit while its first training goes on, which nobody has asked for."""
    estimate(monkeypatch, "train", 100.0)  # another training is not short, and this one in its first half
    page = session().until(lambda s: unasked(server) and unasked(server)[0].state == "running")
    assert [job.title for job in unasked(server)] == ["Training PLT on api-docs"]
    return page


def test_pages_show_how_far_first_results_are(trains, held):
    for name in ("train", "compare", "predict", "explain", "robustness", "trees", "features", "sampling"):
        page = trains.go(name)
        assert not [b.label for b in page.at.main.button if b.label.startswith("Train ")] or name == "train"
        assert ("comes by itself" in page.text()) == (name in ("features", "sampling")), name
    trains.set("preferences.automatic", False).go("features")
    assert "comes by itself" not in trains.text(), "nothing does any more"


def test_another_job_stops_a_first_result_until_it_has_ended(trains, server, held):
    trains.go("train").at.selectbox(key="train.model").select("OneVsRest")
    trains.run().press("train.OneVsRest.submit")
    assert unasked(server)[0].wait(60) and unasked(server)[0].gave_way
    trains.run()
    assert len(unasked(server)) == 1 and "Stopped" not in trains.text(), "it waits until nothing else runs"
    assert "begins once no other job runs" in trains.go("jobs").text()
    held()
    trains.until(lambda s: len(unasked(server)) > 1)
    assert written(trains)["shown"] == {key["fingerprint"]: key["key"] for key in written(trains)["runs"][:1]}


def test_a_first_result_that_is_asked_for_is_not_stopped(trains, server, held):
    trains.go("train").press("train.PLT.submit")
    assert not unasked(server) and trains.at.button(key="train.PLT.submit").disabled, "now it is asked for"
    trains.at.selectbox(key="train.model").select("OneVsRest")
    trains.run().press("train.OneVsRest.submit")
    held()
    trains.until(lambda s: {"PLT", "OneVsRest"} <= {run["model"] for run in written(s)["runs"]})
    assert all(run["asked"] > 0 for run in written(trains)["runs"] if run["model"] in ("PLT", "OneVsRest"))


def test_a_first_result_that_was_interrupted_is_begun_again(trains, server):
    with fields_of(trains) as changed:
        changed["jobs"][0]["id"] = "of a server that has ended"
    job_queue.job_records().clear()
    server.cancel(unasked(server)[0].id)
    assert "restarted" not in trains.until(lambda s: len(unasked(server)) == 2).text()


def test_a_first_result_that_another_session_has_begun_is_joined(trains, server):
    with fields_of(trains) as changed:
        changed |= {"jobs": [], "unasked": {}}
    trains.run()
    assert [record["id"] for record in written(trains)["jobs"]] == [job.id for job in unasked(server)]


def test_what_the_user_stops_is_not_begun_again(trains, server, held):
    trains.press(f"stop-side-{unasked(server)[0].id}").until(lambda s: not written(s)["jobs"])
    held()
    assert "Stopped: Training PLT" in trains.text()
    trains.go("train").go("data")
    assert len(unasked(server)) == 1


def test_wanting_nothing_stops_a_first_result(trains, server, held):
    trains.set("preferences.automatic", False).until(lambda s: not written(s)["jobs"])
    held()
    assert unasked(server)[0].wait(60) and unasked(server)[0].state == "cancelled" and "Stopped" not in trains.text()
    trains.set("preferences.automatic", "first").until(lambda s: len(unasked(server)) > 1)


def test_another_data_set_stops_a_first_result(trains, server, held):
    default = written(trains)["dataset"]
    use(trains, word_data())
    trains.until(lambda s: not written(s)["jobs"])
    held()
    assert unasked(server)[0].wait(60) and unasked(server)[0].state == "cancelled" and "Stopped" not in trains.text()
    assert trains.go("jobs").frame("State").set_index("Job")["State"]["Training PLT on api-docs"] == "Gave way"
    trains.go("data")
    with fields_of(trains) as changed:
        changed |= {"dataset": default, "used": time.time()}
    trains.until(lambda s: len(unasked(server)) > 1)


def test_what_the_user_deletes_does_not_come_back(trains, server, held):
    held()
    trains.until(lambda s: written(s)["runs"])
    with fields_of(trains) as changed:
        changed |= {"runs": [], "shown": {}}
    trains.run().until(lambda s: not written(s)["jobs"])
    n_jobs = len(unasked(server))
    trains.go("train").go("data")
    assert len(unasked(server)) == n_jobs and "PLT" not in [run["model"] for run in written(trains)["runs"]]


def test_nothing_is_begun_if_unwanted_or_on_other_data(session, server, held):
    page = session()
    page.set("preferences.automatic", False).until(lambda s: "Labels per row" in s.metrics())
    use(page, word_data())
    page.set("preferences.automatic", "first").run()
    assert not unasked(server)
    page.go("data").set("preferences.automatic", True)
    with fields_of(page) as changed:
        changed["dataset"] = next(key for key, entry in changed["known"].items() if entry["name"] == "api-docs")
        changed["used"] = time.time()
    page.run().until(lambda s: unasked(server))


def test_nothing_is_begun_beside_several_results_of_the_user(monkeypatch, session, server):
    monkeypatch.setenv(limits.FIRST, "off")
    page = session().until(lambda s: "Labels per row" in s.metrics())
    for trees in (1, 2):
        train(page, data=small_data("api-docs"), n_estimators=trees)
    with fields_of(page) as changed:
        changed["known"][changed["dataset"]]["source"] = "catalog"
    monkeypatch.setenv(limits.FIRST, "on")
    page.go("train").go("data")
    assert not unasked(server)


def test_the_operator_switches_first_results_off(monkeypatch, session, server):
    monkeypatch.setenv(limits.FIRST, "off")
    page = session().until(lambda s: "Labels per row" in s.metrics())
    field = page.at.selectbox(key="preferences.automatic")
    assert field.value is False and len(field.options) == 2
    assert not unasked(server)
    monkeypatch.setenv(limits.FIRST, "never")
    with pytest.raises(ValueError, match="XMLCORE_FIRST_RESULTS is 'never', and must be on or off"):
        limits.apply()


def test_first_results_take_nothing_of_what_a_user_may_run(trains, monkeypatch, server):
    monkeypatch.setenv(limits.JOBS, "1")
    trains.go("train").at.selectbox(key="train.model").select("OneVsRest")
    trains.run().press("train.OneVsRest.submit")
    assert [job.title for job in server.jobs() if not job.plan.unasked][0] == "Training OneVsRest on api-docs"
