"""The Data page: what is in the data set, and which one is in use."""

import streamlit as st

from pages.data import answer, choose, labels, maps, problems, rows, sizes
from pages.shared import door, format, sections
from pages.shared.workspaces import workspace


def draw(ready) -> None:
    data, fingerprint, name = ready.data, ready.fingerprint, format.file_name(ready.name)
    used = workspace.get("known").get(fingerprint)
    # Always the same boxes, so that a form that is being filled stays open when the data set is ready.
    adding, above, controls, below = st.container(), st.container(), st.container(), st.container()
    with adding:
        choose.add(fingerprint)
        answer.next_step(ready, used)
    with controls:
        choose.change(data, fingerprint, used)
    with above:
        described, left, wrong = answer.show(data, fingerprint, used)
    if described is None:  # there is no data set, or a worker counts
        return
    examination = sizes.examination(fingerprint)
    with left:
        sizes.curve(data, described, fingerprint, name)
    further = {
        "Rows": lambda: rows.show(data, fingerprint),
        "Map": lambda: maps.show(ready, described, name),
        "All labels": lambda: labels.show(data, described.labels, examination, name),
        "Frequency": lambda: sizes.show_frequency(data, described),
        "Size": lambda: sizes.show(described, examination, fingerprint, name),
    }
    if examination is not None:  # else a button above examines the data, or its progress is there
        with wrong:
            problems.in_short(data, described, examination)
        further |= {
            "Train and test": lambda: problems.show_differences(data, described, examination, name),
            "Labels together": lambda: labels.show_pairs(data, examination, fingerprint, name),
            problems.TITLE: lambda: problems.show(data, described, examination, name),
        }
    with below:
        sections.show("data", further)


door.page("Data", draw, door.Page(needs_data=False))
