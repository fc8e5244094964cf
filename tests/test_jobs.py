import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import job_functions as work
import pytest
from joblib.externals import loky

from xmlcore import store
from xmlcore.jobs import JobError, Queue, WorkerPool, _work, default_workers
from xmlcore.progress import Cancelled
from xmlcore.system import cache_root

PROJECT = Path(store.__file__).parent.parent
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """Two workers for all tests that do not count them."""
    queue = Queue(folder=tmp_path_factory.mktemp("records"), grace=0.3)
    yield queue
    queue.shutdown()


def wait_until(condition, seconds=15.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "took too long"
        time.sleep(0.01)


def running(job):
    wait_until(lambda: job.state != "queued")
    assert job.state == "running", job.error
    return job


def start(queue, function, *args, title="Test", **options):
    return running(queue.submit(function, *args, title=title, **options))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- a job's life


def test_job_runs_and_returns(queue):
    job = queue.submit(work.add, 1, b=2, title="1 + 2")
    assert job.result(timeout=30) == 3
    assert (job.state, job.title, job.active, job.cancelling) == ("done", "1 + 2", False, False)
    assert (job.phase, job.fraction, job.detail) == ("Adding", 1.0, "1 and 2")
    assert job.error is None and job.traceback is None
    assert list(job.phases) == ["Adding"]
    assert job.queued <= job.started <= job.ended
    assert 0 <= job.elapsed < 10
    assert queue.get(job.id) is job
    assert "1 + 2" in repr(job)


def test_worker_survives_between_jobs():
    queue = Queue(n_workers=1)
    pids = {queue.submit(work.where, title="Where").result(timeout=30)["pid"] for _ in range(5)}
    queue.shutdown()
    assert len(pids) == 1 and pids != {os.getpid()}


def test_workers_start_lazily():
    before = threading.active_count()
    queue = Queue()
    assert queue.jobs() == [] and threading.active_count() == before and not queue.folder.exists()
    queue.shutdown()


def test_running_job_shows_phase_fraction_and_detail(queue, tmp_path):
    job = start(queue, work.until, str(tmp_path / "go"))
    wait_until(lambda: job.phase)
    assert (job.phase, job.fraction, job.detail) == ("Waiting", 0.5, "for a file")
    assert job.ended is None and job.active and not job.wait(0)
    with pytest.raises(TimeoutError, match="not ended"):
        job.result(timeout=0)
    before = job.elapsed, job.phases["Waiting"]
    time.sleep(0.1)
    assert job.elapsed > before[0] and job.phases["Waiting"] > before[1]
    (tmp_path / "go").touch()
    assert job.wait(30) and job.state == "done"


def test_phases_add_up_and_keep_their_order(queue):
    job = queue.submit(work.phases, title="Phases")
    seen = set()
    while not job.wait(0.01):
        seen.add((job.phase, job.detail))
    assert list(job.phases) == ["Reading", "Training"]
    assert job.phases["Training"] > job.phases["Reading"] > 0.09
    assert sum(job.phases.values()) <= job.elapsed
    assert job.detail == "10 of 10"  # the last report counts, though it came too soon to be written
    assert {"Reading", "Training"} <= {phase for phase, _ in seen}


def test_two_jobs_run_at_once(queue, tmp_path):
    jobs = [start(queue, work.until, str(tmp_path / "go")) for _ in range(2)]
    assert [job.state for job in jobs] == ["running", "running"]
    (tmp_path / "go").touch()
    assert len({job.result(timeout=30) for job in jobs}) == 2


def test_results_of_a_worker_land_where_the_parent_looks(queue):
    key = queue.submit(work.write_artifact, "ab" * 8, title="Write").result(timeout=30)
    assert store.load("runs", key) == "from a worker"
    assert queue.submit(work.where, title="Where").result(timeout=30)["cache"] == str(cache_root())


def test_large_return_value_is_refused_with_the_remedy(queue):
    job = queue.submit(work.big, _work.LARGEST_VALUE + 1, title="Big")
    with pytest.raises(JobError, match="returned 10 MB.*xmlcore.store"):
        job.result(timeout=30)
    assert job.state == "done"


# --- failures


def test_failure_has_a_reason_and_a_traceback(queue):
    job = queue.submit(work.fail, "no\nsuch  file", title="Fail")
    job.wait(30)
    assert (job.state, job.phase, job.fraction) == ("failed", "Failing", 0.25)
    assert job.error == "ValueError: no such file"
    assert job.traceback.startswith("Traceback") and "job_functions.py" in job.traceback
    assert "_work.py" not in job.traceback
    with pytest.raises(JobError, match="no such file") as caught:
        job.result()
    assert caught.value.traceback == job.traceback


@pytest.mark.parametrize(
    "function, reason",
    [
        (work.fail_oddly, "TwoArguments: one and two"),
        (work.need_memory, "Not enough memory: Unable to allocate"),
        (work.leave, "SystemExit: enough"),
    ],
)
def test_odd_failures_are_told_and_the_worker_lives_on(function, reason):
    queue = Queue(n_workers=1)
    pid = queue.submit(work.where, title="Where").result(timeout=30)["pid"]
    job = queue.submit(function, title="Odd")
    job.wait(30)
    assert job.state == "failed" and job.error.startswith(reason)
    assert queue.submit(work.where, title="Where").result(timeout=30)["pid"] == pid
    queue.shutdown()


@pytest.mark.parametrize(
    "function, reason",
    [
        (work.vanish, "The worker process ended unexpectedly (out of memory?)"),
        pytest.param(work.crash, "The worker process crashed (SIGSEGV)", marks=posix),
    ],
)
def test_crash_is_told_and_harms_no_other_job(queue, tmp_path, function, reason):
    other = start(queue, work.until, str(tmp_path / "go"))
    for _ in range(2):  # the worker is made anew each time
        job = queue.submit(function, title="Crash")
        job.wait(30)
        assert (job.state, job.error) == ("failed", reason)
        assert job.traceback
    assert other.state == "running"
    (tmp_path / "go").touch()
    assert other.result(timeout=30) > 0


def test_function_that_a_worker_cannot_import_is_a_clear_failure(queue, monkeypatch):
    monkeypatch.setattr(work.add, "__module__", "nowhere_at_all")
    module = type(sys)("nowhere_at_all")
    module.add = work.add
    monkeypatch.setitem(sys.modules, "nowhere_at_all", module)
    job = queue.submit(work.add, 1, 2, title="Import")
    job.wait(30)
    assert job.error == "ModuleNotFoundError: No module named 'nowhere_at_all'"


def test_bad_submissions_fail_at_once_and_leave_nothing(queue):
    before = len(queue.jobs())
    with pytest.raises(TypeError, match="pickle"):
        queue.submit(work.add, threading.Lock(), 1, title="Lock")
    with pytest.raises(TypeError, match="must be callable"):
        queue.submit("add", title="Text")
    with pytest.raises(TypeError, match="progress is given"):
        queue.submit(work.add, 1, 2, title="Progress", progress=print)
    assert len(queue.jobs()) == before


@posix
def test_worker_that_died_while_idle_is_replaced():
    queue = Queue(n_workers=1)
    pid = queue.submit(work.where, title="Where").result(timeout=30)["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    time.sleep(0.1)
    assert queue.submit(work.where, title="Where").result(timeout=30)["pid"] != pid
    queue.shutdown()


@posix
def test_idle_worker_ends_and_the_next_job_gets_a_new_one():
    pool = WorkerPool(1, idle_seconds=0.1)
    pid = pool.submit(os.getpid).result(timeout=30)
    wait_until(lambda: not is_alive(pid))
    assert pool.submit(os.getpid).result(timeout=30) != pid
    pool.shutdown()


# --- cancel


def test_cancelled_job_stops_at_its_next_report_and_keeps_its_worker():
    queue = Queue(n_workers=1)
    pid = queue.submit(work.where, title="Where").result(timeout=30)["pid"]
    job = start(queue, work.until, "never")
    assert queue.cancel(job.id)
    assert job.wait(5)
    assert (job.state, job.error, job.phase) == ("cancelled", None, "Waiting")
    with pytest.raises(Cancelled):
        job.result()
    assert not queue.cancel(job.id)
    assert queue.submit(work.where, title="Where").result(timeout=30)["pid"] == pid
    queue.shutdown()


def test_job_that_never_reports_is_killed_after_the_grace_period(queue, tmp_path):
    other = start(queue, work.until, str(tmp_path / "go"))
    job = start(queue, work.deaf, 60)
    begin = time.monotonic()
    assert queue.cancel(job.id)
    assert time.monotonic() - begin < 0.1  # the caller does not wait
    assert job.state == "running" and job.cancelling
    assert queue.cancel(job.id)  # once more is no error
    assert job.wait(10) and time.monotonic() - begin >= 0.3
    assert (job.state, job.error, job.cancelling) == ("cancelled", None, False)
    assert job.phases["Not listening"] >= 0.3
    assert queue.submit(work.add, 1, 2, title="Next").result(timeout=30) == 3
    (tmp_path / "go").touch()
    assert other.result(timeout=30) > 0


def test_job_that_fails_over_its_cancelling_is_cancelled(queue):
    job = start(queue, work.stubborn)
    queue.cancel(job.id)
    assert job.wait(10) and (job.state, job.error) == ("cancelled", None)


def test_waiting_job_is_cancelled_at_once(tmp_path):
    queue = Queue(n_workers=1)
    first = start(queue, work.until, str(tmp_path / "go"))
    second = queue.submit(work.add, 1, 2, title="Waits")
    assert second.state == "queued" and second.elapsed == 0 and second.started is None
    assert queue.cancel(second.id)
    assert second.state == "cancelled" and second.wait(0)
    (tmp_path / "go").touch()
    assert first.wait(30) and first.state == "done"
    queue.shutdown()


def test_job_cancelled_while_its_worker_starts_never_runs(tmp_path):
    queue = Queue(n_workers=1, grace=30)
    job = queue.submit(work.until, str(tmp_path / "never"), title="Soon")
    queue.cancel(job.id)
    assert job.wait(10) and job.state == "cancelled" and job.phase == ""
    queue.shutdown()


def test_shutdown_ends_everything(tmp_path):
    queue = Queue(n_workers=1)
    jobs = [start(queue, work.deaf, 60), queue.submit(work.add, 1, 2, title="Waits")]
    queue.shutdown()
    assert [job.wait(5) and job.state for job in jobs] == ["cancelled", "cancelled"]
    with pytest.raises(RuntimeError, match="shut down"):
        queue.submit(work.add, 1, 2, title="Late")


# --- the same work asked for twice


def test_same_key_is_one_job_until_it_has_ended(queue, tmp_path):
    def submit(owner, key="k1"):
        return queue.submit(work.until, str(tmp_path / "go"), title="Wait", owner=owner, key=key)

    job = submit("anna")
    assert submit("ben") is job and submit("anna") is job
    assert job.owners == ("anna", "ben") and job.key == "k1"
    other = submit("ben", "k2")
    assert other is not job
    assert queue.jobs("anna") == [job]
    assert queue.jobs("ben") == [other, job]  # newest first
    assert queue.jobs("nobody") == []
    (tmp_path / "go").touch()
    assert job.wait(30) and other.wait(30)
    assert submit("anna") is not job


def test_job_goes_on_until_its_last_owner_gives_it_up(queue):
    job = start(queue, work.until, "never", owner="carl", key="shared")
    queue.submit(work.until, "never", title="Again", owner="dora", key="shared")
    assert not queue.cancel(job.id, "stranger")
    assert not queue.cancel(job.id, "carl")
    assert queue.jobs("carl") == [] and queue.jobs("dora") == [job]
    time.sleep(0.2)
    assert job.state == "running" and not job.cancelling
    assert queue.cancel(job.id, "dora")
    assert job.wait(10) and job.state == "cancelled"
    assert queue.jobs("dora") == [job]  # to see what became of it


def test_job_being_cancelled_is_not_joined(queue):
    job = start(queue, work.deaf, 60, owner="anna", key="dying")
    queue.cancel(job.id)
    again = queue.submit(work.add, 1, 2, title="Again", owner="anna", key="dying")
    assert again is not job and again.result(timeout=30) == 3
    assert job.wait(10)


def test_many_threads_submitting_one_key_make_one_job(queue, tmp_path):
    def submit(i):
        return queue.submit(work.until, str(tmp_path / "go"), title="Wait", owner=str(i), key="crowd")

    with ThreadPoolExecutor(16) as threads:
        jobs = list(threads.map(submit, range(64)))
    assert len(set(jobs)) == 1 and len(jobs[0].owners) == 64
    (tmp_path / "go").touch()
    assert jobs[0].wait(30)


def test_many_threads_submitting_and_watching(queue):
    def session(i):
        job = queue.submit(work.add, i, i, title=str(i), owner=str(i % 4))
        while job.active:
            assert job.state in ("queued", "running", "done") and 0 <= job.fraction <= 1
            queue.jobs(str(i % 4))
        return job.result()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(session, range(40))) == [2 * i for i in range(40)]


def test_only_the_last_ended_jobs_are_kept():
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, keep=3)
        jobs = [queue.submit(work.add, i, 0, title=str(i)) for i in range(5)]
        assert [job.result(timeout=30) for job in jobs] == list(range(5))
        wait_until(lambda: len(queue.jobs()) == 3)
        assert [job.title for job in queue.jobs()] == ["4", "3", "2"]
        assert queue.get(jobs[0].id) is None


# --- records


def test_record_is_written_at_most_ten_times_a_second_but_always_for_a_new_phase(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(_work.time, "monotonic", lambda: clock[0])
    written = []
    report = _work.Reporter(tmp_path)
    monkeypatch.setattr(
        _work.Reporter, "_write", lambda self, now: (written.append(now), setattr(self, "_written", now))
    )
    for step in range(1000):
        report("One", step / 1000)
        clock[0] += 0.001
    assert 9 <= len(written) <= 11
    report("Two", 0.0)
    report("Three", 0.0)
    assert written[-2:] == [clock[0]] * 2
    assert report.end()["phases"] == pytest.approx({"One": 1.0, "Two": 0.0, "Three": 0.0})


def test_reporting_is_cheap(tmp_path):
    report = _work.Reporter(tmp_path)
    begin = time.perf_counter()
    for step in range(100_000):
        report("Phase", step / 100_000)
    assert time.perf_counter() - begin < 1.0


def test_record_is_never_half_written(tmp_path):
    report = _work.Reporter(tmp_path)
    stop = threading.Event()

    def keep_writing():
        i = 0
        while not stop.is_set():
            report(f"Phase {i % 7}", float("nan") if i % 3 else 7.0, "x" * (i % 1000))
            i += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    wait_until((tmp_path / _work.RECORD).exists)
    for _ in range(200):
        assert 0 <= json.loads((tmp_path / _work.RECORD).read_text())["fraction"] <= 1
    stop.set()
    writer.join()


def test_every_report_after_a_cancel_raises(tmp_path):
    report = _work.Reporter(tmp_path)
    report("One", 0.0)
    (tmp_path / _work.CANCEL).touch()
    time.sleep(_work.INTERVAL)
    for _ in range(3):  # a job's threads all have to hear it
        with pytest.raises(Cancelled):
            report("One", 0.5)


def test_worker_stops_when_nobody_waits_any_more(tmp_path):
    report = _work.Reporter(tmp_path / "gone")
    with pytest.raises(Cancelled):
        report("One", 0.0)


def test_records_of_ended_jobs_go_and_those_of_a_dead_process_too(tmp_path):
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    hostname = _work.where_am_i().rsplit(":", 1)[0]
    for name, record in {
        "dead": {"host": hostname, "pid": done.pid},
        "elsewhere": {"host": "another", "pid": done.pid},
        "alive": {"host": hostname, "pid": os.getpid()},
        "odd": ["?"],
    }.items():
        (tmp_path / name / "somejob").mkdir(parents=True)
        (tmp_path / name / "queue.json").write_text(json.dumps(record))
    (tmp_path / "mine.txt").write_text("not ours")
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        job = queue.submit(work.add, 1, 2, title="Add")
        assert job.wait(10)
        assert os.listdir(queue.folder) == ["queue.json"]
        left = {"elsewhere", "alive", "odd", "mine.txt", queue.folder.name} | (
            {"dead"} if os.name != "posix" else set()
        )
        assert set(os.listdir(tmp_path)) == left


# --- other executors


@pytest.fixture(params=["threads", "processes"])
def executor(request):
    """Stand-ins for a cluster."""
    if request.param == "threads":
        made = ThreadPoolExecutor(2)
    else:
        made = loky.ProcessPoolExecutor(2)
    with made:
        yield made


def test_any_executor_will_do(executor, tmp_path):
    queue = Queue(executor, folder=tmp_path)
    assert queue.submit(work.add, 1, 2, title="Add").result(timeout=30) == 3
    failed = queue.submit(work.fail_oddly, title="Fail")
    stopped = start(queue, work.until, "never")
    queue.cancel(stopped.id)
    assert failed.wait(30) and failed.error == "TwoArguments: one and two"
    assert stopped.wait(10) and stopped.state == "cancelled"
    queue.shutdown()
    assert executor.submit(abs, -1).result(timeout=30) == 1  # not ours to shut down


class ClusterLike(ThreadPoolExecutor):
    """Like Dask's: a future can always be cancelled, and that stops nothing; some keywords are its own."""

    def submit(self, fn, *args, key=None, workers=None, **kwargs):
        inner = super().submit(fn, *args, **kwargs)
        outer = Future()
        inner.add_done_callback(lambda f: outer.cancelled() or outer.set_result(f.result()))
        return outer


def test_running_job_of_a_cluster_is_cancelled_only_when_it_has_stopped(tmp_path):
    with ClusterLike(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        job = start(queue, work.until, str(tmp_path / "go"), title="Wait", key="k", owner="anna")
        waiting = queue.submit(work.until, str(tmp_path / "go"), title="Waits")
        queue.cancel(job.id)
        assert job.active and job.cancelling
        queue.cancel(waiting.id)
        assert waiting.state == "cancelled"
        assert job.wait(10) and job.state == "cancelled"


def test_pool_keeps_the_executor_contract():
    with WorkerPool(2) as pool:
        assert list(pool.map(abs, [-1, -2, -3])) == [1, 2, 3]
        with pytest.raises(ValueError, match="invalid literal"):
            pool.submit(int, "x").result(timeout=30)
        ended = pool.submit(abs, -1)
        ended.result(timeout=30)
        pool.kill(ended)  # no effect
        last = pool.submit(time.sleep, 0.2)
    assert last.done() and last.exception() is None  # leaving the block waits
    with pytest.raises(RuntimeError):
        pool.submit(abs, -1)


def test_default_workers_is_small():
    assert 2 <= default_workers() <= 4


# --- what a worker imports, and how it ends


def test_worker_imports_xmlcore_and_never_streamlit_or_the_app(queue, monkeypatch):
    pytest.importorskip("streamlit")
    for name in ("app", "pages"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    fresh = Queue(n_workers=1)
    seen = fresh.submit(work.where, title="Where").result(timeout=30)
    fresh.shutdown()
    assert "xmlcore.jobs" in seen["modules"]
    loaded = {name.split(".")[0] for name in seen["modules"]}
    assert not loaded & {"streamlit", "app", "pages", "pytest", "plotly", "tornado"}
    assert str(PROJECT) in seen["path"]


SCRIPT = """
import os, sys, time
sys.path.insert(0, {project!r})
from xmlcore.jobs import Queue

def twice(x, progress):
    progress("Doubling", 1.0)
    return 2 * x, os.getpid()

def sleep(seconds, progress):
    progress("Sleeping", 0.0)
    time.sleep(seconds)

print("main", flush=True)
queue = Queue()
value, pid = queue.submit(twice, 21, title="Twice").result(timeout=30)
print(value, pid, flush=True)
"""


def run_script(tmp_path, more=""):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(project=str(PROJECT)) + more)
    return subprocess.Popen([sys.executable, str(path)], cwd=tmp_path, stdout=-1, stderr=-1, text=True)


def test_plain_script_without_a_main_guard(tmp_path):
    out, err = run_script(tmp_path).communicate(timeout=30)
    main, answer = out.splitlines()  # main once: the worker did not run the script again
    assert main == "main" and answer.split()[0] == "42" and err == ""
    wait_until(lambda: not is_alive(int(answer.split()[1])))
    assert os.listdir(cache_root() / "jobs") == []


LEAVING = """
jobs = [queue.submit(sleep, 60, title="Long") for _ in range(4)]
while [job.state for job in jobs].count("running") < 2:
    time.sleep(0.01)
print("leaving", flush=True)
"""


@posix
@pytest.mark.parametrize(
    "more", ["", "raise SystemExit(3)", "import joblib; joblib.Parallel(2)([joblib.delayed(abs)(1)])"]
)
def test_exit_with_running_jobs_is_quick_and_leaves_no_worker(tmp_path, more):
    script = run_script(tmp_path, LEAVING + more)
    pid = int([script.stdout.readline() for _ in range(3)][1].split()[1])
    begin = time.monotonic()
    _, err = script.communicate(timeout=30)
    assert time.monotonic() - begin < 5 and err == ""
    assert script.returncode == (3 if "Exit" in more else 0)
    wait_until(lambda: not is_alive(pid), 5)
    assert os.listdir(cache_root() / "jobs") == []


@posix
def test_killed_parent_takes_its_workers_along(tmp_path):
    script = run_script(tmp_path, LEAVING + "time.sleep(60)")
    pid = int([script.stdout.readline() for _ in range(3)][1].split()[1])
    assert is_alive(pid)
    script.kill()
    script.wait()
    wait_until(lambda: not is_alive(pid), 5)
    script.stdout.close()
    script.stderr.close()
    assert len(os.listdir(cache_root() / "jobs")) == 1
    Queue()
    assert os.listdir(cache_root() / "jobs") == []


# --- compiling ahead


def compiled():
    """Signatures of every kernel that is called from Python."""
    from importlib import import_module
    from pkgutil import iter_modules

    import xmlcore._kernels as kernels

    found = {}
    for info in iter_modules(kernels.__path__):
        for name, item in vars(import_module(f"{kernels.__name__}.{info.name}")).items():
            if hasattr(item, "signatures"):
                found[f"{info.name}.{name}"] = set(item.signatures)
    return found


def test_warm_up_leaves_nothing_to_compile(tmp_path):
    import numpy as np

    from xmlcore import PLT, jobs, metrics
    from xmlcore.datasets import read_matrix

    reports = []
    jobs.warm_up(lambda *report: reports.append(report))
    assert reports[0][0] == "Compiling kernels" and reports[-1][1] == 1.0
    assert [r[1] for r in reports] == sorted(r[1] for r in reports)
    before = compiled()

    random = np.random.default_rng(0)
    lines = [f"{i % 7},{7 + i % 4} {i % 9}:1 {9 + i % 3}:{random.random():.3f}" for i in range(60)]
    X, Y, *_ = read_matrix(("60 12 11\n" + "\n".join(lines) + "\n").encode())
    every = [{}, {"loss": "squared_hinge"}, {"tree": "random", "arity": 4}, {"n_estimators": 2}, {"beam": 3}]
    for options in [*every, {"tree": "huffman"}]:
        model = PLT(max_leaf_labels=3, max_iter=200, **options).fit(X, Y)
        metrics.measures(Y, model.predict_topk(X, k=5), 5, metrics.inverse_propensity(Y))
        model.predict_proba(X, threshold=0.2)
        model.predict(X)
        model.predict_topk(X.toarray() + 1, k=5)  # every row has every feature
    assert compiled() == before


def test_warm_up_runs_in_a_worker(queue):
    assert queue.submit(sys.modules["xmlcore.jobs"].warm_up, title="Compiling").result(timeout=120) is None
