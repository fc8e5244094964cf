import os
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import job_functions as work
import pytest
from joblib.externals import loky
from watching import LONG, is_alive, start, wait_until

from xmlcore import store
from xmlcore.jobs import Queue, WorkerPool
from xmlcore.jobs.pool import NICENESS
from xmlcore.system import cache_root

PROJECT = Path(store.__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


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
    assert queue.submit(work.add, 1, 2, title="Add").result(timeout=LONG) == 3
    failed = queue.submit(work.fail_oddly, title="Fail")
    stopped = start(queue, work.until, "never")
    queue.cancel(stopped.id)
    assert failed.wait(LONG) and failed.error == "TwoArguments: one and two"
    assert stopped.wait(LONG) and stopped.state == "cancelled"
    queue.shutdown()
    assert executor.submit(abs, -1).result(timeout=LONG) == 1  # not ours to shut down


class ClusterLike(ThreadPoolExecutor):
    """Like Dask's: a future can always be cancelled, and that stops nothing; some keywords are its own."""

    def submit(self, fn, *args, key=None, workers=None, **kwargs):
        inner = super().submit(fn, *args, **kwargs)
        outer = Future()
        inner.add_done_callback(lambda f: outer.cancelled() or outer.set_result(f.result()))
        return outer


def test_a_job_of_a_cluster_is_cancelled_when_it_stopped(tmp_path):
    with ClusterLike(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        job = start(queue, work.until, str(tmp_path / "go"), title="Wait", key="k", owner="anna")
        waiting = queue.submit(work.until, str(tmp_path / "go"), title="Waits")
        queue.cancel(job.id)
        assert job.active and job.cancelling
        queue.cancel(waiting.id)
        assert waiting.state == "cancelled"
        assert job.wait(LONG) and job.state == "cancelled"


def test_pool_keeps_the_executor_contract():
    with WorkerPool(2) as pool:
        assert list(pool.map(abs, [-1, -2, -3])) == [1, 2, 3]
        with pytest.raises(ValueError, match="invalid literal"):
            pool.submit(int, "x").result(timeout=LONG)
        ended = pool.submit(abs, -1)
        ended.result(timeout=LONG)
        pool.kill(ended)  # no effect
        last = pool.submit(time.sleep, 0.2)
    assert last.done() and last.exception() is None  # leaving the block waits
    with pytest.raises(RuntimeError):
        pool.submit(abs, -1)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs Linux, which lists semaphores as files")
def test_a_process_that_dies_leaves_no_semaphore():
    def semaphores():
        return len([*Path("/dev/shm").glob(f"sem.loky-{os.getpid()}-*")])

    with WorkerPool(1) as pool:
        before = semaphores()
        for _ in range(2):
            with pytest.raises(BrokenExecutor):
                pool.submit(os._exit, 3).result(LONG)
            wait_until(lambda: semaphores() <= before + 1)  # one that loky has for all pools


# --- what a worker imports, and how it ends


def test_worker_imports_xmlcore_and_never_streamlit_or_the_app(queue, monkeypatch):
    pytest.importorskip("streamlit")
    for name in ("app", "pages"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    fresh = Queue(n_workers=1)
    seen = fresh.submit(work.where, title="Where").result(timeout=LONG)
    fresh.shutdown()
    assert "xmlcore.jobs" in seen["modules"]
    loaded = {name.split(".")[0] for name in seen["modules"]}
    assert not loaded & {"streamlit", "app", "pages", "pytest", "plotly", "tornado"}
    assert str(PROJECT) in seen["path"]


@posix
def test_workers_give_way_to_the_main_process(queue):
    assert queue.submit(work.niceness, title="Niceness").result(timeout=LONG) == work.lower_by(NICENESS)


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
value, pid = queue.submit(twice, 21, title="Twice").result(timeout=120)
print(value, pid, flush=True)
"""


def run_script(tmp_path, more=""):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(project=str(PROJECT)) + more)
    return subprocess.Popen([sys.executable, str(path)], cwd=tmp_path, stdout=-1, stderr=-1, text=True)


def test_plain_script_without_a_main_guard(tmp_path):
    out, err = run_script(tmp_path).communicate(timeout=LONG)
    main, answer = out.splitlines()  # main once: the worker did not run the script again
    assert main == "main" and answer.split()[0] == "42" and err == ""
    wait_until(lambda: not is_alive(int(answer.split()[1])))
    assert os.listdir(cache_root() / "jobs") == []


LEAVING = """
jobs = [queue.submit(sleep, 600, title="Long") for _ in range(4)]
while [job.state for job in jobs].count("running") < 2:
    time.sleep(0.01)
print("leaving", flush=True)
"""


JOBLIB = "import joblib; joblib.Parallel(2)([joblib.delayed(abs)(1)])"


@posix
@pytest.mark.parametrize("more", ["raise SystemExit(3)", pytest.param(JOBLIB, marks=pytest.mark.slow, id="joblib")])
def test_exit_with_running_jobs_is_quick_and_leaves_no_worker(tmp_path, more):
    script = run_script(tmp_path, LEAVING + more)
    pid = int([script.stdout.readline() for _ in range(3)][1].split()[1])
    _, err = script.communicate(timeout=LONG)  # the jobs would take longer
    # joblib's process that looks after semaphores may be the first to remove that of a worker which was just starting.
    said = [line for line in err.splitlines() if "resource_tracker" not in line and "warnings.warn" not in line]
    assert said == []
    assert script.returncode == (3 if "Exit" in more else 0)
    wait_until(lambda: not is_alive(pid))
    assert os.listdir(cache_root() / "jobs") == []


@posix
def test_killed_parent_takes_its_workers_along(tmp_path):
    script = run_script(tmp_path, LEAVING + "time.sleep(600)")
    pid = int([script.stdout.readline() for _ in range(3)][1].split()[1])
    assert is_alive(pid)
    script.kill()
    script.wait()
    wait_until(lambda: not is_alive(pid))
    script.stdout.close()
    script.stderr.close()
    assert len(os.listdir(cache_root() / "jobs")) == 1
    Queue()
    assert os.listdir(cache_root() / "jobs") == []
