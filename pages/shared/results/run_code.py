"""The code that makes a result again, and its bundle: a folded part of pages that show one result."""

import json

import streamlit as st

from pages.shared import format, server
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import experiment, store


def show(record: dict, file_name: str, place: str) -> None:
    with st.expander("Code and files to repeat it", key=f"{place}.code", icon=":material/code:"):
        known = workspace.get("known")
        files = known.get(record["fingerprint"], {}).get("files", {})
        makers = [entry["task"] for entry in known.values() if "task" in entry]  # not of others with an equal data set
        try:
            code = _code(record["key"], json.dumps([files, makers], sort_keys=True))
        except KeyError:  # a model of another version of the program
            st.caption("The code cannot be written: this version of the program does not have this model.")
            return
        except store.StoreError as error:
            st.caption(f"The code cannot be written: {format.plain(error)}")
            return
        st.caption("These lines make the result again in a notebook, with the same measures.")
        st.code(code, language="python")
        charts.file_button(
            "Bundle, zip",
            lambda: experiment.bundle(record["key"], files=files, makers=makers),
            f"{file_name}.zip",
            "Settings, seed, fingerprint of the data, versions, measures, predictions, figure and code in one file. "
            'experiment.rerun("FILE") makes the result again and says what agrees.',
        )


@server.shared()
def _code(key, known):
    return experiment.code_of(key, *json.loads(known))
