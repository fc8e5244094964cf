"""The form that makes a data set. What is made says its fields; the button, the check, the start and the rest are one.

upload.py, texts.py, synthetic.py, split.py, words.py and published.py have a :class:`Form` each.
"""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from pages.data.forms import uploads
from pages.data.forms.chosen_files import ChosenFiles
from pages.shared import actions, fields, format, fragments, jobs, server, tasks
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import store
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.task import Task
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE, TEST_SIZE
from xmlcore.system import free_bytes

SHORT = 0.6  # seconds; of what is expected to take longer the form says how long


class Request(NamedTuple):
    """What the fields of a form ask for."""

    task: Task | Callable[[], Task]  # what makes the data set; a function is called once the button is pressed
    files: dict = {}  # noqa: RUF012  # the files that the task reads, by what they are
    name: str = ""  # what the data set is called; empty if that follows from the files
    notes: list = []  # noqa: RUF012  # that the data set has beside those of the task
    start: Callable | None = None  # what the button does in place of running the task
    button: str = ""  # text of the button in place of that of the form
    waits: bool = False  # whether the button waits, beside while the task runs


class Form(NamedTuple):
    """A form that makes a data set."""

    key: str  # with which the keys of its widgets begin
    kind: str  # of its tasks
    button: str
    failure: str  # with which the message begins that it failed
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
        """Return the ids of the chosen files; None for a field without one."""
        return [] if self.chosen is None else self.chosen.ids()

    def busy(self) -> bool:
        """Return whether a worker makes a data set of this form, or that has failed."""
        return bool(jobs.active(self.kind) or jobs.failed(self.kind))

    def is_open(self) -> bool:
        """Return whether the form is in use: files are chosen or read, or were lost."""
        return any(self.file_ids()) or self.busy()


def show(form: Form, *about) -> Request | None:
    """Draw the fields of a form, what it would take, and its button; return what the fields ask for."""
    request = form.fields(*about)
    waits = request is not None and (request.waits or _runs(form, request))
    if request is not None and isinstance(request.task, Task) and request.start is None:
        _estimate(request.task)
    actions.button(
        ("Being read" if form.chosen else "Being made") if waits and not request.button else
        (request.button if request is not None and request.button else form.button),
        type="primary",
        disabled=request is None or waits,
        key=f"{form.key}.make",
        on_click=_press,
        args=(form,),
    )  # fmt: skip
    if request is not None and st.session_state.get(form.pressed):
        _make(form, request)
    if form.chosen is not None:
        chosen = any(form.file_ids())
        if not chosen:
            st.caption("Choose a file first.")
        reconnected.say(chosen)
    files, message = st.session_state.get(form.error, (None, None))
    if message is not None and files == form.file_ids():  # a message about other files is not shown any more
        st.error(message)
        if form.chosen is None:
            st.session_state.pop(form.error)
    return request


def draw(form: Form, *about) -> None:
    """Show a form, the progress of what it has started, and why that failed; without files it is run alone."""
    (show if form.chosen else fragments.alone(show))(form, *about)
    jobs.watch(jobs.active(form.kind))
    uploads.failures(form.kind, form.failure)


def name_field(chosen: ChosenFiles, placeholder: str, how: str = "") -> str:
    """Show the field for the name of a data set that is read from files, and return the name."""
    key = chosen.key("name")
    return st.text_input(
        "Name (optional)",
        key=key,
        value=workspace.first_value(key, chosen.chosen().get("name", ""), ""),
        on_change=chosen.note,
        args=("name",),
        max_chars=dataset_list.LONGEST_NAME,
        placeholder=placeholder,
        help=f"What this data set is called on all pages and in the names of downloads. {how}".rstrip(),
    ).strip()


def share_and_seed(form: str, left, right, disabled: bool) -> dict:
    """Show the fields for the test share and the seed in two columns, and return them as parameters of a task."""
    share = fields.percent(TEST_SIZE, f"{form}.share", place=left, disabled=disabled)
    seed = fields.described(RANDOM_STATE, f"{form}.seed", place=right, disabled=disabled)
    return {TEST_SIZE.name: share, RANDOM_STATE.name: seed}


def _runs(form, request) -> bool:
    if form.chosen is not None:
        return form.chosen.waits()
    return isinstance(request.task, Task) and bool(jobs.active(key=request.task.key))


def _estimate(task):
    estimate = server.estimated(task)
    if estimate is None or estimate.seconds < SHORT:
        return
    st.caption(f"It takes {tasks.takes(estimate.seconds)} and {format.size(estimate.bytes)} of memory.")
    free = free_bytes()
    if free is not None and estimate.bytes > free:
        st.warning(
            f"This machine has {format.size(free)} of free memory. Make a smaller data set.", icon=":material/memory:"
        )


def _press(form):
    """Note that the button was pressed, so that this run of the script has the data set made."""
    if not workspace.refuse_change():
        # Remembered until then: Streamlit forgets a press when another event interrupts the run.
        st.session_state[form.pressed] = True


def _make(form, request):
    """Have a worker make a data set; when that cannot start, remember why. Then rerun the whole page."""
    st.session_state.pop(form.error, None)
    for record, _ in jobs.failed(form.kind):
        jobs.dismiss(record["id"])
    try:
        task = _started(form, request)
    except (ValueError, TypeError, MemoryError, OSError, store.StoreError) as error:
        task = None
        st.session_state[form.error] = (form.file_ids(), uploads.explain(error, form.failure))
    except Exception:  # of a cause that nobody has thought of: the next run is not to make it again
        st.session_state[form.pressed] = False
        raise
    st.session_state[form.pressed] = False
    if form.chosen is not None and task is not None:
        form.chosen.are_read_by(task)
    st.rerun()


def _started(form, request):
    """Give the files to the task, have a worker run it, and return it."""
    if request.start is not None:
        request.start()
        return request.task
    files, names = request.files, uploads.names_of(request.files)
    # What the browser has sent is hashed and written to where a worker takes it: seconds for hundreds of megabytes.
    sizes = sum(getattr(file, "size", 0) for file in files.values())
    with st.spinner(f"Taking over the files ({format.size(sizes)})" if files else "Looking at the data set"):
        task = request.task if isinstance(request.task, Task) else request.task()
        if files and not task.exists() and not jobs.active(key=task.key):
            given.give(task.key, files)
    tasks.make_dataset(task, name=request.name, notes=request.notes, files=names)
    return task
