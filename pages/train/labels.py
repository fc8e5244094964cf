"""The labels one by one: how well each is predicted, and the rows where it was found, missed or wrongly predicted."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import addresses, fields, format, selectors, server, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.view import look, now
from xmlcore import metrics

LISTED = 1000  # most labels in a table
LISTED_ROWS = 200  # most rows of a label in a table, with the names of all their labels
HOW = {"found": "found", "missed": "missed", "wrong": "wrongly predicted"}


class OfLabels(NamedTuple):
    """How many labels are found, and the two means of F1."""

    k: int  # labels predicted for each row
    tested: int  # labels with a test row
    never: int  # of these, labels that are never predicted correctly
    micro: float
    macro: float


def show(data, run, key, name) -> None:
    ks = results.ks(data.n_labels)
    k = fields.radio("Labels predicted", ks, "train.labels.k", ks[-1])
    every = every_label(key, k)
    st.markdown(
        sentence(of_labels(every, k)),
        help="F1 combines precision (how many predictions are right) and recall (how many true labels are predicted). "
        "Micro: over all pairs of a row and a label. Macro: the mean of the F1 of the labels with a test row, so a "
        "rare label counts as much as a frequent one. The F1 of means of the Sampling page is another measure.",
    )
    label = _table(data, every, key, k)
    about = f"All {len(every):,} labels with these measures"
    charts.csv_button("All labels, CSV", every, f"{name}-labels-at-{k}-all", about)
    if label is not None:
        _rows_of_label(data, run, key, k, label)


def of_labels(every, k) -> OfLabels:
    tested = every[every["rows"] > 0]
    return OfLabels(k, len(tested), int((tested["right"] == 0).sum()), *metrics.f1_of_labels(every))


def sentence(found: OfLabels) -> str:
    return (
        f"**{found.never:,} of {format.count(found.tested, 'label')} with a test row** are never predicted correctly "
        f"among {found.k}. Micro F1 is **{format.percent(found.micro)}**, macro F1 **{format.percent(found.macro)}**."
    )


@server.shared()
def every_label(key, k):
    run = server.run(key)
    labels = server.description(run.fingerprint).labels[["label", "name", "n_train", "bucket"]]
    frame = metrics.by_label(server.dataset(run.fingerprint).Y_test, run.ranking, k)
    frame = frame.assign(missed=frame["rows"] - frame["right"], wrong=frame["predicted"] - frame["right"])
    return labels.merge(frame, on="label").sort_values("n_train", ascending=False, kind="stable", ignore_index=True)


def _table(data, every, key, k):
    query_key = selectors.query_key("train.labels.query", data)
    query = fields.text("Find labels by name or id", query_key, placeholder="part of a name; empty: all")
    matching = tables.find_labels(every, query)
    listed = matching.head(LISTED)
    table_key = f"train.labels.{key[:8]}.{k}.{query.strip()}"
    ticked = np.flatnonzero(listed["label"].to_numpy() == now().ticked).tolist()

    def remember():
        rows = st.session_state[table_key].selection.rows
        look(ticked=listed["label"].iloc[rows[0]] if rows and rows[0] < len(listed) else None)

    if matching.empty:
        st.info(f"No label has “{format.plain(query.strip())}” in its name. Try a shorter part of a name.")
        return None
    tables.show(
        listed.assign(**{column: 100 * listed[column] for column in ("precision", "recall", "f1")}),
        table_key,
        {
            "name": tables.text("Label", 185, pinned=True),
            "f1": tables.bar("F1, %", 130),
            "rows": tables.number("Test rows", 70, "localized", "Test rows with the label: its support."),
            "n_train": tables.number("Training rows", 92, "localized", "Training rows with the label."),
            "precision": tables.number("Precision, %", 88, "%.1f", "Found / (found + wrong)."),
            "recall": tables.number("Recall, %", 78, "%.1f", "Found / test rows."),
            "right": tables.number("Found", 62, "localized", "Test rows for which it is right."),
            "missed": tables.number("Missed", 66, "localized", "Test rows with the label, not predicted."),
            "wrong": tables.number("Wrong", 64, "localized", "Test rows for which it is wrongly predicted."),
            "bucket": tables.text("Bucket", 58),
        },
        most=420,
        on_select=remember,
        selection_mode="single-row",
        **tables.ticked(ticked),
    )
    shown = format.showing(len(listed), len(matching), "label")
    st.caption(f"{shown}, most frequent in training first. Tick a label to see its rows.")
    return int(listed["label"].iloc[ticked[0]]) if ticked else None


def rows_of_label(data, ranking, label: int, k: int) -> pd.DataFrame:
    """Return the test rows with a label or a prediction of it: ``row``, ``how`` (a key of HOW), ``rank``, ``score``."""
    places = ranking.labels[:, :k] == label
    predicted, rank = places.any(axis=1), places.argmax(axis=1)
    true = np.zeros(data.n_test, dtype=bool)
    entries = np.flatnonzero(data.Y_test.indices == label)
    true[np.searchsorted(data.Y_test.indptr, entries, side="right") - 1] = True
    row = np.flatnonzero(true | predicted)
    is_true, is_predicted = true[row], predicted[row]
    how = np.where(is_true & is_predicted, "found", np.where(is_true, "missed", "wrong"))
    score = predictions.known_scores(ranking)[row, rank[row]].astype(np.float64)
    frame = pd.DataFrame({"row": row, "how": how, "rank": 1.0 + rank[row], "score": score})
    frame.loc[~is_predicted, ["rank", "score"]] = np.nan
    order = pd.Categorical(frame["how"], ["missed", "wrong", "found"], ordered=True)
    frame = frame.assign(order=order).sort_values(["order", "score"], ascending=[True, False], kind="stable")
    return frame.drop(columns="order").reset_index(drop=True)


def _rows_of_label(data, run, key, k, label):
    frame = rows_of_label(data, run.ranking, label, k)
    st.subheader(f"Rows of {format.plain(data.label_name(label))}")
    if frame.empty:
        st.caption("No test row has this label, and it is predicted for none.")
        return
    table_key = f"train.labels.rows.{key[:8]}.{k}.{label}"
    n_listed = list_rows(data, run, frame.assign(how=frame["how"].map(HOW)), table_key, label)
    counts = frame["how"].value_counts()
    counted = ", ".join(f"{counts.get(how, 0):,} {text}" for how, text in HOW.items())
    st.caption(
        f"Showing {n_listed:,} of {format.count(len(frame), 'row')}: {counted}. Tick a row to look at it in the "
        "section Single predictions, and on the Explain page."
    )
    if run.has_model and st.session_state[table_key]["selection"]["rows"]:
        addresses.link("Explain", "Explain this row and label", addresses.ICONS["Explain"])


def list_rows(data, run, frame, key, label, other=None) -> int:
    """Show the first rows of a table, and return how many; a row that is ticked is looked at, with its labels."""
    listed = frame.head(LISTED_ROWS)
    score = predictions.scores(run, listed["score"])
    tables.show(
        listed.assign(score=score).merge(tables.rows(data, "test", listed["row"]), on="row"),
        key,
        {
            "row": tables.number("Row", 60, "%d"),
            "name": tables.text("Name", 220),
            "text": tables.text("Text", 300),
            "how": tables.text("The label is", 120),
            "rank": tables.number("Rank", 55, "%d"),
            "score": tables.number(**predictions.score_column(run, score), width=70),
            "labels": tables.text("True labels", 320),
        },
        most=300,
        **tables.on_tick(key, listed["row"], lambda row: look(row=row, label=label, other=other)),
    )
    return len(listed)
