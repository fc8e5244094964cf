"""Models as files: the model of a result is packed, and a packed model is opened."""

import streamlit as st

from pages.predict import predictor
from pages.shared import actions, format, jobs, server, tasks
from pages.shared.figures import charts
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.experiment.engine import given

PRESSED = "predict.open pressed"  # key of st.session_state: whether the button was pressed and nothing was started yet
ROUND = "predict.open round"  # likewise: a new number makes an empty field
OPENING = "predict.opening"  # likewise: the key of the task that opens a file, until the model can be chosen


def take(one, dataset_name: str | None) -> None:
    st.header("Take the model with you")
    if one.run is None:
        st.caption("This model was opened from a file, which you have.")
        _card(server.loaded_by_key("open_model", one.key).text)
        return
    st.caption(
        "One zip file has the model, the names of its labels and features, and a card: what it was trained on, its "
        "settings and its measures. This page opens it again, and so does load_model in a notebook."
    )
    task = experiment.task("pack_model", {"run": one.key}, {"dataset_name": dataset_name})

    def draw(result):
        path = task.file()
        label = f"{one.files}.zip, {format.size(path.stat().st_size)}"
        charts.file_button(
            label, path.read_bytes, f"{one.files}.zip", "Model, names and card; nothing in it is executed"
        )
        _card(result.text)

    tasks.shown(task, draw, automatic_below=0, button="Pack the model", key="predict.pack")


def _card(text: str) -> None:
    with st.expander("Model card"):
        st.markdown(text.replace("\n# ", "\n#### ").replace("\n## ", "\n##### ").removeprefix("# "))


def open_model() -> None:
    st.header("Open a model from a file")
    if actions.refused():
        return
    number = reconnected.number(ROUND)
    file = st.file_uploader(
        "Packed model, a zip file",
        type=["zip"],
        key=f"predict.open.{number}",
        help="A file that this page, PackedModel.save or the command line has written. Nothing in it is executed.",
    )
    actions.button(
        "Open the model",
        key="predict.open",
        disabled=file is None,
        on_click=st.session_state.update,
        args=({PRESSED: True},),
    )
    reconnected.say(file is not None)
    if file is not None and st.session_state.pop(PRESSED, False) and not workspace.refuse():
        task = experiment.task("open_model", {}, {"files": given.described({"model": file})})
        if not task.exists() and not jobs.active(key=task.key):
            given.give(task.key, {"model": file})
        tasks.start(task)
        st.session_state[ROUND], st.session_state[OPENING] = number + 1, task.key
        st.rerun()
    jobs.watch(jobs.active("open_model"))
    jobs.show_failures(jobs.failed("open_model"))


def choose_opened(fingerprint: str | None) -> None:
    """Choose the model that was opened just now; called before the page reads which model is chosen."""
    key = st.session_state.get(OPENING)
    if key is not None and store.exists(predictor.OpenModel.folder, key):
        st.session_state.pop(OPENING)
        predictor.take(fingerprint, key)
