"""The form that makes a data set: each kind has its own fields, and all share the button, the check and the start.

Files stay chosen when the user visits another page, until they are read or cleared.
upload.py, texts.py, synthetic.py, split.py and vectorizer.py have a :class:`Form` each.
"""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from pages.shared import actions, cached, fields, format, fragments, jobs, sending, tasks
from pages.shared.streamlit_fixes import transfers
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import store
from xmlcore.datasets.errors import InputError
from xmlcore.datasets.readers.names import visible
from xmlcore.experiment.catalog import RANDOM_STATE, TEST_SIZE
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import Task
from xmlcore.experiment.kinds.read import LABEL_TABLE
from xmlcore.system import free_bytes

SHORT = 10_000_000  # bytes; for a larger data set the form shows its size and the time it takes


class ChosenFiles:
    """The files that are chosen in the fields of a form, and the name that was typed.

    Streamlit forgets widgets and their values on a page switch; these are kept in st.session_state until the files are
    read or cleared, or the session ends.
    """

    def __init__(self, form: str, fields: dict[str, tuple[str, str]], kind: str):
        self.form, self.fields, self.kind = form, fields, kind  # the label and the help of each field
        self._before, self._reading, self._round = f"{form}.chosen", f"{form}.reading", f"{form}.round"

    def key(self, field: str) -> str:
        """Return the key of the widget for one input; it changes after each upload, which empties the widget."""
        return f"{self.form}.{field}.{transfers.number(self._round)}"

    def chosen(self) -> dict:
        """Return the files and the name chosen so far, by input; None for a file that was taken off again."""
        return st.session_state.setdefault(self._before, {})

    def file(self, field: str):
        """Return the file chosen in a widget, now or before a page switch; None when no file is chosen."""
        return st.session_state.get(self.key(field)) or self.chosen().get(field)

    def ids(self) -> list:
        return [getattr(self.file(field), "file_id", None) for field in self.fields]

    def note(self, field: str) -> None:
        """Remember the new value of an input; None where the user has removed a file."""
        self.chosen()[field] = st.session_state.get(self.key(field))
        if field in self.fields:  # what was wrong with other files is not shown any more
            for record, _ in jobs.failed(self.kind):
                jobs.dismiss(record["id"])

    def uploader(self, field: str, place=st):
        """Draw the field for one file, and return the file chosen now or before a page switch; None without one."""
        key, (label, help) = self.key(field), self.fields[field]
        file = place.file_uploader(label, key=key, on_change=self.note, args=(field,), help=help)
        if file is not None:
            self.chosen()[field] = file
            return file
        file = self.chosen().get(field)
        if file is not None:
            with place.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.caption(f"Chosen before: {format.plain(file.name)} ({format.size(file.size)})", width="content")
                about = f"{label}: do not use {format.plain(file.name)} any more"
                take = {"on_click": self.note, "args": (field,), "help": about}
                st.button("Clear", key=f"{key}.clear", type="tertiary", icon=":material/close:", **take)
        return file

    def waits(self) -> bool:
        """Return whether a worker reads the files that are chosen now."""
        key, read = st.session_state.get(self._reading, (None, None))
        return read == self.ids() and bool(jobs.active(self.kind, key=key))

    def are_read_by(self, task) -> None:
        st.session_state[self._reading] = task.key, self.ids()

    def empty_when_read(self) -> bool:
        """Empty the form when its files have been read, which frees their memory, and return whether they have."""
        key, read = st.session_state.get(self._reading, (None, None))
        if key is None or jobs.active(self.kind, key=key):
            return False
        st.session_state.pop(self._reading)
        if is_read := jobs.kept(self.kind, key) and read == self.ids():  # others may have been chosen meanwhile
            self.empty()
        return is_read

    def empty(self) -> None:
        ids = self.ids()
        st.session_state[self._before] = {}
        transfers.empty(self._round, ids)


OF_LABELS = {  # the field for what is above labels, and their further names
    LABEL_TABLE: (
        "Parents and aliases of labels (optional)",
        "CSV with the columns `label`, `parent` and `aliases`, one of the last two at least; several names in a cell "
        "have ; between. Measures then also count near labels, and an alias counts as its label.",
    )
}


class Request(NamedTuple):
    """The data set that the fields of a form describe."""

    task: Task | Callable[[], Task]  # makes the data set; a function is called once the button is pressed
    files: dict = {}  # noqa: RUF012  # the files that the task reads, by their role
    name: str = ""  # name of the data set; empty if it follows from the files
    notes: list = []  # noqa: RUF012  # notes on the data set besides those of the task


class Form(NamedTuple):
    """A form that makes a data set."""

    key: str  # prefix of the keys of its widgets
    kind: str  # kind of its tasks
    button: str
    failure: str  # first sentence of the message that it failed
    fields: Callable  # draws the fields, and returns a Request, or None while something is missing
    chosen: ChosenFiles | None = None

    @property
    def pressed(self) -> str:
        """Key of st.session_state: whether the button was pressed and the task is not started yet."""
        return f"{self.key}.pressed"

    @property
    def error(self) -> str:
        """Key of st.session_state: the ids of the files and why they could not be read."""
        return f"{self.key}.error"

    def file_ids(self) -> list:
        return [] if self.chosen is None else self.chosen.ids()

    def busy(self) -> bool:
        return bool(jobs.active(self.kind) or jobs.failed(self.kind))

    def is_open(self) -> bool:
        """Return whether the form is in use: files were chosen, also if they are taken off again, or are read."""
        of = self.chosen
        return of is not None and not of.chosen().keys().isdisjoint(of.fields) or self.busy()


def show(form: Form, *about) -> None:
    request = form.fields(*about)
    made = None if request is None or not isinstance(request.task, Task) else request.task
    waits = bool(made and jobs.active(key=made.key))
    if form.chosen is not None:
        waits = request is not None and form.chosen.waits()
    if made is not None:
        _estimate(made)
    waiting = "Being read" if form.chosen else "Being made"
    text = waiting if waits else form.button
    # Remembered until then: Streamlit forgets a press when another event interrupts the run.
    take = {"on_click": st.session_state.update, "args": ({form.pressed: True},)}
    actions.button(text, type="primary", key=f"{form.key}.make", disabled=request is None or waits, **take)
    if request is not None and st.session_state.get(form.pressed):
        _make(form, request)
    if form.chosen is not None:
        chosen = any(form.file_ids())
        if not chosen:
            st.caption("Choose a file first.")
        transfers.say(chosen)
    files, message = st.session_state.get(form.error, (None, None))
    if message is not None and files == form.file_ids():  # a message about other files is not shown any more
        st.error(message)
        if form.chosen is None:
            st.session_state.pop(form.error)


def draw(form: Form, *about) -> None:
    """Show a form, the progress of what it has started, and why that failed; without files it is run alone."""
    (show if form.chosen else fragments.alone(show))(form, *about)
    sending.follow(form.kind, form.failure, lambda record: record.get("about", {}).get("files", {}))


def names_of(files: dict) -> dict:
    """Return the names of files, by their role; training and test rows of one name are told apart."""
    names = {role: visible(file.name) for role, file in files.items()}
    if "train" in names and names["train"] == names.get("test"):
        names["train"], names["test"] = f"{names['train']} (training)", f"{names['train']} (test)"
    return names


def explain(error: Exception, failure: str = "The files could not be read:") -> str:
    """Return what went wrong, where, and what to do, as Markdown in the words of the page's controls."""
    if isinstance(error, MemoryError):
        return "This data needs more memory than there is. Try a part of its rows."
    if isinstance(error, OSError):  # without the path of the file on this machine
        return f"{failure} {format.plain(error.strerror or 'the disk failed')}."
    if isinstance(error, InputError):
        return f"{failure} {format.plain(sending.on_page(error.fault))}"
    return f"{failure} {format.plain(str(error))}"


def name_field(chosen: ChosenFiles, placeholder: str, how: str = "") -> str:
    key = chosen.key("name")
    return st.text_input(
        "Name (optional)",
        key=key,
        value=workspace.first_value(key, chosen.chosen().get("name", ""), ""),
        on_change=chosen.note,
        args=("name",),
        max_chars=dataset_list.LONGEST_NAME,
        placeholder=placeholder,
        help=f"The name of this data set on all pages and in downloads. {how}".rstrip(),
    ).strip()


def share_and_seed(form: str, left, right, disabled: bool) -> dict:
    """Show the fields for the test share and the seed in two columns, and return them as parameters of a task."""
    share = fields.percent(TEST_SIZE, f"{form}.share", place=left, disabled=disabled)
    seed = fields.described(RANDOM_STATE, f"{form}.seed", place=right, disabled=disabled)
    return {TEST_SIZE.name: share, RANDOM_STATE.name: seed}


def _estimate(task):
    estimate = cached.estimated(task)
    if estimate is None or estimate.bytes < SHORT:
        return
    time = "" if estimate.seconds is None else f"{tasks.takes(estimate.seconds)} and "
    st.caption(f"It takes {time}{format.size(estimate.bytes)} of memory.")
    free = free_bytes()
    if free is not None and estimate.bytes > free:
        text = f"This machine has {format.size(free)} of free memory. Make a smaller data set."
        st.warning(text, icon=":material/memory:")


def _make(form, request):
    """Have a worker make a data set; when that cannot start, remember why. Then rerun the whole page."""
    st.session_state.pop(form.error, None)
    for record, _ in jobs.failed(form.kind):
        jobs.dismiss(record["id"])
    try:
        task = _started(request)
    except (ValueError, TypeError, MemoryError, OSError, store.StoreError) as error:
        task = None
        st.session_state[form.error] = (form.file_ids(), explain(error, form.failure))
    except Exception:  # an unforeseen error: the next run must not start the task again
        st.session_state[form.pressed] = False
        raise
    st.session_state[form.pressed] = False
    if form.chosen is not None and task is not None:
        form.chosen.are_read_by(task)
    st.rerun()


def _started(request):
    files, names = request.files, names_of(request.files)
    # The files from the browser are hashed and copied to the folder of the worker: seconds for hundreds of megabytes.
    sizes = sum(getattr(file, "size", 0) for file in files.values())
    with st.spinner(f"Receiving the files ({format.size(sizes)})" if files else "Looking at the data set"):
        task = request.task if isinstance(request.task, Task) else request.task()
        if files and not task.exists() and not jobs.active(key=task.key):
            task_files.put(task.key, files)
    tasks.make_dataset(task, name=request.name, notes=request.notes, files=names)
    return task
