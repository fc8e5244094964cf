"""The Compare page: which model is best, on what, by how much, and is that significant?"""

import streamlit as st

from pages.compare import answer, external, listed, side, table
from pages.shared import door


def draw(ready) -> None:
    results = ready.run
    frame, records = results.frame, results.records
    sentence, pictures = st.container(), st.container()
    choice = listed.choose(frame)
    lines = listed.table(results, choice)
    rows, buttons, below = st.container(), st.container(), st.container()
    ticked = [k for k in table.chosen_keys() if k in records]
    with below:  # first, as marks in the table depend on what is compared
        compared = side.compared(listed.chosen(frame, lines, choice, set(ticked)), lines, choice, frame)
    with sentence:
        answer.sentence(lines, choice, compared)
    with rows:
        table.show(lines, choice, frame, compared)
        listed.missing(results)
        table.published(choice)
    with buttons:
        table.buttons([records[k] for k in ticked], lines, frame, choice)
    with below:
        side.show(compared, lines, choice, pictures)
    here = compared.wanted if compared.fingerprint == choice.used else lines[lines["fingerprint"] == choice.used]
    few = here["keys"].head(side.MOST - 1 if here is compared.wanted else side.FIRST)
    external.show([key for keys in few for key in keys])


ASKED = "Which model is better, on what, at what cost?"
door.page("Compare", draw, listed.Results(ASKED, below=external.show, reads_data=False, needs_data=False))
