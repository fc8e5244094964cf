"""What all sessions of one server process share: the job queue and what has been read from disk.

Values from here are shared objects: read them, never change them (except the records of jobs: records are
added, and removed when their job is over).
"""

import contextlib
import functools
import gc
import hashlib
import importlib
import json
import logging
import os
import signal
import sys
import threading
import time
import webbrowser
from collections import OrderedDict

import streamlit as st

from pages.shared import in_memory
from pages.shared.workspaces import old as old_workspaces
from pages.shared.workspaces import workspace
from xmlcore import datasets, experiment, jobs, store, system
from xmlcore.experiment.engine import learned
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.store import cache_root
from xmlcore.system import OTHERS

WARM_UP = "warm-up"
LONG_COMPILING = 3.0  # seconds; kernels that are ready are loaded in less
LARGE = ("train", "select", "predict", "predict_opened")  # kinds of tasks of whose results few are kept in memory
SERVER = "server"  # owner of jobs that belong to no workspace
FIRST_VISIT = "first visit"  # owner of the job that makes the default data set before a workspace asks for it
READER = "xmlcore-read-ahead"  # name of the threads that read in the background
UNDO_SECONDS = 600.0  # for which what the Storage page has deleted can be brought back; then it is removed
TIDY_EVERY = 6 * 3600  # seconds between two removals of what killed processes have left
LATER = ("scipy.stats", "pandas.io.formats.style")  # modules that are not needed before there is a result
MOST_AHEAD = 1000  # names that are remembered of what was read in the background
CALM = 1.0  # seconds from the end of a page's run until results are read in the background
MANY_MODULES = 50  # imports after which garbage is no longer looked for in what is there
UNTIDY = 30.0  # seconds for which garbage may wait when pages are drawn all the time, such as for several sessions
_values = []  # all functions made by shared
_serving = threading.Event()  # set while a server runs; not in tests that run a page without one
_ahead = OrderedDict()  # what was read in the background, with its cache folder -> its version, newest last
_one_reads = threading.Lock()  # held by the thread that reads in the background
_tidying = threading.Timer(0, gc.collect)  # collects garbage a while after the last run of a page; not started yet
_tidy_by = None  # when garbage is collected at the latest, by time.monotonic(); None when no collection is due
_tidy_lock = threading.Lock()
_imported = 0  # modules that had been imported when :func:`collect` last looked at everything


def shared(max_entries: int, show_spinner: bool | str = False):
    """Decorate a function whose arguments are texts and numbers: values that it returned are kept for all sessions."""

    def decorate(function):
        """Return the function with its values kept."""

        # The cache's folder is part of each key: it is an environment variable, and tests change it.
        def of_root(root, *args):
            """Call the function; ``root`` only distinguishes values of different cache folders."""
            return function(*args)

        of_root.__module__, of_root.__qualname__ = function.__module__, function.__qualname__  # Streamlit's own key
        kept = st.cache_resource(of_root, show_spinner=show_spinner, max_entries=max_entries)
        _values.append(kept)

        @functools.wraps(function)
        def found(*args):
            """Return the value for some arguments, made now if it is not kept."""
            names = (str(cache_root()), *args)
            value = kept(*names)
            in_memory.values.used(kept, names, value, max_entries)
            return value

        return found

    return decorate


@contextlib.asynccontextmanager
async def lifespan(app):
    """Get ready for the first page when the server starts, say where it is, and open the user's browser.

    The browser is not opened when Streamlit's option ``server.headless`` is set.
    """
    threading.Thread(target=get_ready, name="xmlcore-get-ready", daemon=True).start()
    ended = threading.Event()
    threading.Thread(target=_keep_tidy, args=(ended,), name="xmlcore-tidy-store", daemon=True).start()
    print(f"\n  The dashboard is at {_address()}\n", flush=True)
    if not st.get_option("server.headless"):
        # A thread, since some browsers return only when they are closed; later, when the server answers.
        opening = threading.Timer(0.5, webbrowser.open, [_address()])
        opening.daemon = True
        opening.start()
    # What is written from now on, by threads and worker processes too, is private to this user.
    os.umask(OTHERS)
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(_says_nothing_of_reader)
    _serving.set()
    yield
    ended.set()
    _serving.clear()
    _tidying.cancel()
    _end_in_order()


def _end_in_order():
    """Have this process end as with Ctrl+C also after SIGTERM; called when the server stops.

    The web server, which has caught the signal, sends it once more when it has stopped. The process would end at once,
    without ending its workers and removing their semaphores. So the main thread does not receive it any more.
    """
    caught = signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN, None)
    if caught and os.name == "posix" and threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _address() -> str:
    """Return the address of the dashboard for a browser on this machine."""
    host = st.get_option("browser.serverAddress")
    if host in (None, "", "localhost"):  # not set by the user
        host = st.get_option("server.address") or "localhost"
    if host in ("0.0.0.0", "::"):  # all of the machine's addresses
        host = "localhost"
    host = f"[{host}]" if ":" in host else host
    secure = "s" if st.get_option("server.sslCertFile") else ""
    return f"http{secure}://{host}:{st.get_option('server.port')}/{st.get_option('server.baseUrlPath').strip('/')}"


def get_ready() -> None:
    """Do before the first visit what its page needs: start making the default data set, and import what draws it.

    If there are results already, also import what only pages about results need. Also remove old workspaces of mere
    visits.
    """
    queue()
    old_workspaces.remove()
    for name in ("pandas", "xmlcore.figures", *(LATER if store.changed("runs") else ())):  # what takes long
        importlib.import_module(name)
    collect(everything=True)


def collect(everything: bool) -> None:
    """Collect garbage, and give memory that is free back to the system.

    No page is answered meanwhile: that takes some tenths of a second, unless it leaves out what was there when much had
    been imported. That is hardly ever garbage, and what of it is, such as a session that was open then, is found when
    everything is looked at.
    """
    global _imported
    if everything:
        gc.unfreeze()
    gc.collect()
    in_memory.values.forget_views()
    if everything or len(sys.modules) >= _imported + MANY_MODULES:
        gc.freeze()
        _imported = len(sys.modules)
    system.return_free_memory()


def _keep_tidy(ended) -> None:
    """Do :func:`tidy_store` now and every :data:`TIDY_EVERY` seconds, until the event ``ended`` is set."""
    while True:
        with contextlib.suppress(OSError):  # the disk is gone: pages say so
            tidy_store()
        if ended.wait(TIDY_EVERY):
            return


def tidy_store() -> None:
    """Remove what killed processes have left, and results if all take more than they may."""
    experiment.remove_leftovers()
    make_room()


def tidy_later() -> None:
    """Collect garbage when no page's run has ended for a while, or at the latest after :data:`UNTIDY`.

    Streamlit would collect it after each run of a page, before the browser has the page's last elements: see
    ``postScriptGC`` in .streamlit/config.toml.
    """
    global _tidying, _tidy_by
    if not serving():
        return
    with _tidy_lock:  # sessions have threads of their own
        now = time.monotonic()
        _tidy_by = now + UNTIDY if _tidy_by is None else _tidy_by
        _tidying.cancel()
        _tidying = threading.Timer(min(2 * CALM, max(0.0, _tidy_by - now)), _tidy)
        _tidying.daemon = True
        _tidying.start()


def _tidy(again=True):
    """Collect garbage now, and once more when the sessions of closed tabs are over, unless pages are drawn before."""
    global _tidying, _tidy_by
    with _tidy_lock:
        _tidy_by = None
    collect(everything=not again)
    with _tidy_lock:
        if not again or _tidy_by is not None or not _serving.is_set():
            return
        # What belongs to tabs that have been closed becomes garbage when Streamlit no longer waits for them to return.
        _tidying = threading.Timer(st.get_option("server.disconnectedSessionTTL") + UNTIDY, _tidy, [False])
        _tidying.daemon = True
        _tidying.start()


def fragment(draw):
    """Return a part of a page that is run alone, as by ``st.fragment``, after which garbage is collected, too."""

    @functools.wraps(draw)
    def drawn(*args, **named):
        """Draw the part."""
        try:
            draw(*args, **named)
        finally:
            tidy_later()

    return st.fragment(drawn)


def serving() -> bool:
    """Return whether a server runs; tests run pages without one."""
    return _serving.is_set()


def is_unread(name: str, version: int = 0) -> bool:
    """Return whether something has still to be read in the background, and remember that it is read now.

    Not while kernels are being compiled: what is read here would compile them once more, in this process.
    """
    named, compiling = (str(cache_root()), name), warm_up()
    if not serving() or _ahead.get(named) == version or (compiling is not None and compiling.active):
        return False
    _ahead.pop(named, None)  # to put it at the end; another session may do the same now
    _ahead[named] = version
    if len(_ahead) > MOST_AHEAD:
        _ahead.popitem(last=False)
    return True


def read_ahead(read) -> None:
    """Call a function without arguments in the background: it reads what pages need first, so that they open quickly.

    Whether that was done before, :func:`is_unread` knows.
    """
    reading = threading.Timer(CALM, _read, [read])
    reading.name, reading.daemon = READER, True
    reading.start()


def _read(read):
    """Call a function of :func:`read_ahead`; first import what only some pages and figures need, and takes long."""
    with _one_reads:  # several at once would keep pages waiting
        for name in LATER:
            importlib.import_module(name)
        with contextlib.suppress(store.StoreError, OSError, ValueError):  # the page that needs it says what is wrong
            read()


def read_run(key: str) -> None:
    """Read a run and its data set and model, and explain a prediction, which prepares the model and loads kernels."""
    from xmlcore import explain

    x = dataset(run(key).fingerprint).X_test[[0]]
    first = model(key).predict_topk(x, 1).labels[0]
    explain.contributions(model(key), x, max(int(first[0]), 0))


def _says_nothing_of_reader(record):
    """Return whether a line of Streamlit's log is no warning that a spinner of :func:`read_ahead` is on no page."""
    return record.threadName != READER or record.levelno > logging.WARNING


def needed() -> set[str]:
    """Return the keys of what jobs and sweeps that wait or run read, and of what they make, whoever started them."""
    active = [job for job in queue().jobs() if job.active]
    keys = {key for job in active for _, key in (*job.plan.reads, *job.plan.writes)}
    return keys.union(*(driver.needs() for driver in list(drivers().values())))


def make_room() -> None:
    """Remove results that were used longest ago if all take more than they may; never what a job needs."""
    store.remove_aside(UNDO_SECONDS)
    with contextlib.suppress(OSError, ValueError):  # a wrong size in the variable is said on the Storage page
        if store.make_room(needed() | experiment.needed_by_sweeps()) is not None:
            forget()


def inventory() -> store.Inventory:
    """Return what is kept on this machine; it is looked up again when it has changed, and once a minute."""
    return _inventory(store.changes(), time.time() // 60)


@shared(max_entries=1)
def _inventory(changes, minute):
    """Return what is kept; ``changes`` says when artifacts were made, deleted or pinned last."""
    return store.inventory()


def pinner(token: str) -> str:
    """Return the name under which a workspace pins artifacts: a hash of its token."""
    return hashlib.blake2b(token.encode(), digest_size=8, person=b"xmlcore pin").hexdigest()


def make_room_later() -> None:
    """Do what :func:`make_room` does in the background: a result has been kept."""
    if _serving.is_set():
        threading.Thread(target=make_room, name="xmlcore-make-room", daemon=True).start()


def default_dataset() -> experiment.Task:
    """Return the task that makes the data set of a new workspace."""
    return experiment.task("prepare", {}, {"name": workspace.DEFAULT_DATASET})


def forget() -> None:
    """Forget all values of functions made by :func:`shared`: a result that they were made from has been replaced."""
    for kept in _values:
        kept.clear()
    in_memory.values.forget()


def queue() -> jobs.Queue:
    """Return the one job queue of this process.

    The first call starts making the default data set, if it is not kept, and compiling kernels, in the background.
    """
    return _queue(str(cache_root()))


def warm_up():
    """Return the job that compiles the kernels, or None when compiling was not needed or ended long ago."""
    return next(iter(queue().jobs(owner=SERVER)), None)


def compiling_seconds() -> float:
    """Return how long the compiling of kernels goes on, which jobs wait for; 0 when it is over or that is not known."""
    job = warm_up()
    if job is None or not job.active:
        return 0.0
    done, spent = job.fraction, job.elapsed
    return spent * (1 - done) / done if done >= 0.05 and spent >= LONG_COMPILING else 0.0


def drivers() -> dict:
    """Return the threads that carry out sweeps, by the keys of the sweeps."""
    return _drivers(str(cache_root()))


def past_states() -> dict:
    """Return the states of jobs that other server processes have run, by id."""
    return {job.id: job.state for job in queue().past()}


def job_records() -> dict:
    """Return copies of the workspaces' records of jobs: files of workspaces may be deleted with the cache."""
    return _job_records(str(cache_root()))


@st.cache_resource(show_spinner=False)
def _queue(root: str) -> jobs.Queue:
    """Return the job queue of a cache folder; the first call makes it and starts what every user needs."""
    made = jobs.Queue()
    task = default_dataset()
    if not task.exists():  # first in the queue: the first page needs the data set, and no kernel
        experiment.submit(made, task, owner=FIRST_VISIT)
    made.submit(experiment.warm_up, title="Compiling code, once", owner=SERVER, key=WARM_UP)
    return made


@st.cache_resource(show_spinner=False)
def _job_records(root: str) -> dict:
    """Return the records of jobs of a cache folder."""
    return {}


@st.cache_resource(show_spinner=False)
def _drivers(root: str) -> dict:
    """Return the threads that carry out sweeps of a cache folder."""
    return {}


# --- results of tasks ---


def loaded(task):
    """Return the kept result of a task; raises what ``task.load()`` raises."""
    return loaded_by_key(task.kind, task.key)


def loaded_by_key(kind: str, key: str):
    """Return a kept result of a kind of task by its key; raises as :func:`loaded` does."""
    value = (_large if kind in LARGE else _small)(kind, key)
    store.used(experiment.KINDS[kind].folder, key)  # also when it was in memory
    return value


@shared(max_entries=16, show_spinner="Loading the result")
def _large(kind, key):
    """Return a large result: few of these are kept in memory."""
    return experiment.load(kind, key)


@shared(max_entries=100)
def _small(kind, key):
    """Return a small result: many of these are kept in memory."""
    return experiment.load(kind, key)


def estimated_seconds(task) -> float | None:
    """Return how long a task is expected to take; None when its data set or run cannot be read."""
    estimate = estimated(task)
    return None if estimate is None else estimate.seconds


def estimated(task) -> experiment.Estimate | None:
    """Return the time and memory that a task is expected to take; None when its data set or run cannot be read."""
    try:
        return _estimated(json.dumps(task.to_record(), sort_keys=True), store.changed(learned.FOLDER))
    except (store.StoreError, OSError):
        return None


@shared(max_entries=500)
def _estimated(record, learned_at):
    """Return the estimate of a task that is given as JSON, by what was learned until a time."""
    return experiment.from_record(json.loads(record)).estimate()


def run(key: str) -> experiment.Run:
    """Return a run that is kept."""
    return loaded_by_key("train", key)


def selection(key: str) -> experiment.Selection:
    """Return a selection that is kept."""
    return loaded_by_key("select", key)


# --- what is made from data sets and results ---


def dataset(fingerprint: str) -> datasets.Dataset:
    """Return a saved data set.

    If it is in memory but was lost on disk, where jobs read it, it is saved again. If it cannot be saved, pages still
    work, and jobs say what is wrong.
    """
    data = _dataset(fingerprint)
    with contextlib.suppress(OSError):
        datasets.save_dataset(data)
    store.used("datasets", fingerprint)
    return data


@shared(max_entries=4, show_spinner="Loading the data set")
def _dataset(fingerprint):
    """Return a saved data set, from memory after the first time."""
    return datasets.load_saved(fingerprint)


@shared(max_entries=4, show_spinner="Counting labels")
def description(fingerprint: str):
    """Return describe(dataset), which a worker may have kept."""
    task = experiment.task("description", {"dataset": fingerprint})
    with contextlib.suppress(store.StoreError, OSError):
        if task.exists():
            return task.load().description
    return datasets.describe(dataset(fingerprint))


@shared(max_entries=6, show_spinner="Loading the model")
def model(key: str):
    """Return the fitted model of a run."""
    return experiment.load_run_model(key)


@shared(max_entries=40)
def nodes(key: str, tree: int):
    """Return the table of a tree's nodes, without names: see xmlcore.models.ldsm.frames."""
    return tree_frames.nodes_frame(model(key).trees_[tree])


@shared(max_entries=4)
def label_names(fingerprint: str):
    """Return a table of all labels, most frequent first: ``label``, ``name``."""
    return description(fingerprint).labels.sort_values("rank", kind="stable")[["label", "name"]]


@shared(max_entries=1000)
def measures(key: str) -> tuple:
    """Return the measures and times of a run, which are small: those of many runs are kept in memory."""
    loaded = run(key)
    return loaded.measures, loaded.times


@shared(max_entries=20)
def has_negative_values(fingerprint: str) -> bool:
    """Return whether a feature value of the training rows of a data set is negative."""
    values = dataset(fingerprint).X_train.data
    return bool(values.size and values.min() < 0)
