"""The dashboard in one process: real pages, the real queue, threads in place of worker processes."""

import collections
import contextlib
import functools
import json
import shutil
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1.element_tree import Block

from tests.pages.making import said_plainly, train
from tests.pages.small import small_data
from xmlcore import datasets, experiment

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app.py"


def wait_for_a_job(seconds=1.0):
    """Wait until a job ends, or for a while: pages that are drawn meanwhile only take time from the jobs."""
    from pages.shared.process import job_queue

    active, end = [job for job in job_queue.queue().jobs() if job.active], time.monotonic() + seconds
    while active and all(job.active for job in active) and time.monotonic() < end:
        time.sleep(0.01)


class Session:
    """A browser tab, as far as AppTest can be one; it draws nothing until something of it is looked at."""

    pages = {}  # what AppTest knows of the pages after it has drawn one of them
    forms = ()  # the forms of the Data page that are drawn

    def __init__(self, query=None, view=""):
        from streamlit.testing.v1 import AppTest

        self._at, self._query, self._is_drawn = AppTest.from_file(APP, default_timeout=60), query, False
        self._at._registered_pages = Session.pages
        if query:
            self._at.query_params["workspace"] = query
        if view:
            self._at.query_params["at"] = view
        self._unfold()

    def _unfold(self):
        """Do what a click on each box of the Data page does, which draws its forms."""
        for box in ("add", "change") if self.forms else ():
            self._at.session_state[f"data.box.{box}"] = True

    @property
    def at(self):
        return self._at if self._is_drawn else self.run()._at

    def run(self):
        self._is_drawn = True
        self.at.run()
        return self._checked()

    def _checked(self):
        assert not self.at.exception, self.at.exception[0].value + "\n" + "\n".join(self.at.exception[0].stack_trace)
        Session.pages = self.at._registered_pages
        return self

    def go(self, page):
        if not Session.pages:
            self.run()
        self._at.switch_page(f"pages/{page}/page.py")
        self._unfold()
        return self.run()

    def walk(self, **address):
        """Go to an address of this page by Back or Forward of the browser."""
        from pages.shared import view

        for name in ("at", "section"):
            self.at.query_params.pop(name, None)
        self.at.query_params.update(address)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(view, "walked", lambda: True)
            return self.run()

    @property
    def view(self):
        """What the address says that is looked at."""
        return self.at.session_state["at"]

    def until(self, condition, seconds=120):
        """Run again and again, as the page's own polling would, until ``condition(self)``."""
        end = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < end, f"waited {seconds} s; the page says:\n{self.text()}"
            wait_for_a_job()
            self.run()
        return self

    def press(self, key):
        self.at.button(key=key).click()
        return self.run()

    def make(self, key):
        """Press the button of a form, and wait until a worker has done what it asks for."""
        from pages.shared.process import job_queue

        self.press(key)
        while any(job.active for job in job_queue.queue().jobs(owner=self.token)):
            wait_for_a_job()
        return self.run() if self.at.session_state["workspace.snapshot"]["jobs"] else self

    def set(self, key, value):
        """Give the field with this key a value."""
        next(element for element in self.at._tree if getattr(element, "key", None) == key).set_value(value)
        return self.run()

    def search(self, name, words):
        """Type words into the search field of this name; fields of other data sets have the same name."""
        (field,) = (one for one in self.at.text_input if one.key.startswith(f"{name} "))
        return self.set(field.key, words)

    def click(self, label):
        """Press the first button with this label, which has no key that is known before."""
        next(button for button in self.at.button if button.label == label).click()
        return self.run()

    def tick(self, table, *lines):
        """Do what the browser does when these lines of a table are ticked, and no others."""
        return self.send(table, {"selection": {"rows": lines, "columns": [], "cells": []}})

    def send(self, element, state):
        """Do what the browser does when something in a table or a figure is ticked, edited or clicked."""
        states = self.at._tree.get_widget_states()
        sent = states.widgets.add()
        sent.id = element.proto.id
        sent.string_value = json.dumps(state)
        self.at._run(states)
        return self._checked()

    def look_only(self):
        """Copy a read-only link; return the token in it."""
        self.at.session_state["sidebar.links"] = True  # as a click on "Copy a link" does
        assert self.run().at.session_state["workspace.snapshot"]["look"] is None, "nobody has asked for it"
        self.at.session_state["sidebar.link"] = "Read-only"
        self.run()
        return self.at.session_state["workspace.snapshot"]["look"]

    @property
    def token(self):
        return self.at.session_state["workspace.token"] if self._is_drawn else self._query

    def text(self, where=None):
        """All that is written, without Markdown's backslashes and with plain spaces before units."""
        where = where or self.at
        kinds = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "toast")
        said = [element.value for kind in kinds for element in getattr(where, kind)]
        said += [element.proto.text for element in where.get("progress")]
        return said_plainly("\n".join(map(str, said)))

    def metrics(self):
        return {said_plainly(metric.label): said_plainly(metric.value) for metric in self.at.metric}

    def downloads(self):
        return {element.proto.label for element in self.at.get("download_button")}

    def frame(self, *columns):
        """The first table on the page with these columns."""
        for element in self.at.dataframe:
            if set(columns) <= set(element.value.columns):
                return element.value
        raise AssertionError(f"no table with the columns {columns}")


class Looked(collections.abc.Mapping):
    """What Streamlit remembers of a session, looked up one by one: it would make a dict of all for each field."""

    whole = SessionState.filtered_state.fget

    def __init__(self, state):
        self.state = state

    def __getitem__(self, key):
        return self.state[key]

    def __iter__(self):
        return iter(Looked.whole(self.state))

    def __len__(self):
        return len(Looked.whole(self.state))


def everything_in(block):
    """Yield a block of a page and all in it, in order; a generator within a generator for each level takes longer."""
    left = [block]
    while left:
        yield (one := left.pop())
        if isinstance(one, Block):
            left += reversed(one.children.values())


@pytest.fixture(autouse=True, scope="session")
def read_once():
    """Look for components in all installed packages once, compile each page once, and wait for the end of a run asleep.

    AppTest does the first for every session and the second for every run, though both stay as they are; while a run
    goes on it looks each millisecond through all that the run has said. Plotly takes the same names of properties
    apart for every figure.
    """
    from plotly import basedatatypes
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import app_test, local_script_runner

    look = local_script_runner.require_widgets_deltas

    def wait(runner, timeout):
        runner._script_thread.join(timeout)
        look(runner, 10)

    once = ((manifest_scanner, "scan_component_manifests"), (app_test, "ScriptCache"))
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (*once, (basedatatypes, "_str_to_dict_path_full")):
            patch.setattr(module, name, functools.cache(getattr(module, name)))
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        patch.setattr(SessionState, "filtered_state", property(Looked))
        patch.setattr(Block, "__iter__", everything_in)
        yield


@pytest.fixture(scope="session")
def examined():
    """What was found in each data set that a test had a page examine."""
    return {}


@pytest.fixture(autouse=True)
def examine_once(monkeypatch, examined):
    """Examine a data set once for all tests of pages."""
    examine = datasets.examine

    def once(data):
        return examined.get(data.fingerprint) or examined.setdefault(data.fingerprint, examine(data))

    monkeypatch.setattr(datasets, "examine", once)


@pytest.fixture(autouse=True)
def server(own_cache, monkeypatch):
    """A server process's shared parts, new for each test."""
    import streamlit as st

    from pages.shared.process import in_memory, job_queue
    from pages.shared.workspaces import removed
    from xmlcore import jobs
    from xmlcore.experiment.engine import previews

    st.cache_resource.clear()
    in_memory.values.forget()
    monkeypatch.setattr(removed, "_REMOVALS", [])
    with ThreadPoolExecutor(2) as threads:
        queue = jobs.Queue(executor=threads)
        monkeypatch.setattr(job_queue, "queue", lambda: queue)
        monkeypatch.setattr(previews, "_pool", lambda: threads)
        yield queue
        queue.shutdown()
    st.cache_resource.clear()


@pytest.fixture
def held(monkeypatch):
    """Trainings go on until ``held()`` is called, or ``held("PLT")`` for those of a model."""
    gates, real = collections.defaultdict(threading.Event), experiment.KINDS["train"].run

    def run(task, progress=None, files=None):
        while not (gates[None].is_set() or gates[task.params["model"]].is_set()):
            progress("Training nodes of trees", 0.25, "1 of 4 nodes")
            time.sleep(0.01)
        return real(task, progress, files)

    monkeypatch.setattr(experiment.KINDS["train"], "run", run)
    yield lambda model=None: gates[model].set()
    gates[None].set()


@pytest.fixture(autouse=True)
def sections_open(monkeypatch, request):
    """Draw the sections that ``@pytest.mark.sections(...)`` names, or ``"all"``, as if their tabs were open."""
    from pages.shared import sections

    marker, real = request.node.get_closest_marker("sections"), sections._draw
    if marker:
        monkeypatch.setattr(sections, "is_open", lambda tab: True)
    if marker and "all" not in marker.args:
        wanted = lambda every: {title: every[title] if title in marker.args else str for title in every}  # noqa: E731
        monkeypatch.setattr(sections, "_draw", lambda key, every: real(key, wanted(every)))


@pytest.fixture
def first_figures():
    """For tests that look at the figures above the sections of Train and Compare, which are drawn for no others."""


@pytest.fixture(autouse=True)
def few_figures(monkeypatch, request):
    """Leave out figures above the sections of Train and Compare, which take half of the time of these pages."""
    from pages.compare import answer as of_compare
    from pages.train import answer as of_train

    if "first_figures" not in request.fixturenames:
        example, cards = of_train.draw_figures, of_compare.pictures
        monkeypatch.setattr(of_train, "draw_figures", lambda ready: ready.run is None and example(ready))
        monkeypatch.setattr(of_compare, "pictures", lambda lines, *more: len(lines) < 2 and cards(lines, *more))


@pytest.fixture(autouse=True)
def forms_open(monkeypatch, request):
    """Open the boxes of the Data page, and draw the forms that ``FORMS`` of a file of tests names, or ``"all"``."""
    from pages.data import choose

    forms, real = getattr(request.module, "FORMS", ()), choose._box

    def draw_some(name, title, every, **about):
        real(
            name, title, {form: (used, draw if form in forms else str) for form, (used, draw) in every.items()}, **about
        )

    monkeypatch.setattr(Session, "forms", forms)
    if forms != "all":
        monkeypatch.setattr(choose, "_box", draw_some)


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch):
    """``api-docs`` is made in no time here; ``catalog.load`` may be replaced by a test."""
    from xmlcore.datasets.registry import catalog as registry

    catalog = types.ModuleType("catalog_of_the_tests")
    catalog.load = lambda progress: small_data("api-docs")
    monkeypatch.setitem(sys.modules, catalog.__name__, catalog)
    entry, _ = registry._ENTRIES["api-docs"]
    monkeypatch.setitem(registry._ENTRIES, "api-docs", (entry, catalog.__name__))
    return catalog


@pytest.fixture
def session():
    """Open the dashboard: ``session()`` as a new visitor, ``session(token, view)`` at a known address."""
    return lambda query=None, view="": Session(query, view).run()


@pytest.fixture(scope="session")
def visited(tmp_path_factory):
    """A list for the cache folder and the workspace's token of a visit, which the first test makes that needs one."""
    return []


def _copy_if_there(source, target):
    """Copy a file, unless it was a temporary one that has its name by now."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


@pytest.fixture
def ready(session, server, visited, tmp_path_factory):
    """A session whose data set is there, and that starts short tasks unasked: most tests look at results.

    It has drawn no page yet.
    """
    from xmlcore.system import cache_root

    if not visited:

        def is_at_rest(session):
            return "Labels per row" in session.metrics() and not any(job.active for job in server.jobs())

        opened = session().until(is_at_rest)
        token = opened.set("preferences.automatic", True).until(is_at_rest).token
        kept = tmp_path_factory.mktemp("visit") / "cache"
        # Folders of ended jobs are not needed, and are removed about now.
        shutil.copytree(cache_root(), kept, copy_function=_copy_if_there, ignore=shutil.ignore_patterns("jobs"))
        visited += [kept, token]
    kept, token = visited
    shutil.copytree(kept, cache_root(), dirs_exist_ok=True)
    return Session(token)


@pytest.fixture
def key(ready):
    """The key of a run of PLT on the small data of words, which the workspace lists; files of tests have their own."""
    return train(ready)


@pytest.fixture
def page(ready, key, request):
    """The page with the name of the folder of the test, after the run of ``key``."""
    return ready.go(request.node.path.parent.name)


@pytest.fixture
def model(key):
    return experiment.load_run_model(key)
