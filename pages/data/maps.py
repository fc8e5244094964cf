"""The map of a data set: rows, or labels, that are alike lie together, and what is selected on it is listed."""

import html

import numpy as np
import pandas as pd
import streamlit as st

from pages.data import labels, rows
from pages.shared import addresses, cached, fields, format, selectors, tables, tasks
from pages.shared.figures import charts
from pages.shared.view import look, now
from xmlcore import datasets, experiment, figures

SHOWN, NAMED = 200, 4  # lines of the table; labels of a row that a point says
WORDS, LETTERS = 70, 30  # letters of the text of a row, and of a label, that a point says
CHOSEN = "map.chosen"  # how keys of the session's state begin: the marks that are selected on a map
WHOLE = ((-np.inf, -np.inf), (np.inf, np.inf))  # corners of what is drawn
COLUMN = "column "  # begins the choice of a column of the user's table
COLORS = {"labels": "Number of labels", "label": "A label", "test": "Test rows", "doubt": "Doubt about its labels"}
VALUES, OTHERS = 5, "Others, or none"  # of a column that have colours of their own
OF = {"rows": "Rows", "labels": "Labels"}
PARTS = tuple(tables.PARTS)  # in the order of the map


def show(ready, described, name) -> None:
    """Show the map of rows or labels; ``name`` begins the names of files."""
    st.markdown("Rows with like features, or labels of like rows, lie together; drag across points to list them.")
    data, fingerprint = ready.data, ready.fingerprint
    of_box, color_box = st.columns(2)
    of = fields.radio("Map of", OF, "map.of", place=of_box)
    color, label, review = "rows", -1, ""
    if of == "rows":
        reviews = (experiment.task("review", {"run": record["key"]}) for record in ready.every)
        review = next((task.key for task in reviews if task.exists()), "")
        offered = {key: title for key, title in COLORS.items() if key != "doubt" or review}
        kept = () if data.columns is None else data.columns.columns[data.columns.nunique() > 1]
        offered |= {f"{COLUMN}{name}": name for name in kept}
        color = fields.choice("Colour", offered, "map.color", place=color_box)
        if color == "label":
            label = selectors.choose_label(data, cached.label_names(fingerprint), "features", "map.label", "map.query")
    task = experiment.task("map", {"dataset": fingerprint}, {"of": of})
    tasks.shown(
        task, lambda _: _map(data, described, name, (fingerprint, of, color, label, review)), button="Make the map"
    )


def _map(data, described, name, about) -> None:
    fingerprint, of, *_ = about
    whose, called, ringed = st.session_state.get(addresses.RINGED, ("", "", ()))
    ringed = ringed if whose == fingerprint and of == "rows" else ()
    marked = _marked(data, of)
    key = f"{CHOSEN} {fingerprint} {of}"
    chosen, (low, high) = st.session_state.get(key), st.session_state.get(f"{key} zoom", WHOLE)
    frame, marks, figure = _drawn(*about, ringed + marked, low, high)
    n = np.count_nonzero(marks >= 0)

    def choose(found, zoom=None):
        st.session_state[key] = found
        if zoom is not None:
            st.session_state[f"{key} zoom"] = zoom
        elif not found:
            st.session_state.pop(addresses.RINGED, None)

    if low != WHOLE[0]:
        whole = f"Whole map of {len(frame):,} {of}"
        st.button(whole, on_click=choose, args=([], WHOLE), icon=":material/zoom_out_map:")
    elif n < len(frame):
        without = {"rows": "features that others have", "labels": "rows"}[of]
        st.caption(f"{format.count(len(frame) - n, of[:-1])} without {without} cannot be drawn.")
    _say_squares(figure.layout.meta["marks"], n, of, frame[np.isin(marks, chosen or ())], choose)
    text = f"Each point is one of {n:,} {of}; directions and distances far away mean nothing."
    every = lambda: _named(data, of, frame)  # noqa: E731
    charts.show_figure(figure, every, f"{name}-map-{of}", text, key=f"map.{of}", on_area=choose)
    if chosen or ringed:
        st.button("List all", on_click=choose, args=([],), type="tertiary", icon=":material/close:")
    if chosen:
        listed, order = np.flatnonzero(np.isin(marks, chosen)), "selected on the map"
    elif ringed:
        listed, order = np.array(ringed), f"“{format.plain(called)}”, with rings on the map"
    else:
        listed, order = _nearest(frame, marked)
    _table(data, of, frame, listed, order, name, described)


def _say_squares(shared, n, of, selected, choose) -> None:
    """Say that marks stand for several points; those that are selected can be drawn alone."""
    if shared == n:
        return
    of_squares = "those of a small square, in their mean colour; the larger, the more"
    st.caption(f"{shared:,} circles stand for {n:,} {of}, each for {of_squares}.")
    if len(selected):
        area = tuple(selected[["x", "y"]].min()), tuple(selected[["x", "y"]].max())
        st.button("Zoom in", on_click=choose, args=([], area), icon=":material/zoom_in:")


def _nearest(frame, marked) -> tuple[np.ndarray, str]:
    """Return all points, nearest to the one in view first, and their order in words."""
    if not marked:
        return np.arange(len(frame)), "in their order"
    places = frame[["x", "y"]].to_numpy()
    apart = np.linalg.norm(places - places[marked[-1]], axis=1)
    return np.argsort(apart, kind="stable"), "nearest on the map first"


def _marked(data, of) -> tuple[int, ...]:
    """Return the points of the label, or of the rows, in view."""
    view = now()
    seen = [(view.features, 0, data.n_labels)]
    if of == "rows":
        seen = [(view.training, 0, data.n_train), (view.test, data.n_train, data.n_test)]
    return tuple(first + at for at, first, n in seen if at is not None and at < n)


@cached.shared("Drawing the map")
def _drawn(fingerprint, of, color, label, review, marked, low, high):
    """Return the points of a map, those outside a rectangle without a place, their marks, and the figure."""
    data = cached.dataset(fingerprint)
    places = cached.loaded(experiment.task("map", {"dataset": fingerprint}, {"of": of})).places
    places = np.where(((places >= low) & (places <= high)).all(axis=1)[:, None], places, np.nan)
    frame = pd.DataFrame({"id": np.arange(len(places)), "x": places[:, 0], "y": places[:, 1]})
    if of == "labels":
        counts = cached.description(fingerprint).labels.sort_values("label")["n_train"].to_numpy()
        frame, title = frame.assign(value=np.log10(1 + counts)), "Training rows + 1, decimal logarithm"
        said = lambda j: f"<b>{figures.short(data.label_name(j), 60)}</b><br>{counts[j]:,} training rows"  # noqa: E731
    else:
        test = frame["id"] >= data.n_train
        frame = frame.assign(part=np.where(test, *PARTS[::-1]), row=frame["id"] - data.n_train * test)
        frame["value"], points = _values(data, color, label, review), [*zip(frame["part"], frame["row"])]
        title = data.label_name(label) if color == "label" else COLORS.get(color, color.removeprefix(COLUMN))
        said = lambda i: _said(data, *points[i])  # noqa: E731
    figure = figures.point_map(frame, f"Map of {len(frame):,} {of}", figures.short(title, 40), said, marked)
    return frame, figures.marks_of(frame), figure


def _values(data, color, label, review):
    Y = datasets.all_labels(data)
    if color == "labels":
        return np.diff(Y.indptr)
    if color == "label":
        return Y[:, [label]].toarray()[:, 0].astype(int)
    if color.startswith(COLUMN):
        values = data.columns[color.removeprefix(COLUMN)]
        if not isinstance(values.dtype, pd.CategoricalDtype):
            return values.to_numpy()
        top = [value for value in values.value_counts().index[:VALUES] if value != OTHERS]
        return values.astype(pd.CategoricalDtype([*top, OTHERS]))
    values = np.zeros(Y.shape[0])
    if color == "doubt":
        doubts = cached.loaded_by_key("review", review).doubts.groupby("row")["doubt"].max()
        values[doubts.index] = doubts
    else:
        values[data.n_train :] = 1
    return values


def _said(data, part, row) -> str:
    """Return what is said of a row: its first words or its name, its labels, and its number."""
    _, Y, names = tables.part(data, part)
    texts, own = tables.texts(data, part), tables.ids(Y, row)
    first = texts[row] if texts is not None else "" if names is None else str(names[row])
    named = [tables.shortened(name, LETTERS) for name in tables.label_names(data, own[:NAMED])]
    lines = tables.shortened(first, WORDS), ", ".join(named) + "…" * (own.size > NAMED), f"{part} row {row:,}"
    return "<br>".join(html.escape(line) for line in lines if line)


def _named(data, of, frame) -> pd.DataFrame:
    if of == "labels":
        return frame.assign(name=tables.label_names(data, frame["id"]))
    return tables.with_columns(data, frame.drop(columns="id")).assign(
        labels=[labels.set_name(data, i) for i in frame["id"]]
    )


def _table(data, of, frame, listed, order, name, described) -> None:
    """List points of the map; one that is ticked is marked on it, and shown."""
    shown, key = frame.iloc[listed[:SHOWN]], f"map.table.{of} {hash(listed[:SHOWN].tobytes())}"
    if of == "labels":
        table = described.labels.set_index("label", drop=False).loc[shown["id"]]
        columns, tick = labels.COLUMNS, tables.on_tick(key, shown["id"], lambda j: look(features=j))
        first = ("name", "n_train", "n_test", "bucket")
    else:
        table = shown[["part", "row"]].merge(labels.with_contents(data, shown), "left") if len(shown) else shown
        columns, first = tables.OF_ROWS, ("text" if "text" in table else "name", "labels", "row", "part")
        pairs = [*zip(table["part"], table["row"])]
        tick = tables.on_tick(key, pairs, lambda one: look(**dict.fromkeys(PARTS) | {one[0]: one[1]}))
    tables.show(table, key, columns, first=first, most=420, **tick)
    tables.counted(len(shown), len(listed), of[:-1], f"{order}. Tick one to mark it on the map.")
    charts.csv_button(f"These {of}, CSV", lambda: _named(data, of, frame.iloc[listed]), f"{name}-map-listed")
    for point in _marked(data, of)[-1:]:
        if of == "labels":
            labels.show_rows(data, labels.rows_of(data, point), data.label_name(point), f"{name}-rows-of-label-{point}")
        else:
            part, row = frame.loc[point, ["part", "row"]]
            rows.one_row(data, *tables.part(data, part), part, row)
