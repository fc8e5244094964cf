"""The Data page: what is in the data set, and which one is in use.

answer.py has the panel of a first visit, the first sentence and the cards, frequency.py the curve. choose.py has the
list of data sets, the ways to get more, and what can be done with one. forms/ has the form that makes a data set, and a
file for each way to make one; manage.py compares, renames, converts and removes them. further.py lists the sections
below, each a file; statistics.py computes what they need.
"""

import streamlit as st

from pages.data import answer, choose, frequency, further, problems, statistics
from pages.shared import door, format


def draw(ready) -> None:
    data, fingerprint = ready.data, ready.fingerprint
    used = choose.in_use(fingerprint)
    with ready.head.container(horizontal=True, horizontal_alignment="right"):
        choose.dataset(fingerprint)
    answer.first_visit(used)
    # Always the same three boxes, so that a form that is being filled stays open when the data set above is ready.
    above, controls, below = st.container(), st.container(), st.container()
    with controls:
        choose.add(fingerprint)
        choose.change(data, fingerprint, used)
    with above:
        if data is None:
            choose.nothing_yet()
            return
        st.markdown(answer.of(data, ready.name).sentence())
        left, right = st.columns(2, gap="medium")
        with left:
            described = statistics.description(fingerprint)
        with right:
            answer.cards(data)
            wrong = st.container()
            answer.notes(data, used)
        choose.preparing()
    if described is None:  # a worker counts
        return
    examination = statistics.examination(fingerprint)
    with left:
        frequency.curve(data, described, fingerprint, format.file_name(ready.name))
    with wrong:
        problems.in_short(data, described, examination)
    with below:
        further.show(ready, described, examination)


door.page("Data", draw, door.Always())
