"""The Data page: what is in the data set, and which one is in use.

answer.py has the panel of a first visit, the first sentence and the cards, frequency.py the curve. choose.py has the
list of data sets, the ways to get more, and what can be done with one. forms/ has the form that makes a data set, and a
file for each way to make one; manage.py compares, renames, converts and removes them. Below, a file for each section:
rows.py shows single rows, labels.py labels and sets of labels with their rows; frequency.py (of labels), sizes.py,
alike.py (training and test rows), together.py (pairs of labels) and problems.py each answer a question; statistics.py
computes what they need.
"""

import streamlit as st

from pages.data import alike, answer, choose, frequency, labels, problems, rows, sizes, statistics, together
from pages.data.forms import published
from pages.shared import format, jobs, sections, server
from pages.shared.workspaces import workspace
from xmlcore import datasets


def main() -> None:
    fingerprint = workspace.get("dataset")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="top"):
        st.title("Data", width="content")
        choose.dataset(fingerprint)
    answer.first_visit(workspace.get("known").get(fingerprint))
    # Always the same three boxes, so that a form that is being filled stays open when the data set above is ready.
    above, controls, below = st.container(), st.container(), st.container()
    with controls:
        choose.add(fingerprint)
    if fingerprint is None:
        with controls:
            choose.change(None, None, {})
        with above:
            _nothing_yet()
        return
    data = server.dataset(fingerprint)
    used = workspace.get("known").get(fingerprint, {"name": "uploaded data", "source": "upload", "notes": []})
    with controls:
        choose.change(data, fingerprint, used)
    with above:
        st.markdown(answer.of(data, used["name"]).sentence())
        left, right = st.columns(2, gap="medium")
        with left:
            described = statistics.description(fingerprint)
        with right:
            answer.cards(data)
            wrong = st.container()
            answer.notes(data, used)
        _preparing()
    if described is None:  # a worker counts
        return
    with below:
        name = format.file_name(used["name"])
        examination = statistics.examination(fingerprint)
        with left:
            frequency.curve(data, described, fingerprint, name)
        with wrong:
            problems.in_short(data, described, examination)
        further = {
            "Rows": lambda: rows.show(data, fingerprint),
            "All labels": lambda: labels.show(data, described.labels, examination, name),
            "Frequency": lambda: frequency.show(data, described, fingerprint, name),
            "Size": lambda: sizes.show(described, examination, fingerprint, name),
            "Train and test": lambda: alike.show(data, described, examination, name),
            "Labels together": lambda: _together(data, examination, fingerprint, name),
            problems.TITLE: lambda: problems.show(data, described, examination, name),
        }
        sections.show("data", further)


def _together(data, examination, fingerprint, name):
    together.show(data, examination, fingerprint, name)
    labels.show_sets(data, fingerprint, name)


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
    """Show the progress and the failure of the data set that is made here; choose.py shows those of the others."""
    jobs.watch([job for entry in datasets.catalog() if not entry.published
                for job in jobs.active("prepare", name=entry.name)])  # fmt: skip
    jobs.show_failures([pair for pair in jobs.failed("prepare") if not published.is_published(pair[0])])


main()
