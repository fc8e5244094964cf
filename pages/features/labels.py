"""Labels beside each other: which features matter to which of them."""

import streamlit as st

from pages.features import overlap
from pages.features.view import selection_groups, selection_heat
from pages.shared import fields, format, server
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.selection import frames

FIRST_LABELS = 40  # labels of the heat map at first
MOST_LABELS = 60  # labels of the heat map at most
MOST_FEATURES = 60  # features of the heat map at most
GROUPS = 40  # groups of labels, and of features, at most
NARROW = "A narrow screen has no room for all names of features: point at a cell, or tap it, to read its own."
FREQUENT, ALIKE, GROUPED = "Most frequent labels", "Labels with most in common", "All labels, in groups"


def labels_and_features(view) -> None:
    way, n = _choose(view)
    order = server.label_names(view.fingerprint)["label"]
    if way == ALIKE:
        labels = frames.most_alike(view.closest[0], order.tolist(), n)
    else:
        labels = order.head(n).tolist()
    figure, table, caption = _groups(view) if way == GROUPED else _heat(view, labels)
    which = "groups"
    if way != GROUPED:
        which = f"{'alike' if way == ALIKE else 'frequent'}-{len(labels)}labels{view.order_file}"
    charts.show_figure(figure, table, f"{view.files}-heat-{which}", caption, key="features.heat.map", counted="cells")
    overlap.overlap(view, labels, alike=way == ALIKE)


def _choose(view):
    ways = [FREQUENT, GROUPED] if view.closest is None else [FREQUENT, ALIKE, GROUPED]
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    way = fields.choice("Shown", ways, "features.heat", FREQUENT, place=left)
    most = min(MOST_LABELS, view.selection.n_labels)
    n = min(FIRST_LABELS, most)
    if way != GROUPED and most > 2:
        n = fields.whole(f"Labels, 2 to {most:,}", 2, most, f"features.heat.n {most}", n, place=right)
    return way, n


def _with_names(view, table):
    return view.named_features(table).assign(label_name=[view.data.label_name(int(j)) for j in table["label"]])


def _groups(view):
    selection = view.selection
    table, n_labels, n_features = selection_groups(view.key, GROUPS)
    table = _with_names(view, table)
    some = "All" if n_labels == selection.n_labels else f"The {n_labels:,} most frequent of {selection.n_labels:,}"
    caption = (
        f"{some} labels in {format.count(table['label_group'].nunique(), 'group')} of labels that keep alike features, "
        f"and {n_features:,} of {format.count(selection.n_features, 'feature')} in "
        f"{format.count(table['feature_group'].nunique(), 'group')}. A group is named after its most frequent label, "
        "or the feature that most labels keep. The colour is the share of a cell’s pairs of "
        f"label and feature that are kept, from faint (least) to full blue (most). {NARROW}"
    )
    return figures.group_heat(table, n_labels=n_labels, n_features=n_features), table, caption


def _heat(view, labels):
    selection = view.selection
    table = selection_heat(view.key, tuple(labels), MOST_FEATURES, view.weighted)
    n_kept = table.attrs["n_kept"]
    table = _with_names(view, table)
    by = ", by score times occurrence in its rows" if view.weighted else ""
    caption = (
        f"{len(labels):,} of {format.count(selection.n_labels, 'label')} and, of the {format.count(n_kept, 'feature')} "
        f"that they keep, the {table['feature'].nunique():,} of largest scores; alike ones are next to each other. "
        f"Stronger blue: the feature matters more to the label (rank 1 is the label’s best{by}); blank cells are not "
        f"kept. {NARROW}"
    )
    return figures.selection_heat(table, n_labels=selection.n_labels, n_features=selection.n_features), table, caption
