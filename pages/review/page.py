"""Review: which labels of training rows are wrong or missing, and does a model get better when they are corrected?"""

import functools

import numpy as np
import streamlit as st

from pages.review import decisions, item, to_label
from pages.review.view import CHANGED, OF_RUN, PAIR, Reviewed
from pages.shared import actions, door, fields, first_results, format, sections, tables, tasks
from xmlcore import experiment

LISTED = 1000  # labels in the table, and rows of a label
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
    value = tasks.ready(task, button="Find doubtful labels")
    if value is not None or to_label.unlabelled(ready.data).size:
        _review(ready, value)


def _review(ready, found) -> None:
    view = Reviewed(ready, found)
    sections_of = {
        **({"To label": lambda: to_label.show(view)} if to_label.unlabelled(ready.data).size else {}),
        **({"By label": lambda: by_label(view)} if found is not None else {}),
        "Decisions": lambda: decisions.table(view),
        "Corrected data": lambda: decisions.corrected_data(view),
    }
    if found is not None:
        cards(view)
        item.review(view)
    sections.show("review", {title: functools.partial(_section, draw) for title, draw in sections_of.items()})


def _section(draw) -> None:
    """Draw a section, or the whole page once a press in the section has changed what the page shows."""
    if st.session_state.pop(CHANGED, False):
        st.rerun()
    draw()


def cards(view) -> None:
    sums, n, changes = view.found.by_label[["wrong", "missing"]].sum(), view.data.Y_train.nnz, view.changes
    made, n_kept = changes["decision"].value_counts(), len(view.own) - len(changes)
    tables.cards(
        ("Probably wrong", f"{sums['wrong']:,.0f}", ODD, f"of {n:,} labels"),
        ("Probably missing", f"{sums['missing']:,.0f}", "Probabilities of labels that rows do not have, added up; "
         "labels that rank far behind are left out.", f"beside {n:,} given"),
        ("Decided", f"{len(view.own):,}", "By this workspace.", f"{n_kept:,} left as they are"),
        ("Corrected", f"{len(changes):,}", "The upload itself is not changed.",
         f"{made.get('remove', 0):,} removed, {made.get('add', 0):,} added"),
    )  # fmt: skip


def by_label(view) -> None:
    """Show how many wrong and missing labels are expected of each label; one that is ticked is reviewed."""
    frame = view.found.by_label.head(LISTED)
    rows = np.bincount(view.data.Y_train.indices, minlength=view.data.n_labels)
    names = [view.data.label_name(int(j)) for j in frame["label"]]
    frame = frame.assign(name=names, rows=rows[frame["label"]])
    columns = {"name": tables.text("Label", 240), "rows": tables.number("Rows", help="Training rows with the label.")}
    for kind, title in (("wrong", "Wrong"), ("missing", "Missing")):
        columns[kind] = tables.number(title, format="%.1f", help=f"Expected number of {kind} labels.")
        columns |= {f"{kind}_{end}": tables.number(f"{title}, {end}", format="%.1f") for end in ("low", "high")}
    tick = tables.on_tick("review.labels", names, lambda name: view.only("" if name is None else name), untick=True)
    shown = tables.show(frame, "review.labels", columns, first=tuple(columns), most=420, **tick)
    st.caption(f"{format.showing(len(frame), len(view.found.by_label), 'label')}. Tick one to review its rows.")
    for line in shown["selection"]["rows"]:
        at_once(view, int(frame["label"].iloc[line]))


def at_once(view, label) -> None:
    """Let one press decide all doubts about a label, from a doubt on that is chosen; list their rows."""
    found, name = view.left[view.left["label"] == label], format.bold(view.data.label_name(label))
    percent = fields.slider("Decide at once all doubts of at least, %", 10, 95, "review.least", 50, step=5)
    found, least = found[found["doubt"] >= percent / 100], 100 * view.found.doubts["doubt"].min()
    for kind, chosen in found.groupby("kind"):
        number, (change, decision, _) = format.count(len(chosen), "row"), item.CHANGES[kind]
        how = "probably" if percent >= 50 else "perhaps"
        lines = chosen[PAIR].assign(decision=decision).to_dict("records")
        says = f"By the sum of the doubts, {chosen['doubt'].sum():,.1f} should be corrected."
        st.markdown(f"{name} is {how} {kind} in **{number}**. {says}")
        frame = tables.rows(view.data, "training", chosen["row"].head(LISTED))
        frame["percent"] = 100 * chosen["doubt"].head(LISTED).to_numpy()
        first = ("row", "percent", "name", "text", "labels")
        columns = tables.OF_ROWS | {"percent": tables.bar("Doubt", 90)}
        tables.show(frame, f"review.once.{kind}", columns, first=first, most=320)
        actions.button(f"{change} in {number}", on_click=view.decide_all, args=(lines,), key=f"review.all.{kind}")
    if found.empty:
        st.caption(f"No such doubt about {name} is left.")
    if len(view.found.doubts) < view.found.n_doubts and least > percent:
        st.caption(f"Doubts below {np.floor(10 * least) / 10:.1f}\u00a0% are not kept.")


ASKED = "Which labels of training rows are probably wrong, and which are missing?"
door.page("Review", draw, door.Models(ASKED))
