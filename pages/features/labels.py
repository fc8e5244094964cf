"""Labels beside each other: which features matter to which, how much of that is the same, and all that is kept."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.features import answer
from pages.features.view import best_names, selection_heat
from pages.shared import cached, fields, format, selectors, tables
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.selection import frames

FIRST_LABELS = 40  # labels of the heat map at first
MOST_LABELS = 60  # labels of the heat map at most
MOST_FEATURES = 60  # features of the heat map at most
LISTED_LABELS = 200  # most lines of the table of all labels
NAMES = 8  # features named there for each label
FREQUENT, ALIKE = "Most frequent labels", "Labels with most in common"


def labels_and_features(view) -> None:
    way, n = _choose(view)
    order, which = cached.label_names(view.fingerprint)["label"], "alike" if way == ALIKE else "frequent"
    labels = frames.most_alike(view.closest[0], order.tolist(), n) if way == ALIKE else order.head(n).tolist()
    figure, table, caption = _heat(view, labels)
    ending = f"{which}-{len(labels)}labels{view.order_file}"
    charts.show_figure(figure, table, f"{view.files}-heat-{ending}", caption, key="features.heat.map", counted="cells")
    if view.selection.positive is not None:
        _positive_gradients(view)
    st.header("Overlap between labels")
    if view.closest is None:
        st.caption("There is only one label.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _overlap_heat(view, labels, which)
    with right:
        _pairs(view)


def _positive_gradients(view):
    data, positive = view.data, view.selection.positive
    frame = frames.positive_frame(data, positive)
    rows = frame["rows"].mean()
    st.header("Positive gradients")
    text = f"A point per label. Positive are {100 * rows:.1f}\u00a0% of all pairs of a training row and a label, and "
    text += f"{100 * positive.mean():.1f}\u00a0% of the network’s gradients."
    figure = figures.positive_gradients(frame)
    charts.show_figure(figure, frame, f"{view.files}-positive", text)


def _choose(view):
    ways = [FREQUENT] if view.closest is None else [FREQUENT, ALIKE]
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    way = fields.choice("Shown", ways, "features.heat", FREQUENT, place=left)
    most = min(MOST_LABELS, view.selection.n_labels)
    n = min(FIRST_LABELS, most)
    if most > 2:
        n = fields.whole(f"Labels, 2 to {most:,}", 2, most, f"features.heat.n {most}", n, place=right)
    return way, n


def _heat(view, labels):
    selection = view.selection
    table = selection_heat(view.key, tuple(labels), MOST_FEATURES, view.weighted)
    n_kept = table.attrs["n_kept"]
    table = view.named_features(table).assign(label_name=[view.data.label_name(int(j)) for j in table["label"]])
    caption = (
        f"{len(labels):,} of {format.count(selection.n_labels, 'label')} and {table['feature'].nunique():,} of "
        f"{format.count(n_kept, 'feature')} that they keep. Stronger blue: the feature matters more; blank: not kept."
    )
    return figures.selection_heat(table, n_labels=selection.n_labels, n_features=selection.n_features), table, caption


def _overlap_heat(view, labels, which):
    selection, data = view.selection, view.data
    table = frames.overlap_frame(selection.selected, selection.n_features, labels)
    table = table.assign(a_name=tables.label_names(data, table["a"]), b_name=tables.label_names(data, table["b"]))
    charts.show_figure(
        figures.overlap_heat(table, n_labels=selection.n_labels),
        table,
        f"{view.files}-overlap-{which}-{len(labels)}labels",
        f"Share of the features of one label that the other keeps, too, for {len(labels):,} of "
        f"{format.count(selection.n_labels, 'label')}; alike ones are next to each other. Stronger blue is more.",
        counted="labels",
        key="features.overlap",
    )


def _pairs(view):
    data, (pairs, n_compared) = view.data, view.closest[:2]
    together = frames.together(data.Y_train, pairs["a"], pairs["b"])
    names = {f"{side}_name": tables.label_names(data, pairs[side]) for side in ("a", "b")}
    shown = pairs.assign(**names, together=together)
    about = "Training rows with both labels, as a share of those of the rarer one; empty if it has none."
    tables.show(
        shown.assign(together=100 * shown["together"], share=100 * shown["share"]),
        "features.pairs",
        {
            "a_name": tables.text("Label"),
            "b_name": tables.text("and"),
            "share": tables.number("Shared, %", 85, "%.0f", "Of the features of one label, those of the other."),
            "together": tables.number("Rows, %", 75, "%.0f", about),
        },
        most=560,
    )
    among = f"of the {format.count(n_compared, 'most frequent label')}; those with most in common first."
    tables.counted(len(shown), n_compared * (n_compared - 1) // 2, "pair", among)
    charts.csv_button("Pairs, CSV", shown, f"{view.files}-pairs")


def all_labels(view) -> None:
    selection, data = view.selection, view.data
    names = cached.label_names(view.fingerprint)
    listed = tables.find_labels(names, st.session_state.get(selectors.query_key(answer.QUERY, view.data), ""))
    listed = (names if listed.empty else listed).head(LISTED_LABELS)  # the same labels as in the select box above
    labels = listed["label"].to_numpy()
    counts = np.bincount(data.Y_train.indices, minlength=selection.n_labels)
    names = best_names(view.key, tuple(labels.tolist()), view.weighted, NAMES)
    about = {"name": listed["name"].to_numpy(), "label": labels, "rows": counts[labels], "features": names}
    table, by = pd.DataFrame(about), "score × excess" if view.weighted else "score"
    tables.show(
        table,
        "features.labels",
        {
            "name": tables.text("Label"),
            "label": tables.number("Id", 60, "%d"),
            "rows": tables.number("Rows", 70, "localized", "Training rows."),
            "features": tables.text(f"Features of largest {by}", 600),
        },
        most=360,
    )
    tables.counted(len(table), selection.n_labels, "label", "most frequent first.")
    charts.csv_button("All selected features, CSV", lambda: _everything(view), f"{view.files}-selected")


def _everything(view):
    selection, data, shares = view.selection, view.data, None
    if view.by_gradient:
        shares = frames.shares_of_features(selection.selected, range(selection.n_labels), data.X_train, data.Y_train)
    parts = (selection.selected, selection.selected_scores)
    return frames.selection_frame(*parts, data.label_name, data.feature_name, shares)
