"""Models as files: the model of a result is packed, and a packed model is opened."""

import streamlit as st

from pages.shared import actions, format, jobs, sending, server, tasks
from pages.shared.figures import charts
from pages.shared.results import decided
from pages.shared.streamlit_fixes import reconnected
from xmlcore import experiment, serve

ROUND = "predict.open round"  # key of st.session_state: a new number makes an empty field
OPENING = "predict.opening"  # likewise: the key of the task that opens a file, until the model can be chosen


def take(chosen, dataset_name: str | None, question) -> None:
    st.header("Take the model with you")
    if chosen.run is None:
        st.caption("This model was opened from a file, which you have.")
        _lines(chosen, question, "model.zip")
        _card(server.loaded_by_key("open_model", chosen.key).text)
        return
    st.caption(
        "A zip file with the model, its names and a card. This page and `load_model` open it; `xmlcore serve` lets "
        "other programs ask it."
    )
    params = {"dataset_name": dataset_name, "decision": decided.kept(chosen.key)}
    task = experiment.task("pack_model", {"run": chosen.key}, params)

    def draw(result):
        path = task.file()
        name = f"{chosen.files}.zip"
        label, help = f"{name}, {format.size(path.stat().st_size)}", "Model, names and card; nothing in it is executed"
        with st.container(horizontal=True, gap="small"):
            charts.file_button(label, path.read_bytes, name, help)
            _lines(chosen, question, name)
        _card(result.text)

    tasks.shown(task, draw, automatic_below=0, button="Pack the model", key="predict.pack")


def _card(text: str) -> None:
    with st.expander("Model card"):
        st.markdown(text.replace("\n# ", "\n#### ").replace("\n## ", "\n##### ").removeprefix("# "))


def _lines(chosen, question, file_name: str) -> None:
    """Show the lines that serve the model, and ask it what is asked above, or an example."""
    asked = None if question is None else question.x if question.text is None else question.text
    with st.popover("Serve it", icon=":material/terminal:", type="tertiary", key="predict.serve"):
        st.code(serve.commands(chosen.packed, asked, file_name), language="sh", wrap_lines=True)


def open_model() -> None:
    st.header("Open a model from a file")
    if actions.refused():
        return
    file = st.file_uploader(
        "Packed model, a zip file",
        type=["zip"],
        key=f"predict.open.{reconnected.number(ROUND)}",
        help="A file that this page, PackedModel.save or the command line has written. Nothing in it is executed.",
    )
    if sending.button("Open the model", "predict.open", file):
        sending.start("open_model", {}, {}, {"model": file}, ROUND, lambda key: st.session_state.update({OPENING: key}))
    jobs.watch(jobs.active("open_model"))
    jobs.show_failures(jobs.failed("open_model"))
