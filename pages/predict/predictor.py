"""The model that predicts: that of a kept result, or one that was opened from a file."""

import functools
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.shared import fields, format, selectors, server
from pages.shared.results import decided, results, run_names
from pages.shared.view import DIGITS, look
from pages.shared.workspaces import workspace
from pages.shared.workspaces.tab_view import FILES
from xmlcore import datasets, experiment, explain, store
from xmlcore.experiment.kinds.decide import deciding
from xmlcore.experiment.kinds.packed_files import OpenModel, opened_model
from xmlcore.models import ModelFormatError, PackedModel
from xmlcore.models.rules import decision_of

CHOSEN = "predict.model"  # key of the select box, and in the workspace's "widgets" how the name of the choice begins


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
        """The kind of its scores: see :data:`pages.shared.rows.explaining.SCALE`."""
        return explain.kind_of(self.model)

    @property
    def decision(self) -> str:
        """What decides which labels it predicts, to go after "it predicts"."""
        return format.unbroken(decision_of(self.model))

    @property
    def of_files(self) -> str:
        """The kind of the task that predicts files."""
        return "predict_opened" if self.run is None else "predict"

    @property
    def inputs(self) -> dict:
        return {"packed": self.key} if self.run is None else {"run": self.key}

    def predicted_files(self) -> list[dict]:
        """Return the files it has predicted, newest first: ``key`` (of the predictions), ``name``, ``decision``."""
        return _files(workspace.get("widgets").get(self.list_of_files))

    @property
    def list_of_files(self) -> str:
        """Where the workspace's "widgets" list these files."""
        return f"{FILES}{self.key}"


def _files(kept) -> list[dict]:
    kept = kept if isinstance(kept, list) else []
    return [file for file in kept if isinstance(file, dict) and {"key", "name"} <= file.keys()]


def all_predicted_files() -> list[dict]:
    """Return the files that all models have predicted, as :meth:`Predictor.predicted_files`, with the key of each."""
    lists = {name: kept for name, kept in workspace.get("widgets").items() if name.startswith(FILES)}
    return [file | {"by": name.removeprefix(FILES)} for name, kept in lists.items() for file in _files(kept)]


def opened() -> dict[str, str]:
    keys = [key for kind, key in workspace.get("made") if kind == OpenModel.folder and store.exists(kind, key)]
    names = {}
    for key in dict.fromkeys(keys[::-1]):
        try:
            name = store.info(OpenModel.folder, key)["summary"]["name"]
        except (store.StoreError, OSError, KeyError, TypeError):
            name = "a model"
        names[key] = f"{name} (from a file)"
    return fields.told_apart(names)


def chosen(fingerprint: str | None, runs: list, opened: dict) -> str:
    """Return the key of the model that predicts: the one chosen last; else a result, as on the other pages."""
    last = workspace.get("widgets").get(_name(fingerprint))
    if last in [*opened] or not runs:
        return last if last in [*opened] else next(iter(opened))
    return results.chosen(CHOSEN, fingerprint, runs)


def choose(fingerprint: str | None, titles: dict, key: str, file: dict) -> None:
    """Show the choice of the model; another one is asked about the same ``file``, given as the view has it."""
    help = "All results of this workspace on this data set, newest first, and models that were opened from files. "
    help += run_names.footnote(titles.values())

    picked = functools.partial(ask, fingerprint, file)
    fields.pick("Model", fields.cut(titles, fields.QUARTER), CHOSEN, key, picked, help=help)


def ask(fingerprint: str | None, file: dict, key: str) -> None:
    """Let the model of a key predict, and look at a file, given as the view has it."""
    take(fingerprint, key)
    shown = workspace.get("shown").get(fingerprint) or ""  # said here, as a view of another result has no file
    look(result=shown[:DIGITS], **file)


def take(fingerprint: str | None, key: str) -> None:
    def change(data):
        data["widgets"][_name(fingerprint)] = key
        if key in {record["key"] for record in data["runs"]}:
            data["shown"][fingerprint] = key

    selectors.stay_at_row(fingerprint)
    workspace.update(change)


def _name(fingerprint) -> str:
    return f"{CHOSEN} {fingerprint}"


def read(key: str, used, record: dict | None, title: str) -> Predictor | None:
    """Return the model of a key; None, with a message, when it cannot be read."""
    if record is None:
        try:
            packed = _opened(key)
        except (store.StoreError, ModelFormatError, OSError) as error:
            st.error(f"The model cannot be read: {format.plain(str(error))}. Open its file again.")
            return None
        return Predictor(key, title, packed, None, None, f"{format.file_name(title)}-{key[:6]}")
    both = results.run_and_model(record)
    if both is None:
        return None
    files = f"{format.file_name(used.name)}-{both[0].model}-{key[:6]}"
    packed = _of_run(key, used.fingerprint, decided.in_force(key))
    return Predictor(key, title, packed, used.data, both[0], files)


@server.shared()
def _of_run(key: str, fingerprint: str, decision: str | None) -> PackedModel:
    return experiment.with_names(deciding(server.model(key), key, decision), server.dataset(fingerprint))


@server.shared("Loading the model")
def _opened(key: str) -> PackedModel:
    return opened_model(key)
