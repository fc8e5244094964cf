"""What if the row were different: feature values are changed, dropped or added, and every model predicts again."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from pages.explain import labels, words
from pages.shared import format, results, row_edits, tables, workspace
from xmlcore import explain

MOST_MODELS = 6  # results that predict at first; as many models are kept in memory
LISTED = 50  # most features found by a search that are offered
STATE = "explain.whatif"  # where a session keeps the row that is changed


def what_if(view, by_key: dict, titles: dict) -> None:
    """Show an editor of the row, and what each model predicts before and after."""
    st.header("What if the row were different?")
    start = _start(view)
    left, right = st.columns([3, 2], gap="large")
    with left:
        edited = _edit(view, start)
    with right:
        _add(view, start)
        keys = _models(view, by_key, titles)
    after = row_of(edited["feature"], edited["value"], edited["drop"], view.data.n_features)
    changes = _changes(view, after)
    _remember(view, after)
    if len(changes) > row_edits.MOST:
        st.caption(
            f"These are {len(changes)} changes. The address of the page has room for {row_edits.MOST}, so a copied "
            "link shows the row without them."
        )
    if not changes:
        st.caption("Change a value, drop a feature or add one, and every model predicts again.")
        return
    st.markdown(f"Changed: {format.listed(changes)}.")
    _predictions(view, after, [by_key[key] for key in keys], titles)


def row_of(features, values, dropped, n_features: int):
    """Return a row as a CSR matrix: features that are dropped, have no value or the value 0 are left out.

    Parameters
    ----------
    features : sequence of int
    values : sequence of float
    dropped : sequence of bool
    n_features : int

    Returns
    -------
    scipy.sparse.csr_array of float32, shape (1, n_features)
    """
    with np.errstate(over="ignore"):
        features, values = np.asarray(features, np.int64), np.asarray(values, np.float64).astype(np.float32)
    kept = ~np.asarray(dropped, bool) & np.isfinite(values) & (values != 0)
    features, values = features[kept], values[kept]
    order = np.argsort(features)
    return sp.csr_array((values[order], features[order], [0, order.size]), shape=(1, n_features))


# --- the row ---


def _start(view) -> dict:
    """Return the row in the editor as it was when a feature was added last; at first the test row itself."""
    row = (view.run.fingerprint, view.row)
    state, said = st.session_state.get(STATE), row_edits.of(workspace.get("widgets"), *row)
    if state is None or state["row"] != row or state["said"] != said:  # the last: an address was followed
        order = np.argsort(-np.abs(view.x.data), kind="stable")
        frame = pd.DataFrame({"feature": view.x.indices[order], "value": view.x.data[order].astype(np.float64)})
        version = 0 if state is None else state["version"] + 1
        frame = _with_edits(frame.assign(drop=False), [edit for edit in said if edit[0] < view.data.n_features])
        state = {"row": row, "version": version, "frame": frame, "said": said}
        st.session_state[STATE] = state
    return state


def _with_edits(frame, edits) -> pd.DataFrame:
    """Return the row in the editor with changes: pairs of a feature and its value, None for one that is dropped."""
    present, added = frame["feature"].tolist(), []
    for feature, value in edits:
        if feature not in present:
            added.append({"feature": feature, "value": value or 0.0, "drop": value is None})
        elif value is None:
            frame.loc[present.index(feature), "drop"] = True
        else:
            frame.loc[present.index(feature), "value"] = value
    return pd.concat([pd.DataFrame(added), frame], ignore_index=True) if added else frame


def _remember(view, after) -> None:
    """Remember the changes of the row for the address of the page, which is then drawn again."""
    edits = row_edits.between(view.x, after)
    if edits != row_edits.of(workspace.get("widgets"), view.run.fingerprint, view.row):
        workspace.update(lambda data: row_edits.put(data["widgets"], view.run.fingerprint, view.row, edits))
        st.session_state[STATE]["said"] = edits
        st.rerun()


def _key(state) -> str:
    """Return the key of the editor: another one for each row that editing begins with."""
    return f"explain.whatif.editor {state['version']}"


def _edit(view, state):
    """Show the editor and return the row in it: ``feature, value, drop``."""
    frame = state["frame"]
    if frame.empty:
        st.caption("The row has no features; add one.")
        return frame
    shown = frame.assign(name=[view.data.feature_name(int(j)) for j in frame["feature"]])[["name", "value", "drop"]]
    edited = st.data_editor(
        shown,
        hide_index=True,
        key=_key(state),
        disabled=["name"],
        height=tables.height(len(shown), 300),
        column_config={
            "name": st.column_config.TextColumn("Feature"),
            "value": st.column_config.NumberColumn("Value", required=True, format="%.6g", width=100),
            "drop": st.column_config.CheckboxColumn("Drop", width=60, help="Predict as if the row did not have it."),
        },
    )
    return frame.assign(value=edited["value"].to_numpy(), drop=edited["drop"].to_numpy(bool))


def _add(view, state) -> None:
    """Show a search for features; the one chosen gets the median value of the row, and joins the editor."""
    query = st.text_input(
        "Add a feature by its name",
        key="explain.whatif.query",
        placeholder="part of a name" if view.data.feature_names is not None else "its number",
    )
    if query.strip():
        found = find_features(view.data, query, state["frame"]["feature"])
        if not found.size:
            st.caption(f"No other feature has “{format.plain(query.strip())}” in its name.")
        else:
            listed = found[:LISTED].tolist()
            some = f", {len(listed)} of them here" if len(listed) < found.size else ""
            key = f"explain.whatif.found {state['version']} {query.strip()}"
            st.selectbox(
                f"{format.count(found.size, 'feature')} found{some}",
                listed,
                format_func=lambda j: view.data.feature_name(int(j)),
                index=None,
                placeholder="Choose one",
                key=key,
                on_change=_added,
                args=(state, key),
            )
    st.button("Undo changes", key="explain.whatif.reset", on_click=_begin_anew, args=(state,))


def _begin_anew(state) -> None:
    """Forget all changes; the editor gets another key, because it keeps its changes under the old one."""
    workspace.update(lambda data: row_edits.put(data["widgets"], *state["row"], []))
    st.session_state[STATE] = {**state, "row": None}


def _added(state, key) -> None:
    """Add the chosen feature to the row as it is in the editor now, which begins anew with it."""
    feature = st.session_state[key]
    if feature is None:
        return
    frame = state["frame"].copy()
    for place, change in st.session_state.get(_key(state), {}).get("edited_rows", {}).items():
        for column, value in change.items():
            frame.loc[int(place), column] = value
    present = np.abs(frame["value"].to_numpy(np.float64))
    value = float(np.median(present)) if present.size else 1.0
    new = pd.DataFrame({"feature": [feature], "value": [value], "drop": [False]})
    frame = pd.concat([new, frame], ignore_index=True) if len(frame) else new
    st.session_state[STATE] = {**state, "frame": frame, "version": state["version"] + 1}
    st.session_state["explain.whatif.query"] = ""


def find_features(data, query: str, without=()) -> np.ndarray:
    """Return the ids of features whose names contain a text: equal names first, then shorter names before longer ones.

    Parameters
    ----------
    data : Dataset
    query : str
        Upper and lower case are the same. Where features have no names, the id.
    without : sequence of int
        Features that are left out.

    Returns
    -------
    ndarray of int64
    """
    text = query.strip().lower()
    if data.feature_names is None:
        number = text.removeprefix("feature").strip()
        ids = [int(number)] if number.isdecimal() and int(number) < data.n_features else []
    else:
        names = data.feature_names
        ids = sorted((j for j, name in enumerate(names) if text in name.lower()), key=lambda j: (len(names[j]), j))
    return np.array([j for j in ids if j not in set(map(int, without))], np.int64)


def _changes(view, after) -> list[str]:
    """Return what is changed in the row, in words."""
    before, now = (dict(zip(x.indices.tolist(), x.data.tolist())) for x in (view.x, after))
    changes = []
    for j in sorted(before.keys() | now.keys()):
        name = f"**{format.plain(view.data.feature_name(j))}**"
        if j not in now:
            changes.append(f"{name} dropped")
        elif j not in before:
            changes.append(f"{name} added with {format.value(now[j])}")
        elif before[j] != now[j]:
            changes.append(f"{name} from {format.value(before[j])} to {format.value(now[j])}")
    return changes


# --- predictions ---


def _models(view, by_key, titles) -> list[str]:
    """Return the keys of the results whose models predict: at first all, or the explained one and the newest."""
    others = [key for key in by_key if key != view.key]
    first = [view.key, *others][:MOST_MODELS]
    if len(by_key) == 1:
        return first
    kept = workspace.keep(
        f"explain.whatif.models {next(iter(by_key))[:8]}",  # with a new result, all predict again
        first,
        lambda keys: isinstance(keys, list) and bool(keys) and set(keys) <= set(by_key),
    )
    default = kept.pop("value")
    return st.multiselect(
        f"Results that predict, of {format.count(len(by_key), 'result')}",
        list(by_key),
        default=default,
        format_func=titles.get,
        help=f"At first the model explained and the newest others, at most {MOST_MODELS}.",
        **kept,
    )


def _predictions(view, after, records, titles) -> None:
    """Show what each model predicts before and after, two models in a line."""
    for i in range(0, len(records), 2):
        for record, column in zip(records[i : i + 2], st.columns(2, gap="large")):
            with column:
                _one_model(view, after, record, titles[record["key"]])


def _one_model(view, after, record, title) -> None:
    """Show what one model predicts before and after, and say what has moved."""
    st.subheader(title)
    both = results.run_and_model(record)
    if both is None:
        return
    model = both[1]
    try:
        found = explain.what_if(model, view.x, after, view.k)
    except ValueError as error:  # such as a negative value, which not every model takes
        st.caption(format.plain(str(error)))
        return
    kind = explain.kind_of(model)
    if found.empty:
        st.caption("The model predicts no label, before or after.")
        return
    names = [view.data.label_name(int(j)) for j in found["label"]]
    st.markdown(moved(found, names, kind, view.k))
    name = words.COLUMN[kind]
    labels.show(
        pd.DataFrame(
            {
                "rank_after": found["rank_after"],
                "rank_before": found["rank_before"],
                "name": names,
                "before": words.column(kind, found["before"]),
                "after": words.column(kind, found["after"]),
            }
        ),
        {"name": "Label"},
        {
            "rank_after": st.column_config.NumberColumn("Rank", format="%d", width=50),
            "rank_before": st.column_config.NumberColumn(
                "Before", format="%d", width=60, help="Rank before the change."
            ),
            "before": words.column_config(kind, f"{name} before", 95),
            "after": words.column_config(kind, f"{name} after", 95),
        },
        f"explain.whatif {record['key']}",
        signs=words.signs(kind, "before", "after"),
        **tables.EMPTY_CELLS,
    )
    if kind != view.kind:
        st.caption(words.SCALE[kind].replace("on this page", f"of {record['model']}"))


def moved(found, names, kind: str, k: int) -> str:
    """Return which labels come, go or change their rank, or else which score moves most; for Markdown."""
    parts = []
    for name, line in zip(names, found.itertuples()):
        was, now = line.rank_before, line.rank_after
        label = f"**{format.plain(name)}**"
        if pd.isna(was):
            parts.append(f"{label} is newly ranked {format.ordinal(now)}")
        elif pd.isna(now):
            parts.append(f"{label} is no longer among the first {k}")
        elif was != now:
            parts.append(f"{label} goes from {format.ordinal(was)} to {format.ordinal(now)}")
    if parts:
        return f"{format.listed(parts)}."
    i = int(np.argmax((found["after"] - found["before"]).abs().to_numpy()))
    before, after = (words.score(kind, found[way].iloc[i]) for way in ("before", "after"))
    if before == after:
        return "No rank changes, and no score changes enough to be seen."
    return f"No rank changes. **{format.plain(names[i])}** moves most, from {before} to {after}."
