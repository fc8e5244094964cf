"""The model that predicts: that of a kept result, or one from a file; and how it becomes a file."""

import functools
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.predict import asked, many
from pages.shared import actions, cached, door, fields, format, jobs, selectors, sending, tasks
from pages.shared.figures import charts
from pages.shared.results import decided, results, run_names
from pages.shared.view import DIGITS, look
from pages.shared.workspaces import workspace
from pages.shared.workspaces.tab_view import FILES
from xmlcore import datasets, experiment, explain, serve, store
from xmlcore.experiment.kinds.decide import deciding
from xmlcore.experiment.kinds.packed_files import OpenModel, opened_model
from xmlcore.models import ModelFormatError, PackedModel
from xmlcore.models.compacting import can_be_compact
from xmlcore.models.rules import decision_of

CHOSEN = "predict.model"  # key of the select box, and in the workspace's "widgets" how the name of the choice begins


_opened = cached.shared("Loading the model")(opened_model)


@dataclass(frozen=True)
class Predictor:
    """A model with all that the page needs to know of it."""

    key: str  # of the run, or of the task that opened the file
    title: str
    packed: PackedModel  # with names and, if it takes texts, its vectoriser
    data: datasets.Dataset | None  # the one in use, if the model was trained on it
    run: Any
    files: str  # how names of downloads begin

    @property
    def model(self):
        return self.packed.model

    @property
    def kind(self) -> str:
        """The kind of its scores: see :data:`pages.shared.rows.explaining.SCALES`."""
        return explain.kind_of(self.model)

    def decision(self, allowed=None) -> str:
        """Return the rule by which it predicts labels, to be read after "it predicts"."""
        return format.unbroken(decision_of(self.model, allowed))

    @property
    def of_files(self) -> str:
        return "predict_opened" if self.run is None else "predict"

    @property
    def inputs(self) -> dict:
        return {"packed": self.key} if self.run is None else {"run": self.key}

    @property
    def list_of_files(self) -> str:
        return f"{FILES}{self.key}"


def _ask(fingerprint: str | None, file: dict, key: str) -> None:
    """Let the model of a key predict, and look at a file, named as in the view."""
    _take(fingerprint, key)
    shown = workspace.get("shown").get(fingerprint) or ""  # named here, as a view of another result has no file
    look(result=shown[:DIGITS], **file)


def _take(fingerprint: str | None, key: str) -> None:
    def change(data):
        data["widgets"][_name(fingerprint)] = key
        if key in {record["key"] for record in data["runs"]}:
            data["shown"][fingerprint] = key

    selectors.stay_at_row(fingerprint)
    workspace.update(change)


def _name(fingerprint) -> str:
    return f"{CHOSEN} {fingerprint}"


class Predictors(door.Runs):
    """A page about a model that predicts: of a result on the data set in use, or opened from a file."""

    def list(self, fingerprint) -> list:
        opening = st.session_state.get(OPENING)
        if opening is not None and store.exists(OpenModel.folder, opening):  # it is there since the last run
            _take(fingerprint, st.session_state.pop(OPENING))
        runs = results.with_model(fingerprint)
        return runs + [{"key": key, "name": name} for key, name in opened().items()]

    def titles(self, fingerprint, records) -> dict:
        files = {record["key"]: record["name"] for record in records if not _is_run(record)}
        return run_names.names(list(filter(_is_run, records))) | files

    def is_open_without(self) -> bool:
        return False

    def pick(self, ready, page) -> bool:
        """Pick the model that was chosen last; else a result, as on the other pages."""
        by_key, runs = {record["key"]: record for record in ready.records}, list(filter(_is_run, ready.records))
        key = workspace.get("widgets").get(_name(ready.fingerprint))
        if not isinstance(key, str) or key not in by_key or _is_run(by_key[key]):
            key = results.chosen(CHOSEN, ready.fingerprint, runs) if runs else next(iter(by_key))
        ready.record = by_key[key]
        ready.run = _of_result(ready) if _is_run(ready.record) else _of_file(ready)
        return ready.run is not None

    def choose(self, ready, label, width) -> None:
        """Show the choice of the model; another one is asked about the same row of a file."""
        help = "Results of this workspace on this data set, newest first, and models that were opened from files. "
        help += run_names.footnote(ready.titles.values())
        is_file = ready.run is not None and st.session_state.get(asked.WAY) == asked.FILE
        picked = functools.partial(_ask, ready.fingerprint, many.looked_at(ready.run) if is_file else many.NO_FILE)
        fields.pick("Model", fields.cut(ready.titles, fields.QUARTER), CHOSEN, ready.key, picked, help=help)

    def watch(self, ready) -> None:
        if _is_run(ready.record):
            super().watch(ready)


def _is_run(record) -> bool:
    return "model" in record


def opened() -> dict[str, str]:
    """Return the names of the models that were opened from files, by the keys of their tasks."""
    keys = [key for kind, key in workspace.get("made") if kind == OpenModel.folder and store.exists(kind, key)]
    names = {}
    for key in dict.fromkeys(keys[::-1]):
        try:
            name = store.info(OpenModel.folder, key)["summary"]["name"]
        except (store.StoreError, OSError, KeyError, TypeError):
            name = "a model"
        names[key] = f"{name} (from a file)"
    return fields.told_apart(names)


def _of_file(ready) -> Predictor | None:
    """Return the model of a file; None, with a message, when it cannot be read."""
    try:
        packed = _opened(ready.key)
    except (store.StoreError, ModelFormatError, OSError) as error:
        st.error(f"The model cannot be read: {format.plain(str(error))}. Open its file again.")
        return None
    return Predictor(ready.key, ready.title, packed, None, None, f"{format.file_name(ready.title)}-{ready.key[:6]}")


def _of_result(ready) -> Predictor | None:
    both = results.run_and_model(ready.record)
    if both is None:
        return None
    files = f"{format.file_name(ready.name)}-{both[0].model}-{ready.key[:6]}"
    packed = _of_run(ready.key, ready.fingerprint, decided.in_force(ready.key))
    return Predictor(ready.key, ready.title, packed, ready.data, both[0], files)


@cached.shared()
def _of_run(key: str, fingerprint: str, decision: str | None) -> PackedModel:
    return experiment.with_names(deciding(cached.model(key), key, decision), cached.dataset(fingerprint))


OPENING = "predict.opening"  # key of st.session_state: the task that opens a file, until the model can be chosen


def take(chosen, dataset_name: str | None, question) -> None:
    st.header("Take the model with you")
    if chosen.run is None:
        st.caption("This model was opened from your file.")
        _lines(chosen, question, "model.zip")
        _card(cached.loaded_by_key("open_model", chosen.key).text)
        return
    st.caption("A zip file with the model, its names and a card. This page and `load_model` open it.")
    about = "A third of the bytes, with weights of a byte; the card says the precision."
    small = can_be_compact(chosen.packed.model) and st.checkbox("Small", key="predict.small", help=about)
    params = {"dataset_name": dataset_name, "decision": decided.kept(chosen.key), "small": small}
    task = experiment.task("pack_model", {"run": chosen.key}, params)

    def draw(result):
        path = task.file()
        name = f"{chosen.files}{'-small' * small}.zip"
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
        starts, asks = serve.commands(chosen.packed, asked, file_name).split("\n", 1)
        for title, lines in (("Serve it:", starts), ("Ask it, in another terminal:", asks)):
            st.caption(title)
            st.code(lines, language="sh", wrap_lines=True)


def open_model() -> None:
    st.header("Open a model from a file")
    if actions.refused():
        return
    about = "A file that this page, PackedModel.save or the command line has written. Nothing in it is executed."
    file = sending.uploader("Packed model, a zip file", "predict.open", type=["zip"], help=about)
    if sending.button("Open the model", "predict.open", file):
        sending.start(
            "open_model", {}, {}, {"model": file}, "predict.open", lambda key: st.session_state.update({OPENING: key})
        )
    jobs.follow("open_model")
