"""The Compare page: which model is best, on what, by how much, and is that significant?"""

import streamlit as st

from pages.compare import answer, listed, side, table
from pages.shared import actions, door, fields, format, sending, tasks
from pages.shared.results import results
from pages.shared.workspaces import workspace

KIND = "given_predictions"
LONGEST_NAME = 60
FORMS = """A **line for each test row**, in their order, with its labels, best first, and perhaps
scores: `law:0.9, art:0.4`.

A **table** with the columns `row` (from 0) and `label`, and perhaps `score`.

An **npz** file: a sparse matrix of scores, rows × labels, by `scipy.sparse.save_npz`.

A label is its name, or its id from 0 where no label has that name."""


def draw(ready) -> None:
    frame, records = ready.run.frame, ready.run.records
    sentence, pictures = st.container(), st.container()
    choice = listed.choose(frame)
    lines = listed.table(ready.run, choice)
    rows, buttons, below = st.container(), st.container(), st.container()
    ticked = [k for k in table.chosen_keys() if k in records]
    with below:  # first, as marks in the table depend on what is compared
        compared = side.compared(listed.chosen(frame, lines, choice, set(ticked)), lines, choice, frame)
    with sentence:
        answer.sentence(lines, choice, compared)
    with rows:
        table.show(lines, choice, frame, compared)
        listed.missing(ready.run)
        table.published(choice)
    with buttons:
        table.buttons([records[k] for k in ticked], lines, frame, choice)
    with below:
        side.show(compared, lines, choice, pictures)
    here = compared.wanted if compared.fingerprint == choice.used else lines[lines["fingerprint"] == choice.used]
    few = here["keys"].head(side.MOST - 1 if here is compared.wanted else side.FIRST)
    external([key for keys in few for key in keys])


def external(beside=()) -> None:
    """Show the form, folded, for the data set in use; the result is ticked, with results of keys ``beside`` it."""
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        return
    names = lambda record: {"predictions": f"File of {record['params']['name']}"}  # noqa: E731
    sending.follow(KIND, "The predictions could not be read.", names, fingerprint=fingerprint)
    if actions.refused():
        return
    with st.expander("Predictions of another program", key="compare.external", icon=":material/upload:"):
        left, right = st.columns([1, 2], gap="medium")
        about = {"place": left, "placeholder": "fastText", "max_chars": LONGEST_NAME}
        name = fields.text("Name of the program", "compare.external.name", **about)
        of = format.plain(tasks.dataset_name(fingerprint) or "the data set")
        file = sending.uploader(f"For the test rows of {of}: CSV or npz", "compare.external", right, help=FORMS)
        if sending.button("Compare them", "compare.external.start", file if name.strip() else None):
            params, files = {"name": name.strip(), "k": results.K}, {"predictions": file}
            then = lambda key: table.tick([*beside, key])  # noqa: E731
            sending.start(KIND, {"dataset": fingerprint}, params, files, "compare.external", then)


ASKED = "Which model is better, on what, at what cost?"
door.page("Compare", draw, listed.Results(ASKED, below=external, reads_data=False, needs_data=False))
