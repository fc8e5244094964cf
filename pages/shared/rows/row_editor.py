"""Rows edited by hand: a table of their features, new predictions, and the changes in an address."""

import math
import re

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from pages.shared import format, tables
from pages.shared.rows import explaining
from xmlcore import explain

LISTED = 50  # most features found by a search that are offered
MOST_EDITS = 60  # changes of a row in an address at most
_ONE = re.compile(r"([0-9]{1,9})~(x|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)")


class Editor:
    """A row ``x`` that is changed by hand, and its widgets, whose keys begin with ``key``.

    ``names`` is a data set, or another object with the names of features. ``of`` says what the row is, such as a data
    set's fingerprint and the number of a row: the editor of another row begins anew, with ``edits``.
    """

    def __init__(self, key: str, names, x, of: tuple, edits: list = ()):
        self.key, self.names, self.x, self.of = key, names, x, of
        self.state = self._begin(list(edits))

    def _begin(self, edits) -> dict:
        """Return the row in the editor as it was when a feature was added last; at first ``x`` with ``edits``."""
        state = st.session_state.get(self.key)
        # Streamlit forgets what was typed when the user goes to another page; and an address may have been followed.
        forgotten = state is not None and state["drawn"] and edits and self._editor_key(state) not in st.session_state
        if state is None or state["row"] != self.of or state["said"] != edits or forgotten:
            order = np.argsort(-np.abs(self.x.data), kind="stable")
            frame = pd.DataFrame({"feature": self.x.indices[order], "value": self.x.data[order].astype(np.float64)})
            version = 0 if state is None else state["version"] + 1
            frame = _with_edits(frame.assign(drop=False), [edit for edit in edits if edit[0] < self.names.n_features])
            state = {"row": self.of, "version": version, "frame": frame, "said": edits, "drawn": False}
            st.session_state[self.key] = state
        return state

    def remembered(self, edits: list) -> None:
        st.session_state[self.key]["said"] = edits

    def show(self):
        """Show the table of features, and return the row that is in it: csr_array, shape (1, D)."""
        frame, n_features = self.state["frame"], self.names.n_features
        if frame.empty:
            st.caption("The row has no features; add one.")
            return row_of([], [], [], n_features)
        shown = frame.assign(name=[self.names.feature_name(int(j)) for j in frame["feature"]])
        edited = st.data_editor(
            shown[["name", "value", "drop"]],
            hide_index=True,
            key=self._editor_key(self.state),
            disabled=["name"],
            height=tables.height(len(shown), 300),
            column_config={
                "name": st.column_config.TextColumn("Feature"),
                "value": st.column_config.NumberColumn("Value", required=True, format="%.6g", width=100),
                "drop": st.column_config.CheckboxColumn(
                    "Drop", width=60, help="Predict as if the row did not have it."
                ),
            },
        )
        self.state["drawn"] = True
        return row_of(frame["feature"], edited["value"], edited["drop"], n_features)

    def is_changed(self) -> bool:
        frame = self.state["frame"]
        began = row_of(frame["feature"], frame["value"], frame["drop"], self.names.n_features)
        typed = st.session_state.get(self._editor_key(self.state), {}).get("edited_rows")
        return bool(typed) or len(frame) != self.x.nnz or bool((began != self.x).nnz)

    def add(self, forget=None) -> None:
        query = st.text_input(
            "Add a feature by its name",
            key=f"{self.key}.query",
            placeholder="part of a name" if self.names.feature_names is not None else "its number",
        )
        if query.strip():
            found = find_features(self.names, query, self.state["frame"]["feature"])
            if not found.size:
                st.caption(f"No other feature has “{format.plain(query.strip())}” in its name.")
            else:
                listed = found[:LISTED].tolist()
                some = f", {len(listed)} of them here" if len(listed) < found.size else ""
                key = f"{self.key}.found {self.state['version']} {query.strip()}"
                st.selectbox(
                    f"{format.count(found.size, 'feature')} found{some}",
                    listed,
                    format_func=lambda j: self.names.feature_name(int(j)),
                    index=None,
                    placeholder="Choose one",
                    key=key,
                    on_change=self._added,
                    args=(key,),
                )
        st.button(
            "Undo changes",
            key=f"{self.key}.reset",
            on_click=self._undo,
            args=(forget,),
            disabled=not self.is_changed(),
        )

    def _editor_key(self, state) -> str:
        return f"{self.key}.editor {state['version']}"

    def _undo(self, forget) -> None:
        """Forget all changes; the table gets another key, because it keeps its changes under the old one."""
        if forget is not None:
            forget()
        st.session_state[self.key] = {**self.state, "row": None}

    def _added(self, key) -> None:
        feature = st.session_state[key]
        if feature is None:
            return
        frame = self.state["frame"].copy()
        for place, change in st.session_state.get(self._editor_key(self.state), {}).get("edited_rows", {}).items():
            for column, value in change.items():
                frame.loc[int(place), column] = value
        present = np.abs(frame["value"].to_numpy(np.float64))
        value = float(np.median(present)) if present.size else 1.0
        new = pd.DataFrame({"feature": [feature], "value": [value], "drop": [False]})
        frame = pd.concat([new, frame], ignore_index=True) if len(frame) else new
        began = {"frame": frame, "version": self.state["version"] + 1, "drawn": False}
        st.session_state[self.key] = {**self.state, **began}
        st.session_state[f"{self.key}.query"] = ""


def _with_edits(frame, edits) -> pd.DataFrame:
    """Return the row in the editor with changes on top: pairs of a feature and its value, None if it is dropped."""
    frame = frame.sort_values("feature", key=lambda ids: ~ids.isin([j for j, _ in edits]), kind="stable")
    frame = frame.reset_index(drop=True)
    present, added = frame["feature"].tolist(), []
    for feature, value in edits:
        if feature not in present:
            added.append({"feature": feature, "value": value or 0.0, "drop": value is None})
        elif value is None:
            frame.loc[present.index(feature), "drop"] = True
        else:
            frame.loc[present.index(feature), "value"] = value
    return pd.concat([pd.DataFrame(added), frame], ignore_index=True) if added else frame


def row_of(features, values, dropped, n_features: int):
    """Return a row as a CSR matrix: features that are dropped, have no value or the value 0 are left out."""
    with np.errstate(over="ignore"):
        features, values = np.asarray(features, np.int64), np.asarray(values, np.float64).astype(np.float32)
    kept = ~np.asarray(dropped, bool) & np.isfinite(values) & (values != 0)
    features, values = features[kept], values[kept]
    order = np.argsort(features)
    return sp.csr_array((values[order], features[order], [0, order.size]), shape=(1, n_features))


def find_features(names, query: str, without=()) -> np.ndarray:
    """Return the ids of features whose names contain a text: equal names first, then shorter before longer ones."""
    ids = np.setdiff1d(tables.ids_named(names.feature_names, names.n_features, "feature", query.strip()), without)
    return ids[np.argsort([len(names.feature_name(j)) for j in ids.tolist()], kind="stable")]


def changes(names, before, after) -> list[str]:
    """Return the changes of a row in words, for Markdown; rows are sparse and of shape (1, D)."""
    old, texts = dict(zip(before.indices.tolist(), before.data.tolist())), []
    for j, value in between(before, after):
        how = "dropped" if value is None else f"added with {format.value(value)}"
        if value is not None and j in old:
            how = f"from {format.value(old[j])} to {format.value(value)}"
        texts.append(f"{format.bold(names.feature_name(j))} {how}")
    return texts


def between(before, after) -> list:
    """Return how two rows, sparse and of shape (1, D), differ: lists of a feature and its value, None if it is gone."""
    old, new = (dict(zip(x.indices.tolist(), x.data.tolist())) for x in (before, after))
    changed = sorted(j for j in old.keys() | new.keys() if old.get(j) != new.get(j))
    return [[j, float(str(np.float32(new[j]))) if j in new else None] for j in changed]


def text(edits: list) -> str:
    """Return changes for an address, such as ``12~0.5_17~x``; empty when they are too many."""
    if len(edits) > MOST_EDITS:
        return ""
    return "_".join(f"{j}~{'x' if value is None else repr(value)}" for j, value in edits)


def parsed(text: str) -> list:
    """Return the changes in an address: the last of each feature, without invalid ones."""
    found = [(int(j), None if value == "x" else float(value)) for j, value in _ONE.findall(text)]
    return [[j, value] for j, value in dict(found[:MOST_EDITS]).items() if value is None or math.isfinite(value)]


def show_moved(names, model, before, after, k: int, key: str) -> str | None:
    try:
        labels = explain.what_if(model, before, after, k)
    except ValueError as error:  # such as a negative value, which not every model takes
        st.caption(format.plain(str(error)))
        return None
    if labels.empty:
        st.caption("The model predicts no label, before or after.")
        return None
    scored = [explaining.Scored(model, x) for x in (before, after)]
    ids, kind = labels["label"].to_numpy(), scored[0].scale
    labels = labels.assign(before=scored[0].of(ids), after=scored[1].of(ids))
    shown = [names.label_name(int(j)) for j in labels["label"]]
    st.markdown(moved(labels, shown, kind))
    score, comma, unit = explaining.SCALES[kind].column.partition(",")
    frame = pd.DataFrame(
        {
            "rank_after": labels["rank_after"],
            "rank_before": labels["rank_before"],
            "name": shown,
            "before": explaining.column(kind, labels["before"]),
            "after": explaining.column(kind, labels["after"]),
        }
    )
    scores = frame[["before", "after"]]
    tables.show(
        frame,
        key,
        {
            "rank_after": tables.number("Rank", 50, "%d"),
            "rank_before": tables.number("Was", 60, "%d", "Rank before the change."),
            "name": tables.text("Label"),
            "before": explaining.column_config(kind, scores, f"{score} before{comma}{unit}", 95),
            "after": explaining.column_config(kind, scores, f"{score} after{comma}{unit}", 95),
        },
        signs=explaining.signs(kind, "before", "after"),
    )
    return kind


def moved(labels, names, kind: str) -> str:
    """Return how many labels come, go or change their rank, and which score moves most; for Markdown."""
    i = int(np.argmax((labels["after"] - labels["before"]).abs().fillna(0.0).to_numpy()))
    before, after = (explaining.score(kind, labels[way].iloc[i]) for way in ("before", "after"))
    n_ranks = int((labels["rank_before"].fillna(0) != labels["rank_after"].fillna(0)).sum())
    ranks = f"{format.count(n_ranks, 'label')} changed in rank." if n_ranks else "No rank changes."
    return ranks if before == after else f"{ranks} {format.bold(names[i])} moves most, from {before} to {after}."
