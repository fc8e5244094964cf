"""Review: which labels of training rows are wrong or missing, and does a model get better when they are corrected?"""

import numpy as np
import streamlit as st

from pages.review import decisions, item
from pages.review.view import OF_RUN, Reviewed
from pages.shared import door, fields, first_results, format, sections, tables, tasks
from xmlcore import experiment

LISTED = 1000  # labels in the table
ODD = "Doubts about the labels that rows have, added up. A wrong label is taken to be as odd as one drawn at random."


def draw(ready) -> None:
    task = experiment.task("review", {"run": ready.key})
    if ready.data.n_train < task.params["parts"]:
        st.markdown(
            f"{ASKED} To tell, {task.params['parts']} training rows are needed; there are {ready.data.n_train}."
        )
        return
    if not task.exists():
        st.markdown(f"{ASKED} Models of five parts of the rows tell, each of labels of rows that it has not seen.")
        ready.choose(OF_RUN, fields.FIFTH)
        if first_results.comes(ready.fingerprint, "review", run=ready.key):
            return
    tasks.shown(task, lambda value: _review(ready, value), button="Find doubtful labels")


def _review(ready, found) -> None:
    view = Reviewed(ready, found)
    cards(view)
    sections_of = {
        "By label": lambda: by_label(view),
        "Decisions": lambda: decisions.table(view),
        "Corrected data": lambda: decisions.corrected_data(view),
    }
    item.review(view)
    sections.show("review", sections_of)


def cards(view) -> None:
    sums, n, changes = view.found.by_label[["wrong", "missing"]].sum(), view.data.Y_train.nnz, view.changes
    made, n_kept = changes["decision"].value_counts(), len(view.decided) - len(changes)
    tables.cards(
        ("Probably wrong", f"{sums['wrong']:,.0f}", ODD, f"of {n:,} labels"),
        ("Probably missing", f"{sums['missing']:,.0f}", "Probabilities of labels that rows do not have, added up; "
         "labels that rank far behind are left out.", f"beside {n:,} given"),
        ("Decided", f"{len(view.decided):,}", "By this workspace.", f"{n_kept:,} left as they are"),
        ("Corrected", f"{len(changes):,}", "The upload itself is not changed.",
         f"{made.get('remove', 0):,} removed, {made.get('add', 0):,} added"),
    )  # fmt: skip


def by_label(view) -> None:
    """Show how many wrong and missing labels are expected of each label; a tick reviews one."""
    frame = view.found.by_label.head(LISTED)
    rows = np.bincount(view.data.Y_train.indices, minlength=view.data.n_labels)
    names = [view.data.label_name(int(j)) for j in frame["label"]]
    frame = frame.assign(name=names, rows=rows[frame["label"]])
    columns = {"name": tables.text("Label", 240), "rows": tables.number("Rows", help="Training rows with the label.")}
    for kind, title in (("wrong", "Wrong"), ("missing", "Missing")):
        columns[kind] = tables.number(title, format="%.1f", help=f"Expected number of {kind} labels.")
        columns |= {f"{kind}_{end}": tables.number(f"{title}, {end}", format="%.1f") for end in ("low", "high")}
    tick = tables.on_tick("review.labels", names, lambda name: st.session_state.update({"review.label": name}))
    tables.show(frame, "review.labels", columns, first=tuple(columns), most=420, **tick)
    st.caption(f"{format.showing(len(frame), len(view.found.by_label), 'label')}. Tick one to review its rows.")


ASKED = "Which labels of training rows are probably wrong, and which are missing?"
door.page("Review", draw, door.Models(ASKED))
