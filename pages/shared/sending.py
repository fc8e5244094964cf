"""Uploaded files: previews of a chosen one, handing it to a worker, and failures."""

import re

import streamlit as st

from pages.shared import actions, format, jobs, tasks
from pages.shared.process import turns
from pages.shared.streamlit_fixes import transfers
from pages.shared.workspaces import dataset_list
from xmlcore import experiment
from xmlcore.datasets import TextVectorizer
from xmlcore.experiment.catalog import TEST_SIZE
from xmlcore.experiment.engine import previews, task_files

# Labels of controls by the arguments of xmlcore that they stand for: errors name those.
CONTROLS = {
    "counts": "Ignore the header’s counts",
    "encoding": "Encoding",
    "feature_names": "Feature names",
    "first": "Number of the first row",
    "first_index": "Ids start at",
    "label_names": "Label names",
    "labels": "Labels are” or “Label file",
    "leave_out": "Leave out columns of text",
    "test": "Test file",
    "test_labels": "Label file of the test rows",
    "vectors": "Vectors",
    "test_vectors": "Vectors of the test file",
    "text": "Texts are in",
    "xmlcore.datasets.read_dataset": "Upload data",
    "xmlcore.datasets.read_text_dataset": "Upload texts",
    TEST_SIZE.name: TEST_SIZE.label,
    **{parameter.name: parameter.label for parameter in TextVectorizer.PARAMETERS},
}
LOOKED = "looking.looked"  # key of st.session_state: by kind, a file and settings, and what its beginning says


def uploader(label: str, key: str, place=st, **about):
    """Show a field for a file, which is empty again when :func:`start` has sent the file."""
    return place.file_uploader(label, key=f"{key}.{transfers.number(f'{key} round')}", **about)


def button(label: str, key: str, file) -> bool:
    """Show the button, and return whether it was pressed and there is a file."""
    pressed = f"{key} pressed"  # remembered: Streamlit forgets a press when another event interrupts the run
    actions.button(label, key=key, disabled=file is None, on_click=st.session_state.update, args=({pressed: True},))
    transfers.say(file is not None)
    return file is not None and st.session_state.pop(pressed, False)


def start(kind: str, inputs: dict, params: dict, files: dict, field: str, then=lambda key: None) -> None:
    """Start a task with files in place of failed ones, call ``then(key)``, and draw the page with an empty field."""
    task = experiment.task(kind, inputs, {"files": task_files.described(files), **params})
    if not task.exists() and not jobs.active(key=task.key):
        task_files.put(task.key, files)
    for record, _ in jobs.failed(kind, **inputs):
        jobs.dismiss(record["id"])
    tasks.start(task)
    then(task.key)
    transfers.empty(f"{field} round", [file.file_id for file in files.values()])
    st.rerun()


def follow(kind: str, beginning: str, names, **inputs) -> None:
    """Show jobs of a kind, and why some failed; ``names(record)`` has the user's names of the files."""
    jobs.watch(jobs.active(kind, **inputs))
    for record, job in jobs.failed(kind, **inputs):
        if job.fault is not None:
            reason = on_page(job.fault)
        else:
            reason = re.sub(r"^\w+Error: ", "", job.error or "No reason was given.")
        st.error(f"**{beginning}** {format.plain(dataset_list.with_names(reason, names(record)))}")
        actions.button("Dismiss", key=f"dismiss-{record['id']}", on_click=jobs.dismiss, args=(record["id"],))


def on_page(fault) -> str:
    """Return the fault of the user's data, and its remedy at a control of the page."""

    def called(argument, value):
        return f"“{CONTROLS[argument]}”" if argument in CONTROLS else "only in a notebook"

    return fault.text(called)


def preview(kind: str, function, file, **options) -> tuple:
    """Return the result of :func:`xmlcore.experiment.engine.previews.preview`, or raise its error."""
    known = st.session_state.setdefault(LOOKED, {})
    names = {name: getattr(value, "file_id", value) for name, value in options.items()}
    key = file.file_id, repr(names)
    if known.get(kind, (None,))[0] != key:
        turns.give_up()
        try:
            known[kind] = key, previews.preview(function, file, **options)
        except (ValueError, TypeError, OSError) as error:
            known[kind] = key, error
    outcome = known[kind][1]
    if isinstance(outcome, Exception):
        raise outcome.with_traceback(None)
    return outcome
