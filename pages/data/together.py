"""Which labels belong together: a heat map, a network, and tables of pairs."""

import streamlit as st

from pages.data import labels, statistics
from pages.shared import fields, format, server, tables
from pages.shared.figures import charts
from xmlcore import datasets, figures

CHOICES = {"frequent": "the most frequent labels", "pairs": "the labels of the strongest pairs"}
LEAST, MOST, FIRST = 5, 40, 20  # numbers of labels that can be drawn, and the first one
CIRCLE = 24  # most labels on the circle: the names of more would touch
COLUMNS = {
    "first_name": tables.text("Label", 145),
    "second_name": tables.text("And label", 145),
    "phi": tables.number("Phi", 50, help="Correlation of the two labels, from −1 to 1."),
    "n_both": tables.number("Both", 52, "localized", "Rows with both labels."),
    "expected": tables.number("By chance", 68, "%.2f", "Rows with both if labels were independent."),
}


def show(data, examination, fingerprint, name) -> None:
    """Show which labels occur together, which do not, and sets of labels; ``name`` begins the names of files."""
    st.header("Which labels belong together?")
    if examination is None:
        return
    if examination.summary["n_pairs"] == 0:
        st.caption("No row has two labels, so no labels occur together.")
    else:
        _pairs(data, examination, fingerprint, name)
    labels.show_sets(data, fingerprint, name)


def _pairs(data, examination, fingerprint, name) -> None:
    which_box, number_box = st.columns([3, 2], vertical_alignment="bottom")
    which = fields.radio("Draw", CHOICES, "together.which", "frequent", place=which_box)
    number = fields.slider("Number of labels", LEAST, MOST, "together.number", FIRST, place=number_box)
    left, right = st.columns(2, gap="medium")
    with left:
        frame = pairs_drawn(fingerprint, which, number)
        charts.show_figure(
            heat(fingerprint, which, number),
            frame,
            f"{name}-cooccurrence",
            f"Share of the rows with the label on the left that also have the label below. Drawn are "
            f"{frame['first'].nunique():,} of {data.n_labels:,} labels: {CHOICES[which]}.",
            key="together.heat",
        )
    with right:
        few = pairs_drawn(fingerprint, which, min(number, CIRCLE))
        network = circle(fingerprint, which, min(number, CIRCLE))
        meta = network.layout.meta
        charts.show_figure(
            network,
            few,
            f"{name}-network",
            f"A line joins labels that occur together more often than by chance; the wider, the larger their phi. "
            f"{format.showing(meta['shown'], meta['total'], 'pair')} among {few['first'].nunique():,} labels. Larger "
            "points have more rows.",
            counted="pairs",
        )
    left, right = st.columns(2, gap="medium")
    with left:
        of = examination.summary["n_pairs"]
        _table(data, "Labels that occur together", examination.pairs, of, f"{name}-pairs")
    with right:
        n_all = data.n_labels * (data.n_labels - 1) // 2
        _table(data, "Labels that avoid each other", examination.exclusions, n_all, f"{name}-exclusions")


@server.shared()
def pairs_drawn(fingerprint, which, number):
    """Return the table of all pairs among some labels, with their names; ``which`` is a key of CHOICES."""
    data, Y = server.dataset(fingerprint), statistics.all_labels(fingerprint)
    of_labels = server.description(fingerprint).labels
    counts = (of_labels["n_train"] + of_labels["n_test"]).to_numpy()
    if which == "pairs":
        pairs = statistics.known(fingerprint).pairs
        chosen = list(dict.fromkeys(pairs[["first", "second"]].to_numpy().ravel().tolist()))[:number]
    else:
        chosen = [j for j in (-counts).argsort(kind="stable")[:number].tolist() if counts[j]]
    return _named(data, datasets.together(Y, chosen))


def _named(data, pairs):
    return pairs.assign(**{f"{side}_name": tables.label_names(data, pairs[side]) for side in ("first", "second")})


@server.shared()
def heat(fingerprint, which, number):
    """Return the heat map of the pairs that :func:`pairs_drawn` gives."""
    return figures.cooccurrence_heat(pairs_drawn(fingerprint, which, number))


@server.shared()
def circle(fingerprint, which, number):
    """Return the network of the pairs that :func:`pairs_drawn` gives."""
    return figures.label_network(pairs_drawn(fingerprint, which, number))


def _table(data, title, frame, of, file):
    st.markdown(f"**{title}**")
    if frame.empty:
        st.caption("There are none.")
        return
    named = _named(data, frame)
    tables.show(named, f"together.{title}", COLUMNS, signs={"phi": "{:.2f}"}, most=320)
    st.caption(f"{format.showing(len(named), of, 'pair')}, strongest first. The CSV also has the lift.")
    charts.csv_button("Pairs, CSV", named, file, "These pairs, with the rows of each label", key=title)
