"""The model that the Predict page shows: that of a result, or one that was opened from a file."""

import functools

import streamlit as st

from pages.predict import asked, carry, many
from pages.predict.predictor import CHOSEN, Predictor, ask, name_of_choice
from pages.shared import door, fields, format, server
from pages.shared.results import decided, results, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.experiment.kinds.decide import deciding
from xmlcore.experiment.kinds.packed_files import OpenModel, opened_model
from xmlcore.models import ModelFormatError, PackedModel


class Predictors(door.Runs):
    """A page about a model that predicts: of a result on the data set in use, or opened from a file."""

    def list(self, fingerprint) -> list:
        carry.choose_opened(fingerprint)
        runs = [] if fingerprint is None else results.with_model(fingerprint)
        return runs + [{"key": key, "name": name} for key, name in opened().items()]

    def titles(self, fingerprint, records) -> dict:
        files = {record["key"]: record["name"] for record in records if not _is_run(record)}
        return run_names.names(list(filter(_is_run, records))) | files

    def is_open_without(self) -> bool:
        return False

    def pick(self, ready, page) -> bool:
        """Pick the model that was chosen last; else a result, as on the other pages."""
        by_key, runs = {record["key"]: record for record in ready.records}, list(filter(_is_run, ready.records))
        key = workspace.get("widgets").get(name_of_choice(ready.fingerprint))
        if not isinstance(key, str) or key not in by_key or _is_run(by_key[key]):
            key = results.chosen(CHOSEN, ready.fingerprint, runs) if runs else next(iter(by_key))
        ready.record = by_key[key]
        ready.run = _of_result(ready) if _is_run(ready.record) else _of_file(ready)
        return ready.run is not None

    def choose(self, ready, label, width) -> None:
        """Show the choice of the model; another one is asked about the same row of a file."""
        help = "All results of this workspace on this data set, newest first, and models that were opened from files. "
        help += run_names.footnote(ready.titles.values())
        is_file = ready.run is not None and st.session_state.get(asked.WAY) == asked.FILE
        picked = functools.partial(ask, ready.fingerprint, many.looked_at(ready.run) if is_file else many.NO_FILE)
        fields.pick("Model", fields.cut(ready.titles, fields.QUARTER), CHOSEN, ready.key, picked, help=help)
        if ready.run is not None and _is_run(ready.record):
            results.mark(ready.record)

    def watch(self, ready) -> None:
        if _is_run(ready.record):
            super().watch(ready)


def _is_run(record) -> bool:
    return "model" in record


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


@server.shared()
def _of_run(key: str, fingerprint: str, decision: str | None) -> PackedModel:
    return experiment.with_names(deciding(server.model(key), key, decision), server.dataset(fingerprint))


@server.shared("Loading the model")
def _opened(key: str) -> PackedModel:
    return opened_model(key)
