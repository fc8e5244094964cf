"""The list of data sets on the Data page."""

import streamlit as st

from pages.data import upload_form
from pages.shared import jobs, workspace
from xmlcore import datasets

SOURCES = {"catalog": "comes with xmlcore", "upload": "uploaded here"}


def show(fingerprint) -> None:
    """Show the list of data sets and the form for own files; ``fingerprint``: of the data set in use."""
    known = workspace.get("known")
    entries = {entry.name: entry for entry in datasets.catalog()}
    own = {fp: entry for fp, entry in known.items() if entry["source"] == "upload"}
    options = [*(f"catalog {name}" for name in entries), *(f"upload {fp}" for fp in own)]

    def title(option):
        """Return the text that the select box shows for an option."""
        source, _, name = option.partition(" ")
        return f"{name if source == 'catalog' else own[name]['name']} ({SOURCES[source]})"

    current = None
    if fingerprint is not None and fingerprint in known:
        entry = known[fingerprint]
        current = f"catalog {entry['name']}" if entry["source"] == "catalog" else f"upload {fingerprint}"
    if workspace.get("wanted") in entries and jobs.active("prepare"):
        current = f"catalog {workspace.get('wanted')}"
    st.session_state[workspace.DATA_CHOICE] = current if current in options else None
    st.selectbox(
        "Data set",
        options,
        index=0 if current in options else None,
        format_func=title,
        key=workspace.DATA_CHOICE,
        on_change=_choose,
        placeholder="Choose a data set",
        help="Data sets that you upload are seen only in this workspace, that is, by people who have this page's full "
        "address.",
    )
    with st.expander("Upload your own data", expanded=any(upload_form.file_ids())):
        upload_form.show(fingerprint)
        files, error = st.session_state.get(workspace.UPLOAD_ERROR, (None, None))
        if files == upload_form.file_ids():  # a message about other files is not shown any more
            st.error(error)


def _choose():
    """Put the chosen data set in use, or note that it must be prepared first; called when the select box changes."""
    option = st.session_state[workspace.DATA_CHOICE]
    if option is None:
        return
    source, _, name = option.partition(" ")
    known = workspace.get("known")
    if source == "catalog":
        ready = next((fp for fp, entry in known.items() if entry["source"] == source and entry["name"] == name), None)
        if ready is None:
            workspace.update(wanted=name)  # the next run of the script starts on it
        else:
            workspace.update(dataset=ready, wanted=None)
    elif name in known:
        workspace.update(dataset=name, wanted=None)
