"""Decisions of this workspace: their table, files of them, and the data set that has the corrections."""

import json

import pandas as pd
import streamlit as st

from pages.review.view import FIELDS, PAIR
from pages.shared import actions, format, jobs, tables, tasks
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import experiment, metrics, review

FORM = (
    "It must be CSV with commas, or JSON lines, in UTF-8, with row, label (ids from 0) and decision; or what Label "
    "Studio exports as JSON, with the number of the row."
)
COMPARED = ("P@1", "P@3", "P@5", "PSP@5")
ABOUT = "On the test rows, whose labels are as they were; below, the change in points, with its 95 % interval."


def table(view) -> None:
    made = view.decided
    if made.empty:
        st.caption("Nothing is decided yet.")
    else:
        frame = made.assign(name=tables.label_names(view.data, made["label"]))[::-1]
        if len(view.earlier):
            st.caption(f"With {len(view.earlier):,} of them this data set was made: these stay.")
        columns = {
            "row": tables.number("Row", 70), "name": tables.text("Label", 240), "decision": tables.text("Decision"),
            "by": tables.text("By"), "when": tables.moments("When"),
        }  # fmt: skip
        shown = frame.assign(when=frame["when"].map(format.moment))
        # another key with other lines: ticks are of lines, and would stay
        key, ticks = f"review.decisions {len(view.rows)}", {"on_select": "rerun", "selection_mode": "multi-row"}
        ticked = tables.show(shown, key, columns, most=320, **ticks)["selection"]["rows"]
        own, name = view.own[PAIR].to_numpy().tolist(), f"{view.ready.files}-decisions"
        mine = [pair for pair in frame[PAIR].iloc[ticked].to_numpy().tolist() if pair in own]
        with st.container(horizontal=True):
            if mine:
                title = f"Withdraw {format.count(len(mine), 'decision')}"
                actions.button(title, on_click=view.withdraw, args=(mine,), key="review.withdraw")
            charts.csv_button("Decisions as CSV", frame, name)
            as_lines = lambda: frame.to_json(orient="records", lines=True)  # noqa: E731
            charts.file_button("as JSON lines", as_lines, f"{name}.jsonl", None)
            if view.data.texts_train is not None:
                charts.file_button("Rows for Label Studio", lambda: label_studio(view.data, made), f"{name}.json", None)
                charts.file_button("for Annif", lambda: annif(view.data, made), f"{name}-annif.jsonl", None)
    actions.form(_import, view)


def _decided_rows(data, made) -> list[tuple[int, str, list[str]]]:
    """Return the number, the text and the names of the labels of each row with decisions, as they are then."""
    Y = review.corrected(data.Y_train, made)
    return [(row, data.texts_train[row], tables.label_names(data, tables.ids(Y, row))) for row in set(made["row"])]


def label_studio(data, made) -> str:
    """Return tasks with annotations: the labels of each row as a field "labels" of choices, of the text "text"."""
    form = {"from_name": "labels", "to_name": "text", "type": "choices"}
    return json.dumps([
        {"data": {"text": text, "row": int(row)},
         "annotations": [{"result": [form | {"value": {"choices": names}}]}]}
        for row, text, names in _decided_rows(data, made)
    ])  # fmt: skip


def annif(data, made) -> str:
    """Return documents, a line of JSON each, whose subjects are URIs where the names of labels are."""
    subjects = lambda names: [{"uri" if "://" in name else "label": name} for name in names]  # noqa: E731
    rows = _decided_rows(data, made)
    return "".join(json.dumps({"text": text, "subjects": subjects(names)}) + "\n" for _, text, names in rows)


def from_label_studio(data, given) -> pd.DataFrame:
    """Return the decisions that an export of Label Studio makes: its last annotation of a row says all labels."""
    ids, lines = {name: j for j, name in enumerate(tables.label_names(data, range(data.n_labels)))}, []
    for task in given:
        row, done = task["data"]["row"], [one for one in task["annotations"] if not one.get("was_cancelled")]
        values = [one["value"] for one in done[-1]["result"]] if done else []
        names = [name for value in values for name in value.get("choices", [])]
        names += [path[-1] for value in values for path in value.get("taxonomy", [])]
        if unknown := [name for name in names if name not in ids]:
            raise ValueError(f"row {row} has the label {unknown[0]!r:.80}, which the data set does not have")
        said, has = {ids[name] for name in names}, {*tables.ids(data.Y_train, row).tolist()}
        decided = {j: "add" for j in said - has} | {j: "remove" for j in has - said} | {j: "keep" for j in said & has}
        lines += [(row, j, decision) for j, decision in sorted(decided.items()) if done]
    return pd.DataFrame(lines, columns=FIELDS)


def _read(data, file) -> pd.DataFrame:
    if file.name.endswith(".json"):
        return from_label_studio(data, json.load(file))
    return pd.read_json(file, lines=True) if file.name.endswith(".jsonl") else pd.read_csv(file)


def _import(view) -> None:
    file = st.file_uploader("Decisions from a file", type=["csv", "jsonl", "json"], key="review.file")
    if file is None or st.session_state.get("review.read") == file.file_id:
        return
    try:
        frame = _read(view.data, file)
        review.corrected(view.data.Y_train, frame)
    except (ValueError, KeyError, TypeError, IndexError) as error:  # also of pandas and of JSON
        st.error(f"The file was not read ({format.plain(str(error))}). {FORM}")
        return
    st.session_state["review.read"] = file.file_id
    frame = frame.sort_values("when", kind="stable") if "when" in frame else frame
    by = frame["by"].fillna("").astype(str) if "by" in frame else workspace.get("user") or ""
    view.put(frame[FIELDS].astype({"row": int, "label": int}).assign(by=by).to_dict("records"))
    st.rerun()


def corrected_data(view) -> None:
    """Offer to make the data set with the corrections, to train on it, and show what that changes."""
    changes = view.changes
    if changes.empty:
        st.caption("No decision changes a label yet.")
        return
    decisions = view.decided.to_numpy().tolist()  # also those that keep a label: it is not asked about again
    task = experiment.task("correct", {"dataset": view.ready.fingerprint}, {"decisions": decisions})
    st.markdown(
        f"The labels of {format.count(changes['row'].nunique(), 'training row')} are corrected. The upload stays."
    )
    if not task.exists():
        actions.button(
            "Make the corrected data",
            type="primary",
            on_click=tasks.make_dataset,
            args=(task,),
            kwargs={"name": f"{view.ready.name}, corrected"},
            key="review.make",
        )
        jobs.follow("correct", key=task.key)
        return
    made, run = task.load().dataset, view.ready.run
    train = tasks.train_task(made, run.model, run.params, run.k)
    value = tasks.ready(train, automatic_below=0, button="Train on it", key="review.train")
    if value is not None:
        _compare(view, value)


def _compare(view, after) -> None:
    both, data = {"after": after.ranking, "before": view.ready.run.ranking}, view.data
    found = metrics.compare_rankings(
        data.Y_test, both, list(COMPARED), reference="after", inv_ps=data.inverse_propensity()
    )
    cards = []
    for of, line in zip(COMPARED, found.to_dict("records")):
        change, low, high = (format.signed(100 * line[name]) for name in ("difference", "low", "high"))
        cards.append((of, format.score(line["value_a"], True), ABOUT, f"{change} ({low} to {high})"))
    tables.cards(*cards)
