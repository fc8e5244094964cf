"""The Data page: what is in the data set, and which one is in use.

start.py is the panel for a first visit. answer.py has the first sentence and the cards, choose.py the list of data
sets, upload_form.py the form for own files (read by uploads.py, explained by formats.py), frequency.py the figures,
rows.py single rows, labels.py the table of labels.
"""

import streamlit as st

from pages.data import answer, choose, frequency, labels, rows, start
from pages.shared import format, jobs, server, workspace
from xmlcore import datasets


def main() -> None:
    """Draw the Data page."""
    st.title("Data")
    start.show()
    # Always the same three boxes, so that a form that is being filled stays open when the data set above is ready.
    above, controls, below = st.container(), st.container(), st.container()
    fingerprint = workspace.get("dataset")
    with controls:
        choose.show(fingerprint)
    if fingerprint is None:
        with above:
            _nothing_yet()
        return
    data, described = server.dataset(fingerprint), server.description(fingerprint)
    known = workspace.get("known").get(fingerprint, {"name": "uploaded data", "source": "upload", "notes": []})
    with above:
        answer.show(data, described, known)
        _preparing()
    with below:
        frequency.show(data, described, format.file_name(known["name"]))
        st.fragment(rows.show)(data, fingerprint)
        st.fragment(labels.show)(described.labels, format.file_name(known["name"]))


def _nothing_yet():
    """Say that no data set is in use, and why: one is being prepared, preparing failed, or none was chosen."""
    wanted = workspace.get("wanted")
    if jobs.active("prepare"):
        st.markdown(
            f"**{format.plain(wanted or 'The data set')}** is being made ready. This happens once; from then on it "
            "opens at once. You can upload your own data meanwhile."
        )
        for entry in datasets.catalog():
            if entry.name == wanted:
                st.caption(format.plain(f"{entry.description} {entry.source}"))
    elif jobs.failed("prepare"):
        st.markdown("No data set is in use: making one ready failed. Try again, or upload your own data.")
    else:
        st.markdown("No data set is in use. Choose one, or upload your own data.")
    _preparing()


def _preparing():
    """Show the progress and the failures of jobs that prepare data sets."""
    jobs.watch(jobs.active("prepare"))
    jobs.show_failures(jobs.failed("prepare"))


main()
