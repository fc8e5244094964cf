"""Review: which labels of training rows are wrong or missing, and does a model get better when they are corrected?"""

import streamlit as st

from pages.review import answer, decisions, item
from pages.review.view import OF_RUN, Reviewed
from pages.shared import door, fields, sections, tasks
from xmlcore import experiment


def draw(ready) -> None:
    task = experiment.task("review", {"run": ready.key})
    if not task.exists():
        st.markdown(f"{ASKED} Models of five parts of the rows tell, each of labels of rows that it has not seen.")
        ready.choose(OF_RUN, fields.FIFTH)
    tasks.shown(task, lambda value: _review(ready, value), button="Find doubtful labels")


def _review(ready, found) -> None:
    view = Reviewed(ready, found)
    answer.cards(view)
    sections_of = {
        "By label": lambda: answer.by_label(view),
        "Decisions": lambda: decisions.table(view),
        "Corrected data": lambda: decisions.corrected_data(view),
    }
    item.review(view)
    sections.show("review", sections_of)


ASKED = "Which labels of training rows are probably wrong, and which are missing?"
door.page("Review", draw, door.Models(ASKED))
