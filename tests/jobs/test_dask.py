"""Jobs on a Dask cluster of two worker processes, which share no folder with the queue."""

import os
import signal
import time

import job_functions as work
import numpy as np
import pytest
from watching import LONG, is_alive, wait_until, within

from xmlcore import PLT, datasets, experiment, jobs, store
from xmlcore.jobs import Plan, shipping
from xmlcore.jobs.pool import SHORT_NICENESS
from xmlcore.mapped import write_rows
from xmlcore.models.plt import on_cluster
from xmlcore.system import cache_root

pytestmark = pytest.mark.slow  # tests of the pool and of the order of jobs have most of it
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers of one thread, with a store of their own."""
    own = tmp_path_factory.mktemp("workers")
    path = os.pathsep.join([os.path.dirname(work.__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        env={"XMLCORE_CACHE": str(own), "PYTHONPATH": path},
    ) as made:
        made.own = own
        yield made


@pytest.fixture
def queue(cluster, monkeypatch):
    monkeypatch.setenv("XMLCORE_SCHEDULER", cluster.scheduler_address)
    made = jobs.Queue()
    yield made
    made.shutdown()


def begun(job):
    wait_until(lambda: job.phase)
    assert job.state == "running", job.error
    return job


def data():
    rng = np.random.default_rng(0)
    Y = rng.random((300, 12)) < 0.2
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 3, axis=1) * rng.random((300, 36))
    return datasets.Dataset("shipped", X[:240], Y[:240], X[240:], Y[240:])


def test_a_model_of_the_cluster_is_the_same_bit_for_bit(queue, cluster, monkeypatch):
    monkeypatch.setattr(shipping, "PIECE", 10_000)
    sent = []
    real = shipping.pieces
    monkeypatch.setattr(shipping, "pieces", lambda *artifact: sent.append(artifact) or real(*artifact))
    made = data()
    fingerprint = datasets.save_dataset(made)
    tasks = [
        experiment.task("train", {"dataset": fingerprint}, {"model": "PLT", "params": {"random_state": seed}})
        for seed in (0, 1)
    ]
    trained = [experiment.submit(queue, task, title="Train", owner="anna") for task in tasks]
    assert [job.result(2 * LONG) for job in trained] == [task.key for task in tasks]
    assert queue.where.startswith("the cluster at tcp://127.0.0.1") and "2 workers" in queue.where and not queue.problem
    assert sent == [("datasets", fingerprint)]  # both workers use one store, as on one machine
    assert (cluster.own / "artifacts" / "runs" / tasks[0].key).is_dir()
    here = experiment.run(made, "PLT", {"random_state": 0})
    run = tasks[0].load()
    np.testing.assert_array_equal(run.ranking.labels, here.ranking.labels)
    np.testing.assert_array_equal(run.ranking.scores, here.ranking.scores)
    model, other = experiment.load_run_model(tasks[0].key), experiment.estimator("PLT", {"random_state": 0})
    other.fit(made.X_train, made.Y_train)
    np.testing.assert_array_equal(model.predict_topk(made.X_test).scores, other.predict_topk(made.X_test).scores)
    assert trained[0].memory > 10_000_000 and any("Saving" in line for line in trained[0].log)


def test_trees_as_jobs_give_the_same_model_bit_for_bit(queue, cluster):
    made, params = data(), {"max_nodes": 15, "n_estimators": 3, "random_state": 4}  # PLT: tests/experiment
    task = experiment.task("train", {"dataset": datasets.save_dataset(made)}, {"model": "LdSM", "params": params})
    job = experiment.submit(queue, task, title="Train", owner="anna")
    assert len(job.plan.after) == 3
    assert job.result(2 * LONG) == task.key
    assert all(part.state == "done" for part in job.plan.after)
    assert not store.entries("trees") and (cluster.own / "artifacts" / "trees").is_dir()
    run, here = task.load(), experiment.run(made, "LdSM", params)
    np.testing.assert_array_equal(run.ranking.labels, here.ranking.labels)
    np.testing.assert_array_equal(run.ranking.scores, here.ranking.scores)
    whole = experiment.estimator("LdSM", params).fit(made.X_train, made.Y_train)
    (_, arrays), (_, expected) = experiment.load_run_model(task.key)._state(), whole._state()
    assert arrays.keys() == expected.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_a_short_job_runs_here_if_all_workers_are_busy(queue, tmp_path):
    busy = [begun(queue.submit(work.until, str(tmp_path / "go"), title="Wait")) for _ in range(2)]
    short = queue.submit(work.niceness, title="Short", plan=Plan(short=True))
    assert short.result(LONG) == work.lower_by(SHORT_NICENESS) and {job.state for job in busy} == {"running"}
    (tmp_path / "go").touch()
    assert all(job.wait(LONG) for job in busy)


def test_jobs_of_the_cluster_have_progress_and_are_killed(queue):
    listening = begun(queue.submit(work.until, "never", title="Listens"))
    assert (listening.phase, listening.fraction, listening.detail) == ("Waiting", 0.5, "for a file")
    deaf = begun(queue.submit(work.deaf, 60, title="Deaf"))
    pids = [job._record["pid"] for job in (listening, deaf)]
    waiting = queue.submit(work.add, 1, 2, title="Waits")
    assert waiting.words == "Waiting for a free worker"
    begin = time.monotonic()
    queue.cancel(listening.id)
    queue.cancel(deaf.id)
    assert listening.wait(LONG) and deaf.wait(LONG)
    wait_until(lambda: not is_alive(pids[1]))
    assert time.monotonic() - begin < within(2.0)
    assert listening.state == deaf.state == "cancelled" and waiting.result(LONG) == 3


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_job_of_a_killed_process_or_worker_is_started_again(queue, cluster, tmp_path, whole):
    job = begun(queue.submit(work.until, str(tmp_path / "go"), title="Wait"))
    process = job._record["pid"]
    if whole:
        address = queue._cluster._hosts[job.id][0]
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            killed = client.run(os.getpid, workers=[address])[address]
    else:
        killed = process
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: job.attempts == 2 and job.state == "running" and job._record.get("pid") not in (None, process))
    wait_until(lambda: not is_alive(process))  # nothing computes on without its worker
    (tmp_path / "go").touch()
    assert job.result(LONG) > 0
    assert any("again" in line for line in job.log)


@pytest.mark.long
def test_a_killed_worker_costs_its_part_of_a_tree(cluster, tmp_path, monkeypatch):
    made = datasets.make_synthetic(n_train=3000, n_test=1, n_labels=500, n_features=900, n_jobs=1)
    rows, model = write_rows(made.X_train, tmp_path), PLT(arity=4, max_leaf_labels=16, C=1.0, normalize="l2")
    monkeypatch.setattr(on_cluster, "LEAST_COST", 1.0)
    files = []  # of parts, after the first was heard of and at the end

    def kill(phase, fraction, detail=""):
        if "parts" in detail and not detail.startswith("0 ") and not files:
            files.extend({path.name: path.stat().st_mtime_ns for path in tmp_path.glob("nodes-*/part-?")} for _ in "ab")
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        if files:
            files[1] |= {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("nodes-*/part-?")}

    with jobs.on_cluster(cluster.scheduler_address):
        found = model.fit(rows, made.Y_train, progress=kill).fitted_[0]
    assert files[0].items() <= files[1].items() and len(files[1]) > len(files[0])
    for part, expected in zip(found, model.fit(made.X_train, made.Y_train).fitted_[0], strict=True):
        np.testing.assert_array_equal(part, expected)


def test_a_failure_on_the_cluster_has_its_reason(queue, cluster, monkeypatch):
    failed = queue.submit(work.fail, "no file", title="Fail")
    key = "ab" * 8
    large = queue.submit(work.write_artifact, key, title="Write", plan=Plan(writes=(("runs", key),)))
    assert large.result(LONG) == key and store.load("runs", key) == "from a worker"
    queue._cluster._largest = 5
    other = queue.submit(work.write_artifact, "cd" * 8, title="Write", plan=Plan(writes=(("runs", "cd" * 8),)))
    assert failed.wait(LONG) and failed.error == "ValueError: no file" and "job_functions.py" in failed.traceback
    assert other.wait(LONG) and "set XMLCORE_CACHE to it, here and on the workers" in other.error


def test_a_job_that_nobody_waits_for_any_more_ends(cluster):
    queue = jobs.Queue(scheduler=cluster.scheduler_address)
    job = begun(queue.submit(work.deaf, 60, title="Deaf"))
    process = job._record["pid"]
    queue.shutdown()
    wait_until(lambda: not is_alive(process))


def test_a_short_job_waits_for_the_answer_of_the_cluster(cluster, monkeypatch):
    real = distributed.Client.nthreads
    monkeypatch.setattr(distributed.Client, "nthreads", lambda client: time.sleep(0.5) or real(client))
    queue = jobs.Queue(scheduler=cluster.scheduler_address)
    try:
        job = queue.submit(work.where, title="Where", plan=Plan(short=True))
        assert job.result(LONG)["cache"] == str(cluster.own)
    finally:
        queue.shutdown()


def test_what_needs_files_of_this_machine_runs_here(queue):
    job = queue.submit(work.where, title="Where", plan=Plan(here=True))
    assert job.result(LONG)["cache"] == str(cache_root())


def test_jobs_go_on_here_when_the_scheduler_is_lost(tmp_path):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", memory_limit=0,
        env={"PYTHONPATH": os.path.dirname(work.__file__)},
    ) as lost:  # fmt: skip
        queue = jobs.Queue(scheduler=lost.scheduler_address, n_workers=1)
        job = begun(queue.submit(work.until, str(tmp_path / "go"), title="Wait"))
        waiting = queue.submit(work.add, 1, 2, title="Add")
    wait_until(lambda: job.attempts == 2 and job.state == "running")
    assert queue.where == job.where == "this machine" and "was lost" in queue.problem
    (tmp_path / "go").touch()
    assert job.result(LONG) > 0 and waiting.result(LONG) == 3
    queue.shutdown()


def test_without_an_answer_of_the_scheduler_jobs_run_here(monkeypatch):
    monkeypatch.setenv("XMLCORE_SCHEDULER", "tcp://127.0.0.1:1")
    begin = time.monotonic()
    queue = jobs.Queue(n_workers=1)
    assert time.monotonic() - begin < within(1.0)
    job = queue.submit(work.add, 1, 2, title="Add")
    wait_until(lambda: queue.problem)
    assert time.monotonic() - begin < within(5.0)
    assert "tcp://127.0.0.1:1 does not answer" in queue.problem and "dask scheduler" in queue.problem
    assert queue.where == "this machine" and job.result(LONG) == 3
    queue.shutdown()
