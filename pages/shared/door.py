"""The door of a page: its inputs are ready, or this one place says why not, and what to do about it.

A page registers with :func:`page`, and says with :class:`Runs`, or another class of its kind, which results it is
about. Its ``draw(ready)`` is called only when these are there: it asks for no state.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from pages.shared import actions, addresses, cached, fields, first_results, format, jobs, settings, tasks
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace
from xmlcore import datasets, experiment

NOTHING_TO_LEARN = "No training row has a label, so there is nothing to learn. Choose another data set."
NO_PAIRS = "compares right and wrong labels: it needs two labels, one with two training rows, and a row without one."
SILENT = "No test row of **{}** has a label, so predictions cannot be measured."


@dataclasses.dataclass
class Ready:
    """The inputs of a page: the data set in use, the results that it can show, and the one that it shows."""

    name: str = ""  # of the data set, on pages
    fingerprint: str | None = None  # of the data set: a hash of its content
    data: datasets.Dataset | None = None
    records: list = dataclasses.field(default_factory=list)  # of the results, newest first
    titles: dict = dataclasses.field(default_factory=dict)  # of all results on the data set, by key
    record: dict | None = None  # of the result shown
    run: Any = None  # the result shown
    model: Any = None  # its model
    head: Any = None  # a container beside the title of the page
    kind: Any = None  # how the page lists, chooses and reads results: a Runs, or one of its kind

    @property
    def key(self) -> str:
        return self.record["key"]

    @property
    def title(self) -> str:
        return self.titles[self.key]

    @property
    def every(self) -> list:
        """All results on the data set, those included that this page cannot show."""
        return results.kept("runs", self.fingerprint)

    @property
    def labelled(self) -> bool:
        """Whether a test row has a label, so that predictions can be right or wrong."""
        return self.data.Y_test.nnz > 0

    @property
    def files(self) -> str:
        return f"{format.file_name(self.name)}-{self.run.model}-{self.key[:6]}"

    def choose(self, label: str = "Result shown", width: int | None = None) -> None:
        """Show a choice of the result shown, notes on it, and running trainings."""
        self.kind.choose(self, label, width)
        self.kind.watch(self)


@dataclasses.dataclass(frozen=True)
class Page:
    """A page about the data set in use."""

    question: str = ""  # that the page answers: said while there is no result
    train: str = "PLT"  # the model that a button trains while there is no result
    models: tuple = ()  # those whose results are shown; empty: all
    below: Callable | None = None  # drawn below what the door says
    measures: bool = False  # whether it is about how often predictions are right
    reads_data: bool = True  # whether it is about the data set in use
    needs_data: bool = True  # whether it is not drawn while none is in use

    def list(self, fingerprint) -> list:
        return []

    def titles(self, fingerprint, records) -> dict:
        return {}

    def is_open_without(self) -> bool:
        """Return whether the page is drawn also while there is no result."""
        return True

    def begin(self, ready: Ready, page: str) -> None:
        """Describe the page while it has no result, and offer to make one."""
        no_result(ready, page, self)

    def pick(self, ready: Ready, page: str) -> bool:
        """Choose and read what is shown, and return whether the page can be drawn."""
        return True

    def choose(self, ready: Ready, label: str, width: int | None) -> None:
        """Show a choice of the result shown."""

    def watch(self, ready: Ready) -> None:
        """Show the progress and the failures of trainings that the page waits for."""


class Runs(Page):
    """A page about one of the results on the data set in use, those without a model included."""

    def list(self, fingerprint) -> list:
        return results.kept("runs", fingerprint)

    def titles(self, fingerprint, records) -> dict:
        return run_names.names(results.kept("runs", fingerprint))

    def pick(self, ready, page) -> bool:
        key = results.chosen(f"{page}.run", ready.fingerprint, ready.records)
        ready.record = next(record for record in ready.records if record["key"] == key)
        return self.read(ready)

    def read(self, ready) -> bool:
        ready.run = results.run(ready.record)
        return True

    def choose(self, ready, label, width) -> None:
        self.select(ready, label, width)
        if len(ready.records) == 1:
            st.caption(results.trained(ready.record))
        if ready.run is not None:
            results.mark(ready.record)
            results.say_warnings(ready.run)

    def select(self, ready, label, width, also=lambda key: None) -> None:
        """Show a select box of several results; the one taken is shown on the Train page, too, and told ``also``."""
        widget, titles = f"{st.session_state[_NAME]}.run", {r["key"]: ready.titles[r["key"]] for r in ready.records}

        def take(key):
            results.take(ready.fingerprint, key)
            workspace.remember(f"{widget} {ready.fingerprint}", key)
            also(key)

        if len(titles) > 1:
            help = "All results of this workspace on this data set that this page can show, newest first. "
            help += run_names.footnote(titles.values())
            fields.pick(label, fields.cut(titles, width) if width else titles, widget, ready.key, take, help=help)

    def watch(self, ready) -> None:
        for model in self.models:
            jobs.follow("train", fingerprint=ready.fingerprint, model=model)
        if not self.models:
            key = {} if ready.record is None else {"key": ready.key}
            jobs.follow("train", fingerprint=ready.fingerprint, **key)


class Models(Runs):
    """A page about the model of one of the results on the data set in use."""

    def list(self, fingerprint) -> list:
        every = results.with_model(fingerprint)
        return [record for record in every if not self.models or record["model"] in self.models]

    def is_open_without(self) -> bool:
        return False

    def read(self, ready) -> bool:
        both = results.run_and_model(ready.record)
        if both is not None:
            ready.run, ready.model = both
        return both is not None


class Several(Models):
    """A page about the models of several results; ``draw`` lets the user choose them."""

    def pick(self, ready, page) -> bool:
        return True


_NAME = "door.page"  # key of st.session_state: the name of the page that is drawn


def page(title: str, draw: Callable, kind: Page) -> None:
    """Draw a page with ``draw(ready)``, or show why that is not possible; ``kind`` says which results it is about."""
    name = st.session_state[_NAME] = title.lower()
    head = st.container(horizontal=True, vertical_alignment="center")
    head.title(title, width="content")
    ready = in_use() if kind.reads_data else Ready()
    ready.head, ready.kind = head, kind
    if _resolved(ready, kind, name):
        if kind.measures and ready.records and not ready.labelled:
            st.markdown(SILENT.format(format.plain(ready.name)))
        draw(ready)
    elif kind.below is not None:
        kind.below()


def in_use() -> Ready:
    """Return the data set in use; its fields are empty while there is none."""
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        return Ready()
    data = cached.dataset(fingerprint)
    return Ready(tasks.dataset_name(fingerprint) or data.name, fingerprint, data)


def _resolved(ready, kind, name) -> bool:
    """Fill in the inputs of the page, and return whether it can be drawn; if not, the page says why."""
    ready.records = kind.list(ready.fingerprint)
    if ready.data is None and kind.needs_data and not ready.records:
        no_data()
        return False
    if not ready.records:
        if not kind.is_open_without():
            kind.begin(ready, name)
        return kind.is_open_without()
    ready.titles = kind.titles(ready.fingerprint, ready.records)
    if not kind.pick(ready, name):
        ready.choose()
        return False
    return True


def no_data() -> None:
    """Say that no data set is in use, or show the progress of one that is made ready."""
    running = jobs.active("prepare")
    if running:
        st.markdown("The data set is being made ready.")
        jobs.watch(running)
    else:
        st.markdown("There is no data set in use.")
        addresses.link("Data", "Choose or upload one on the Data page")


def no_result(ready: Ready, page: str, kind: Page) -> None:
    """Say which question the page answers; show that a model is being trained, or offer to."""
    place = st.container()
    if first_results.comes(ready.fingerprint, "train", model=kind.train):
        place.markdown(kind.question)
        return
    about = [{"model": model} for model in kind.models] or [{}]
    no = f"No {' or '.join(kind.models) or 'model'} has been trained"
    st.markdown(f"{kind.question} {no} on {format.bold(ready.name)} in this workspace yet.")
    problem = refuses(kind.train, ready)
    running = any(jobs.active("train", fingerprint=ready.fingerprint, **one) for one in about)
    with st.container(horizontal=True, vertical_alignment="center"):
        task = tasks.train_task(ready.fingerprint, kind.train, params=None, k=results.K)
        offer(f"Train {kind.train}", task, f"{page}.train", bool(problem), running)
        addresses.link("Train", "Other models and settings on the Train page")
    if problem:
        st.warning(problem)
    for one in about:
        jobs.follow("train", fingerprint=ready.fingerprint, **one)


def offer(label: str, task, key: str, refused: bool, running: bool = False) -> None:
    """Show the button that makes the first result of a page."""
    label += f" with its default settings{tasks.time_in_brackets(task, unknown=refused)}"
    about = {"key": key, "on_click": tasks.start, "args": (task,), "disabled": refused or running}
    actions.button(label, type="primary", **about)


def refuses(model, ready) -> str:
    """Return why a model with its default settings does not take the data set in use; empty if it does."""
    y, defaults = ready.data.Y_train, experiment.MODELS[model].defaults
    if y.nnz == 0:
        return NOTHING_TO_LEARN
    rows = np.bincount(y.indices)  # of each label
    has_pairs = rows.max() > 1 and y.nnz < np.count_nonzero(rows) * np.count_nonzero(np.diff(y.indptr))
    if defaults.get("adversaries") == "candidates" and not has_pairs:
        return f"{model} {NO_PAIRS}"
    refuses = defaults.get("negative") == "refuse" and cached.has_negative_values(ready.fingerprint)
    return settings.needs_amounts(model) if refuses else ""
