"""The Jobs page, opened and used through app.py."""

import errno
import time
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from pages.jobs import live
from pages.shared.jobs import doing
from pages.shared.process import job_queue
from tests.pages.making import fields_of, said_plainly, workspace_row
from tests.pages.small import small_data
from xmlcore import datasets, experiment, jobs
from xmlcore.experiment.kinds.train import Train


def start(page, queue, count, owner=None, first=0, **more):
    """Let a workspace, or another session, start trainings; return their jobs."""
    fingerprint = datasets.save_dataset(small_data("small"))
    made = []
    with fields_of(page) as fields:
        for seed in range(first, first + count):
            settings = {"model": "PLT", "params": {"random_state": seed + (100 if owner else 0)}, "k": 5}
            task = experiment.task("train", {"dataset": fingerprint}, settings)
            title = f"Training *{seed}*" if owner is None else "A secret title"
            more["estimate"] = replace(task.estimate(), seconds=12.0, values=2e8)
            made.append(experiment.submit(queue, task, owner=owner or page.token, title=title, **more))
            about = {"id": made[-1].id, "key": task.key, "fingerprint": fingerprint, "title": title}
            if owner is None:
                fields["jobs"].append(task.to_record() | about)
    return made


def test_of_an_ensemble_in_parts_the_trees_that_run_are_listed(ready, server, monkeypatch, tmp_path):
    gate, trained = tmp_path / "go", experiment.KINDS["tree"].run

    def run(task, progress=None, files=None):
        while not gate.exists():
            progress("Training nodes of trees", 0.25)
            time.sleep(0.01)
        return trained(task, progress, files)

    monkeypatch.setattr(experiment.KINDS["tree"], "run", run)
    params = {"n_estimators": 4, "arity": 2, "max_leaf_labels": 5, "loss": "logistic", "C": 1.0}
    fingerprint = datasets.save_dataset(small_data("small"))
    task = experiment.task("train", {"dataset": fingerprint}, {"model": "PLT", "params": params})
    experiment.submit(server, task, owner="another", title="A secret title", apart=True)
    job = experiment.submit(server, task, owner=ready.token, title="Training", apart=True)
    page = ready.go("jobs").until(half_way)
    said = page.text()
    assert "Training, tree 1 of 4" in said and "Training, tree 2 of 4" in said and "Training, tree 3 of 4" not in said
    assert "A secret title" not in said, "the jobs are shared with another session"
    assert "Waiting for 4 of 4 parts" in said
    gate.touch()
    assert job.result(60) == task.key
    page.run()
    ended = page.frame("Job", "State")["Job"].tolist()
    assert "Training" in ended and not any("tree" in one for one in ended)


def test_the_answer_counts_jobs_of_the_workspace_and_of_others():
    assert "No job runs or waits" in live.sentence(0, 0, 0, 0, 0)
    some = live.sentence(1, 3, 2, 4, 1, "Training PLT")
    assert "1 run, 3 wait and 2 paused" in some and "have 4 jobs, 1 ahead. " in some and "Training PLT begins" in some


def test_jobs_can_be_paused_and_stopped(ready, server, held):
    made = start(ready, server, 5)
    page = ready.go("jobs").until(half_way)
    said = page.text()
    assert "2 run and 3 wait" in said and "Training *0*" in said
    assert "number 1 of 3 in the queue" in said
    first, _, third = made[2:]
    assert server.waiting() == made[2:]
    page.press(f"jobs.stop.{first.id}")
    assert first.state == "cancelled" and "Stopped" in page.frame("State")["State"].tolist()
    page.press("jobs.pause.all")
    assert server.paused(page.token) and "jobs that wait do not start" in page.text()
    assert "Paused, number 1 of 2" in page.text()
    held()
    page.until(lambda s: all(not job.active for job in made[:2]))
    assert third.state == "queued"
    page.press("jobs.resume.all").until(at_rest)
    listed = page.frame("State").set_index("Job")["State"]
    assert listed.filter(like="Training").value_counts().to_dict() == {"Done": 4, "Stopped": 1}


def half_way(page):
    """Whether two trainings have come to a quarter."""
    return page.text().count("Training nodes of trees: 25 %") == 2


def at_rest(page):
    """Whether no job goes on; the page is then drawn once more, as the browser has it drawn."""
    return "No job runs or waits" in page.text() and page.run() is page


def test_jobs_have_logs_and_are_listed_by_when_they_ended(ready, server, held):
    made = start(ready, server, 3)
    page = ready.go("jobs").until(half_way)
    assert not page.at.main.code
    assert "Training nodes of trees" in page.press(f"jobs.log.{made[0].id}").at.main.code[0].value
    assert not page.press(f"jobs.log.{made[0].id}").at.main.code
    page.press(f"jobs.stop.{made[2].id}")  # it came last, and is the first to end
    held()
    page.until(at_rest)
    listed = [title for title in page.frame("State")["Job"] if title.startswith("Training")]
    assert len(listed) == 3 and listed[-1] == "Training *2*"
    assert "Saving" in page.set("jobs.ended", made[0].id).at.main.code[0].value


def test_a_job_that_gave_way_is_not_called_stopped(ready, server, held):
    (job,) = start(ready, server, 1, unasked=True)
    (asked,) = start(ready, server, 1, first=1)
    held()
    page = ready.go("jobs").until(lambda s: not job.active and not asked.active)
    listed = page.run().frame("State").set_index("Job")["State"]
    assert listed["Training *0*"] == "Gave way" and listed["Training *1*"] == "Done"
    assert {past.id: past.state for past in jobs.Queue(folder=server.folder.parent).past()}[job.id] == "gave way"
    (again,) = start(ready, server, 1, unasked=True)
    assert again.key == job.key and again.wait(60)
    assert page.run().frame("State").set_index("Job")["State"]["Training *0*"] == "Done", "of its tries the last one"


def test_a_job_names_settings_as_the_form_does():
    job = SimpleNamespace(cancelling=False, state="running", phase="Choosing", fraction=0.5)
    job.plan = jobs.Plan(task={"params": {"model": "PLT"}})
    job.detail = "trial 2: max_leaf_labels=159, loss='squared_hinge', C=0.5"
    labels = {parameter.name: parameter.label for parameter in experiment.MODELS["PLT"].parameters}
    said = doing(job)
    assert f"“{labels['max_leaf_labels']}” = 159" in said and "loss=" not in said and "squared_hinge" not in said
    assert said.endswith("= 0.5)") and doing(job, short=True) == said.split(" (")[0]


def test_jobs_of_other_sessions_are_a_number_only(ready, server, held):
    start(ready, server, 3, owner="f" * 32)
    page = ready.go("jobs")
    assert "Other sessions have 3 jobs" in page.text()
    start(page, server, 1)
    said = page.run().text()
    assert "have 3 jobs, 1 ahead." in said
    assert "secret" not in said and "number 2 of 2 in the queue" in said


def test_a_job_that_does_not_fit_starts_if_the_user_insists(ready, server, held, monkeypatch):
    monkeypatch.setattr(server, "_free_bytes", lambda: 1000)
    held()
    (job,) = start(ready, server, 1)
    page = ready.go("jobs")
    assert "of memory (1.0 kB" in page.text() and job.attempts == 0
    page.press(f"jobs.insist.{job.id}").until(at_rest)
    assert job.state == "done"


def interrupted(page, queue, count, session, monkeypatch):
    """The Jobs page of a program that starts after another one has ended, in which jobs ran."""
    start(page, queue, count)
    page.run()
    later = jobs.Queue(executor=queue._here._executor)
    monkeypatch.setattr("pages.shared.process.job_queue.queue", lambda: later)
    monkeypatch.setattr("pages.shared.process.job_queue.past_states", dict)
    return session(page.token).go("jobs")


def no_room(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("refusal", "left"), [("limit of jobs", "*1*** and **Training *2*"), ("full disk", "*0***, **Training *1*")]
)
def test_interrupted_jobs_that_are_refused_are_not_forgotten(ready, server, held, session, monkeypatch, refusal, left):
    page = interrupted(ready, server, 3, session, monkeypatch)
    with monkeypatch.context() as patch:
        if refusal == "limit of jobs":
            patch.setenv("XMLCORE_USER_JOBS", "1")
        else:
            patch.setattr(experiment, "submit", no_room)
        assert "Not started" in page.press("jobs.again").text() and f"during **Training {left}" in page.text()
    held()
    assert "Interrupted" not in page.press("jobs.again").until(at_rest).text()


def test_interrupted_jobs_are_at_the_top_and_start_again(ready, server, held, session, monkeypatch):
    page = interrupted(ready, server, 3, session, monkeypatch)
    assert "Training *1*" in page.text()
    held()
    server.shutdown()
    page.press("jobs.again").until(lambda s: len(workspace_row(s).read()["runs"]) == 3)
    assert not workspace_row(page).read()["jobs"] and "Interrupted" not in page.run().text()


def listed_sweep(page, count=3):
    """Let a workspace list a sweep; return its task and its record."""
    fingerprint = datasets.save_dataset(small_data("small"))
    grid = {"C": [float(c + 1) for c in range(count)]}
    task = experiment.task("sweep", {"dataset": fingerprint}, {"model": "OneVsRest", "grid": grid})
    record = {"key": task.key, "fingerprint": fingerprint, "params": task.params, "asked": time.time()}
    with fields_of(page) as fields:
        fields["known"][fingerprint] = {"name": "mine", "source": "upload", "notes": []}
        fields["sweeps"] = [record]
    return task, record


def driven(page, queue, count=3):
    """Have a sweep under way, with one training at a time; return its task and its driver."""
    task, _ = listed_sweep(page, count)
    driver = job_queue.drivers()[task.key] = experiment.Driver(task, queue, page.token, at_once=1)
    while not driver.jobs:
        time.sleep(0.01)
    return task, driver


def test_a_sweep_rests_goes_on_and_ends_as_one_line(ready, server):
    server.pause(owner=ready.token)
    task, driver = driven(ready, server)
    page = ready.go("jobs")
    (training,) = driver.jobs.values()
    said = page.text()
    assert "settings of OneVsRest on mine" in said and "0 of 3 trainings" in said
    assert "3 paused" in said, "one is a job, the others are to come"
    assert "0 of 3 trainings, paused" in said
    assert "OneVsRest: C" not in said and not any(training.id in str(button.key) for button in page.at.button)
    assert [b.label for b in page.at.sidebar.button] == ["Copy a link", "Add data"], "the page itself shows it"
    page.at.session_state[f"jobs.trainings.{task.key}"] = True  # as a click on "Trainings" does
    assert "C, weight of the loss: 1" in page.run().text() and page.at.button(key=f"jobs.stop.{training.id}")
    assert page.go("storage").at.button(key=f"stop-sweep-side-{task.key}")
    page.go("jobs").press("jobs.resume.all").until(lambda s: task.exists() and at_rest(s))
    table = page.run().frame("Job", "State").set_index("Job")["State"]
    assert table.filter(like="OneVsRest on mine").tolist() == ["3 of 3 done"] and not any(
        ": C" in title for title in table.index
    )
    assert sum(": C" in option for option in page.at.selectbox(key="jobs.ended").options) == 3, "each has its log"


def test_times_and_sizes_of_ended_jobs_sort_as_quantities(ready, monkeypatch):
    at = lambda minute, second=0: datetime(2026, 1, 9, 10, minute, second, tzinfo=UTC)  # noqa: E731
    about = {"key": "k", "state": "done", "task": None, "queued": at(0), "started": at(0)}
    ends = [(at(4, 23), 900_000_000), (at(0, 46), 1_200_000_000), (at(0, 6), 80_000_000)]
    rest = [{"ended": end, "memory": memory} for end, memory in ends]
    past = [jobs.PastJob(id=str(n), title=str(n), **about, **more) for n, more in enumerate(rest)]
    monkeypatch.setattr(job_queue.queue(), "past", lambda owner=None: past)
    ready.go("jobs")
    orders = {"Ended": "210", "Took": "210", "Memory": "201"}
    table = ready.frame("Took")
    assert {name: "".join(table[table["Job"].isin([*"012"])].sort_values(name)["Job"]) for name in orders} == orders
    (shown,) = (one.proto.arrow_data.styler for one in ready.at.dataframe if "Took" in one.value)
    said = said_plainly(convert_arrow_bytes_to_pandas_df(shown.display_values).to_csv())
    assert "4 min 23 s" in said and "900 MB" in said


def test_an_interrupted_sweep_is_listed_and_resumed_or_left(ready):
    task, record = listed_sweep(ready)
    experiment.keep(task.trial(0, 0, 0))
    page = ready.go("jobs")
    assert "settings of OneVsRest on mine" in page.text() and "Interrupted: 1 of 3" in page.text()
    page.press(f"jobs.resume.{record['key']}").until(lambda s: task.exists() and "No job runs" in s.text())
    assert "Interrupted:" not in page.run().text()
    _, record = listed_sweep(ready, 4)
    page = ready.go("jobs").press(f"jobs.leave.{record['key']}")
    assert "Interrupted" not in page.text()
    assert workspace_row(page).read()["sweeps"][0]["stopped"] is True


def test_a_failed_job_has_its_reason_and_starts_again(ready, server, monkeypatch):
    real = Train.run
    monkeypatch.setattr(Train, "run", lambda task, progress=None, files=None: 1 / 0)
    (job,) = start(ready, server, 1)
    assert job.wait(30)
    page = ready.go("jobs").set("jobs.ended", job.id)
    assert "failed. ZeroDivisionError" in page.text().replace("**", "")
    monkeypatch.setattr(Train, "run", real)
    page.press(f"jobs.retry.{job.id}").until(at_rest)
    assert "Done" in page.frame("State")["State"].tolist()
